//! The state of our thinking during a game: what it is about, the best line found, the move sent.

use super::clock::Lag;
use crate::types::Move;
use crate::usi_client::UsiScore;
use std::time::Instant;

/// What outlives a game.
pub struct Memory {
    /// Numbers searches.
    pub(super) search: u64,
    /// Of the last moves.
    pub lag: Lag,
}

impl Memory {
    /// With nothing seen yet but `lag`.
    pub fn new(lag: Lag) -> Memory {
        Memory { search: 0, lag }
    }
}

/// What our moves have shown so far.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Depths of our moves that have one.
    pub depths: Vec<u32>,
    /// Nodes of all our moves.
    pub nodes: u64,
}

/// What the player thinks about.
pub(super) enum Mode {
    Idle,
    /// Our move.
    Own,
    /// The position after a move that the opponent may play. The answer, if the player cannot wait.
    Ponder {
        expected: Move,
        early: Option<String>,
    },
}

/// The best line of a search so far.
#[derive(Default)]
pub(super) struct BestLine {
    pub score: Option<UsiScore>,
    pub pv: Vec<String>,
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
}

/// A move on its way to the server.
pub(super) struct Sent {
    pub at: Instant,
    /// What it took by our clock, in milliseconds.
    pub own: u64,
    pub ponder: Option<String>,
    pub comment: Option<String>,
}
