//! `toratsugumi tune`: tunes the search's numbers.

use super::networks::network;
use super::signals;
use crate::commands::values::parse_duration;
use crate::record::openings::Opening;
use crate::resume::interrupt::Unfinished;
use crate::search::params;
use crate::support::numa::processors;
use crate::tune::{GameSettings, TuneJob, TuningState, run as tune};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Tune the search parameters by self-play (SPSA); needs a build with `--features tune`
///
/// Writes DIR/tune.json (the state of the run, for --resume), DIR/params.txt (the current values, in the
/// format of search/params.rs) and DIR/tune.svg (a graph of each parameter). `toratsugumi --numbers
/// DIR/params.txt` before any command searches with them: a match can measure their strength, `datagen` can
/// play with them, and another run of `tune` can begin with them.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Directory of the run
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Games of the whole run; two make a step
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(2..))]
    games: u64,
    /// Nodes per move; choose about as many as in the games that the parameters are for
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Tune only parameters whose names begin with one of these prefixes, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PREFIX")]
    only: Vec<String>,
    /// Share of its last perturbation by which one game changes a parameter at the end of the run
    #[arg(long, default_value_t = 0.002)]
    rate: f64,
    /// Games start from these lines (`startpos moves ...`, `sfen ...`) [default: 8 random moves]
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// A game is decided when both sides' scores agree on this (a pawn is 90)
    #[arg(long, default_value_t = 2000)]
    decided_score: i32,
    /// Draw games after this number of plies
    #[arg(long, default_value_t = 320)]
    max_ply: u32,
    /// Seed of the perturbations and openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Concurrent games [default: one per logical processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// A network file or the directory of an nn.bin, instead of the embedded network
    #[arg(long, visible_alias = "eval-file", value_name = "PATH")]
    eval_dir: Option<PathBuf>,
    /// Divisor of the network's output [default: that of the network's file, or else 16]
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..=128))]
    fv_scale: Option<i32>,
    /// Continue an earlier run in the directory, with its settings and parameters; give the same network and
    /// openings again
    #[arg(long)]
    resume: bool,
    /// Stop after this time (90, 45s, 55m, 1h30m)
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    max_time: Option<Duration>,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

fn tunable() -> Result<(), &'static str> {
    const CONSTANT: &str = "the search parameters of this build are constants; `cargo build --release --features tune` makes one that can change them";
    if params::TUNABLE { Ok(()) } else { Err(CONSTANT) }
}

/// `--numbers`: the numbers in a file are those of the whole process.
pub fn numbers(path: &Path) -> Result<(), Box<dyn Error>> {
    tunable()?;
    Ok(params::set(path)?)
}

/// Runs the command; [`Unfinished`] when it was stopped before the end.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    tunable()?;
    if !(args.rate > 0.0 && args.rate.is_finite()) {
        return Err("--rate must be above 0".into());
    }
    signals::watch();
    let network = network(args.eval_dir.as_deref())?;
    let openings = args.openings.as_deref().map(Opening::read_file).transpose()?.unwrap_or_default();
    let mut state = if args.resume && args.out.join("tune.json").exists() {
        TuningState::read(&args.out, &network, &openings)?
    } else {
        let games = GameSettings {
            nodes: args.nodes,
            fv_scale: args.fv_scale.unwrap_or(network.fv_scale()),
            decided: args.decided_score,
            max_ply: args.max_ply,
        };
        let source = (&network, &openings[..]);
        TuningState::new(&args.out, &args.only, args.games, args.rate, args.seed, games, source)?
    };
    let job = TuneJob {
        network: Arc::new(network),
        openings: &openings,
        threads: args.threads.map_or_else(processors, usize::from),
        max_time: args.max_time,
        quiet: args.quiet,
    };
    tune(&job, &mut state)?;
    if !state.is_complete() {
        return Err(Unfinished.into());
    }
    Ok(())
}
