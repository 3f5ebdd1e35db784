//! A run of the tuner on many threads: [`run`].

use super::pair::{Opponents, Pair};
use super::spsa::{Proposal, Spsa};
use super::state::TuningState;
use crate::nnue::Network;
use crate::record::openings::Opening;
use crate::resume::interrupt;
use crate::search::{STACK, params};
use crate::support::console::Progress;
use crate::support::random::Rng;
use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Interval between two saves.
const SAVE_EVERY: Duration = Duration::from_secs(20);

/// Options of a run that are not part of the [`TuningState`].
pub struct TuneJob<'a> {
    /// Plays both sides.
    pub network: Arc<Network>,
    /// Where games start; random moves if there are none.
    pub openings: &'a [Opening],
    /// Concurrent games.
    pub threads: usize,
    /// Stop after this time, with all saved.
    pub max_time: Option<Duration>,
    /// No progress lines.
    pub quiet: bool,
}

/// The whole table as at the `beginning`, with the numbers of one corner.
fn whole(spsa: &Spsa, beginning: &[i32], values: &[i32]) -> Vec<i32> {
    let tuned = |p: &params::Param| spsa.numbers.iter().position(|n| n.name == p.name);
    let all = params::TABLE.iter().zip(beginning);
    all.map(|(p, &other)| tuned(p).map_or(other, |i| values[i])).collect()
}

/// State shared by the threads.
struct Control<'a> {
    spsa: Mutex<(Spsa, u64)>,
    beginning: Vec<i32>,
    openings: &'a [Opening],
    stop: AtomicBool,
}

impl Control<'_> {
    /// The next step's corners, also as whole tables.
    fn next(&self) -> Option<(Proposal, [Vec<i32>; 2])> {
        let mut state = self.spsa.lock().unwrap_or_else(PoisonError::into_inner);
        let (spsa, next) = &mut *state;
        if *next >= spsa.total {
            return None;
        }
        let p = spsa.propose(*next);
        *next += 1;
        let numbers = [&p.plus, &p.minus].map(|corner| whole(spsa, &self.beginning, corner));
        Some((p, numbers))
    }

    fn opening(&self, seed: u64, step: u64) -> Opening {
        // a random stream of its own, so that openings are independent of the perturbations
        let mut rng = Rng::for_stream(seed ^ 0x0fe2_1965, step);
        match self.openings.get(rng.below(self.openings.len())) {
            Some(o) => o.clone(),
            None => Opening::random(&mut rng, 8),
        }
    }
}

/// Plays and updates the numbers until all games are played or a stop is requested. Both end with everything
/// saved.
pub fn run(job: &TuneJob, state: &mut TuningState) -> Result<(), Box<dyn Error>> {
    let (started, before, seconds_before) = (Instant::now(), state.spsa.done, state.seconds);
    let control = Control {
        spsa: Mutex::new((state.spsa.clone(), state.spsa.done)),
        beginning: state.beginning(),
        openings: job.openings,
        stop: AtomicBool::new(false),
    };
    let players = (0..job.threads)
        .map(|_| Opponents::new(&job.network, state.games.clone()))
        .collect::<Result<Vec<_>, _>>()?;
    let mut progress = Progress::new(job.quiet);
    let save = |state: &mut TuningState| {
        state.seconds = seconds_before + started.elapsed().as_secs_f64();
        state.write()
    };
    save(state)?;
    let seed = state.spsa.seed;
    let result = std::thread::scope(|scope| -> Result<(), String> {
        let (sender, receiver) = channel();
        let mut failed = None;
        for (i, mut player) in players.into_iter().enumerate() {
            let (sender, control) = (sender.clone(), &control);
            let work = move || {
                while let Some((proposal, numbers)) = control.next() {
                    let opening = control.opening(seed, proposal.step);
                    let pair = Pair { opening: &opening, numbers: [&numbers[0], &numbers[1]] };
                    let Some(lead) = player.play(&pair, &control.stop) else { break };
                    if sender.send((proposal, lead)).is_err() {
                        break;
                    }
                }
            };
            let thread = std::thread::Builder::new().name(format!("tune-{i}")).stack_size(STACK);
            if let Err(e) = thread.spawn_scoped(scope, work) {
                failed = Some(format!("no thread: {e}"));
                control.stop.store(true, Relaxed);
                break;
            }
        }
        drop(sender);
        let mut saved = Instant::now();
        loop {
            match receiver.recv_timeout(Duration::from_millis(200)) {
                Ok((proposal, lead)) => {
                    state.learn(&proposal, lead);
                    control.spsa.lock().unwrap_or_else(PoisonError::into_inner).0.clone_from(&state.spsa);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if interrupt::requests() > 0 || job.max_time.is_some_and(|t| started.elapsed() >= t) {
                control.stop.store(true, Relaxed);
            }
            if saved.elapsed() >= SAVE_EVERY {
                saved = Instant::now();
                if let Err(e) = save(state) {
                    failed = Some(e.to_string());
                    control.stop.store(true, Relaxed);
                }
            }
            progress.update(|| state.status(before, started.elapsed().as_secs_f64()));
        }
        failed.map_or(Ok(()), Err)
    });
    progress.say(&state.status(before, started.elapsed().as_secs_f64()));
    save(state)?;
    Ok(result?)
}
