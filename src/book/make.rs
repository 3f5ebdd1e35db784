//! A book of the moves that were played: [`Collector`].

use super::moves::BookMove;
use super::packed_position::PackedPosition;
use super::store::{Book, BookBuilder};
use crate::position::Position;
use crate::types::{Color, Move};
use std::collections::HashMap;

/// Which moves are counted.
#[derive(Clone, Copy, Debug)]
pub struct Filter {
    /// Only moves of this side.
    pub side: Option<Color>,
    /// Only moves of the side that won.
    pub winners: bool,
    /// Only games that were won or drawn, not interrupted ones.
    pub decided: bool,
    /// The first and the last move number, from 1.
    pub plies: (u32, u32),
    /// The least count of a move.
    pub min_count: u32,
}

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedResult {
    /// This side won.
    Won(Color),
    /// A draw.
    Drawn,
    /// Unknown.
    Unknown,
}

#[derive(Default)]
struct MoveTally {
    ply: u16,
    /// For each move: its count, the sum of its scores, the number of scores.
    moves: Vec<(u16, u32, i64, u32)>,
}

/// Counts the moves of games.
pub struct Collector {
    filter: Filter,
    positions: HashMap<PackedPosition, MoveTally>,
    /// Games of which at least one move was counted.
    pub games: u64,
}

impl Collector {
    /// An empty collector.
    pub fn new(filter: Filter) -> Collector {
        Collector { filter, positions: HashMap::new(), games: 0 }
    }

    /// Adds a game: its moves with the players' scores in centipawns, where they are known.
    pub fn add(&mut self, root: &Position, moves: &[(Move, Option<i32>)], ending: RecordedResult) {
        self.add_of(self.filter.side, root, moves, ending);
    }

    /// Adds a game's moves of one side or of both, whatever the filter says about sides.
    pub fn add_of(
        &mut self,
        wanted_side: Option<Color>,
        root: &Position,
        moves: &[(Move, Option<i32>)],
        ending: RecordedResult,
    ) {
        let f = self.filter;
        if f.decided && ending == RecordedResult::Unknown {
            return;
        }
        let mut pos = root.clone();
        let mut taken = false;
        for &(m, score) in moves {
            let (side, ply) = (pos.side_to_move(), pos.game_ply());
            if ply > f.plies.1 {
                break;
            }
            let wanted = wanted_side.is_none_or(|s| s == side)
                && (!f.winners || ending == RecordedResult::Won(side))
                && ply >= f.plies.0;
            if let Some(packed) = PackedPosition::of(&pos).filter(|_| wanted) {
                self.count(packed, ply, m, score);
                taken = true;
            }
            pos.do_move(m);
        }
        self.games += u64::from(taken);
    }

    fn count(&mut self, packed: PackedPosition, ply: u32, m: Move, score: Option<i32>) {
        let ply = ply.min(u32::from(u16::MAX)) as u16;
        let tally = self.positions.entry(packed).or_insert_with(|| MoveTally { ply, moves: Vec::new() });
        tally.ply = tally.ply.min(ply);
        let i = tally.moves.iter().position(|t| t.0 == m.raw16()).unwrap_or_else(|| {
            tally.moves.push((m.raw16(), 0, 0, 0));
            tally.moves.len() - 1
        });
        let t = &mut tally.moves[i];
        t.1 = t.1.saturating_add(1);
        if let Some(score) = score {
            t.2 += i64::from(score);
            t.3 += 1;
        }
    }

    /// The book, with counts, mean scores, and the most played reply.
    pub fn finish(self) -> Book {
        let least = self.filter.min_count;
        let mut builder = BookBuilder::default();
        for (packed, tally) in self.positions {
            let known = tally.moves.into_iter().filter(|t| t.1 >= least);
            let mut moves: Vec<BookMove> = known
                .map(|(mv, count, sum, scored)| {
                    let mean = (scored > 0).then(|| (sum / i64::from(scored)) as i32);
                    BookMove::new(mv).with_count(Some(count.into())).with_value(mean)
                })
                .collect();
            // ties are broken the same way on every machine
            moves.sort_by_key(|m| (m.rank(), m.mv));
            builder.push(packed, tally.ply, &moves);
        }
        let mut book = builder.finish().0;
        for i in 0..book.len() {
            let Some(mut pos) = book.entry(i).packed.position(1) else { continue };
            let replies: Vec<u16> = book
                .entry(i)
                .moves
                .iter()
                .map(|m| {
                    let Some(m) = m.on(&pos) else { return 0 };
                    pos.do_move(m);
                    let next = PackedPosition::of(&pos).map(|packed| book.find(&packed));
                    pos.undo_move();
                    next.filter(|n| !n.is_empty()).map_or(0, |n| book.entry(n.start).moves[0].mv)
                })
                .collect();
            book.moves_mut(i).iter_mut().zip(replies).for_each(|(m, reply)| *m = m.with_ponder(reply));
        }
        book
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_selects_moves() {
        let game = |text: &str| {
            let mut pos = Position::startpos();
            let moves = text.split(' ').map(|t| {
                let m = pos.parse_move(t).unwrap();
                pos.do_move(m);
                (m, Some(10))
            });
            moves.collect::<Vec<_>>()
        };
        let all = Filter { side: None, winners: false, decided: false, plies: (1, 9), min_count: 1 };
        let book = |filter| {
            let mut c = Collector::new(filter);
            let root = Position::startpos();
            c.add(&root, &game("7g7f 3c3d 2g2f"), RecordedResult::Won(Color::Black));
            c.add(&root, &game("2g2f 3c3d 7g7f 8c8d"), RecordedResult::Won(Color::White));
            c.add(&root, &game("7g7f 8c8d"), RecordedResult::Unknown);
            let games = c.games;
            let book = c.finish();
            let start = book.find(&PackedPosition::of(&root).unwrap());
            let moves = book.entry(start.start).moves.to_vec();
            (book.len(), book.move_count(), games, moves[0].count(), crate::book::usi(moves[0].ponder))
        };
        assert_eq!(book(all), (6, 8, 3, Some(2), "3c3d".into()));
        assert_eq!(book(Filter { min_count: 2, ..all }), (1, 1, 3, Some(2), "none".into()));
        assert_eq!(book(Filter { plies: (1, 1), ..all }), (1, 2, 3, Some(2), "none".into()));
        assert_eq!(book(Filter { decided: true, ..all }).2, 2);
        assert_eq!(book(Filter { side: Some(Color::Black), ..all }), (3, 4, 3, Some(2), "none".into()));
        assert_eq!(book(Filter { winners: true, side: Some(Color::Black), ..all }).2, 1);
    }
}
