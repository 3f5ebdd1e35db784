//! Records of games: [`Record`], a tree of moves, and the formats that people keep them in ([`Format`]).
//!
//! [`csa`] reads and writes CSA files (V2 to V3), [`kakinoki`] KIF, KI2 and BOD, [`jkf`] the JSON Kifu Format,
//! [`psn`] the Portable Shogi Notation, [`usi`] lines of USI's `position` command and SFEN; [`encoding`] finds out which
//! bytes a file is made of, [`notation`] spells moves as books do.
//!
//! The `csa` crate drops `%TIME_UP` and reads a fractional time as the end of the game, and no crate reports the line of
//! an error, so the readers are our own; every move is checked by our own rules.
//!
//! ```
//! use toratsugumi::record::{csa, kakinoki};
//!
//! let games = csa::read("PI\n+\n+7776FU\n-3334FU\n%TORYO\n")?;
//! let kif = kakinoki::write_kif(&games[0]);
//! assert!(kif.contains("７六歩(77)") && kif.contains("投了"));
//! let error = csa::read("PI\n+\n+7775FU\n").err().ok_or("no pawn goes that way")?;
//! assert!(error.to_string().contains('3'), "the line: {error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod builder;
pub mod csa;
#[cfg(feature = "cli")]
pub mod encoding;
mod error;
pub mod floodgate;
mod format;
mod game;
mod headings;
pub mod jkf;
pub mod kakinoki;
pub mod notation;
pub mod openings;
pub mod psn;
mod special;
mod text;
pub mod usi;

pub use error::{RecordError, Warnings};
pub use format::Format;
pub use game::{DEEPEST, End, Line, Ply, Record};
pub use special::Special;
