//! `toratsugumi perft`: counts the leaves of the tree of all legal moves.

use crate::engine::Game;
use crate::position::{MAX_PERFT_DEPTH, divide};
use crate::support::console;
use crate::support::messages::Number;
use std::error::Error;
use std::io::Write;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Count the positions after DEPTH plies of all legal moves
#[derive(clap::Args)]
pub struct Args {
    /// Plies
    #[arg(value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_PERFT_DEPTH)))]
    depth: u32,
    /// The position to count from [default: the initial position]
    #[arg(long)]
    sfen: Option<String>,
    /// Also print the count below each move
    #[arg(long)]
    divide: bool,
    /// Threads that share the moves of the position
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
}

/// Runs the subcommand.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut game = Game::default();
    game.update(args.sfen.as_deref(), [])?;
    let start = Instant::now();
    let counts = divide(game.position(), args.depth, args.threads.into(), &AtomicBool::new(false))?;
    let seconds = start.elapsed().as_secs_f64();
    let nodes = if args.depth == 0 { 1 } else { counts.iter().map(|(_, n)| n).sum::<u64>() };
    let mut out = console::output();
    if args.divide {
        for (m, n) in &counts {
            writeln!(out, "{m}: {n}")?;
        }
    }
    let speed = nodes as f64 / seconds.max(1e-9);
    writeln!(out, "{nodes} node{:#} in {seconds:.3} s, {speed:.0} nodes/s", Number(nodes))?;
    Ok(())
}
