//! The line of a mate, from the table and, where entries were dropped, from another search.

use super::expansion::Expansion;
use super::search::Search;
use super::value::{ENDLESS, Knowledge, Plies};
use crate::types::{Move, MoveList};

impl Search<'_> {
    /// The line of a mate in `plies` plies at most; none if time ran out. With `exact` no shorter mate
    /// exists, and both sides play their best moves; otherwise any moves that are proved.
    pub(super) fn line(&mut self, plies: Plies, exact: bool) -> Option<Vec<Move>> {
        let start = self.node.depth();
        let complete = self.follow(plies, exact);
        let line = self.node.moves()[start..].to_vec();
        line.iter().for_each(|_| self.node.take_back());
        complete.then_some(line)
    }

    /// The line of a mate in `plies` plies at most, and its best known upper bound. The entry of a position
    /// may be older than that of the next one, so that the defender chooses moves that only seemed long; so
    /// the bounds are propagated from the end of the line to its start, and the line is read again, until nothing
    /// changes or `rounds` are over.
    pub(super) fn consistent_line(&mut self, plies: Plies, rounds: usize) -> Option<(Vec<Move>, Plies)> {
        let mut line = self.line(plies, false)?;
        let mut bound = plies;
        for _ in 0..rounds {
            bound = bound.min(self.propagate_bounds(&line));
            if line.len() >= bound as usize || self.watch.ending.is_due() {
                break;
            }
            match self.line(bound, false) {
                Some(next) => line = next,
                None => break,
            }
        }
        Some((line, bound))
    }

    /// Recomputes the bounds of the positions of a mating line, the last first; returns the root's.
    fn propagate_bounds(&mut self, line: &[Move]) -> Plies {
        line.iter().for_each(|&m| self.node.play(m));
        let mut bound = ENDLESS;
        for left in 0..=line.len() {
            if let Some(known) = self.bound_by_moves() {
                bound = known;
                let mut query = self.table.query(self.node.board(), self.node.hand(), self.node.depth());
                let mate = Knowledge::mate(self.node.hand(), known, 1);
                if !self.is_restricted() {
                    self.table.store(&mut query, &mate, None);
                }
            }
            if left < line.len() {
                self.node.take_back();
            }
        }
        bound
    }

    /// An upper bound for the mate of the current position, from its moves.
    fn bound_by_moves(&mut self) -> Option<Plies> {
        let attacking = self.node.attacking();
        if attacking && !self.is_restricted() && self.node.pos.mate_in_one().is_some() {
            return Some(1);
        }
        let mates = self.known().into_iter().map(|(_, _, mate)| mate);
        let mate = if attacking { mates.min()? } else { mates.max().unwrap_or(-1) };
        (mate < ENDLESS).then_some(mate + 1)
    }

    /// Plays the line out on the board; whether it ends in mate.
    fn follow(&mut self, mut left: Plies, exact: bool) -> bool {
        while left >= 0 {
            let attacking = self.node.attacking();
            if attacking && !self.is_restricted() {
                let mate = self.node.pos.mate_in_one();
                if mate.is_some() {
                    self.node.play(mate);
                    return true;
                }
            }
            if !attacking && !self.node.pos.has_legal_move() {
                return true;
            }
            let step = if attacking { self.attack(left, exact) } else { self.defend(left, exact) };
            let Some((m, next)) = step else { return false };
            self.node.play(m);
            left = next;
        }
        false
    }

    /// A move that mates within `left` plies, and what is then left.
    fn attack(&mut self, left: Plies, exact: bool) -> Option<(Move, Plies)> {
        if !exact
            && let Some((m, _, mate)) =
                self.known().into_iter().min_by_key(|&(_, no_mate, mate)| (mate, -no_mate))
            && mate < left
        {
            return Some((m, mate));
        }
        let (m, known) = self.solve(left, best)?;
        (known.is_mate() && known.plies < left).then_some((m, known.plies))
    }

    /// The defence that lasts longest, as far as is known, and what is then left.
    fn defend(&mut self, left: Plies, exact: bool) -> Option<(Move, Plies)> {
        if exact && left >= 2 {
            // nothing shorter is a mate, so some move survives that
            let (m, known) = self.solve(left - 2, best)?;
            return known.is_no_mate().then_some((m, left - 1));
        }
        let longest = |moves: Vec<(Move, Plies, Plies)>| {
            moves.into_iter().max_by_key(|&(_, no_mate, mate)| (mate, no_mate))
        };
        if let Some((m, _, mate)) = longest(self.known())
            && mate < left
        {
            return Some((m, mate));
        }
        // some answer was forgotten
        let (m, known) = self.solve(left, best)?;
        (known.is_mate() && known.plies < left).then_some((m, known.plies))
    }

    /// The table's bounds for every move: no mate within the first number of plies, mate within the second.
    fn known(&self) -> Vec<(Move, Plies, Plies)> {
        let mut moves = MoveList::new();
        self.node.generate(&mut moves);
        let without: &[Move] = if self.node.depth() == 0 { &self.without } else { &[] };
        moves
            .iter()
            .map(|m| m.mv)
            .filter(|m| !without.contains(m))
            .map(|m| {
                let (no_mate, mate) = self.table.bounds(self.node.board_after(m), self.node.hand_after(m));
                // the position just left would be repeated: a mate that goes through it is no progress
                (m, no_mate.min(ENDLESS), mate)
            })
            .collect()
    }
}

/// The best move of an expansion and what is known about it.
fn best(expansion: &Expansion, _: &Knowledge) -> Option<(Move, Knowledge)> {
    expansion.results().next().map(|(m, known)| (m, *known))
}
