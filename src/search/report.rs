//! What leaves a search: [`ReportedLine`]s for the observer, at intervals through a [`LineSender`], and the last ones at its end.

use super::root_move::{ReportedLine, RootMove};
use super::worker::Worker;
use super::{Info, Observer};
use crate::position::{Position, Repetition};
use crate::types::{Bound, MAX_PLY, Move, VALUE_INFINITE, VALUE_ZERO, is_decisive};
use std::time::Instant;

/// The way to the observer; remembers when lines last went out.
pub(super) struct LineSender<'a> {
    observer: &'a dyn Observer,
    /// Least time between two reports, in milliseconds.
    interval: u64,
    last: Option<Instant>,
}

impl<'a> LineSender<'a> {
    pub fn new(observer: &'a dyn Observer, interval: u64) -> LineSender<'a> {
        LineSender { observer, interval, last: None }
    }

    /// Whether somebody listens and the interval has passed since the last report.
    pub fn is_due(&self) -> bool {
        self.observer.listens() && self.last.is_none_or(|t| t.elapsed().as_millis() as u64 >= self.interval)
    }
}

impl Worker {
    /// Reports the first `multi_pv` lines as they stand in the middle of a search, bounds included.
    pub(super) fn report_progress(&self, sender: &mut LineSender<'_>, multi_pv: usize) {
        let lines: Vec<ReportedLine> =
            (0..multi_pv).map_while(|rank| self.line_so_far(rank)).map(|line| self.filled(line)).collect();
        self.send_lines(sender, &lines);
    }

    /// Sends lines out, the best first.
    pub(super) fn send_lines(&self, sender: &mut LineSender<'_>, lines: &[ReportedLine]) {
        if !sender.observer.listens() {
            return;
        }
        let time_ms = self.limits.start.elapsed().as_millis() as u64;
        let nodes = self.total_nodes();
        let hashfull = self.shared.tt.hashfull();
        for (i, line) in lines.iter().enumerate() {
            let mut pv = line.pv.clone();
            let pv_end =
                self.options.consideration_mode.then(|| self.lengthen(&mut pv, MAX_PLY - 1)).flatten();
            sender.observer.info(&Info {
                depth: line.depth,
                seldepth: line.sel_depth,
                multipv: i + 1,
                score: line.score,
                bound: line.bound,
                nodes,
                nps: nodes * 1000 / time_ms.max(1),
                hashfull,
                time_ms,
                pv,
                pv_end,
            });
        }
        sender.last = Some(Instant::now());
    }

    /// The line of a rank (0 is the best) in the middle of an iteration; none if it was never searched.
    fn line_so_far(&self, rank: usize) -> Option<ReportedLine> {
        let r = self.root_moves.get(rank)?;
        let updated = r.is_scored();
        if self.root_depth == 1 && !updated && rank > 0 {
            return None;
        }
        let score = if updated { r.shown } else { r.previous_score };
        Some(ReportedLine {
            score: if score == -VALUE_INFINITE { VALUE_ZERO } else { score },
            bound: if updated && rank == self.pv_index { r.bound } else { Bound::Exact },
            depth: if updated { self.root_depth } else { (self.root_depth - 1).max(1) },
            sel_depth: r.sel_depth,
            pv: r.pv().collect(),
        })
    }

    /// Keeps the lines of an iteration that was finished, for [`Worker::final_line`].
    pub(super) fn settle_lines(&mut self, multi_pv: usize) {
        let line = |r: &RootMove| ReportedLine {
            score: r.score,
            bound: Bound::Exact,
            depth: self.root_depth,
            sel_depth: r.sel_depth,
            pv: r.pv().collect(),
        };
        self.settled = self.root_moves.iter().take(multi_pv).map(line).collect();
    }

    /// The line of a rank as the search leaves it: always with an exact score and, where one is known, a whole line, for
    /// GUIs keep the last one. Where the stop came while the move's score was only a bound, that is the line of the last
    /// iteration that was finished. A new best move has none there: its bound is then the best estimate of its score.
    /// None for a rank without any score.
    pub(super) fn final_line(&self, rank: usize) -> Option<ReportedLine> {
        let mut line = self.line_so_far(rank)?;
        let r = &self.root_moves[rank];
        if !(r.is_scored() && r.bound == Bound::Exact)
            && let Some(settled) = self.settled.iter().find(|s| s.pv.first() == Some(&r.mv))
        {
            line = settled.clone();
        }
        line.bound = Bound::Exact;
        Some(self.filled(line))
    }

    /// The line with moves of the transposition table up to its depth. Reductions make a line end early, and one move tells a
    /// reader little. Bounds and mates stay as they are.
    fn filled(&self, mut line: ReportedLine) -> ReportedLine {
        if line.bound == Bound::Exact && !is_decisive(line.score) {
            self.lengthen(&mut line.pv, line.depth as usize);
        }
        line
    }

    /// Lengthens a line with the table's moves, up to so many; says how a repetition ends it, if one does.
    fn lengthen(&self, pv: &mut Vec<Move>, most: usize) -> Option<&'static str> {
        if pv.len() >= most {
            return None;
        }
        let mut pos = self.pos.clone();
        for &m in pv.iter() {
            pos.do_move(m);
        }
        let mut plies = pv.len();
        while plies < most {
            match pos.repetition(plies) {
                Repetition::None => {}
                Repetition::Draw => return Some("rep_draw"),
                Repetition::Win => return Some("rep_win"),
                Repetition::Lose => return Some("rep_lose"),
                Repetition::Superior => return Some("rep_sup"),
                Repetition::Inferior => return Some("rep_inf"),
            }
            let m = self.table_move(&pos)?;
            pos.do_move(m);
            pv.push(m);
            plies += 1;
        }
        None
    }

    /// The table's move for a position, if it is legal there.
    fn table_move(&self, pos: &Position) -> Option<Move> {
        let (_, m) = self.probe_at(pos).0?;
        (m.is_some() && pos.is_pseudo_legal(m, true) && pos.is_legal(m)).then_some(m)
    }

    /// The reply to expect after the first move of a line: its second, else the table's.
    pub(super) fn ponder_move(&self, pv: &[Move]) -> Option<Move> {
        if let Some(&m) = pv.get(1) {
            return Some(m);
        }
        let mut pos = self.pos.clone();
        pos.do_move(*pv.first()?);
        self.table_move(&pos)
    }
}
