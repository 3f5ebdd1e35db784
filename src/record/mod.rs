//! Records of games: [`Record`], a tree of moves, and the formats that people keep them in ([`Format`]).
//!
//! [`csa`] reads and writes CSA files (V2 to V3), [`kakinoki`] KIF, KI2 and BOD, [`jkf`] the JSON Kifu Format, [`usi`]
//! lines of USI's `position` command and SFEN; [`encoding`] finds out which bytes a file is made of, [`notation`] spells
//! moves as books do.
//!
//! The `csa` crate drops `%TIME_UP` and reads a fractional time as the end of the game, and no crate tells which line of
//! a broken file is wrong, so the readers are our own; every move is checked by our own rules.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod builder;
pub mod csa;
#[cfg(feature = "cli")]
pub mod encoding;
mod error;
mod format;
mod game;
mod headings;
pub mod jkf;
pub mod kakinoki;
pub mod notation;
mod special;
mod text;
pub mod usi;

pub use error::RecordError;
pub use format::Format;
pub use game::{DEEPEST, End, Line, Ply, Record};
pub use special::Special;
