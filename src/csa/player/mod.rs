//! Who thinks: [`Internal`], the engine in this process, or [`External`], any USI engine as a child process.

mod external;
mod internal;

pub use external::External;
pub use internal::Internal;

use crate::types::Color;
use crate::usi_client::Score;
use std::fmt;

/// What a player reports while it thinks. `search` is the number that [`Player::go`] was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thought {
    /// The best line so far, moves in USI text.
    Line { search: u64, score: Option<Score>, depth: Option<u32>, nodes: Option<u64>, pv: Vec<String> },
    /// The end of a search: `resign`, `win`, or a move in USI text; and the move to ponder on.
    Best { search: u64, best: String, ponder: Option<String> },
    /// A remark for the user.
    Remark(String),
    /// The player is gone.
    Lost(String),
}

/// Where thoughts go, from any thread.
pub type Sink = std::sync::Arc<dyn Fn(Thought) + Send + Sync>;

/// A game from where it began, in USI terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameText {
    pub sfen: String,
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
    pub color: Color,
    /// What can be used up now, byoyomi apart. `None`: the game has no limit.
    pub time: Option<[u64; 2]>,
    pub increment: [u64; 2],
    pub byoyomi: [u64; 2],
    /// How much of it the line may eat.
    pub margin: u64,
}

impl Allowance {
    /// How long to think about a move in a game without limit.
    const UNLIMITED: u64 = 10_000;
}

/// Why a player cannot play.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlayerError {
    #[error("{0}")]
    Engine(String),
    #[error("option {name}: {what}")]
    Option { name: String, what: String },
}

/// Somebody who thinks. None of the calls waits for a search.
pub trait Player: Send {
    /// What it calls itself.
    fn name(&self) -> String;

    /// Makes ready for a game; may take its time. Starts what has died.
    ///
    /// # Errors
    /// When it cannot play.
    fn prepare(&mut self) -> Result<(), PlayerError>;

    /// A game begins; drawn after `max_moves`.
    fn new_game(&mut self, max_moves: Option<u32>);

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
