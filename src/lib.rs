//! Toratsugumi, a shogi engine.

pub mod types;
