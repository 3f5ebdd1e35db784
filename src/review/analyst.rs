//! Searches the positions of a game, and those on which a verdict hangs again.

use super::judge::{Class, judge};
use super::mates::{Mates, answered, refuted};
use super::reading::{DECLARATION, PvLine, Reading};
use crate::engine::{Bound, Engine, EngineError, Info, LastLines, Limits, Observer, OptionError, win_rate};
use crate::position::{GameRepetition, Position};
use crate::record::{Record, Special};
use crate::support::memory::OutOfMemory;
use crate::types::{Move, VALUE_MATE, VALUE_SUPERIOR, VALUE_ZERO, Value, is_decisive, is_loss, is_win};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// After so many positions the tables are cleared and the readings can be kept: what a game's reading says then depends
/// on nothing before, so that an interrupted run ends as an undisturbed one.
pub const SEGMENT: usize = 40;

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

/// A search that is repeated has so many times the nodes, or the time, of the one before.
const LONGER: u64 = 3;
/// ... and so many plies more.
const DEEPER: i32 = 2;
/// A position is searched again at most so many times.
const AGAIN: u32 = 3;

impl Effort {
    /// The limits of a position's first search (`again` 0) or a later one. The first takes half of the nodes or the time;
    /// the rest is for the positions on which a verdict hangs.
    fn limits(self, again: u32) -> Limits {
        let times = LONGER.saturating_pow(again);
        match self {
            Effort::Nodes(nodes) => Limits::nodes(nodes.div_ceil(2).saturating_mul(times)),
            Effort::Depth(depth) => Limits::depth(depth + DEEPER * again as i32),
            Effort::Movetime(ms) => Limits::movetime(ms.div_ceil(2).saturating_mul(times)),
        }
    }

    /// What the later searches may take, as a share of what the first ones took.
    fn share(self) -> f64 {
        match self {
            Effort::Nodes(_) | Effort::Movetime(_) => 1.8,
            Effort::Depth(_) => 0.5,
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
    /// Threads of the search.
    pub threads: u16,
    /// MiB of the transposition table.
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
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error("no memory for the mate solver: {0}")]
    Mates(#[from] OutOfMemory),
}

/// An engine that reads games.
pub struct Analyst {
    engine: Engine,
    mates: Option<Mates>,
    settings: Settings,
    /// Nodes searched since the tables were cleared.
    nodes: u64,
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

/// The standard error of a win rate after a search of so many nodes: two searches of one position differ, less with
/// more nodes and in decided positions; and the more, the more the score still moves from one iteration to the next.
///
/// Measured on 179 positions around bad moves of six games, each searched twice with 50,000 to 800,000 nodes.
fn standard_error(scores: &[Value], last: Value, nodes: u64) -> f64 {
    if is_decisive(last) {
        return 0.0;
    }
    let rate = win_rate(last);
    let grain = 0.009 * 4.0 * rate * (1.0 - rate) * (400_000.0 / nodes.max(1) as f64).powf(0.3);
    let before = &scores[..scores.len().saturating_sub(1)];
    let before = &before[before.len().saturating_sub(COMPARED)..];
    let squares: f64 = before.iter().map(|&score| (win_rate(score) - rate).powi(2)).sum();
    let spread = (squares / before.len().max(1) as f64).sqrt();
    rounded(grain.hypot(0.5 * spread).min(0.5))
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

/// What a search that was repeated says differently goes into its error by this share.
const MOVED: f64 = 0.3;

/// So many moves of the engine that run into a mate are refuted before the last is taken as it is.
const REFUTED: usize = 4;

impl Analyst {
    /// An engine with these settings, its network loaded. Remarks go to `say`.
    ///
    /// # Errors
    /// [`AnalystError`]: a setting out of range, no network, no memory.
    pub fn new(settings: Settings, say: &mut dyn FnMut(&str)) -> Result<Analyst, AnalystError> {
        let mut engine = Engine::new();
        engine.set_option("Threads", &settings.threads.to_string())?;
        engine.set_option("USI_Hash", &settings.hash_mb.to_string())?;
        engine.set_option("MultiPV", &settings.multipv.to_string())?;
        engine.set_option("PvInterval", "0")?;
        if let Some(dir) = &settings.eval_dir {
            engine.set_option("EvalDir", &dir.to_string_lossy())?;
        }
        engine.network(say)?;
        let mates = Mates::new(settings.mate_nodes)?;
        Ok(Analyst { engine, mates, settings, nodes: 0 })
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reads the positions of a record's main line (one more than it has moves) that are not in `readings` yet, from
    /// the last to the first, so that what follows a position is in the table when it is searched. After every
    /// [`SEGMENT`] the positions on which its verdicts hang are searched again. `done` is called after every search
    /// with the readings and whether they may be kept, see [`SEGMENT`]; when it says no, the reading ends early.
    /// Whether it is complete.
    ///
    /// # Errors
    /// When the engine cannot search.
    pub fn read_game(
        &mut self,
        record: &Record,
        readings: &mut Vec<Option<Reading>>,
        done: &mut dyn FnMut(&[Option<Reading>], bool) -> bool,
    ) -> Result<bool, AnalystError> {
        let mut positions = vec![record.root.clone()];
        for ply in &record.moves {
            let mut position = positions[positions.len() - 1].clone();
            position.do_move(ply.mv);
            positions.push(position);
        }
        let last = record.moves.len();
        readings.resize(last + 1, None);
        for end in (1..=last + 1).rev().step_by(SEGMENT) {
            let begin = end.saturating_sub(SEGMENT);
            if readings[begin].is_some() {
                continue;
            }
            self.engine.forget();
            self.nodes = 0;
            for at in (begin..end).rev() {
                let reading = match repeated(&positions[at], record).filter(|_| at == last) {
                    Some(value) => over(value),
                    None => self.read(&positions[at], 0)?,
                };
                readings[at] = Some(reading);
                self.carry(record, &positions, readings, at)?;
                if !done(readings, false) {
                    return Ok(false);
                }
            }
            let whole = self.settle(record, &positions, readings, begin..end, done)?;
            if !whole || !done(readings, true) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Searches positions of a segment again, with more nodes each time, until the verdicts on its moves stand or the
    /// segment's share of nodes is spent. A verdict that is still open then says so by its margin.
    fn settle(
        &mut self,
        record: &Record,
        positions: &[Position],
        readings: &mut [Option<Reading>],
        segment: Range<usize>,
        done: &mut dyn FnMut(&[Option<Reading>], bool) -> bool,
    ) -> Result<bool, AnalystError> {
        let first = self.nodes / segment.len() as u64;
        let most = (self.nodes as f64 * (1.0 + self.settings.effort.share())) as u64;
        loop {
            let moves = segment.clone().filter(|&at| at < record.moves.len()).rev();
            let open = moves.filter_map(|at| {
                let (before, after) = (readings[at].as_ref()?, readings[at + 1].as_ref()?);
                let (end, bad) = open_end(&record.moves[at].mv.to_string(), before, after)?;
                Some((at + end, [before, after][end].again, bad))
            });
            // a bad move goes before the others by one search
            let first_come =
                |&(_, again, bad): &(usize, u32, bool)| (2 * again).saturating_sub(u32::from(bad) * 3);
            let Some((at, again, _)) = open.min_by_key(first_come) else { return Ok(true) };
            // the last search may take a little more than what is left
            if self.nodes + first * LONGER.pow(again + 1) / 2 > most {
                return Ok(true);
            }
            let mut reading = self.read(&positions[at], again + 1)?;
            if let Some(old) = &readings[at]
                && reading.error > 0.0
            {
                reading.error = rounded(reading.error.hypot(MOVED * (reading.win_rate() - old.win_rate())));
            }
            readings[at] = Some(reading);
            self.carry(record, positions, readings, at)?;
            if !done(readings, false) {
                return Ok(false);
            }
        }
    }

    /// As [`read_once`](Self::read_once), with mating lines to the mating move.
    fn read(&mut self, position: &Position, again: u32) -> Result<Reading, AnalystError> {
        let mut reading = self.read_once(position, again)?;
        if let Some(mates) = &mut self.mates {
            for line in reading.lines.iter_mut().filter(|line| is_decisive(line.value) && !line.declares()) {
                mates.carry_through(position, line)?;
            }
        }
        Ok(reading)
    }

    /// Reads one position: by the search, by the solver for a mate of the side to move, and by the solver again for a
    /// mate that the move found runs into; then other moves are searched.
    fn read_once(&mut self, position: &Position, again: u32) -> Result<Reading, AnalystError> {
        if !position.has_legal_move() {
            return Ok(over(-VALUE_MATE));
        }
        let others = usize::from(self.settings.multipv).max(1) - 1;
        let mut reading = self.search(position, &[], again)?;
        let Some(mates) = &mut self.mates else { return Ok(reading) };
        // a first reading has asked that already
        if again == 0
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
            reading = self.search(position, &left, again)?;
        }
        // nothing better than a move that is mated
        if let Some(lost) = lost
            && (left.is_empty() || lost.value > reading.value())
        {
            reading.put_first(lost, others);
        }
        Ok(reading)
    }

    /// Carries a mate that is known in a position on to those that follow it in the game, as long as the moves keep it.
    fn carry(
        &mut self,
        record: &Record,
        positions: &[Position],
        readings: &mut [Option<Reading>],
        from: usize,
    ) -> Result<(), AnalystError> {
        for at in from..record.moves.len() {
            let (Some(before), Some(after)) = (&readings[at], &readings[at + 1]) else { break };
            let Some(line) = before.lines.first().filter(|line| !line.declares()) else { break };
            let known = |value: Value| if is_win(line.value) { is_loss(value) } else { is_win(value) };
            if !is_decisive(line.value) || known(after.value()) {
                break;
            }
            let played = record.moves[at].mv;
            let kept = match (&mut self.mates, line.pv.first() == Some(&played.to_string())) {
                (_, true) => (line.pv.len() > 1).then(|| answered(line)),
                (Some(mates), false) if is_win(line.value) => {
                    mates.beginning(&positions[at], played)?.map(|line| answered(&line))
                }
                (Some(mates), false) => mates.own(&positions[at + 1])?,
                (None, false) => None,
            };
            let Some(kept) = kept else { break };
            readings[at + 1] = Some(Reading::certain(kept));
        }
        Ok(())
    }

    /// Searches a position, only with these moves if there are any.
    fn search(&mut self, position: &Position, among: &[Move], again: u32) -> Result<Reading, AnalystError> {
        self.engine.set_position(position.clone());
        let limits = Limits { search_moves: among.to_vec(), ..self.settings.effort.limits(again) };
        let course = Arc::new(Course::default());
        self.engine.go(limits, course.clone(), &mut |_| ())?;
        let result = self.engine.wait();
        self.nodes += result.nodes;
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
        Ok(Reading { lines: std::iter::once(first).chain(others).collect(), error, again })
    }
}

/// Which end of a move is searched next, 0 the position before and 1 the one after it, and whether the move may be a
/// mistake; none when its verdict stands, or
/// nothing more can be done for it. A bad move and a move at the border of a class are never judged by first searches.
fn open_end(played: &str, before: &Reading, after: &Reading) -> Option<(usize, bool)> {
    let judgement = judge(played, before, after);
    let drop = judgement.before - judgement.after;
    let can = |reading: &Reading| reading.error > 0.0 && reading.again < AGAIN;
    // the engine's own move turned out badly: was there no better one?
    if judgement.class == Class::Best {
        let bad = drop + judgement.margin >= Class::Inaccuracy.threshold();
        return (bad && can(before) && before.again <= after.again).then_some((0, false));
    }
    let flagged = judgement.most > Class::Good;
    let first = before.again.min(after.again) == 0;
    if judgement.is_firm() && !(flagged && first) {
        return None;
    }
    // the one that was searched less, or else the one that is less certain
    let rank = |reading: &Reading| (can(reading), -f64::from(reading.again), reading.error);
    let end = if rank(before) >= rank(after) { 0 } else { 1 };
    can([before, after][end]).then_some((end, judgement.most >= Class::Mistake))
}
