//! Lines of analysis for the observer: [`ReportedLine`]s, sent at intervals and at the end through a
//! [`LineSender`].

use super::root_move::{ReportedLine, RootMove};
use super::worker::Worker;
use super::{Info, Observer};
use crate::position::{Position, Repetition};
use crate::types::{Bound, MAX_PLY, Move, VALUE_INFINITE, VALUE_ZERO, is_decisive};
use std::time::Instant;

/// Sends lines to the observer, and limits how often.
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

    /// Whether the observer listens and the interval since the last report is over.
    pub fn is_due(&self) -> bool {
        self.observer.listens() && self.last.is_none_or(|t| t.elapsed().as_millis() as u64 >= self.interval)
    }
}

impl Worker {
    /// Reports the lines as they stand in the middle of a search, bounds included.
    pub(super) fn report_progress(&self, sender: &mut LineSender<'_>) {
        let lines = self.ranked_lines(self.line_so_far(0), self.pv_index + 1);
        self.send_lines(sender, &lines.into_iter().map(|line| self.filled(line)).collect::<Vec<_>>());
    }

    /// Sends lines to the observer, the best first.
    pub(super) fn send_lines(&self, sender: &mut LineSender<'_>, lines: &[ReportedLine]) {
        if !sender.observer.listens() {
            return;
        }
        let time_ms = self.limits.start.elapsed().as_millis() as u64;
        let nodes = self.total_nodes();
        let hashfull = self.shared.tt.hashfull();
        for (i, line) in lines.iter().enumerate() {
            let mut pv = line.pv.clone();
            let pv_end = self.options.consideration_mode.then(|| self.extend(&mut pv, MAX_PLY - 1)).flatten();
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

    /// The number of lines to report.
    pub(super) fn ranks(&self) -> usize {
        self.options.multi_pv.clamp(1, self.root_moves.len().max(1))
    }

    /// The line of a rank (0 is the best) that has been searched in this iteration, or of the best move
    /// before that.
    fn line_so_far(&self, rank: usize) -> ReportedLine {
        let r = &self.root_moves[rank];
        let updated = r.is_scored();
        let score = if updated { r.shown } else { r.previous_score };
        ReportedLine {
            score: if score == -VALUE_INFINITE { VALUE_ZERO } else { score },
            bound: if updated && rank == self.pv_index { r.bound } else { Bound::Exact },
            depth: if updated { self.root_depth } else { (self.root_depth - 1).max(1) },
            sel_depth: r.sel_depth,
            pv: r.pv().collect(),
        }
    }

    /// All lines to report, of which this iteration has finished the first `finished` or, with less, `best`.
    /// The others are those of the last finished iteration. As they do not beat the finished ones at this
    /// depth, no line scores more than the one before it.
    fn ranked_lines(&self, best: ReportedLine, finished: usize) -> Vec<ReportedLine> {
        let mut lines = vec![best];
        lines.extend((1..finished).map(|rank| self.line_so_far(rank)));
        for line in &self.finished_lines {
            if lines.iter().all(|known| known.pv[0] != line.pv[0]) {
                lines.push(line.clone());
            }
        }
        lines.truncate(self.ranks());
        for rank in 1..lines.len() {
            lines[rank].score = lines[rank].score.min(lines[rank - 1].score);
        }
        lines
    }

    /// Stores the lines of a finished iteration for [`Worker::final_lines`].
    pub(super) fn keep_lines(&mut self) {
        let line = |r: &RootMove| ReportedLine {
            score: r.score,
            bound: Bound::Exact,
            depth: self.root_depth,
            sel_depth: r.sel_depth,
            pv: r.pv().collect(),
        };
        self.finished_lines = self.root_moves.iter().take(self.ranks()).map(line).collect();
    }

    /// The best move's line at the end of the search. Its score is exact, because GUIs keep the last line. If
    /// the score was a bound at the stop, it is the line of the last finished iteration; a new best move has
    /// none there, and its bound is the best estimate.
    pub(super) fn final_best_line(&self) -> ReportedLine {
        let r = &self.root_moves[0];
        let exact = r.is_scored() && r.bound == Bound::Exact;
        let finished = self.finished_lines.iter().find(|s| !exact && s.pv.first() == Some(&r.mv));
        let line = finished.cloned().unwrap_or_else(|| self.line_so_far(0));
        self.filled(ReportedLine { bound: Bound::Exact, ..line })
    }

    /// All lines at the end of the search, the first being `best`: [`Worker::final_best_line`] of this or the
    /// elected thread.
    pub(super) fn final_lines(&self, best: ReportedLine) -> Vec<ReportedLine> {
        // the line under search at the stop is not finished
        let lines = self.ranked_lines(best, self.pv_index);
        lines.into_iter().map(|line| self.filled(line)).collect()
    }

    /// Extends a line with moves of the transposition table up to its depth, because reductions make lines
    /// end early. Bounds and mates stay as they are.
    fn filled(&self, mut line: ReportedLine) -> ReportedLine {
        if line.bound == Bound::Exact && !is_decisive(line.score) {
            self.extend(&mut line.pv, line.depth as usize);
        }
        line
    }

    /// Extends a line with moves of the transposition table, up to `most` plies; returns how a repetition
    /// ends it, if one does.
    fn extend(&self, pv: &mut Vec<Move>, most: usize) -> Option<&'static str> {
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

    /// The reply to expect after the first move of a line: its second move, or the table's.
    pub(super) fn ponder_move(&self, pv: &[Move]) -> Option<Move> {
        if let Some(&m) = pv.get(1) {
            return Some(m);
        }
        let mut pos = self.pos.clone();
        pos.do_move(*pv.first()?);
        self.table_move(&pos)
    }
}
