//! The move picker: returns moves one by one, most promising first, and generates and scores no more than
//! needed.
//!
//! Main search: transposition move; winning captures; quiets above a threshold; losing captures; the other
//! quiets. In check: transposition move, then all evasions by score. Quiescence: transposition move,
//! captures. ProbCut: captures that win enough.

use super::history::{ContIndex, Histories, LOW_PLIES, SharedHistories, SquareTests, Threats, piece_to};
use super::params as p;
use crate::position::{ExchangeMap, Position, material::PIECE_VALUE};
use crate::types::{Move, MoveList, PieceType, ScoredMove, Value};
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
    /// Computed when first needed.
    threats: Option<Threats>,
    list: MoveList,
    current: usize,
    end: usize,
    /// `current..ranked` are returned best first; what follows, in its order in the list.
    ranked: usize,
    /// How many more of them to select one by one before the rest is sorted.
    selections: u32,
    end_bad_captures: usize,
    end_captures: usize,
    /// The end of the ranked quiets, and the first of them that is not good.
    ranked_quiets: usize,
    bad_quiets: usize,
}

impl MovePicker {
    // inlined, because the list is large and would be copied
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
            threats: None,
            list: MoveList::new(),
            current: 0,
            end: 0,
            ranked: 0,
            selections: 0,
            end_bad_captures: 0,
            end_captures: 0,
            ranked_quiets: 0,
            bad_quiets: 0,
        }
    }

    /// For the main search. `continuation` are the tables of the moves 1 to 6 plies before; `all` includes
    /// pointless non-promotions.
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
                    self.begin_captures(pos, hist);
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
                        // losing captures are collected at the front of the list
                        self.list.swap(self.end_bad_captures, self.current - 1);
                        self.end_bad_captures += 1;
                    }
                    self.stage = Stage::InitQuiets;
                }
                Stage::InitQuiets => {
                    if !self.skip_quiets {
                        self.begin_quiets(pos, hist, shared);
                    }
                    self.stage = Stage::GoodQuiets;
                }
                Stage::GoodQuiets => {
                    if !self.skip_quiets {
                        while let Some(s) = self.take() {
                            if s.score > p::order_good_quiet() {
                                return s.mv;
                            }
                            if self.current <= self.ranked_quiets {
                                // nor are the other ranked ones good
                                self.bad_quiets = self.current - 1;
                                self.current = self.ranked_quiets;
                            }
                        }
                    }
                    (self.current, self.end) = (0, self.end_bad_captures);
                    self.ranked = 0;
                    self.stage = Stage::BadCaptures;
                }
                Stage::BadCaptures => {
                    if let Some(s) = self.take() {
                        return s.mv;
                    }
                    (self.current, self.end) = (self.bad_quiets, self.list.len());
                    self.rank(self.ranked_quiets);
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
                    self.begin_evasions(pos, hist);
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

    // The next three run once a node, `next` for every move: inlined, they would make every call of `next`
    // save more registers.

    #[inline(never)]
    fn begin_captures(&mut self, pos: &Position, hist: &Histories) {
        pos.captures(self.all, &mut self.list);
        self.end = self.list.len();
        self.end_captures = self.end;
        score_captures(&mut self.list, pos, hist);
        self.rank(self.end);
    }

    #[inline(never)]
    fn begin_quiets(&mut self, pos: &Position, hist: &Histories, shared: &SharedHistories) {
        pos.quiets(self.all, &mut self.list);
        self.current = self.end_captures;
        self.end = self.list.len();
        self.score_quiets(pos, hist, shared);
        let limit = -p::order_sort_depth() * self.depth;
        let above = partition_above(&mut self.list[self.end_captures..], limit);
        self.ranked_quiets = self.end_captures + above;
        self.bad_quiets = self.ranked_quiets;
        self.rank(self.ranked_quiets);
    }

    #[inline(never)]
    fn begin_evasions(&mut self, pos: &Position, hist: &Histories) {
        pos.evasions(self.all, &mut self.list);
        self.end = self.list.len();
        self.score_evasions(pos, hist);
        self.rank(self.end);
    }

    /// From `current` to `end`, moves come best first.
    #[inline]
    fn rank(&mut self, end: usize) {
        /// Most nodes end after a few moves: sorting pays only beyond these.
        const SELECTIONS: u32 = 8;
        self.ranked = end;
        self.selections = SELECTIONS;
    }

    /// The next scored move that is not the transposition move.
    #[inline(always)]
    fn take(&mut self) -> Option<ScoredMove> {
        while self.current < self.end {
            if self.current < self.ranked {
                self.bring_best();
            }
            let s = self.list[self.current];
            self.current += 1;
            if s.mv != self.tt_move {
                return Some(s);
            }
        }
        None
    }

    /// Brings the best of the ranked moves to `current`. Equals keep the order in which they were generated.
    #[inline]
    fn bring_best(&mut self) {
        let rest = &mut self.list[self.current..self.ranked];
        if self.selections == 0 {
            rest.sort_by_key(|s| std::cmp::Reverse(s.score));
            self.ranked = self.current;
            return;
        }
        self.selections -= 1;
        // the highest score, then where it stands: two plain passes are faster than one that branches at
        // every new best
        let highest = rest.iter().map(|s| s.score).max();
        let best = rest.iter().position(|s| Some(s.score) == highest).unwrap_or(0);
        rest[..=best].rotate_right(1);
    }

    /// The threats that the main history asks for, at this node.
    #[inline]
    pub fn threats(&mut self, pos: &Position) -> Threats {
        *self.threats.get_or_insert_with(|| Threats::of(pos))
    }

    // Most moves scored here are never searched, so this must be fast: what does not depend on the move comes
    // before the loops, and the first loop, which reads seven tables, keeps them in registers because others
    // have their own loops.
    fn score_quiets(&mut self, pos: &Position, hist: &Histories, shared: &SharedHistories) {
        let exchanges = pos.exchange_map();
        let threats = *self.threats.get_or_insert(Threats::by_map(exchanges.attacked));
        let main = hist.main_scores(pos.side_to_move(), threats);
        let pawn = shared.pawn(pos);
        let [c1, c2, c3, c4, c6] = [0, 1, 2, 3, 5].map(|i| hist.continuation(self.continuation[i]));
        let quiets = &mut self.list[self.end_captures..];
        for s in quiets.iter_mut() {
            let i = piece_to(s.mv.piece(), s.mv.to());
            let continuation = c1[i] as i32 + c2[i] as i32 + c3[i] as i32 + c4[i] as i32 + c6[i] as i32;
            s.score = 2 * (main.of(s.mv) + pawn[i].load(Relaxed) as i32) + continuation;
        }
        let losing = SquareTests::new(exchanges.losing);
        let of_kind = |kind| pos.check_squares(PieceType(kind as u8));
        let checks: SquareTests<{ PieceType::NUM }> = SquareTests::new(std::array::from_fn(of_kind));
        // a table instead of branches, which nothing could predict
        let (bonus, malus) = (p::order_check_bonus(), p::order_losing_malus());
        let corrections = [0, bonus, -malus, -malus];
        for s in quiets.iter_mut() {
            let loses = losing.contains(ExchangeMap::index(s.mv), s.mv.to());
            let checks = checks.contains(s.mv.piece().kind().index(), s.mv.to());
            s.score += corrections[usize::from(loses) * 2 + usize::from(checks)];
        }
        if self.ply < LOW_PLIES {
            let low_ply = hist.low_ply(self.ply);
            let share = (p::order_low_ply() << 10) / (1 + self.ply as i32);
            for s in quiets {
                s.score += (share * low_ply[s.mv.raw16() as usize] as i32) >> 10;
            }
        }
    }

    fn score_evasions(&mut self, pos: &Position, hist: &Histories) {
        // in check there are none
        let (us, threats) = (pos.side_to_move(), Threats::default());
        let previous = hist.continuation(self.continuation[0]);
        for s in &mut self.list {
            let m = s.mv;
            s.score = if pos.is_capture(m) {
                (1 << 28) + PIECE_VALUE[pos.captured_kind(m).index()]
            } else {
                hist.main(us, m, threats) + previous[piece_to(m.piece(), m.to())] as i32
            };
        }
    }
}

fn score_captures(list: &mut MoveList, pos: &Position, hist: &Histories) {
    for s in list {
        let captured = pos.captured_kind(s.mv);
        s.score = hist.capture(s.mv.piece(), s.mv.to(), captured)
            + p::order_captured_value() * PIECE_VALUE[captured.index()];
    }
}

/// Moves the entries that score at least `limit` to the front and returns their number; the first entry
/// always counts.
fn partition_above(list: &mut [ScoredMove], limit: i32) -> usize {
    let mut front = list.len().min(1);
    for i in 1..list.len() {
        if list[i].score >= limit {
            list.swap(front, i);
            front += 1;
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_comes_once_and_losing_quiets_last() {
        let (hist, shared) = (Histories::new().unwrap(), SharedHistories::new(1).unwrap());
        for sfen in [
            "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w GR5pnsg 1",
            "lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P4P1/PP1PPPP1P/1B5R1/LNSGKGSNL b - 1",
        ] {
            let pos = Position::from_sfen(sfen).unwrap();
            let losing = pos.exchange_map().losing;
            let mut quiets = MoveList::new();
            pos.quiets(false, &mut quiets);
            let loses = |m: &Move| {
                quiets.iter().any(|s| s.mv == *m) && losing[ExchangeMap::index(*m)].contains(m.to())
            };
            let mut all: Vec<Move> = pos.legal_moves(false).iter().map(|s| s.mv).collect();
            // few plies leave all quiets unranked, many rank them all
            for depth in [1, 10] {
                let mut picker =
                    MovePicker::main(&pos, Move::NONE, depth, LOW_PLIES, [ContIndex::NONE; 6], false);
                let mut picked = Vec::new();
                loop {
                    match picker.next(&pos, &hist, &shared) {
                        Move::NONE => break,
                        m if pos.is_legal(m) => picked.push(m),
                        _ => {}
                    }
                }
                let losing = picked.iter().filter(|m| loses(m)).count();
                assert!(losing > 0, "{sfen}");
                assert!(picked[picked.len() - losing..].iter().all(loses), "{sfen} {depth}");
                picked.sort_unstable_by_key(|m| m.0);
                all.sort_unstable_by_key(|m| m.0);
                assert_eq!(picked, all, "{sfen} {depth}");
            }
        }
    }

    #[test]
    fn ranked_moves_come_best_first_and_all_of_them() {
        let pos = Position::startpos();
        for count in [1, 5, 8, 9, 40] {
            let mut picker = MovePicker::quiescence(&pos, Move::NONE, 0, ContIndex::NONE, false);
            for i in 0..count {
                picker.list.push(ScoredMove { mv: Move(i + 1), score: (i as i32 * 7919) % 101 - 50 });
            }
            picker.end = picker.list.len();
            picker.rank(picker.end);
            let got: Vec<_> = std::iter::from_fn(|| picker.take()).map(|s| s.score).collect();
            assert_eq!(got.len(), count as usize);
            assert!(got.windows(2).all(|w| w[0] >= w[1]), "{got:?}");
        }
    }

    #[test]
    fn partition_loses_nothing() {
        let scores = [-5, -3, 9, 5, 7, -10, 9, 2];
        let mut list: Vec<_> = scores.iter().map(|&score| ScoredMove { mv: Move::NONE, score }).collect();
        assert_eq!(partition_above(&mut list, 1), 6);
        assert_eq!(list[0].score, -5);
        assert!(list[1..6].iter().all(|s| s.score >= 1) && list[6..].iter().all(|s| s.score < 1));
        let mut left: Vec<_> = list.iter().map(|s| s.score).collect();
        let mut all = scores.to_vec();
        left.sort();
        all.sort();
        assert_eq!(left, all);
    }
}
