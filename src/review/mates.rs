//! Mates by checks alone, found by the solver beside every search.

use super::reading::PvLine;
use crate::engine::{MateAnswer, MateLimits, MateSolver, Shorten};
use crate::position::Position;
use crate::support::memory::OutOfMemory;
use crate::types::{MAX_PLY, Move, Value, mate_in, mated_in};

/// Megabytes: some ten thousand positions need no more.
const MEMORY: usize = 16;

/// A solver with its limits. Its table is cleared before every question, so that an answer depends on nothing before.
pub(super) struct Mates {
    solver: MateSolver,
    limits: MateLimits,
}

impl Mates {
    /// A solver that visits so many positions for a question; none for 0.
    pub(super) fn new(nodes: u64) -> Result<Option<Mates>, OutOfMemory> {
        let limits = MateLimits { nodes: Some(nodes), shorten: Shorten::UpperBound, ..MateLimits::default() };
        Ok(if nodes > 0 { Some(Mates { solver: MateSolver::new(MEMORY)?, limits }) } else { None })
    }

    /// A mate by the side to move.
    pub(super) fn own(&mut self, position: &Position) -> Result<Option<PvLine>, OutOfMemory> {
        self.without(position, &[])
    }

    /// A mate by the side to move that begins with this move.
    pub(super) fn beginning(
        &mut self,
        position: &Position,
        first: Move,
    ) -> Result<Option<PvLine>, OutOfMemory> {
        let mut others: Vec<Move> = position.legal_moves(true).iter().map(|m| m.mv).collect();
        others.retain(|m| *m != first);
        self.without(position, &others)
    }

    /// The mate that the opponent has after this move.
    pub(super) fn after(&mut self, position: &Position, m: Move) -> Result<Option<PvLine>, OutOfMemory> {
        let mut position = position.clone();
        position.do_move(m);
        self.own(&position)
    }

    fn without(&mut self, position: &Position, others: &[Move]) -> Result<Option<PvLine>, OutOfMemory> {
        self.solver.clear();
        let outcome = self.solver.solve_apart(position, others, &self.limits)?;
        let MateAnswer::Mate(mate) = outcome.answer else { return Ok(None) };
        let plies = mate.line.len();
        Ok((plies < MAX_PLY).then(|| PvLine {
            value: mate_in(plies),
            depth: plies as i32,
            seldepth: plies as i32,
            nodes: outcome.nodes,
            pv: mate.line.iter().map(Move::to_string).collect(),
        }))
    }
}

/// A line with a mate as the other side sees it after its first move.
pub(super) fn answered(line: &PvLine) -> PvLine {
    // a mate comes nearer by a ply
    let value = -line.value - line.value.signum();
    PvLine { value, pv: line.pv[1..].to_vec(), ..line.clone() }
}

/// A move and the mate that it runs into.
pub(super) fn refuted(m: Move, mate: PvLine) -> PvLine {
    let value: Value = mated_in((mate.pv.len() + 1).min(MAX_PLY));
    PvLine { value, pv: std::iter::once(m.to_string()).chain(mate.pv).collect(), ..mate }
}
