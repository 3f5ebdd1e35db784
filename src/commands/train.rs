//! The subcommand `train`.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use super::data::inputs::files;
use super::signals;
use crate::commands::values::{parse_duration, parse_mebibytes, parse_share};
use crate::data::{Format, TdLambda};
use crate::nnue::Architecture;
use crate::nnue::arch::ARCHITECTURES;
use crate::resume::interrupt::Unfinished;
use crate::support::numa::processors;
use crate::train::kernels::Kernels;
use crate::train::run::{CHECKPOINT, NETWORK, TrainingJob, run as train};
use crate::train::schedule::{RateSchedule, RateShape};
use crate::train::settings::TrainingSettings;

fn what_to_train() -> String {
    format!(
        "What to train: {}; or another size such as sfnn_halfkahm2_512_15_32_k3k3 (see docs/architectures.md)",
        ARCHITECTURES.map(|a| a.name()).join(", ")
    )
}

/// Train a network from self-play games or other training records
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files (.games, .psv, .bin, .hcpe) or directories of such files
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,
    /// Directory for nn.bin, log.csv, loss.svg and the checkpoint
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    #[arg(long, value_name = "NAME", default_value_t, help = what_to_train())]
    arch: Architecture,
    /// Passes over the data
    #[arg(long, default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..))]
    epochs: u32,
    /// Positions per step, a multiple of 32
    #[arg(long, default_value_t = 16384)]
    batch: usize,
    /// Initial learning rate; a trained network (--init) learns more with a tenth of the default
    #[arg(long, default_value_t = 3e-3)]
    lr: f64,
    /// Final learning rate, unless it is constant [default: 1e-5]
    #[arg(long)]
    lr_end: Option<f64>,
    /// Schedule of the learning rate
    #[arg(long, value_enum, default_value = "cosine")]
    schedule: RateShape,
    /// Steps over which the learning rate rises from zero
    #[arg(long, default_value_t = 100)]
    warmup: u32,
    /// Weight of the search score in the target; the game's result has the rest. A network memorizes results
    /// after a few passes, because they are the same all through a game: keep their share small, and larger
    /// towards the end
    #[arg(long, default_value_t = 1.0, value_parser = parse_share)]
    lambda: f64,
    /// Lambda at the end
    #[arg(long, default_value_t = 0.8, value_parser = parse_share)]
    lambda_end: f64,
    /// Share of games for validation
    #[arg(long, default_value_t = 0.02, value_parser = parse_share)]
    validation: f64,
    /// Number of validation positions [default: 100000]
    #[arg(long)]
    validation_positions: Option<usize>,
    /// Leave out positions with larger scores (a pawn is 90)
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(i16).range(1..))]
    score_limit: i16,
    /// Clip scores to this, announced mates included; before --score-limit
    #[arg(long, value_parser = clap::value_parser!(i16).range(1..))]
    score_clip: Option<i16>,
    /// TD(lambda) targets instead of search scores: each blends the score with the scores of the following
    /// plies (about 0.7; .games only). Games whose end is unknown, as in .games made from positions,
    /// contribute no result
    #[arg(long, value_name = "LAMBDA", value_parser = parse_share)]
    td_lambda: Option<f64>,
    /// With --td-lambda: larger changes of the win rate in one ply are not carried back
    #[arg(long, default_value_t = TdLambda::CUT, value_parser = parse_share, requires = "td_lambda")]
    td_cut: f64,
    /// Win rate = sigmoid(score / SCALE), for labels and for the network's output; `fit` takes the scale that
    /// fits the results of the games best. The unit of the network's output does not change
    #[arg(long, default_value = "600", value_name = "SCALE", value_parser = score_scale)]
    score_scale: ScoreScale,
    /// Do not reflect positions left to right at random
    #[arg(long)]
    no_mirror: bool,
    /// Average the weights exponentially over the steps: the share of the average that a step keeps, such as
    /// 0.999
    #[arg(long, value_name = "DECAY")]
    ema: Option<f64>,
    /// Train unrounded weights and round at the end, instead of training the rounded network
    #[arg(long)]
    float: bool,
    /// Adam's epsilon
    #[arg(long, default_value_t = 1e-7)]
    epsilon: f32,
    /// Learning rate of the first layer's own rows, relative to that of the shared rows and the other layers
    #[arg(long, default_value_t = 0.1)]
    row_rate: f32,
    /// Seed of the initial weights and of the order of the positions
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Threads [default: one per logical processor; with --resume the same number as before]
    #[arg(short = 'j', long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Threads that decode records [default: one for every eight of --threads]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    loader_threads: Option<u16>,
    /// MiB for decoded positions (84 bytes each); sets that need more are streamed
    #[arg(long, value_name = "MIB", default_value = "1024", value_parser = parse_mebibytes)]
    memory: usize,
    /// Continue from the checkpoint in --out, if there is one; settings, data and --init (which may be
    /// omitted) must be the same
    #[arg(long)]
    resume: bool,
    /// Start from a network instead of random weights, or from the file `checkpoint` of an earlier run, which
    /// holds the f32 weights, the momentum and the shared rows
    #[arg(long, value_name = "FILE")]
    init: Option<PathBuf>,
    /// Stop after this time (such as 55m), with a checkpoint
    #[arg(long, value_parser = parse_duration)]
    max_time: Option<Duration>,
    /// End the schedules at --max-time, so that the run is complete then (but not reproducible). A run
    /// stopped earlier uses the remaining time with --resume
    #[arg(long, requires = "max_time")]
    fit_time: bool,
    /// Time between checkpoints
    #[arg(long, value_parser = parse_duration, default_value = "10m")]
    checkpoint_every: Duration,
    /// Steps between two measurements of the validation loss
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    validate_every: u32,
    /// No progress lines
    #[arg(short, long)]
    quiet: bool,
    /// avx512, avx2 or scalar [default: the fastest that runs here]
    #[arg(long)]
    kernels: Option<String>,
}

/// The value of --score-scale.
#[derive(Clone, Copy, Debug)]
enum ScoreScale {
    Fixed(f32),
    Fit,
}

fn score_scale(text: &str) -> Result<ScoreScale, String> {
    match text {
        "fit" => Ok(ScoreScale::Fit),
        _ => match text.parse() {
            Ok(scale) if (50.0..=10_000.0).contains(&scale) => Ok(ScoreScale::Fixed(scale)),
            _ => Err("a number from 50 to 10000, or `fit`".to_owned()),
        },
    }
}

/// Refuses to overwrite a network, unless the run that wrote it is resumed.
fn spare_network(args: &Args) -> Result<(), String> {
    let out = args.out.display();
    match [CHECKPOINT, NETWORK].map(|name| args.out.join(name).exists()) {
        [false, false] => Ok(()),
        [false, true] => Err(format!(
            "{out} holds a network, which is not overwritten, and no checkpoint to resume from; choose another --out"
        )),
        [true, _] if args.resume => Ok(()),
        [true, _] => Err(format!(
            "{out} holds a network, which is not overwritten; use --resume to continue, or choose another --out"
        )),
    }
}

/// Runs the subcommand.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    signals::watch();
    spare_network(&args)?;
    if args.batch == 0 || !args.batch.is_multiple_of(crate::train::batch::TILE) {
        return Err(format!("--batch must be a multiple of {}", crate::train::batch::TILE).into());
    }
    let positive = |x: f64| x > 0.0 && x.is_finite();
    if args.schedule == RateShape::Constant && args.lr_end.is_some() {
        return Err("--lr-end has no effect with --schedule constant".into());
    }
    let lr_end = args.lr_end.unwrap_or(1e-5);
    if ![args.lr, lr_end, args.row_rate.into(), args.epsilon.into()].into_iter().all(positive) {
        return Err("learning rates and --epsilon must be positive numbers".into());
    }
    if args.ema.is_some_and(|decay| !(0.0..=0.99999).contains(&decay)) {
        return Err("--ema must lie between 0 and 0.99999".into());
    }
    if args.validation == 0.0 && args.validation_positions.is_some() {
        return Err("--validation-positions has no effect with --validation 0".into());
    }
    let kernels = match &args.kernels {
        None => Kernels::best(),
        Some(name) => Kernels::by_name(name).ok_or(format!("no kernels `{name}` on this machine"))?,
    };
    let data = files(&args.data, None)?;
    if args.td_lambda.is_some() && data.iter().all(|(_, format)| *format != Format::Games) {
        return Err("--td-lambda needs whole games, and there is no .games file".into());
    }
    let threads = args.threads.map_or_else(processors, usize::from);
    let job = TrainingJob {
        settings: TrainingSettings {
            architecture: args.arch,
            schedule: RateSchedule {
                shape: args.schedule,
                first_rate: args.lr,
                last_rate: lr_end,
                warmup: args.warmup,
                epochs: args.epochs,
                first_lambda: args.lambda,
                last_lambda: args.lambda_end,
            },
            batch: args.batch,
            seed: args.seed,
            mirror: !args.no_mirror,
            ema: args.ema,
            validation: args.validation,
            validation_positions: args.validation_positions.unwrap_or(100_000),
            score_limit: args.score_limit,
            score_clip: args.score_clip,
            score_scale: match args.score_scale {
                ScoreScale::Fixed(scale) => Some(scale),
                ScoreScale::Fit => None,
            },
            td: args.td_lambda.map(|lambda| TdLambda { cut: args.td_cut, ..TdLambda::new(lambda) }),
            quantized: !args.float,
            epsilon: args.epsilon,
            row_rate: args.row_rate,
            memory: args.memory,
            threads: args.threads.map_or(0, usize::from),
        },
        data: data.into_iter().map(|(path, _)| path).collect(),
        out: args.out,
        resume: args.resume,
        init: args.init,
        kernels,
        loader_threads: args.loader_threads.map_or(threads.div_ceil(8), usize::from),
        max_time: args.max_time,
        fit_time: args.fit_time,
        checkpoint_every: args.checkpoint_every,
        validate_every: args.validate_every,
        quiet: args.quiet,
    };
    train(&job)?.map(|_| ()).ok_or(Unfinished.into())
}
