//! CSA's standard record format, V2 to V3: [`read`], [`write`](write()), and the notation of moves and boards that its server
//! protocol shares.

mod board;
mod moves;
mod names;
mod read;
mod write;

pub use board::{BoardError, BoardReader, write_position};
pub use moves::{MoveTextError, move_text, read_move};
pub use names::{KINDS, color_of, kind_of, sign};
pub use read::read;
pub(super) use read::read_with;
pub use write::write;
