//! `toratsugumi completions`: completion scripts for shells.

use crate::support::console;
use clap_complete::Shell;
use std::error::Error;
use std::io::Write;

/// Print the completion script of a shell
///
/// Example: toratsugumi completions bash > ~/.local/share/bash-completion/completions/toratsugumi
#[derive(clap::Args)]
pub struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script for the command line `command`.
pub fn run(args: &Args, mut command: clap::Command) -> Result<(), Box<dyn Error>> {
    let name = command.get_name().to_string();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    Ok(console::output().write_all(&script)?)
}
