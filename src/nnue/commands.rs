//! The subcommands `net` and `eval`.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};

use super::arch::{FV_SCALE, NETWORK_HASH, TRANSFORMER_HASH};
use super::{Evaluator, Kernel, Network, NetworkError, force_kernel};
use crate::position::Position;

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

/// Runs `net`.
pub fn net(args: NetArgs) -> Result<(), Box<dyn Error>> {
    match args.command {
        NetCommand::Bootstrap { output } => save(&Network::bootstrap()?, &output)?,
        NetCommand::Export { eval_dir, output } => save(&network(eval_dir.as_deref())?, &output)?,
        NetCommand::Pack { input, output } => {
            let network = network(Some(&input))?;
            let written = File::create(&output).and_then(|mut file| network.pack(&mut file));
            written.map_err(|e| format!("cannot write {}: {e}", output.display()))?;
        }
        NetCommand::Info { file } => info(&network(file.as_deref())?, &mut std::io::stdout().lock())?,
    }
    Ok(())
}

fn info(network: &Network, out: &mut impl Write) -> std::io::Result<()> {
    fn range<T: Copy + Ord + std::fmt::Display>(values: impl Iterator<Item = T> + Clone) -> String {
        match (values.clone().min(), values.max()) {
            (Some(min), Some(max)) => format!("{min} .. {max}"),
            _ => "none".to_owned(),
        }
    }
    fn layer<const IN: usize, const OUT: usize>(l: &super::layers::Affine<IN, OUT>) -> String {
        let weights = (0..OUT).flat_map(|o| (0..IN).map(move |i| l.weight(o, i)));
        format!("{IN} -> {OUT}\tbias {}\tweights {}", range(l.bias.0.iter().copied()), range(weights))
    }
    let (input, rows) = (&network.input, &network.input.rows);
    let used = rows.iter().filter(|row| row.0.iter().any(|&w| w != 0)).count();
    writeln!(out, "network\t{}", network.name())?;
    writeln!(out, "origin\t{}", network.origin())?;
    writeln!(
        out,
        "hashes\tfile {:#010x}\ttransformer {TRANSFORMER_HASH:#010x}\tlayers {NETWORK_HASH:#010x}",
        TRANSFORMER_HASH ^ NETWORK_HASH
    )?;
    writeln!(
        out,
        "input\t{} -> {}\tbias {}\tweights {}\t{used} features used",
        rows.len(),
        input.bias.0.len(),
        range(input.bias.0.iter().copied()),
        range(rows.iter().flat_map(|row| row.0.iter().copied()))
    )?;
    writeln!(out, "hidden 1\t{}", layer(&network.hidden1))?;
    writeln!(out, "hidden 2\t{}", layer(&network.hidden2))?;
    writeln!(out, "output\t{}", layer(&network.output))
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
                    print(sfen, pos)?;
                }
            }
        }
        (None, None) => print(&Position::startpos().sfen(), Position::startpos())?,
    }
    out.flush()?;
    Ok(())
}
