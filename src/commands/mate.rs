//! `toratsugumi mate`: mate problems (tsume-shogi), one or a file of them.

use crate::commands::{record_files, signals};
use crate::mate::{Answer, Limits, Mate, Outcome, STACK, Shorten, Solver, no_king_to_mate, useless_tail};
use crate::position::Position;
use crate::record::Format;
use crate::resume::interrupt::{self, Unfinished};
use crate::resume::{Journal, ResumeError, identity};
use crate::support::console::{self, note, right};
use crate::support::lang::Lang;
use crate::support::messages::{self, word};
use crate::types::Move;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Solve mate problems: find a mate by checks alone, or prove that there is none
#[derive(clap::Args)]
pub struct Args {
    /// Files of problems: one SFEN a line (`-` is standard input), or records of every format that `convert`
    /// reads, whose first position counts
    #[arg(value_name = "FILE", required_unless_present = "sfen", conflicts_with = "sfen")]
    files: Vec<PathBuf>,
    /// A single problem
    #[arg(long)]
    sfen: Option<String>,
    /// Milliseconds for each problem
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    time: u64,
    /// Continue until no shorter mate can exist
    #[arg(long)]
    shortest: bool,
    /// Take the first mate found, however long
    #[arg(long, conflicts_with = "shortest")]
    any: bool,
    /// Look for other first moves that mate, too (always done for --sfen, and for a file of one problem
    /// without --json and --resume)
    #[arg(long)]
    others: bool,
    /// MiB of memory
    #[arg(long, default_value_t = 256, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    hash: u32,
    /// JSON lines instead of tables
    #[arg(long)]
    json: bool,
    /// Refuse a file with a line that cannot be understood
    #[arg(long, conflicts_with = "sfen")]
    strict: bool,
    /// Append a JSON line for each problem to this file, and skip the problems that are in it already
    #[arg(long, value_name = "FILE", conflicts_with = "sfen")]
    resume: Option<PathBuf>,
}

/// The result for a problem, as JSON.
#[derive(Clone, Serialize, Deserialize)]
struct Row {
    sfen: String,
    /// `mate`, `nomate` or `timeout`.
    answer: String,
    /// Plies of the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plies: Option<usize>,
    /// Plies of them that are useless interpositions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    useless: Option<usize>,
    /// Whether no shorter mate exists; not proved if false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shortest: Option<bool>,
    /// In USI.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    line: Vec<String>,
    /// Other first moves that mate; absent if they were not requested or not decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    others: Option<Vec<String>>,
    /// Whether they were requested and not all examined in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    others_undecided: bool,
    nodes: u64,
    milliseconds: u64,
}

/// The questions about every problem.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Asked {
    shortest: bool,
    any: bool,
    others: bool,
}

/// A line of the file of `--resume`.
#[derive(Serialize, Deserialize)]
struct JournalRow {
    #[serde(flatten)]
    row: Row,
    /// Not in files of older versions.
    #[serde(default)]
    asked: Option<Asked>,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let solver = Solver::new(args.hash as usize)?;
    let mut run = Run { args, solver, out: console::output() };
    if let Some(sfen) = &args.sfen {
        let position = Position::from_sfen(sfen).map_err(messages::bad_sfen)?;
        return match no_king_to_mate(&position) {
            Some(why) => Err(word(&why).into()),
            None => run.single(&position),
        };
    }
    let mut reader = record_files::Reader::new(None, args.strict).or(Format::Usi);
    let found = args.files.iter().filter_map(|path| reader.read(path)).flatten();
    let mut refused = Vec::new();
    let problems: Vec<Position> = found
        .map(|record| record.root)
        .filter(|problem| match no_king_to_mate(problem) {
            Some(why) => {
                refused.push(format!("{}: {}", problem.sfen(), word(&why)));
                false
            }
            None => true,
        })
        .collect();
    refused.iter().for_each(|why| note!("{why}"));
    match &problems[..] {
        [] => {}
        [problem] if args.resume.is_none() && !args.json => run.single(problem)?,
        problems => run.all(problems)?,
    }
    let refused = (!refused.is_empty()).then(|| messages::defenders_to_move(refused.len()));
    reader.finish(refused.into_iter().collect())
}

/// A problem solved.
struct Solved {
    outcome: Outcome,
    /// Other first moves that mate, if they were requested and all examined in time.
    others: Option<Vec<Move>>,
    others_asked: bool,
}

struct Run<'a> {
    args: &'a Args,
    solver: Solver,
    out: console::Output,
}

impl Run<'_> {
    /// Solves a problem; `None` if the user asked to stop meanwhile.
    fn solve(&mut self, position: &Position, others: bool) -> Option<Solved> {
        signals::watch();
        let before = interrupt::requests();
        let stop = Arc::new(AtomicBool::new(false));
        let deadline = Instant::now() + Duration::from_millis(self.args.time);
        let (solver, args) = (&mut self.solver, self.args);
        let solved = std::thread::scope(|scope| {
            let (sender, receiver) = channel();
            let worker_stop = stop.clone();
            let work = move || {
                let limits = Limits {
                    time: Some(deadline.saturating_duration_since(Instant::now())),
                    nodes: None,
                    shorten: match (args.shortest, args.any) {
                        (true, _) => Shorten::Shortest,
                        (_, true) => Shorten::Any,
                        _ => Shorten::UpperBound,
                    },
                };
                let outcome = solver.solve(position, &[], &limits, &worker_stop, &mut |_| {});
                let found = match &outcome.answer {
                    Answer::Mate(mate) if others => {
                        other_moves(solver, position, mate, deadline, &worker_stop)
                    }
                    _ => None,
                };
                // the receiver waits for it
                let _ = sender.send(Solved { outcome, others: found, others_asked: others });
            };
            // deep lines need a large stack
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok()?;
            loop {
                match receiver.recv_timeout(Duration::from_millis(20)) {
                    Ok(solved) => break Some(solved),
                    Err(RecvTimeoutError::Disconnected) => break None,
                    Err(RecvTimeoutError::Timeout) => {
                        stop.store(interrupt::requests() > before, Ordering::Relaxed);
                    }
                }
            }
        });
        solved.filter(|_| interrupt::requests() == before)
    }

    /// One problem, for people.
    fn single(&mut self, position: &Position) -> Result<(), Box<dyn Error>> {
        let lang = Lang::of_process();
        if !self.args.json {
            writeln!(self.out, "{}\nsfen {}\n", lang.board(position), position.sfen())?;
        }
        let Some(solved) = self.solve(position, true) else { return Err(messages::stopped().into()) };
        if self.args.json {
            return Ok(writeln!(self.out, "{}", serde_json::to_string(&row(position, &solved))?)?);
        }
        let Outcome { answer, nodes, time, .. } = &solved.outcome;
        match answer {
            Answer::Mate(mate) => {
                let plies = mate.line.len();
                let unit = if plies == 1 { "ply" } else { "plies" };
                let found = match mate.shortest {
                    true => messages::shortest_mate(plies, unit),
                    false => messages::mate(plies, unit),
                };
                writeln!(self.out, "{found}")?;
                let useless = useless_tail(position, &mate.line);
                if useless > 0 {
                    writeln!(self.out, "{}", messages::without_useless(plies - useless))?;
                }
                let usi: Vec<String> = mate.line.iter().map(Move::to_string).collect();
                writeln!(self.out, "   {}", lang.spell_line(position, None, &mate.line).join(" "))?;
                writeln!(self.out, "   {}", usi.join(" "))?;
                match &solved.others {
                    None => writeln!(self.out, "{}", messages::others_unknown())?,
                    Some(moves) if moves.is_empty() => writeln!(self.out, "{}", messages::others_none())?,
                    Some(moves) => {
                        let moves: Vec<String> =
                            moves.iter().map(|&m| format!("{} {m}", lang.spell(position, None, m))).collect();
                        writeln!(self.out, "{}", messages::others(messages::list(moves)))?;
                    }
                }
            }
            Answer::NoMate => writeln!(self.out, "{}", messages::no_mate())?,
            Answer::Unknown => writeln!(self.out, "{}", messages::undecided(self.args.time))?,
        }
        writeln!(self.out, "{}", messages::nodes_and_time(nodes, time.as_secs_f64()))?;
        Ok(())
    }

    /// All problems of the files, a line each.
    fn all(&mut self, problems: &[Position]) -> Result<(), Box<dyn Error>> {
        let &Args { shortest, any, others, .. } = self.args;
        let asked = Asked { shortest, any, others };
        let opened = self.args.resume.as_deref().map(|path| open_journal(path, asked)).transpose()?;
        let (mut journal, known) = opened.map_or_else(Default::default, |(j, known)| (Some(j), known));
        let mut rows = Vec::new();
        if !self.args.json {
            writeln!(self.out, "{}", messages::problems_header())?;
        }
        for (number, position) in problems.iter().enumerate() {
            let row = match known.get(&position.sfen()).cloned() {
                Some(row) => row,
                None => {
                    let Some(solved) = self.solve(position, self.args.others) else {
                        return match journal {
                            Some(_) => Err(Box::new(Unfinished)),
                            None => Err(messages::stopped().into()),
                        };
                    };
                    let row = row(position, &solved);
                    if let Some(journal) = &mut journal {
                        journal.append(&JournalRow { row: row.clone(), asked: Some(asked) })?;
                    }
                    row
                }
            };
            if self.args.json {
                writeln!(self.out, "{}", serde_json::to_string(&row)?)?;
            } else {
                let first = position.parse_move(row.line.first().map_or("", String::as_str));
                let first = first.map_or(String::new(), |m| Lang::of_process().spell(position, None, m));
                writeln!(
                    self.out,
                    "{:5}  {}  {}  {:>6}  {:>9}  {:>6}  {first}",
                    number + 1,
                    right(&row.plies.map_or_else(|| word(&row.answer).into(), |n| n.to_string()), 7),
                    right(row.shortest.map_or("", |s| word(if s { "yes" } else { "no" })), 6),
                    match &row.others {
                        Some(others) => others.len().to_string(),
                        None if row.others_undecided => "?".into(),
                        None => String::new(),
                    },
                    row.nodes,
                    row.milliseconds,
                )?;
            }
            rows.push(row);
        }
        if !self.args.json {
            let count = |answer: &str| rows.iter().filter(|r| r.answer == answer).count();
            let nodes: u64 = rows.iter().map(|r| r.nodes).sum();
            let ms: u64 = rows.iter().map(|r| r.milliseconds).sum();
            let summary = messages::problems_summary(
                rows.len(),
                count("mate"),
                rows.iter().filter(|r| r.shortest == Some(true)).count(),
                count("nomate"),
                count("timeout"),
                nodes,
                ms as f64 / 1000.0,
            );
            writeln!(self.out, "{summary}")?;
        }
        Ok(())
    }
}

/// The other first moves that mate; `None` if there was not enough time for all.
fn other_moves(
    solver: &mut Solver,
    position: &Position,
    mate: &Mate,
    deadline: Instant,
    stop: &Arc<AtomicBool>,
) -> Option<Vec<Move>> {
    let mut known = vec![mate.line[0]];
    loop {
        let time = Some(deadline.saturating_duration_since(Instant::now()));
        let limits = Limits { time, nodes: None, shorten: Shorten::Any };
        match solver.solve(position, &known, &limits, stop, &mut |_| {}).answer {
            Answer::Mate(mate) => known.push(mate.line[0]),
            Answer::NoMate => break,
            Answer::Unknown => return None,
        }
    }
    known.remove(0);
    Some(known)
}

fn row(position: &Position, solved: &Solved) -> Row {
    let outcome = &solved.outcome;
    let mate = match &outcome.answer {
        Answer::Mate(mate) => Some(mate),
        _ => None,
    };
    let texts = |moves: &[Move]| moves.iter().map(Move::to_string).collect();
    Row {
        sfen: position.sfen(),
        answer: match outcome.answer {
            Answer::Mate(_) => "mate",
            Answer::NoMate => "nomate",
            Answer::Unknown => "timeout",
        }
        .into(),
        plies: mate.map(|m| m.line.len()),
        useless: mate.map(|m| useless_tail(position, &m.line)).filter(|&n| n > 0),
        shortest: mate.map(|m| m.shortest),
        line: mate.map(|m| texts(&m.line)).unwrap_or_default(),
        others: solved.others.as_deref().map(texts),
        others_undecided: solved.others_asked && mate.is_some() && solved.others.is_none(),
        nodes: outcome.nodes,
        milliseconds: outcome.time.as_millis() as u64,
    }
}

/// The journal of `--resume`, and the rows of an earlier run by problem.
fn open_journal(
    path: &Path,
    asked: Asked,
) -> Result<(Journal<JournalRow>, HashMap<String, Row>), ResumeError> {
    let (journal, rows) = Journal::<JournalRow>::open(path)?;
    for before in rows.iter().filter_map(|row| row.asked) {
        identity::check(path, &before, &asked)?;
    }
    Ok((journal, rows.into_iter().map(|JournalRow { row, .. }| (row.sfen.clone(), row)).collect()))
}
