//! One game between two engines: [`play`]. The result follows from our own rules, not from what an engine
//! claims.

use super::adjudication::{Adjudication, EndReason, GameEnd, Scores, Winner};
use super::limits::{EngineLimits, MatchClock};
use crate::position::{EnteringKingRule, GameRepetition, Position};
use crate::record::openings::Opening;
use crate::types::Color;
use crate::usi_client::{EngineError, EngineProcess};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A move after the opening.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayedMove {
    /// In USI text.
    #[serde(rename = "m")]
    pub mv: String,
    /// Centipawns, the mover's view.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none", default)]
    pub score: Option<i32>,
    /// Plies, as the engine reported.
    #[serde(rename = "d", skip_serializing_if = "Option::is_none", default)]
    pub depth: Option<u32>,
    /// As the engine reported.
    #[serde(rename = "n", skip_serializing_if = "Option::is_none", default)]
    pub nodes: Option<u64>,
    /// Milliseconds.
    #[serde(rename = "t")]
    pub ms: f64,
    /// The line that the engine expects after the move, moves in USI text; kept for CSA records.
    #[serde(rename = "p", skip_serializing_if = "Vec::is_empty", default)]
    pub pv: Vec<String>,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedGame {
    /// Who won.
    pub winner: Winner,
    /// Why it ended.
    pub reason: EndReason,
    /// More about a fault.
    pub detail: String,
    /// The moves after the opening.
    pub plies: Vec<PlayedMove>,
}

/// Maximum number of moves kept of a line; engines report hundreds, viewers show a few.
const LONGEST_PV: usize = 32;

/// Plays a game from an opening; `players` and `limits` are Black's and White's. `keep_pv` keeps the engines'
/// lines. `None` when `abandon` returned true. An engine at fault may be unusable afterwards: see
/// [`EndReason::is_fault`].
pub fn play(
    mut players: [&mut EngineProcess; 2],
    limits: [&EngineLimits; 2],
    opening: &Opening,
    adjudication: &Adjudication,
    keep_pv: bool,
    abandon: &dyn Fn() -> bool,
) -> Option<FinishedGame> {
    let rule: EnteringKingRule = adjudication.rule.parse().unwrap_or(EnteringKingRule::CsaRule27);
    let mut pos = opening.position();
    let mut game = RunningGame {
        clock: MatchClock::new(limits, adjudication.margin),
        text: format!("position {opening}"),
        has_moves: !opening.moves.is_empty(),
        plies: Vec::new(),
        keep_pv,
        scores: Scores::default(),
    };
    let end = 'game: {
        if let Some(end) = ended(&pos, adjudication) {
            break 'game end;
        }
        for (player, color) in players.iter_mut().zip(Color::ALL) {
            if let Err(e) = player.new_game() {
                break 'game failure(color, &e);
            }
        }
        let end = loop {
            if abandon() {
                return None;
            }
            let player = &mut *players[pos.side_to_move().index()];
            if let Some(end) = game.one_move(&mut pos, player, adjudication, rule) {
                break end;
            }
        };
        for (player, color) in players.iter_mut().zip(Color::ALL) {
            player.game_over(["lose", "draw", "win"][end.winner.half_points(color)]);
        }
        end
    };
    // the wait for an engine ends when the user asks to stop, which is no fault of the engine
    if abandon() {
        return None;
    }
    let GameEnd { winner, reason, detail } = end;
    Some(FinishedGame { winner, reason, detail, plies: game.plies })
}

/// The loss of `loser` for an error of its engine.
fn failure(loser: Color, error: &EngineError) -> GameEnd {
    let reason = match error {
        EngineError::Hang { .. } => EndReason::Hang,
        _ => EndReason::Crash,
    };
    GameEnd::fault(loser, reason, error.to_string())
}

/// The end of the game by the rules after a move, if any.
fn ended(pos: &Position, adjudication: &Adjudication) -> Option<GameEnd> {
    match pos.game_repetition() {
        Some(GameRepetition::Draw) => return Some(GameEnd::of(Winner::Draw, EndReason::Repetition)),
        Some(GameRepetition::PerpetualCheck { loser }) => {
            return Some(GameEnd::of(Winner::of(!loser), EndReason::PerpetualCheck));
        }
        None => {}
    }
    if !pos.has_legal_move() {
        return Some(GameEnd::of(Winner::of(!pos.side_to_move()), EndReason::Mate));
    }
    (pos.history_len() >= adjudication.max_ply as usize)
        .then_some(GameEnd::of(Winner::Draw, EndReason::MaxMoves))
}

/// A game in progress.
struct RunningGame<'a> {
    clock: MatchClock<'a>,
    /// The `position` command.
    text: String,
    has_moves: bool,
    plies: Vec<PlayedMove>,
    keep_pv: bool,
    scores: Scores,
}

impl RunningGame<'_> {
    /// Asks the player to move and plays the move; an end may follow.
    fn one_move(
        &mut self,
        pos: &mut Position,
        player: &mut EngineProcess,
        adjudication: &Adjudication,
        rule: EnteringKingRule,
    ) -> Option<GameEnd> {
        let us = pos.side_to_move();
        let patience = self.clock.patience(us, Duration::from_millis(adjudication.patience));
        let answer = match player.go(&self.text, &self.clock.go(us), patience) {
            Ok(answer) => answer,
            Err(e) => return Some(failure(us, &e)),
        };
        if !self.clock.spend(us, answer.elapsed) {
            let detail = format!("{} ms for {}", answer.elapsed.as_millis(), answer.best);
            return Some(GameEnd::fault(us, EndReason::TimeLoss, detail));
        }
        let declared = pos.declaration_win(rule);
        match answer.best.as_str() {
            "resign" => return Some(GameEnd::of(Winner::of(!us), EndReason::Resign)),
            "win" if declared.is_some() => return Some(GameEnd::of(Winner::of(us), EndReason::Declaration)),
            "win" => return Some(GameEnd::fault(us, EndReason::FalseDeclaration, pos.sfen())),
            _ => {}
        }
        let m = match pos.parse_move(&answer.best) {
            Ok(m) => m,
            Err(e) => {
                let detail = format!("{}: {e}; {}", answer.best, pos.sfen());
                return Some(GameEnd::fault(us, EndReason::IllegalMove, detail));
            }
        };
        let pv = match answer.pv.split_first() {
            Some((first, rest)) if self.keep_pv && *first == answer.best => {
                rest.iter().take(LONGEST_PV).cloned().collect()
            }
            // a line that begins with another move belongs to that move
            _ => Vec::new(),
        };
        self.plies.push(PlayedMove {
            pv,
            mv: answer.best,
            score: answer.score,
            depth: answer.depth,
            nodes: answer.nodes,
            ms: (answer.elapsed.as_secs_f64() * 1e5).round() / 100.0,
        });
        if declared == Some(m) {
            // the try rule: the king has arrived
            return Some(GameEnd::of(Winner::of(us), EndReason::Declaration));
        }
        if !std::mem::replace(&mut self.has_moves, true) {
            self.text += " moves";
        }
        self.text += &format!(" {m}");
        pos.do_move(m);
        ended(pos, adjudication)
            .or_else(|| self.scores.see(us, answer.score, pos.history_len() as u32, adjudication))
    }
}
