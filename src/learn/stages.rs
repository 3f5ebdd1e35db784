//! The stages of a generation. Each runs the code of a subcommand: `datagen`, `train`, `match` or `accuracy`.

use super::config::Workers;
use super::directory::Directory;
use super::error::LearnError;
use super::generation::{GamesSummary, MatchSummary, Plan, TrainingSummary};
use crate::arena::adjudication::Adjudication;
use crate::arena::journal;
use crate::arena::limits::EngineLimits;
use crate::arena::report;
use crate::arena::schedule::{MatchSchedule, PairingMode};
use crate::arena::spec::EngineSpec;
use crate::arena::tournament::{MatchEnd, Tournament, run as play};
use crate::data::TdLambda;
use crate::datagen::{DatagenSettings, Manifest, Openings, RunSize};
use crate::datagen::{Shard, ShardError, ShardJob, ShardOutcome, generate};
use crate::engine::NO_BOOK;
use crate::nnue::{KingPart, Network, mean::mean};
use crate::record::openings::Opening;
use crate::resume::interrupt::{self, Unfinished};
use crate::resume::{AtPath, ResumeError, whole_file};
use crate::support::console::note;
use crate::support::numa::processors;
use crate::train::accuracy::LabelledGames;
use crate::train::kernels::Kernels;
use crate::train::run as train;
use crate::train::schedule::{RateSchedule, RateShape};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long games in progress may continue after a request to stop.
const GRACE: Duration = Duration::from_secs(2);
const FLUSH_EVERY: Duration = Duration::from_secs(20);
const POLL_EVERY: Duration = Duration::from_secs(1);
const CHECKPOINT_EVERY: Duration = Duration::from_secs(120);

/// What a stage needs besides the plan.
#[derive(Clone, Copy)]
pub struct StageContext<'a> {
    pub directory: &'a Directory,
    pub deadline: Option<Instant>,
    pub quiet: bool,
}

impl StageContext<'_> {
    fn left(&self) -> Option<Duration> {
        self.deadline.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Whether to stop now.
    pub fn over(&self) -> bool {
        interrupt::requests() > 0 || self.left().is_some_and(|left| left.is_zero())
    }

    fn network(&self, number: u32) -> Result<Network, LearnError> {
        self.load(&self.directory.network(number))
    }

    fn load(&self, dir: &Path) -> Result<Network, LearnError> {
        let path = dir.join(train::NETWORK);
        let (network, warnings) = Network::load(&path).map_err(LearnError::network(&path))?;
        if !self.quiet {
            warnings.iter().for_each(|w| note!("warning: {}: {w}", path.display()));
        }
        Ok(network)
    }
}

fn threads(plan: &Plan) -> usize {
    match plan.config.threads {
        0 => processors(),
        n => n,
    }
}

/// Where the games of this generation begin.
pub fn openings(plan: &Plan) -> Result<Openings, LearnError> {
    let path = plan.config.generate.openings.as_deref();
    Ok(path.map_or(Ok(Openings::default()), Openings::read)?)
}

/// The settings of `datagen` in this generation.
pub fn datagen_settings(plan: &Plan, openings: &Openings, fv_scale: i32) -> DatagenSettings {
    let g = &plan.config.generate;
    DatagenSettings {
        // every generation plays other games, even with the same player
        seed: plan.config.seed.wrapping_mul(100_003).wrapping_add(u64::from(plan.number)),
        nodes: g.nodes,
        fv_scale,
        openings: openings.hash().map(str::to_string),
        random_plies: g.random_plies.unwrap_or_else(|| openings.random_plies()),
        balance: g.balance,
        random_chance: g.random_chance,
        decided_score: g.decided_score,
        decided_plies: g.decided_plies,
        trees: g.trees,
        // training decides about large scores
        fit_score: i32::from(i16::MAX),
        ..DatagenSettings::default()
    }
}

/// Plays the games of a generation, or waits for other processes to play them.
///
/// # Errors
/// Errors of `datagen`; [`LearnError::Unfinished`] after a request to stop.
pub fn generate_games(plan: &Plan, c: StageContext) -> Result<GamesSummary, LearnError> {
    let g = &plan.config.generate;
    let dir = c.directory.games(plan.number);
    std::fs::create_dir_all(&dir).at(&dir)?;
    let needed = g.shards_needed();
    if g.workers == Workers::Here {
        let network = Arc::new(c.network(plan.player)?);
        let openings = Arc::new(openings(plan)?);
        for index in 0..g.shards {
            if c.over() {
                return Err(Unfinished.into());
            }
            if complete_shards(&dir, g.shards)?.len() as u64 >= needed {
                break;
            }
            let job = ShardJob {
                network: network.clone(),
                settings: datagen_settings(plan, &openings, network.fv_scale()),
                openings: openings.clone(),
                target: RunSize::Positions(g.positions),
                shard: Shard { index, count: g.shards },
                dir: dir.clone(),
                threads: threads(plan),
                resume: true,
                max_time: c.left(),
                grace: GRACE,
                flush_every: FLUSH_EVERY,
                quiet: c.quiet,
            };
            match generate(job) {
                Ok(ShardOutcome::Stopped(_)) => return Err(Unfinished.into()),
                // another process makes this one
                Ok(_) | Err(ShardError::Resume(ResumeError::InUse { .. })) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }
    let mut announced = false;
    loop {
        let complete = complete_shards(&dir, g.shards)?;
        if complete.len() as u64 >= needed {
            return Ok(sum(&complete));
        }
        if c.over() {
            return Err(Unfinished.into());
        }
        if !announced && !c.quiet {
            announced = true;
            note!("waiting for shards in {}: {} of {needed}", dir.display(), complete.len());
        }
        std::thread::sleep(POLL_EVERY);
    }
}

/// The complete shards with their manifests.
fn complete_shards(dir: &Path, shards: u64) -> Result<Vec<(PathBuf, Manifest)>, LearnError> {
    let mut complete = Vec::new();
    for index in 0..shards {
        let shard = Shard { index, count: shards };
        if shard.file(dir, "games").exists() {
            complete.push((shard.file(Path::new(""), "games"), Manifest::read(&shard.file(dir, "json"))?));
        }
    }
    Ok(complete)
}

fn sum(shards: &[(PathBuf, Manifest)]) -> GamesSummary {
    let total = |count: fn(&Manifest) -> u64| shards.iter().map(|s| count(&s.1)).sum();
    // a complete shard has all its trees
    let trees = shards.iter().filter(|s| s.1.inside() > 0).map(|s| s.0.with_extension("psv"));
    GamesSummary {
        files: shards.iter().map(|s| s.0.clone()).chain(trees).collect(),
        inside: total(Manifest::inside),
        games: total(|m| m.counts.games),
        positions: total(|m| m.counts.positions),
        fit: total(|m| m.counts.fit),
        seconds: shards.iter().map(|s| s.1.seconds).sum(),
    }
}

/// Trains the network of a generation, or several networks and takes their mean.
///
/// # Errors
/// Errors of `train`; [`LearnError::Unfinished`] after a request to stop.
pub fn train_network(plan: &Plan, c: StageContext) -> Result<TrainingSummary, LearnError> {
    let (out, runs) = (c.directory.network(plan.number), plan.config.train.runs);
    let player = c.network(plan.player)?;
    let mut summary = if runs == 1 {
        train_run(plan, c, 0, &player, out)?
    } else {
        let (mut networks, mut trained) = (Vec::new(), Vec::new());
        for run in 0..runs {
            let dir = c.directory.runs(plan.number).join(run.to_string());
            trained.push(train_run(plan, c, run, &player, dir.clone())?);
            networks.push(c.load(&dir)?);
        }
        let path = out.join(train::NETWORK);
        mean(&networks)?.save(&path).at(&path)?;
        TrainingSummary::of_runs(&trained)
    };
    let change = KingPart::of_change(&player, &c.network(plan.number)?);
    summary.king_change = change.map(|part| part.specific);
    Ok(summary)
}

/// One training from the network of the player, without [`TrainingSummary::king_change`].
fn train_run(
    plan: &Plan,
    c: StageContext,
    run: u32,
    player: &Network,
    out: PathBuf,
) -> Result<TrainingSummary, LearnError> {
    let t = &plan.config.train;
    let dir = c.directory.network(plan.player);
    let state = dir.join(train::CHECKPOINT);
    let init = if t.keep_state && state.exists() { state } else { dir.join(train::NETWORK) };
    let scale = (t.score_scale > 0.0).then_some(t.score_scale);
    let job = train::TrainingJob {
        settings: crate::train::settings::TrainingSettings {
            architecture: player.architecture(),
            schedule: RateSchedule {
                shape: RateShape::Cosine,
                first_rate: t.rate,
                last_rate: t.last_rate,
                warmup: t.warmup,
                epochs: t.passes,
                first_lambda: 1.0,
                last_lambda: t.lambda,
            },
            batch: t.batch,
            seed: plan.config.seed.wrapping_add(u64::from(plan.number)).wrapping_add(u64::from(run) << 32),
            mirror: t.mirror,
            ema: (t.ema > 0.0).then_some(t.ema),
            validation: 0.02,
            validation_positions: 50_000,
            score_limit: 10_000,
            score_clip: (t.score_clip > 0).then_some(t.score_clip),
            score_scale: scale,
            td: (t.td_lambda > 0.0).then(|| TdLambda { cut: t.td_cut, ..TdLambda::new(t.td_lambda) }),
            quantized: true,
            epsilon: t.epsilon,
            row_rate: t.row_rate,
            memory: t.memory << 20,
            // a training that another machine began continues with the same number
            threads: plan.config.threads,
        },
        data: c.directory.training_files(plan)?,
        out,
        resume: true,
        init: Some(init),
        kernels: Kernels::best(),
        loader_threads: threads(plan).div_ceil(8),
        max_time: c.left(),
        fit_time: false,
        checkpoint_every: CHECKPOINT_EVERY,
        validate_every: 500,
        quiet: c.quiet,
    };
    let outcome = train::run(&job)?.ok_or(Unfinished)?;
    let last = outcome.log.last().ok_or(LearnError::NoStep)?;
    Ok(TrainingSummary {
        positions: last.positions,
        steps: u64::from(last.step),
        training: last.training,
        validation: last.validation,
        rmse: last.rmse,
        king_change: None,
        seconds: last.seconds,
    })
}

/// Plays the match of the new network against the player, and decides on promotion.
///
/// # Errors
/// Errors of `match`; [`LearnError::Unfinished`] after a request to stop.
pub fn judge(plan: &Plan, c: StageContext) -> Result<MatchSummary, LearnError> {
    let started = Instant::now();
    let j = &plan.config.judge;
    let named = match &j.positions {
        Some(path) => {
            let named = LabelledGames::read(path)?.winner_accuracy(&c.network(plan.number)?);
            Some([named.share, named.standard_error, named.log_loss])
        }
        None => None,
    };
    let mut judged =
        MatchSummary { promoted: true, wins: 0, draws: 0, losses: 0, elo: None, named, seconds: 0.0 };
    if j.games > 0 {
        let dir = c.directory.match_dir(plan.number);
        let openings = match &j.openings {
            Some(path) => Opening::read_file(path)?,
            None => Opening::embedded()?,
        };
        let engine = |number: u32| self_with(&c.directory.network(number), number);
        let tournament = Tournament {
            engines: vec![engine(plan.number)?, engine(plan.player)?],
            limits: EngineLimits { nodes: Some(j.nodes), ..EngineLimits::default() },
            adjudication: Adjudication::default(),
            shares: Vec::new(),
            keep_pv: false,
            schedule: MatchSchedule::new(
                2,
                PairingMode::RoundRobin,
                j.games,
                openings,
                u64::from(plan.number),
            ),
            sprt: None,
            jobs: threads(plan),
            log: None,
            quiet: c.quiet,
        };
        if let Some(warning) = tournament.repetition().filter(|_| !c.quiet) {
            note!("{warning}");
        }
        // numbers instead of paths, because the directory may move
        let settings = serde_json::json!({
            "generation": plan.number, "player": plan.player, "nodes": j.nodes, "openings": j.openings,
        });
        let (journal, mut games) = journal::open(&dir, &settings, true)?;
        let (standings, ending) = play(&tournament, &mut games, Some(journal))?;
        if ending == MatchEnd::Interrupted {
            return Err(Unfinished.into());
        }
        let summary = report::json(&tournament, &standings, ending, &settings);
        let path = dir.join("summary.json");
        whole_file::write_json(&path, &summary).at(&path)?;
        let score = &standings.scores[0];
        let points = score.wins as f64 + score.draws as f64 / 2.0;
        judged.promoted = points >= j.promote * score.games() as f64;
        (judged.wins, judged.draws, judged.losses) = (score.wins, score.draws, score.losses);
        judged.elo = score.estimate().map(|e| [e.elo, e.low, e.high]);
    }
    judged.seconds = started.elapsed().as_secs_f64();
    Ok(judged)
}

/// This program with the network in a directory.
fn self_with(network: &Path, number: u32) -> Result<EngineSpec, LearnError> {
    let network = std::path::absolute(network).at(network)?;
    let program = std::env::current_exe().map_err(LearnError::Program)?;
    let options = [
        ("Threads", "1".into()),
        ("USI_Hash", "16".into()),
        ("BookFile", NO_BOOK.into()),
        ("EvalDir", network.to_string_lossy().into_owned()),
    ];
    Ok(EngineSpec {
        name: format!("gen-{number:03}"),
        command: vec![program.to_string_lossy().into_owned()],
        dir: None,
        options: options.map(|(name, value): (&str, String)| (name.to_string(), value)).into(),
        limits: None,
    })
}
