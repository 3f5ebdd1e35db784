//! Moves as KIF writes them: target, kind *before* the move, 成 or 打, and the origin in brackets: `７六歩(77)`.

use super::pieces::{FILES, MOVE_KINDS, RANKS, strip_kind};
use crate::position::Position;
use crate::record::error::{BadMove, excerpt};
use crate::support::messages;
use crate::types::{Move, PieceType, Square};

/// A move; `last` is the target of the one before, for 同.
pub fn move_text(m: Move, last: Option<Square>) -> String {
    let to = m.to();
    let target = if last == Some(to) {
        "同　".to_string()
    } else {
        format!("{}{}", FILES[usize::from(to.file())], RANKS[usize::from(to.rank())])
    };
    let kind = MOVE_KINDS[m.piece_before().kind().index()];
    if m.is_drop() {
        return format!("{target}{kind}打");
    }
    let promotes = if m.is_promotion() { "成" } else { "" };
    format!("{target}{kind}{promotes}({}{})", m.from().file() + 1, m.from().rank() + 1)
}

/// Reads a move and accepts it if it is legal. `None` when the text does not begin like a move.
pub(super) fn read_move(
    position: &Position,
    last: Option<Square>,
    text: &str,
) -> Option<Result<Move, BadMove>> {
    let (to, rest) = strip_target(text, last)?;
    Some(to.map_err(BadMove::Text).and_then(|to| read_rest(position, to, rest, text)))
}

/// The target and what follows it.
pub(super) fn strip_target(text: &str, last: Option<Square>) -> Option<(Result<Square, String>, &str)> {
    if let Some(rest) = text.strip_prefix('同') {
        let to = last.ok_or_else(messages::same_at_first);
        return Some((to, rest.trim_start_matches(['　', ' '])));
    }
    let mut chars = text.chars();
    let file = chars.next()?;
    let file = FILES.iter().position(|f| *f == file).or_else(|| digit(file))?;
    let rank = chars.next()?;
    let rank = RANKS
        .iter()
        .position(|r| *r == rank)
        .or_else(|| FILES.iter().position(|r| *r == rank))
        .or_else(|| digit(rank))?;
    Some((Ok(Square::new(file as u8, rank as u8)), chars.as_str()))
}

/// 0 to 8 for `1` to `9`.
fn digit(c: char) -> Option<usize> {
    c.to_digit(10).and_then(|n| n.checked_sub(1)).map(|n| n as usize)
}

fn read_rest(position: &Position, to: Square, rest: &str, text: &str) -> Result<Move, BadMove> {
    let bad = || BadMove::Text(messages::not_a_move(excerpt(text), "KIF"));
    let failed = |e: BadMove| e.map(|what| messages::move_text(excerpt(text), what));
    let (kind, rest) = strip_kind(rest).ok_or_else(bad)?;
    let side = position.side_to_move();
    let m = if rest.trim_end() == "打" {
        if !(1..=7).contains(&kind.0) {
            return Err(bad());
        }
        Move::drop(kind.of(side), to)
    } else {
        let (promotes, origin) = match (rest.strip_prefix('成'), rest.strip_prefix("不成")) {
            (Some(origin), _) => (true, origin),
            (None, origin) => (false, origin.unwrap_or(rest)),
        };
        let origin = origin.trim_start_matches(['　', ' ']).trim_end();
        from_origin(position, to, kind, promotes, origin)
            .ok_or_else(bad)?
            .map_err(|what| failed(BadMove::Text(what)))?
    };
    position.parse_move(&m.to_string()).map_err(|e| failed(BadMove::of(side, &e)))
}

/// The move from an origin in brackets, `(77)`; an error if another piece stands there, `None` if it is no origin.
pub(super) fn from_origin(
    position: &Position,
    to: Square,
    kind: PieceType,
    promotes: bool,
    text: &str,
) -> Option<Result<Move, String>> {
    let origin = text.strip_prefix('(')?.strip_suffix(')')?;
    let digits: Vec<usize> = origin.chars().map_while(digit).collect();
    let (&[file, rank], true) = (digits.as_slice(), origin.len() == 2) else { return None };
    let from = Square::new(file as u8, rank as u8);
    let (side, before) = (position.side_to_move(), position.piece_on(from));
    if before.is_some() && before != kind.of(side) && before != kind.of(!side) {
        return Some(Err(messages::not_on_square(origin)));
    }
    match promotes {
        true if !kind.can_promote() => None,
        true => Some(Ok(Move::promotion(from, to, kind.of(side)))),
        false => Some(Ok(Move::normal(from, to, kind.of(side)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::random::Rng;

    #[test]
    fn every_move_of_random_games_reads_back() {
        let mut random = Rng::new(11);
        for _ in 0..20 {
            let mut position = Position::startpos();
            let mut last = None;
            for _ in 0..150 {
                let moves = position.legal_moves(true);
                if moves.is_empty() {
                    break;
                }
                for m in &moves {
                    let text = move_text(m.mv, last);
                    assert_eq!(
                        read_move(&position, last, &text),
                        Some(Ok(m.mv)),
                        "{text} {}",
                        position.sfen()
                    );
                }
                let m = moves[random.below(moves.len())].mv;
                position.do_move(m);
                last = Some(m.to());
            }
        }
    }

    #[test]
    fn other_spellings() {
        let p = Position::startpos();
        let read = |text| read_move(&p, None, text);
        for text in ["７六歩(77)", "76歩(77)", "7六歩(77)", "７６歩(77)", "７六歩不成(77)"] {
            assert_eq!(read(text).unwrap().unwrap().to_string(), "7g7f", "{text}");
        }
        for text in [
            "７六歩",
            "７六(77)",
            "７六歩成(77)",
            "７六金(77)",
            "７六歩打",
            "同　歩(77)",
            "７五歩(77)",
            "７六歩(7)",
        ] {
            assert!(read(text).unwrap().is_err(), "{text}");
        }
        assert!(read("投了").is_none());
    }
}
