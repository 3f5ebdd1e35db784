//! JKF, the JSON Kifu Format of Kifu for JS: [`read`], [`write`](write()).

mod names;
mod read;
mod write;

pub use read::read;
pub(super) use read::read_with;
pub use write::write;
