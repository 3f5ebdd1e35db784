//! Moves as Japanese books write them: ▲７六歩 △３四歩.

use crate::position::Position;
use crate::types::core::{Color as CoreColor, PartialPosition};
use crate::types::{Color, Move, PieceType, Square};
use shogi_official_kifu::display_single_move_kansuji;

/// A position in `shogi_core`'s terms, without history.
fn to_core(position: &Position) -> PartialPosition {
    let mut core = PartialPosition::empty();
    for square in Square::all() {
        let piece = position.piece_on(square);
        if piece.is_some() {
            core.piece_set(square.into(), Some(piece.into()));
        }
    }
    for color in Color::ALL {
        let hand = position.hand(color);
        let core_hand = core.hand_of_a_player_mut(color.into());
        for kind in PieceType::HAND {
            for _ in 0..hand.count(kind) {
                if let Some(more) = core_hand.added(kind.into()) {
                    *core_hand = more;
                }
            }
        }
    }
    core.side_to_move_set(CoreColor::from(position.side_to_move()));
    core
}

/// The moves of a line in Japanese notation. `before` is the position one move earlier with that move, if there is
/// one: a recapture on its square is written 同.
///
/// A move that cannot be spelled (there should be none) stands in USI.
pub fn line(position: &Position, before: Option<&(Position, Move)>, moves: &[Move]) -> Vec<String> {
    let mut core = match before {
        Some((before, last)) => {
            let mut core = to_core(before);
            match core.make_move((*last).into()) {
                Some(()) => core,
                None => to_core(position),
            }
        }
        None => to_core(position),
    };
    moves
        .iter()
        .take_while(|m| m.is_some())
        .map(|&m| {
            let text = display_single_move_kansuji(&core, m.into()).unwrap_or_else(|| m.to_string());
            // only for the next move's sake
            let _ = core.make_move(m.into());
            text
        })
        .collect()
}

/// One move in Japanese notation with its player's mark; where it recaptures on the last target, `same` (同) stands for
/// the square.
///
/// A move that cannot be spelled (there should be none) stands in USI.
pub fn spell(position: &Position, last: Option<Square>, m: Move, same: &str) -> String {
    let Some(text) = display_single_move_kansuji(&to_core(position), m.into()) else { return m.to_string() };
    if last != Some(m.to()) || same.is_empty() {
        return text;
    }
    // behind the mark stand two characters for the square
    let mut chars = text.chars();
    let mark = chars.next().map(String::from).unwrap_or_default();
    format!("{mark}{same}{}", chars.skip(2).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spell(sfen: Option<&str>, moves: &str) -> String {
        let root = sfen.map_or(Position::startpos(), |s| Position::from_sfen(s).unwrap());
        let mut position = root.clone();
        let moves: Vec<Move> = moves
            .split(' ')
            .map(|text| {
                let m = position.parse_move(text).unwrap();
                position.do_move(m);
                m
            })
            .collect();
        line(&root, None, &moves).join(" ")
    }

    #[test]
    fn an_exchange() {
        assert_eq!(spell(None, "7g7f 3c3d 8h2b+ 3a2b B*4e"), "▲７六歩 △３四歩 ▲２二角成 △同銀 ▲４五角");
    }

    #[test]
    fn which_of_two() {
        let sfen = "4k4/9/9/9/9/9/9/3G1G3/4K4 b G 1";
        assert_eq!(spell(Some(sfen), "6h5h"), "▲５八金右".replace('右', "左"));
        assert_eq!(spell(Some(sfen), "G*5h"), "▲５八金打");
    }

    #[test]
    fn the_last_move_counts() {
        let mut position = Position::startpos();
        for text in ["7g7f", "3c3d"] {
            position.do_move(position.parse_move(text).unwrap());
        }
        let take = position.parse_move("8h2b+").unwrap();
        let before = (position.clone(), take);
        position.do_move(take);
        let back = position.parse_move("3a2b").unwrap();
        assert_eq!(line(&position, Some(&before), &[back]), ["△同銀"]);
    }

    #[test]
    fn without_one_king() {
        assert_eq!(spell(Some("4k4/9/4P4/9/9/9/9/9/9 b G 1"), "G*5b"), "▲５二金");
    }
}
