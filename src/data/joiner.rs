//! From positions back to games: [`Joiner`].

use super::board::Board;
use super::error::RecordError;
use super::game::{EndReason, GameRecord, PlyRecord, Start};
use super::scored::Scored;
use crate::position::Position;

/// Joins positions to games: a position that follows from the previous one by its move, with the same result,
/// continues the game; any other starts a new one. From a shuffled file every game has a single ply.
#[derive(Default)]
pub struct Joiner {
    /// The unfinished game and the position after its last move.
    open: Option<(GameRecord, Position)>,
    next_id: u64,
}

impl Joiner {
    /// Adds the next position; returns the previous game if this starts a new one.
    ///
    /// # Errors
    /// A position or move that is not legal.
    pub fn push(&mut self, s: &Scored) -> Result<Option<GameRecord>, RecordError> {
        let illegal = |id, pos: &Position| RecordError::Move { game: id, ply: pos.game_ply(), raw: s.mv };
        let ply = PlyRecord { mv: s.mv, score: s.score, fit: true };
        if let Some((game, pos)) = &mut self.open
            && game.result == s.result
            && Board::of(pos) == s.board
        {
            let m = pos.legal_move(s.mv).ok_or_else(|| illegal(game.id, pos))?;
            pos.do_move(m);
            game.plies.push(ply);
            return Ok(None);
        }
        let mut pos = s.board.position(s.ply.max(1) as u32)?;
        let start = Start::of(&pos);
        let m = pos.legal_move(s.mv).ok_or_else(|| illegal(self.next_id, &pos))?;
        pos.do_move(m);
        let game = GameRecord {
            id: self.next_id,
            start,
            opening: Vec::new(),
            plies: vec![ply],
            result: s.result,
            reason: EndReason::Unknown,
        };
        self.next_id += 1;
        Ok(self.open.replace((game, pos)).map(|(game, _)| game))
    }

    /// The last game.
    pub fn finish(self) -> Option<GameRecord> {
        self.open.map(|(game, _)| game)
    }
}
