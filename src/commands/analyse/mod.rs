//! `toratsugumi analyse`: the analysis of one position, or of whole games.

mod args;
mod games;
mod position;

pub use args::Args;

use super::networks::network;
use std::error::Error;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.games.is_empty() {
        if args.to_files() {
            return Err("give a game: files are written for games only".into());
        }
        if let Some(option) = args.of_games() {
            return Err(format!("give a game: {option} has no effect on a position").into());
        }
    } else if args.force && !args.to_files() {
        return Err("--force overwrites files; without an output option none is written".into());
    }
    // checked here, because the engine would continue with the embedded network
    if !args.games.is_empty() {
        return games::run(args, network(args.eval_dir.as_deref())?);
    }
    if let Some(path) = &args.eval_dir {
        network(Some(path))?;
    }
    position::run(args)
}
