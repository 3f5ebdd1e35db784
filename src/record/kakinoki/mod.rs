//! Kakinoki's formats: KIF, a move a line with its origin and time; KI2, moves as books print them; BOD, a diagram of one
//! position. They share headings, diagrams, comments, bookmarks and variations.

mod board;
mod ki2_moves;
mod kif_moves;
mod pieces;
mod read;
mod write;

pub(super) use ki2_moves::{MARKS, find_move};
pub use ki2_moves::{Relative, Side, Way, relative_of};
pub use kif_moves::move_text as kif_move;
pub(super) use read::{Notation, begins_with_move, read_with};
pub use read::{read_ki2, read_kif};
pub use write::{write_bod, write_ki2, write_kif};
