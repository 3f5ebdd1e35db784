//! `toratsugumi book`: commands for opening books.

mod convert;
mod files;
mod make;
mod merge;
mod minimax;
mod pack;
mod prune;
mod show;
mod stats;
mod think;
mod verify;

use clap::Subcommand;
use std::error::Error;

/// Make, grow, back up, convert and check opening books (.db, .ybb, .bin, .sbk)
///
/// Where a book is read, `<internal>` is the one inside this program.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: BookCommand,
}

#[derive(Debug, Subcommand)]
enum BookCommand {
    Make(make::Args),
    Think(Box<think::Args>),
    Minimax(minimax::Args),
    Merge(merge::Args),
    Convert(convert::Args),
    Prune(prune::Args),
    Pack(pack::Args),
    Stats(stats::Args),
    Show(show::Args),
    Verify(verify::Args),
}

/// Runs the subcommand.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    match args.command {
        BookCommand::Make(args) => make::run(&args),
        BookCommand::Think(args) => think::run(&args),
        BookCommand::Minimax(args) => minimax::run(&args),
        BookCommand::Merge(args) => merge::run(&args),
        BookCommand::Convert(args) => convert::run(&args),
        BookCommand::Prune(args) => prune::run(&args),
        BookCommand::Pack(args) => pack::run(&args),
        BookCommand::Stats(args) => stats::run(&args),
        BookCommand::Show(args) => show::run(&args),
        BookCommand::Verify(args) => verify::run(&args),
    }
}
