//! A self-play game as training data: its start, moves, scores and result.

use std::fmt;

use super::error::RecordError;
use super::packed_sfen::PackedSfen;
use crate::position::Position;
use crate::types::{Color, Move};

/// How a game ended, in absolute colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum GameResult {
    /// Repetition, impasse, or too many plies.
    Draw = 0,
    /// Sente won.
    BlackWin = 1,
    /// Gote won.
    WhiteWin = 2,
}

impl GameResult {
    /// The win of `color`.
    pub const fn win(color: Color) -> GameResult {
        match color {
            Color::Black => GameResult::BlackWin,
            Color::White => GameResult::WhiteWin,
        }
    }

    /// 1 when `color` won, -1 when it lost, 0 for a draw.
    pub const fn sign(self, color: Color) -> i8 {
        match (self, color) {
            (GameResult::Draw, _) => 0,
            (GameResult::BlackWin, Color::Black) | (GameResult::WhiteWin, Color::White) => 1,
            _ => -1,
        }
    }

    pub(crate) const fn from_bits(bits: u8) -> Option<GameResult> {
        match bits {
            0 => Some(GameResult::Draw),
            1 => Some(GameResult::BlackWin),
            2 => Some(GameResult::WhiteWin),
            _ => None,
        }
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EndReason {
    /// No legal move, or a mate that the search announced and both sides accept.
    Mate = 0,
    /// Fourfold repetition.
    Repetition = 1,
    /// Perpetual check: the checking side lost.
    PerpetualCheck = 2,
    /// An entering-king declaration.
    Declaration = 3,
    /// A score beyond the adjudication bound.
    Adjudication = 4,
    /// The game reached the length limit.
    MaxMoves = 5,
    /// Not recorded (positions imported from formats without it).
    Unknown = 6,
}

impl EndReason {
    /// In the order of their codes.
    pub const ALL: [EndReason; 7] = [
        EndReason::Mate,
        EndReason::Repetition,
        EndReason::PerpetualCheck,
        EndReason::Declaration,
        EndReason::Adjudication,
        EndReason::MaxMoves,
        EndReason::Unknown,
    ];

    pub(crate) fn from_bits(bits: u8) -> Option<EndReason> {
        Self::ALL.get(bits as usize).copied()
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EndReason::Mate => "mate",
            EndReason::Repetition => "repetition",
            EndReason::PerpetualCheck => "perpetual check",
            EndReason::Declaration => "declaration",
            EndReason::Adjudication => "adjudication",
            EndReason::MaxMoves => "max moves",
            EndReason::Unknown => "unknown",
        })
    }
}

/// Where a game started.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Start {
    /// The initial position of an even game.
    #[default]
    Startpos,
    /// Any other position, with its ply number.
    Packed(PackedSfen, u16),
}

impl Start {
    /// The start that describes `pos` (its history is not kept).
    pub fn of(pos: &Position) -> Start {
        let packed = PackedSfen::of(pos);
        if pos.game_ply() == 1 && packed == PackedSfen::of(&Position::startpos()) {
            Start::Startpos
        } else {
            Start::Packed(packed, pos.game_ply().min(u16::MAX as u32) as u16)
        }
    }

    /// The position at the start of the game.
    pub fn position(&self) -> Result<Position, RecordError> {
        match self {
            Start::Startpos => Ok(Position::startpos()),
            Start::Packed(packed, ply) => packed.position(*ply as u32),
        }
    }
}

/// One scored move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlyRecord {
    /// The move played, as [`Move::raw16`] gives it.
    pub mv: u16,
    /// The search score for the side to move, in `Value` units (a pawn is 90), of the position before the
    /// move.
    pub score: i16,
    /// Whether the position before the move is fit for training (quiet, not in check, ...).
    pub fit: bool,
}

impl PlyRecord {
    /// A ply with its score in `Value` units for the side that moves.
    pub fn new(mv: Move, score: i32, fit: bool) -> PlyRecord {
        PlyRecord { mv: mv.raw16(), score: score.clamp(-32767, 32767) as i16, fit }
    }
}

/// A game: `start`, then the unscored moves of `opening`, then the scored `plies`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The number of the game in its run. It identifies the game when runs resume and decides whether it is used
    /// for validation, so it is the same on every host.
    pub id: u64,
    /// Where the game began.
    pub start: Start,
    /// Moves played before the first search (book or random), as [`Move::raw16`].
    pub opening: Vec<u16>,
    /// The moves with their scores.
    pub plies: Vec<PlyRecord>,
    /// Who won.
    pub result: GameResult,
    /// How it ended.
    pub reason: EndReason,
}

impl GameRecord {
    /// Who makes the first move of the game, opening included.
    pub fn first_mover(&self) -> Color {
        match &self.start {
            Start::Startpos => Color::Black,
            Start::Packed(sfen, _) => sfen.turn(),
        }
    }

    /// Plays the game through: calls `visit` with each position in which a scored move was played, the record
    /// of that ply and the move with its piece filled in.
    ///
    /// # Errors
    /// A move that is not legal; `visit` has been called for the plies before it.
    pub fn replay(&self, mut visit: impl FnMut(&Position, &PlyRecord, Move)) -> Result<(), RecordError> {
        let mut pos = self.start.position()?;
        let expand = |pos: &Position, raw: u16| {
            pos.legal_move(raw).ok_or(RecordError::Move { game: self.id, ply: pos.game_ply(), raw })
        };
        for &raw in &self.opening {
            let m = expand(&pos, raw)?;
            pos.do_move(m);
        }
        for ply in &self.plies {
            let m = expand(&pos, ply.mv)?;
            visit(&pos, ply, m);
            pos.do_move(m);
        }
        Ok(())
    }
}
