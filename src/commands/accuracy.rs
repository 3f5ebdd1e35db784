//! The subcommand `accuracy`: how good the static evaluation is, without a match.

use crate::console::{note, say};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use crate::nnue::Network;
use crate::train::yardstick::{DeepLabels, Labelled};

/// Compare networks' evaluations, without search, with the winners of games or with deep searches.
///
/// For a .tsv: how often the sign of the evaluation names the winner, and the log loss. For a .psv of `data label`: how far
/// the win rate lies from that of the deep search, by phase of the game; this compares networks that were trained on the same
/// kind of labels, between kinds only a match decides.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Positions: lines of SFEN, move played, result for the side to move (1, 0, -1), separated by tabs, # for comments; or
    /// a .psv with the scores of deep searches
    #[arg(value_name = "FILE")]
    positions: PathBuf,
    /// Networks to compare, files or directories of an nn.bin [default: the embedded network]
    #[arg(value_name = "NETWORK")]
    networks: Vec<PathBuf>,
}

enum Yardstick {
    Winners(Labelled),
    Deep(DeepLabels),
}

/// Runs the subcommand.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let deep = args.positions.extension().is_some_and(|e| e == "psv" || e == "bin");
    let yardstick = if deep {
        Yardstick::Deep(DeepLabels::read(&args.positions, &mut |text| note!("warning: {text}"))?)
    } else {
        Yardstick::Winners(Labelled::read(&args.positions)?)
    };
    if args.networks.is_empty() {
        yardstick.report("embedded network", &Network::embedded()?)?;
    }
    for path in &args.networks {
        yardstick.report(&path.display().to_string(), &super::networks::network(Some(Path::new(path)))?)?;
    }
    Ok(())
}

impl Yardstick {
    fn report(&self, name: &str, network: &Network) -> io::Result<()> {
        match self {
            Yardstick::Winners(labelled) => {
                let n = labelled.name_winners(network);
                say!(
                    "{name}: {:.2} % (standard error {:.2}) of {} positions; log loss {:.4} (standard error {:.4})",
                    100.0 * n.share,
                    100.0 * n.standard_error,
                    n.positions,
                    n.log_loss,
                    n.log_loss_error
                )?;
            }
            Yardstick::Deep(labels) => {
                say!("{name}:")?;
                say!("  {:<16} {:>9} {:>8} {:>9}", "positions", "number", "RMS", "KL")?;
                for d in labels.distances(network).iter().filter(|d| d.positions > 0) {
                    say!("  {:<16} {:>9} {:>8.5} {:>9.6}", d.of, d.positions, d.rms, d.kl)?;
                }
            }
        }
        Ok(())
    }
}
