//! Perft: counting the leaves of the tree of all legal moves, the check of every move generator.

use super::Position;
use crate::types::Move;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The deepest perft. From the initial position not even 13 plies come to an end in a lifetime; positions
/// with few moves may go deeper, and recursion to this depth needs a fraction of any thread's stack.
pub const MAX_PERFT_DEPTH: u32 = 32;

/// Why there is no count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum PerftError {
    #[error("perft: depth {0} is beyond {MAX_PERFT_DEPTH}")]
    TooDeep(u32),
    #[error("perft stopped")]
    Stopped,
}

/// The number of sequences of `depth` legal moves, pointless non-promotions included. The last ply is counted
/// without being played. The depth should be at most [`MAX_PERFT_DEPTH`].
pub fn perft(pos: &mut Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => pos.count_legal_moves(),
        _ => {
            let mut nodes = 0;
            for s in &pos.legal_moves(true) {
                pos.do_move(s.mv);
                nodes += perft(pos, depth - 1);
                pos.undo_move();
            }
            nodes
        }
    }
}

/// [`perft`] below each legal move of the root, in the order of USI text, on several threads. Depth 0 has no
/// moves: the list is empty.
///
/// # Errors
/// [`PerftError::TooDeep`] beyond [`MAX_PERFT_DEPTH`], [`PerftError::Stopped`] if `stop` was raised before
/// the end.
pub fn divide(
    root: &Position,
    depth: u32,
    threads: usize,
    stop: &AtomicBool,
) -> Result<Vec<(Move, u64)>, PerftError> {
    if depth > MAX_PERFT_DEPTH {
        return Err(PerftError::TooDeep(depth));
    }
    let Some(below) = depth.checked_sub(1) else { return Ok(Vec::new()) };
    let mut moves: Vec<Move> = root.legal_moves(true).iter().map(|m| m.mv).collect();
    moves.sort_by_cached_key(Move::to_string);
    let counts = Mutex::new(vec![0; moves.len()]);
    // root moves differ widely in size, so each thread takes the next one when it is free
    let next = AtomicUsize::new(0);
    let work = || {
        let mut position = root.clone();
        while let Some((i, &m)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|i| Some((i, moves.get(i)?)))
        {
            position.do_move(m);
            let count = count(&mut position, below, stop);
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
    if stop.load(Ordering::Relaxed) {
        return Err(PerftError::Stopped);
    }
    let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(moves.into_iter().zip(counts).collect())
}

/// As [`perft`], but looks at `stop` on the way.
fn count(position: &mut Position, depth: u32, stop: &AtomicBool) -> u64 {
    // below this depth a subtree takes a moment only
    const QUICK: u32 = 3;
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
                assert!(counts.is_sorted_by_key(|(m, _)| m.to_string()));
            }
        }
        assert_eq!(perft(&mut root.clone(), 4), 719_731);
        assert_eq!((divide(&root, 0, 2, &go), perft(&mut root.clone(), 0)), (Ok(Vec::new()), 1));
    }

    #[test]
    fn a_stop_and_an_absurd_depth_are_errors() {
        let root = Position::startpos();
        assert_eq!(divide(&root, 20, 1, &AtomicBool::new(true)), Err(PerftError::Stopped));
        assert_eq!(divide(&root, 99_999, 1, &AtomicBool::new(false)), Err(PerftError::TooDeep(99_999)));
        // the deepest is still counted, on a stack as small as a thread's own: it ends at once where a side
        // is mated
        let forced = Position::from_sfen("8k/8G/8G/9/9/9/9/9/K8 w - 1").unwrap();
        assert_eq!(divide(&forced, MAX_PERFT_DEPTH, 1, &AtomicBool::new(false)), Ok(Vec::new()));
    }
}
