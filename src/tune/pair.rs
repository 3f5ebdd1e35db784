//! The games of one step: [`Pair`], played by [`Opponents`].

use crate::data::GameResult;
use crate::data::referee::{self, Agreement};
use crate::nnue::Network;
use crate::position::Position;
use crate::record::openings::Opening;
use crate::search::{Limits, SearchOptions, Searcher, Silent, params};
use crate::support::memory::OutOfMemory;
use crate::types::{Color, Value};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How games are played.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GameSettings {
    /// Nodes per move.
    pub nodes: u64,
    /// Divisor of the network's output.
    pub fv_scale: i32,
    /// A game is decided when both sides' scores agree on this for four plies.
    pub decided: Value,
    /// The game is drawn after this number of plies from the opening.
    pub max_ply: u32,
}

const DECIDED_PLIES: u32 = 4;

/// Two single-threaded searches, each with its own tables, which they keep from game to game.
pub struct Opponents {
    searchers: [Searcher; 2],
    settings: GameSettings,
}

/// Two games from one opening, with both colours.
pub struct Pair<'a> {
    /// Played once with each color.
    pub opening: &'a Opening,
    /// The numbers of the first and the second side, in the order of [`params::TABLE`].
    pub numbers: [&'a [i32]; 2],
}

impl Opponents {
    /// # Errors
    /// [`OutOfMemory`] for the tables of the searches.
    pub fn new(network: &Arc<Network>, settings: GameSettings) -> Result<Opponents, OutOfMemory> {
        let options = SearchOptions {
            entering_king_rule: referee::DECLARATION,
            ..SearchOptions::self_play(settings.fv_scale)
        };
        let new = || Searcher::new(network.clone(), 16, options.clone());
        Ok(Opponents { searchers: [new()?, new()?], settings })
    }

    /// Games won minus games lost by the first side; `None` if `abandon` was set before the end.
    pub fn play(&mut self, pair: &Pair, abandon: &AtomicBool) -> Option<i32> {
        let mut lead = 0;
        for first in [Color::Black, Color::White] {
            lead += match self.play_one(pair, first, abandon)? {
                GameResult::Draw => 0,
                result if result == GameResult::win(first) => 1,
                _ => -1,
            };
        }
        Some(lead)
    }

    /// One game, with `first` as the colour of the first side.
    fn play_one(&mut self, pair: &Pair, first: Color, abandon: &AtomicBool) -> Option<GameResult> {
        let mut pos: Position = pair.opening.position();
        let last_ply = pos.game_ply() + self.settings.max_ply;
        let limits = Limits { nodes: Some(self.settings.nodes), ..Limits::default() };
        let mut agreement = Agreement::new(self.settings.decided, DECIDED_PLIES);
        loop {
            if abandon.load(Relaxed) {
                return None;
            }
            if let Some((result, _)) = referee::by_rules(&pos, last_ply) {
                return Some(result);
            }
            let us = pos.side_to_move();
            let side = usize::from(us != first);
            params::load(pair.numbers[side]);
            let searcher = &mut self.searchers[side];
            searcher.options_mut().max_moves_to_draw = last_ply;
            let found = searcher.search(&pos, &limits, &Silent);
            if !found.best.is_some() {
                return Some(GameResult::win(!us));
            }
            if let Some((result, _)) = agreement.record(us, found.score) {
                return Some(result);
            }
            pos.do_move(found.best);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_ends_and_can_be_stopped() {
        let network = Arc::new(Network::bootstrap().unwrap());
        let settings = GameSettings { nodes: 100, fv_scale: 16, decided: 1500, max_ply: 60 };
        let mut opponents = Opponents::new(&network, settings).unwrap();
        let numbers: Vec<_> = params::TABLE.iter().map(|p| p.default).collect();
        let pair = Pair { opening: &Opening::startpos(), numbers: [&numbers, &numbers] };
        let lead = opponents.play(&pair, &AtomicBool::new(false)).unwrap();
        assert!(lead.abs() <= 2);
        assert!(opponents.play(&pair, &AtomicBool::new(true)).is_none());
    }
}
