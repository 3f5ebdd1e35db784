//! `toratsugumi tune`: the command line, the threads, the file.

use crate::engine::load_network;
use crate::interrupt::{self, Unfinished};
use crate::nnue::Network;
use crate::openings::Opening;
use crate::progress::{Progress, clock, parse_duration};
use crate::random::Rng;
use crate::search::{STACK, params};
use crate::tune::{Conduct, Opponents, Pair, Proposal, Spsa, Tuned, picture};
use crate::whole_file;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many points a path has at the end.
const POINTS: u64 = 200;
/// What was learnt is written this often.
const SAVE_EVERY: Duration = Duration::from_secs(20);

/// Tune the search's numbers by self-play (SPSA); needs a build with `--features tune`
///
/// Writes DIR/tune.json (all that the run knows; --resume goes on with it), DIR/params.txt (the present numbers, as search/params.rs
/// has them) and DIR/tune.svg (the way of each). A tuned set is worth something only when a match at longer games shows
/// it: put the numbers into search/params.rs, build, and play the two builds with `match`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Directory of the run
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Games of the whole run; two make a step
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(2..))]
    games: u64,
    /// Nodes a move: about as many as the games will have that the numbers are for
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Tune only the numbers whose names begin so (separated by commas) [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PREFIX")]
    only: Vec<String>,
    /// Share of a number's last perturbation by which one game moves it at the end
    #[arg(long, default_value_t = 0.002)]
    rate: f64,
    /// Games start from these lines (`startpos moves ...`, `sfen ...`) [default: 8 random moves]
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// A game is decided when both sides' scores agree on this (a pawn has 90)
    #[arg(long, default_value_t = 2000)]
    decided_score: i32,
    /// Draw games after so many plies
    #[arg(long, default_value_t = 320)]
    max_ply: u32,
    /// Other perturbations, other openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Games at once [default: one a CPU]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Directory of an nn.bin, instead of the embedded network
    #[arg(long, value_name = "DIR")]
    eval_dir: Option<PathBuf>,
    /// Divisor of the network's output
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(i32).range(1..=128))]
    fv_scale: i32,
    /// Go on with what an earlier run left in the directory. What it was told holds, but for the network and the
    /// openings: name the same again
    #[arg(long)]
    resume: bool,
    /// Stop after this time (90, 45s, 55m, 1h30m)
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    max_time: Option<Duration>,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// The contents of `tune.json`.
#[derive(Serialize, Deserialize)]
struct State {
    spsa: Spsa,
    conduct: Conduct,
    seconds: f64,
    /// Steps done, and the numbers then.
    path: Vec<(u64, Vec<f64>)>,
}

impl State {
    fn new(args: &Args) -> Result<State, String> {
        let chosen =
            |name: &str| args.only.is_empty() || args.only.iter().any(|o| name.starts_with(o.as_str()));
        if let Some(o) =
            args.only.iter().find(|o| !params::TABLE.iter().any(|p| p.name.starts_with(o.as_str())))
        {
            return Err(format!("no number's name begins with `{o}`"));
        }
        let numbers: Vec<_> = params::TABLE.iter().filter(|p| chosen(p.name)).map(Tuned::new).collect();
        let path = vec![(0, numbers.iter().map(|n| n.value).collect())];
        let spsa = Spsa { numbers, done: 0, total: args.games / 2, rate: args.rate, seed: args.seed };
        let conduct = Conduct {
            nodes: args.nodes,
            fv_scale: args.fv_scale,
            decided: args.decided_score,
            max_ply: args.max_ply,
        };
        Ok(State { spsa, conduct, seconds: 0.0, path })
    }

    fn read(path: &Path) -> Result<State, Box<dyn Error>> {
        let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let text = std::fs::read(path).map_err(|e| at(&e))?;
        let state: State = serde_json::from_slice(&text).map_err(|e| at(&e))?;
        let known = |n: &Tuned| params::TABLE.iter().any(|p| p.name == n.name);
        match state.spsa.numbers.iter().find(|n| !known(n)) {
            Some(n) => Err(at(&format!("this build has no number `{}`", n.name)).into()),
            None => Ok(state),
        }
    }

    /// Writes all files of the run.
    fn write(&self, dir: &Path) -> std::io::Result<()> {
        let mut numbers = String::new();
        for n in &self.spsa.numbers {
            numbers += &format!("{} = {} in {}..={};\n", n.name, n.value.round(), n.min, n.max);
        }
        let files = [
            ("params.txt", numbers),
            ("tune.svg", picture::svg(&self.spsa, &self.path)),
            ("tune.json", serde_json::to_string_pretty(self)?),
        ];
        for (name, text) in files {
            whole_file::write(&dir.join(name), text)?;
        }
        Ok(())
    }

    fn learn(&mut self, proposal: &Proposal, lead: i32) {
        self.spsa.learn(proposal, f64::from(lead));
        let every = (self.spsa.total / POINTS).max(1);
        if self.spsa.done.is_multiple_of(every) || self.spsa.done == self.spsa.total {
            self.path.push((self.spsa.done, self.spsa.numbers.iter().map(|n| n.value).collect()));
        }
    }

    fn status(&self, before: u64, seconds: f64) -> String {
        let done = self.spsa.done - before;
        let rate = done as f64 / seconds.max(1e-3);
        let left =
            if done > 0 { clock((self.spsa.total - self.spsa.done) as f64 / rate) } else { "?".into() };
        let mut far: Vec<_> = self.spsa.numbers.iter().collect();
        far.sort_by(|a, b| b.moved().abs().total_cmp(&a.moved().abs()));
        let far: Vec<_> =
            far.iter().take(4).map(|n| format!("{} {}→{:.0}", n.name, n.start, n.value)).collect();
        format!(
            "{}/{} games  {:.1} a second  {} left {left}  {}",
            2 * self.spsa.done,
            2 * self.spsa.total,
            2.0 * rate,
            clock(seconds),
            far.join(", ")
        )
    }
}

/// The whole table with the numbers of one corner put in.
fn whole(spsa: &Spsa, values: &[i32]) -> Vec<i32> {
    let value = |p: &params::Param| {
        spsa.numbers.iter().position(|n| n.name == p.name).map_or(p.default, |i| values[i])
    };
    params::TABLE.iter().map(value).collect()
}

/// Runs the command; [`Unfinished`] when it was stopped before the end.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    if !params::TUNABLE {
        return Err(
            "the numbers of this build are constants; `cargo build --release --features tune` makes one that can tune".into()
        );
    }
    if !(args.rate > 0.0 && args.rate.is_finite()) {
        return Err("--rate must be above 0".into());
    }
    interrupt::watch();
    let network = load_network(args.eval_dir.as_deref(), &mut |line| eprintln!("{line}"))?;
    let openings = args.openings.as_deref().map(Opening::read_file).transpose()?.unwrap_or_default();
    let file = args.out.join("tune.json");
    let mut state = match (file.exists(), args.resume) {
        (true, true) => State::read(&file)?,
        (true, false) => {
            return Err(format!(
                "{} exists: --resume goes on with it; remove it to begin anew",
                file.display()
            )
            .into());
        }
        (false, _) => State::new(&args)?,
    };
    std::fs::create_dir_all(&args.out).map_err(|e| format!("{}: {e}", args.out.display()))?;
    tune(&args, &Arc::new(network), &openings, &mut state)?;
    if state.spsa.done < state.spsa.total {
        return Err(Unfinished.into());
    }
    Ok(())
}

/// What the threads share.
struct Desk<'a> {
    spsa: Mutex<(Spsa, u64)>,
    openings: &'a [Opening],
    stop: AtomicBool,
}

impl Desk<'_> {
    /// The next step's corners, as whole tables too.
    fn next(&self) -> Option<(Proposal, [Vec<i32>; 2])> {
        let mut desk = self.spsa.lock().unwrap_or_else(PoisonError::into_inner);
        let (spsa, next) = &mut *desk;
        if *next >= spsa.total {
            return None;
        }
        let p = spsa.propose(*next);
        *next += 1;
        let numbers = [whole(spsa, &p.plus), whole(spsa, &p.minus)];
        Some((p, numbers))
    }

    fn opening(&self, seed: u64, step: u64) -> Opening {
        // not the dice of the perturbation, else some openings would always go with some corners
        let mut rng = Rng::for_stream(seed ^ 0x0fe2_1965, step);
        match self.openings.get(rng.below(self.openings.len())) {
            Some(o) => o.clone(),
            None => Opening::random(&mut rng, 8),
        }
    }
}

fn tune(
    args: &Args,
    network: &Arc<Network>,
    openings: &[Opening],
    state: &mut State,
) -> Result<(), Box<dyn Error>> {
    let (started, before, seconds_before) = (Instant::now(), state.spsa.done, state.seconds);
    let cpus = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = args.threads.map_or(cpus, usize::from);
    let desk = Desk {
        spsa: Mutex::new((state.spsa.clone(), state.spsa.done)),
        openings,
        stop: AtomicBool::new(false),
    };
    let players = (0..threads)
        .map(|_| Opponents::new(network, state.conduct.clone()))
        .collect::<Result<Vec<_>, _>>()?;
    let mut progress = Progress::new(args.quiet);
    let save = |state: &mut State| {
        state.seconds = seconds_before + started.elapsed().as_secs_f64();
        state.write(&args.out).map_err(|e| format!("{}: {e}", args.out.display()))
    };
    save(state)?;
    let seed = state.spsa.seed;
    let result = std::thread::scope(|scope| -> Result<(), String> {
        let (sender, receiver) = channel();
        let mut failed = None;
        for (i, mut player) in players.into_iter().enumerate() {
            let (sender, desk) = (sender.clone(), &desk);
            let work = move || {
                while let Some((proposal, numbers)) = desk.next() {
                    let opening = desk.opening(seed, proposal.step());
                    let pair = Pair { opening: &opening, numbers: [&numbers[0], &numbers[1]] };
                    let Some(lead) = player.play(&pair, &desk.stop) else { break };
                    if sender.send((proposal, lead)).is_err() {
                        break;
                    }
                }
            };
            let thread = std::thread::Builder::new().name(format!("tune-{i}")).stack_size(STACK);
            if let Err(e) = thread.spawn_scoped(scope, work) {
                failed = Some(format!("no thread: {e}"));
                desk.stop.store(true, Relaxed);
                break;
            }
        }
        drop(sender);
        let mut saved = Instant::now();
        loop {
            match receiver.recv_timeout(Duration::from_millis(200)) {
                Ok((proposal, lead)) => {
                    state.learn(&proposal, lead);
                    desk.spsa.lock().unwrap_or_else(PoisonError::into_inner).0.clone_from(&state.spsa);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if interrupt::requests() > 0 || args.max_time.is_some_and(|t| started.elapsed() >= t) {
                desk.stop.store(true, Relaxed);
            }
            if saved.elapsed() >= SAVE_EVERY {
                saved = Instant::now();
                if let Err(e) = save(state) {
                    failed = Some(e);
                    desk.stop.store(true, Relaxed);
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
