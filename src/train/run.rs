//! A training run from data to network: [`run`].

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::batch::{Batch, TILE};
use super::checkpoint;
use super::features::Sample;
use super::kernels::{Grid, Kernels};
use super::loader::{Loader, LoaderOptions};
use super::model::Model;
use super::quantize::{QuantizationError, quantization_error};
use super::report::{Entry, csv, svg};
use super::schedule::Schedule;
use super::source::{DataSet, Part, Selection};
use super::step::{Loss, Trainer};
use crate::data::TdLambda;
use crate::interrupt;
use crate::nnue::Network;
use crate::progress::{Progress, clock};
use crate::random::Rng;
use crate::whole_file;

/// What decides the outcome of a run; a run resumes only with the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    pub schedule: Schedule,
    pub batch: usize,
    pub seed: u64,
    pub mirror: bool,
    /// Share of games set aside, and how many of their positions are used.
    pub validation: f64,
    pub validation_positions: usize,
    pub score_limit: i16,
    pub score_clip: Option<i16>,
    /// Targets from whole games.
    pub td: Option<TdLambda>,
    /// Compute with what the integers can hold, or with finer numbers that are rounded in the end.
    pub quantized: bool,
    pub epsilon: f32,
    pub row_rate: f32,
    /// Bytes for decoded positions; decides between a resident and a streamed set.
    pub memory: usize,
    pub threads: usize,
}

/// How a run is carried out.
#[derive(Clone, Debug)]
pub struct Job {
    pub settings: Settings,
    pub data: Vec<PathBuf>,
    /// Directory for the network, log, picture and checkpoint.
    pub out: PathBuf,
    pub resume: bool,
    /// Network to start from.
    pub init: Option<PathBuf>,
    pub kernels: &'static dyn Kernels,
    pub loader_threads: usize,
    pub max_time: Option<Duration>,
    /// Let the schedule end with `max_time`, however far the data got.
    pub fit_time: bool,
    pub checkpoint_every: Duration,
    /// Steps between validations.
    pub validate_every: u32,
    pub quiet: bool,
}

impl std::fmt::Debug for dyn Kernels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The part of a checkpoint that is not the model.
#[derive(Serialize, Deserialize)]
struct Place {
    settings: Settings,
    /// Training positions in the set.
    positions: u64,
    epoch: u32,
    /// Batches of that pass already used.
    batch: u64,
    seconds: f64,
    recent: [f64; 2],
    log: Vec<Entry>,
}

/// The name of the network in the output directory.
pub const NETWORK: &str = "nn.bin";
const CHECKPOINT: &str = "checkpoint";

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub log: Vec<Entry>,
    pub quantization: QuantizationError,
    /// Positions seen a second in this process, validation and saving included.
    pub speed: f64,
}

/// Trains.
///
/// # Errors
/// Files, memory, settings that do not go together; [`interrupt::Unfinished`] when stopped early with all saved.
pub fn run(job: &Job) -> Result<Outcome, Box<dyn Error>> {
    interrupt::watch();
    let begin = Instant::now();
    let s = &job.settings;
    let mut progress = Progress::new(job.quiet);
    std::fs::create_dir_all(&job.out).map_err(|e| format!("{}: {e}", job.out.display()))?;
    let selection = Selection {
        validation: s.validation,
        score_limit: s.score_limit,
        score_clip: s.score_clip,
        td: s.td,
    };
    let data = DataSet::open(&job.data, selection, |w| progress.say(&format!("warning: {w}")))?;
    let counts = data.count()?;
    let positions: u64 = counts.iter().map(|c| c[0] as u64).sum();
    let aside: u64 = counts.iter().map(|c| c[1] as u64).sum();
    let per_epoch = positions / s.batch as u64;
    if per_epoch == 0 {
        return Err(format!("{positions} training positions do not fill a batch of {}", s.batch).into());
    }
    let held_out = validation_set(&data, &counts, s.validation_positions, s.seed)?;
    let validation = batches(&held_out, s.batch);

    let checkpoint_path = job.out.join(CHECKPOINT);
    let (mut model, mut place) = if job.resume && checkpoint_path.exists() {
        let (model, text) =
            checkpoint::load(&checkpoint_path).map_err(|e| format!("{}: {e}", checkpoint_path.display()))?;
        let place: Place = serde_json::from_str(&text)?;
        if place.settings != *s || place.positions != positions {
            return Err("the checkpoint was made with other settings or data; give the same, or start \
                        afresh without --resume"
                .into());
        }
        (model, place)
    } else {
        let model = match &job.init {
            Some(path) => {
                let (net, warnings) = Network::load(path).map_err(|e| format!("{}: {e}", path.display()))?;
                warnings.iter().for_each(|w| progress.say(&format!("warning: {w}")));
                Model::from_network(&net)?
            }
            None => Model::new(s.seed)?,
        };
        let place = Place {
            settings: s.clone(),
            positions,
            epoch: 0,
            batch: 0,
            seconds: 0.0,
            recent: [0.0; 2],
            log: Vec::new(),
        };
        (model, place)
    };
    model.epsilon = s.epsilon;
    model.row_rate = s.row_rate;
    let resident = positions * size_of::<Sample>() as u64 <= s.memory as u64;
    progress.say(&format!(
        "{} training positions in {} files ({}), {} of {aside} held-out ones used, {per_epoch} steps a pass; {} \
         kernels, {} threads",
        positions,
        data.files(),
        if resident { "kept in memory" } else { "streamed" },
        held_out.len(),
        job.kernels.name(),
        s.threads,
    ));

    let options = LoaderOptions {
        seed: s.seed,
        batch: s.batch,
        epochs: s.schedule.epochs,
        memory: s.memory,
        threads: job.loader_threads,
        first_threads: s.threads.max(job.loader_threads),
        mirror: s.mirror,
        start: (place.epoch, place.batch),
    };
    let mut loader = Loader::start(Arc::new(data), positions, options);
    let grid = if s.quantized { Grid::Quantized } else { Grid::Fine };
    let mut trainer = Trainer::new(model, job.kernels, grid, s.threads, s.batch)?;
    let total = per_epoch * s.schedule.epochs as u64;
    let earlier = place.seconds;
    let mut seen = 0u64;
    let mut recent = Loss { samples: place.recent[0], cross_entropy: place.recent[1], ..Loss::default() };
    let mut last_save = Instant::now();
    let mut unfinished = false;
    let mut wait = 0.0;

    loop {
        let asked = Instant::now();
        let Some(delivery) = loader.take() else { break };
        let delivery = delivery?;
        wait += asked.elapsed().as_secs_f64();
        let done = delivery.epoch as u64 * per_epoch + delivery.number;
        let mut fraction = done as f64 / total as f64;
        let elapsed = begin.elapsed();
        if let (true, Some(max)) = (job.fit_time, job.max_time) {
            fraction = fraction.max(elapsed.as_secs_f64() / max.as_secs_f64());
        }
        let step = trainer.model.step;
        let (rate, lambda) = (s.schedule.rate(fraction, step), s.schedule.lambda(fraction));
        let loss = trainer.step(&delivery.batch, rate as f32, lambda as f32);
        loader.recycle(delivery.batch);
        recent.add(&loss);
        seen += s.batch as u64;
        place.epoch = delivery.epoch;
        place.batch = delivery.number + 1;
        place.seconds = earlier + elapsed.as_secs_f64();
        progress.update(|| {
            let secs = begin.elapsed().as_secs_f64();
            let speed = seen as f64 / secs;
            format!(
                "pass {}/{}  step {}/{total}  {:.0} k positions/s (loader awaited {:.0} %)  loss {:.5}  rate {rate:.1e}  \
                 lambda {lambda:.2}  {} left",
                delivery.epoch + 1,
                s.schedule.epochs,
                step + 1,
                speed / 1e3,
                100.0 * wait / secs,
                recent.mean(),
                clock((total - done - 1) as f64 * s.batch as f64 / speed),
            )
        });

        let out_of_time = job.max_time.is_some_and(|max| begin.elapsed() >= max);
        let stop = interrupt::requests() > 0 || out_of_time;
        let finished = done + 1 == total || job.fit_time && stop;
        if (step + 1).is_multiple_of(job.validate_every) || delivery.last_of_epoch || finished {
            let valid = evaluate(&mut trainer, &validation, lambda as f32);
            place.log.push(Entry {
                step: step + 1,
                epochs: (done + 1) as f64 / per_epoch as f64,
                positions: (step as u64 + 1) * s.batch as u64,
                seconds: place.seconds,
                rate,
                lambda,
                training: recent.mean(),
                validation: valid.mean(),
                rmse: valid.rmse(),
                accuracy: valid.accuracy(),
            });
            progress.say(&format!(
                "step {}  pass {:.2}  training {:.5}  validation {:.5}  rmse {:.4}  winner named {:.2} %  {}",
                step + 1,
                (done + 1) as f64 / per_epoch as f64,
                recent.mean(),
                valid.mean(),
                valid.rmse(),
                100.0 * valid.accuracy(),
                clock(place.seconds),
            ));
            recent = Loss::default();
            write_log(&job.out, &place.log)?;
        }
        if stop && !finished || last_save.elapsed() >= job.checkpoint_every {
            place.recent = [recent.samples, recent.cross_entropy];
            checkpoint::save(&checkpoint_path, &trainer.model, &serde_json::to_string(&place)?)?;
            last_save = Instant::now();
        }
        if delivery.last_of_epoch && !finished {
            trainer.model.quantize()?.save(&job.out.join(NETWORK))?;
        }
        if stop || finished {
            unfinished = !finished;
            break;
        }
    }
    drop(loader);
    let speed = seen as f64 / begin.elapsed().as_secs_f64();
    let net = trainer.model.quantize()?;
    net.save(&job.out.join(NETWORK))?;
    let quantization = quantization_error(&trainer.model, &net, &held_out, s.schedule.lambda(1.0) as f32);
    progress.say(&format!(
        "{}: {:.0} k positions/s overall; loss of the integers {:.5}, of f32 {:.5}, difference {:.1} cp on average, {:.0} at most, over {} \
         positions",
        job.out.join(NETWORK).display(),
        speed / 1e3,
        quantization.loss_integers,
        quantization.loss_f32,
        quantization.mean,
        quantization.max,
        quantization.positions,
    ));
    let phases = trainer.seconds.map(|x| format!("{:.1}", x * 1e3 / (seen as f64 / s.batch as f64).max(1.0)));
    progress.say(&format!(
        "ms a step: index {}, gather {}, dense {}, rows {}, factor {}",
        phases[0], phases[1], phases[2], phases[3], phases[4]
    ));
    if unfinished {
        return Err(interrupt::Unfinished.into());
    }
    place.recent = [0.0; 2];
    checkpoint::save(&checkpoint_path, &trainer.model, &serde_json::to_string(&place)?)?;
    Ok(Outcome { log: place.log, quantization, speed })
}

fn write_log(out: &Path, log: &[Entry]) -> std::io::Result<()> {
    whole_file::write(&out.join("log.csv"), csv(log))?;
    whole_file::write(&out.join("loss.svg"), svg(log))
}

/// At most `most` held-out positions, drawn from all over the set.
fn validation_set(
    data: &DataSet,
    counts: &[[u32; 2]],
    most: usize,
    seed: u64,
) -> Result<Vec<Sample>, Box<dyn Error>> {
    let mut rng = Rng::for_stream(seed, u64::MAX);
    let mut order: Vec<usize> = (0..counts.len()).filter(|&i| counts[i][1] > 0).collect();
    rng.shuffle(&mut order);
    // from enough units for three times as many as wanted, so that they come from many games
    let mut sum = 0;
    let taken = order
        .iter()
        .take_while(|&&i| {
            let more = sum < 3 * most;
            sum += counts[i][1] as usize;
            more
        })
        .count();
    let parts: Vec<Vec<Sample>> = order[..taken]
        .par_iter()
        .map(|&i| {
            let mut out = Vec::new();
            data.read(i, Part::Validation, &mut out).map(|()| out)
        })
        .collect::<Result<_, _>>()?;
    let mut all: Vec<Sample> = parts.concat();
    rng.shuffle(&mut all);
    all.truncate(most);
    Ok(all)
}

/// Batches of at most `size`, without the last samples that fill no tile.
fn batches(samples: &[Sample], size: usize) -> Vec<Batch> {
    samples
        .chunks(size)
        .map(|c| &c[..c.len() / TILE * TILE])
        .filter(|c| !c.is_empty())
        .map(|c| {
            let mut batch = Batch::default();
            batch.fill(&c.iter().map(|s| (*s, false)).collect::<Vec<_>>());
            batch
        })
        .collect()
}

fn evaluate(trainer: &mut Trainer, batches: &[Batch], lambda: f32) -> Loss {
    let seconds = trainer.seconds;
    let mut loss = Loss::default();
    batches.iter().for_each(|b| loss.add(&trainer.evaluate(b, lambda)));
    trainer.seconds = seconds;
    loss
}
