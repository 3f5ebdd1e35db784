//! Searches the positions of a game.

use crate::engine::{Bound, Engine, EngineError, Info, Limits, Observer, OptionError};
use crate::position::Position;
use crate::record::Record;
use crate::types::{Move, VALUE_MATE, Value};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// After so many positions the tables are cleared and the readings can be kept: what a game's reading says then depends
/// on nothing before, so that an interrupted run ends as an undisturbed one.
pub const SEGMENT: usize = 40;

/// How long a position is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    Nodes(u64),
    Depth(i32),
    /// Milliseconds.
    Movetime(u64),
}

/// What a reading depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub effort: Effort,
    /// Lines of each position.
    pub multipv: u16,
    pub threads: u16,
    pub hash_mb: u32,
    /// Directory of an nn.bin; the embedded network without.
    pub eval_dir: Option<PathBuf>,
}

/// A line of play that the engine expects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PvLine {
    /// From the side to move, in the engine's unit.
    pub value: Value,
    pub depth: i32,
    pub seldepth: i32,
    pub nodes: u64,
    /// In USI; empty where the game is over, `win` for a declaration.
    pub pv: Vec<String>,
}

/// What the engine says of a position: its best lines, the best first; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    pub lines: Vec<PvLine>,
}

impl Reading {
    /// The value for the side to move.
    pub fn value(&self) -> Value {
        self.lines.first().map_or(0, |line| line.value)
    }

    /// The move that the engine would play.
    pub fn best(&self) -> Option<&str> {
        self.lines.first()?.pv.first().map(String::as_str)
    }
}

/// Why a game cannot be analysed.
#[derive(Debug, thiserror::Error)]
pub enum AnalystError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Option(#[from] OptionError),
}

/// An engine that reads games.
pub struct Analyst {
    engine: Engine,
    settings: Settings,
}

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
        Ok(Analyst { engine, settings })
    }

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
                readings[at] = Some(self.read(&position)?);
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

    /// Searches one position.
    fn read(&mut self, position: &Position) -> Result<Reading, AnalystError> {
        let over = |value| PvLine { value, depth: 0, seldepth: 0, nodes: 0, pv: Vec::new() };
        if !position.has_legal_move() {
            return Ok(Reading { lines: vec![over(-VALUE_MATE)] });
        }
        self.engine.set_position(position.clone());
        let limits = match self.settings.effort {
            Effort::Nodes(nodes) => Limits::nodes(nodes),
            Effort::Depth(depth) => Limits::depth(depth),
            Effort::Movetime(ms) => Limits::movetime(ms),
        };
        let lines = Arc::new(Lines::default());
        self.engine.go(limits, lines.clone(), &mut |_| ())?;
        let result = self.engine.wait();
        let mut infos = std::mem::take(&mut *lines.0.lock().unwrap_or_else(PoisonError::into_inner));
        // the result knows the last whole iteration better than what was told on the way
        infos.retain(|info| info.multipv > 1 && info.pv.first() != result.pv.first());
        infos.sort_by_key(|info| info.multipv);
        let spell = |pv: &[Move]| pv.iter().take_while(|m| m.is_some()).map(Move::to_string).collect();
        let first = PvLine {
            value: result.score,
            depth: result.depth,
            seldepth: result.seldepth,
            nodes: result.nodes,
            pv: if result.best == Move::WIN { vec!["win".into()] } else { spell(&result.pv) },
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

/// Keeps the last exact line of each rank.
#[derive(Default)]
struct Lines(Mutex<Vec<Info>>);

impl Observer for Lines {
    fn info(&self, info: &Info) {
        if !matches!(info.bound, Bound::Exact | Bound::None) || info.pv.is_empty() {
            return;
        }
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.retain(|old| old.multipv != info.multipv);
        lines.push(info.clone());
    }
}
