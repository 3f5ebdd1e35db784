//! From game files to the records of others and back.

use super::board::Board;
use super::game::{EndReason, GameRecord, GameResult, PlyRecord, RecordError, Start};
use super::hcp::{HuffmanCodedPos, from_apery_move, to_apery_move};
use super::hcpe::HcpEval;
use super::packed_sfen::PackedSfen;
use super::psv::PackedSfenValue;
use crate::position::Position;
use crate::types::Color;

/// Which plies of a game become records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plies {
    /// Those fit for training.
    Fit,
    All,
}

/// Calls `out` with a PackedSfenValue for each ply taken.
pub fn game_to_psv(
    game: &GameRecord,
    plies: Plies,
    mut out: impl FnMut(PackedSfenValue),
) -> Result<(), RecordError> {
    let mut problem = None;
    game.replay(|pos, ply, m| {
        if plies == Plies::Fit && !ply.fit {
            return;
        }
        match PackedSfen::pack(&Board::of(pos)) {
            Ok(sfen) => out(PackedSfenValue {
                sfen,
                score: ply.score,
                mv: m.raw16(),
                ply: pos.game_ply().min(u16::MAX as u32) as u16,
                result: game.result.sign(pos.side_to_move()),
                padding: 0,
            }),
            Err(e) => problem = Some(e),
        }
    })?;
    problem.map_or(Ok(()), Err)
}

/// Calls `out` with a HuffmanCodedPos record for each ply taken.
pub fn game_to_hcpe(
    game: &GameRecord,
    plies: Plies,
    mut out: impl FnMut(HcpEval),
) -> Result<(), RecordError> {
    let mut problem = None;
    game.replay(|pos, ply, m| {
        if plies == Plies::Fit && !ply.fit {
            return;
        }
        match HuffmanCodedPos::pack(&Board::of(pos)) {
            Ok(hcp) => out(HcpEval {
                hcp,
                eval: ply.score,
                mv: to_apery_move(m.raw16()),
                result: game.result,
                padding: 0,
            }),
            Err(e) => problem = Some(e),
        }
    })?;
    problem.map_or(Ok(()), Err)
}

/// A position with move, score and result, whatever record it came from.
#[derive(Clone, Debug)]
pub struct Scored {
    pub board: Board,
    pub ply: u16,
    pub mv: u16,
    pub score: i16,
    pub result: GameResult,
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
        Ok(Scored { board, ply: r.ply, mv: r.mv, score: r.score, result })
    }
}

impl TryFrom<&HcpEval> for Scored {
    type Error = RecordError;
    fn try_from(r: &HcpEval) -> Result<Scored, RecordError> {
        let board = r.hcp.unpack()?;
        let mv = from_apery_move(r.mv).ok_or(RecordError::Packed("a move that is none"))?;
        // hcpe has no ply: the turn is all that is known of it
        let ply = if board.turn == Color::Black { 1 } else { 2 };
        Ok(Scored { board, ply, mv, score: r.eval, result: r.result })
    }
}

/// Puts positions back together to games: a position that follows from the one before by its move, with the same result,
/// goes on with the same game; any other starts a new one (with a single ply, in a shuffled file).
#[derive(Default)]
pub struct Joiner {
    /// The game in the making and the position after its last move.
    open: Option<(GameRecord, Position)>,
    next_id: u64,
}

impl Joiner {
    /// Takes the next position; returns a game when it is complete.
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
            let m = pos.expand(s.mv);
            if !(m.is_some() && pos.is_pseudo_legal(m, true) && pos.is_legal(m)) {
                return Err(illegal(game.id, pos));
            }
            pos.do_move(m);
            game.plies.push(ply);
            return Ok(None);
        }
        let mut pos = s.board.position(s.ply.max(1) as u32)?;
        let start = Start::of(&pos);
        let m = pos.expand(s.mv);
        if !(m.is_some() && pos.is_pseudo_legal(m, true) && pos.is_legal(m)) {
            return Err(illegal(self.next_id, &pos));
        }
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
