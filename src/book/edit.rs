//! Merging and pruning books: [`merge`], [`prune`].

use super::error::BookError;
use super::graph::{Graph, MoveTarget};
use super::moves::BookMove;
use super::packed_position::PackedPosition;
use super::store::{Book, BookBuilder, Remark};
use std::collections::HashMap;

/// Whose score is kept if two books score one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefer {
    /// The greater depth's; of equal ones the first book's.
    Deeper,
    /// The first book's.
    First,
    /// The last book's.
    Last,
}

/// Merges books: counts are added, one score is kept, remarks are joined, positions get their smallest ply.
/// Of a position at several plies within one book the score of the smallest counts as the book's, or with
/// [`Prefer::Deeper`] that of the greatest depth.
///
/// # Errors
/// The sum of counts is more than a book can hold.
pub fn merge(books: Vec<Book>, prefer: Prefer) -> Result<Book, BookError> {
    let mut least: HashMap<PackedPosition, u16> = HashMap::new();
    for e in books.iter().flat_map(Book::entries) {
        let ply = least.entry(e.packed).or_insert(e.ply);
        *ply = match (*ply, e.ply) {
            (0, known) | (known, 0) => known,
            (a, b) => a.min(b),
        };
    }
    let mut builder = BookBuilder::default();
    let mut beyond = false;
    let within = if prefer == Prefer::Last { Prefer::First } else { prefer };
    for book in books {
        let (book, _) = book.without_other_plies_with(&mut |a, b| beyond |= !add(a, b, within));
        builder.comment(book.comment());
        for e in book.entries() {
            builder.push(e.packed, least[&e.packed], e.moves);
        }
        for r in book.remarks() {
            builder.remark(Remark { ply: least[&r.packed], ..r.clone() });
        }
    }
    let book = builder.finish_with(&mut |a, b| beyond |= !add(a, b, prefer)).0;
    if beyond {
        Err(BookError::whole("the counts of a move add up to more than 4294967294"))
    } else {
        Ok(book)
    }
}

/// Adds another entry's data of a move; false if the sum of the counts is more than a book can hold.
fn add(a: &mut BookMove, b: &BookMove, prefer: Prefer) -> bool {
    let count = match (a.count(), b.count()) {
        (Some(m), Some(n)) => Some(u64::from(m) + u64::from(n)),
        (m, n) => m.or(n).map(u64::from),
    };
    let depth = |m: &BookMove| (m.value().is_some(), m.depth().unwrap_or(0));
    let takes_b = match prefer {
        Prefer::Deeper => depth(b) > depth(a),
        Prefer::First => a.value().is_none(),
        Prefer::Last => b.value().is_some(),
    };
    let (winner, other) = if takes_b { (*b, *a) } else { (*a, *b) };
    let ponder = if winner.ponder == 0 { other.ponder } else { winner.ponder };
    *a = winner.with_ponder(ponder).with_count(count);
    a.count().map(u64::from) == count
}

/// The part of a book to keep. Moves to another position of the book stay whatever `max_moves` and `eval_diff` say,
/// because the opponent may play them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep {
    /// Minimum count of a move; moves without a count are kept.
    pub min_count: Option<u32>,
    /// Maximum number of moves per position; the best are kept.
    pub max_moves: Option<usize>,
    /// Centipawns by which a move may be worse than the position's best.
    pub eval_diff: Option<i32>,
    /// Positions up to this move number.
    pub max_ply: Option<u16>,
    /// Only what the moves that stay reach from the usual starts; otherwise also what the book did not reach before.
    pub reachable: bool,
}

/// Drops everything else from a book in which each position occurs once, and what only dropped moves reached.
pub fn prune(book: &Book, keep: Keep) -> Book {
    let graph = Graph::of(book);
    let mut builder = BookBuilder::default();
    builder.comment(book.comment());
    for (i, e) in book.entries().enumerate().filter(|(_, e)| keep.max_ply.is_none_or(|p| e.ply <= p)) {
        let inside = |k: usize| match graph.target(book.first_move(i) + k) {
            MoveTarget::Inside(t) => keep.max_ply.is_none_or(|p| book.entry(t as usize).ply <= p),
            _ => false,
        };
        let mut moves: Vec<(BookMove, bool)> =
            e.moves.iter().enumerate().map(|(k, m)| (*m, inside(k))).collect();
        moves.sort_by_key(|(m, _)| m.rank());
        moves.retain(|(m, _)| keep.min_count.zip(m.count()).is_none_or(|(least, n)| n >= least));
        let best = moves.iter().filter_map(|(m, _)| m.value()).max();
        let good = |m: &BookMove| {
            let loss = m.value().zip(best).map_or(0, |(v, best)| i64::from(best) - i64::from(v));
            keep.eval_diff.is_none_or(|diff| loss <= diff.into())
        };
        let most = keep.max_moves.unwrap_or(usize::MAX);
        let kept = moves.iter().enumerate().filter(|(k, (m, inside))| *inside || *k < most && good(m));
        let kept: Vec<BookMove> = kept.map(|(_, (m, _))| *m).collect();
        builder.push(e.packed, e.ply, &kept);
    }
    book.remarks().iter().for_each(|r| builder.remark(r.clone()));
    let cut = builder.finish().0;
    let (before, after) = (reachable(book), reachable(&cut));
    let was_reached = |i: usize| book.find(&cut.entry(i).packed).any(|i| before[i]);
    part(&cut, |i| after[i] || !keep.reachable && !was_reached(i))
}

/// The entries of a book that are wanted, with their remarks.
pub fn part(book: &Book, wanted: impl Fn(usize) -> bool) -> Book {
    let mut builder = BookBuilder::default();
    builder.comment(book.comment());
    for (_, e) in book.entries().enumerate().filter(|(i, _)| wanted(*i)) {
        builder.push(e.packed, e.ply, e.moves);
    }
    book.remarks().iter().for_each(|r| builder.remark(r.clone()));
    builder.finish().0
}

/// By entry: whether legal moves of the book lead there from one of the usual starts.
pub fn reachable(book: &Book) -> Vec<bool> {
    let graph = Graph::of(book);
    let mut reached = vec![false; book.len()];
    let mut stack: Vec<usize> = PackedPosition::starts().flat_map(|packed| book.find(&packed)).collect();
    while let Some(i) = stack.pop() {
        if std::mem::replace(&mut reached[i], true) {
            continue;
        }
        let first = book.first_move(i);
        for k in 0..book.entry(i).moves.len() {
            if let MoveTarget::Inside(t) = graph.target(first + k) {
                // of a position at several plies all are reached
                stack.extend(book.find(&book.entry(t as usize).packed).filter(|t| !reached[*t]));
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::super::db;
    use super::*;

    const A: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";
    const B: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w -";

    fn book(text: &str) -> Book {
        db::read(
            text.replace("sfen A", &format!("sfen {A}")).replace("sfen B", &format!("sfen {B}")).as_bytes(),
        )
        .unwrap()
        .0
    }

    fn text(book: Book) -> String {
        let mut out = Vec::new();
        db::write(book, &mut out).unwrap();
        String::from_utf8(out)
            .unwrap()
            .replace(A, "A")
            .replace(B, "B")
            .replace(db::HEADER, "")
            .trim()
            .to_string()
    }

    #[test]
    fn merging_adds_counts_and_keeps_one_score() {
        let one = "sfen A 1\n#here\n2g2f 8c8d 10 5 3\n7g7f none 20 9 2\n";
        let two = "sfen A 3\n2g2f none 30 7 4\n7g7f 3c3d 40 9 1\nsfen B 2\n3c3d none\n";
        let merged = |prefer| text(merge(vec![book(one), book(two)], prefer).unwrap());
        let tail = "\nsfen B 2\n3c3d none";
        // B is before A in the order of SFENs
        let expect = |moves: &str| format!("{}\nsfen A 1\n#here\n{moves}", tail.trim());
        assert_eq!(merged(Prefer::Deeper), expect("2g2f 8c8d 30 7 7\n7g7f 3c3d 20 9 3"));
        assert_eq!(merged(Prefer::First), expect("2g2f 8c8d 10 5 7\n7g7f 3c3d 20 9 3"));
        assert_eq!(merged(Prefer::Last), expect("2g2f 8c8d 30 7 7\n7g7f 3c3d 40 9 3"));
    }

    #[test]
    fn merging_keeps_all_positions_and_remarks() {
        let one = "#first\nsfen A 1\n#aaa\n7g7f none 10 20 3 #m1\nsfen A 3\n#ccc\n7g7f none 50 30 4\n";
        let two = "#second\nsfen A 2\n#bbb\n7g7f none 20 25 2 #m2\n#m3\n";
        let merged = |prefer| text(merge(vec![book(one), book(two)], prefer).unwrap());
        let expect =
            |line| format!("#first\n#second\nsfen A 1\n#aaa\n#ccc\n#bbb\n7g7f none {line} 9\n#m1\n#m2\n#m3");
        assert_eq!(merged(Prefer::Deeper), expect("50 30"));
        assert_eq!(merged(Prefer::First), expect("10 20"));
        assert_eq!(merged(Prefer::Last), expect("20 25"));
        // a book with itself has its remarks once
        let twice = text(merge(vec![book(one), book(one)], Prefer::First).unwrap());
        assert_eq!(twice, "#first\nsfen A 1\n#aaa\n#ccc\n7g7f none 10 20 14\n#m1");
        let many = "sfen A 1\n7g7f none 1 1 4294967294";
        let error = merge(vec![book(many), book(one)], Prefer::First).err().unwrap();
        assert_eq!(error.to_string(), "the counts of a move add up to more than 4294967294");
    }

    #[test]
    fn pruning_follows_its_limits() {
        let all =
            "sfen B 2\n3c3d none 5 1 1\nsfen A 1\n#here\n7g7f none 40 9 8\n2g2f 8c8d 30 9 2\n3g3f none 1 1 1";
        let pruned = |keep| text(prune(&book(all), keep));
        assert_eq!(pruned(Keep { reachable: true, ..Keep::default() }), all);
        assert!(!pruned(Keep { min_count: Some(2), ..Keep::default() }).contains("3g3f"));
        assert_eq!(
            pruned(Keep { eval_diff: Some(9), max_ply: Some(1), ..Keep::default() }),
            "sfen A 1\n#here\n7g7f none 40 9 8"
        );
        // a bad move to another position stays, because the opponent may play it
        let bad = all.replace("7g7f none 40 9 8", "7g7f none -90 9 8");
        let good_only = Keep { eval_diff: Some(9), ..Keep::default() };
        assert_eq!(text(prune(&book(&bad), good_only)), bad.replace("\n3g3f none 1 1 1", ""));
        let one = Keep { max_moves: Some(1), ..Keep::default() };
        assert_eq!(text(prune(&book(&bad), one)), bad.replace("\n2g2f 8c8d 30 9 2\n3g3f none 1 1 1", ""));
        // what only dropped moves reached goes with them
        let often = "sfen B 2\n3c3d none 5 1 9\nsfen A 1\n7g7f none 40 9 8\n2g2f 8c8d 30 9 9";
        let kept = prune(&book(often), Keep { min_count: Some(9), ..Keep::default() });
        assert_eq!(text(kept), "sfen A 1\n2g2f 8c8d 30 9 9");
        let apart = "sfen B 2\n3c3d none 5 1 1";
        assert_eq!(text(prune(&book(apart), Keep::default())), apart);
        let none = "sfen B 2\n3c3d none 5 1 1\nsfen A 1\n2g2f 8c8d 30 9 2";
        assert_eq!(
            text(prune(&book(none), Keep { reachable: true, ..Keep::default() })),
            "sfen A 1\n2g2f 8c8d 30 9 2"
        );
    }
}
