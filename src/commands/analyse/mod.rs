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
            return Err("files are written of games; name one".into());
        }
        if let Some(option) = args.of_games() {
            return Err(format!("{option} is for games; name one").into());
        }
    } else if args.force && !args.to_files() {
        return Err("--force is for files; without one every game is analysed anew".into());
    }
    // a network that cannot be read is refused before the engine, which would play on with the embedded one
    if !args.games.is_empty() {
        return games::run(args, network(args.eval_dir.as_deref())?);
    }
    if let Some(path) = &args.eval_dir {
        network(Some(path))?;
    }
    position::run(args)
}
