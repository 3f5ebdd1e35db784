//! `toratsugumi eval`: the static evaluation of positions.

use super::networks::network;
use super::positions::for_each_position;
use crate::nnue::{Evaluator, Kernel, force_kernel};
use crate::position::Position;
use crate::support::console;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Print the static evaluation of positions: SFEN, raw output, centipawns for the side to move
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A network file or the directory of an nn.bin, instead of the embedded network
    #[arg(long, visible_alias = "eval-file", value_name = "PATH")]
    eval_dir: Option<PathBuf>,
    /// A position
    #[arg(long, value_name = "SFEN")]
    sfen: Option<String>,
    /// A file of positions, one a line; comments (#) and what follows a tab are ignored. `-` is standard
    /// input
    #[arg(long, value_name = "FILE", conflicts_with = "sfen")]
    sfen_file: Option<PathBuf>,
    /// Use this kernel: scalar, avx2, avxvnni, avx512 or neon
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<Kernel>,
    /// The divisor from raw output to the engine's value [default: that of the network's file, or else 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    fv_scale: Option<i32>,
}

/// Runs `eval`.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    if let Some(kernel) = args.kernel {
        force_kernel(kernel)?;
    }
    let network = Arc::new(network(args.eval_dir.as_deref())?);
    let fv_scale = args.fv_scale.unwrap_or(network.fv_scale());
    let mut evaluator = Evaluator::new(network);
    let mut out = std::io::BufWriter::new(console::output());
    let mut print = |sfen: &str, pos: Position| -> std::io::Result<()> {
        evaluator.reset(&pos);
        let raw = evaluator.evaluate(&pos);
        let centipawns = 100 * (raw / fv_scale) as i64 / 90;
        writeln!(out, "{sfen}\t{raw}\t{centipawns}")
    };
    match (&args.sfen, &args.sfen_file) {
        (Some(sfen), _) => {
            print(sfen.trim(), Position::from_sfen(sfen).map_err(|e| format!("bad SFEN: {e}"))?)?
        }
        (None, Some(path)) => {
            for_each_position(path, |sfen, pos| Ok(print(sfen, pos)?))?;
        }
        (None, None) => print(&Position::startpos().sfen(), Position::startpos())?,
    }
    out.flush()?;
    Ok(())
}
