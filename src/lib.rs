//! Toratsugumi, a shogi engine.

pub mod interrupt;
pub mod memory;
pub mod progress;
pub mod random;
pub mod types;

pub mod position;

pub mod data;
pub mod nnue;

pub mod search;
pub mod train;

pub mod engine;

pub mod arena;
pub mod bench;
pub mod datagen;
pub mod usi;

pub mod cli;
