//! `toratsugumi analyse`: a reading of one position, or of whole games.

mod args;
mod games;
mod position;

pub use args::Args;

use std::error::Error;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if args.games.is_empty() { position::run(args) } else { games::run(args) }
}
