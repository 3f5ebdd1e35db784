//! The mate solver at the root: looks for a mate by checks alone for the side to move before the search, and
//! for the opponent after the move that is about to be played. Each call may take a share of the move's time.

use super::{Limits, SearchOptions};
use crate::mate::{self, Answer, Shorten, Solver};
use crate::position::{Position, Repetition};
use crate::types::{MAX_PLY, Move};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Megabytes of the solver's table: some ten thousand positions need no more.
const MEMORY: usize = 4;
/// Positions that the solver visits in a millisecond, approximately.
const SPEED: u64 = 300;
/// A call ends after this many times its planned time, where the solver is slower.
const PATIENCE: u64 = 3;
/// Positions for a call in infinite analysis: a tenth of a second.
const ANALYSIS: u64 = 30_000;
/// The most positions for a call: on long clocks some seconds.
const MOST: u64 = 1_000_000;
/// Before resigning, the solver is called once more with this many times the positions.
const LAST_LOOK: u64 = 10;
/// ... and at least this many milliseconds, or half of the clock's reserve.
const OVERTIME: i64 = 300;

/// The solver of the thread that keeps the time, made when it is first asked, and what it knows of the
/// present search.
pub(super) struct RootMates {
    solver: Option<Solver>,
    /// Positions for one call; 0 for no calls in this search.
    nodes: u64,
    last_ply: u32,
    /// Infinite analysis: no clock runs, and the shortest mate is shown.
    endless: bool,
    /// Whether the last mate found is proved to be the shortest.
    shortest: bool,
    /// The least milliseconds for the last call.
    overtime: i64,
    /// Set when the user stops the search.
    stop: Arc<AtomicBool>,
    /// The moves after which the opponent was examined, and whether it mates there.
    answered: Vec<(Move, bool)>,
}

impl RootMates {
    /// The calls end when `stop` is raised.
    pub(super) fn new(stop: Arc<AtomicBool>) -> RootMates {
        RootMates {
            solver: None,
            nodes: 0,
            last_ply: 0,
            endless: false,
            shortest: false,
            overtime: 0,
            stop,
            answered: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        if let Some(solver) = &mut self.solver {
            solver.clear();
        }
    }

    /// Begins a search that plans to take `time` milliseconds. The solver is called in searches with a clock
    /// for a single best move, not with a limit of depth or nodes, several lines or named moves.
    pub(super) fn begin(&mut self, limits: &Limits, options: &SearchOptions, time: i64) {
        let timed = limits.uses_time_manager() || limits.movetime.is_some();
        let bounded = limits.depth.is_some() || limits.nodes.is_some() || limits.soft_nodes.is_some();
        let one_of_all = options.multi_pv == 1 && limits.search_moves.is_empty();
        let wanted = options.root_mate_percent > 0 && !bounded && limits.mate.is_none() && one_of_all;
        let time = u64::try_from(time).unwrap_or(0);
        self.nodes = match wanted {
            true if limits.infinite => ANALYSIS,
            true if timed => {
                (time.saturating_mul(SPEED) / 100).saturating_mul(options.root_mate_percent).min(MOST)
            }
            _ => 0,
        };
        self.endless = limits.infinite;
        let exact = limits.movetime.is_some() || limits.rtime.is_some();
        let reserve = i64::try_from(options.network_delay2).unwrap_or(i64::MAX);
        self.overtime = if exact { 0 } else { OVERTIME.min(reserve / 2) };
        self.last_ply = options.max_moves_to_draw;
        self.answered.clear();
    }

    /// A mate of the side to move, with its line. `left` milliseconds may be used, if the clock runs.
    pub(super) fn own(&mut self, pos: &Position, left: Option<i64>) -> Option<Vec<Move>> {
        let shorten = if self.endless { Shorten::Shortest } else { Shorten::Any };
        self.look(pos, self.nodes, left, shorten)
    }

    /// In infinite analysis, a mate in fewer than `plies` plies, if there is one; may take until `stop`.
    pub(super) fn shorter(&mut self, pos: &Position, plies: usize) -> Option<Vec<Move>> {
        if !self.endless || self.shortest || plies <= 1 {
            return None;
        }
        let limits = mate::Limits { time: None, nodes: None, shorten: Shorten::Shortest };
        self.solve(pos, &limits).filter(|line| line.len() < plies)
    }

    /// The same before resigning, when the search may have used all of its time.
    pub(super) fn last_chance(&mut self, pos: &Position, left: Option<i64>) -> Option<Vec<Move>> {
        let left = left.map(|ms| ms.max(self.overtime));
        self.look(pos, self.nodes * LAST_LOOK, left, Shorten::Any)
    }

    /// Whether the opponent mates after `m`, a legal move of `pos`.
    pub(super) fn runs_into_mate(&mut self, pos: &Position, m: Move, left: Option<i64>) -> bool {
        if self.nodes == 0 {
            return false;
        }
        if let Some(&(_, mated)) = self.answered.iter().find(|(answered, _)| *answered == m) {
            return mated;
        }
        let mut pos = pos.clone();
        pos.do_move(m);
        let mated = self.look(&pos, self.nodes, left, Shorten::Any).is_some();
        if mated || left.is_none_or(|ms| ms > 0) {
            self.answered.push((m, mated));
        }
        mated
    }

    /// Whether [`runs_into_mate`](Self::runs_into_mate) was true for the move in this search.
    pub(super) fn is_refuted(&self, m: Move) -> bool {
        self.answered.contains(&(m, true))
    }

    fn look(&mut self, pos: &Position, nodes: u64, left: Option<i64>, shorten: Shorten) -> Option<Vec<Move>> {
        let left = left.map_or(u64::MAX, |ms| u64::try_from(ms).unwrap_or(0));
        if nodes == 0 || left == 0 {
            return None;
        }
        // positions with many moves take longer
        let time = Duration::from_millis(left.min(1 + PATIENCE * nodes / SPEED));
        let time = Some(time).filter(|_| !self.endless);
        self.solve(pos, &mate::Limits { time, nodes: Some(nodes), shorten })
    }

    fn solve(&mut self, pos: &Position, limits: &mate::Limits) -> Option<Vec<Move>> {
        if self.solver.is_none() {
            // without memory the search has to do
            self.solver = Solver::new(MEMORY).ok();
        }
        let outcome = self.solver.as_mut()?.solve(pos, &[], limits, &self.stop, &mut |_| {});
        let Answer::Mate(mate) = outcome.answer else { return None };
        self.shortest = mate.shortest;
        let fits = mate.line.len() < MAX_PLY && is_free(pos, self.last_ply, &mate.line);
        fits.then_some(mate.line)
    }
}

/// Whether neither a repetition nor the game's move limit interrupts the line. (The defender may choose
/// another line, which the next call takes into account.)
fn is_free(pos: &Position, last: u32, line: &[Move]) -> bool {
    if last > 0 && pos.game_ply() as usize + line.len() > last as usize + 1 {
        return false;
    }
    let mut pos = pos.clone();
    line.iter().enumerate().all(|(i, &m)| {
        pos.do_move(m);
        pos.repetition(i + 1) == Repetition::None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// White to move; if it does nothing, Black mates in eleven or more.
    const THREATENED: &str =
        "5p2l/1+S7/p1p3k2/1p1p1gppp/P1N3l2/S1PBP1PsP/1K1P1P2N/6+R2/LN1G5 w 2GSPrbnl2p 156";

    fn with(limits: &Limits, percent: u64) -> RootMates {
        let mut mates = RootMates::new(Arc::default());
        let options = SearchOptions { root_mate_percent: percent, ..SearchOptions::default() };
        mates.begin(limits, &options, 2_000);
        mates
    }

    #[test]
    fn a_move_that_runs_into_a_mate_is_refuted() {
        let pos = Position::from_sfen(THREATENED).unwrap();
        let mut mates = with(&Limits::movetime(2_000), 10);
        let [idle, escape] = ["9c9d", "3c4b"].map(|m| pos.parse_move(m).unwrap());
        assert!(mates.runs_into_mate(&pos, idle, None) && mates.is_refuted(idle));
        assert!(!mates.runs_into_mate(&pos, escape, None) && !mates.is_refuted(escape));
        assert!(mates.own(&pos, None).is_none());
        let mut after = pos.clone();
        after.do_move(idle);
        let line = mates.own(&after, None).unwrap();
        // no time is left, or the user stops the search
        assert!(mates.own(&after, Some(-5)).is_none() && mates.own(&after, Some(5_000)).is_some());
        let mut stopped = with(&Limits::movetime(2_000), 10);
        stopped.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(stopped.own(&after, None).is_none());
        assert!(line.len() >= 11 && line.len() % 2 == 1);
        // the game ends before the mate does
        mates.last_ply = after.game_ply() + 5;
        assert!(mates.own(&after, None).is_none());
    }

    #[test]
    fn only_searches_with_a_clock_for_one_move_call_the_solver() {
        let clock = Limits { has_clock: true, byoyomi: [2_000; 2], ..Limits::default() };
        let ponder = Limits { ponder: true, ..clock.clone() };
        let infinite = Limits { infinite: true, ..Limits::default() };
        let looks = |limits: &Limits, percent| with(limits, percent).nodes > 0;
        assert!(looks(&Limits::movetime(2_000), 1) && looks(&clock, 1) && looks(&infinite, 1));
        assert!(!looks(&clock, 0) && looks(&ponder, 1));
        assert!(!looks(&Limits::nodes(1_000), 1) && !looks(&Limits::depth(5), 1));
    }
}
