//! `toratsugumi book convert`.

use super::files::{self, OutputArgs};
use std::error::Error;
use std::path::PathBuf;

/// Convert a book between YaneuraOu's .db and .ybb, Apery's .bin and ShogiGUI's .sbk
///
/// The format of the input is detected by content. Data that the output format cannot hold, or only rounded,
/// is reported. A position at several move numbers is written once, at the smallest; what is dropped for that
/// is counted. Apery's format has no positions, only hash keys: those positions are found that its moves
/// reach from the usual starts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The book to read
    #[arg(value_name = "BOOK")]
    input: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

/// Runs `book convert`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let format = args.output.check()?;
    args.output.write(files::read(&args.input)?, format)
}
