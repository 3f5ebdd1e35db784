//! `toratsugumi book think`.

use super::files::{self, OutputArgs};
use crate::book::{Book, PackedPosition};
use crate::book_growth::{
    GrowthError, GrowthJob, GrowthRules, Leaf, ReplyModel, SearchEffort, frontier, grow, score_of,
};
use crate::commands::networks::network;
use crate::commands::signals;
use crate::commands::values::parse_duration;
use crate::datagen::Shard;
use crate::position::STARTPOS;
use crate::record::openings::Opening;
use crate::resume::AtPath;
use crate::resume::whole_file::{self, beside};
use crate::support::console::{note, say};
use crate::support::messages;
use crate::support::numa::processors;
use std::collections::{BTreeMap, HashSet};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Search the positions of a book, and grow it
///
/// First, every position with a move that has neither depth nor score is searched (--again: every position).
/// The book's own moves get scores, too, where the search prefers others. Then the book grows by the leaves
/// that games are likeliest to reach, and scores are backed up after each round. It ends at --grow positions,
/// or when no leaf is within the limits.
///
/// After a stop or a kill, the same command continues the run and makes the same book. Ctrl-C and the end of
/// --max-time save everything; the exit code is then 75. Only with --movetime does the book depend on the
/// machine.
///
/// To share the work among jobs: --frontier N writes the next leaves to a file; each job searches its part of
/// them with --positions FILE --shard I/N; `book merge` adds the parts to the book.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The book to begin with [default: an empty one]
    #[arg(value_name = "BOOK")]
    input: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// Grow to this number of positions [default: only search the positions of the book]
    #[arg(long, value_name = "POSITIONS", default_value_t = 0, hide_default_value = true, conflicts_with_all = ["shard", "frontier"])]
    grow: usize,
    /// Also search the last positions of these lines: `startpos moves ...` or `sfen ...`
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
    /// Grow from the last positions of these lines [default: the initial position]
    #[arg(long, value_name = "FILE")]
    roots: Option<PathBuf>,
    /// Search every position of the book again
    #[arg(long)]
    again: bool,
    /// Nodes of the search of a position of the book or of --positions [default: 1000000, unless --movetime
    /// is given]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Least nodes of a search: an unlikely leaf is searched with fewer nodes, in proportion to the square
    /// root of its probability
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    least_nodes: u64,
    /// Milliseconds of each search
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(u64).range(1..))]
    movetime: Option<u64>,
    /// Moves that a search scores
    #[arg(long, default_value_t = 4, value_name = "MOVES", value_parser = clap::value_parser!(u16).range(1..=100))]
    multipv: u16,
    /// Concurrent searches, each on one thread [default: one per logical processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// MiB of each search's transposition table
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    hash: u32,
    /// A network file or the directory of an nn.bin, instead of the embedded network
    #[arg(long, visible_alias = "eval-file", value_name = "PATH")]
    eval_dir: Option<PathBuf>,
    /// Divisor of the network's output [default: that of the network's file, or else 16]
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..=128))]
    fv_scale: Option<i32>,
    /// Do not follow moves that are worse than the best by more centipawns
    #[arg(long, default_value_t = GrowthRules::DEFAULT.margin, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..=30_000))]
    margin: i32,
    /// Do not follow lines whose score is beyond this, in centipawns
    #[arg(long, default_value_t = GrowthRules::DEFAULT.range, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..=32_000))]
    range: i32,
    /// Centipawns that a move of our own may lose
    #[arg(long, default_value_t = GrowthRules::DEFAULT.own_margin, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..=30_000))]
    own_margin: i32,
    /// Centipawns of loss that make a move 2.7 times (e times) less likely
    #[arg(long, default_value_t = ReplyModel::SOFTNESS, value_name = "CP", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    softness: u16,
    /// A book with counts, as `book make` writes it: moves that were played more often are likelier
    #[arg(long, value_name = "BOOK")]
    played: Option<PathBuf>,
    /// Do not grow beyond this move number
    #[arg(long, default_value_t = GrowthRules::DEFAULT.max_ply, value_name = "PLY")]
    max_ply: u16,
    /// Score of a repetition for Black, in centipawns
    #[arg(long, default_value_t = 0, value_name = "CP", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-30_000..=30_000))]
    draw_value: i32,
    /// Search and write only part I of N of the positions (I from 0)
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Search nothing, but write the next N leaves to --output, one per line
    #[arg(long, value_name = "N")]
    frontier: Option<usize>,
    /// Stop after this time (90, 45s, 55m, 1h30m)
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    max_time: Option<Duration>,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// Runs `book think`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    args.output.check_file()?;
    let book = match &args.input {
        Some(path) => files::each_once(files::read(path)?, path),
        None => Book::default(),
    };
    let roots = last_positions(args.roots.as_deref())?;
    let roots: Vec<(PackedPosition, u16)> =
        if roots.is_empty() { vec![PackedPosition::read(STARTPOS)?] } else { roots.into_iter().collect() };
    let expansion = GrowthRules {
        margin: args.margin,
        range: args.range,
        own_margin: args.own_margin,
        max_ply: args.max_ply,
        draw: args.draw_value,
    };
    let replies = replies(args.played.as_deref(), args.softness)?;
    let extra = last_positions(args.positions.as_deref())?;
    let unnumbered = book.entries().filter(|e| e.ply == 0).count();
    if let (Some(path), 1..) = (&args.input, unnumbered) {
        note!("{}", messages::unnumbered_lines(path.display(), unnumbered, book.len()));
    }
    if let Some(most) = args.frontier {
        return write_frontier(args, &frontier(&book, &roots, &expansion, &replies, &HashSet::new(), most));
    }
    let format = args.output.check()?;
    let network = Arc::new(network(args.eval_dir.as_deref())?);
    signals::watch();
    let job = GrowthJob {
        book,
        extra,
        again: args.again,
        shard: args.shard.map(|s| (s.index as usize, s.count as usize)),
        grow: args.grow,
        roots,
        expansion,
        replies,
        effort: SearchEffort {
            nodes: args.nodes.or_else(|| args.movetime.is_none().then_some(1_000_000)),
            least_nodes: args.least_nodes,
            movetime: args.movetime,
            multipv: args.multipv.into(),
            hash: args.hash as usize,
            fv_scale: args.fv_scale.unwrap_or(network.fv_scale()),
        },
        network,
        threads: args.threads.map_or_else(processors, usize::from),
        journal: beside(args.output.path(), "journal"),
        max_time: args.max_time,
        quiet: args.quiet,
    };
    let (book, journal) = grow(&job).map_err(|e| -> Box<dyn Error> {
        match e {
            GrowthError::Unfinished(stopped) => stopped.into(),
            e => e.into(),
        }
    })?;
    if let Some(score) = job.roots.first().and_then(|(root, _)| score_of(&book, root, args.draw_value)) {
        say!("{}", messages::root_score(score.value, score.depth))?;
    }
    args.output.write(book, format)?;
    Ok(journal.remove()?)
}

/// The model of the replies in the games of a book, if one is given.
pub fn replies(played: Option<&Path>, softness: u16) -> Result<ReplyModel, Box<dyn Error>> {
    let played = match played {
        Some(path) => files::each_once(files::read(path)?, path),
        None => Book::default(),
    };
    Ok(ReplyModel::new(played, softness.into()))
}

/// The last positions of the lines of a file, with their plies.
fn last_positions(path: Option<&Path>) -> Result<BTreeMap<PackedPosition, u16>, Box<dyn Error>> {
    let mut positions = BTreeMap::new();
    for opening in path.map(Opening::read_file).transpose()?.unwrap_or_default() {
        let pos = opening.position();
        let packed = PackedPosition::of(&pos).ok_or_else(|| format!("{}: a king is missing", pos.sfen()))?;
        positions.insert(packed, pos.game_ply().min(u32::from(u16::MAX)) as u16);
    }
    Ok(positions)
}

fn write_frontier(args: &Args, leaves: &[Leaf]) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    for pos in leaves.iter().filter_map(|leaf| leaf.packed.position(leaf.ply)) {
        text += &format!("sfen {}\n", pos.sfen());
    }
    let path = args.output.path();
    whole_file::write(path, text).at(path)?;
    say!("{}", messages::leaves_written(leaves.len(), path.display()))?;
    Ok(())
}
