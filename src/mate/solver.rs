//! The mate solver: [`Solver`].

use super::limits::{Limits, Shorten, Watch};
use super::node::Node;
use super::paths::Paths;
use super::search::Search;
use super::table::Table;
use super::value::{ENDLESS, Knowledge};
use crate::position::Position;
use crate::support::memory::OutOfMemory;
use crate::types::Move;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The answer to a mate problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is a mate.
    Mate(Mate),
    /// Proved: no sequence of checks mates.
    NoMate,
    /// Neither was proved in time.
    Unknown,
}

/// A mate with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mate {
    /// Checks and answers in turn; the last move mates.
    pub line: Vec<Move>,
    /// The most plies that the mate takes, whatever the defender plays.
    pub bound: usize,
    /// Whether it is proved that no shorter mate exists.
    pub shortest: bool,
}

/// A finished search.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was found or proved.
    pub answer: Answer,
    /// Positions visited.
    pub nodes: u64,
    /// Wall-clock time so far.
    pub time: Duration,
    /// How often the table was full and dropped entries, since the solver was created.
    pub sweeps: u64,
}

/// The progress of a search.
#[derive(Clone, Debug)]
pub struct Progress<'a> {
    /// Wall-clock time so far.
    pub time: Duration,
    /// Positions visited.
    pub nodes: u64,
    /// Plies of the line under search.
    pub depth: usize,
    /// Plies of the longest line so far.
    pub seldepth: usize,
    /// Thousandths of the table in use.
    pub hashfull: u32,
    /// Proof and disproof number of the root.
    pub numbers: (u64, u64),
    /// The line under search, or the line of a mate if `mate` is set.
    pub line: &'a [Move],
    /// Whether `line` is a mate.
    pub mate: bool,
}

/// A mate solver with its tables. They keep their content until [`clear`](Self::clear); it affects the time
/// of a search, not the answer.
pub struct Solver {
    table: Table,
    paths: Paths,
    runs: u64,
}

/// Bytes of stack that the deepest line takes.
pub const STACK: usize = 256 << 20;

/// The interval between reports of progress.
const REPORT_EVERY: Duration = Duration::from_millis(1_000);

impl Solver {
    /// A solver with this many MiB of memory (at least one).
    pub fn new(mib: usize) -> Result<Solver, OutOfMemory> {
        let bytes = mib.max(1).saturating_mul(1 << 20);
        let paths = bytes / 8;
        Ok(Solver { table: Table::new(bytes - paths)?, paths: Paths::new(paths)?, runs: 0 })
    }

    /// Clears everything, as in a new solver.
    pub fn clear(&mut self) {
        self.table.clear();
        self.paths.clear();
        self.runs = 0;
    }

    /// As [`solve`](Self::solve), on a thread of its own with a large enough stack.
    pub fn solve_apart(
        &mut self,
        position: &Position,
        without: &[Move],
        limits: &Limits,
    ) -> Result<Outcome, OutOfMemory> {
        let refused = OutOfMemory { bytes: STACK };
        std::thread::scope(|scope| {
            let work = || self.solve(position, without, limits, &Arc::default(), &mut |_| {});
            let builder = std::thread::Builder::new().name("mate".into()).stack_size(STACK);
            let thread = builder.spawn_scoped(scope, work).map_err(|_| refused)?;
            thread.join().map_err(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Solves a position: does the side to move mate by checks alone?
    ///
    /// `without`: excluded first moves, to find out whether others mate, too. `report` is
    /// called about once a second and when a mate is found.
    pub fn solve(
        &mut self,
        position: &Position,
        without: &[Move],
        limits: &Limits,
        stop: &Arc<AtomicBool>,
        report: &mut dyn FnMut(&Progress),
    ) -> Outcome {
        self.runs += 1;
        let watch = Watch::new(limits, stop);
        self.table.begin(watch.ending.clone());
        let node = Node::new(position.clone(), self.runs);
        let mut search = Search::new(node, &mut self.table, &mut self.paths, watch);
        search.without = without.to_vec();
        let report = RefCell::new(report);
        let mut next = REPORT_EVERY;
        let mut periodic = |search: &Search| {
            let time = search.watch.elapsed();
            if time >= next {
                next = time + REPORT_EVERY;
                report.borrow_mut()(&progress(search, search.node.moves(), false));
            }
        };
        search.on_visit = Some(&mut periodic);
        let mut found =
            |search: &Search, mate: &Mate| report.borrow_mut()(&progress(search, &mate.line, true));
        let answer = shorten(&mut search, limits.shorten, &mut found);
        Outcome {
            answer,
            nodes: search.watch.nodes,
            time: search.watch.elapsed(),
            sweeps: search.table.sweeps(),
        }
    }
}

fn progress<'a>(search: &Search, line: &'a [Move], mate: bool) -> Progress<'a> {
    Progress {
        time: search.watch.elapsed(),
        nodes: search.watch.nodes,
        depth: line.len(),
        seldepth: search.watch.deepest,
        hashfull: search.table.per_mille(),
        numbers: search.root_numbers(),
        line,
        mate,
    }
}

/// Finds a mate, then shorter ones while `level` asks for them and time is left.
fn shorten(search: &mut Search, level: Shorten, found: &mut dyn FnMut(&Search, &Mate)) -> Answer {
    let verdict = |search: &mut Search, plies| search.solve(plies, |_, known: &Knowledge| *known);
    let first = verdict(search, ENDLESS);
    if first.is_no_mate() {
        return if search.cut_off { Answer::Unknown } else { Answer::NoMate };
    }
    if !first.is_mate() {
        return Answer::Unknown;
    }
    // lines need not be perfect where any mate will do
    let rounds = if level == Shorten::Any { 300 } else { usize::MAX };
    let Some((line, mut bound)) = search.consistent_line(first.plies, rounds) else { return Answer::Unknown };
    let mut mate = Mate { line, bound: bound as usize, shortest: bound <= 1 };
    found(search, &mate);
    while level != Shorten::Any && bound > 1 && !search.watch.ended() {
        if level == Shorten::UpperBound && mate.line.len() == mate.bound {
            break;
        }
        let shorter = verdict(search, bound - 2);
        if shorter.is_mate() {
            let Some((line, plies)) = search.consistent_line(shorter.plies, rounds) else { break };
            bound = plies;
            mate = Mate { line, bound: bound as usize, shortest: bound <= 1 };
            found(search, &mate);
        } else if shorter.is_no_mate() {
            mate.shortest = !search.cut_off;
            // the line of best play, now that the length is known
            if mate.line.len() != mate.bound
                && let Some(line) = search.line(bound, true)
            {
                mate.line = line;
                found(search, &mate);
            }
            break;
        } else {
            break;
        }
    }
    Answer::Mate(mate)
}
