//! A look for a mate by checks alone before the search begins.

use super::{Limits, SearchOptions};
use crate::mate::{self, Answer, Shorten, Solver};
use crate::position::{Position, Repetition};
use crate::types::{MAX_PLY, Move};
use std::sync::Arc;

/// Megabytes of the solver's table: some ten thousand positions need no more.
const MEMORY: usize = 4;

/// The solver of one thread, made when it is first asked.
#[derive(Default)]
pub(super) struct RootMates(Option<Solver>);

impl RootMates {
    pub(super) fn clear(&mut self) {
        if let Some(solver) = &mut self.0 {
            solver.clear();
        }
    }

    /// A mate of the side to move with its line, found with the nodes that the options allow. Only where one move is asked
    /// for, not in analysis.
    pub(super) fn find(
        &mut self,
        pos: &Position,
        limits: &Limits,
        options: &SearchOptions,
    ) -> Option<Vec<Move>> {
        let plays = limits.depth.is_none() && limits.mate.is_none() && !limits.infinite && !limits.ponder;
        let all_moves = options.multi_pv == 1 && limits.search_moves.is_empty();
        if options.root_mate_nodes == 0 || !plays || !all_moves {
            return None;
        }
        if self.0.is_none() {
            // without memory the search has to do
            self.0 = Solver::new(MEMORY).ok();
        }
        let nodes = Some(options.root_mate_nodes);
        let limits = mate::Limits { nodes, shorten: Shorten::Any, ..mate::Limits::default() };
        let outcome = self.0.as_mut()?.solve(pos, &[], &limits, &Arc::default(), &mut |_| {});
        let Answer::Mate(mate) = outcome.answer else { return None };
        let fits = mate.line.len() < MAX_PLY && is_free(pos, options.max_moves_to_draw, &mate.line);
        fits.then_some(mate.line)
    }
}

/// Whether neither the game's repetitions nor its last move come between. (The defender may choose another line, of which
/// the next look knows.)
fn is_free(pos: &Position, last: u32, line: &[Move]) -> bool {
    if last > 0 && pos.game_ply() as usize + line.len() > last as usize {
        return false;
    }
    let mut pos = pos.clone();
    line.iter().enumerate().all(|(i, &m)| {
        pos.do_move(m);
        pos.repetition(i + 1) == Repetition::None
    })
}
