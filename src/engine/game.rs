//! The game as the GUI sends it: a starting position and the moves since.
//!
//! A GUI repeats the whole game with every `position`. [`Game::update`] compares it with the last one, takes back what
//! differs and plays only what is new, so that each `position` of a long game costs one move.

use crate::position::{MoveError, Position, STARTPOS, SfenError};
use crate::types::Move;

/// Why a game was not accepted. The last good one stays.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum GameError {
    #[error("bad SFEN: {0}")]
    Sfen(#[from] SfenError),
    #[error("move {number}: {reason}")]
    Move {
        /// 1-based, counted from the starting position of the game.
        number: usize,
        reason: MoveError,
    },
    #[error("move {number} `{text}`: a pass while in check")]
    PassInCheck { number: usize, text: String },
}

/// A position with the moves that led to it.
#[derive(Clone)]
pub struct Game {
    root: String,
    moves: Vec<Move>,
    position: Position,
}

impl Default for Game {
    fn default() -> Game {
        Game { root: STARTPOS.into(), moves: Vec::new(), position: Position::startpos() }
    }
}

impl Game {
    /// The position after all moves.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// The moves since the start; [`Move::NULL`] is a pass.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Starts again from a position with its history.
    pub fn set(&mut self, position: Position) {
        *self = Game { root: position.sfen(), moves: Vec::new(), position };
    }

    /// The game one move earlier and that move; none at the start or after a pass.
    pub fn before_last(&self) -> Option<(Position, Move)> {
        let last = *self.moves.last().filter(|m| m.is_some())?;
        let mut position = self.position.clone();
        position.undo_move();
        Some((position, last))
    }

    /// Takes over a game given as a starting SFEN (none: the initial position) and moves in USI text. `resign` and
    /// `win` end the moves without one, `pass`, `null` and `0000` are passes.
    pub fn update<'a>(
        &mut self,
        sfen: Option<&str>,
        moves: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), GameError> {
        // people type `--sfen startpos`
        let sfen = sfen.filter(|s| *s != "startpos").unwrap_or(STARTPOS);
        let mut moves = moves.into_iter().peekable();
        if sfen != self.root {
            // on a copy: a bad move further on must leave the old game as it is
            let mut game =
                Game { root: sfen.into(), moves: Vec::new(), position: Position::from_sfen(sfen)? };
            game.extend(moves)?;
            *self = game;
            return Ok(());
        }
        let mut shared = 0;
        while let (Some(text), Some(m)) = (moves.peek(), self.moves.get(shared)) {
            if !spells(text, *m) {
                break;
            }
            shared += 1;
            moves.next();
        }
        let undone = self.moves[shared..].to_vec();
        self.back_to(shared);
        self.extend(moves).inspect_err(|_| {
            self.back_to(shared);
            undone.iter().for_each(|&m| self.play(m));
        })
    }

    fn extend<'a>(&mut self, moves: impl Iterator<Item = &'a str>) -> Result<(), GameError> {
        for text in moves {
            let number = self.moves.len() + 1;
            let m = match text {
                "resign" | "win" => break,
                _ if is_pass(text) && self.position.in_check() => {
                    return Err(GameError::PassInCheck { number, text: text.into() });
                }
                _ if is_pass(text) => Move::NULL,
                _ => self.position.parse_move(text).map_err(|reason| GameError::Move { number, reason })?,
            };
            self.play(m);
        }
        Ok(())
    }

    fn play(&mut self, m: Move) {
        if m == Move::NULL {
            self.position.do_null_move();
        } else {
            self.position.do_move(m);
        }
        self.moves.push(m);
    }

    fn back_to(&mut self, len: usize) {
        while self.moves.len() > len {
            if self.moves.pop() == Some(Move::NULL) {
                self.position.undo_null_move();
            } else {
                self.position.undo_move();
            }
        }
    }

    /// Turns the board by 180 degrees and swaps the players; the moves are forgotten.
    pub fn flip(&mut self) -> Result<(), GameError> {
        let position = Position::from_sfen(&flipped(&self.position.sfen()))?;
        self.set(position);
        Ok(())
    }
}

fn is_pass(text: &str) -> bool {
    matches!(text, "pass" | "null" | "0000")
}

/// Whether `text` is `m` as USI writes it, without allocating.
fn spells(text: &str, m: Move) -> bool {
    if m == Move::NULL {
        return is_pass(text);
    }
    let mut spelled = arrayvec::ArrayString::<8>::new();
    std::fmt::Write::write_fmt(&mut spelled, format_args!("{m}")).is_ok() && spelled.as_str() == text
}

/// Hostile text can be megabytes long; a message shows its beginning.
pub fn shorten(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        None => text.into(),
        Some((end, _)) => format!("{}...", &text[..end]),
    }
}

/// An SFEN with the board turned by 180 degrees and the players swapped.
fn flipped(sfen: &str) -> String {
    let swap_case =
        |c: char| if c.is_ascii_uppercase() { c.to_ascii_lowercase() } else { c.to_ascii_uppercase() };
    let mut fields = sfen.split(' ');
    let board = fields.next().unwrap_or_default();
    // a promoted piece is two characters, so the turned text is built piece by piece
    let mut turned = String::with_capacity(board.len());
    let mut rest = board;
    while let Some(last) = rest.chars().last() {
        let mut start = rest.len() - last.len_utf8();
        if rest[..start].ends_with('+') {
            start -= 1;
        }
        turned.extend(rest[start..].chars().map(swap_case));
        rest = &rest[..start];
    }
    let side = if fields.next() == Some("b") { "w" } else { "b" };
    // SFEN lists Black's hand first
    let hand: String = fields.next().unwrap_or("-").chars().map(swap_case).collect();
    // and the swap has put White's there
    let (white, black) = hand.split_at(hand.rfind(|c: char| c.is_ascii_lowercase()).map_or(0, |i| i + 1));
    let hand = format!("{black}{white}");
    format!("{turned} {side} {hand} {}", fields.next().unwrap_or("1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sfen_after(moves: &str) -> String {
        let mut game = Game::default();
        game.update(None, moves.split_whitespace()).unwrap();
        game.position().sfen()
    }

    #[test]
    fn a_longer_shorter_or_other_line_is_taken_over() {
        let mut game = Game::default();
        for line in [
            "7g7f 3c3d",
            "7g7f 3c3d 8h2b+ 3a2b",
            "7g7f 3c3d 2g2f",
            "7g7f",
            "",
            "2g2f 8c8d 2f2e 8d8e",
            "2g2f 8c8d 2f2e pass 2e2d",
            "2g2f 8c8d 2f2e 8d8e",
        ] {
            game.update(None, line.split_whitespace()).unwrap();
            assert_eq!(game.position().sfen(), sfen_after(line), "{line}");
            assert_eq!(game.moves().len(), line.split_whitespace().count());
        }
    }

    #[test]
    fn a_bad_game_leaves_the_last_one() {
        let mut game = Game::default();
        game.update(None, "7g7f 3c3d 2g2f".split(' ')).unwrap();
        let (before, key) = (game.position().sfen(), game.position().key());
        assert!(game.update(None, "7g7f 8c8d 2g2f 2b8h".split(' ')).is_err());
        assert!(game.update(None, "7g7f 3c3d 2g2f x".split(' ')).is_err());
        assert!(game.update(Some("9/9 b - 1"), []).is_err());
        assert!(game.update(Some("4k4/9/9/9/9/9/9/9/4K4 b P 1"), "P*5e 5a5b P*5d".split(' ')).is_err());
        assert_eq!((game.position().sfen(), game.position().key()), (before, key));
        game.update(None, "7g7f 3c3d 2g2f 8c8d".split(' ')).unwrap();
        assert_eq!(game.moves().len(), 4);
    }

    #[test]
    fn ending_words_end_the_moves() {
        assert_eq!(sfen_after("7g7f resign"), sfen_after("7g7f"));
        assert_eq!(sfen_after("7g7f win"), sfen_after("7g7f"));
    }

    #[test]
    fn flipping_twice_is_the_identity() {
        for sfen in
            [STARTPOS, "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124"]
        {
            let mut game = Game::default();
            game.update(Some(sfen), []).unwrap();
            game.flip().unwrap();
            assert_ne!(game.position().sfen(), sfen);
            game.flip().unwrap();
            assert_eq!(game.position().sfen(), sfen);
        }
    }

    #[test]
    fn ten_thousand_plies_one_by_one() {
        let mut line = Vec::new();
        let mut game = Game::default();
        for ply in 0..10_000 {
            line.push(["2h3h", "8b7b", "3h2h", "7b8b"][ply % 4]);
            game.update(None, line.iter().copied()).unwrap();
        }
        assert_eq!(game.position().game_ply(), 10_001);
    }
}
