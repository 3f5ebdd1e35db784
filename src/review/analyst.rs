//! Searches the positions of a game, and those on which a verdict depends again.
//!
//! Every search runs on one thread, in jobs of positions in a row that begin with empty tables. So at fixed nodes or depth
//! the readings depend on the game alone: neither on the number of threads nor on what they did before.

use super::judge::{Class, judge};
use super::mates::{Mates, answered, refuted};
use super::reading::{DECLARATION, PvLine, Reading, Readings};
use crate::engine::{Bound, Info, LastLines, Limits, Observer, affordable_searchers, win_rate};
use crate::nnue::Network;
use crate::position::{GameRepetition, Position};
use crate::record::{Record, Special};
use crate::search::{SearchOptions, Searcher, Searchers};
use crate::support::memory::OutOfMemory;
use crate::types::{Move, VALUE_MATE, VALUE_SUPERIOR, VALUE_ZERO, Value, is_decisive, is_loss, is_win};
use serde::{Deserialize, Serialize};
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, PoisonError};

/// The most positions of a job. They are searched from the last to the first, so that what follows a position is in the
/// table when it is searched.
const JOB: usize = 12;

/// How long a position is searched, on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Nodes of a position.
    Nodes(u64),
    /// Plies.
    Depth(i32),
    /// Milliseconds.
    Movetime(u64),
}

/// Of the nodes or the time of a position, the share of its first search.
const FIRST: f64 = 0.4;
/// What later searches may take, as a share of the nodes or the time of all positions.
const LATER: f64 = 1.0;
/// The most nodes or time of a later search, as a multiple of a position's.
const MOST: f64 = 8.0;
/// The plies by which searches to a depth are deeper when they are repeated.
const DEEPER: i32 = 3;

impl Effort {
    /// The limits of a search with `times` the nodes or the time. Of `threads` threads that search side by side, each
    /// has the time of all.
    fn limits(self, times: f64, threads: usize) -> Limits {
        let part = |whole: u64| ((whole as f64 * times) as u64).max(1);
        match self {
            Effort::Nodes(nodes) => Limits::nodes(part(nodes)),
            Effort::Depth(depth) => Limits::depth(if times > FIRST { depth + DEEPER } else { depth }),
            Effort::Movetime(ms) => Limits::movetime(part(ms * threads as u64)),
        }
    }
}

/// What a reading depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// How long each position is searched.
    pub effort: Effort,
    /// Lines of each position.
    pub multipv: u16,
    /// Positions that are searched at a time.
    pub threads: u16,
    /// MiB of each thread's transposition table.
    pub hash_mb: u32,
    /// Positions that the mate solver may visit for a question, beside the search; 0 leaves it out.
    #[serde(default)]
    pub mate_nodes: u64,
    /// Directory of an nn.bin; the embedded network without.
    pub eval_dir: Option<PathBuf>,
    /// SHA-256 of the network, whatever its path.
    #[serde(default)]
    pub network: String,
}

/// Why a game cannot be analysed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum AnalystError {
    #[error("no memory or threads to search with: {0}")]
    Searchers(#[from] io::Error),
    #[error("no memory for the mate solver: {0}")]
    Mates(#[from] OutOfMemory),
}

/// Reads games.
pub struct Analyst {
    searchers: Searchers,
    settings: Settings,
}

/// The lines of a search, and how the score of its best line went.
#[derive(Default)]
struct Course {
    lines: LastLines,
    scores: Mutex<Vec<Value>>,
}

impl Observer for Course {
    fn info(&self, info: &Info) {
        self.lines.info(info);
        if info.multipv == 1 && matches!(info.bound, Bound::Exact | Bound::None) {
            self.scores.lock().unwrap_or_else(PoisonError::into_inner).push(info.score);
        }
    }
}

/// The iterations whose scores are compared with the last one's.
const COMPARED: usize = 3;

/// The standard error of a win rate: its difference from that of a search of ten times the nodes. It is smaller with more
/// nodes and in decided positions, and greater when the score still moves from one iteration to the next.
///
/// Its form was measured on 179 positions around bad moves of six games, each searched twice with 50,000 to 800,000
/// nodes. Its size was measured on twenty games with 100,000 and 1,000,000 nodes a position. Two searches of equal nodes
/// differ less, because both miss the same.
fn standard_error(scores: &[Value], last: Value, nodes: u64) -> f64 {
    if is_decisive(last) {
        return 0.0;
    }
    let rate = win_rate(last);
    let grain = 0.0225 * 4.0 * rate * (1.0 - rate) * (400_000.0 / nodes.max(1) as f64).powf(0.3);
    let before = &scores[..scores.len().saturating_sub(1)];
    let before = &before[before.len().saturating_sub(COMPARED)..];
    let squares: f64 = before.iter().map(|&score| (win_rate(score) - rate).powi(2)).sum();
    let spread = (squares / before.len().max(1) as f64).sqrt();
    rounded(grain.hypot(1.25 * spread).min(0.5))
}

/// An error as it is stored: a few digits, which JSON gives back exactly.
fn rounded(error: f64) -> f64 {
    (error * 1e4).round() / 1e4
}

/// The reading of a position in which the game has ended.
fn over(value: Value) -> Reading {
    Reading::certain(PvLine { value, depth: 0, seldepth: 0, nodes: 0, pv: Vec::new() })
}

/// What the last move decided by repeating a position, as the rules or the record say: the value for the side to move. Draws
/// by agreement or by the number of moves are no move's doing, so that the position is searched.
fn repeated(position: &Position, record: &Record) -> Option<Value> {
    match position.game_repetition() {
        Some(GameRepetition::Draw) => Some(VALUE_ZERO),
        Some(GameRepetition::PerpetualCheck { loser }) if loser == position.side_to_move() => {
            Some(-VALUE_SUPERIOR)
        }
        Some(GameRepetition::PerpetualCheck { .. }) => Some(VALUE_SUPERIOR),
        None => record.end.as_ref().filter(|end| end.special == Special::Repetition).map(|_| VALUE_ZERO),
    }
}

/// A move is searched again if its loss plus this number of margins would be an inaccuracy.
const DOUBT: f64 = 0.42;

/// What a search that was repeated says differently goes into its error by this share.
const MOVED: f64 = 0.75;

/// So many moves of the engine that run into a mate are refuted before the last is taken as it is.
const REFUTED: usize = 4;

/// A game with its positions, one more than it has moves.
struct Game<'a> {
    record: &'a Record,
    positions: Vec<Position>,
}

/// What a job reports while it runs: that one search more is done, or its readings with the place of the first.
type Told = Option<(usize, Vec<Reading>)>;

/// The progress of a reading.
pub struct State<'a> {
    /// What has been read.
    pub readings: &'a Readings,
    /// The part of the work that is done, 0 to 1.
    pub done: f64,
    /// Whether the readings have changed.
    pub changed: bool,
}

impl Analyst {
    /// An analyst with these settings and their network. Fewer threads are used where memory is short.
    ///
    /// # Errors
    /// No memory, or no threads.
    pub fn new(settings: Settings, network: Arc<Network>) -> Result<Analyst, AnalystError> {
        let options = SearchOptions {
            fv_scale: network.fv_scale(),
            multi_pv: settings.multipv.into(),
            pv_interval: 0,
            ..SearchOptions::default()
        };
        let hash = settings.hash_mb as usize;
        let threads = affordable_searchers(settings.threads.into(), hash);
        let searchers = Searchers::new(&network, hash, &options, threads)?;
        Ok(Analyst { searchers, settings })
    }

    /// Reads the positions of a record's main line that are not in `readings` yet. Then those on which its verdicts depend
    /// are searched again, with more nodes. `heard` is called after every search; when it says no, the reading ends
    /// early. Whether it is complete. A reading that was interrupted ends as an undisturbed one.
    ///
    /// # Errors
    /// No memory for the mate solver.
    pub fn read_game(
        &self,
        record: &Record,
        readings: &mut Readings,
        heard: &mut dyn FnMut(&State<'_>) -> bool,
    ) -> Result<bool, AnalystError> {
        let mut positions = vec![record.root.clone()];
        for ply in &record.moves {
            let mut position = positions[positions.len() - 1].clone();
            position.do_move(ply.mv);
            positions.push(position);
        }
        let count = positions.len();
        let game = Game { record, positions };
        readings.first.resize(count, None);
        let Some(mut again) = readings.again.take() else { return Ok(true) };
        again.resize(count, None);
        readings.again = Some(again);
        let whole: Vec<usize> = (0..count).collect();
        if !self.round(&game, readings, false, &whole, FIRST, heard)? {
            return Ok(false);
        }
        let mut first: Vec<Reading> = readings.first.iter().flatten().cloned().collect();
        self.carry(&game, &mut first)?;
        let open = open(record, &first);
        let times = (LATER * count as f64 / open.len().max(1) as f64).min(MOST);
        if !self.round(&game, readings, true, &open, times, heard)? {
            return Ok(false);
        }
        for (at, again) in readings.again.take().into_iter().flatten().enumerate() {
            let (Some(mut again), old) = (again, &first[at]) else { continue };
            if again.error > 0.0 {
                again.error = rounded(again.error.hypot(MOVED * (again.win_rate() - old.win_rate())));
            }
            first[at] = again;
        }
        self.carry(&game, &mut first)?;
        readings.first = first.into_iter().map(Some).collect();
        Ok(heard(&State { readings, done: 1.0, changed: true }))
    }

    /// Searches those of the positions (in the game's order) that have no reading of this round yet.
    fn round(
        &self,
        game: &Game<'_>,
        readings: &mut Readings,
        again: bool,
        positions: &[usize],
        times: f64,
        heard: &mut dyn FnMut(&State<'_>) -> bool,
    ) -> Result<bool, AnalystError> {
        let runs = positions.chunk_by(|a, b| a + 1 == *b).flat_map(|run| run.chunks(JOB));
        let runs: Vec<Range<usize>> = runs.map(|run| run[0]..run[run.len() - 1] + 1).collect();
        let left: Vec<Range<usize>> =
            runs.into_iter().filter(|run| readings.round(again)[run.start].is_none()).collect();
        let mut searched = positions.len() - left.iter().map(ExactSizeIterator::len).sum::<usize>();
        let limits = || self.settings.effort.limits(times, self.searchers.threads());
        let stop = AtomicBool::new(false);
        let (sender, receiver) = mpsc::channel::<Told>();
        std::thread::scope(|scope| {
            let stop = &stop;
            let all = scope.spawn(move || {
                let read = |searcher: &mut Searcher, run: &Range<usize>| {
                    Job { searcher, mates: Mates::new(self.settings.mate_nodes)?, limits: &limits, again }
                        .read_all(game, run.clone(), &sender, stop)
                };
                self.searchers.map(&left, read).into_iter().collect::<Result<(), OutOfMemory>>()
            });
            for told in receiver {
                let changed = told.is_some();
                match told {
                    None => searched += 1,
                    Some((from, read)) => {
                        for (at, reading) in read.into_iter().enumerate() {
                            readings.round(again)[from + at] = Some(reading);
                        }
                    }
                }
                let share = searched as f64 / positions.len() as f64;
                let [before, part] = if again { [FIRST, LATER] } else { [0.0, FIRST] };
                let done = (before + part * share) / (FIRST + LATER);
                if !heard(&State { readings, done, changed }) {
                    stop.store(true, Ordering::Relaxed);
                }
            }
            let read = all.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok(read.map(|()| !stop.load(Ordering::Relaxed))?)
        })
    }

    /// Carries a mate that is known in a position on to those that follow it in the game, as long as the moves keep it.
    fn carry(&self, game: &Game<'_>, readings: &mut [Reading]) -> Result<(), AnalystError> {
        let mut mates = Mates::new(self.settings.mate_nodes)?;
        for at in 0..game.record.moves.len() {
            let (before, after) = (&readings[at], &readings[at + 1]);
            let Some(line) = before.lines.first().filter(|line| !line.declares()) else { continue };
            let known = |value: Value| if is_win(line.value) { is_loss(value) } else { is_win(value) };
            if !is_decisive(line.value) || known(after.value()) {
                continue;
            }
            let played = game.record.moves[at].mv;
            let kept = match (&mut mates, line.pv.first() == Some(&played.to_string())) {
                (_, true) => (line.pv.len() > 1).then(|| answered(line)),
                (Some(mates), false) if is_win(line.value) => {
                    mates.beginning(&game.positions[at], played)?.map(|line| answered(&line))
                }
                (Some(mates), false) => mates.own(&game.positions[at + 1])?,
                (None, false) => None,
            };
            if let Some(kept) = kept {
                readings[at + 1] = Reading::certain(kept);
            }
        }
        Ok(())
    }
}

/// The reading of some positions in a row.
struct Job<'a> {
    searcher: &'a mut Searcher,
    mates: Option<Mates>,
    limits: &'a (dyn Fn() -> Limits + Sync),
    /// Whether they were read before.
    again: bool,
}

impl Job<'_> {
    /// Reads these positions, from the last to the first, unless it is stopped. The receiver may have gone.
    fn read_all(
        &mut self,
        game: &Game<'_>,
        positions: Range<usize>,
        sender: &Sender<Told>,
        stop: &AtomicBool,
    ) -> Result<(), OutOfMemory> {
        let mut readings = Vec::with_capacity(positions.len());
        for at in positions.clone().rev() {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let (position, last) = (&game.positions[at], at == game.record.moves.len());
            let reading = match repeated(position, game.record).filter(|_| last) {
                Some(value) => over(value),
                None => self.read(position)?,
            };
            readings.push(reading);
            let _ = sender.send(None);
        }
        readings.reverse();
        let _ = sender.send(Some((positions.start, readings)));
        Ok(())
    }

    /// As [`read_once`](Self::read_once), with mating lines to the mating move.
    fn read(&mut self, position: &Position) -> Result<Reading, OutOfMemory> {
        let mut reading = self.read_once(position)?;
        if let Some(mates) = &mut self.mates {
            for line in reading.lines.iter_mut().filter(|line| is_decisive(line.value) && !line.declares()) {
                mates.carry_through(position, line)?;
            }
        }
        Ok(reading)
    }

    /// Reads one position: by the search, by the solver for a mate of the side to move, and by the solver again for a
    /// mate that the move found runs into; then other moves are searched.
    fn read_once(&mut self, position: &Position) -> Result<Reading, OutOfMemory> {
        if !position.has_legal_move() {
            return Ok(over(-VALUE_MATE));
        }
        let others = self.searcher.options_mut().multi_pv.max(1) - 1;
        let mut reading = self.search(position, &[]);
        let Some(mates) = &mut self.mates else { return Ok(reading) };
        // a first reading has asked that already
        if !self.again
            && let Some(mate) = mates.own(position)?
        {
            if mate.value > reading.value() {
                reading.put_first(mate, others);
            }
            return Ok(reading);
        }
        let mut left: Vec<Move> = position.legal_moves(true).iter().map(|m| m.mv).collect();
        let mut lost: Option<PvLine> = None;
        for _ in 0..REFUTED {
            if is_decisive(reading.value()) {
                break;
            }
            let Some(best) = reading.best().and_then(|text| position.parse_move(text).ok()) else { break };
            let Some(mates) = &mut self.mates else { break };
            let Some(mate) = mates.after(position, best)? else { break };
            let line = refuted(best, mate);
            if lost.as_ref().is_none_or(|known| known.value < line.value) {
                lost = Some(line);
            }
            left.retain(|m| *m != best);
            if left.is_empty() {
                break;
            }
            reading = self.search(position, &left);
        }
        // nothing better than a move that is mated
        if let Some(lost) = lost
            && (left.is_empty() || lost.value > reading.value())
        {
            reading.put_first(lost, others);
        }
        Ok(reading)
    }

    /// Searches a position, only with these moves if there are any.
    fn search(&mut self, position: &Position, among: &[Move]) -> Reading {
        let limits = Limits { search_moves: among.to_vec(), ..(self.limits)() };
        let course = Course::default();
        let result = self.searcher.search(position, &limits, &course);
        let scores = course.scores.lock().unwrap_or_else(PoisonError::into_inner);
        let error = standard_error(&scores, result.score, result.nodes);
        let mut infos = course.lines.take();
        // the result knows the last whole iteration better than what was told on the way
        infos.retain(|info| info.multipv > 1 && info.pv.first() != result.pv.first());
        let spell = |pv: &[Move]| pv.iter().take_while(|m| m.is_some()).map(Move::to_string).collect();
        let first = PvLine {
            value: result.score,
            depth: result.depth,
            seldepth: result.seldepth.max(result.depth),
            nodes: result.nodes,
            pv: if result.best == Move::WIN { vec![DECLARATION.into()] } else { spell(&result.pv) },
        };
        let others = infos.iter().map(|info| PvLine {
            value: info.score,
            depth: info.depth,
            seldepth: info.seldepth.max(info.depth),
            nodes: info.nodes,
            pv: spell(&info.pv),
        });
        Reading { lines: std::iter::once(first).chain(others).collect(), error, again: self.again }
    }
}

/// The positions before and after moves that may be worse than good, in their order. The engine's own move that turned
/// out badly counts: was there no better one?
fn open(record: &Record, readings: &[Reading]) -> Vec<usize> {
    let mut open = vec![false; readings.len()];
    for (at, ply) in record.moves.iter().enumerate() {
        let [before, after] = [&readings[at], &readings[at + 1]];
        let judgement = judge(&ply.mv.to_string(), before, after);
        if judgement.before - judgement.after + DOUBT * judgement.margin >= Class::Inaccuracy.threshold() {
            open[at] |= before.error > 0.0;
            open[at + 1] |= after.error > 0.0;
        }
    }
    (0..readings.len()).filter(|&at| open[at]).collect()
}
