//! Moves as CSA writes them: colour, origin (`00` for a drop), target, and the kind *after* the move:
//! `+7776FU`.

use super::names::{KINDS, color_of, digits, kind_of, sign, square_of};
use crate::position::{MoveError, Position};
use crate::record::error::{excerpt, why_illegal};
use crate::support::messages;
use crate::types::{Move, Square};

/// Why a text is not a legal move here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum MoveTextError {
    #[error("{}", messages::not_a_move(.0, "CSA"))]
    Notation(String),
    #[error("{}", messages::move_text(.0, messages::other_turn()))]
    Turn(String),
    #[error("{}", messages::move_text(.0, messages::not_on_origin()))]
    Kind(String),
    #[error("{}", messages::move_text(.text, why_illegal(.reason)))]
    Illegal { text: String, reason: MoveError },
}

/// A move on the board in CSA notation. The colour is that of the piece.
pub fn move_text(m: Move) -> String {
    let from = if m.is_drop() { "00".to_string() } else { digits(m.from()) };
    let kind = KINDS.get(m.piece().kind().index()).unwrap_or(&"  ");
    format!("{}{from}{}{kind}", sign(m.piece().color()), digits(m.to()))
}

/// Reads a move and accepts it if it is legal in the position.
///
/// # Errors
/// See [`MoveTextError`].
pub fn read_move(position: &Position, text: &str) -> Result<Move, MoveTextError> {
    let notation = || MoveTextError::Notation(excerpt(text));
    if text.len() != 7 || !text.is_ascii() {
        return Err(notation());
    }
    let color = text.chars().next().and_then(color_of).ok_or_else(notation)?;
    let to = square_of(&text[3..5]).ok_or_else(notation)?;
    let kind = kind_of(&text[5..]).ok_or_else(notation)?;
    if color != position.side_to_move() {
        return Err(MoveTextError::Turn(text.into()));
    }
    let m = if &text[1..3] == "00" {
        if !(1..=7).contains(&kind.0) {
            return Err(notation());
        }
        Move::drop(kind.of(color), to)
    } else {
        let from: Square = square_of(&text[1..3]).ok_or_else(notation)?;
        let before = position.piece_on(from);
        if before.is_none() || before == kind.of(color) {
            // an empty origin is reported by the rules
            Move::normal(from, to, kind.of(color))
        } else if before.kind().can_promote() && before.kind().promoted() == kind {
            Move::promotion(from, to, before)
        } else {
            return Err(MoveTextError::Kind(text.into()));
        }
    };
    position.parse_move(&m.to_string()).map_err(|reason| MoveTextError::Illegal { text: text.into(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::random::Rng;

    #[test]
    fn every_move_of_random_games_reads_back() {
        let mut random = Rng::new(7);
        for _ in 0..20 {
            let mut position = Position::startpos();
            for _ in 0..150 {
                let moves = position.legal_moves(true);
                if moves.is_empty() {
                    break;
                }
                for m in &moves {
                    assert_eq!(read_move(&position, &move_text(m.mv)), Ok(m.mv), "{}", position.sfen());
                }
                position.do_move(moves[random.below(moves.len())].mv);
            }
        }
    }

    #[test]
    fn what_is_no_move_is_said() {
        let position = Position::startpos();
        let wrong = |text: &str| read_move(&position, text).unwrap_err();
        for text in ["", "+7776", "+7776FUX", "7776FU", "+7776XX", "+0076TO", "+7076FU", "+７776F", "*7776FU"]
        {
            assert!(matches!(wrong(text), MoveTextError::Notation(_)), "{text}");
        }
        assert!(matches!(wrong("-3334FU"), MoveTextError::Turn(_)));
        assert!(matches!(wrong("+7776KI"), MoveTextError::Kind(_)));
        for text in ["+7775FU", "+0055FU", "+5554FU", "+3334FU"] {
            assert!(matches!(wrong(text), MoveTextError::Illegal { .. } | MoveTextError::Kind(_)), "{text}");
        }
    }
}
