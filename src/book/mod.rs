//! Opening books: reading and writing everyone's formats, looking positions up, choosing among their moves,
//! and backing scores up.
//!
//! - [`Book`]: a whole book in memory, sorted; [`BookBuilder`] makes one. [`BookMove`]: a move with what is
//!   known of it.
//! - [`BookFormat`], [`read`], [`write()`]: YaneuraOu's text (`db`) and binary (`ybb`), Apery's, ShogiGUI's
//!   (`sbk`).
//! - [`embedded`]: the book inside the binary, which wherever a file is expected goes by the name of
//!   [`INTERNAL`].
//! - [`OpenBook`]: a book to look positions up in, whole in memory or on the fly; [`Library`]: the files that
//!   a name stands for.
//! - [`choose`]: which of a position's moves to play. [`minimax`]: scores from the leaves.

pub mod apery;
pub mod choose;
pub mod db;
pub mod db_file;
pub mod edit;
pub mod embedded;
mod error;
mod format;
pub mod graph;
mod library;
pub mod make;
pub mod minimax;
mod moves;
pub mod nearest;
mod packed_position;
mod probe;
pub mod sbk;
mod source;
mod store;
mod ybb;

pub use embedded::INTERNAL;
pub use error::BookError;
pub use format::{BookFormat, Loss, first_unsorted, read, write};
pub use library::{Library, files};
pub use moves::{BookMove, flip_move, read_move, usi};
pub use packed_position::PackedPosition;
pub use probe::{Lookup, OpenBook};
pub use store::{Book, BookBuilder, BookEntry, Dropped, Remark};
