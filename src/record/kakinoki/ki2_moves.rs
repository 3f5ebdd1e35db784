//! Moves as KI2 writes them: no origin, but a word where several pieces could go there: `▲５八金右`.

use super::kif_moves::{from_origin, move_text as kif_move_text, strip_target};
use super::pieces::strip_kind;
use crate::position::{Illegal, Position};
use crate::record::error::{BadMove, excerpt};
use crate::record::notation;
use crate::support::messages;
use crate::types::{Color, Move, PieceType, Square};
use std::cmp::Ordering;

/// The words that distinguish the origin of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relative {
    /// 左, 直, 右
    pub side: Option<Side>,
    /// 上, 寄, 引
    pub way: Option<Way>,
    /// 打: not from the board.
    pub drop: bool,
}

/// On which side of its target a piece stands, seen by its player; 直 is right behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// 左
    Left,
    /// 直
    Straight,
    /// 右
    Right,
}

/// Which way a piece goes, seen by its player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// 上
    Forward,
    /// 寄
    Sideways,
    /// 引
    Back,
}

impl Relative {
    /// Takes the word at the beginning of a text, if there is one.
    fn strip<'a>(&mut self, text: &'a str) -> Option<&'a str> {
        let first = text.chars().next()?;
        match first {
            '左' => self.side = Some(Side::Left),
            '直' => self.side = Some(Side::Straight),
            '右' => self.side = Some(Side::Right),
            '上' | '行' | '入' => self.way = Some(Way::Forward),
            '寄' => self.way = Some(Way::Sideways),
            '引' => self.way = Some(Way::Back),
            '打' => self.drop = true,
            _ => return None,
        }
        Some(&text[first.len_utf8()..])
    }
}

/// Where a move comes from, from its player's view.
fn direction(m: Move, side: Color) -> (Ordering, Way) {
    let (from, to) = (m.from(), m.to());
    // Black sees the first file on the right and moves towards the first rank
    let (files, ranks) = (from.file().cmp(&to.file()), from.rank().cmp(&to.rank()));
    let (files, ranks) =
        if side == Color::Black { (files, ranks) } else { (files.reverse(), ranks.reverse()) };
    let way = match ranks {
        Ordering::Greater => Way::Forward,
        Ordering::Equal => Way::Sideways,
        Ordering::Less => Way::Back,
    };
    (files, way)
}

/// The move of that kind of piece to a square that the words describe.
///
/// # Errors
/// When it is none, or more than one.
pub(in crate::record) fn find_move(
    position: &Position,
    to: Square,
    kind: PieceType,
    promotes: bool,
    relative: Relative,
) -> Result<Move, BadMove> {
    let us = position.side_to_move();
    let legal = position.legal_moves(true);
    let moves = legal.iter().map(|m| m.mv).filter(|m| m.to() == to && m.piece_before().kind() == kind);
    let (drops, board): (Vec<Move>, Vec<Move>) = moves.partition(|m| m.is_drop());
    let mut board: Vec<Move> = board.into_iter().filter(|m| m.is_promotion() == promotes).collect();
    let drop = drops.first().copied().filter(|_| !promotes);
    if relative.drop {
        return drop.ok_or_else(|| why_not(position, to, kind, promotes, relative));
    }
    let both_ways = matches!(kind, PieceType::HORSE | PieceType::DRAGON);
    board.retain(|m| {
        let (files, way) = direction(*m, us);
        let side = match relative.side {
            None => true,
            Some(Side::Straight) => files == Ordering::Equal && way == Way::Forward,
            // of two horses or dragons the one behind the target may be the left or the right one
            Some(Side::Left) if both_ways => files != Ordering::Less,
            Some(Side::Right) if both_ways => files != Ordering::Greater,
            Some(Side::Left) => files == Ordering::Greater,
            Some(Side::Right) => files == Ordering::Less,
        };
        side && relative.way.is_none_or(|w| w == way)
    });
    if both_ways && board.len() > 1 && relative.side.is_some() {
        board.retain(|m| direction(*m, us).0 != Ordering::Equal);
    }
    match (board.as_slice(), drop) {
        ([only], _) => Ok(*only),
        ([], Some(drop)) if relative == Relative::default() => Ok(drop),
        ([], _) => Err(why_not(position, to, kind, promotes, relative)),
        _ => Err(BadMove::Text(messages::ambiguous_move(board.len()))),
    }
}

/// Why no piece of that kind makes such a move.
fn why_not(position: &Position, to: Square, kind: PieceType, promotes: bool, relative: Relative) -> BadMove {
    let us = position.side_to_move();
    let origins = Square::all().filter(|&sq| position.piece_on(sq) == kind.of(us));
    let board = origins.filter(|_| !relative.drop).map(|from| match promotes && kind.can_promote() {
        true => Move::promotion(from, to, kind.of(us)),
        false => Move::normal(from, to, kind.of(us)),
    });
    let may_drop = PieceType::HAND.contains(&kind) && !promotes && position.hand(us).count(kind) > 0;
    let drops = relative.drop || may_drop && relative == Relative::default();
    let drop = (drops && PieceType::HAND.contains(&kind)).then(|| Move::drop(kind.of(us), to));
    board
        .chain(drop)
        .filter_map(|m| position.parse_move(&m.to_string()).err())
        .filter(|e| e.reason != Illegal::OutOfReach)
        .map(|e| BadMove::of(us, &e))
        .next()
        .unwrap_or_else(|| BadMove::Text(messages::no_piece_moves()))
}

/// Reads a move, with or without the mark of its player.
pub(super) fn read_move(position: &Position, last: Option<Square>, text: &str) -> Result<Move, BadMove> {
    let bad = || BadMove::Text(messages::not_a_move(excerpt(text), "KI2"));
    let (to, rest) = strip_target(text.trim_start_matches(MARKS), last).ok_or_else(bad)?;
    let (kind, mut rest) = strip_kind(rest.trim_start_matches(['　', ' '])).ok_or_else(bad)?;
    let (mut relative, mut promotes) = (Relative::default(), false);
    loop {
        rest = if let Some(behind) = relative.strip(rest) {
            behind
        } else if let Some(behind) = rest.strip_prefix("不成") {
            behind
        } else if let Some(behind) = rest.strip_prefix('成') {
            promotes = true;
            behind
        } else {
            break;
        };
    }
    let failed = |e: BadMove| e.map(|what| messages::move_text(excerpt(text), what));
    let to = to.map_err(BadMove::Text)?;
    let rest = rest.trim_end();
    if rest.is_empty() {
        return find_move(position, to, kind, promotes, relative).map_err(failed);
    }
    // old records name the origin as KIF does
    let m = from_origin(position, to, kind, promotes, rest).ok_or_else(bad)?;
    let m = m.map_err(|what| failed(BadMove::Text(what)))?;
    position.parse_move(&m.to_string()).map_err(|e| failed(BadMove::of(position.side_to_move(), &e)))
}

/// The marks of players.
pub(in crate::record) const MARKS: [char; 8] = ['▲', '△', '▼', '▽', '☗', '☖', '⛊', '⛉'];

/// A move; `last` is the target of the one before, for 同.
pub(super) fn move_text(position: &Position, last: Option<Square>, m: Move) -> String {
    let text = notation::spell(position, last, m, "同　");
    if read_move(position, last, &text) == Ok(m) {
        return text;
    }
    // where the words are ambiguous, the origin is added, as in old records
    let mark = if m.piece().color() == Color::Black { MARKS[0] } else { MARKS[1] };
    format!("{mark}{}", kif_move_text(m, last))
}

/// The words for a move's origin, where they are needed.
pub fn relative_of(position: &Position, m: Move) -> Relative {
    let text = notation::spell(position, None, m, "");
    let mut relative = Relative::default();
    let words = text.find(['左', '直', '右', '上', '寄', '引', '打']).map_or("", |i| &text[i..]);
    let mut rest = words;
    while let Some(behind) = relative.strip(rest) {
        rest = behind;
    }
    relative
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::random::Rng;

    #[test]
    fn every_move_of_random_games_reads_back() {
        let mut random = Rng::new(13);
        for _ in 0..3 {
            let mut position = Position::startpos();
            let mut last = None;
            for _ in 0..120 {
                let moves = position.legal_moves(true);
                if moves.is_empty() {
                    break;
                }
                for m in &moves {
                    let text = move_text(&position, last, m.mv);
                    assert!(!text.contains('('), "{text} {}", position.sfen());
                    assert_eq!(read_move(&position, last, &text), Ok(m.mv), "{text} {}", position.sfen());
                }
                let m = moves[random.below(moves.len())].mv;
                position.do_move(m);
                last = Some(m.to());
            }
        }
    }

    fn moves(sfen: &str, text: &str) -> Result<String, String> {
        let found = read_move(&Position::from_sfen(sfen).unwrap(), None, text);
        found.map(|m| m.to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn the_words_of_the_shogi_association() {
        // the examples of its page: golds, silvers, then two dragons and two horses
        let golds = "9/2G3G2/9/9/9/9/9/4k4/K8 b - 1";
        assert_eq!(moves("9/2G6/6G2/9/9/9/9/4k4/K8 b - 1", "▲８二金").unwrap(), "7b8b");
        assert_eq!(moves(golds, "▲６二金").unwrap(), "7b6b");
        let both = "9/3G5/5G3/9/9/9/9/4k4/K8 b - 1";
        assert_eq!(moves(both, "▲５二金寄").unwrap(), "6b5b");
        assert_eq!(moves(both, "▲５二金上").unwrap(), "4c5b");
        assert!(moves(both, "▲５二金").unwrap_err().contains("2 pieces"));
        let dragons = "+R8/9/9/9/1+R7/9/9/4k4/K8 b - 1";
        assert_eq!(moves(dragons, "▲８一龍引").unwrap_err(), "`▲８一龍引`: no piece can move so");
        assert_eq!(moves(dragons, "▲８一龍寄").unwrap(), "9a8a");
        assert_eq!(moves(dragons, "▲８一龍左").unwrap(), "9a8a");
        assert_eq!(moves(dragons, "▲８一竜右").unwrap(), "8e8a");
        assert_eq!(moves("4k4/9/9/9/9/9/9/3G1G3/4K4 b G 1", "５八金打").unwrap(), "G*5h");
        assert_eq!(moves("4k4/9/9/9/9/9/9/9/4K4 b G 1", "☗５八金").unwrap(), "G*5h");
        assert_eq!(moves("4k4/9/9/9/9/9/9/3G1G3/4K4 b G 1", "▲５八金(68)").unwrap(), "6h5h");
        for wrong in ["▲５八", "▲５八金成", "▲同　金", "▲５八金x", "▲５八金(6)", "▲５八金(00)"]
        {
            assert!(moves("4k4/9/9/9/9/9/9/3G1G3/4K4 b G 1", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_said_about_an_origin() {
        let position = Position::from_sfen("4k4/9/9/9/9/9/9/3G1G3/4K4 b G 1").unwrap();
        let of = |m: &str| relative_of(&position, position.parse_move(m).unwrap());
        assert_eq!(of("6h5h"), Relative { side: Some(Side::Left), ..Relative::default() });
        assert!(of("G*5h").drop && !of("G*5b").drop);
    }
}
