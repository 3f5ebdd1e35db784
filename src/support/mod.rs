//! Helpers that know no shogi: [`chart`] draws lines as SVG, [`console`] prints, [`memory`] allocates aligned slices,
//! [`random`] generates numbers.

pub mod chart;
pub mod console;
pub mod memory;
pub mod random;
