//! Which leaves of a book to search next: [`frontier`].
//!
//! The likeliest in a game. Three kinds of games are weighed: both sides play as the [`ReplyModel`] says, or one
//! of them (Black or White) plays only the best moves of the book.

use super::replies::ReplyModel;
use crate::book::edit::part;
use crate::book::graph::{Graph, MoveTarget};
use crate::book::minimax::{Score, game_of, solve};
use crate::book::{Book, PackedPosition};
use crate::types::{Color, Move};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Which leaves may be searched. Centipawns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowthRules {
    /// A move may be worse than the best one of its position by this.
    pub margin: i32,
    /// A line whose score is beyond this for either side is decided.
    pub range: i32,
    /// What our own move may lose.
    pub own_margin: i32,
    /// The last move number.
    pub max_ply: u16,
    /// Score of a repetition for Black.
    pub draw: i32,
}

impl GrowthRules {
    /// Those of `book think` without arguments.
    pub const DEFAULT: GrowthRules =
        GrowthRules { margin: 150, range: 300, own_margin: 10, max_ply: 60, draw: 0 };
}

/// A position to search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    /// The position.
    pub packed: PackedPosition,
    /// Its move number, 0 if unknown.
    pub ply: u16,
    /// The probability that a game comes to it; 1 for positions that somebody asked for.
    pub probability: f64,
}

impl Leaf {
    /// A position that somebody asked for.
    pub fn wanted((packed, ply): (PackedPosition, u16)) -> Leaf {
        Leaf { packed, ply, probability: 1.0 }
    }
}

/// Probability of a position in games of which both sides play as people do, of which Black plays by the book,
/// and of which White does.
type Chance = [f64; 3];
const NO_CHANCE: Chance = [0.0; 3];
/// How many of the games are of each kind.
const KINDS: Chance = [0.7, 0.15, 0.15];

fn add(to: &mut Chance, from: Chance, by: [f64; 3]) {
    (0..3).for_each(|kind| to[kind] += from[kind] * by[kind]);
}

/// The leaves to search next, at most `most`, the likeliest first; positions of `game_over` are skipped. Roots
/// and leaves come with their move numbers, 0 if unknown.
pub fn frontier(
    book: &Book,
    roots: &[(PackedPosition, u16)],
    rules: &GrowthRules,
    replies: &ReplyModel,
    game_over: &HashSet<PackedPosition>,
    most: usize,
) -> Vec<Leaf> {
    // a root outside the book comes before everything
    let missing = roots.iter().filter(|(r, _)| book.find(r).is_empty() && !game_over.contains(r)).copied();
    let mut order: Vec<Leaf> = likelihoods(book, roots, rules, replies, game_over)
        .1
        .into_iter()
        .map(|(packed, (chance, ply))| Leaf { packed, ply, probability: chance.iter().sum() })
        .filter(|leaf| leaf.probability > 0.0)
        .collect();
    order.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(a.packed.cmp(&b.packed)));
    missing.map(Leaf::wanted).chain(order).take(most).collect()
}

/// The `most` positions of a book that games from the roots most likely come to. Some of them may be reached by moves
/// from the others only: [`prune`](crate::book::edit::prune) drops these.
pub fn likeliest(
    book: &Book,
    roots: &[(PackedPosition, u16)],
    rules: &GrowthRules,
    replies: &ReplyModel,
    most: usize,
) -> Book {
    let (chances, _) = likelihoods(book, roots, rules, replies, &HashSet::new());
    let chances: Vec<f64> = chances.iter().map(|chance| chance.iter().sum()).collect();
    let mut order: Vec<usize> = (0..book.len()).filter(|i| chances[*i] > 0.0).collect();
    order.sort_by(|a, b| chances[*b].total_cmp(&chances[*a]).then(a.cmp(b)));
    let kept: HashSet<usize> = order.into_iter().take(most).collect();
    part(book, |i| kept.contains(&i))
}

/// By entry, the chance that a game comes to it; and the leaves with theirs.
fn likelihoods(
    book: &Book,
    roots: &[(PackedPosition, u16)],
    rules: &GrowthRules,
    replies: &ReplyModel,
    game_over: &HashSet<PackedPosition>,
) -> (Vec<Chance>, BTreeMap<PackedPosition, (Chance, u16)>) {
    let graph = Graph::of(book);
    let scores = solve(&game_of(book, &graph, rules.draw));
    let mut leaves: BTreeMap<PackedPosition, (Chance, u16)> = BTreeMap::new();
    let mut chances = vec![NO_CHANCE; book.len()];
    roots.iter().flat_map(|(r, _)| book.find(r)).for_each(|i| chances[i] = KINDS);
    // what is less likely is not among the next
    let least = 0.01 / (book.len() + 100) as f64;
    let mut order: Vec<usize> = (0..book.len()).collect();
    order.sort_by_key(|i| (book.entry(*i).ply, *i));
    for i in order {
        let (e, here) = (book.entry(i), chances[i]);
        if e.ply >= rules.max_ply || here.iter().sum::<f64>() < least {
            continue;
        }
        let Some(mut pos) = e.packed.position(e.ply) else { continue };
        let sign = if e.packed.turn() == Color::Black { 1 } else { -1 };
        let mut targets: HashMap<u16, (i32, Option<usize>)> = HashMap::new();
        for (k, m) in e.moves.iter().enumerate() {
            match graph.target(book.first_move(i) + k) {
                MoveTarget::Illegal => None,
                MoveTarget::Leaf => targets.insert(m.mv, (m.value().unwrap_or(0), None)),
                MoveTarget::Inside(t) => {
                    targets.insert(m.mv, (sign * scores[t as usize].value, Some(t as usize)))
                }
            };
        }
        let best = targets.values().map(|(worth, _)| *worth).max().unwrap_or(0);
        let mut moves: Vec<(Move, Option<i32>)> = Vec::new();
        let mut after: Vec<Option<(PackedPosition, Option<usize>)>> = Vec::new();
        for m in pos.legal_moves(true).iter().map(|m| m.mv) {
            let named = targets.get(&m.raw16());
            pos.do_move(m);
            let packed = PackedPosition::of(&pos);
            pos.undo_move();
            let target = match named {
                Some((_, target)) => *target,
                None => packed.and_then(|p| book.find(&p).next()),
            };
            let worth = named.map(|(worth, _)| *worth).or(target.map(|t| sign * scores[t].value));
            if worth.is_some_and(|w| w.abs() > rules.range || best.saturating_sub(w) > rules.margin) {
                continue;
            }
            moves.push((m, worth.map(|w| (best - w).max(0))));
            after.push(packed.map(|p| (p, target)));
        }
        let likely = replies.probabilities(&pos, &moves);
        let choice = |loss: Option<i32>| loss.is_some_and(|loss| loss <= rules.own_margin);
        let choices = moves.iter().filter(|(_, loss)| choice(*loss)).count().max(1) as f64;
        for (k, (_, loss)) in moves.iter().enumerate() {
            let Some((packed, target)) = after[k] else { continue };
            let own = if choice(*loss) { 1.0 / choices } else { 0.0 };
            let by = match pos.side_to_move() {
                Color::Black => [likely[k], own, likely[k]],
                Color::White => [likely[k], likely[k], own],
            };
            match target {
                // a shorter way was followed before
                Some(t) if book.entry(t).ply <= e.ply => {}
                Some(t) => add(&mut chances[t], here, by),
                None if game_over.contains(&packed) => {}
                None => {
                    let ply = if e.ply == 0 { 0 } else { e.ply.saturating_add(1) };
                    let leaf = leaves.entry(packed).or_insert((NO_CHANCE, ply));
                    leaf.1 = leaf.1.min(ply);
                    add(&mut leaf.0, here, by);
                }
            }
        }
    }
    (chances, leaves)
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
    use crate::position::Position;

    const A: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";
    const B: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w -";

    #[test]
    fn the_likeliest_leaf_grows_first() {
        let text = format!(
            "sfen {B} 2\n3c3d none -20 9\n8c8d none -30 9\nsfen {A} 1\n7g7f none 90 9\n2g2f none 15 9\n9g9f none -40 9\n"
        );
        let book = db::read(text.as_bytes()).unwrap().0;
        let root = PackedPosition::read(&format!("{A} 1")).unwrap().0;
        let rules = GrowthRules { margin: 50, range: 500, own_margin: 5, max_ply: 40, draw: 0 };
        let replies = ReplyModel::new(Book::default(), 10.0);
        let lines = |rules: &GrowthRules, replies: &ReplyModel, game_over: &HashSet<PackedPosition>| {
            let found = frontier(&book, &[(root, 1)], rules, replies, game_over, 9);
            assert!(found.iter().map(|leaf| leaf.probability).sum::<f64>() < 1.0 + 1e-9);
            found.iter().map(|l| l.packed.position(l.ply).unwrap().sfen()).collect::<Vec<_>>()
        };
        let none = HashSet::new();
        let after = |moves: &str| {
            let mut pos = Position::startpos();
            for m in moves.split(' ') {
                pos.do_move(pos.parse_move(m).unwrap());
            }
            pos.sfen()
        };
        // 7g7f is worth 20 by White's best reply; 2g2f gives 5 away, 8c8d 10, 9g9f 60
        let all = ["7g7f 3c3d", "2g2f", "7g7f 8c8d", "9g9f"].map(after);
        assert_eq!(lines(&rules, &replies, &none), all[..3]);
        assert_eq!(lines(&GrowthRules { margin: 60, ..rules }, &replies, &none), all);
        // a choosy Black plays 7g7f only
        let choosy =
            frontier(&book, &[(root, 1)], &GrowthRules { own_margin: 0, ..rules }, &replies, &none, 9);
        assert!(
            choosy[1].probability < frontier(&book, &[(root, 1)], &rules, &replies, &none, 9)[1].probability
        );
        assert_eq!(lines(&GrowthRules { range: 16, ..rules }, &replies, &none), all[1..2]);
        assert!(lines(&GrowthRules { max_ply: 1, ..rules }, &replies, &none).is_empty());
        let game_over = HashSet::from([PackedPosition::read(&all[0]).unwrap().0]);
        assert_eq!(lines(&rules, &replies, &game_over), all[1..3]);
        // moves of games are likely, also where the search did not name them
        let games =
            db::read(format!("sfen {A} 1\n9g9f none none none 90\n1g1f none none none 9\n").as_bytes());
        let played = ReplyModel::new(games.unwrap().0, 10.0);
        let first = lines(&GrowthRules { margin: 60, ..rules }, &played, &none);
        assert_eq!(first[0], after("9g9f"));
        assert!(first.contains(&after("1g1f")));
        // a cut keeps the likeliest positions; what an unlikely one alone leads to goes with it
        let line =
            |moves: &str, named: &str, value: i32| format!("sfen {}\n{named} none {value} 9\n", after(moves));
        let grown = format!(
            "sfen {A} 1\n7g7f none 20 9\n9g9f none -80 9\n{}{}{}",
            line("7g7f", "8c8d", 0),
            line("9g9f", "8c8d", 90),
            line("9g9f 8c8d", "1g1f", -90)
        );
        let grown = db::read(grown.as_bytes()).unwrap().0;
        let cut = |most| {
            let left = likeliest(&grown, &[(root, 1)], &GrowthRules { margin: 150, ..rules }, &replies, most);
            left.entries().map(|e| e.packed.position(e.ply).unwrap().sfen()).collect::<HashSet<_>>()
        };
        let start = Position::startpos().sfen();
        assert_eq!(cut(2), HashSet::from([start.clone(), after("7g7f")]));
        assert_eq!(cut(1), HashSet::from([start]));
        assert_eq!(cut(9).len(), 4);
        let nothing = Book::default();
        let found = frontier(&nothing, &[(root, 7)], &rules, &replies, &none, 9);
        assert_eq!(found, [Leaf::wanted((root, 7))]);
        assert_eq!(score_of(&book, &root, 0).unwrap().value, 20);
    }
}
