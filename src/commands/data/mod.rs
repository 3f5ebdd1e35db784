//! `toratsugumi data`: looks at, checks, converts and combines training records.

mod convert;
mod dedup;
pub(super) mod inputs;
mod label;
mod merge;
mod shuffle;
mod stats;
mod verify;

use clap::Subcommand;
use std::error::Error;

/// Look at, check, convert and combine training records (.games, .psv, .bin, .hcpe).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    Stats(stats::Args),
    Verify(verify::Args),
    Convert(convert::Args),
    Merge(merge::Args),
    Dedup(dedup::Args),
    Label(label::Args),
    Shuffle(shuffle::Args),
}

/// Runs the subcommand; [`PartlyRead`](super::record_files::PartlyRead) when a file is damaged but could be used.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let done = match args.command {
        DataCommand::Stats(args) => stats::run(&args),
        DataCommand::Verify(args) => verify::run(&args),
        DataCommand::Convert(args) => convert::run(&args),
        DataCommand::Merge(args) => merge::run(&args),
        DataCommand::Dedup(args) => dedup::run(&args),
        DataCommand::Label(args) => label::run(&args),
        DataCommand::Shuffle(args) => shuffle::run(&args),
    };
    done.and_then(|()| Ok(inputs::all_read()?))
}
