//! Training records: our own game files and the record formats of others.
//!
//! [`GameRecord`] is a self-play game, [`GameWriter`] and [`GameReader`] keep games in append-only files
//! (format in [`mod@file`]). [`PackedSfen`], [`PackedSfenValue`](psv::PackedSfenValue),
//! [`HuffmanCodedPos`](hcp::HuffmanCodedPos) and [`HcpEval`](hcpe::HcpEval) are the records other engines and
//! trainers use, byte for byte. A [`Scored`] position is what all of them hold: [`read`] yields it from any
//! file, a [`PositionWriter`] writes it in any format. [`TdLambda`] makes training targets of whole games.

mod bits;
pub mod board;
mod error;
pub mod file;
mod format;
mod game;
pub mod hcp;
pub mod hcpe;
mod huffman;
mod joiner;
mod packed_sfen;
pub mod psv;
pub mod read;
pub mod referee;
mod scored;
mod td;
mod write;

pub use error::RecordError;
pub use file::{GameReader, GameWriter};
pub use format::{Format, files, unfinished};
pub use game::{EndReason, GameRecord, GameResult, PlyRecord, Start};
pub use joiner::Joiner;
pub use packed_sfen::PackedSfen;
pub use scored::{Plies, Scored};
pub use td::TdLambda;
pub use write::PositionWriter;
