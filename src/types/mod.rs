//! The types that every layer shares: compact `Color`, `Square`, `Piece`, `Hand`, `Move`, and the numbers of
//! the search.
//!
//! `shogi_core`'s types are the crate's public vocabulary (re-exported as [`core`]) and convert from and into
//! ours. Inside we use our own, because three of core's choices cost time in the hot paths: its squares count
//! from 1 and its colours are 1 and 2 (an index needs a subtraction), its `promote`/`unpromote` compile to
//! jump tables, and its `Move` is a three-byte enum whose use begins with a branch. Ours are plain integers
//! in the layout of the record formats (`Move` holds the 16 bits of a PackedSfenValue), so tables index by
//! them directly.

mod color;
mod hand;
mod moves;
mod piece;
mod square;
mod value;

pub use color::Color;
pub use hand::Hand;
pub use moves::{MAX_MOVES, Move, MoveList, ScoredMove};
pub use piece::{Piece, PieceType};
/// `shogi_core`, the public vocabulary that our compact types convert from and into.
pub use shogi_core as core;
pub use square::Square;
pub use value::{
    Bound, Depth, MAX_PLY, VALUE_INFINITE, VALUE_MATE, VALUE_MATE_IN_MAX_PLY, VALUE_MATED_IN_MAX_PLY,
    VALUE_MAX_EVAL, VALUE_NONE, VALUE_SUPERIOR, VALUE_ZERO, Value, is_decisive, is_loss, is_win, mate_in,
    mated_in,
};

/// A Zobrist key.
pub type Key = u64;
