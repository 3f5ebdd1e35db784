//! Scores backed up from the leaves of a book: [`solve`], [`minimax`].
//!
//! The book is a graph: lines transpose and repeat. A line that never leaves it repeats forever and is a
//! draw. Its value is therefore that of a game in which each side tries to reach a leaf that is better for it
//! than the draw. As in endgame tables it is computed from the leaves backward: the leaves better for Black
//! than a draw are taken from the best down, and each position gets the score of the first from which Black
//! can force its way there, in the fewest moves while White delays; the same for White; all others are draws.
//! One pass over the moves suffices, also with cycles.
//!
//! Perpetual check counts as a draw like any repetition.

use super::graph::{Graph, MoveTarget, linked, turns};
use super::moves::BookMove;
use super::store::Book;
use crate::types::Color;

/// The depth of a line that repeats forever, as in YaneuraOu.
pub const REPETITION_DEPTH: u16 = 999;

/// A score in centipawns for Black, and the plies of the line to its leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Score {
    /// Centipawns for Black.
    pub value: i32,
    /// Moves from here to the one that leaves the book; [`REPETITION_DEPTH`] if none does.
    pub depth: u16,
}

/// A graph of positions: the side to move in each node, and the targets of its moves.
pub struct ScoreGraph {
    /// By node.
    pub turns: Vec<Color>,
    /// The index of each node's first move; the last element is the number of moves.
    pub first: Vec<u32>,
    /// By move: the node, or none for a leaf.
    pub targets: Vec<Option<u32>>,
    /// By move: the leaf's centipawns for Black; read only for leaves.
    pub leaves: Vec<i32>,
    /// Score of a repetition for Black.
    pub draw: i32,
}

impl ScoreGraph {
    fn moves(&self, node: usize) -> std::ops::Range<usize> {
        self.first[node] as usize..self.first[node + 1] as usize
    }
}

const OPEN: Score = Score { value: i32::MIN, depth: 0 };

/// For each node: the moves that lead to it, as their nodes' numbers.
struct Parents {
    first: Vec<u32>,
    nodes: Vec<u32>,
}

impl Parents {
    fn of(game: &ScoreGraph) -> Parents {
        let n = game.turns.len();
        let mut first = vec![0u32; n + 1];
        game.targets.iter().flatten().for_each(|t| first[*t as usize + 1] += 1);
        (0..n).for_each(|i| first[i + 1] += first[i]);
        let mut fill = first.clone();
        let mut nodes = vec![0; first[n] as usize];
        for node in 0..n {
            for t in game.moves(node).filter_map(|m| game.targets[m]) {
                nodes[fill[t as usize] as usize] = node as u32;
                fill[t as usize] += 1;
            }
        }
        Parents { first, nodes }
    }

    fn of_node(&self, node: u32) -> &[u32] {
        &self.nodes[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }
}

/// The score of every node. A node without moves is a draw; a [`Book`] has none.
pub fn solve(game: &ScoreGraph) -> Vec<Score> {
    let n = game.turns.len();
    let parents = Parents::of(game);
    let mut scores = vec![OPEN; n];
    // number of moves that do not yet lead to the present level; for nodes of the other side it must fall to
    // zero
    let mut left: Vec<u32> = vec![0; n];
    for side in Color::ALL {
        (0..n).for_each(|i| left[i] = game.moves(i).len() as u32);
        let better = |value: i32| if side == Color::Black { value > game.draw } else { value < game.draw };
        let mut leaves: Vec<(i32, u32)> = Vec::new();
        for node in 0..n {
            for m in game.moves(node).filter(|m| game.targets[*m].is_none() && better(game.leaves[*m])) {
                leaves.push((game.leaves[m], node as u32));
            }
        }
        leaves.sort_unstable_by_key(|(value, node)| {
            (if side == Color::Black { -i64::from(*value) } else { i64::from(*value) }, *node)
        });
        for level in leaves.chunk_by(|a, b| a.0 == b.0) {
            force(game, &parents, side, level, &mut left, &mut scores);
        }
    }
    draws(game, &parents, &mut scores);
    scores
}

/// Gives the score of a level's leaves to all nodes from which `side` can force its way to one of them, layer
/// by layer.
fn force(
    game: &ScoreGraph,
    parents: &Parents,
    side: Color,
    level: &[(i32, u32)],
    left: &mut [u32],
    scores: &mut [Score],
) {
    let value = level[0].0;
    let mut depth = 0;
    // each of these nodes has a move to the present level now
    let mut layer: Vec<u32> = level.iter().map(|(_, node)| *node).collect();
    while !layer.is_empty() {
        let mut next = Vec::new();
        for node in layer {
            let i = node as usize;
            left[i] -= 1;
            if scores[i] == OPEN && (game.turns[i] == side || left[i] == 0) {
                scores[i] = Score { value, depth };
                next.extend_from_slice(parents.of_node(node));
            }
        }
        layer = next;
        depth = depth.saturating_add(1).min(REPETITION_DEPTH - 1);
    }
}

/// The remaining nodes are draws: by the shortest line to a leaf of that score that both sides accept, or by
/// repetition.
fn draws(game: &ScoreGraph, parents: &Parents, scores: &mut [Score]) {
    let open: Vec<bool> = scores.iter().map(|s| *s == OPEN).collect();
    let drawn = |m: usize| game.targets[m].is_none() && game.leaves[m] == game.draw;
    let mut layer: Vec<u32> = Vec::new();
    for (i, score) in scores.iter_mut().enumerate().filter(|(i, _)| open[*i]) {
        *score = Score { value: game.draw, depth: REPETITION_DEPTH };
        if game.moves(i).any(drawn) {
            score.depth = 0;
            layer.push(i as u32);
        }
    }
    for depth in 1..REPETITION_DEPTH {
        let mut next = Vec::new();
        for node in layer {
            for parent in parents.of_node(node) {
                let score = &mut scores[*parent as usize];
                if open[*parent as usize] && score.depth == REPETITION_DEPTH {
                    score.depth = depth;
                    next.push(*parent);
                }
            }
        }
        layer = next;
    }
}

/// Counts of a back-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinimaxReport {
    /// Positions.
    pub positions: usize,
    /// Moves that lead to another position of the book.
    pub inner: usize,
    /// Moves that leave it.
    pub leaves: usize,
    /// Illegal moves, which are unchanged.
    pub illegal: usize,
    /// Positions whose best line repeats forever.
    pub repetitions: usize,
    /// Peak memory in bytes, without the allocator's overhead.
    pub bytes: usize,
}

/// The graph of a book; leaves have their own scores (0 if unknown).
pub fn game_of(book: &Book, graph: &Graph, draw: i32) -> ScoreGraph {
    let turns = turns(book);
    let mut game = ScoreGraph {
        first: Vec::with_capacity(book.len() + 1),
        targets: Vec::with_capacity(book.move_count()),
        leaves: Vec::with_capacity(book.move_count()),
        turns,
        draw,
    };
    game.first.push(0);
    for (i, e) in book.entries().enumerate() {
        for (k, m) in e.moves.iter().enumerate() {
            let target = match graph.target(book.first_move(i) + k) {
                MoveTarget::Illegal => continue,
                MoveTarget::Leaf => None,
                MoveTarget::Inside(t) => Some(t),
            };
            game.targets.push(target);
            game.leaves.push(for_black(game.turns[i], m.value().unwrap_or(0)));
        }
        game.first.push(game.targets.len() as u32);
    }
    game
}

fn for_black(turn: Color, value: i32) -> i32 {
    if turn == Color::Black { value } else { -value }
}

/// Backs the scores of a book's leaves up into all its moves; `draw` is the score of a repetition for Black,
/// in centipawns. The depth of a move becomes the number of book moves that follow it on the way to the leaf.
/// Counts are dropped, because engines would prefer them to the scores. Moves that lead to another position of the
/// book are added where they are missing.
pub fn minimax(book: Book, draw: i32) -> (Book, MinimaxReport) {
    let mut book = linked(&book.without_other_plies().0);
    let graph = Graph::of(&book);
    let game = game_of(&book, &graph, draw);
    let scores = solve(&game);
    let mut report = MinimaxReport { positions: book.len(), ..MinimaxReport::default() };
    report.bytes = book.bytes() + graph.bytes() + game.targets.len() * 12 + game.turns.len() * 5
        // parents, and the counts and scores of the solution
        + game.targets.len() * 4 + book.len() * (8 + 4 + 8);
    report.repetitions = scores.iter().filter(|s| s.depth == REPETITION_DEPTH).count();
    for i in 0..book.len() {
        let (turn, first) = (game.turns[i], book.first_move(i));
        for (k, m) in book.moves_mut(i).iter_mut().enumerate() {
            *m = m.with_count(Some(0));
            match graph.target(first + k) {
                MoveTarget::Illegal => report.illegal += 1,
                MoveTarget::Leaf => {
                    report.leaves += 1;
                    *m = m.with_value(Some(m.value().unwrap_or(0))).with_depth(Some(0));
                }
                MoveTarget::Inside(t) => {
                    report.inner += 1;
                    let s = scores[t as usize];
                    let depth = if s.depth == REPETITION_DEPTH { s.depth } else { s.depth + 1 };
                    *m = m.with_value(Some(for_black(turn, s.value))).with_depth(Some(depth.into()));
                }
            }
        }
        book.moves_mut(i).sort_by_key(BookMove::rank);
    }
    // the reply to expect is the best move of the position that follows
    let replies: Vec<u16> = (0..book.len()).map(|i| book.entry(i).moves[0].mv).collect();
    let graph = Graph::of(&book);
    for i in 0..book.len() {
        let first = book.first_move(i);
        for (k, m) in book.moves_mut(i).iter_mut().enumerate() {
            if let MoveTarget::Inside(t) = graph.target(first + k) {
                *m = m.with_ponder(replies[t as usize]);
            }
        }
    }
    (book, report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::random::Rng;

    /// A random graph with many cycles, some scores equal to the draw's.
    fn random(rng: &mut Rng) -> ScoreGraph {
        let n = 1 + rng.below(12);
        let draw = [0, 0, -2, 3][rng.below(4)];
        let mut game = ScoreGraph {
            turns: (0..n).map(|_| Color::ALL[rng.below(2)]).collect(),
            first: vec![0],
            targets: Vec::new(),
            leaves: Vec::new(),
            draw,
        };
        for _ in 0..n {
            for _ in 0..1 + rng.below(4) {
                game.targets.push(rng.chance(0.7).then(|| rng.below(n) as u32));
                game.leaves.push(draw + rng.below(9) as i32 - 4);
            }
            game.first.push(game.targets.len() as u32);
        }
        game
    }

    /// The value by its definition: what each side can force in a number of moves, where unfinished lines are
    /// draws.
    fn slow_values(game: &ScoreGraph) -> Vec<i32> {
        let n = game.turns.len();
        let mut values = vec![game.draw; n];
        // lines longer than the number of nodes repeat a position and change nothing
        for _ in 0..=n {
            let worth = |m: usize| game.targets[m].map_or(game.leaves[m], |t| values[t as usize]);
            values = (0..n)
                .map(|i| {
                    let worths = game.moves(i).map(worth);
                    if game.turns[i] == Color::Black { worths.max() } else { worths.min() }.unwrap()
                })
                .collect();
        }
        values
    }

    /// The depth by its definition, once the values are known: repeated until nothing changes.
    fn slow_depths(game: &ScoreGraph, values: &[i32]) -> Vec<u16> {
        let n = game.turns.len();
        let mut depths = vec![REPETITION_DEPTH; n];
        loop {
            let before = depths.clone();
            for i in 0..n {
                let value = values[i];
                let best = game
                    .moves(i)
                    .filter(|m| game.targets[*m].map_or(game.leaves[*m], |t| values[t as usize]) == value);
                let ways = best.map(|m| match game.targets[m] {
                    None => 0,
                    Some(t) => (before[t as usize] + 1).min(REPETITION_DEPTH),
                });
                let hurries = value == game.draw || (value > game.draw) == (game.turns[i] == Color::Black);
                depths[i] = if hurries { ways.min() } else { ways.max() }.unwrap();
            }
            if depths == before {
                return depths;
            }
        }
    }

    #[test]
    fn random_graphs_match_the_reference() {
        let mut rng = Rng::new(15);
        let mut repetitions = 0;
        for graph in 0..1000 {
            let game = random(&mut rng);
            let values = slow_values(&game);
            let depths = slow_depths(&game, &values);
            let scores = solve(&game);
            assert_eq!(scores.iter().map(|s| s.value).collect::<Vec<_>>(), values, "graph {graph}");
            assert_eq!(scores.iter().map(|s| s.depth).collect::<Vec<_>>(), depths, "graph {graph}");
            repetitions += depths.iter().filter(|d| **d == REPETITION_DEPTH).count();
        }
        assert!(repetitions > 500, "{repetitions}");
    }
}
