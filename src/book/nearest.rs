//! The position of a book that is most like another: [`nearest`].

use super::store::{Book, BookEntry};
use crate::data::PackedSfen;
use crate::data::board::Board;
use crate::position::Position;
use crate::types::{Color, PieceType};

/// The entry with the fewest differences among those with the same side to move, if there is any, and their number:
/// squares, and pieces in hand. Of several the one with the smallest ply.
pub fn nearest<'a>(book: &'a Book, pos: &Position) -> Option<(BookEntry<'a>, usize)> {
    let here = Board::of(pos);
    let differences = |e: &BookEntry| {
        let there = PackedSfen(e.packed.0).unpack().ok().filter(|board| board.turn == here.turn)?;
        let squares = here.squares.iter().zip(&there.squares).filter(|(a, b)| a != b).count();
        let in_hand = |color: Color, kind: PieceType| {
            here.hands[color.index()].count(kind).abs_diff(there.hands[color.index()].count(kind)) as usize
        };
        let hands: usize = Color::ALL.iter().flat_map(|c| PieceType::HAND.map(|k| in_hand(*c, k))).sum();
        Some(squares + hands)
    };
    let all = book.entries().filter_map(|e| Some((e, differences(&e)?)));
    all.min_by_key(|(e, n)| (*n, e.ply))
}

#[cfg(test)]
mod tests {
    use super::super::db;
    use super::*;

    #[test]
    fn the_nearest_has_the_fewest_differences_and_the_same_side() {
        let text = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1\n7g7f none\n\
                    sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2\n3c3d none\n\
                    sfen lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL b - 3\n2g2f none\n";
        let book = db::read(text.as_bytes()).unwrap().0;
        let at = |sfen: &str| nearest(&book, &Position::from_sfen(sfen).unwrap()).map(|(e, n)| (e.ply, n));
        assert_eq!(at("lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2PP5/PP2PPPPP/1B5R1/LNSGKGSNL b - 5"), Some((3, 2)));
        assert_eq!(at("lnsgkgsnl/1r5b1/ppppppppp/9/9/7P1/PPPPPPP1P/1B5R1/LNSGKGSNL w - 2"), Some((2, 4)));
        assert_eq!(at("lnsgkgsnl/1r5b1/pppppp1pp/6p2/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSN1 b l 3"), Some((3, 2)));
    }
}
