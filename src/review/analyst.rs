//! Searches the positions of a game.

use super::mates::{Mates, answered, refuted};
use super::reading::{DECLARATION, PvLine, Reading};
use crate::engine::{Engine, EngineError, LastLines, Limits, OptionError};
use crate::position::{GameRepetition, Position};
use crate::record::{Record, Special};
use crate::support::memory::OutOfMemory;
use crate::types::{Move, VALUE_MATE, VALUE_SUPERIOR, VALUE_ZERO, Value, is_decisive, is_win};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// After so many positions the tables are cleared and the readings can be kept: what a game's reading says then depends
/// on nothing before, so that an interrupted run ends as an undisturbed one.
pub const SEGMENT: usize = 40;

/// How long a position is searched.
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
}

/// The reading of a position in which the game has ended.
fn over(value: Value) -> Reading {
    Reading { lines: vec![PvLine { value, depth: 0, seldepth: 0, nodes: 0, pv: Vec::new() }] }
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
        Ok(Analyst { engine, mates, settings })
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Reads the positions of a record's main line (one more than it has moves) that are not in `readings` yet, from
    /// the last to the first, so that what follows a position is in the table when it is searched. `done` is called
    /// after every position with the readings and whether they may be kept, see [`SEGMENT`]; when it says no, the
    /// reading ends early. Whether it is complete.
    ///
    /// # Errors
    /// When the engine cannot search.
    pub fn read_game(
        &mut self,
        record: &Record,
        readings: &mut Vec<Option<Reading>>,
        done: &mut dyn FnMut(&[Option<Reading>], bool) -> bool,
    ) -> Result<bool, AnalystError> {
        let mut position = record.position();
        let last = record.moves.len();
        readings.resize(last + 1, None);
        for at in (0..=last).rev() {
            let behind = last - at;
            if readings[at].is_none() {
                if behind.is_multiple_of(SEGMENT) {
                    self.engine.forget();
                }
                let reading = match repeated(&position, record).filter(|_| at == last) {
                    Some(value) => over(value),
                    None => self.read(&position)?,
                };
                if let Some(ply) = record.moves.get(at)
                    && let Some(lost) = self.mate_by_another(&position, ply.mv, &reading)?
                {
                    readings[at + 1] = Some(Reading { lines: vec![lost] });
                }
                readings[at] = Some(reading);
                let whole = (behind + 1).is_multiple_of(SEGMENT) || at == 0;
                if !done(readings, whole) {
                    return Ok(false);
                }
            }
            if at > 0 {
                position.undo_move();
            }
        }
        Ok(true)
    }

    /// Reads one position: by the search, by the solver for a mate of the side to move, and by the solver again for a
    /// mate that the move found runs into; then other moves are searched.
    fn read(&mut self, position: &Position) -> Result<Reading, AnalystError> {
        if !position.has_legal_move() {
            return Ok(over(-VALUE_MATE));
        }
        let mut reading = self.search(position, &[])?;
        let Some(mates) = &mut self.mates else { return Ok(reading) };
        if let Some(mate) = mates.own(position)? {
            if mate.value > reading.value() {
                reading.lines.retain(|line| line.pv.first() != mate.pv.first());
                reading.lines.insert(0, mate);
                reading.lines.truncate(usize::from(self.settings.multipv).max(1));
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
            reading = self.search(position, &left)?;
        }
        // nothing better than a move that is mated
        if let Some(lost) = lost
            && (left.is_empty() || lost.value > reading.value())
        {
            reading.lines.retain(|line| line.pv.first() != lost.pv.first());
            reading.lines.insert(0, lost);
            reading.lines.truncate(usize::from(self.settings.multipv).max(1));
        }
        Ok(reading)
    }

    /// Where the side to move mates: whether it also mates with the move it played instead of the one that was found. The
    /// line for the one who is mated, from the move on.
    fn mate_by_another(
        &mut self,
        position: &Position,
        played: Move,
        reading: &Reading,
    ) -> Result<Option<PvLine>, AnalystError> {
        let Some(mates) = &mut self.mates else { return Ok(None) };
        if !is_win(reading.value()) || reading.best() == Some(&played.to_string()) {
            return Ok(None);
        }
        Ok(mates.beginning(position, played)?.map(|line| answered(&line)))
    }

    /// Searches a position, only with these moves if there are any.
    fn search(&mut self, position: &Position, among: &[Move]) -> Result<Reading, AnalystError> {
        self.engine.set_position(position.clone());
        let limits = match self.settings.effort {
            Effort::Nodes(nodes) => Limits::nodes(nodes),
            Effort::Depth(depth) => Limits::depth(depth),
            Effort::Movetime(ms) => Limits::movetime(ms),
        };
        let limits = Limits { search_moves: among.to_vec(), ..limits };
        let lines = Arc::new(LastLines::default());
        self.engine.go(limits, lines.clone(), &mut |_| ())?;
        let result = self.engine.wait();
        let mut infos = lines.take();
        // the result knows the last whole iteration better than what was told on the way
        infos.retain(|info| info.multipv > 1 && info.pv.first() != result.pv.first());
        let spell = |pv: &[Move]| pv.iter().take_while(|m| m.is_some()).map(Move::to_string).collect();
        let first = PvLine {
            value: result.score,
            depth: result.depth,
            seldepth: result.seldepth,
            nodes: result.nodes,
            pv: if result.best == Move::WIN { vec![DECLARATION.into()] } else { spell(&result.pv) },
        };
        let others = infos.iter().map(|info| PvLine {
            value: info.score,
            depth: info.depth,
            seldepth: info.seldepth,
            nodes: info.nodes,
            pv: spell(&info.pv),
        });
        Ok(Reading { lines: std::iter::once(first).chain(others).collect() })
    }
}
