//! `toratsugumi analyse`: a reading of one position, or of whole games.

mod args;
mod games;
mod position;

pub use args::Args;

use std::error::Error;

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    match args.games.is_empty() {
        true if args.to_files() => Err("files are written of games; name one".into()),
        true => position::run(args),
        false => games::run(args),
    }
}
