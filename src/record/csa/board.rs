//! The lines that describe a starting position: `PI`, `P1` to `P9`, `P+` and `P-`, and the side to move.

use super::names::{KINDS, color_of, digits, kind_of, sign, square_of};
use crate::position::{Position, SET, SfenError};
use crate::record::error::excerpt;
use crate::support::messages;
use crate::types::{Color, Piece, PieceType, Square};
use std::fmt::Write;

/// What is wrong with the description of a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum BoardError {
    #[error("{}", messages::not_a_position(.0))]
    Line(String),
    #[error("{}", messages::no_piece_and_square(.text, .found))]
    Piece { text: String, found: String },
    #[error("{}", messages::nothing_to_take_away(.text, .square))]
    NotThere { text: String, square: String },
    #[error("{}", messages::square_occupied(.text, .square))]
    Occupied { text: String, square: String },
    #[error("{}", messages::no_piece_left(.text))]
    NoneLeft { text: String },
    #[error("{}", messages::impossible_position(.0))]
    Impossible(#[from] SfenError),
}

/// Collects the lines of a position.
#[derive(Clone)]
pub struct BoardReader {
    board: [Piece; Square::NUM],
    in_hand: [[u32; 8]; 2],
    /// Whether any line was read; the initial position otherwise.
    any: bool,
}

impl Default for BoardReader {
    fn default() -> BoardReader {
        BoardReader { board: [Piece::NONE; Square::NUM], in_hand: [[0; 8]; 2], any: false }
    }
}

impl BoardReader {
    /// Reads a line that begins with `P`.
    ///
    /// # Errors
    /// See [`BoardError`].
    pub fn line(&mut self, text: &str) -> Result<(), BoardError> {
        let bad = || BoardError::Line(excerpt(text));
        self.any = true;
        let mut chars = text.strip_prefix('P').ok_or_else(bad)?.chars();
        let what = chars.next().ok_or_else(bad)?;
        let rest = chars.as_str();
        match what {
            'I' => self.initial(text, rest),
            '1'..='9' => self.rank(text, what as u8 - b'1', rest),
            _ => match color_of(what) {
                Some(color) => self.pieces(text, color, rest),
                None => Err(bad()),
            },
        }
    }

    /// `PI82HI22KA`: the initial position without these pieces.
    fn initial(&mut self, text: &str, rest: &str) -> Result<(), BoardError> {
        self.board = *Position::startpos().board();
        for found in chunks(rest, 4) {
            let (square, kind) = placed(text, &found)?;
            let there = &mut self.board[square.index()];
            if there.is_none() || there.kind() != kind {
                return Err(BoardError::NotThere { text: excerpt(text), square: digits(square) });
            }
            *there = Piece::NONE;
        }
        Ok(())
    }

    /// `P2 * -HI * ...`: nine squares from the 9th file. Editors and web pages strip or join blanks.
    fn rank(&mut self, text: &str, rank: u8, rest: &str) -> Result<(), BoardError> {
        let mut file = 9u8;
        let mut rest = rest.trim();
        while !rest.is_empty() {
            let length = if rest.starts_with('*') { 1 } else { 3 };
            let end = rest.char_indices().nth(length).map_or(rest.len(), |(i, _)| i);
            let (found, behind) = rest.split_at(end);
            rest = behind.trim_start();
            let piece = match found {
                "*" => Piece::NONE,
                piece => {
                    let mut chars = piece.chars();
                    let color = chars.next().and_then(color_of);
                    let piece = color.zip(kind_of(chars.as_str())).map(|(color, kind)| kind.of(color));
                    piece.ok_or_else(|| BoardError::Piece { text: excerpt(text), found: found.into() })?
                }
            };
            file = file.checked_sub(1).ok_or_else(|| BoardError::Line(excerpt(text)))?;
            self.put(text, Square::new(file, rank), piece)?;
        }
        if file == 0 { Ok(()) } else { Err(BoardError::Line(excerpt(text))) }
    }

    /// `P+99KY00FU`: pieces on squares, or in hand; `00AL` stands for all remaining pieces.
    fn pieces(&mut self, text: &str, color: Color, rest: &str) -> Result<(), BoardError> {
        for found in chunks(rest, 4) {
            if found == "00AL" {
                let left = self.left();
                for kind in PieceType::HAND {
                    self.in_hand[color.index()][kind.index()] += left[kind.index()];
                }
                continue;
            }
            if let Some(kind) = found.strip_prefix("00") {
                let kind = kind_of(kind).filter(|k| PieceType::HAND.contains(k));
                let kind =
                    kind.ok_or_else(|| BoardError::Piece { text: excerpt(text), found: found.clone() })?;
                if self.left()[kind.index()] == 0 {
                    return Err(BoardError::NoneLeft { text: excerpt(text) });
                }
                self.in_hand[color.index()][kind.index()] += 1;
                continue;
            }
            let (square, kind) = placed(text, &found)?;
            self.put(text, square, kind.of(color))?;
        }
        Ok(())
    }

    fn put(&mut self, text: &str, square: Square, piece: Piece) -> Result<(), BoardError> {
        let there = &mut self.board[square.index()];
        if there.is_some() {
            return Err(BoardError::Occupied { text: excerpt(text), square: digits(square) });
        }
        *there = piece;
        Ok(())
    }

    /// The number of pieces of each kind that are neither on the board nor in hand.
    fn left(&self) -> [u32; 9] {
        let mut left = SET;
        for piece in self.board.iter().filter(|p| p.is_some()) {
            let n = &mut left[piece.kind().unpromoted().index()];
            *n = n.saturating_sub(1);
        }
        for hand in self.in_hand {
            for (n, held) in left.iter_mut().zip(hand) {
                *n = n.saturating_sub(held);
            }
        }
        left
    }

    /// The position with this side to move.
    ///
    /// # Errors
    /// When it cannot occur in a game.
    pub fn finish(self, side: Color) -> Result<Position, BoardError> {
        if !self.any {
            let initial = Position::startpos();
            return Ok(Position::from_parts(*initial.board(), [[0; 8]; 2], side, 1)?);
        }
        Ok(Position::from_parts(self.board, self.in_hand, side, 1)?)
    }
}

/// Cuts a text into parts of `size` characters; the last one may be shorter.
fn chunks(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.trim_end().chars().collect();
    chars.chunks(size).map(|c| c.iter().collect()).collect()
}

/// Reads `82HI`.
fn placed(text: &str, found: &str) -> Result<(Square, PieceType), BoardError> {
    let read = || Some((square_of(found.get(..2)?)?, kind_of(found.get(2..)?)?));
    read().ok_or_else(|| BoardError::Piece { text: excerpt(text), found: found.into() })
}

/// The lines of a position and its side to move, with line ends: `PI` for the initial position, else all
/// squares.
pub fn write_position(position: &Position) -> String {
    let mut out = String::new();
    let initial = Position::startpos();
    let bare = Color::ALL.iter().all(|&c| position.hand(c).is_empty());
    if bare && position.board() == initial.board() {
        out += "PI\n";
    } else {
        for rank in 0..9 {
            // writing to a string cannot fail
            let _ = write!(out, "P{}", rank + 1);
            for file in (0..9).rev() {
                let piece = position.piece_on(Square::new(file, rank));
                if piece.is_some() {
                    let _ = write!(out, "{}{}", sign(piece.color()), KINDS[piece.kind().index()]);
                } else {
                    out += " * ";
                }
            }
            out += "\n";
        }
        for color in Color::ALL {
            if position.hand(color).is_empty() {
                continue;
            }
            let _ = write!(out, "P{}", sign(color));
            for kind in PieceType::HAND {
                for _ in 0..position.hand(color).count(kind) {
                    let _ = write!(out, "00{}", KINDS[kind.index()]);
                }
            }
            out += "\n";
        }
    }
    let _ = writeln!(out, "{}", sign(position.side_to_move()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::random::Rng;

    fn read(text: &str) -> Result<Position, BoardError> {
        let mut reader = BoardReader::default();
        for line in text.lines().filter(|l| l.starts_with('P')) {
            reader.line(line)?;
        }
        let side = text.lines().last().and_then(|l| l.chars().next()).and_then(color_of);
        reader.finish(side.unwrap_or_default())
    }

    #[test]
    fn positions_read_back() {
        let mut random = Rng::new(3);
        let mut position = Position::startpos();
        for _ in 0..200 {
            let back = read(&write_position(&position)).unwrap();
            assert_eq!((back.board(), back.key()), (position.board(), position.key()));
            let moves = position.legal_moves(true);
            if moves.is_empty() {
                break;
            }
            position.do_move(moves[random.below(moves.len())].mv);
        }
    }

    #[test]
    fn the_ways_to_describe_a_position() {
        let sfen = |text| read(text).unwrap().sfen();
        assert_eq!(sfen("PI\n+\n"), Position::startpos().sfen());
        assert_eq!(sfen("+\n"), Position::startpos().sfen());
        assert_eq!(sfen("PI82HI22KA\n-\n"), "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1");
        assert_eq!(
            sfen("P-51OU\nP+59OU00KI00KI\nP-00AL\n+\n"),
            "4k4/9/9/9/9/9/9/9/4K4 b 2G2r2b2g4s4n4l18p 1"
        );
        // blanks at the end are lost easily
        let stripped: String =
            write_position(&Position::startpos()).lines().map(|l| format!("{}\n", l.trim_end())).collect();
        assert_eq!(sfen(&stripped), Position::startpos().sfen());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |text| read(text).err().unwrap();
        assert!(matches!(wrong("PX\n+\n"), BoardError::Line(_)));
        assert!(matches!(wrong("P\n+\n"), BoardError::Line(_)));
        assert!(matches!(wrong("P1-KY-KE\n+\n"), BoardError::Line(_)));
        assert!(matches!(wrong("P1-KY-KE-GI-KI-OU-KI-GI-KE-XX\n+\n"), BoardError::Piece { .. }));
        assert!(matches!(wrong("PI55HI\n+\n"), BoardError::NotThere { .. }));
        assert!(matches!(wrong("PI\nP+77FU\n+\n"), BoardError::Occupied { .. }));
        assert!(matches!(wrong("PI\nP+00FU\n+\n"), BoardError::NoneLeft { .. }));
        assert!(matches!(wrong("P+55FU\n+\n"), BoardError::Impossible(_)));
        assert!(matches!(wrong("P+00OU\n+\n"), BoardError::Piece { .. }));
        assert!(matches!(wrong("P+5あFU\n+\n"), BoardError::Piece { .. }));
    }
}
