//! Positions as text: `<board> <b|w> <hands> [<move number>]`, or `startpos`.

use thiserror::Error;

use super::occurrences::Occurrences;
use super::{Bitboard, Keys, Position, attacks, zobrist};
use crate::types::{Color, Hand, Move, Piece, PieceType, Square};

/// The SFEN of the initial position of an even game.
pub const STARTPOS: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1";

/// What is wrong with an SFEN, and where.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs)] // the messages say it
pub enum SfenError {
    #[error("SFEN ends before the {0}")]
    Missing(&'static str),
    #[error("board: 9 ranks are needed, found {0}")]
    RankCount(usize),
    #[error("board, rank {rank}: 9 squares are needed, found {files}")]
    RankLength { rank: usize, files: usize },
    #[error("board, rank {rank}: {found:?} is not a piece or a number of empty squares")]
    UnknownPiece { rank: usize, found: char },
    #[error("board, rank {rank}: '+' before {found:?}, which cannot promote")]
    CannotPromote { rank: usize, found: String },
    #[error("side to move: {0:?} is neither b nor w")]
    SideToMove(String),
    #[error("hands: {found:?} in {text:?} is not a piece that can be in hand")]
    UnknownHandPiece { text: String, found: char },
    #[error("hands: bad number in {0:?}")]
    HandCount(String),
    #[error("move number: {0:?} is not a number")]
    MoveNumber(String),
    #[error("unexpected text after the move number: {0:?}")]
    TrailingText(String),
    #[error("{count} {kind}s on board and in hand, at most {limit} exist")]
    TooManyPieces { kind: &'static str, count: u32, limit: u32 },
    #[error("{0:?} has more than one king")]
    TwoKings(Color),
    #[error("no king on the board")]
    NoKing,
    #[error("two unpromoted pawns of {color:?} on file {file}")]
    Nifu { color: Color, file: u8 },
    #[error("the {kind} on {square} could never move")]
    DeadEnd { kind: &'static str, square: Square },
    #[error("{0:?} is in check but it is the other side's turn")]
    OpponentInCheck(Color),
}

const KIND_NAMES: [&str; 9] =
    ["piece", "pawn", "lance", "knight", "silver", "bishop", "rook", "gold", "king"];
/// How many of each unpromoted kind a set holds, by [`PieceType::index`].
pub const SET: [u32; 9] = [0, 18, 4, 4, 4, 2, 2, 4, 2];
/// The letter of each unpromoted kind, by [`PieceType::index`].
pub const LETTERS: &[u8; 9] = b"?PLNSBRGK";

fn piece_of_letter(letter: u8) -> Option<Piece> {
    let upper = letter.to_ascii_uppercase();
    let kind = LETTERS.iter().skip(1).position(|&l| l == upper)? as u8 + 1;
    let color = if letter == upper { Color::Black } else { Color::White };
    Some(PieceType(kind).of(color))
}

fn letter_of_piece(piece: Piece) -> char {
    let kind = piece.kind().unpromoted();
    let letter = LETTERS[kind.index()] as char;
    if piece.color() == Color::Black { letter } else { letter.to_ascii_lowercase() }
}

/// The content of an SFEN, as [`Position::from_parts`] takes it, before any rule is checked; for reading
/// millions.
pub struct SfenParts {
    /// By [`Square::index`].
    pub board: [Piece; 81],
    /// The number of each kind by colour and [`PieceType::index`].
    pub in_hand: [[u32; 8]; 2],
    /// Who moves.
    pub side: Color,
    /// The move number, if there is one.
    pub ply: Option<u32>,
}

impl SfenParts {
    /// Reads an SFEN as [`Position::from_sfen`] does.
    ///
    /// # Errors
    /// A text that is not an SFEN; positions against the rules are accepted.
    pub fn read(text: &str) -> Result<SfenParts, SfenError> {
        let mut fields = text.split_ascii_whitespace().peekable();
        if fields.peek() == Some(&"sfen") {
            fields.next();
        }
        let mut board = fields.next().ok_or(SfenError::Missing("board"))?;
        if board == "startpos" {
            if let Some(rest) = fields.next() {
                return Err(SfenError::TrailingText(excerpt(rest)));
            }
            fields = STARTPOS.split_ascii_whitespace().peekable();
            board = fields.next().unwrap_or_default();
        }
        let board = parse_board(board)?;
        let side = match fields.next() {
            None => return Err(SfenError::Missing("side to move")),
            Some("b") => Color::Black,
            Some("w") => Color::White,
            Some(other) => return Err(SfenError::SideToMove(excerpt(other))),
        };
        let in_hand = parse_hands(fields.next().ok_or(SfenError::Missing("hands"))?)?;
        let ply = match fields.next() {
            None => None,
            Some(n) => Some(n.parse().map_err(|_| SfenError::MoveNumber(excerpt(n)))?),
        };
        if let Some(rest) = fields.next() {
            return Err(SfenError::TrailingText(excerpt(rest)));
        }
        Ok(SfenParts { board, in_hand, side, ply })
    }
}

impl Position {
    /// The initial position of an even game.
    pub fn startpos() -> Position {
        Position::from_sfen(STARTPOS).expect("the initial position is well-formed")
    }

    /// Reads an SFEN, with or without the word `sfen` before it; `startpos` is accepted, too. A missing move
    /// number means 1.
    ///
    /// Rejects impossible positions: more pieces than a set has, two unpromoted pawns of a colour on a file,
    /// pieces that could never move, two kings of a colour, a check against the side that has just moved.
    /// Missing pieces are accepted (handicaps), and so is one missing king (mate problems; if the side to
    /// move has none, so are two pawns on a file).
    pub fn from_sfen(text: &str) -> Result<Position, SfenError> {
        let parts = SfenParts::read(text)?;
        Position::from_parts(parts.board, parts.in_hand, parts.side, parts.ply.unwrap_or(1))
    }

    /// Builds and validates a position from a board (by [`Square::index`]), the number of each kind in the
    /// two hands (by colour and [`PieceType::index`], up to the gold's), the side to move and the move
    /// number. The rules of [`from_sfen`](Self::from_sfen) apply.
    pub fn from_parts(
        board: [Piece; 81],
        in_hand: [[u32; 8]; 2],
        side: Color,
        ply: u32,
    ) -> Result<Position, SfenError> {
        let mut total = [0u32; 9];
        for piece in board.iter().filter(|p| p.is_some()) {
            total[piece.kind().unpromoted().index()] += 1;
        }
        for counts in in_hand {
            for (kind, n) in counts.iter().enumerate() {
                total[kind] = total[kind].saturating_add(*n);
            }
        }
        for kind in 1..9 {
            if kind != 8 && total[kind] > SET[kind] {
                let (count, limit) = (total[kind], SET[kind]);
                return Err(SfenError::TooManyPieces { kind: KIND_NAMES[kind], count, limit });
            }
        }

        let mut hands = [Hand::EMPTY; 2];
        for color in Color::ALL {
            for kind in PieceType::HAND {
                for _ in 0..in_hand[color.index()][kind.index()] {
                    hands[color.index()].add(kind);
                }
            }
        }
        let mut pos = Position {
            board: [Piece::NONE; 81],
            kinds: [Bitboard::EMPTY; 32],
            colors: [Bitboard::EMPTY; 2],
            hands,
            kings: [Square::NONE; 2],
            side,
            ply,
            states: Vec::with_capacity(512),
            occurrences: Occurrences::new(),
        };
        for sq in Square::all() {
            let piece = board[sq.index()];
            if piece.is_none() {
                continue;
            }
            pos.put(piece, sq);
            if piece.kind() == PieceType::KING {
                let king = &mut pos.kings[piece.color().index()];
                if king.is_some() {
                    return Err(SfenError::TwoKings(piece.color()));
                }
                *king = sq;
            }
            if attacks::dead_end(piece.color(), piece.kind()).contains(sq) {
                return Err(SfenError::DeadEnd { kind: KIND_NAMES[piece.kind().index()], square: sq });
            }
        }
        if !pos.kings[0].is_some() && !pos.kings[1].is_some() {
            return Err(SfenError::NoKing);
        }
        // in mate problems, where the side to move has no king and the other one has, two pawns on a file are
        // accepted
        let problem = !pos.king_square(side).is_some();
        for color in Color::ALL.into_iter().filter(|_| !problem) {
            for file in 0..9 {
                if (pos.pieces_of(color, PieceType::PAWN) & Bitboard::file(file)).more_than_one() {
                    return Err(SfenError::Nifu { color, file: file + 1 });
                }
            }
        }
        let other = pos.king_square(!side);
        if other.is_some() && pos.is_attacked(side, other, pos.occupied()) {
            return Err(SfenError::OpponentInCheck(!side));
        }
        pos.restart_history();
        Ok(pos)
    }

    /// The keys, computed from the board and the hands.
    fn keys_anew(&self) -> Keys {
        let mut keys = Keys::default();
        for sq in self.occupied() {
            keys.put(self.piece_on(sq), sq);
        }
        if self.side == Color::White {
            keys.board ^= zobrist::side();
        }
        for color in Color::ALL {
            for kind in PieceType::HAND {
                keys.add_to_hand(color, kind, self.hand(color).count(kind));
            }
        }
        keys
    }

    /// Starts the history anew from the current position.
    fn restart_history(&mut self) {
        let keys = self.keys_anew();
        let king = self.king_square(self.side);
        let checkers =
            if king.is_some() { self.attackers(!self.side, king, self.occupied()) } else { Bitboard::EMPTY };
        self.states.clear();
        self.occurrences = Occurrences::new();
        let repetition = self.record(keys.board, 0);
        self.push_state(Move::NONE, Piece::NONE, keys, checkers, 0, [0; 2], repetition);
    }

    /// The position as `<board> <b|w> <hands> <move number>`.
    pub fn sfen(&self) -> String {
        let mut text = String::with_capacity(100);
        for rank in 0..9 {
            if rank > 0 {
                text.push('/');
            }
            let mut empty = 0;
            for file in (0..9).rev() {
                let piece = self.piece_on(Square::new(file, rank));
                if piece.is_none() {
                    empty += 1;
                    continue;
                }
                if empty > 0 {
                    text.push((b'0' + empty) as char);
                    empty = 0;
                }
                if piece.kind().is_promoted() {
                    text.push('+');
                }
                text.push(letter_of_piece(piece));
            }
            if empty > 0 {
                text.push((b'0' + empty) as char);
            }
        }
        text.push_str(if self.side == Color::Black { " b " } else { " w " });
        let before_hands = text.len();
        for color in Color::ALL {
            for kind in PieceType::HAND {
                let n = self.hand(color).count(kind);
                if n > 1 {
                    text.push_str(&n.to_string());
                }
                if n > 0 {
                    text.push(letter_of_piece(kind.of(color)));
                }
            }
        }
        if text.len() == before_hands {
            text.push('-');
        }
        text.push(' ');
        text.push_str(&self.ply.to_string());
        text
    }
}

impl std::fmt::Debug for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sfen())
    }
}

fn parse_board(text: &str) -> Result<[Piece; 81], SfenError> {
    let ranks = text.split('/').count();
    if ranks != 9 {
        return Err(SfenError::RankCount(ranks));
    }
    let mut board = [Piece::NONE; 81];
    for (index, row) in text.split('/').enumerate() {
        let rank = index + 1;
        let mut files = 0;
        let mut chars = row.chars();
        while let Some(c) = chars.next() {
            if let '1'..='9' = c {
                files += c as usize - '0' as usize;
                continue;
            }
            let (c, promoted) = if c == '+' {
                let next = chars.next();
                let found = || next.map(String::from).unwrap_or_default();
                (next.ok_or_else(|| SfenError::CannotPromote { rank, found: found() })?, true)
            } else {
                (c, false)
            };
            let letter = u8::try_from(c).unwrap_or(0);
            let piece = piece_of_letter(letter).ok_or(SfenError::UnknownPiece { rank, found: c })?;
            if promoted && !piece.kind().can_promote() {
                return Err(SfenError::CannotPromote { rank, found: c.to_string() });
            }
            if files < 9 {
                board[(8 - files) * 9 + index] = if promoted { Piece(piece.0 | 8) } else { piece };
            }
            files += 1;
        }
        if files != 9 {
            return Err(SfenError::RankLength { rank, files });
        }
    }
    Ok(board)
}

/// The number of each kind by colour.
fn parse_hands(text: &str) -> Result<[[u32; 8]; 2], SfenError> {
    let mut counts = [[0u32; 8]; 2];
    if text == "-" {
        return Ok(counts);
    }
    let mut number: Option<u32> = None;
    for c in text.chars() {
        if let Some(digit) = c.to_digit(10) {
            let n = number.unwrap_or(0) * 10 + digit;
            if n == 0 || n > 18 {
                return Err(SfenError::HandCount(excerpt(text)));
            }
            number = Some(n);
            continue;
        }
        let piece = piece_of_letter(u8::try_from(c).unwrap_or(0))
            .filter(|p| p.kind() != PieceType::KING)
            .ok_or_else(|| SfenError::UnknownHandPiece { text: excerpt(text), found: c })?;
        let n = &mut counts[piece.color().index()][piece.kind().index()];
        *n = n.saturating_add(number.take().unwrap_or(1));
    }
    if number.is_some() {
        return Err(SfenError::HandCount(excerpt(text)));
    }
    Ok(counts)
}

/// The beginning of a text for an error message.
pub(super) fn excerpt(text: &str) -> String {
    beginning(text, 40)
}

/// The first characters of a text, `longest` at most, and `…` if there are more; input may have any length.
pub fn beginning(text: &str, longest: usize) -> String {
    let mut short: String = text.chars().take(longest).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
