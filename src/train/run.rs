//! A training run from data to network: [`run`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::average::Average;
use super::checkpoint;
use super::error::TrainError;
use super::features::Sample;
use super::finished::Finished;
use super::kernels::{Grid, Kernels};
use super::layout::Layout;
use super::loader::{Delivery, Loader, LoaderOptions};
use super::loss::{Loss, Objective};
use super::progress::{fit_progress, progress_error};
use super::quantize::{QuantizationError, quantization_error};
use super::report::{LogEntry, csv, svg};
use super::settings::TrainingSettings;
use super::source::{DataSet, Selection, SetCounts};
use super::start::{Material, RunStart, RunState};
use super::step::Trainer;
use super::validation::ValidationSet;
use crate::data::TdLambda;
use crate::resume::{AtPath, Lock, interrupt, whole_file};
use crate::support::console::{Progress, clock};
use crate::support::memory::OutOfMemory;
use crate::support::messages::Number;

/// How a run is carried out.
#[derive(Clone, Debug)]
pub struct TrainingJob {
    /// The settings that determine the result.
    pub settings: TrainingSettings,
    /// Files of records, or directories of them.
    pub data: Vec<PathBuf>,
    /// Directory for the network, log, chart and checkpoint.
    pub out: PathBuf,
    /// Continue from the checkpoint in `out`, if there is one.
    pub resume: bool,
    /// Network, or checkpoint of another run, to start from.
    pub init: Option<PathBuf>,
    /// The instruction set.
    pub kernels: Kernels,
    /// Threads that decode records during training.
    pub loader_threads: usize,
    /// Stop after this time.
    pub max_time: Option<Duration>,
    /// Let the schedule end with `max_time`, which then includes the time of earlier processes of the run.
    pub fit_time: bool,
    /// Time between checkpoints.
    pub checkpoint_every: Duration,
    /// Steps between validations.
    pub validate_every: u32,
    /// No output.
    pub quiet: bool,
}

/// The name of the network in the output directory.
pub const NETWORK: &str = "nn.bin";
/// The name of the checkpoint in the output directory: the whole state in f32, from which this run or the
/// next one continues.
pub const CHECKPOINT: &str = "checkpoint";

/// The result of a run.
#[derive(Clone, Debug)]
pub struct TrainingOutcome {
    /// One line for each validation.
    pub log: Vec<LogEntry>,
    /// The effect of rounding the finished network.
    pub quantization: QuantizationError,
    /// Positions seen a second in this process, validation and saving included.
    pub speed: f64,
}

/// Trains; `None` if the run was stopped before its end, with all saved.
pub fn run(job: &TrainingJob) -> Result<Option<TrainingOutcome>, TrainError> {
    std::fs::create_dir_all(&job.out).at(&job.out)?;
    let _lock = Lock::take(&job.out.join("train"))?;
    let (mut run, loader) = ActiveRun::prepare(job)?;
    let finished = run.train(loader)?;
    run.conclude(finished)
}

/// A run under way.
struct ActiveRun<'a> {
    job: &'a TrainingJob,
    progress: Progress,
    trainer: Trainer,
    average: Option<Average>,
    state: RunState,
    /// Steps a pass.
    per_epoch: u64,
    validation: ValidationSet,
    score_scale: f32,
    begin: Instant,
    /// Seconds spent on the run by earlier processes.
    earlier: f64,
    /// Positions learnt from in this process.
    seen: u64,
    /// Loss since the last validation.
    recent: Loss,
    last_save: Instant,
}

impl ActiveRun<'_> {
    /// Opens the data and creates or restores the state.
    fn prepare(job: &TrainingJob) -> Result<(ActiveRun<'_>, Loader), TrainError> {
        let begin = Instant::now();
        let s = &job.settings;
        let mut progress = Progress::new(job.quiet);
        let selection = Selection {
            validation: s.validation,
            score_limit: s.score_limit,
            score_clip: s.score_clip,
            td: s.td,
        };
        let mut data = DataSet::open(&job.data, selection, |w| progress.say(&format!("warning: {w}")))?;
        let score_scale = match s.score_scale {
            Some(scale) => scale,
            None => data.fit_score_scale()?.ok_or(TrainError::NoScoreScale)?,
        };
        data.set_score_scale(score_scale);
        let SetCounts { units: counts, games, unknown_ends } = data.count()?;
        if let (Some(_), Some(note)) = (s.td, TdLambda::note(unknown_ends, games)) {
            progress.say(&note);
        }
        let positions: u64 = counts.iter().map(|c| c[0] as u64).sum();
        let aside: u64 = counts.iter().map(|c| c[1] as u64).sum();
        let per_epoch = positions / s.batch as u64;
        if per_epoch == 0 {
            return Err(TrainError::TooFewPositions { positions, batch: s.batch });
        }
        let layout = Layout::of(s.architecture);
        let checkpoint = job.out.join(CHECKPOINT);
        let material = Material::of(&data, positions, job.init.as_deref())?;
        let mut start = if job.resume && checkpoint.exists() {
            RunStart::resumed(&checkpoint, s, material)?
        } else {
            RunStart::new(s, material, job.init.as_deref(), |w| progress.say(&w))?
        };
        if layout.architecture.shape.head.by_progress() && start.model.progress.is_none() {
            let examples = data.progress_examples()?;
            if examples.is_empty() {
                return Err(TrainError::NoProgress);
            }
            let fitted = fit_progress(&examples, s.seed)?;
            let error = progress_error(&fitted, &examples);
            progress.say(&format!("progress fitted to {} positions, RMS error {error:.3}", examples.len()));
            start.model.progress = Some(Arc::new(fitted));
        }
        data.set_progress(start.model.progress.clone());
        let validation =
            ValidationSet::draw(&data, &counts, s.validation_positions, s.seed, s.batch, &layout)?;
        let resident = positions * size_of::<Sample>() as u64 <= s.memory as u64;
        let RunStart { model, average, state } = start;
        let threads = state.settings.threads;
        let (files, some) = (Number(data.files()), Number(threads));
        progress.say(&format!(
            "{} training positions in {files} file{files:#} ({}), {} of {aside} validation positions used, {per_epoch} \
             steps a pass; win-rate scale {score_scale:.0}; {} kernels, {some} thread{some:#}",
            positions,
            if resident { "kept in memory" } else { "streamed" },
            validation.samples.len(),
            job.kernels.name(),
        ));
        let options = LoaderOptions {
            seed: s.seed,
            batch: s.batch,
            epochs: s.schedule.epochs,
            memory: s.memory,
            threads: job.loader_threads,
            first_threads: threads.max(job.loader_threads),
            mirror: s.mirror,
            layout,
            start: (state.epoch, state.batch),
        };
        let loader = Loader::start(Arc::new(data), positions, options);
        let grid = if s.quantized { Grid::Quantized } else { Grid::Fine };
        let trainer = Trainer::new(model, job.kernels, grid, threads, s.batch)?;
        let recent = Loss { samples: state.recent[0], cross_entropy: state.recent[1], ..Loss::default() };
        let run = ActiveRun {
            job,
            progress,
            trainer,
            average,
            earlier: state.seconds,
            state,
            per_epoch,
            validation,
            score_scale,
            begin,
            seen: 0,
            recent,
            last_save: Instant::now(),
        };
        Ok((run, loader))
    }

    /// Trains until all passes are done (true), or until the time is up or the user stops the run (false).
    fn train(&mut self, mut loader: Loader) -> Result<bool, TrainError> {
        let (job, s) = (self.job, &self.job.settings);
        let total = self.per_epoch * s.schedule.epochs as u64;
        let mut wait = 0.0;
        let mut first = None;
        if job.fit_time && self.earlier > 0.0 && self.out_of_time() {
            self.progress.say("earlier processes have used all of --max-time");
            return Ok(true);
        }
        loop {
            let asked = Instant::now();
            let Some(delivery) = loader.take() else { return Ok(true) };
            let Delivery { batch, epoch, number, last_of_epoch } = delivery?;
            if first.is_some() {
                wait += asked.elapsed().as_secs_f64();
            }
            let first: &Instant = first.get_or_insert_with(Instant::now);
            let done = epoch as u64 * self.per_epoch + number;
            let mut fraction = done as f64 / total as f64;
            self.state.seconds = self.earlier + self.begin.elapsed().as_secs_f64();
            if let (true, Some(max)) = (job.fit_time, job.max_time) {
                fraction = fraction.max(self.spent() / max.as_secs_f64());
            }
            let (rate, lambda) = (s.schedule.rate(fraction, done), s.schedule.lambda(fraction));
            let objective = Objective { lambda: lambda as f32, scale: self.score_scale };
            let loss = self.trainer.step(&batch, rate as f32, objective);
            loader.recycle(batch);
            // an untrained network has a loss below 1
            let (step, mean) = (done + 1, loss.mean());
            if mean.is_nan() || mean > 1000.0 {
                return Err(TrainError::Diverged { step, loss: mean });
            }
            self.update_average(done)?;
            self.recent.add(&loss);
            self.seen += s.batch as u64;
            self.state.epoch = epoch;
            self.state.batch = number + 1;
            self.state.seconds = self.earlier + self.begin.elapsed().as_secs_f64();
            let (seen, recent, spent) = (self.seen, self.recent.mean(), self.spent());
            self.progress.update(|| {
                let seconds = first.elapsed().as_secs_f64();
                let speed = seen as f64 / seconds;
                let mut left = (total - done - 1) as f64 * s.batch as f64 / speed;
                if let Some(max) = job.max_time {
                    left = left.min((max.as_secs_f64() - spent).max(0.0));
                }
                format!(
                    "step {}/{total} (pass {}/{})  {:.0} k positions/s  {} left  loss {recent:.5}  rate {rate:.1e}  \
                     lambda {lambda:.2}  waiting for data {:.0} %",
                    done + 1,
                    epoch + 1,
                    s.schedule.epochs,
                    speed / 1e3,
                    clock(left),
                    100.0 * wait / seconds,
                )
            });

            let out_of_time = self.out_of_time();
            let stop = interrupt::requests() > 0 || out_of_time;
            let finished = done + 1 == total || job.fit_time && out_of_time;
            if (done + 1).is_multiple_of(job.validate_every as u64) || last_of_epoch || finished {
                self.validate(done + 1, rate, objective)?;
            }
            if stop && !finished || self.last_save.elapsed() >= job.checkpoint_every {
                self.save()?;
            }
            if last_of_epoch && !finished {
                // without a checkpoint the run could not continue after a kill
                if !job.out.join(CHECKPOINT).exists() {
                    self.save()?;
                }
                let path = job.out.join(NETWORK);
                self.with_finished(Finished::quantize)??.save(&path).at(&path)?;
            }
            if stop || finished {
                return Ok(finished);
            }
        }
    }

    /// Seconds that count against `max_time`: of this process, or of the whole run with `fit_time`.
    fn spent(&self) -> f64 {
        let earlier = if self.job.fit_time { 0.0 } else { self.earlier };
        self.state.seconds - earlier
    }

    fn out_of_time(&self) -> bool {
        self.job.max_time.is_some_and(|max| self.spent() >= max.as_secs_f64())
    }

    /// Updates the average after step number `done`, if it is due.
    fn update_average(&mut self, done: u64) -> Result<(), OutOfMemory> {
        match &mut self.average {
            Some(average) if (done + 1).is_multiple_of(average.every() as u64) => {
                self.trainer.with_threads(|model| average.update(model))
            }
            _ => Ok(()),
        }
    }

    /// Measures the loss on the validation set and adds it to the log.
    fn validate(&mut self, steps: u64, rate: f64, objective: Objective) -> Result<(), TrainError> {
        let valid = self.validation.loss(&mut self.trainer, objective);
        let measured = |loss: f64| (valid.samples > 0.0).then_some(loss);
        let entry = LogEntry {
            step: steps as u32,
            epochs: steps as f64 / self.per_epoch as f64,
            positions: steps * self.job.settings.batch as u64,
            seconds: self.state.seconds,
            rate,
            lambda: objective.lambda as f64,
            training: self.recent.mean(),
            validation: measured(valid.mean()),
            rmse: measured(valid.rmse()),
            accuracy: measured(valid.accuracy()).filter(|_| valid.decisive > 0.0),
        };
        self.state.log.push(entry);
        let mut line =
            format!("step {}  pass {:.2}  training loss {:.5}  ", entry.step, entry.epochs, entry.training);
        if let (Some(loss), Some(rmse)) = (entry.validation, entry.rmse) {
            line += &format!("validation loss {loss:.5}  RMSE {rmse:.4}  ");
        }
        if let Some(share) = entry.accuracy {
            line += &format!("winner predicted {:.2} %  ", 100.0 * share);
        }
        self.progress.say(&(line + &clock(entry.seconds)));
        self.recent = Loss::default();
        write_log(&self.job.out, &self.state.log).at(&self.job.out)?;
        Ok(())
    }

    fn save(&mut self) -> Result<(), TrainError> {
        self.state.recent = [self.recent.samples, self.recent.cross_entropy];
        let path = self.job.out.join(CHECKPOINT);
        let run = serde_json::to_string(&self.state).at(&path)?;
        checkpoint::save(&path, &self.trainer.model, self.average.as_ref(), &run).at(&path)?;
        self.last_save = Instant::now();
        Ok(())
    }

    /// Calls `work` with the network to keep: the average if there is one, else the model of the last step.
    fn with_finished<R>(&self, work: impl FnOnce(&Finished) -> R) -> Result<R, OutOfMemory> {
        match self.average.as_ref().and_then(|average| average.mean.as_ref()) {
            Some(mean) => Ok(work(mean)),
            None => self.trainer.model.finished().map(|now| work(&now)),
        }
    }

    /// Writes the last checkpoint and the network, and prints a summary.
    fn conclude(mut self, finished: bool) -> Result<Option<TrainingOutcome>, TrainError> {
        if finished {
            self.save()?;
        }
        let s = &self.job.settings;
        let speed = self.seen as f64 / self.begin.elapsed().as_secs_f64();
        let path = self.job.out.join(NETWORK);
        let objective = Objective { lambda: s.schedule.lambda(1.0) as f32, scale: self.score_scale };
        let quantization = self.with_finished(|exact| -> Result<_, TrainError> {
            let net = exact.quantize()?;
            net.save(&path).at(&path)?;
            Ok(quantization_error(exact, &net, &self.validation.samples, objective))
        })??;
        let q = &quantization;
        let mut line = format!("wrote {}: {:.0} k positions/s on average", path.display(), speed / 1e3);
        if q.positions > 0 {
            line += &format!(
                "; validation loss {:.5} (before rounding {:.5}); rounding changes scores by {:.1} cp on average, \
                 {:.0} cp at most, over {} positions",
                q.loss_integers, q.loss_f32, q.mean, q.max, q.positions
            );
        }
        self.progress.say(&line);
        let steps = (self.seen as f64 / s.batch as f64).max(1.0);
        let [index, gather, dense, rows, factor] =
            self.trainer.seconds.map(|x| format!("{:.1}", x * 1e3 / steps));
        self.progress.say(&format!(
            "milliseconds a step: index {index}, gather {gather}, dense {dense}, rows {rows}, factor {factor}"
        ));
        Ok(finished.then_some(TrainingOutcome { log: self.state.log, quantization, speed }))
    }
}

fn write_log(out: &Path, log: &[LogEntry]) -> std::io::Result<()> {
    whole_file::write(&out.join("log.csv"), csv(log))?;
    whole_file::write(&out.join("loss.svg"), svg(log))
}
