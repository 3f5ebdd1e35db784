//! Plays the games of a schedule, several at once: [`run`].

use super::adjudication::{Adjudication, Winner};
use super::game::play;
use super::journal::GameLine;
use super::limits::EngineLimits;
use super::schedule::MatchSchedule;
use super::spec::EngineSpec;
use super::sprt::{Decision, Sprt};
use super::standings::Standings;
use super::start::{Started, start};
use crate::resume::{Journal, ResumeError, interrupt};
use crate::support::console::{Progress, clock};
use crate::support::{messages, numa};
use crate::usi_client::{DialogueLog, EngineError, EngineProcess};
use jiff::Timestamp;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A match, ready to play.
pub struct Tournament {
    /// Who plays.
    pub engines: Vec<EngineSpec>,
    /// For engines without limits of their own.
    pub limits: EngineLimits,
    /// What ends a game early.
    pub adjudication: Adjudication,
    /// The games to play.
    pub schedule: MatchSchedule,
    /// A sequential test, which ends a match of two engines as soon as it has a result.
    pub sprt: Option<Sprt>,
    /// Concurrent games.
    pub jobs: usize,
    /// The processors of each; none where engines are not bound.
    pub shares: Vec<Vec<usize>>,
    /// Whether to keep the lines of play that the engines report, for CSA records.
    pub keep_pv: bool,
    /// Records the dialogues with the engines.
    pub log: Option<DialogueLog>,
    /// No progress on standard error.
    pub quiet: bool,
}

impl Tournament {
    /// Of the engine with that index.
    pub(super) fn limits(&self, engine: usize) -> &EngineLimits {
        self.engines[engine].limits.as_ref().unwrap_or(&self.limits)
    }

    /// A warning if there are fewer openings than pairs of games. Without a clock an engine repeats its moves
    /// in the same position, and repeated games carry no information.
    pub fn repetition(&self) -> Option<String> {
        let timeless =
            |&(a, b): &(usize, usize)| ![a, b].into_iter().any(|engine| self.limits(engine).has_time());
        let (openings, pairs) = (self.schedule.different_openings(), self.schedule.games_each / 2);
        let repeats = openings < pairs && self.schedule.pairings.iter().any(timeless);
        repeats.then(|| messages::few_openings(openings, pairs))
    }

    /// Binds the calling thread, and so the engines that it starts, to the processors of one of the concurrent
    /// games.
    fn bind(&self, job: usize) {
        if let Some(processors) = self.shares.get(job) {
            numa::bind(processors);
        }
    }

    fn start(&self, engine: usize) -> Result<Started, TournamentError> {
        let spec = &self.engines[engine];
        let failed = |source| TournamentError::Engine { name: spec.name.clone(), source };
        start(spec, self.limits(engine), self.log.as_ref()).map_err(failed)
    }
}

/// Why a match cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum TournamentError {
    /// An engine cannot play.
    #[error("{name}: {source}")]
    Engine {
        /// Its name in the match.
        name: String,
        /// What is wrong.
        source: EngineError,
    },
    /// The games cannot be stored.
    #[error(transparent)]
    Journal(#[from] ResumeError),
}

/// How a match ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchEnd {
    /// By its schedule.
    AllPlayed,
    /// By its sequential test.
    Decided(Decision),
    /// By the user.
    Interrupted,
}

enum WorkerReport {
    Game(Box<GameLine>),
    /// An engine does not start.
    Broken(TournamentError),
}

/// Plays the remaining games of the schedule. `games` are those played before; new ones are added as they
/// end. Before the first game every engine is started once, so that an error in its options ends the match
/// and is not counted as a loss.
///
/// # Errors
/// When an engine cannot be started or refuses its options, or the journal cannot be written.
pub fn run(
    t: &Tournament,
    games: &mut Vec<GameLine>,
    mut journal: Option<Journal<GameLine>>,
) -> Result<(Standings, MatchEnd), TournamentError> {
    let mut standings = Standings::new(&t.schedule);
    let mut played = HashSet::new();
    games.retain(|g| g.game < t.schedule.len() && played.insert(g.game));
    games.iter().for_each(|g| standings.add(&t.schedule, g));
    let left = t.schedule.len() - played.len() as u64;
    let todo = (0..t.schedule.len()).filter(|g| !played.contains(g));
    let decision = |s: &Standings| t.sprt.map(|sprt| s.test(&sprt).1).filter(|d| *d != Decision::Continue);
    if let Some(d) = decision(&standings) {
        return Ok((standings, MatchEnd::Decided(d)));
    }
    let mut progress = Progress::new(t.quiet);
    let mut ready = HashMap::new();
    if left > 0 {
        // these engines are the first worker's
        t.bind(0);
        for engine in 0..t.engines.len() {
            let Started { process, remarks } = match t.start(engine) {
                Err(_) if interrupt::requests() > 0 => return Ok((standings, MatchEnd::Interrupted)),
                started => started?,
            };
            remarks.iter().for_each(|remark| progress.say(remark));
            ready.insert(engine, process);
        }
    }
    let before = standings.games;
    let jobs = (t.jobs as u64).clamp(1, left.max(1));
    let todo = Mutex::new(todo);
    let stop = AtomicBool::new(false);
    let started = Instant::now();
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        for job in 0..jobs as usize {
            let (sender, todo, stop) = (sender.clone(), &todo, &stop);
            // the first thread has the engines that run already
            let running = std::mem::take(&mut ready);
            scope.spawn(move || {
                t.bind(job);
                work(t, todo, stop, running, &sender);
            });
        }
        drop(sender);
        let mut ending = MatchEnd::AllPlayed;
        let result = loop {
            match receiver.recv_timeout(Duration::from_millis(200)) {
                Ok(WorkerReport::Game(line)) if ending == MatchEnd::AllPlayed => {
                    standings.add(&t.schedule, &line);
                    if line.reason.is_fault() {
                        progress.say(&describe(&line));
                    }
                    if let Some(j) = &mut journal
                        && let Err(e) = j.append(&line)
                    {
                        break Err(e.into());
                    }
                    games.push(*line);
                    if let Some(d) = decision(&standings) {
                        ending = MatchEnd::Decided(d);
                        stop.store(true, Relaxed);
                    }
                }
                Ok(WorkerReport::Game(_)) => {}
                Ok(WorkerReport::Broken(e)) => break Err(e),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Ok(()),
            }
            if interrupt::requests() > 0 && ending == MatchEnd::AllPlayed {
                ending = MatchEnd::Interrupted;
                stop.store(true, Relaxed);
            }
            progress.update(|| status(t, &standings, before, started));
        };
        stop.store(true, Relaxed);
        progress.say(&status(t, &standings, before, started));
        result?;
        if ending == MatchEnd::Interrupted && standings.games >= t.schedule.len() {
            ending = MatchEnd::AllPlayed;
        }
        Ok((standings, ending))
    })
}

/// The work of one thread: plays game after game and keeps its engines running.
fn work(
    t: &Tournament,
    todo: &Mutex<impl Iterator<Item = u64>>,
    stop: &AtomicBool,
    mut running: HashMap<usize, EngineProcess>,
    out: &Sender<WorkerReport>,
) {
    while !stop.load(Relaxed) {
        let Some(game) = todo.lock().unwrap_or_else(PoisonError::into_inner).next() else { break };
        let players = t.schedule.fixture(game).players();
        let mut seats = Vec::with_capacity(2);
        for engine in players {
            let process = running.remove(&engine);
            match process.map_or_else(|| t.start(engine).map(|started| started.process), Ok) {
                Ok(process) => seats.push(process),
                Err(_) if interrupt::requests() > 0 => return,
                Err(error) => {
                    stop.store(true, Relaxed);
                    let _ = out.send(WorkerReport::Broken(error));
                    return;
                }
            }
        }
        let limits = players.map(|engine| t.limits(engine));
        let opening = t.schedule.opening(game);
        for (process, color) in seats.iter().zip(["Black", "White"]) {
            process.remark(&format!("game {}, {color}", game + 1));
        }
        let (first, second) = seats.split_at_mut(1);
        let abandon = || stop.load(Relaxed) || interrupt::requests() > 0;
        let began = Timestamp::now();
        let Some(played) =
            play([&mut first[0], &mut second[0]], limits, opening, &t.adjudication, t.keep_pv, &abandon)
        else {
            break;
        };
        if !played.reason.is_fault() {
            running.extend(players.into_iter().zip(seats));
        }
        let [black, white] = players.map(|e| t.engines[e].name.clone());
        let line = GameLine {
            game,
            black,
            white,
            winner: played.winner,
            reason: played.reason,
            detail: played.detail,
            opening: opening.to_string(),
            plies: played.plies,
            start: Some(began),
            end: Some(Timestamp::now()),
        };
        if out.send(WorkerReport::Game(Box::new(line))).is_err() {
            break;
        }
    }
}

/// A line about a fault.
fn describe(line: &GameLine) -> String {
    let culprit = if line.winner == Winner::Black { &line.white } else { &line.black };
    let ply = line.plies.len() + 1;
    messages::fault(line.game + 1, culprit, messages::word(line.reason.name()), ply, &line.detail)
}

fn status(t: &Tournament, s: &Standings, before: u64, started: Instant) -> String {
    let elapsed = started.elapsed().as_secs_f64();
    let mut out = messages::games_of(s.games, t.schedule.len());
    if let [score] = &s.scores[..] {
        out += &format!("  +{} ={} -{}", score.wins, score.draws, score.losses);
        if let Some(e) = score.estimate() {
            out += &format!("  {e}  LOS {:.1} %", 100.0 * e.los);
        }
    }
    if let Some(sprt) = &t.sprt {
        let (low, high) = sprt.bounds();
        out += &format!("  LLR {:.2} ({low:.2}, {high:.2})", s.test(sprt).0);
    }
    if s.faults() > 0 {
        out += &format!("  {}", messages::faults(s.faults()));
    }
    let new = s.games - before;
    let eta = match new {
        0 => "?".into(),
        _ => clock(elapsed / new as f64 * t.schedule.len().saturating_sub(s.games) as f64),
    };
    out + &format!("  {}", messages::time_left(clock(elapsed), eta))
}
