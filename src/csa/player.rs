//! The side that thinks: [`Player`], what it receives, and what it reports. [`Internal`](super::internal::Internal) is the
//! engine in this process, [`External`](super::external::External) any USI engine as a child process.

use super::clock::{Clock, TimeControl};
use crate::position::EnteringKingRule;
use crate::types::Color;
use crate::usi_client::UsiScore;
use std::fmt;
use std::time::Duration;

/// What a player reports while it thinks. `search` is the number that [`Player::go`] was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thought {
    /// The best line so far, moves in USI text.
    Line {
        /// Which search.
        search: u64,
        /// From the player's view.
        score: Option<UsiScore>,
        /// In plies.
        depth: Option<u32>,
        /// Searched so far.
        nodes: Option<u64>,
        /// The line.
        pv: Vec<String>,
    },
    /// The end of a search: `resign`, `win`, or a move in USI text; and the move to ponder on.
    Best {
        /// Which search.
        search: u64,
        /// What to play.
        best: String,
        /// The reply that the player expects.
        ponder: Option<String>,
    },
    /// A remark for the user.
    Remark(String),
    /// The engine has ended.
    Lost(String),
}

/// Where thoughts go, from any thread.
pub type Sink = std::sync::Arc<dyn Fn(Thought) + Send + Sync>;

/// A game from where it began, in USI terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameText {
    /// Where the game began.
    pub sfen: String,
    /// In USI text.
    pub moves: Vec<String>,
}

impl fmt::Display for GameText {
    /// USI's `position` command.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "position sfen {}", self.sfen)?;
        if !self.moves.is_empty() {
            f.write_str(" moves")?;
        }
        self.moves.iter().try_for_each(|m| write!(f, " {m}"))
    }
}

/// What a player may spend; milliseconds, by colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Who is to think.
    pub color: Color,
    /// What can be used up now, byoyomi apart. `None`: the game has no limit.
    pub time: Option<[u64; 2]>,
    /// Added before each move is charged.
    pub increment: [u64; 2],
    /// Anew for every move.
    pub byoyomi: [u64; 2],
    /// How much of it the network may take.
    pub margin: u64,
}

impl Allowance {
    /// Milliseconds for a move in a game without limit.
    pub(super) const UNLIMITED: u64 = 10_000;

    /// What the clock allows the side to move.
    pub fn of(clock: &Clock, color: Color, margin: u64) -> Allowance {
        let each = |of: fn(&TimeControl) -> u64| Color::ALL.map(|c| of(clock.control(c)));
        // an increment can be used up by the move that it comes with, and so can a delay
        let usable = |c: Color| {
            let control = clock.control(c);
            clock.left(c).saturating_add(control.increment + control.delay)
        };
        Allowance {
            color,
            time: (!clock.control(color).is_unlimited()).then(|| Color::ALL.map(usable)),
            increment: each(|c| c.increment),
            byoyomi: each(|c| c.byoyomi),
            margin,
        }
    }

    /// Takes the time that has passed off the clock.
    pub fn spend(&mut self, gone: Duration) {
        let (gone, c) = (gone.as_millis() as u64, self.color.index());
        if let Some(time) = &mut self.time {
            self.byoyomi[c] = self.byoyomi[c].saturating_sub(gone.saturating_sub(time[c]));
            time[c] = time[c].saturating_sub(gone);
        }
    }
}

/// Why a player cannot play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerError {
    /// The engine does not start or answer, or refuses an option.
    #[error("{0}")]
    Engine(String),
}

/// An engine that plays for us. None of the calls waits for a search.
pub trait Player: Send {
    /// What it calls itself.
    fn name(&self) -> String;

    /// Prepares for a game, which may take seconds. Starts an engine that has died.
    ///
    /// # Errors
    /// When it cannot play.
    fn prepare(&mut self) -> Result<(), PlayerError>;

    /// A game begins; drawn after `max_moves`. Wins are declared by `rule`; without one the user's choice stays.
    fn new_game(&mut self, max_moves: Option<u32>, rule: Option<EnteringKingRule>);

    /// Starts to think, on the opponent's time if `ponder`. A search that runs is stopped and still reports its end.
    fn go(&mut self, search: u64, game: &GameText, allowance: &Allowance, ponder: bool);

    /// The move pondered on was played.
    fn ponderhit(&mut self);

    /// Asks for the best move now.
    fn stop(&mut self);

    /// To be called with every [`Thought::Best`].
    fn finished(&mut self);

    /// The game is over: `win`, `lose` or `draw`.
    fn game_over(&mut self, result: &str);
}
