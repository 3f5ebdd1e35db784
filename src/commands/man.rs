//! `toratsugumi man`: the manual pages.

use std::error::Error;
use std::path::PathBuf;

/// Write the manual pages, one for the program and one for each subcommand
///
/// Example: toratsugumi man ~/.local/share/man/man1
#[derive(clap::Args)]
pub struct Args {
    /// Directory for toratsugumi.1, toratsugumi-analyse.1, ...
    dir: PathBuf,
}

/// Writes the pages of the command line `command`, over those of an older version.
pub fn run(args: &Args, command: clap::Command) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(&args.dir)
        .and_then(|()| clap_mangen::generate_to(command, &args.dir))
        .map_err(|e| format!("{}: {e}", args.dir.display()).into())
}
