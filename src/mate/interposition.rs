//! Interpositions that only prolong a line (無駄合い): tsume-shogi does not count them.

use crate::position::{Position, attacks};
use crate::types::Move;

/// How many plies at the end of a mating line are useless interpositions with their captures: the defender
/// has nothing left but to drop pieces between king and checker, each is taken at once by the checker with
/// check, nothing that was taken is used, and so on until mate. Without them the mate came that much earlier.
///
/// `line` must be legal and end in mate.
pub fn useless_tail(position: &Position, line: &[Move]) -> usize {
    let mut pos = position.clone();
    let mut tail = 0;
    for (i, &m) in line.iter().enumerate() {
        if i % 2 == 1 {
            let useless = line.get(i + 1).is_some_and(|&capture| is_useless(&pos, m, capture));
            tail = if useless { tail + 2 } else { 0 };
        } else if m.is_drop() {
            // it may drop what was taken
            tail = 0;
        }
        pos.do_move(m);
    }
    tail
}

/// Whether all the defender can do is to drop something, does, and the checker takes it.
fn is_useless(pos: &Position, drop: Move, capture: Move) -> bool {
    let checkers = pos.checkers();
    if !drop.is_drop() || checkers.is_empty() || checkers.more_than_one() {
        return false;
    }
    let checker = checkers.first();
    let between = attacks::between(pos.king_square(pos.side_to_move()), checker);
    between.contains(drop.to())
        && !capture.is_drop()
        && capture.to() == drop.to()
        && capture.from() == checker
        && pos.legal_moves(true).iter().all(|m| m.mv.is_drop())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(sfen: &str, line: &str) -> usize {
        let position = Position::from_sfen(sfen).unwrap();
        let mut pos = position.clone();
        let moves: Vec<Move> = line
            .split(' ')
            .map(|text| {
                let m = pos.parse_move(text).unwrap();
                pos.do_move(m);
                m
            })
            .collect();
        assert!(pos.in_check() && !pos.has_legal_move());
        useless_tail(&position, &moves)
    }

    #[test]
    fn drops_that_are_taken_at_once_do_not_count() {
        // the rook checks along the last rank; whatever is dropped in between is taken on the way
        assert_eq!(tail("6Sk1/6p1P/9/9/9/9/9/9/9 b Rr2b4g3s4n4l16p 1", "R*1a"), 0);
        let far = "k8/9/K8/9/9/9/9/9/8R b p 1";
        assert_eq!(tail(far, "1i1a P*2a 1a2a"), 2);
    }
}
