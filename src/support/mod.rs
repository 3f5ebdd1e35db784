//! Helpers that know no shogi: [`chart`] draws lines as SVG, [`console`] prints, [`lang`] knows the user's
//! language, [`memory`] allocates aligned slices, [`random`] generates numbers.

pub mod chart;
pub mod console;
pub mod lang;
pub mod memory;
pub(crate) mod messages;
pub mod random;
