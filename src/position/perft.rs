//! Counting the leaves of the move tree, the check of every move generator.

use rayon::prelude::*;

use super::Position;
use crate::types::Move;

/// The number of sequences of `depth` legal moves, pointless non-promotions included. The last ply is counted without
/// being played.
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

/// [`perft`] by root move, in the order of USI text.
pub fn perft_divide(pos: &mut Position, depth: u32) -> Vec<(Move, u64)> {
    perft_parallel(pos, depth, 1)
}

/// [`perft_divide`] on several threads.
pub fn perft_parallel(pos: &Position, depth: u32, threads: usize) -> Vec<(Move, u64)> {
    let mut roots: Vec<Move> = match depth {
        0 => Vec::new(),
        _ => pos.legal_moves(true).iter().map(|s| s.mv).collect(),
    };
    roots.sort_by_cached_key(Move::to_string);
    let count = |pos: &mut Position, m: Move| {
        pos.do_move(m);
        let nodes = perft(pos, depth - 1);
        pos.undo_move();
        (m, nodes)
    };
    if threads > 1 {
        // Root moves differ widely in size: small work items keep all threads busy.
        if let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            return pool.install(|| {
                roots.par_iter().with_max_len(1).map_init(|| pos.clone(), |p, &m| count(p, m)).collect()
            });
        }
    }
    let mut pos = pos.clone();
    roots.into_iter().map(|m| count(&mut pos, m)).collect()
}
