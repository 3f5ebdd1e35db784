//! `toratsugumi data`: looks at, checks, converts and combines training records.

mod convert;
mod dedup;
mod merge;
mod shuffle;
mod stats;
mod verify;

use crate::data::{self, Format};
use clap::Subcommand;
use std::error::Error;
use std::path::{Path, PathBuf};

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
    Shuffle(shuffle::Args),
}

/// Runs the subcommand.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    match args.command {
        DataCommand::Stats(args) => stats::run(&args),
        DataCommand::Verify(args) => verify::run(&args),
        DataCommand::Convert(args) => convert::run(&args),
        DataCommand::Merge(args) => merge::run(&args),
        DataCommand::Dedup(args) => dedup::run(&args),
        DataCommand::Shuffle(args) => shuffle::run(&args),
    }
}

/// The files that the arguments stand for.
fn files(paths: &[PathBuf]) -> Result<Vec<(PathBuf, Format)>, Box<dyn Error>> {
    let files = data::files(paths)?;
    if files.is_empty() {
        let paths: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
        return Err(format!("{}: no training records in it", paths.join(", ")).into());
    }
    Ok(files)
}

/// The files that the arguments stand for, all of one format.
fn files_of(paths: &[PathBuf], format: Format) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let files = files(paths)?;
    match files.iter().find(|(_, f)| *f != format) {
        Some((path, _)) => Err(format!("{}: has another format than the output", path.display()).into()),
        None => Ok(files.into_iter().map(|(path, _)| path).collect()),
    }
}

/// What is wrong with a file, though it can be used.
fn warn(text: String) {
    eprintln!("warning: {text}");
}

fn in_file(path: &Path, e: impl std::fmt::Display) -> Box<dyn Error> {
    format!("{}: {e}", path.display()).into()
}
