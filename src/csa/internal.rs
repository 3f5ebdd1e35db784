//! The engine of this program.

use super::player::{Allowance, GameText, Player, PlayerError, Sink, Thought};
use crate::engine::{BookLine, Bound, Engine, Info, Limits, Observer, centipawns};
use crate::position::EnteringKingRule;
use crate::types::{Move, VALUE_MATE, VALUE_MATE_IN_MAX_PLY, Value};
use crate::usi_client::{UsiScore, is_complaint};
use std::sync::Arc;
use std::time::Instant;

/// An [`Engine`] with the user's options.
pub struct Internal {
    engine: Engine,
    sink: Sink,
    /// The options that the user has set; the client does not change them.
    chosen: Vec<(String, String)>,
    /// Whether the engine has loaded what the options name.
    prepared: bool,
}

impl Internal {
    /// # Errors
    /// When an option does not exist or cannot have that value.
    pub fn new(options: &[(String, String)], ponder: bool, sink: Sink) -> Result<Internal, PlayerError> {
        let engine = Engine::new();
        let mut internal = Internal { engine, sink, chosen: options.to_vec(), prepared: false };
        internal.set("USI_Ponder", if ponder { "true" } else { "false" })?;
        for (name, value) in options {
            internal.set(name, value)?;
        }
        Ok(internal)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), PlayerError> {
        match self.engine.set_option(name, value) {
            Ok(remark) => {
                remark.into_iter().for_each(|text| (self.sink)(Thought::Remark(text)));
                Ok(())
            }
            Err(e) => Err(PlayerError::Engine(e.to_string())),
        }
    }

    /// Sets an option, unless the user has.
    fn adjust(&mut self, name: &str, value: impl ToString) {
        if !self.chosen.iter().any(|(chosen, _)| chosen.eq_ignore_ascii_case(name)) {
            // the names are the engine's own and the values fit
            let _ = self.engine.set_option(name, &value.to_string());
        }
    }
}

impl Player for Internal {
    fn name(&self) -> String {
        format!("Toratsugumi {}", env!("CARGO_PKG_VERSION"))
    }

    fn prepare(&mut self) -> Result<(), PlayerError> {
        let (sink, chosen) = (&self.sink, &self.chosen);
        // before the first game nothing is lost yet; later the engine plays on with what it has
        let first = !std::mem::replace(&mut self.prepared, true);
        let mut complaint = None;
        let prepared = self.engine.prepare(&mut |text| {
            if first && complaint.is_none() && is_complaint(text, chosen) {
                complaint = Some(text.to_string());
            } else {
                sink(Thought::Remark(text.into()));
            }
        });
        prepared.map_err(|e| PlayerError::Engine(e.to_string()))?;
        complaint.map_or(Ok(()), |text| Err(PlayerError::Engine(text)))
    }

    fn new_game(&mut self, max_moves: Option<u32>, rule: Option<EnteringKingRule>) {
        self.adjust("MaxMovesToDraw", max_moves.map_or(0, |n| n.min(100_000)));
        // the default again after a game by another rule
        self.adjust("EnteringKingRule", rule.unwrap_or(EnteringKingRule::CsaRule27));
    }

    fn go(&mut self, search: u64, game: &GameText, allowance: &Allowance, ponder: bool) {
        /// Reserve for a lag worse than any seen so far.
        const RESERVE: u64 = 1000;
        const LEAST: [u64; 2] = [120, 1120];
        const MOST: u64 = 10_000;
        self.engine.finish();
        self.adjust("NetworkDelay", allowance.margin.clamp(LEAST[0], MOST));
        self.adjust("NetworkDelay2", (allowance.margin + RESERVE).clamp(LEAST[1], MOST));
        let sink = self.sink.clone();
        let lost = |what: String| sink(Thought::Lost(what));
        if let Err(e) = self.engine.set_game(Some(&game.sfen), game.moves.iter().map(String::as_str)) {
            return lost(e.to_string());
        }
        let limits = Limits {
            time: allowance.time.unwrap_or_default(),
            inc: allowance.increment,
            byoyomi: allowance.byoyomi,
            has_clock: allowance.time.is_some(),
            movetime: allowance.time.is_none().then_some(Allowance::UNLIMITED),
            ponder,
            start: Instant::now(),
            ..Limits::default()
        };
        let observer = Arc::new(ThoughtObserver { sink: self.sink.clone(), search });
        let remarks = self.sink.clone();
        if let Err(e) = self.engine.go(limits, observer, &mut |text| remarks(Thought::Remark(text.into()))) {
            lost(e.to_string());
        }
    }

    fn ponderhit(&mut self) {
        self.engine.ponderhit(None);
    }

    fn stop(&mut self) {
        self.engine.stop();
    }

    fn finished(&mut self) {}

    fn game_over(&mut self, _result: &str) {
        self.engine.stop();
    }
}

/// Turns what the search reports into thoughts.
struct ThoughtObserver {
    sink: Sink,
    search: u64,
}

fn score(value: Value) -> UsiScore {
    match value {
        v if v >= VALUE_MATE_IN_MAX_PLY => UsiScore::Mate((VALUE_MATE - v).max(1)),
        v if v <= -VALUE_MATE_IN_MAX_PLY => UsiScore::Mate(-(VALUE_MATE + v).max(1)),
        v => UsiScore::Cp(centipawns(v)),
    }
}

impl Observer for ThoughtObserver {
    fn info(&self, info: &Info) {
        if info.multipv == 1 && matches!(info.bound, Bound::Exact | Bound::None) {
            (self.sink)(Thought::Line {
                search: self.search,
                score: Some(score(info.score)),
                depth: u32::try_from(info.depth).ok(),
                nodes: Some(info.nodes),
                pv: info.pv.iter().map(|m| m.to_string()).collect(),
            });
        }
    }

    fn book(&self, line: &BookLine) {
        if line.multipv == 1 {
            (self.sink)(Thought::Line {
                search: self.search,
                score: Some(UsiScore::Cp(line.centipawns)),
                depth: u32::try_from(line.depth).ok(),
                nodes: None,
                pv: line.pv.iter().map(|m| m.to_string()).collect(),
            });
        }
    }

    fn message(&self, text: &str) {
        (self.sink)(Thought::Remark(text.into()));
    }

    fn best_move(&self, best: Move, ponder: Option<Move>) {
        let best = match best {
            Move::WIN => "win".to_string(),
            m if !m.is_some() => "resign".to_string(),
            m => m.to_string(),
        };
        let ponder = ponder.filter(|m| m.is_some()).map(|m| m.to_string());
        (self.sink)(Thought::Best { search: self.search, best, ponder });
    }
}
