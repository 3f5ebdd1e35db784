//! `toratsugumi book merge`.

use super::files::{self, OutputArgs};
use crate::book::edit::{Prefer, merge};
use std::error::Error;
use std::path::PathBuf;

/// Merge books
///
/// Counts are added, also of a position at several move numbers, which is kept at the smallest. Remarks are
/// joined.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The books to read
    #[arg(required = true, value_name = "BOOK")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// Whose score is kept if several books score a move
    #[arg(long, value_enum, default_value_t = Which::Deeper)]
    prefer: Which,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Which {
    /// The score of the greater depth; at equal depths the first book's
    Deeper,
    /// The first book's
    First,
    /// The last book's
    Last,
}

/// Runs `book merge`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let format = args.output.check()?;
    let books = args.inputs.iter().map(|path| files::read(path)).collect::<Result<_, _>>()?;
    let prefer = match args.prefer {
        Which::Deeper => Prefer::Deeper,
        Which::First => Prefer::First,
        Which::Last => Prefer::Last,
    };
    args.output.write(merge(books, prefer)?, format)
}
