//! The subcommands `net` and `eval`.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::arch::FV_SCALE;
use super::{Evaluator, Kernel, Network, NetworkError, force_kernel, inspect};
use crate::position::Position;
use crate::whole_file::WholeFile;

/// Make, export and inspect networks.
#[derive(Debug, Args)]
pub struct NetArgs {
    #[command(subcommand)]
    command: NetCommand,
}

#[derive(Debug, Subcommand)]
enum NetCommand {
    /// Write the hand-made network as an nn.bin
    Bootstrap {
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Write a network (by default the embedded one) as an nn.bin with the hashes that YaneuraOu expects
    Export {
        /// Directory with the nn.bin to read, or the file itself
        #[arg(long, value_name = "DIR")]
        eval_dir: Option<PathBuf>,
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Compress a network into the form that is embedded in the binary (eval/default.nn.zst)
    Pack {
        /// The network file to read
        #[arg(value_name = "FILE")]
        input: PathBuf,
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Show what a network file holds (by default the embedded one)
    Info {
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Positions, one SFEN a line, on which to show how the units are used: how many are always or never on
        #[arg(long, value_name = "FILE")]
        positions: Option<PathBuf>,
    },
    /// Show how far two networks differ
    Compare {
        #[arg(value_name = "FILE")]
        first: PathBuf,
        /// The other one (by default the embedded one)
        #[arg(value_name = "FILE")]
        second: Option<PathBuf>,
        /// Positions, one SFEN a line, on which to compare what they say
        #[arg(long, value_name = "FILE")]
        positions: Option<PathBuf>,
    },
}

/// Print the network's evaluation of positions: SFEN, raw output, centipawns, from the side to move.
#[derive(Debug, Args)]
pub struct EvalArgs {
    /// Directory with an nn.bin, or the file itself; without it the embedded network is used
    #[arg(long, value_name = "DIR")]
    eval_dir: Option<PathBuf>,
    /// A position
    #[arg(long, value_name = "SFEN")]
    sfen: Option<String>,
    /// A file of positions, one a line; comments (#) and what follows a tab are ignored. `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "sfen")]
    sfen_file: Option<PathBuf>,
    /// Use this kernel: scalar, avx2, avxvnni, avx512 or neon
    #[arg(long, value_name = "KERNEL")]
    kernel: Option<Kernel>,
    /// The divisor from raw output to the engine's value
    #[arg(long, value_name = "N", default_value_t = FV_SCALE, value_parser = clap::value_parser!(i32).range(1..))]
    fv_scale: i32,
}

fn network(eval_dir: Option<&Path>) -> Result<Network, Box<dyn Error>> {
    let Some(path) = eval_dir else {
        return Ok(Network::embedded()?);
    };
    let (network, warnings) = Network::load(path).map_err(|e| match e {
        NetworkError::Open { .. } => e.to_string(),
        _ => format!("{}: {e}", path.display()),
    })?;
    warnings.iter().for_each(|w| eprintln!("warning: {w}"));
    Ok(network)
}

fn save(network: &Network, path: &Path) -> Result<(), String> {
    network.save(path).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// Calls `f` with the positions of a file (`-` is standard input): one SFEN a line; what follows a tab, empty lines and
/// lines that begin with # are ignored.
fn for_each_position(
    path: &Path,
    mut f: impl FnMut(&str, Position) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let reader: Box<dyn BufRead> = if path.as_os_str() == "-" {
        Box::new(std::io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Box::new(BufReader::new(file))
    };
    for (number, text) in reader.lines().enumerate() {
        let text = text?;
        let sfen = text.split('\t').next().unwrap_or_default().trim();
        if !sfen.is_empty() && !sfen.starts_with('#') {
            let pos = Position::from_sfen(sfen).map_err(|e| format!("line {}: {e}", number + 1))?;
            f(sfen, pos)?;
        }
    }
    Ok(())
}

/// The positions of a file, if there is one.
fn sample(path: Option<&Path>) -> Result<Vec<Position>, Box<dyn Error>> {
    let mut positions = Vec::new();
    if let Some(path) = path {
        for_each_position(path, |_, pos| {
            positions.push(pos);
            Ok(())
        })?;
    }
    Ok(positions)
}

/// Runs `net`.
pub fn net(args: NetArgs) -> Result<(), Box<dyn Error>> {
    match args.command {
        NetCommand::Bootstrap { output } => save(&Network::bootstrap()?, &output)?,
        NetCommand::Export { eval_dir, output } => save(&network(eval_dir.as_deref())?, &output)?,
        NetCommand::Pack { input, output } => {
            let network = network(Some(&input))?;
            let written = WholeFile::create(&output).and_then(|mut file| {
                network.pack(&mut file)?;
                file.finish()
            });
            written.map_err(|e| format!("cannot write {}: {e}", output.display()))?;
        }
        NetCommand::Info { file, positions } => {
            let positions = sample(positions.as_deref())?;
            inspect::info(&network(file.as_deref())?, &positions, &mut std::io::stdout().lock())?;
        }
        NetCommand::Compare { first, second, positions } => {
            let positions = sample(positions.as_deref())?;
            let (a, b) = (network(Some(&first))?, network(second.as_deref())?);
            inspect::compare(&a, &b, &positions, &mut std::io::stdout().lock())?;
        }
    }
    Ok(())
}

/// Runs `eval`.
pub fn eval(args: EvalArgs) -> Result<(), Box<dyn Error>> {
    if let Some(kernel) = args.kernel {
        force_kernel(kernel)?;
    }
    let network = Arc::new(network(args.eval_dir.as_deref())?);
    let mut evaluator = Evaluator::new(network);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut print = |sfen: &str, pos: Position| -> std::io::Result<()> {
        evaluator.reset(&pos);
        let raw = evaluator.evaluate(&pos);
        let centipawns = 100 * (raw / args.fv_scale) as i64 / 90;
        writeln!(out, "{sfen}\t{raw}\t{centipawns}")
    };
    match (&args.sfen, &args.sfen_file) {
        (Some(sfen), _) => print(sfen.trim(), Position::from_sfen(sfen)?)?,
        (None, Some(path)) => {
            for_each_position(path, |sfen, pos| Ok(print(sfen, pos)?))?;
        }
        (None, None) => print(&Position::startpos().sfen(), Position::startpos())?,
    }
    out.flush()?;
    Ok(())
}
