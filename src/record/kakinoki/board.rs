//! The diagram of a position: nine ranks between rules, the hands above and below.

use super::pieces::{KINDS, RANKS, half_width, player, strip_kind};
use crate::position::{Position, SfenError};
use crate::record::error::excerpt;
use crate::support::messages;
use crate::types::{Color, Piece, PieceType, Square};
use std::fmt::Write;

/// What is collected of a diagram.
pub struct DiagramReader {
    board: [Piece; Square::NUM],
    in_hand: [[u32; 8]; 2],
    ranks: u8,
}

impl Default for DiagramReader {
    fn default() -> DiagramReader {
        DiagramReader { board: [Piece::NONE; Square::NUM], in_hand: [[0; 8]; 2], ranks: 0 }
    }
}

impl DiagramReader {
    /// Whether any rank was read.
    pub fn has_board(&self) -> bool {
        self.ranks > 0
    }

    /// Reads a rank: `|v香v桂 ・...|一`.
    pub fn rank(&mut self, line: &str) -> Result<(), String> {
        let bad = || messages::not_a_rank(excerpt(line));
        let inner = line.strip_prefix('|').and_then(|l| l.split('|').next()).ok_or_else(bad)?;
        if self.ranks == 9 {
            return Err(messages::tenth_rank());
        }
        let mut rest = inner;
        for file in (0..9).rev() {
            let (color, text) = match rest.chars().next() {
                Some('v' | 'V') => (Color::White, &rest[1..]),
                Some(' ' | '^') => (Color::Black, &rest[1..]),
                _ => return Err(bad()),
            };
            rest = match text.strip_prefix('・') {
                Some(behind) => behind,
                None => {
                    let (kind, behind) = strip_kind(text).ok_or_else(bad)?;
                    self.board[Square::new(file, self.ranks).index()] = kind.of(color);
                    behind
                }
            };
        }
        if !rest.trim().is_empty() {
            return Err(bad());
        }
        self.ranks += 1;
        Ok(())
    }

    /// Reads a hand: `飛二　金　歩十七`, or `なし`.
    pub fn hand(&mut self, color: Color, text: &str) -> Result<(), String> {
        let bad = |what: &str| messages::not_in_hand(excerpt(what));
        let mut hand = [0; 8];
        // some programs leave the blanks out
        for word in text.split(['　', ' ']).filter(|w| !w.is_empty() && *w != "なし") {
            let mut rest = word;
            while !rest.is_empty() {
                let (kind, behind) = strip_kind(rest).ok_or_else(|| bad(word))?;
                if !PieceType::HAND.contains(&kind) {
                    return Err(bad(word));
                }
                let is_number = |c: char| c == '十' || RANKS.contains(&c) || read_digit(c).is_some();
                let (number, behind) =
                    behind.split_at(behind.find(|c| !is_number(c)).unwrap_or(behind.len()));
                let count =
                    if number.is_empty() { 1 } else { read_number(number).ok_or_else(|| bad(word))? };
                hand[kind.index()] += count;
                rest = behind;
            }
        }
        self.in_hand[color.index()] = hand;
        Ok(())
    }

    /// The position with that side to move, before the move of that number (from 1).
    pub fn finish(self, side: Color, ply: u32) -> Result<Position, String> {
        if self.ranks != 9 {
            return Err(messages::diagram_ranks(self.ranks));
        }
        Position::from_parts(self.board, self.in_hand, side, ply).map_err(|e: SfenError| e.to_string())
    }
}

/// A digit as some programs write it.
fn read_digit(c: char) -> Option<u32> {
    half_width(c).to_digit(10)
}

/// 一 to 十八, in digits, too.
fn read_number(text: &str) -> Option<u32> {
    if text.chars().all(|c| read_digit(c).is_some()) {
        let number = text.chars().filter_map(read_digit).take(3).fold(0, |n, digit| 10 * n + digit);
        return Some(number).filter(|n| (1..=18).contains(n) && !text.is_empty());
    }
    let digit = |c: char| RANKS.iter().position(|r| *r == c).map(|i| i as u32 + 1);
    let mut chars = text.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('十'), None, _) => Some(10),
        (Some('十'), Some(c), None) => Some(10 + digit(c)?),
        (Some(c), None, _) => digit(c),
        _ => None,
    }
    .filter(|n| *n <= 18)
}

fn write_number(n: u32) -> String {
    let digit = |n: u32| {
        n.checked_sub(1).and_then(|i| RANKS.get(i as usize)).map(char::to_string).unwrap_or_default()
    };
    if n >= 10 { format!("十{}", digit(n - 10)) } else { digit(n) }
}

/// The diagram with both hands, and a line `後手番` where White moves first.
pub fn write_diagram(position: &Position) -> String {
    let mut out = hand_line(position, Color::White);
    out += "  ９ ８ ７ ６ ５ ４ ３ ２ １\n+---------------------------+\n";
    for rank in 0..9 {
        out += "|";
        for file in (0..9).rev() {
            let piece = position.piece_on(Square::new(file, rank));
            let text = if piece.is_some() { KINDS[piece.kind().index()] } else { "・" };
            let side = if piece.is_some() && piece.color() == Color::White { 'v' } else { ' ' };
            // writing to a string cannot fail
            let _ = write!(out, "{side}{text}");
        }
        let _ = writeln!(out, "|{}", RANKS[usize::from(rank)]);
    }
    out += "+---------------------------+\n";
    out += &hand_line(position, Color::Black);
    if position.side_to_move() == Color::White {
        out += "後手番\n";
    }
    out
}

fn hand_line(position: &Position, color: Color) -> String {
    let hand = position.hand(color);
    let mut text = String::new();
    for kind in PieceType::HAND {
        match hand.count(kind) {
            0 => {}
            1 => text += &format!("{}　", KINDS[kind.index()]),
            n => text += &format!("{}{}　", KINDS[kind.index()], write_number(n)),
        }
    }
    if text.is_empty() {
        text += "なし";
    }
    format!("{}の持駒：{text}\n", player(color, false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hands_need_no_blanks() {
        for text in ["飛　角二　歩十七", "飛角二歩十七", "角　飛　歩十 歩七　角"] {
            let mut reader = DiagramReader::default();
            reader.hand(Color::Black, text).unwrap();
            assert_eq!(reader.in_hand[0], {
                let mut hand = [0; 8];
                for (kind, n) in [("飛", 1), ("角", 2), ("歩", 17)] {
                    hand[strip_kind(kind).unwrap().0.index()] = n;
                }
                hand
            });
        }
        assert!(DiagramReader::default().hand(Color::Black, "飛x").is_err());
    }

    #[test]
    fn numbers_read_back() {
        for n in 1..=18 {
            assert_eq!(read_number(&write_number(n)), Some(n));
        }
        assert_eq!(["2", "１７", "05"].map(read_number), [Some(2), Some(17), Some(5)]);
        for bad in ["", "十九", "零", "一二", "0", "19", "1000000000000"] {
            assert_eq!(read_number(bad), None, "{bad}");
        }
    }
}
