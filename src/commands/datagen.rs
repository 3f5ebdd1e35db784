//! `toratsugumi datagen`: the command line.

use super::networks::network;
use super::signals;
use super::values::{parse_duration, parse_share};
use crate::datagen::{
    DatagenSettings, MOST_RANDOM_PLIES, Openings, RunSize, Shard, ShardJob, ShardOutcome, generate,
};
use crate::resume::interrupt::Unfinished;
use crate::support::console::note;
use crate::support::numa::processors;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Play games of the engine against itself, for training
///
/// A game depends only on its number, the seed and the settings, not on the machine or the number of threads.
/// So the shards of a run may be played anywhere. Scores are in units of 1/90 pawn. Exit code 0: the shard is
/// complete; 75: stopped by SIGTERM, Ctrl-C or --max-time; run again with --resume.
///
/// Games are written in the order of their numbers. A stop or a kill loses the games in progress, and
/// finished games that wait for an earlier one; they are played again.
#[derive(clap::Args, Clone, Debug)]
#[command(group = clap::ArgGroup::new("size").required(true))]
pub struct Args {
    /// Directory of the game files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Games of the whole run, all shards
    #[arg(long, group = "size", value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
    /// Positions of the whole run, instead of games
    #[arg(long, group = "size", value_parser = clap::value_parser!(u64).range(1..))]
    positions: Option<u64>,
    /// Soft limit of nodes per move: no iteration starts beyond it. The mean is nearly twice as high
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Search every move to this depth, instead of by nodes
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(i32).range(1..=200))]
    depth: Option<i32>,
    /// Consecutive games that share histories and transposition table. With 1 every game begins with empty
    /// ones, which is slower and plays worse
    #[arg(long, default_value_t = DatagenSettings::default().series, value_parser = clap::value_parser!(u64).range(1..=1024))]
    series: u64,
    /// Concurrent games [default: one per logical processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Seed of the games
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Play only part I of N of the run (I from 0)
    #[arg(long, default_value = "0/1", value_name = "I/N")]
    shard: Shard,
    /// Stop after this time (90, 45s, 55m, 1h30m)
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    max_time: Option<Duration>,
    /// Continue an earlier run in the directory
    #[arg(long)]
    resume: bool,
    /// Time for games to end after a request to stop
    #[arg(long, default_value = "10s", value_parser = parse_duration, value_name = "TIME")]
    grace: Duration,
    /// Largest interval between two writes of finished games
    #[arg(long, default_value = "60s", value_parser = parse_duration, value_name = "TIME")]
    flush_every: Duration,
    /// A network file or the directory of an nn.bin, instead of the embedded network
    #[arg(long, visible_alias = "eval-file", value_name = "PATH")]
    eval_dir: Option<PathBuf>,
    /// Divisor of the network's output [default: that of the network's file, or else 16]
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..=128))]
    fv_scale: Option<i32>,
    /// Start games from these lines (`startpos moves ...`, `sfen ...`), then random moves
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Random moves at the start [default: 4-8, after openings of a file 0-4]
    #[arg(long, value_parser = parse_range, value_name = "LOW-HIGH")]
    random_plies: Option<(u32, u32)>,
    /// Reject openings that a quick search scores beyond this
    #[arg(long, default_value_t = DatagenSettings::default().balance, value_parser = clap::value_parser!(i32).range(0..))]
    balance: i32,
    /// Probability of a random move
    #[arg(long, default_value_t = DatagenSettings::default().random_chance, value_parser = parse_share)]
    random_chance: f64,
    /// Probability of playing one of several best moves (--multipv) instead of the best
    #[arg(long, default_value_t = DatagenSettings::default().multipv_chance, value_parser = parse_share)]
    multipv_chance: f64,
    /// With --multipv-chance: number of best moves to choose from
    #[arg(long, default_value_t = DatagenSettings::default().multipv as u32, value_parser = clap::value_parser!(u32).range(1..))]
    multipv: u32,
    /// With --multipv-chance: largest difference from the score of the best move
    #[arg(long, default_value_t = DatagenSettings::default().multipv_margin, value_parser = clap::value_parser!(i32).range(0..))]
    multipv_margin: i32,
    /// No random moves after this ply
    #[arg(long, default_value_t = DatagenSettings::default().random_until)]
    random_until: u32,
    /// End games when both sides' scores agree on this
    #[arg(long, default_value_t = DatagenSettings::default().decided_score, value_parser = clap::value_parser!(i32).range(1..))]
    decided_score: i32,
    /// With --decided-score: number of plies for which they must agree
    #[arg(long, default_value_t = DatagenSettings::default().decided_plies, value_parser = clap::value_parser!(u32).range(1..))]
    decided_plies: u32,
    /// Draw games after this number of plies, the opening and the random moves at the start included
    #[arg(long, default_value_t = DatagenSettings::default().max_ply, value_parser = clap::value_parser!(u32).range(1..))]
    max_ply: u32,
    /// Mark positions scored beyond this as unfit for training
    #[arg(long, default_value_t = DatagenSettings::default().fit_score, value_parser = clap::value_parser!(i32).range(0..))]
    fit_score: i32,
    /// Maximum number of positions of a game that are marked as fit for training (half of it in a drawn game)
    #[arg(long, default_value_t = DatagenSettings::default().fit_per_game)]
    fit_per_game: usize,
    /// Write up to this number of quiet positions of every search's tree beside the games, as shard-....psv:
    /// each with its static evaluation, clamped to the bounds that the search proved (TreeStrap); `train`
    /// reads them with the games
    #[arg(long, default_value_t = 0, value_name = "N")]
    trees: usize,
    /// MiB of each thread's transposition table
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    hash: u32,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

fn parse_range(text: &str) -> Result<(u32, u32), String> {
    let (low, high) = text.split_once('-').unwrap_or((text, text));
    match (low.parse(), high.parse()) {
        (Ok(low), Ok(high)) if low <= high && high <= MOST_RANDOM_PLIES => Ok((low, high)),
        _ => Err(format!("write a number or LOW-HIGH, up to {MOST_RANDOM_PLIES}")),
    }
}

/// The settings that determine the games; `fv_scale` is that of the network's file.
fn settings(args: &Args, fv_scale: i32, openings: &Openings) -> DatagenSettings {
    DatagenSettings {
        seed: args.seed,
        nodes: args.nodes,
        depth: args.depth,
        series: args.series,
        hash: args.hash as usize,
        fv_scale: args.fv_scale.unwrap_or(fv_scale),
        openings: openings.hash().map(str::to_string),
        random_plies: args.random_plies.unwrap_or_else(|| openings.random_plies()),
        balance: args.balance,
        random_chance: args.random_chance,
        multipv_chance: args.multipv_chance,
        multipv: args.multipv as usize,
        multipv_margin: args.multipv_margin,
        random_until: args.random_until,
        decided_score: args.decided_score,
        decided_plies: args.decided_plies,
        max_ply: args.max_ply,
        fit_score: args.fit_score,
        fit_per_game: args.fit_per_game,
        trees: args.trees,
    }
}

/// Runs the command; [`Unfinished`] when it was stopped before the end.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    signals::watch();
    let network = network(args.eval_dir.as_deref())?;
    let openings = args.openings.as_deref().map_or(Ok(Openings::default()), Openings::read)?;
    let settings = settings(&args, network.fv_scale(), &openings);
    let start = openings.longest() + settings.random_plies.1 as usize;
    if settings.max_ply as usize <= start {
        return Err(format!(
            "--max-ply {} leaves no move to search: opening and random moves take up to {start} plies",
            settings.max_ply
        )
        .into());
    }
    let target = match (args.games, args.positions) {
        (Some(n), _) => RunSize::Games(n),
        (_, Some(n)) => RunSize::Positions(n),
        _ => return Err("give --games or --positions".into()),
    };
    let outcome = generate(ShardJob {
        network: Arc::new(network),
        settings,
        openings: Arc::new(openings),
        target,
        shard: args.shard,
        dir: args.out,
        threads: args.threads.map_or_else(processors, usize::from),
        resume: args.resume,
        max_time: args.max_time,
        grace: args.grace,
        flush_every: args.flush_every,
        quiet: args.quiet,
    })?;
    match outcome {
        ShardOutcome::Stopped(_) => Err(Unfinished.into()),
        ShardOutcome::AlreadyComplete if !args.quiet => {
            note!("this shard is complete");
            Ok(())
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct TestCommand {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn settings_round_trip_through_options() {
        let by_nodes = DatagenSettings {
            seed: 2,
            nodes: 3,
            depth: None,
            series: 4,
            hash: 5,
            fv_scale: 6,
            openings: None,
            random_plies: (7, 8),
            balance: 9,
            random_chance: 0.1,
            multipv_chance: 0.11,
            multipv: 12,
            multipv_margin: 13,
            random_until: 14,
            decided_score: 15,
            decided_plies: 16,
            max_ply: 17,
            fit_score: 18,
            fit_per_game: 19,
            trees: 20,
        };
        let by_depth =
            DatagenSettings { nodes: DatagenSettings::default().nodes, depth: Some(21), ..by_nodes.clone() };
        for wanted in [by_nodes, by_depth, DatagenSettings::default()] {
            let words = ["datagen", "--out", "games", "--games", "1"].map(String::from);
            let line = TestCommand::parse_from(words.into_iter().chain(wanted.options()));
            assert_eq!(settings(&line.args, 1, &Openings::default()), wanted);
        }
    }
}
