//! `toratsugumi net`: makes, exports, averages and inspects networks.

use super::networks::network;
use super::output_files::check;
use super::positions::sample;
use crate::nnue::mean::mean;
use crate::nnue::{Architecture, Network, inspect};
use crate::resume::whole_file::WholeFile;
use crate::support::console::{self, note};
use clap::Subcommand;
use std::error::Error;
use std::path::{Path, PathBuf};

/// Make, export, average and inspect networks.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: NetCommand,
}

#[derive(Debug, Subcommand)]
enum NetCommand {
    /// Write the hand-written network as an nn.bin
    Bootstrap {
        /// The file to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Overwrite the file
        #[arg(long)]
        force: bool,
    },
    /// Write a network (by default the embedded one) as an nn.bin with the hashes that YaneuraOu expects
    Export {
        /// A network file or the directory of an nn.bin, instead of the embedded network
        #[arg(long, visible_alias = "eval-file", value_name = "PATH")]
        eval_dir: Option<PathBuf>,
        /// Read the file as this architecture, if it does not name one itself
        #[arg(long, value_name = "NAME", requires = "eval_dir")]
        arch: Option<Architecture>,
        /// The file to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Overwrite the file
        #[arg(long)]
        force: bool,
    },
    /// Compress a network into the form that is embedded in the binary (eval/default.nn.zst)
    Pack {
        /// The network file to read
        #[arg(value_name = "FILE")]
        input: PathBuf,
        /// The file to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Overwrite the file
        #[arg(long)]
        force: bool,
    },
    /// Write the mean of the weights of networks that were trained from the same start; it is stronger than
    /// each
    Mean {
        /// The network files, two or more of the same kind
        #[arg(value_name = "FILE", required = true, num_args = 2..)]
        inputs: Vec<PathBuf>,
        /// The file to write
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// Overwrite the file
        #[arg(long)]
        force: bool,
    },
    /// Show the architecture and the weights of a network (by default the embedded one)
    Info {
        /// The network file
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Positions, one SFEN a line, for counting the units that are never or always active
        #[arg(long, value_name = "FILE")]
        positions: Option<PathBuf>,
    },
    /// Show how far two networks differ
    Compare {
        /// One network file
        #[arg(value_name = "FILE")]
        first: PathBuf,
        /// The other one (by default the embedded one)
        #[arg(value_name = "FILE")]
        second: Option<PathBuf>,
        /// Positions, one SFEN a line, on which to compare their evaluations
        #[arg(long, value_name = "FILE")]
        positions: Option<PathBuf>,
    },
}

fn save(network: &Network, path: &Path) -> Result<(), String> {
    network.save(path).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// Runs `net`.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    match args.command {
        NetCommand::Bootstrap { output, force } => {
            check(&output, force)?;
            save(&Network::bootstrap()?, &output)?;
        }
        NetCommand::Export { eval_dir, arch, output, force } => {
            check(&output, force)?;
            let network = match (&eval_dir, arch) {
                (Some(path), Some(_)) => {
                    let read =
                        Network::load_as(path, arch).map_err(|e| format!("{}: {e}", path.display()))?;
                    read.1.iter().for_each(|text| note!("warning: {text}"));
                    read.0
                }
                _ => network(eval_dir.as_deref())?,
            };
            save(&network, &output)?;
        }
        NetCommand::Pack { input, output, force } => {
            check(&output, force)?;
            let network = network(Some(&input))?;
            let written = WholeFile::create(&output).and_then(|mut file| {
                network.pack(&mut file)?;
                file.finish()
            });
            written.map_err(|e| format!("cannot write {}: {e}", output.display()))?;
        }
        NetCommand::Mean { inputs, output, force } => {
            check(&output, force)?;
            let networks = inputs.iter().map(|input| network(Some(input))).collect::<Result<Vec<_>, _>>()?;
            save(&mean(&networks)?, &output)?;
        }
        NetCommand::Info { file, positions } => {
            let positions = sample(positions.as_deref())?;
            inspect::info(&network(file.as_deref())?, &positions, &mut console::output())?;
        }
        NetCommand::Compare { first, second, positions } => {
            let positions = sample(positions.as_deref())?;
            let (a, b) = (network(Some(&first))?, network(second.as_deref())?);
            inspect::compare(&a, &b, &positions, &mut console::output())?;
        }
    }
    Ok(())
}
