//! Helpers that know no shogi: [`chart`] draws lines as SVG, [`console`] prints, [`lang`] knows the user's
//! language, [`memory`] allocates aligned slices, [`free_memory`] asks how much there is, [`numa`] binds
//! threads to processors, [`random`] generates numbers.

pub mod chart;
pub mod console;
pub mod free_memory;
pub mod lang;
pub mod memory;
pub(crate) mod messages;
pub mod numa;
mod pages;
pub mod random;

/// Writes a file below a folder, with the folders between.
#[cfg(test)]
pub(crate) fn put(root: &std::path::Path, name: &str, text: &str) {
    let path = root.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
