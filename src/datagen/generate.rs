//! Making the games of a shard: [`generate`], its files and its threads.
//!
//! Series of games (see [`DatagenSettings::series`]) are distributed in turn: series `s` belongs to shard `s
//! mod N`. The games of a shard are written in the order of their numbers, whichever thread finishes first. A
//! directory holds for each shard
//!
//! ```text
//! shard-00012-of-00100.part     the games so far, append-only
//! shard-00012-of-00100.games    the games, complete: the .part, renamed
//! shard-00012-of-00100.json     what made them, and counts
//! shard-00012-of-00100.trees    with `DatagenSettings::trees`: positions of the games' searches so far, as PackedSfenValue
//! shard-00012-of-00100.psv      these, complete
//! shard-00012-of-00100.lock     locked by the process that works on the shard
//! ```
//!
//! A process that is killed loses the games since the last flush, at most a minute, and those that wait for an
//! earlier series; a process that is stopped loses the latter. They are played again. Resuming cuts
//! off a torn tail (with trees, everything after the last manifest) and continues with the first missing
//! game; the finished file is the same, byte for byte, as that of an undisturbed run.

use super::error::ShardError;
use super::game::SelfPlayer;
use super::manifest::{GameCounts, Manifest, RunIdentity};
use super::openings::Openings;
use super::settings::DatagenSettings;
use super::shard::{RunSize, Shard};
use super::tree_file::TreeFile;
use crate::data::psv::PackedSfenValue;
use crate::data::{GameReader, GameRecord, GameResult, GameWriter, RecordError};
use crate::nnue::Network;
use crate::resume::{AtPath, Lock, ResumeError, interrupt};
use crate::search::STACK;
use crate::support::console::{Progress, clock};
use crate::support::memory::OutOfMemory;
use crate::support::messages::Number;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The games to generate, and how.
pub struct ShardJob {
    /// Plays both sides.
    pub network: Arc<Network>,
    /// The settings that determine the games.
    pub settings: DatagenSettings,
    /// Where games start; their hash is in the settings.
    pub openings: Arc<Openings>,
    /// The size of the whole run, all shards.
    pub target: RunSize,
    /// Which part this job makes.
    pub shard: Shard,
    /// The directory of the shard's files.
    pub dir: PathBuf,
    /// Concurrent games.
    pub threads: usize,
    /// Continue the work of an earlier process.
    pub resume: bool,
    /// Stop after this time.
    pub max_time: Option<Duration>,
    /// How long games in progress may continue after a request to stop.
    pub grace: Duration,
    /// How often finished games are written, which limits the loss by a kill.
    pub flush_every: Duration,
    /// No progress lines.
    pub quiet: bool,
}

/// How a shard's work ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ShardOutcome {
    /// The shard was complete before.
    AlreadyComplete,
    /// All games of the shard are in its file.
    Complete(GameCounts),
    /// Stopped by a signal or by the time limit; all games whose turn had come are saved.
    Stopped(GameCounts),
}

/// Makes the games of a shard.
///
/// # Errors
/// [`ShardError`]; what was written before stays and can be resumed.
pub fn generate(job: ShardJob) -> Result<ShardOutcome, ShardError> {
    let started = Instant::now();
    std::fs::create_dir_all(&job.dir).at(&job.dir)?;
    let [part, games, json, trees, psv] =
        ["part", "games", "json", "trees", "psv"].map(|e| job.shard.file(&job.dir, e));
    let _lock = Lock::take(&json.with_extension(""))?;
    let identity = RunIdentity::new(&job.network, &job.settings).at(&json)?;
    Manifest::check_directory(&job.dir, &identity, job.shard)?;
    if games.exists() {
        let made_for = Manifest::read(&json)?.check_files(&games, &psv)?.target;
        if made_for == job.target {
            return Ok(ShardOutcome::AlreadyComplete);
        }
        if !job.resume {
            return Err(ShardError::Size { path: games, made_for });
        }
        // a complete shard of a run that is to become larger
        std::fs::rename(&games, &part).at(&part)?;
    }
    if part.exists() && !job.resume {
        return Err(ResumeError::Exists(part).into());
    }
    // complete before, or killed between the last two renamings
    if part.exists() && psv.exists() {
        std::fs::rename(&psv, &trees).at(&trees)?;
    }
    let tree_file = match job.settings.trees {
        0 => None,
        _ => Some(TreeFile::open(&part, &json, trees.clone())?),
    };
    let fingerprint = identity.fingerprint();
    let mut counts = GameCounts::default();
    let mut misplaced = None;
    let writer = GameWriter::append(&part, fingerprint, |g| {
        let expected = job.shard.game(counts.games, job.settings.series);
        if g.id != expected {
            misplaced.get_or_insert((g.id, expected));
        }
        counts.add(g);
    })?;
    if let Some((found, expected)) = misplaced {
        return Err(ShardError::Sequence { path: part, found, expected });
    }
    let earlier_seconds =
        if counts.games > 0 { Manifest::read(&json).map_or(0.0, |m| m.seconds) } else { 0.0 };
    if let Some(file) = &tree_file {
        file.belongs_to(&part, counts.games)?;
    }
    let manifest = Manifest {
        fingerprint: format!("{fingerprint:016x}"),
        identity,
        shard: job.shard.index,
        shards: job.shard.count,
        target: job.target,
        complete: false,
        bytes: writer.bytes(),
        tree_bytes: tree_file.as_ref().map(TreeFile::bytes),
        seconds: earlier_seconds,
        counts,
    };
    manifest.write(&json)?;

    let first = manifest.counts.games;
    let mut output = ShardWriter {
        resumed: first > 0,
        writer,
        trees: tree_file,
        manifest,
        json: json.clone(),
        waiting: BTreeMap::new(),
        first,
        saved: first,
        flushed: Instant::now(),
        goal: match job.target {
            RunSize::Games(n) => RunSize::Games(job.shard.games_of(n, job.settings.series)),
            RunSize::Positions(n) => RunSize::Positions(job.shard.part_of(n)),
        },
    };
    let played = play_all(&job, &mut output, started);
    if played.is_err() {
        // save what can be saved, and report the first error
        let _ = output.flush();
    }
    let stopped = played?;
    let complete = output.is_complete();
    let rewrite = output.resumed;
    output.flush()?;
    let ShardWriter { mut manifest, writer, .. } = output;
    manifest.bytes = writer.finish()?;
    if complete && rewrite {
        if manifest.tree_bytes.is_some() {
            // from here on the games' bytes change, and both files are whole
            manifest.complete = true;
            manifest.write(&json)?;
        }
        // blocks that a flush made short are filled up, so that the file equals that of an undisturbed run
        manifest.bytes = rewrite_whole(&part, fingerprint)?;
    }
    manifest.seconds += started.elapsed().as_secs_f64();
    manifest.complete = complete;
    manifest.write(&json)?;
    if complete {
        if manifest.tree_bytes.is_some() {
            std::fs::rename(&trees, &psv).at(&psv)?;
        }
        std::fs::rename(&part, &games).at(&games)?;
        return Ok(ShardOutcome::Complete(manifest.counts));
    }
    debug_assert!(stopped);
    Ok(ShardOutcome::Stopped(manifest.counts))
}

/// Copies the games into blocks of the usual size. Returns the bytes of the file.
fn rewrite_whole(part: &Path, fingerprint: u64) -> Result<u64, RecordError> {
    let temporary = part.with_extension("tmp");
    let mut writer = GameWriter::create(&temporary, fingerprint)?;
    for game in GameReader::open(part)? {
        writer.write(&game?)?;
    }
    let bytes = writer.finish()?;
    std::fs::rename(&temporary, part).map_err(RecordError::at(part))?;
    Ok(bytes)
}

/// A game and the labelled positions inside its searches.
type PlayedGame = (GameRecord, Vec<PackedSfenValue>);

/// The files, and the games that ended before their turn.
struct ShardWriter {
    writer: GameWriter,
    trees: Option<TreeFile>,
    manifest: Manifest,
    json: PathBuf,
    /// By their number within the shard.
    waiting: BTreeMap<u64, PlayedGame>,
    /// Games that earlier processes wrote.
    first: u64,
    /// Games that a kill would not lose.
    saved: u64,
    flushed: Instant,
    /// Whether some block ends where the usual size would not end it.
    resumed: bool,
    /// When this shard is complete.
    goal: RunSize,
}

impl ShardWriter {
    fn is_complete(&self) -> bool {
        match self.goal {
            RunSize::Games(n) => self.manifest.counts.games >= n,
            RunSize::Positions(n) => self.manifest.counts.positions >= n,
        }
    }

    /// Adds game number `k` of the shard and writes all games whose turn has come. Nothing is written after
    /// the goal.
    fn take(&mut self, k: u64, played: PlayedGame) -> Result<(), ShardError> {
        self.waiting.insert(k, played);
        while !self.is_complete() {
            let Some((game, trees)) = self.waiting.remove(&self.manifest.counts.games) else { break };
            self.manifest.counts.add(&game);
            self.writer.write(&game)?;
            if let Some(file) = &mut self.trees {
                file.write(&trees)?;
            }
        }
        Ok(())
    }

    fn flush_now_and_then(&mut self, every: Duration) -> Result<(), ShardError> {
        if self.flushed.elapsed() >= every {
            self.flushed = Instant::now();
            self.flush()?;
        }
        Ok(())
    }

    /// Writes all games whose turn has come. With trees, a kill between two flushes leaves the two files with
    /// different numbers of games, so the manifest has the length of both.
    fn flush(&mut self) -> Result<(), ShardError> {
        if self.saved == self.manifest.counts.games {
            return Ok(());
        }
        self.saved = self.manifest.counts.games;
        if self.writer.pending() > 0 {
            self.writer.flush()?;
            self.resumed = true;
        }
        if let Some(file) = &mut self.trees {
            file.flush()?;
            self.manifest.bytes = self.writer.bytes();
            self.manifest.tree_bytes = Some(file.bytes());
            self.manifest.write(&self.json)?;
        }
        Ok(())
    }
}

impl GameCounts {
    fn add(&mut self, game: &GameRecord) {
        self.games += 1;
        self.positions += game.plies.len() as u64;
        self.fit += game.plies.iter().filter(|p| p.fit).count() as u64;
        *match game.result {
            GameResult::BlackWin => &mut self.black_wins,
            GameResult::WhiteWin => &mut self.white_wins,
            GameResult::Draw => &mut self.draws,
        } += 1;
        *self.reasons.entry(game.reason.to_string()).or_default() += 1;
    }
}

/// State shared by the threads.
struct Control {
    /// The next series to begin, by its number within the shard.
    next: AtomicU64,
    /// No more games.
    stop: AtomicBool,
    /// Abandon the games in progress, too.
    abandon: AtomicBool,
    nodes: AtomicU64,
    /// The game in which a thread panicked, after its message on standard error.
    failed: OnceLock<u64>,
}

impl Control {
    /// The result after all threads have ended.
    fn outcome(&self, output: &ShardWriter) -> Result<(), ShardError> {
        match self.failed.get() {
            Some(&game) if !output.is_complete() => Err(ShardError::Thread(game)),
            _ => Ok(()),
        }
    }
}

/// Runs the threads until the goal is reached or a stop is requested; true if stopped.
fn play_all(job: &ShardJob, output: &mut ShardWriter, started: Instant) -> Result<bool, ShardError> {
    if output.is_complete() {
        return Ok(false);
    }
    let control = Control {
        next: AtomicU64::new(output.manifest.counts.games / job.settings.series),
        stop: AtomicBool::new(false),
        abandon: AtomicBool::new(false),
        nodes: AtomicU64::new(0),
        failed: OnceLock::new(),
    };
    let settings = Arc::new(job.settings.clone());
    let openings = &job.openings;
    let missing = output.manifest.counts.games..match output.goal {
        RunSize::Games(n) => n,
        RunSize::Positions(_) => u64::MAX,
    };
    let players = (0..job.threads.max(1))
        .map(|_| SelfPlayer::new(job.network.clone(), settings.clone(), openings.clone()))
        .collect::<Result<Vec<_>, _>>()?;
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for (i, mut player) in players.into_iter().enumerate() {
            let (sender, control, missing) = (sender.clone(), &control, missing.clone());
            std::thread::Builder::new()
                .name(format!("datagen-{i}"))
                .stack_size(STACK)
                .spawn_scoped(scope, move || work(&mut player, job, missing, control, &sender))
                .map_err(|_| OutOfMemory { bytes: STACK })?;
        }
        drop(sender);
        let mut progress = Progress::new(job.quiet);
        let mut stop_since: Option<Instant> = None;
        let result = loop {
            match receiver.recv_timeout(Duration::from_millis(200)) {
                Ok((k, played)) => {
                    if let Err(e) = output.take(k, played) {
                        break Err(e);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break control.outcome(output),
            }
            if output.is_complete() || control.failed.get().is_some() {
                control.abandon.store(true, Relaxed);
                control.stop.store(true, Relaxed);
            }
            let asked = interrupt::requests();
            if asked > 0 || job.max_time.is_some_and(|t| started.elapsed() >= t) {
                control.stop.store(true, Relaxed);
                let since = stop_since.get_or_insert_with(Instant::now);
                if asked > 1 || since.elapsed() >= job.grace {
                    control.abandon.store(true, Relaxed);
                }
            }
            if let Err(e) = output.flush_now_and_then(job.flush_every) {
                break Err(e);
            }
            progress.update(|| status(job, output, &control, started));
        };
        control.abandon.store(true, Relaxed);
        control.stop.store(true, Relaxed);
        progress.say(&status(job, output, &control, started));
        result?;
        let waiting = output.waiting.len();
        if waiting > 0 && !output.is_complete() {
            progress.say(&format!(
                "finished games that are not written, as a series before theirs is not finished: {waiting}; they are \
                 played again"
            ));
        }
        Ok(stop_since.is_some())
    })
}

/// The work of one thread: series after series. `missing` are the games of the shard that are not in the file
/// yet.
fn work(
    player: &mut SelfPlayer,
    job: &ShardJob,
    missing: Range<u64>,
    control: &Control,
    out: &Sender<(u64, PlayedGame)>,
) {
    let series = job.settings.series;
    loop {
        let s = control.next.fetch_add(1, Relaxed);
        let games = (s * series).max(missing.start)..(s + 1).saturating_mul(series).min(missing.end);
        if games.is_empty() {
            return;
        }
        for k in games {
            if control.stop.load(Relaxed) {
                return;
            }
            let before = player.nodes();
            let id = job.shard.game(k, series);
            // nothing of the player is used after a panic
            let played = catch_unwind(AssertUnwindSafe(|| player.play(id, &control.abandon)));
            let Ok(game) = played else {
                let _ = control.failed.set(id);
                return;
            };
            let Some(game) = game else { return };
            control.nodes.fetch_add(player.nodes() - before, Relaxed);
            let trees = player.take_trees(game.result);
            if out.send((k, (game, trees))).is_err() {
                return;
            }
        }
    }
}

fn status(job: &ShardJob, output: &ShardWriter, control: &Control, started: Instant) -> String {
    let c = &output.manifest.counts;
    let waiting: u64 = output.waiting.values().map(|(g, _)| g.plies.len() as u64).sum();
    let made_games = c.games - output.first + output.waiting.len() as u64;
    let seconds = started.elapsed().as_secs_f64().max(1e-3);
    let mean = if c.games > 0 { c.positions as f64 / c.games as f64 } else { 100.0 };
    let made = made_games as f64 * mean;
    let (done, left) = match output.goal {
        RunSize::Games(n) => (c.games as f64 / n.max(1) as f64, n.saturating_sub(c.games) as f64 * mean),
        RunSize::Positions(n) => {
            (c.positions as f64 / n.max(1) as f64, n.saturating_sub(c.positions + waiting) as f64)
        }
    };
    let per_second = made / seconds;
    let nodes = control.nodes.load(Relaxed) as f64;
    let left = if per_second > 0.0 { clock(left / per_second) } else { "?".into() };
    let games = Number(c.games);
    format!(
        "shard {}/{}  {:.1} %  {games} game{games:#}  {} positions ({} fit)  {:.1} % draws  {:.0} positions/s  \
         {:.0} nodes a position  {:.0} nodes/s  {}, {left} left",
        job.shard.index,
        job.shard.count,
        100.0 * done,
        c.positions,
        c.fit,
        100.0 * c.draws as f64 / c.games.max(1) as f64,
        per_second,
        nodes / made.max(1.0),
        nodes / seconds,
        clock(seconds),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panicked_thread_is_an_error_that_names_the_game() {
        let dir = tempfile::tempdir().unwrap();
        // the packed form of its start panics for want of a king
        let openings = Openings::unchecked(vec!["4k4/9/4P4/9/9/9/9/9/9 b G 1".parse().unwrap()]);
        let job = ShardJob {
            network: Arc::new(Network::embedded().unwrap()),
            settings: DatagenSettings { nodes: 10, hash: 1, ..DatagenSettings::default() },
            openings: Arc::new(openings),
            target: RunSize::Positions(1_000_000),
            shard: Shard { index: 1, count: 3 },
            dir: dir.path().into(),
            threads: 2,
            resume: false,
            max_time: None,
            grace: Duration::ZERO,
            flush_every: Duration::from_secs(60),
            quiet: true,
        };
        let series = job.settings.series;
        let error = generate(job).unwrap_err();
        assert!(matches!(error, ShardError::Thread(game) if game == series || game == 4 * series), "{error}");
    }
}
