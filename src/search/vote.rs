//! Which thread's move to play when several have searched: [`elect`].

use super::root_move::{ReportedLine, RootMove};
use crate::types::{Move, VALUE_INFINITE, Value, is_loss, is_win};
use std::collections::HashMap;

/// One thread's vote.
#[derive(Clone)]
pub(super) struct Vote {
    /// The thread's index.
    pub index: usize,
    pub root_move: RootMove,
    /// The last iteration that the thread finished.
    pub depth: i32,
    /// What to report if this vote is the one.
    pub line: ReportedLine,
}

/// Elects the thread whose result to play. Every thread votes for its move, weighted by depth and score;
/// proven wins and losses take precedence. Threads that finished no iteration do not vote.
pub(super) fn elect(first: Vote, mut others: Vec<Vote>) -> Vote {
    others.retain(|v| v.depth > 0 && v.root_move.is_scored());
    let least = others.iter().map(|v| v.root_move.score).fold(first.root_move.score, Value::min);
    let weight = |v: &Vote| i64::from(v.root_move.score - least + 14) * i64::from(v.depth);
    let mut votes: HashMap<Move, i64> = HashMap::new();
    for v in std::iter::once(&first).chain(&others) {
        *votes.entry(v.root_move.mv).or_default() += weight(v);
    }
    let loses = |v: &Vote| v.root_move.score != -VALUE_INFINITE && is_loss(v.root_move.score);
    let mut best = first;
    for v in others {
        let (new, old) = (v.root_move.score, best.root_move.score);
        let (new_votes, old_votes) = (votes[&v.root_move.mv], votes[&best.root_move.mv]);
        let fuller = |v: &Vote| if v.root_move.rest.len() > 1 { weight(v) } else { 0 };
        let better = if is_win(old) {
            new > old
        } else if loses(&best) {
            // the loss is hardest to find after a move that a thread has not seen refuted
            !loses(&v) || new < old
        } else {
            is_win(new)
                || !is_loss(new)
                    && (new_votes > old_votes || new_votes == old_votes && fuller(&v) > fuller(&best))
        };
        if better {
            best = v;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Position;
    use crate::types::{mate_in, mated_in};

    #[test]
    fn threads_elect_by_score_and_depth_but_only_those_that_finished_an_iteration() {
        let moves: Vec<Move> = Position::startpos().legal_moves(false).iter().map(|s| s.mv).collect();
        let vote = |index: usize, score: Value, depth: i32| {
            let mut root_move = RootMove::new(moves[index]);
            root_move.score = score;
            Vote { index, root_move, depth, line: ReportedLine::default() }
        };
        let elected = |votes: &[Vote]| elect(votes[0].clone(), votes[1..].to_vec()).index;
        let idle = || vote(2, -VALUE_INFINITE, 0);
        assert_eq!(elected(&[vote(0, 50, 10), vote(1, 60, 12), idle()]), 1);
        assert_eq!(elected(&[vote(0, 50, 12), vote(1, 20, 10), idle()]), 0);
        assert_eq!(elected(&[vote(0, 900, 20), vote(1, mate_in(7), 9), idle()]), 1);
        assert_eq!(elected(&[vote(0, mate_in(9), 20), vote(1, mate_in(7), 9), idle()]), 1);
        assert_eq!(elected(&[vote(0, mated_in(6), 20), idle()]), 0);
        assert_eq!(elected(&[vote(0, mated_in(6), 20), idle(), vote(1, -900, 15)]), 1);
    }
}
