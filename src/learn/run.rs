//! The loop itself: [`run`].

use super::config::Config;
use super::directory::{Directory, at};
use super::generation::{Generation, Plan};
use super::report;
use super::stages::{Circumstances, generate_games, judge, train_network};
use crate::console::note;
use crate::interrupt::Unfinished;
use crate::nnue::Network;
use crate::train::run::NETWORK;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What to do, and for how long.
pub struct Options {
    /// The loop's directory.
    pub dir: PathBuf,
    /// Settings for generations yet to begin.
    pub config: Config,
    /// Stop when so many generations have ended, counted from the first.
    pub generations: Option<u32>,
    /// Stop after this time, with all saved.
    pub max_time: Option<Duration>,
    /// No progress lines.
    pub quiet: bool,
}

/// Runs the loop, from where it was.
///
/// # Errors
/// Of the stages, and of the directory; [`Unfinished`] when stopped within a generation, with all saved.
pub fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let directory = Directory::open(&options.dir)?;
    let deadline = options.max_time.map(|t| Instant::now() + t);
    let circumstances = Circumstances { directory: &directory, deadline, quiet: options.quiet };
    let say = |text: String| {
        if !options.quiet {
            note!("{text}");
        }
    };
    start_network(&directory, &options.config.network)?;
    let mut all = directory.generations()?;
    loop {
        if options.generations.is_some_and(|n| all.len() as u32 >= n) {
            return Ok(());
        }
        if circumstances.over() {
            return Err(Unfinished.into());
        }
        let plan = present_plan(&directory, &options.config, &all)?;
        let number = plan.number;
        say(format!(
            "generation {number}: generation {} plays {} positions",
            plan.player, plan.config.generate.positions
        ));
        let played = staged(&directory, number, "games.json", || generate_games(&plan, circumstances))?;
        report::write(&directory, &all, Some((&plan, "training")))?;
        let times = if plan.config.train.runs > 1 {
            format!(" {} times", plan.config.train.runs)
        } else {
            String::new()
        };
        say(format!("generation {number}: training{times} on the games of generations {:?}", plan.window));
        let trained = staged(&directory, number, "train.json", || train_network(&plan, circumstances))?;
        directory.forget_runs(number)?;
        report::write(&directory, &all, Some((&plan, "its match")))?;
        if plan.config.judge.games > 0 {
            say(format!(
                "generation {number}: {} games against generation {}",
                plan.config.judge.games, plan.player
            ));
        }
        let judged = staged(&directory, number, "judge.json", || judge(&plan, circumstances))?;
        let word = if judged.promoted { "promoted" } else { "refused" };
        let elo = judged.elo_text().map_or(String::new(), |elo| format!(", Elo {elo}"));
        let loss = trained.validation.map_or(String::new(), |loss| format!("; validation {loss:.5}"));
        say(format!(
            "generation {number}: {word}: +{} ={} -{}{elo}{loss}; {} positions",
            judged.wins, judged.draws, judged.losses, played.positions
        ));
        let (keep, player) = (plan.config.keep, if judged.promoted { number } else { plan.player });
        all.push(Generation { plan, played, trained, judged });
        directory.write_generations(&all)?;
        report::write(&directory, &all, None)?;
        directory.prune(number, keep, player)?;
    }
}

/// Does a stage, unless it has left its file.
fn staged<T: serde::Serialize + serde::de::DeserializeOwned>(
    directory: &Directory,
    number: u32,
    name: &str,
    stage: impl FnOnce() -> Result<T, Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    if let Some(done) = directory.stage(number, name)? {
        return Ok(done);
    }
    let done = stage()?;
    directory.write_stage(number, name, &done)?;
    Ok(done)
}

/// Puts the network that the loop starts with in its place.
fn start_network(directory: &Directory, name: &str) -> Result<(), Box<dyn Error>> {
    let dir = directory.network(0);
    let path = dir.join(NETWORK);
    if path.exists() {
        return Ok(());
    }
    let network = match name {
        "embedded" => Network::embedded()?,
        "bootstrap" => Network::bootstrap()?,
        file => Network::load(file.as_ref()).map_err(|e| format!("{file}: {e}"))?.0,
    };
    std::fs::create_dir_all(&dir).map_err(|e| at(&dir, e))?;
    network.save(&path).map_err(|e| at(&path, e))
}

/// The plan of the generation under way; made, and written down, if it is yet to begin.
fn present_plan(directory: &Directory, config: &Config, all: &[Generation]) -> Result<Plan, Box<dyn Error>> {
    let number = all.len() as u32 + 1;
    if let Some(plan) = directory.stage(number, "plan.json")? {
        return Ok(plan);
    }
    config.check()?;
    for path in config.files() {
        std::fs::File::open(path).map_err(|e| at(path, e))?;
    }
    let player = all.iter().rev().find(|g| g.judged.promoted).map_or(0, |g| g.plan.number);
    let first = (number + 1).saturating_sub(config.train.window).max(1);
    let plan = Plan { number, player, window: (first..=number).collect(), config: config.clone() };
    directory.write_stage(number, "plan.json", &plan)?;
    Ok(plan)
}

/// What a worker needs to make games of the present generation: its plan, and the network that plays. Both are made, as the
/// loop would, unless the generation has begun; then the loop may be running.
///
/// # Errors
/// Of the directory.
pub fn prepare(root: &Path, config: &Config) -> Result<Plan, Box<dyn Error>> {
    let directory = Directory::read_only(root);
    let number = directory.generations()?.len() as u32 + 1;
    if let Some(plan) = directory.stage(number, "plan.json")? {
        return Ok(plan);
    }
    let directory = Directory::open(root)?;
    start_network(&directory, &config.network)?;
    present_plan(&directory, config, &directory.generations()?)
}
