//! `toratsugumi openings`: the command line.

use super::{output_files, signals};
use crate::arena::balanced::{Maker, Recipe};
use crate::nnue::Network;
use crate::resume::interrupt;
use crate::resume::whole_file::{self, beside};
use crate::support::console::{Progress, clock};
use crate::support::messages::Number;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Make balanced openings for matches
///
/// From the initial position, a search rates the moves and one of the nearly equal best is drawn at random; a
/// deeper search of the last position keeps the balanced lines. Runs on one thread: the same arguments,
/// engine and network make the same lines. If fewer are found than requested, they go to FILE.partial and
/// FILE stays as it is.
///
/// Example: toratsugumi openings --out lines.txt --count 200
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// File to write, one opening per line: `startpos moves ...`
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How many openings
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// Nodes of the search that checks the last position
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// The largest score of a balanced last position, in centipawns
    #[arg(long, default_value_t = 80, value_name = "CP")]
    balance: u16,
    /// Minimum length of an opening
    #[arg(long, default_value_t = 16, value_name = "PLY", value_parser = clap::value_parser!(u32).range(2..=100))]
    min_plies: u32,
    /// Maximum length of an opening
    #[arg(long, default_value_t = 24, value_name = "PLY", value_parser = clap::value_parser!(u32).range(2..=100))]
    max_plies: u32,
    /// Nodes of the search before each move
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    move_nodes: u64,
    /// Number of moves that this search rates
    #[arg(long, default_value_t = 6, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    candidates: u16,
    /// Centipawns by which a move may be worse than the best
    #[arg(long, default_value_t = 40, value_name = "CP")]
    margin: u16,
    /// Seed of the openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Overwrite the file
    #[arg(long)]
    force: bool,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the command. It fails when balanced openings are too rare.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    /// Consecutive failures after which the run gives up.
    const MOST_FAILURES: u64 = 1000;
    let path = args.out.display();
    output_files::check(&args.out, args.force)?;
    if args.min_plies.div_ceil(2) > args.max_plies / 2 {
        return Err("no even number of plies from --min-plies to --max-plies".into());
    }
    let recipe = Recipe {
        plies: (args.min_plies, args.max_plies),
        move_nodes: args.move_nodes,
        candidates: usize::from(args.candidates),
        margin: i32::from(args.margin),
        nodes: args.nodes,
        balance: i32::from(args.balance),
        seed: args.seed,
    };
    signals::watch();
    let mut maker = Maker::new(Network::embedded()?, recipe)?;
    let mut progress = Progress::new(args.quiet);
    let mut text = format!("# {}\n", made_by(args));
    let (mut made, mut last_success, begin) = (0, 0, Instant::now());
    while made < args.count && interrupt::requests() == 0 && maker.tried - last_success < MOST_FAILURES {
        if let Some(balanced) = maker.try_one() {
            // writing to a string cannot fail
            let _ = writeln!(text, "{}", balanced.opening);
            made += 1;
            last_success = maker.tried;
        }
        progress.update(|| status(args.count, made, maker.tried, begin));
    }
    progress.say(&status(args.count, made, maker.tried, begin));
    let why = if interrupt::requests() > 0 { "interrupted" } else { "hardly any line ends balanced" };
    if made == 0 {
        return Err(format!("{why}: no opening found; {path} is not written").into());
    }
    let all = made == args.count;
    let out = destination(&args.out, all);
    let name = out.display();
    whole_file::write(&out, text).map_err(|e| format!("{name}: {e}"))?;
    if all { Ok(()) } else { Err(format!("{why}: {name} has {made} of {} openings", args.count).into()) }
}

fn status(count: u64, made: u64, tried: u64, begin: Instant) -> String {
    let seconds = begin.elapsed().as_secs_f64();
    let left = match made {
        0 => "?".into(),
        _ => clock(seconds / made as f64 * (count - made) as f64),
    };
    let tried = Number(tried);
    format!("{made}/{count} openings  {tried} line{tried:#} tried  {}, {left} left", clock(seconds))
}

/// The file to write: an incomplete set does not replace an existing file.
fn destination(out: &Path, all: bool) -> PathBuf {
    if all || !out.is_file() { out.into() } else { beside(out, "partial") }
}

/// The command that makes the same lines again.
fn made_by(a: &Args) -> String {
    format!(
        "toratsugumi openings --count {} --nodes {} --balance {} --min-plies {} --max-plies {} --move-nodes {} --candidates {} --margin {} --seed {}",
        a.count, a.nodes, a.balance, a.min_plies, a.max_plies, a.move_nodes, a.candidates, a.margin, a.seed
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incomplete_set_replaces_no_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert_eq!(destination(file.path(), true), file.path());
        assert_eq!(destination(file.path(), false), beside(file.path(), "partial"));
        assert_eq!(destination(Path::new("none-yet.txt"), false), Path::new("none-yet.txt"));
    }
}
