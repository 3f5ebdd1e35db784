//! The moves of an opening book in the positions of a game.

use crate::book::{BookError, Library, Lookup};
use crate::record::Record;
use crate::types::Move;
use serde::Serialize;

/// The book's moves in a position that it knows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BookReport {
    /// Whether the move of the game is one of them.
    pub played: bool,
    /// The most played first, in the language's notation.
    pub moves: Vec<String>,
}

/// The legal moves of a book in each position of a game that has a move, the most played first; the same positions at
/// another move number and with the players swapped count too.
///
/// # Errors
/// What is wrong in the parts of the book that are read.
pub fn book_moves(record: &Record, book: &Library) -> Result<Vec<Vec<Move>>, BookError> {
    let how = Lookup { ignore_ply: true, flipped: true };
    let mut position = record.root.clone();
    let mut found = Vec::new();
    for ply in &record.moves {
        let moves = book.find(&position, how)?;
        found.push(moves.iter().filter_map(|m| m.on(&position)).collect());
        position.do_move(ply.mv);
    }
    Ok(found)
}
