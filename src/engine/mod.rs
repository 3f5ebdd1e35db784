//! The engine as its clients (USI, CSA, analysis) use it.
//!
//! [`Engine`] owns the options ([`Options`], one table), the network, the thread pool and the game ([`Game`]). It
//! never blocks on a search: it runs on its own threads and reports to an [`Observer`]. Nothing here prints.

mod diagram;
mod game;
mod mate;
mod network;
mod options;
mod own_book;
mod ponder;
mod pool;
mod score;
mod skill;
mod text;

pub use crate::mate::{
    Answer as MateAnswer, Limits as MateLimits, Outcome as MateOutcome, Progress as MateProgress, Shorten,
    Solver as MateSolver, no_king_to_mate,
};
pub use crate::search::{BookLine, Bound, Info, LastLines, Limits, Observer, SearchResult};
pub use diagram::Diagram;
pub use game::{Game, GameError, shorten};
pub use mate::MateObserver;
pub use network::{LoadError, load_network};
pub use options::{Accepted, EMPTY, INTERNAL, Kind, NO_BOOK, Opt, OptionError, Options, Spec, table};
pub use pool::affordable_searchers;
pub use score::{UsiScore, centipawns, win_rate};
pub use text::decode_text;

use crate::nnue::arch::FV_SCALE;
use crate::nnue::{self, Network, NetworkError};
use crate::position::Position;
use crate::support::memory::OutOfMemory;
use crate::types::{Move, Value};
use mate::MateSearch;
use network::read_network;
use own_book::{BookHit, OwnBook};
use ponder::PonderRelay;
use pool::{SizedPool, Sizes, affordable_table};
use skill::{Choice, SkillRelay};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why the engine cannot think.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum EngineError {
    #[error("no network: the one inside the binary cannot be read: {0}")]
    NoNetwork(#[from] NetworkError),
    #[error("no memory to search with: {0}")]
    NoMemory(#[from] OutOfMemory),
}

/// A ponder search of the position before the expected move, and the search that is to follow it.
struct Pondering {
    relay: Arc<PonderRelay>,
    /// After the expected move.
    position: Position,
    limits: Limits,
    observer: Arc<dyn Observer>,
}

/// An answer from the book.
struct BookAnswer {
    result: SearchResult,
    /// The observer, until the move is released.
    held: Mutex<Option<Arc<dyn Observer>>>,
}

impl BookAnswer {
    /// Reports the best move, unless that was done before.
    fn release(&self) {
        let observer = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(observer) = observer {
            observer.best_move(self.result.best, self.result.ponder);
        }
    }

    fn is_held(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// The network in use and the `EvalDir` it was asked for by (which may be broken; then it is the embedded one).
struct Loaded {
    network: Arc<Network>,
    eval_dir: String,
    /// The embedded network plays because that one is missing or broken.
    fell_back: bool,
}

/// Options, network, threads and game. See the module's head.
#[derive(Default)]
pub struct Engine {
    options: Options,
    game: Game,
    network: Option<Loaded>,
    pool: Option<SizedPool>,
    pondering: Option<Pondering>,
    book: OwnBook,
    /// The chooser of the last search's move, if that search was not at full strength.
    skill: Option<Arc<SkillRelay>>,
    /// The last answer, if it came from the book.
    answer: Option<BookAnswer>,
    mate: MateSearch,
    /// Whether the tables need clearing: after a search, and when they are new. Clearing new tables makes the system allocate
    /// their pages, which would cost the first search half a second.
    used: bool,
}

impl Engine {
    /// An engine with default options at the initial position. Loads nothing.
    pub fn new() -> Engine {
        Engine::default()
    }

    /// The options as they are set.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Sets an option by its USI name. Takes effect with the next [`prepare`](Self::prepare) or [`go`](Self::go); a
    /// running search keeps what it started with. The text returned, if any, is a remark for the user.
    pub fn set_option(&mut self, name: &str, value: &str) -> Result<Option<String>, OptionError> {
        match self.options.set(name, value)? {
            Accepted::Set(_) => Ok(None),
            Accepted::Ignored(why) => Ok(Some(why)),
        }
    }

    /// Makes ready for a game: reads the option files (`engine_options.txt` here, then `eval_options.txt` in
    /// `EvalDir`), loads the network, sizes and clears the tables. Remarks go to `say`. A missing or broken network
    /// file is one of them; the embedded network then plays.
    pub fn prepare(&mut self, say: &mut dyn FnMut(&str)) -> Result<(), EngineError> {
        self.finish();
        self.read_options(Path::new("engine_options.txt"), say);
        if let Some(path) = self.eval_dir() {
            let dir = if path.is_file() { path.parent().unwrap_or(&path) } else { &path };
            self.read_options(&dir.join("eval_options.txt"), say);
        }
        // what was missing may be there now
        self.network = self.network.take().filter(|loaded| !loaded.fell_back);
        self.apply(say)?;
        self.clear();
        self.book.prepare(&self.options, say);
        Ok(())
    }

    fn read_options(&mut self, path: &Path, say: &mut dyn FnMut(&str)) {
        let Ok(bytes) = std::fs::read(path) else { return };
        say(&format!("options from {}", path.display()));
        for (number, line) in decode_text(&bytes).trim_start_matches('\u{feff}').lines().enumerate() {
            let Some((name, value)) = options::parse_file_line(line) else { continue };
            match self.options.fix(&name, &value) {
                Ok(Accepted::Set(_)) => {}
                Ok(Accepted::Ignored(why)) => say(&why),
                Err(e) => say(&format!("{}, line {}: {e}", path.display(), number + 1)),
            }
        }
    }

    /// The directory (or file) of `EvalDir`; none for the embedded network.
    fn eval_dir(&self) -> Option<PathBuf> {
        let dir = self.options.text(Opt::EvalDir);
        (!dir.is_empty() && dir != INTERNAL).then(|| PathBuf::from(dir))
    }

    /// Brings network, threads and tables in line with the options.
    fn apply(&mut self, say: &mut dyn FnMut(&str)) -> Result<(), EngineError> {
        let wanted = self.options.text(Opt::EvalDir);
        let changed = self.network.as_ref().is_none_or(|n| n.eval_dir != wanted);
        if changed {
            let network = match self.eval_dir() {
                None => None,
                Some(dir) => read_network(&dir, say),
            };
            let fell_back = network.is_none() && self.eval_dir().is_some();
            let network = match network {
                Some(network) => network,
                None => Network::embedded()?,
            };
            say(&format!("network {}, kernel {}", network.name(), nnue::kernel_name()));
            let (said, used) = (network.fv_scale(), self.fv_scale(&network));
            if said != used && said != FV_SCALE {
                say(&format!("FV_SCALE is {used}, although the network's file says {said}"));
            } else if said != FV_SCALE {
                say(&format!("FV_SCALE is {said}, as the network's file says"));
            }
            self.network =
                Some(Loaded { network: Arc::new(network), eval_dir: wanted.to_string(), fell_back });
        }
        let Some(loaded) = &self.network else { return Ok(()) };
        let network = loaded.network.clone();
        let sizes = Sizes {
            threads: self.options.spin(Opt::Threads) as usize,
            hash_mb: self.options.spin(Opt::UsiHash) as usize,
        };
        let policy = self.options.numa_policy();
        match self.pool.take() {
            Some(mut pool) if pool.was_asked_for(sizes, policy) => {
                if changed {
                    pool.threads.set_network(network);
                }
                self.pool = Some(pool);
            }
            other => {
                self.used = true;
                let pool = match other {
                    Some(pool) => pool.resize(network, sizes, policy.clone(), say)?,
                    None => SizedPool::new(network, sizes, policy.clone(), say)?,
                };
                say(&pool.threads.description());
                self.pool = Some(pool);
            }
        }
        Ok(())
    }

    fn clear(&mut self) {
        if let Some(pool) = self.pool.as_mut().filter(|_| self.used) {
            pool.threads.clear();
            self.used = false;
        }
    }

    /// Clears the tables. Stops a running search.
    pub fn forget(&mut self) {
        self.finish();
        self.clear();
    }

    /// The current position.
    pub fn position(&self) -> &Position {
        self.game.position()
    }

    /// The game that led to it.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Starts a new game from a position, which keeps its own history.
    pub fn set_position(&mut self, position: Position) {
        self.game.set(position);
    }

    /// Takes over a game in USI terms; see [`Game::update`].
    pub fn set_game<'a>(
        &mut self,
        sfen: Option<&str>,
        moves: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), GameError> {
        self.game.update(sfen, moves)
    }

    /// Turns the board; see [`Game::flip`].
    pub fn flip(&mut self) -> Result<(), GameError> {
        self.game.flip()
    }

    /// The network, loaded now if need be.
    pub fn network(&mut self, say: &mut dyn FnMut(&str)) -> Result<Arc<Network>, EngineError> {
        if !self.is_searching() {
            self.apply(say)?;
        }
        match &self.network {
            Some(loaded) => Ok(loaded.network.clone()),
            None => Ok(Arc::new(Network::embedded()?)),
        }
    }

    /// The divisor of the network's output: the user's, or else that of the network's file.
    fn fv_scale(&self, network: &Network) -> i32 {
        self.options.given(Opt::FvScale).map_or(network.fv_scale(), |scale| scale as i32)
    }

    /// The static evaluation of the position, from the side to move.
    pub fn evaluate(&mut self, say: &mut dyn FnMut(&str)) -> Result<Value, EngineError> {
        let network = self.network(say)?;
        Ok(nnue::evaluate_from_scratch(&network, self.position()) / self.fv_scale(&network))
    }

    /// Starts a search of the current position and returns. The observer's `best_move` is called once, at its end. A
    /// search that still runs is stopped first (and reports its best move).
    pub fn go(
        &mut self,
        mut limits: Limits,
        observer: Arc<dyn Observer>,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), EngineError> {
        self.finish();
        self.answer = None;
        let ponders_before = limits.ponder && self.options.check(Opt::StochasticPonder);
        let position = self.game.position().clone();
        if !ponders_before && self.answer_from_book(&position, &limits, &observer) {
            return Ok(());
        }
        self.mate.release();
        self.apply(say)?;
        let default = |opt| Some(self.options.spin(opt)).filter(|n| *n > 0);
        limits.depth = limits.depth.or(default(Opt::DepthLimit).map(|n| n as i32));
        limits.nodes = limits.nodes.or(default(Opt::NodesLimit).map(|n| n as u64));
        let before = if ponders_before { self.game.before_last() } else { None };
        match before {
            None => self.start(&position, limits, observer, true),
            Some((before, expected)) => {
                let any = position.legal_moves(false).first().map_or(Move::RESIGN, |m| m.mv);
                let relay = Arc::new(PonderRelay::new(observer.clone(), expected, any));
                let pondered = Limits { search_moves: Vec::new(), ..limits.clone() };
                self.pondering = Some(Pondering { relay: relay.clone(), position, limits, observer });
                self.start(&before, pondered, relay, false);
            }
        }
        Ok(())
    }

    /// Answers from the book, where it has the position and the search is for a move to play: not in analysis.
    fn answer_from_book(
        &mut self,
        position: &Position,
        limits: &Limits,
        observer: &Arc<dyn Observer>,
    ) -> bool {
        let analysis = limits.infinite
            || limits.mate.is_some()
            || self.options.spin(Opt::MultiPv) > 1
            || self.options.check(Opt::ConsiderationMode);
        if analysis || position.declaration_win(self.options.search().entering_king_rule).is_some() {
            return false;
        }
        let mut say = |text: &str| observer.message(text);
        let hit = self.book.hit(position, &limits.search_moves, &self.options, &mut say);
        let Some(BookHit { best, ponder, lines }) = hit else { return false };
        lines.iter().for_each(|line| observer.book(line));
        let pv = lines.into_iter().next().map(|line| line.pv).unwrap_or_default();
        let result = SearchResult { best, ponder, pv, ..SearchResult::default() };
        let answer = BookAnswer { result, held: Mutex::new(Some(observer.clone())) };
        if !limits.ponder {
            answer.release();
        }
        self.answer = Some(answer);
        true
    }

    /// Starts a mate search of the current position and returns. `limits` holds the time, the moves to search and the
    /// nodes. Its table takes the memory that `USI_Hash` allows instead of the ordinary search's, which gets it back with
    /// the next [`go`](Self::go).
    pub fn go_mate(
        &mut self,
        limits: &Limits,
        observer: Arc<dyn MateObserver>,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), EngineError> {
        /// For the answer to reach the GUI in time.
        const RESERVE_MS: u64 = 30;
        self.finish();
        self.answer = None;
        self.pool = None;
        let position = self.game.position().clone();
        let wanted = &limits.search_moves;
        let mut without: Vec<Move> = position.legal_moves(true).iter().map(|m| m.mv).collect();
        without.retain(|m| !wanted.is_empty() && !wanted.contains(m));
        let time = limits.mate.filter(|ms| *ms != u64::MAX);
        let all_nodes = self.options.spin(Opt::NodesLimit) as u64;
        let order = mate::Order {
            position,
            without,
            limits: crate::mate::Limits {
                time: time.map(|ms| Duration::from_millis(ms.saturating_sub(RESERVE_MS).max(1))),
                nodes: limits.nodes.or((all_nodes > 0).then_some(all_nodes)),
                shorten: self.options.shorten(),
            },
            megabytes: affordable_table(self.options.spin(Opt::UsiHash) as usize, say),
        };
        Ok(self.mate.start(order, observer)?)
    }

    /// Starts a search. Where it is `for_play` it obeys `SkillLevel`, unless it is analysis without end.
    fn start(
        &mut self,
        position: &Position,
        mut limits: Limits,
        mut observer: Arc<dyn Observer>,
        for_play: bool,
    ) {
        let mut options = self.options.search();
        if let Some(loaded) = &self.network {
            options.fv_scale = self.fv_scale(&loaded.network);
        }
        self.skill = None;
        if let Some(skill) = self.options.skill().filter(|_| for_play && !limits.infinite) {
            let relay = Arc::new(SkillRelay::new(observer, skill, position.clone(), options.multi_pv));
            skill.limit(&mut limits);
            options.multi_pv = options.multi_pv.max(skill.lines());
            self.skill = Some(relay.clone());
            observer = relay;
        }
        if let Some(pool) = &mut self.pool {
            self.used = true;
            pool.threads.go(position, limits, &options, observer);
        }
    }

    /// Asks the search to end; its best move follows.
    pub fn stop(&self) {
        if let Some(answer) = &self.answer {
            answer.release();
        }
        self.mate.stop();
        if let Some(pool) = &self.pool {
            pool.threads.stop();
        }
    }

    /// The opponent played the expected move: our clock runs from now. The times of `clock`, if there are any, replace
    /// those of `go`. Without a search it means nothing.
    pub fn ponderhit(&mut self, clock: Option<Limits>) {
        if let Some(answer) = &self.answer {
            return answer.release();
        }
        if !self.is_searching() {
            return;
        }
        match self.pondering.take() {
            None => {
                if let Some(pool) = &self.pool {
                    pool.threads.ponderhit(clock);
                }
            }
            Some(Pondering { relay, position, mut limits, observer }) => {
                relay.mute();
                self.finish();
                (limits.ponder, limits.start) = (false, Instant::now());
                if let Some(clock) = clock {
                    limits.set_times(&clock);
                }
                if !self.answer_from_book(&position, &limits, &observer) {
                    self.start(&position, limits, observer, true);
                }
            }
        }
    }

    /// Waits for the end of the search, if one runs; the result of the last one.
    pub fn wait(&self) -> SearchResult {
        if let Some(answer) = &self.answer {
            return answer.result.clone();
        }
        let result = self.pool.as_ref().map(|p| p.threads.wait()).unwrap_or_default();
        match self.skill.as_ref().and_then(|relay| relay.choice()) {
            Some(Choice { best, ponder, line }) => {
                SearchResult { best, ponder, score: line.score, pv: line.pv, ..result }
            }
            None => result,
        }
    }

    /// Whether a search runs.
    pub fn is_searching(&self) -> bool {
        let held = self.answer.as_ref().is_some_and(BookAnswer::is_held);
        held || self.mate.is_searching() || self.pool.as_ref().is_some_and(|p| p.threads.is_searching())
    }

    /// Stops the search, if one runs, and waits for its end.
    pub fn finish(&mut self) {
        if self.is_searching() {
            self.stop();
        }
        self.wait();
        self.mate.finish();
        self.pondering = None;
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.finish();
    }
}
