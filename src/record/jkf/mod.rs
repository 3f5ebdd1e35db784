//! JKF, the JSON Kifu Format of Kifu for JS: [`read`], [`write`](write()).

mod names;
mod read;
mod write;

pub use read::read;
pub use write::write;
