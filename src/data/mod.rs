//! Training records: our own game files and the record formats of others.
//!
//! [`GameRecord`] is a self-play game, [`GameWriter`] and [`GameReader`] keep games in append-only files (format in
//! [`mod@file`]). [`PackedSfen`], [`PackedSfenValue`](psv::PackedSfenValue), [`HuffmanCodedPos`](hcp::HuffmanCodedPos) and
//! [`HcpEval`](hcpe::HcpEval) are the records other engines and trainers use, byte for byte. [`TdLambda`] makes training
//! targets of whole games.

pub mod board;
pub mod convert;
pub mod file;
pub mod game;
pub mod hcp;
pub mod hcpe;
pub mod packed_sfen;
pub mod psv;
pub mod td;

pub use file::{GameReader, GameWriter};
pub use game::{EndReason, GameRecord, GameResult, PlyRecord, RecordError, Start};
pub use packed_sfen::PackedSfen;
pub use td::TdLambda;
