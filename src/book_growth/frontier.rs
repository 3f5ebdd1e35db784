//! Which leaves of a book to search next: [`frontier`].
//!
//! The cost of a leaf is the sum, over the moves of the line to it, of the difference to the best move there
//! with backed-up scores, and a fixed price per ply (drop-out expansion). So the best line of either side
//! grows first, then the lines that are nearly as good.

use crate::book::graph::{Graph, MoveTarget};
use crate::book::minimax::{Score, game_of, solve};
use crate::book::{Book, PackedPosition};
use crate::types::Color;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashSet};

/// Which leaves may be searched. Centipawns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowthRules {
    /// A move may be worse than the best one of its position by this.
    pub margin: i32,
    /// A line whose score is beyond this for either side is decided.
    pub range: i32,
    /// The cost of a ply; a higher one makes a broader book.
    pub ply_price: i32,
    /// The last move number.
    pub max_ply: u16,
    /// Score of a repetition for Black.
    pub draw: i32,
}

/// The leaves to search next, at most `most`, in order of cost; positions of `game_over` are skipped. Roots
/// and leaves come with their move numbers, 0 if unknown.
pub fn frontier(
    book: &Book,
    roots: &[(PackedPosition, u16)],
    expansion: &GrowthRules,
    game_over: &HashSet<PackedPosition>,
    most: usize,
) -> Vec<(PackedPosition, u16)> {
    let graph = Graph::of(book);
    let scores = solve(&game_of(book, &graph, expansion.draw));
    // a root outside the book comes before everything
    let missing = roots.iter().filter(|(r, _)| book.find(r).is_empty() && !game_over.contains(r)).copied();
    let mut leaves: BTreeMap<PackedPosition, (i64, u16)> = BTreeMap::new();
    let mut costs = vec![i64::MAX; book.len()];
    let mut queue: BinaryHeap<Reverse<(i64, u32)>> = BinaryHeap::new();
    for i in roots.iter().flat_map(|(r, _)| book.find(r)) {
        costs[i] = 0;
        queue.push(Reverse((0, i as u32)));
    }
    while let Some(Reverse((cost, node))) = queue.pop() {
        let i = node as usize;
        if cost > costs[i] {
            continue;
        }
        let e = book.entry(i);
        if e.ply >= expansion.max_ply {
            continue;
        }
        let sign = if e.packed.turn() == Color::Black { 1 } else { -1 };
        let first = book.first_move(i);
        for (k, m) in e.moves.iter().enumerate() {
            let target = graph.target(first + k);
            let worth = match target {
                MoveTarget::Illegal => continue,
                MoveTarget::Leaf => m.value().unwrap_or(0),
                MoveTarget::Inside(t) => sign * scores[t as usize].value,
            };
            let regret = (sign * scores[i].value).saturating_sub(worth);
            if regret > expansion.margin || worth.abs() > expansion.range {
                continue;
            }
            let cost = cost + i64::from(regret + expansion.ply_price);
            if let MoveTarget::Inside(t) = target {
                if cost < costs[t as usize] {
                    costs[t as usize] = cost;
                    queue.push(Reverse((cost, t)));
                }
                continue;
            }
            let Some(mut pos) = e.packed.position(e.ply) else { break };
            let Some(legal) = m.on(&pos) else { continue };
            pos.do_move(legal);
            if let Some(packed) = PackedPosition::of(&pos).filter(|p| !game_over.contains(p)) {
                let here = (cost, if e.ply == 0 { 0 } else { e.ply.saturating_add(1) });
                leaves.entry(packed).and_modify(|old| *old = here.min(*old)).or_insert(here);
            }
        }
    }
    let mut order: Vec<(i64, PackedPosition, u16)> =
        leaves.into_iter().map(|(packed, (cost, ply))| (cost, packed, ply)).collect();
    order.sort_unstable();
    missing.chain(order.into_iter().map(|(_, packed, ply)| (packed, ply))).take(most).collect()
}

/// The score of a position of the book for Black, backed up.
pub fn score_of(book: &Book, packed: &PackedPosition, draw: i32) -> Option<Score> {
    let scores = solve(&game_of(book, &Graph::of(book), draw));
    book.find(packed).next().map(|i| scores[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::db;

    const A: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";
    const B: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w -";

    #[test]
    fn the_best_line_grows_first() {
        let text = format!(
            "sfen {B} 2\n3c3d none -20 9\n8c8d none -30 9\nsfen {A} 1\n7g7f none 90 9\n2g2f none 15 9\n9g9f none -40 9\n"
        );
        let book = db::read(text.as_bytes()).unwrap().0;
        let root = PackedPosition::read(&format!("{A} 1")).unwrap().0;
        let expansion = GrowthRules { margin: 50, range: 500, ply_price: 10, max_ply: 40, draw: 0 };
        let lines = |expansion: &GrowthRules, game_over: &HashSet<PackedPosition>| {
            let found = frontier(&book, &[(root, 1)], expansion, game_over, 9);
            found.iter().map(|(p, ply)| p.position(*ply).unwrap().sfen()).collect::<Vec<_>>()
        };
        let none = HashSet::new();
        // 7g7f is worth 20 by White's best reply; 2g2f gives 5 away, 8c8d 10, 9g9f 60
        let after = |moves: &str| {
            let mut pos = crate::position::Position::startpos();
            for m in moves.split(' ') {
                pos.do_move(pos.parse_move(m).unwrap());
            }
            pos.sfen()
        };
        let all = ["2g2f", "7g7f 3c3d", "7g7f 8c8d", "9g9f"].map(after);
        assert_eq!(lines(&expansion, &none), all[..3]);
        assert_eq!(lines(&GrowthRules { margin: 60, ..expansion }, &none), all);
        assert_eq!(
            lines(&GrowthRules { ply_price: 1, ..expansion }, &none),
            [&all[1..2], &all[..1], &all[2..3]].concat()
        );
        assert_eq!(lines(&GrowthRules { range: 16, ..expansion }, &none), all[..1]);
        assert_eq!(lines(&GrowthRules { max_ply: 1, ..expansion }, &none).len(), 0);
        let game_over = HashSet::from([PackedPosition::read(&all[0]).unwrap().0]);
        assert_eq!(lines(&expansion, &game_over), all[1..3]);
        let nothing = Book::default();
        assert_eq!(frontier(&nothing, &[(root, 7)], &expansion, &none, 9), [(root, 7)]);
        assert_eq!(score_of(&book, &root, 0).unwrap().value, 20);
    }
}
