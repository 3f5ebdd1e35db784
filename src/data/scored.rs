//! A position with move, score and result, whatever record it comes from: [`Scored`]. Formats are converted
//! through it.

use super::board::Board;
use super::error::RecordError;
use super::game::{GameRecord, GameResult};
use super::hcp::{HuffmanCodedPos, from_apery_move, to_apery_move};
use super::hcpe::HcpEval;
use super::packed_sfen::PackedSfen;
use super::psv::PackedSfenValue;
use crate::types::Color;

/// Which plies of a game become records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plies {
    /// Those fit for training.
    Fit,
    /// Every ply.
    All,
}

/// A position with move, score and result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scored {
    /// Pieces, hands and the side to move.
    pub board: Board,
    /// Number of the ply; where the record has none, 1 for Black and 2 for White.
    pub ply: u16,
    /// The move played, as [`Move::raw16`](crate::types::Move::raw16); 0 for none.
    pub mv: u16,
    /// For the side to move.
    pub score: i16,
    /// Of the whole game.
    pub result: GameResult,
    /// The record's spare byte, 0 from games.
    pub padding: u8,
}

impl Scored {
    /// Calls `each` with the positions of a game.
    ///
    /// # Errors
    /// A move that cannot be played, after the calls for the plies before it; those of `each`.
    pub fn each_of_game(
        game: &GameRecord,
        plies: Plies,
        mut each: impl FnMut(Scored) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        let mut result = Ok(());
        game.replay(|pos, ply, m| {
            if result.is_ok() && (plies == Plies::All || ply.fit) {
                result = each(Scored {
                    board: Board::of(pos),
                    ply: pos.game_ply().min(u32::from(u16::MAX)) as u16,
                    mv: m.raw16(),
                    score: ply.score,
                    result: game.result,
                    padding: 0,
                });
            }
        })?;
        result
    }

    /// # Errors
    /// A position that has no packed form: a king is missing.
    pub fn to_psv(&self) -> Result<PackedSfenValue, RecordError> {
        Ok(PackedSfenValue {
            sfen: PackedSfen::pack(&self.board)?,
            score: self.score,
            mv: self.mv,
            ply: self.ply,
            result: self.result.sign(self.board.turn),
            padding: self.padding,
        })
    }

    /// # Errors
    /// A position that has no packed form: a king is missing.
    pub fn to_hcpe(&self) -> Result<HcpEval, RecordError> {
        Ok(HcpEval {
            hcp: HuffmanCodedPos::pack(&self.board)?,
            eval: self.score,
            mv: to_apery_move(self.mv),
            result: self.result,
            padding: self.padding,
        })
    }
}

impl TryFrom<&PackedSfenValue> for Scored {
    type Error = RecordError;

    fn try_from(r: &PackedSfenValue) -> Result<Scored, RecordError> {
        let board = r.sfen.unpack()?;
        let result = match (r.result, board.turn) {
            (0, _) => GameResult::Draw,
            (1, Color::Black) | (-1, Color::White) => GameResult::BlackWin,
            _ => GameResult::WhiteWin,
        };
        Ok(Scored { board, ply: r.ply, mv: r.mv, score: r.score, result, padding: r.padding })
    }
}

impl TryFrom<&HcpEval> for Scored {
    type Error = RecordError;

    fn try_from(r: &HcpEval) -> Result<Scored, RecordError> {
        let board = r.hcp.unpack()?;
        let mv = from_apery_move(r.mv).ok_or(RecordError::Packed("a move that is none"))?;
        // hcpe has no ply: the turn is all that is known of it
        let ply = if board.turn == Color::Black { 1 } else { 2 };
        Ok(Scored { board, ply, mv, score: r.eval, result: r.result, padding: r.padding })
    }
}
