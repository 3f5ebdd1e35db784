//! The loop itself: [`run`].

use super::config::Config;
use super::directory::Directory;
use super::error::LearnError;
use super::generation::{Generation, Plan};
use super::report;
use super::stages::{StageContext, generate_games, judge, train_network};
use crate::data::{self, Format, GameReader};
use crate::datagen::Openings;
use crate::nnue::{HeadShape, Network};
use crate::record::openings::Opening;
use crate::resume::AtPath;
use crate::resume::interrupt::Unfinished;
use crate::support::console::note;
use crate::train::accuracy::LabelledGames;
use crate::train::layout::Layout;
use crate::train::run::NETWORK;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file of a generation's plan.
const PLAN: &str = "plan.json";

/// Options of [`run`].
pub struct LoopOptions {
    /// The loop's directory.
    pub dir: PathBuf,
    /// Settings for generations yet to begin.
    pub config: Config,
    /// Stop after this generation.
    pub generations: Option<u32>,
    /// Stop after this time, with all saved.
    pub max_time: Option<Duration>,
    /// No progress lines.
    pub quiet: bool,
}

/// Runs the loop; continues an earlier run.
///
/// # Errors
/// Errors of the stages and of the directory; [`LearnError::Unfinished`] if stopped within a generation, with
/// all saved.
pub fn run(options: &LoopOptions) -> Result<(), LearnError> {
    let directory = Directory::new(&options.dir);
    let mut journal = directory.journal()?;
    let deadline = options.max_time.map(|t| Instant::now() + t);
    let context = StageContext { directory: &directory, deadline, quiet: options.quiet };
    let say = |text: String| {
        if !options.quiet {
            note!("{text}");
        }
    };
    let mut all = directory.generations()?;
    loop {
        if options.generations.is_some_and(|n| all.len() as u32 >= n) {
            return Ok(());
        }
        if context.over() {
            return Err(Unfinished.into());
        }
        let plan = present_plan(&directory, &options.config, &all)?;
        let number = plan.number;
        say(format!(
            "generation {number}: generation {} plays {} positions",
            plan.player, plan.config.generate.positions
        ));
        let played = staged(&directory, number, "games.json", || generate_games(&plan, context))?;
        report::write(&directory, &all, Some((&plan, "training")))?;
        let times = if plan.config.train.runs > 1 {
            format!(" {} times", plan.config.train.runs)
        } else {
            String::new()
        };
        say(format!("generation {number}: training{times} on the games of generations {:?}", plan.window));
        let trained = staged(&directory, number, "train.json", || train_network(&plan, context))?;
        directory.forget_runs(number)?;
        report::write(&directory, &all, Some((&plan, "its match")))?;
        if plan.config.judge.games > 0 {
            say(format!(
                "generation {number}: match against generation {}; games: {}",
                plan.player, plan.config.judge.games
            ));
        }
        let judged = staged(&directory, number, "judge.json", || judge(&plan, context))?;
        let word = if judged.promoted { "promoted" } else { "refused" };
        let elo = judged.elo_text().map_or(String::new(), |elo| format!(", Elo {elo}"));
        let loss = trained.validation.map_or(String::new(), |loss| format!("; validation {loss:.5}"));
        say(format!(
            "generation {number}: {word}: +{} ={} -{}{elo}{loss}; positions: {}",
            judged.wins, judged.draws, judged.losses, played.positions
        ));
        // a window that has grown since needs the older games
        let keep = plan.config.keep.max(options.config.keep);
        let player = if judged.promoted { number } else { plan.player };
        let generation = Generation { plan, played, trained, judged };
        journal.append(&generation)?;
        all.push(generation);
        report::write(&directory, &all, None)?;
        directory.prune(number, keep, player)?;
    }
}

/// Runs a stage unless its file exists.
fn staged<T: serde::Serialize + serde::de::DeserializeOwned>(
    directory: &Directory,
    number: u32,
    name: &str,
    stage: impl FnOnce() -> Result<T, LearnError>,
) -> Result<T, LearnError> {
    if let Some(done) = directory.stage(number, name)? {
        return Ok(done);
    }
    let done = stage().map_err(|e| match e {
        LearnError::Unfinished(_) => e,
        // settings that the user changes elsewhere come too late for this generation
        e => {
            let path = directory.generation(number).join(PLAN);
            LearnError::Stage { number, path, source: Box::new(e) }
        }
    })?;
    directory.write_stage(number, name, &done)?;
    Ok(done)
}

/// Saves the network that the loop starts with as generation 0.
fn start_network(directory: &Directory, name: &str) -> Result<(), LearnError> {
    let dir = directory.network(0);
    let path = dir.join(NETWORK);
    let network = match name {
        "embedded" => Network::embedded().map_err(LearnError::Embedded)?,
        "bootstrap" => Network::bootstrap()?,
        file => {
            let (network, warnings) =
                Network::load(file.as_ref()).map_err(LearnError::network(file.as_ref()))?;
            warnings.iter().for_each(|warning| note!("{file}: {warning}"));
            network
        }
    };
    std::fs::create_dir_all(&dir).at(&dir)?;
    Ok(network.save(&path).at(&path)?)
}

/// The plan of the present generation; made and stored if the generation has not begun.
fn present_plan(directory: &Directory, config: &Config, all: &[Generation]) -> Result<Plan, LearnError> {
    let number = all.len() as u32 + 1;
    if let Some(plan) = written_plan(directory, number, config)? {
        return Ok(plan);
    }
    config.check()?;
    check_files(config)?;
    match all.last() {
        Some(last) => check_start(&last.plan, config)?,
        // another start is allowed until the first generation has begun
        None => start_network(directory, &config.network)?,
    }
    let player = all.iter().rev().find(|g| g.judged.promoted).map_or(0, |g| g.plan.number);
    check_network(&directory.network(player).join(NETWORK))?;
    let first = (number + 1).saturating_sub(config.train.window).max(1);
    let mut window = Vec::new();
    for earlier in first..number {
        // deleted games do not come back when `keep` grows
        if directory.has_games(earlier)? {
            window.push(earlier);
        }
    }
    window.push(number);
    let plan = Plan { number, player, window, config: config.clone() };
    check_batch(&plan, all)?;
    directory.write_stage(number, PLAN, &plan)?;
    Ok(plan)
}

/// The plan of a generation that has begun. Its settings are checked again, because the user may have edited
/// them.
fn written_plan(directory: &Directory, number: u32, config: &Config) -> Result<Option<Plan>, LearnError> {
    let plan: Option<Plan> = directory.stage(number, PLAN)?;
    if let Some(plan) = &plan {
        let path = directory.generation(number).join(PLAN);
        plan.config.check().map_err(|source| LearnError::Plan { path, source })?;
        check_start(plan, config)?;
    }
    Ok(plan)
}

/// A loop that has begun continues with its own networks; another start is an error.
fn check_start(begun: &Plan, config: &Config) -> Result<(), LearnError> {
    let (begun, named) = (&begun.config.network, &config.network);
    if begun == named {
        return Ok(());
    }
    Err(LearnError::Start { begun: begun.clone(), named: named.clone() })
}

/// Reads the files of a generation's stages, so that an error appears before hours of play.
fn check_files(config: &Config) -> Result<(), LearnError> {
    if let Some(path) = &config.generate.openings {
        Openings::read(path)?;
    }
    if let Some(path) = &config.judge.openings {
        Opening::read_file(path)?;
    }
    if let Some(path) = &config.judge.positions {
        LabelledGames::read(path)?;
    }
    for (path, format) in data::files(&config.train.games)? {
        if format == Format::Games {
            GameReader::open(&path)?;
        }
    }
    Ok(())
}

/// Checks that training can continue from the player's network.
fn check_network(path: &Path) -> Result<(), LearnError> {
    let (network, _) = Network::load(path).map_err(LearnError::network(path))?;
    let shape = network.shape();
    if matches!(shape.head, HeadShape::Lite { .. }) || Layout::new(network.architecture()).is_err() {
        return Err(LearnError::Untrainable { path: path.to_owned(), shape: shape.to_string() });
    }
    Ok(())
}

/// Checks that there can be enough positions for a batch.
fn check_batch(plan: &Plan, all: &[Generation]) -> Result<(), LearnError> {
    let (g, t) = (&plan.config.generate, &plan.config.train);
    let earlier = all.iter().filter(|e| plan.window.contains(&e.plan.number));
    let earlier: u64 = earlier.map(|e| e.played.fit + e.played.inside).sum();
    let most = g.positions.saturating_mul(g.trees as u64 + 1).saturating_add(earlier);
    if t.games.is_empty() && t.batch as u64 > most {
        return Err(LearnError::Batch { most, batch: t.batch });
    }
    Ok(())
}

/// Prepares the plan and the network of the present generation for workers, as the loop does, unless the
/// generation has begun; then the loop may be running.
pub fn prepare(root: &Path, config: &Config) -> Result<Plan, LearnError> {
    let directory = Directory::new(root);
    let number = directory.generations()?.len() as u32 + 1;
    let plan = match written_plan(&directory, number, config)? {
        Some(plan) => plan,
        None => {
            let _journal = directory.journal()?;
            present_plan(&directory, config, &directory.generations()?)?
        }
    };
    // the log of a job goes there from its start
    let games = directory.games(plan.number);
    std::fs::create_dir_all(&games).at(&games)?;
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::super::generation::example::generation;
    use super::*;
    use crate::nnue::Architecture;

    /// Saves a network of zeros.
    fn save(kind: &str, path: &Path) {
        let kind: Architecture = kind.parse().unwrap();
        Network::new(kind.zeroed().unwrap(), String::new()).save(path).unwrap();
    }

    /// A loop's directory with a small network to start from.
    fn directory(root: &Path) -> Directory {
        let directory = Directory::new(root);
        std::fs::create_dir_all(directory.network(0)).unwrap();
        save("kp_256x2-32-32", &directory.network(0).join(NETWORK));
        directory
    }

    #[test]
    fn an_untrainable_start_network_can_be_replaced() {
        let root = tempfile::tempdir().unwrap();
        let directory = directory(root.path());
        let [bad, good] = ["lite_72-32", "psq_256x2-screlu-8b"].map(|kind| {
            let path = root.path().join(kind);
            save(kind, &path);
            Config { network: path.to_string_lossy().into_owned(), ..Config::default() }
        });
        let error = present_plan(&directory, &bad, &[]).unwrap_err().to_string();
        assert!(error.contains("training cannot continue"), "{error}");
        present_plan(&directory, &good, &[]).unwrap();
        for later in [present_plan(&directory, &bad, &[]), prepare(root.path(), &bad)] {
            let error = later.unwrap_err().to_string();
            assert!(error.starts_with("network: this loop began with "), "{error}");
        }
        let (start, _) = Network::load(&directory.network(0).join(NETWORK)).unwrap();
        assert_eq!(start.architecture().name(), "psq_256x2-screlu-8b");
    }

    #[test]
    fn the_window_has_generations_with_games() {
        let root = tempfile::tempdir().unwrap();
        let directory = directory(root.path());
        let all: Vec<Generation> = (1..=3).map(|number| generation(number, 0, None, false)).collect();
        for Generation { plan: Plan { number, .. }, played, .. } in &all {
            directory.write_stage(*number, "games.json", played).unwrap();
            std::fs::create_dir_all(directory.games(*number)).unwrap();
            // the second has an empty directory
            if *number != 2 {
                played
                    .files
                    .iter()
                    .for_each(|f| std::fs::write(directory.games(*number).join(f), "").unwrap());
            }
        }
        directory.prune(3, 2, 0).unwrap();
        let plan = present_plan(&directory, &Config::default(), &all).unwrap();
        assert_eq!(plan.window, [3, 4]);
    }

    #[test]
    fn a_batch_larger_than_a_generation_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let directory = directory(root.path());
        let start = directory.network(0).join(NETWORK).to_string_lossy().into_owned();
        let mut config = Config { network: start, ..Config::default() };
        config.train.batch = 2_560_000;
        let error = present_plan(&directory, &config, &[]).unwrap_err().to_string();
        assert!(error.starts_with("train.batch: 1300000 positions"), "{error}");
        assert!(!directory.generation(1).exists());
        config.generate.trees = 1;
        assert!(present_plan(&directory, &config, &[]).is_ok());
    }
}
