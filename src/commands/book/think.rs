//! `toratsugumi book think`.

use super::analyst::{Analyst, Effort};
use super::files::{self, Output};
use super::journal::{Found, Journal};
use crate::book::grow::{Interest, frontier, score_of};
use crate::book::{Book, BookMove, Builder, Place, Remark};
use crate::commands::networks::network;
use crate::commands::signals;
use crate::commands::values::parse_duration;
use crate::datagen::Shard;
use crate::position::STARTPOS;
use crate::record::openings::Opening;
use crate::resume::interrupt::{self, Unfinished};
use crate::resume::whole_file::beside;
use crate::support::console::{Progress, clock, note, say};
use crate::support::messages;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Search the positions of a book, and grow it
///
/// First every position is searched that has a move with neither depth nor score (--again: every one); moves that the book names and the
/// search does not prefer get scores, too. Then the book grows: the leaf on the line on which both sides give the least
/// away is searched next, with scores backed up in between, until there are --grow positions or no leaf is left that is
/// of interest.
///
/// Killed, the run goes on where it was with the same command, and ends with the same book; Ctrl-C and the end of --max-time
/// stop it with exit code 75 and all saved. Only --movetime makes a book that depends on the machine.
///
/// For an array of jobs: --frontier N writes the next leaves to a file; each job takes its part of them with
/// --positions FILE --shard I/N; `book merge` puts the parts into the book.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The book to begin with [default: an empty one]
    #[arg(value_name = "BOOK")]
    input: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
    /// Grow until there are so many positions [default: only search those that are there]
    #[arg(long, value_name = "POSITIONS", default_value_t = 0, conflicts_with_all = ["shard", "frontier"])]
    grow: usize,
    /// Search also the last positions of these lines: `startpos moves ...` or `sfen ...`
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Grow from the last positions of these lines [default: the initial position]
    #[arg(long, value_name = "FILE")]
    roots: Option<PathBuf>,
    /// Search every position of the book again
    #[arg(long)]
    again: bool,
    /// Nodes of each search [default: 1000000, unless --movetime is given]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Milliseconds of each search
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(u64).range(1..))]
    movetime: Option<u64>,
    /// Moves that a search scores
    #[arg(long, default_value_t = 4, value_name = "MOVES", value_parser = clap::value_parser!(u16).range(1..=100))]
    multipv: u16,
    /// Searches at once, each on a thread of its own [default: one a CPU]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// MiB of each search's table
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    hash: u32,
    /// A network file or the directory of an nn.bin [default: the embedded network]
    #[arg(long, visible_alias = "eval-dir", value_name = "PATH")]
    eval_file: Option<PathBuf>,
    /// Divisor of the network's output [default: what the network's file says, or else 16]
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..=128))]
    fv_scale: Option<i32>,
    /// Grow no move that is worse than the best by more centipawns
    #[arg(long, default_value_t = 80, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..=30_000))]
    margin: i32,
    /// Grow no line whose score is beyond this
    #[arg(long, default_value_t = 300, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..=32_000))]
    range: i32,
    /// Centipawns that a ply counts: the more, the broader the book
    #[arg(long, default_value_t = 10, value_name = "CP", value_parser = clap::value_parser!(i32).range(1..=1000))]
    ply_price: i32,
    /// Grow up to this move number
    #[arg(long, default_value_t = 60, value_name = "PLY")]
    max_ply: u16,
    /// What a repetition is worth for Black, in centipawns
    #[arg(long, default_value_t = 0, value_name = "CP", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-30_000..=30_000))]
    draw_value: i32,
    /// Search only part I (from 0) of N of the positions, and write only those
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Search nothing: write the next N leaves to --output, a line each
    #[arg(long, value_name = "N")]
    frontier: Option<usize>,
    /// Stop after this time (90, 45s, 55m, 1h30m)
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    max_time: Option<Duration>,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// The book as it grows.
struct State {
    entries: BTreeMap<Place, (u16, Vec<BookMove>)>,
    /// Positions in which the game is over.
    dead: HashSet<Place>,
    remarks: Vec<Remark>,
    comment: String,
}

impl State {
    /// Of a book that has each position once.
    fn of(book: &Book) -> State {
        let entries = book.entries().map(|e| (e.place, (e.ply, e.moves.to_vec()))).collect();
        let (remarks, comment) = (book.remarks().to_vec(), book.comment().to_string());
        State { entries, dead: HashSet::new(), remarks, comment }
    }

    fn take(&mut self, found: &Found) {
        if found.moves.is_empty() {
            self.dead.insert(found.place);
        } else {
            self.entries.insert(found.place, (found.ply, found.moves.clone()));
        }
    }

    fn book(&self) -> Book {
        let mut builder = Builder::default();
        builder.comment(&self.comment);
        self.entries.iter().for_each(|(place, (ply, moves))| builder.push(*place, *ply, moves));
        for r in &self.remarks {
            let ply = self.entries.get(&r.place).map_or(r.ply, |(ply, _)| *ply);
            builder.remark(Remark { ply, ..r.clone() });
        }
        builder.finish().0
    }
}

/// A job's fixed parts.
struct Run<'a> {
    args: &'a Args,
    pool: rayon::ThreadPool,
    analysts: Vec<Mutex<Analyst>>,
    begin: Instant,
    progress: Progress,
    /// Searches done in this run.
    searched: usize,
}

/// Runs `book think`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let input = match &args.input {
        Some(path) => files::each_once(files::read(path)?, path),
        None => Book::default(),
    };
    let roots = places(args.roots.as_deref())?;
    let roots: Vec<(Place, u16)> =
        if roots.is_empty() { vec![Place::read(STARTPOS)?] } else { roots.into_iter().collect() };
    let interest = Interest {
        margin: args.margin,
        range: args.range,
        ply_price: args.ply_price,
        max_ply: args.max_ply,
        draw: args.draw_value,
    };
    let extra = places(args.positions.as_deref())?;
    let mut state = State::of(&input);
    let unnumbered = state.entries.values().filter(|(ply, _)| *ply == 0).count();
    if let (Some(path), 1..) = (&args.input, unnumbered) {
        let all = state.entries.len();
        note!("{}", messages::unnumbered_lines(path.display(), unnumbered, all));
    }
    if let Some(most) = args.frontier {
        args.output.spare()?;
        return write_frontier(args, &frontier(&state.book(), &roots, &interest, &state.dead, most));
    }
    let format = args.output.check()?;
    let mut todo: Vec<(Place, u16)> = state
        .entries
        .iter()
        .filter(|(_, (_, moves))| args.again || moves.iter().any(unsearched))
        .map(|(place, (ply, _))| (*place, *ply))
        .collect();
    todo.extend(extra.iter().filter(|(p, _)| !state.entries.contains_key(p)).map(|(p, ply)| (*p, *ply)));
    if let Some(shard) = args.shard {
        todo = todo.into_iter().skip(shard.index as usize).step_by(shard.count as usize).collect();
        let own: HashSet<Place> = todo.iter().map(|(place, _)| *place).collect();
        state.entries.retain(|place, _| own.contains(place));
    }
    let network = Arc::new(network(args.eval_file.as_deref())?);
    let fv_scale = args.fv_scale.unwrap_or(network.fv_scale());
    let mut hasher = Checksum(crc32fast::Hasher::new());
    network.write(&mut hasher)?;
    let identity = format!(
        "think {} network {:08x} positions {:08x}",
        settings(args, fv_scale),
        hasher.0.finalize(),
        checksum(&state, &todo, &roots)
    );
    let path = beside(args.output.path(), "journal");
    let (mut journal, contents) = Journal::open(&path, &identity)?;

    signals::watch();
    let threads =
        args.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()), usize::from);
    let effort = Effort {
        nodes: args.nodes.or_else(|| args.movetime.is_none().then_some(1_000_000)),
        movetime: args.movetime,
        multipv: args.multipv.into(),
        hash: args.hash as usize,
        fv_scale,
    };
    let analysts = (0..threads)
        .map(|_| Analyst::new(network.clone(), &effort).map(Mutex::new))
        .collect::<Result<_, _>>()?;
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(crate::search::STACK).build()?;
    let progress = Progress::new(args.quiet);
    let mut run = Run { args, pool, analysts, begin: Instant::now(), progress, searched: 0 };

    contents.rounds.iter().flatten().for_each(|found| state.take(found));
    let mut known: HashMap<Place, Found> = contents.rest.into_iter().map(|f| (f.place, f)).collect();
    // the first round are the positions that were given; a journal with a round has it behind it
    if !contents.rounds.is_empty() {
        todo.clear();
    }
    loop {
        if todo.is_empty() {
            let missing = args.grow.saturating_sub(state.entries.len());
            // larger rounds for larger books: backing up takes its time
            let size = missing.min((state.entries.len() / 64).max(64));
            todo = if size == 0 {
                Vec::new()
            } else {
                frontier(&state.book(), &roots, &interest, &state.dead, size)
            };
            if todo.is_empty() {
                break;
            }
        }
        for found in run.round(&todo, &state, &mut known, &mut journal)? {
            state.take(&found);
        }
        journal.end_round()?;
        todo.clear();
    }
    run.progress.say(&messages::searched(run.searched, clock(run.begin.elapsed().as_secs_f64())));
    let book = state.book();
    if let Some(score) = roots.first().and_then(|(root, _)| score_of(&book, root, args.draw_value)) {
        say!("{}", messages::root_score(score.value, score.depth))?;
    }
    args.output.write(book, format)?;
    std::fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()).into())
}

impl Run<'_> {
    /// Searches what is not known yet. Every result is in the journal before the next search begins.
    fn round(
        &mut self,
        todo: &[(Place, u16)],
        state: &State,
        known: &mut HashMap<Place, Found>,
        journal: &mut Journal,
    ) -> Result<Vec<Found>, Box<dyn Error>> {
        let args = self.args;
        let missing: Vec<(Place, u16)> =
            todo.iter().filter(|(p, _)| !known.contains_key(p)).copied().collect();
        let total = args.grow.max(state.entries.len());
        let before = self.searched;
        let journal = Mutex::new((journal, &mut *known, &mut self.searched, &mut self.progress));
        let (begin, analysts) = (self.begin, &self.analysts);
        let late = || interrupt::requests() > 0 || args.max_time.is_some_and(|t| begin.elapsed() >= t);
        self.pool.install(|| {
            missing.par_iter().with_max_len(1).try_for_each(|(place, ply)| -> Result<(), String> {
                if late() {
                    return Ok(());
                }
                let thread = rayon::current_thread_index().unwrap_or(0);
                let moves = match place.position(*ply) {
                    // a position against the rules has no moves
                    None => Vec::new(),
                    Some(pos) => {
                        let old = state.entries.get(place).map_or(&[][..], |(_, moves)| moves);
                        analysts[thread].lock().unwrap_or_else(PoisonError::into_inner).analyse(&pos, old)
                    }
                };
                let found = Found { place: *place, ply: *ply, moves };
                let mut guard = journal.lock().unwrap_or_else(PoisonError::into_inner);
                let (journal, known, searched, progress) = &mut *guard;
                journal.add(&found)?;
                known.insert(*place, found);
                **searched += 1;
                let done = state.entries.len() + (**searched - before);
                let speed = **searched as f64 / begin.elapsed().as_secs_f64();
                let left = clock(total.saturating_sub(done) as f64 / speed);
                progress.update(|| messages::searches(done, total, speed, left));
                Ok(())
            })
        })?;
        let (journal, known, ..) = journal.into_inner().unwrap_or_else(PoisonError::into_inner);
        journal.sync()?;
        let found: Option<Vec<Found>> = todo.iter().map(|(place, _)| known.get(place).cloned()).collect();
        let found = found.ok_or(Unfinished)?;
        known.clear();
        Ok(found)
    }
}

/// Nobody has searched the move: it has neither depth nor score.
fn unsearched(m: &BookMove) -> bool {
    m.depth().unwrap_or(0) <= 0 && m.value().unwrap_or(0) == 0
}

/// The last positions of the lines of a file, with their plies.
fn places(path: Option<&std::path::Path>) -> Result<BTreeMap<Place, u16>, Box<dyn Error>> {
    let mut places = BTreeMap::new();
    for opening in path.map(Opening::read_file).transpose()?.unwrap_or_default() {
        let pos = opening.position();
        let place = Place::of(&pos).ok_or_else(|| format!("{}: a king is missing", pos.sfen()))?;
        places.insert(place, pos.game_ply().min(u32::from(u16::MAX)) as u16);
    }
    Ok(places)
}

fn write_frontier(args: &Args, leaves: &[(Place, u16)]) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    for pos in leaves.iter().filter_map(|(place, ply)| place.position(*ply)) {
        text += &format!("sfen {}\n", pos.sfen());
    }
    let path = args.output.path();
    crate::resume::whole_file::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    say!("{}", messages::leaves_written(leaves.len(), path.display()))?;
    Ok(())
}

/// What decides which positions are searched, and how; but not how far the book grows, so that it can go on to more.
fn settings(a: &Args, fv_scale: i32) -> String {
    format!(
        "nodes {:?} movetime {:?} multipv {} hash {} fv_scale {} margin {} range {} ply_price {} max_ply {} draw {} shard {:?}",
        a.nodes,
        a.movetime,
        a.multipv,
        a.hash,
        fv_scale,
        a.margin,
        a.range,
        a.ply_price,
        a.max_ply,
        a.draw_value,
        a.shard
    )
}

/// Of everything a run begins with.
fn checksum(state: &State, todo: &[(Place, u16)], roots: &[(Place, u16)]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for (place, (ply, moves)) in &state.entries {
        hasher.update(&place.0);
        hasher.update(format!("{ply} {moves:?}").as_bytes());
    }
    for (place, ply) in todo.iter().chain(roots) {
        hasher.update(&place.0);
        hasher.update(&ply.to_le_bytes());
    }
    hasher.finalize()
}

/// A checksum of what is written.
struct Checksum(crc32fast::Hasher);

impl Write for Checksum {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
