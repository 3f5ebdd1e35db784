//! Perft by root moves, on several threads, and stoppable.

use crate::position::{Position, perft};
use crate::types::Move;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Leaf counts below each legal move of the root, in the generator's order; all legal moves, pointless non-promotions
/// included.
///
/// `depth` is at least 1 (0 counts like 1). Returns `None` if `stop` was raised before the end.
pub fn divide(root: &Position, depth: u32, threads: usize, stop: &AtomicBool) -> Option<Vec<(Move, u64)>> {
    let moves: Vec<Move> = root.legal_moves(true).iter().map(|m| m.mv).collect();
    let counts = Mutex::new(vec![0; moves.len()]);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut position = root.clone();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(&m) = moves.get(i) else { break };
            position.do_move(m);
            let count = count(&mut position, depth.saturating_sub(1), stop);
            position.undo_move();
            counts.lock().unwrap_or_else(PoisonError::into_inner)[i] = count;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, moves.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    (!stop.load(Ordering::Relaxed)).then(|| moves.into_iter().zip(counts).collect())
}

/// As [`perft`], but looks at `stop` on the way.
fn count(position: &mut Position, depth: u32, stop: &AtomicBool) -> u64 {
    // below this depth a subtree takes a moment only
    const QUICK: u32 = 3;
    if depth == 0 {
        return 1;
    }
    if depth <= QUICK {
        return perft(position, depth);
    }
    let mut nodes = 0u64;
    for m in &position.legal_moves(true) {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        position.do_move(m.mv);
        nodes = nodes.saturating_add(count(position, depth - 1, stop));
        position.undo_move();
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_agree_with_one() {
        let root = Position::startpos();
        let go = AtomicBool::new(false);
        for (depth, nodes) in [(1, 30), (2, 900), (3, 25470), (4, 719_731)] {
            for threads in [1, 3] {
                let counts = divide(&root, depth, threads, &go).unwrap();
                assert_eq!(counts.len(), 30);
                assert_eq!(counts.iter().map(|(_, n)| n).sum::<u64>(), nodes);
            }
        }
        assert!(divide(&root, 99, 1, &AtomicBool::new(true)).is_none());
    }
}
