//! The move picker: hands out moves one by one, most promising first, generating and scoring no more than needed.
//!
//! Main search: transposition move; winning captures; quiets above a threshold; losing captures; the other quiets.
//! In check: transposition move, then all evasions by score. Quiescence: transposition move, captures. ProbCut:
//! captures that win enough.

use super::history::{ContIndex, Histories, LOW_PLIES, SharedHistories, piece_to};
use super::params as p;
use crate::position::{Position, material::PIECE_VALUE};
use crate::types::{Move, MoveList, ScoredMove, Value};
use std::sync::atomic::Ordering::Relaxed;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    TtMove,
    InitCaptures,
    GoodCaptures,
    InitQuiets,
    GoodQuiets,
    BadCaptures,
    BadQuiets,
    InitEvasions,
    Remaining,
    ProbCut,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Main,
    Quiescence,
    /// Captures whose exchange wins at least so much.
    ProbCut(Value),
}

/// Iterates over the pseudo-legal moves of one node.
pub struct MovePicker {
    stage: Stage,
    purpose: Purpose,
    tt_move: Move,
    depth: i32,
    ply: usize,
    all: bool,
    skip_quiets: bool,
    continuation: [ContIndex; 6],
    list: MoveList,
    current: usize,
    end: usize,
    end_bad_captures: usize,
    end_captures: usize,
}

impl MovePicker {
    // built in place: the list is large, and moving it would cost more than generating into it
    #[inline(always)]
    fn new(
        pos: &Position,
        purpose: Purpose,
        tt_move: Move,
        depth: i32,
        ply: usize,
        continuation: [ContIndex; 6],
        all: bool,
    ) -> MovePicker {
        let usable = tt_move.is_some()
            && (!matches!(purpose, Purpose::ProbCut(_)) || pos.is_capture(tt_move))
            && pos.is_pseudo_legal(tt_move, all);
        let first = if pos.in_check() { Stage::InitEvasions } else { Stage::InitCaptures };
        MovePicker {
            stage: if usable { Stage::TtMove } else { first },
            purpose,
            tt_move: if usable { tt_move } else { Move::NONE },
            depth,
            ply,
            all,
            skip_quiets: false,
            continuation,
            list: MoveList::new(),
            current: 0,
            end: 0,
            end_bad_captures: 0,
            end_captures: 0,
        }
    }

    /// For the main search. `continuation` are the tables of the moves 1 to 6 plies before; `all` includes pointless
    /// non-promotions.
    #[inline(always)]
    pub fn main(
        pos: &Position,
        tt_move: Move,
        depth: i32,
        ply: usize,
        continuation: [ContIndex; 6],
        all: bool,
    ) -> MovePicker {
        MovePicker::new(pos, Purpose::Main, tt_move, depth, ply, continuation, all)
    }

    /// For the quiescence search: captures, or evasions in check.
    #[inline(always)]
    pub fn quiescence(
        pos: &Position,
        tt_move: Move,
        ply: usize,
        previous: ContIndex,
        all: bool,
    ) -> MovePicker {
        let mut continuation = [ContIndex::NONE; 6];
        continuation[0] = previous;
        MovePicker::new(pos, Purpose::Quiescence, tt_move, 0, ply, continuation, all)
    }

    /// For ProbCut: captures that win at least `threshold` in exchanges. Not in check.
    #[inline(always)]
    pub fn probcut(pos: &Position, tt_move: Move, threshold: Value, all: bool) -> MovePicker {
        MovePicker::new(pos, Purpose::ProbCut(threshold), tt_move, 0, 0, [ContIndex::NONE; 6], all)
    }

    /// From now on, no more quiet moves.
    #[inline]
    pub fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// The next move, or `Move::NONE`.
    pub fn next(&mut self, pos: &Position, hist: &Histories, shared: &SharedHistories) -> Move {
        loop {
            match self.stage {
                Stage::TtMove => {
                    self.stage = if pos.in_check() { Stage::InitEvasions } else { Stage::InitCaptures };
                    return self.tt_move;
                }
                Stage::InitCaptures => {
                    pos.captures(self.all, &mut self.list);
                    self.end = self.list.len();
                    self.end_captures = self.end;
                    score_captures(&mut self.list, pos, hist);
                    sort_above(&mut self.list, i32::MIN);
                    self.stage = match self.purpose {
                        Purpose::Main => Stage::GoodCaptures,
                        Purpose::Quiescence => Stage::Remaining,
                        Purpose::ProbCut(_) => Stage::ProbCut,
                    };
                }
                Stage::GoodCaptures => {
                    while let Some(s) = self.take() {
                        if pos.see_ge(s.mv, -s.score / p::order_capture_see_div()) {
                            return s.mv;
                        }
                        // losing captures gather at the front, behind those already handed out
                        self.list.swap(self.end_bad_captures, self.current - 1);
                        self.end_bad_captures += 1;
                    }
                    self.stage = Stage::InitQuiets;
                }
                Stage::InitQuiets => {
                    if !self.skip_quiets {
                        pos.quiets(self.all, &mut self.list);
                        self.current = self.end_captures;
                        self.end = self.list.len();
                        self.score_quiets(pos, hist, shared);
                        sort_above(&mut self.list[self.end_captures..], -p::order_sort_depth() * self.depth);
                    }
                    self.stage = Stage::GoodQuiets;
                }
                Stage::GoodQuiets => {
                    if !self.skip_quiets {
                        while let Some(s) = self.take() {
                            if s.score > p::order_good_quiet() {
                                return s.mv;
                            }
                        }
                    }
                    (self.current, self.end) = (0, self.end_bad_captures);
                    self.stage = Stage::BadCaptures;
                }
                Stage::BadCaptures => {
                    if let Some(s) = self.take() {
                        return s.mv;
                    }
                    (self.current, self.end) = (self.end_captures, self.list.len());
                    self.stage = Stage::BadQuiets;
                }
                Stage::BadQuiets => {
                    if !self.skip_quiets {
                        while let Some(s) = self.take() {
                            if s.score <= p::order_good_quiet() {
                                return s.mv;
                            }
                        }
                    }
                    self.stage = Stage::Done;
                }
                Stage::InitEvasions => {
                    pos.evasions(self.all, &mut self.list);
                    self.end = self.list.len();
                    self.score_evasions(pos, hist);
                    sort_above(&mut self.list, i32::MIN);
                    self.stage = Stage::Remaining;
                }
                Stage::Remaining => {
                    if let Some(s) = self.take() {
                        return s.mv;
                    }
                    self.stage = Stage::Done;
                }
                Stage::ProbCut => {
                    let Purpose::ProbCut(threshold) = self.purpose else { unreachable!() };
                    while let Some(s) = self.take() {
                        if pos.see_ge(s.mv, threshold) {
                            return s.mv;
                        }
                    }
                    self.stage = Stage::Done;
                }
                Stage::Done => return Move::NONE,
            }
        }
    }

    /// The next scored move that is not the transposition move.
    #[inline]
    fn take(&mut self) -> Option<ScoredMove> {
        while self.current < self.end {
            let s = self.list[self.current];
            self.current += 1;
            if s.mv != self.tt_move {
                return Some(s);
            }
        }
        None
    }

    fn score_quiets(&mut self, pos: &Position, hist: &Histories, shared: &SharedHistories) {
        let us = pos.side_to_move();
        let pawn = shared.pawn(pos);
        let continuation = [0, 1, 2, 3, 5].map(|i| hist.continuation(self.continuation[i]));
        let low_ply = self.ply < LOW_PLIES;
        for s in &mut self.list[self.end_captures..] {
            let (m, i) = (s.mv, piece_to(s.mv.piece(), s.mv.to()));
            let mut score = 2 * (hist.main(us, m) + pawn[i].load(Relaxed) as i32);
            score += continuation.iter().map(|t| t[i] as i32).sum::<i32>();
            if pos.check_squares(m.piece().kind()).contains(m.to()) && pos.see_ge(m, -75) {
                score += p::order_check_bonus();
            }
            if low_ply {
                score += 8 * hist.low_ply(self.ply, m) / (1 + self.ply as i32);
            }
            s.score = score;
        }
    }

    fn score_evasions(&mut self, pos: &Position, hist: &Histories) {
        let us = pos.side_to_move();
        let previous = hist.continuation(self.continuation[0]);
        for s in &mut self.list {
            let m = s.mv;
            s.score = if pos.is_capture(m) {
                (1 << 28) + PIECE_VALUE[pos.piece_on(m.to()).kind().index()]
            } else {
                hist.main(us, m) + previous[piece_to(m.piece(), m.to())] as i32
            };
        }
    }
}

fn score_captures(list: &mut MoveList, pos: &Position, hist: &Histories) {
    for s in list {
        let captured = pos.piece_on(s.mv.to()).kind();
        s.score = hist.capture(s.mv.piece(), s.mv.to(), captured) + 7 * PIECE_VALUE[captured.index()];
    }
}

/// Moves the entries that score at least `limit` to the front, best first; the others follow in no special order.
fn sort_above(list: &mut [ScoredMove], limit: i32) {
    let mut sorted = 0;
    for i in 0..list.len() {
        let s = list[i];
        if s.score < limit {
            continue;
        }
        list[i] = list[sorted];
        let mut j = sorted;
        while j > 0 && list[j - 1].score < s.score {
            list[j] = list[j - 1];
            j -= 1;
        }
        list[j] = s;
        sorted += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_sort_orders_the_top_and_keeps_the_rest() {
        let scores = [5, -3, 9, 0, 7, -10, 9, 2];
        let mut list: Vec<_> =
            scores.iter().enumerate().map(|(i, &s)| ScoredMove { mv: Move(i as u32), score: s }).collect();
        sort_above(&mut list, 1);
        let got: Vec<_> = list.iter().map(|s| s.score).collect();
        assert_eq!(got[..5], [9, 9, 7, 5, 2]);
        let mut rest = got[5..].to_vec();
        rest.sort();
        assert_eq!(rest, [-10, -3, 0]);
    }
}
