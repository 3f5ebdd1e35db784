//! The board as shogi books draw it.

use crate::position::Position;
use crate::types::{Color, PieceType, Square};
use std::fmt;

const KANJI: [&str; PieceType::NUM] =
    ["・", "歩", "香", "桂", "銀", "角", "飛", "金", "玉", "と", "杏", "圭", "全", "馬", "竜", "・"];
const FILES: [&str; 9] = ["１", "２", "３", "４", "５", "６", "７", "８", "９"];
const RANKS: [&str; 9] = ["一", "二", "三", "四", "五", "六", "七", "八", "九"];
const COUNTS: [&str; 19] = [
    "", "", "二", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二", "十三", "十四", "十五",
    "十六", "十七", "十八",
];

/// Displays a position as a diagram: White's hand, the board from Black's side (`v` marks White's pieces),
/// Black's hand, whose turn it is.
pub struct Diagram<'a>(pub &'a Position);

impl Diagram<'_> {
    fn hand(&self, color: Color) -> String {
        let hand = self.0.hand(color);
        let pieces: Vec<String> = PieceType::HAND
            .iter()
            .filter(|k| hand.has(**k))
            .map(|k| format!("{}{}", KANJI[k.index()], COUNTS[(hand.count(*k) as usize).min(18)]))
            .collect();
        if pieces.is_empty() { "なし".into() } else { pieces.join("　") }
    }
}

impl fmt::Display for Diagram<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = self.0;
        writeln!(f, "後手の持駒：{}", self.hand(Color::White))?;
        write!(f, " ")?;
        FILES.iter().rev().try_for_each(|file| write!(f, " {file}"))?;
        writeln!(f)?;
        writeln!(f, "+---------------------------+")?;
        for rank in 0..9u8 {
            write!(f, "|")?;
            for file in (0..9u8).rev() {
                let square = Square::new(file, rank);
                let piece = position.piece_on(square);
                let mark = if piece.is_some() && piece.color() == Color::White { "v" } else { " " };
                write!(f, "{mark}{}", KANJI[piece.kind().index()])?;
            }
            writeln!(f, "|{}", RANKS[usize::from(rank)])?;
        }
        writeln!(f, "+---------------------------+")?;
        writeln!(f, "先手の持駒：{}", self.hand(Color::Black))?;
        let side = if position.side_to_move() == Color::Black { "先手" } else { "後手" };
        let check = if position.in_check() { "（王手）" } else { "" };
        write!(f, "手番：{side}　手数：{}{check}", position.game_ply())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_position() {
        let text = Diagram(&Position::startpos()).to_string();
        assert!(text.contains("|v香v桂v銀v金v玉v金v銀v桂v香|一"), "{text}");
        assert!(text.contains("| 香 桂 銀 金 玉 金 銀 桂 香|九"), "{text}");
        assert!(text.ends_with("手番：先手　手数：1"), "{text}");
    }

    #[test]
    fn hands_are_counted() {
        let position = Position::from_sfen("4k4/9/9/9/9/9/9/9/4K4 w R2B11Pgs 7").unwrap();
        let text = Diagram(&position).to_string();
        assert!(text.contains("後手の持駒：金　銀\n"), "{text}");
        assert!(text.contains("先手の持駒：飛　角二　歩十一\n"), "{text}");
    }
}
