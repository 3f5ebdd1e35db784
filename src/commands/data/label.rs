//! `toratsugumi data label`.

use super::inputs::{InOut, in_file, warn};
use crate::commands::networks::network;
use crate::commands::signals;
use crate::commands::values::parse_duration;
use crate::data::read::each_position;
use crate::data::{Format, Plies};
use crate::datagen::{LabelJob, label};
use crate::support::console::say;
use crate::support::messages::Number;
use crate::support::numa::processors;
use crate::support::random::Rng;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Search positions deeply and write them with the scores found as a .psv, for `accuracy`
///
/// Of games, the positions fit for training are taken.
///
/// Every search starts from an empty table, so a label depends only on its position. A run that was killed or
/// stopped continues with --resume; exit code 75 means stopped with all results saved. OUT.label.json records
/// how the labels were made.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    files: InOut,
    /// Nodes of each search
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Take N positions, drawn at random from the whole input [default: all]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    positions: Option<u64>,
    /// With --positions: seed of the choice
    #[arg(long, default_value_t = 1, requires = "positions")]
    seed: u64,
    /// A network file or the directory of an nn.bin, instead of the embedded network
    #[arg(long, visible_alias = "eval-file", value_name = "PATH")]
    eval_dir: Option<PathBuf>,
    /// Divisor of the network's output [default: that of the network's file, or else 16]
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..=128))]
    fv_scale: Option<i32>,
    /// MiB of each search's transposition table
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..))]
    hash: u32,
    /// Parallel searches [default: one per logical processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Stop after this time (90, 45s, 55m, 1h30m)
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    max_time: Option<Duration>,
    /// Continue an earlier run
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// Runs `data label`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let output = &args.files.output;
    if Format::of(output)? != Format::Psv {
        return Err(in_file(output, "labels are written as .psv"));
    }
    args.files.check(args.resume)?;
    signals::watch();
    let mut positions = Vec::new();
    for (path, _) in args.files.inputs()? {
        each_position(
            &path,
            Plies::Fit,
            &mut warn,
            |_| (),
            |position| {
                positions.push(position.to_psv()?);
                Ok(())
            },
        )?;
    }
    if let Some(most) = args.positions {
        Rng::new(args.seed).shuffle(&mut positions);
        positions.truncate(usize::try_from(most)?);
    }
    let count = positions.len();
    let network = network(args.eval_dir.as_deref())?;
    let worked = label(&LabelJob {
        fv_scale: args.fv_scale.unwrap_or(network.fv_scale()),
        network: Arc::new(network),
        positions,
        out: output.clone(),
        nodes: args.nodes,
        hash: args.hash as usize,
        threads: args.threads.map_or_else(processors, usize::from),
        max_time: args.max_time,
        resume: args.resume,
        quiet: args.quiet,
    })?;
    let output = output.display();
    match worked {
        true => say!("wrote {output}: {count} position{:#}", Number(count))?,
        false => say!("{output} is complete; positions: {count}")?,
    }
    Ok(())
}
