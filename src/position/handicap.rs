//! Initial positions: the even game, and the handicaps by their Japanese names.

use super::{Position, SfenError};
use crate::types::{Color, Piece, Square};

/// Name in Japanese and English, and file and rank of each missing piece. White's left is on Black's right: the
/// first file.
const HANDICAPS: [(&str, &str, &[u8]); 15] = [
    ("香落ち", "lance", &[11]),
    ("右香落ち", "right lance", &[91]),
    ("角落ち", "bishop", &[22]),
    ("飛車落ち", "rook", &[82]),
    ("飛香落ち", "rook and lance", &[82, 11]),
    ("二枚落ち", "two pieces", &[82, 22]),
    ("三枚落ち", "three pieces", &[82, 22, 11]),
    ("四枚落ち", "four pieces", &[82, 22, 11, 91]),
    ("五枚落ち", "five pieces", &[82, 22, 11, 91, 81]),
    ("左五枚落ち", "five pieces, left", &[82, 22, 11, 91, 21]),
    ("六枚落ち", "six pieces", &[82, 22, 11, 91, 21, 81]),
    ("左七枚落ち", "seven pieces, left", &[82, 22, 11, 91, 21, 81, 31]),
    ("右七枚落ち", "seven pieces, right", &[82, 22, 11, 91, 21, 81, 71]),
    ("八枚落ち", "eight pieces", &[82, 22, 11, 91, 21, 81, 31, 71]),
    ("十枚落ち", "ten pieces", &[82, 22, 11, 91, 21, 81, 31, 71, 41, 61]),
];

/// The position of a handicap, White to move; the even game is 平手. `None` for other names (その他).
pub fn position(name: &str) -> Option<Result<Position, SfenError>> {
    if name == "平手" {
        return Some(Ok(Position::startpos()));
    }
    let (.., missing) = HANDICAPS.iter().find(|(n, ..)| *n == name)?;
    let mut board = *Position::startpos().board();
    for square in *missing {
        board[Square::new(square / 10 - 1, square % 10 - 1).index()] = Piece::NONE;
    }
    Some(Position::from_parts(board, [[0; 8]; 2], Color::White, 1))
}

/// The name that [`position`] knows for one as people write it: with digits, without ち, with a remark behind it.
pub fn spelled(text: &str) -> Option<&'static str> {
    const OTHERS: [(&str, &str); 8] = [
        ("左香落", "香落ち"),
        ("香車落", "香落ち"),
        ("角行落", "角落ち"),
        ("飛落", "飛車落ち"),
        ("飛車香落", "飛香落ち"),
        ("なし", "平手"),
        ("無し", "平手"),
        ("互先", "平手"),
    ];
    let digit = |c: char| match c.to_digit(10).or_else(|| u32::from(c).checked_sub(u32::from('０'))) {
        Some(n @ 1..=9) => ['一', '二', '三', '四', '五', '六', '七', '八', '九'][n as usize - 1],
        _ => c,
    };
    let name = text.split(['#', '(', '（', ' ', '　', '/']).next()?;
    let name: String = name.replace("10", "十").replace("１０", "十").chars().map(digit).collect();
    let name = name.strip_suffix('ち').unwrap_or(&name);
    let known = HANDICAPS.iter().map(|(name, ..)| (name.trim_end_matches('ち'), *name));
    known.chain(OTHERS).chain([("平手", "平手")]).find(|(short, _)| *short == name).map(|(_, name)| name)
}

/// The name of a position, if it is the initial position of an even game or of a handicap with a name.
pub fn name(of: &Position) -> Option<&'static str> {
    if has_name(of, "平手") { Some("平手") } else { names(of).map(|[japanese, _]| japanese) }
}

/// The names of a handicap in Japanese and English, if the position is the initial one of a handicap with a name.
pub fn names(of: &Position) -> Option<[&'static str; 2]> {
    let known = HANDICAPS.iter().find(|(name, ..)| has_name(of, name));
    known.map(|(japanese, english, _)| [*japanese, *english])
}

fn has_name(of: &Position, name: &str) -> bool {
    matches!(position(name), Some(Ok(p)) if p.key() == of.key() && p.board() == of.board())
}

/// 歩三兵: White has the king and three pawns in hand. Record formats have no name for it.
const THREE_PAWNS: &str = "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w 3p 1";

/// The positions from which games begin, the even one first.
pub fn starts() -> impl Iterator<Item = Position> {
    let named = HANDICAPS.iter().filter_map(|(name, ..)| position(name)?.ok());
    std::iter::once(Position::startpos()).chain(named).chain(Position::from_sfen(THREE_PAWNS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handicaps_have_names() {
        for (n, _, missing) in HANDICAPS {
            let p = position(n).unwrap().unwrap();
            assert_eq!(p.occupied().count() as usize, 40 - missing.len());
            assert_eq!(name(&p), Some(n));
            assert!(names(&p).is_some_and(|[japanese, english]| japanese == n && english.is_ascii()));
        }
        assert_eq!(starts().count(), 1 + HANDICAPS.len() + 1);
        assert_eq!(name(&Position::startpos()), Some("平手"));
        assert!(position("その他").is_none());
        for (text, name) in [
            ("2枚落ち", "二枚落ち"),
            ("２枚落", "二枚落ち"),
            ("10枚落ち", "十枚落ち"),
            ("飛落ち", "飛車落ち"),
            ("左香落ち", "香落ち"),
            ("二枚落ち（飛車と角）", "二枚落ち"),
            ("平手 # even", "平手"),
            ("互先", "平手"),
        ] {
            assert_eq!(spelled(text), Some(name), "{text}");
        }
        assert!(HANDICAPS.iter().all(|(name, ..)| spelled(name) == Some(name)));
        assert_eq!(["", "その他", "詰将棋", "二枚"].map(spelled), [None; 4]);
        let two = "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1";
        assert_eq!(name(&Position::from_sfen(two).unwrap()), Some("二枚落ち"));
    }
}
