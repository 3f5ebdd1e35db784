//! Late move reductions: how much less deep to search a move that comes late. All of them are in 1/1024 ply.

use super::history::piece_to;
use super::node::{Node, NodeType};
use super::params as p;
use super::worker::Worker;
use crate::position::material::PIECE_VALUE;
use crate::types::{Depth, Move, Value};

/// A move of the move loop, as its reduction sees it.
#[derive(Clone, Copy)]
pub(super) struct LateMove {
    pub m: Move,
    pub capture: bool,
    pub move_count: i32,
    pub depth: Depth,
    pub alpha: Value,
    pub tt_pv: bool,
}

impl Worker {
    /// The reduction by depth and number of the move alone; `window` is beta minus alpha.
    #[inline]
    pub(super) fn base_reduction(&self, improving: bool, depth: i32, move_count: i32, window: i32) -> i32 {
        let scale = self.reductions.scale(depth, move_count);
        scale - window * p::reduction_window() / self.root_delta
            + if improving { 0 } else { scale * p::reduction_not_improving() / 512 }
            + p::reduction_offset()
    }

    /// The reduction with all that is known of the node and the move's histories, from the one so far. Remembers the move's
    /// histories in the frame (`stat_score`).
    #[inline]
    pub(super) fn late_move_reduction<N: NodeType>(
        &mut self,
        node: &Node,
        late: LateMove,
        so_far: i32,
    ) -> i32 {
        let LateMove { m, capture, move_count, depth, alpha, tt_pv } = late;
        let tt = &node.tt;
        let mut r = so_far;
        if tt_pv {
            r -= p::lmr_tt_pv()
                + p::lmr_tt_pv_node() * i32::from(N::PV)
                + p::lmr_tt_pv_value() * i32::from(tt.value > alpha)
                + if tt.data.depth >= depth {
                    p::lmr_tt_pv_depth() + p::lmr_tt_pv_depth_cut() * i32::from(node.cut_node)
                } else {
                    0
                };
        }
        r += p::lmr_base()
            - move_count * p::lmr_move_count()
            - node.correction.abs() / p::lmr_correction_div();
        if node.cut_node {
            r += p::lmr_cut_node() + p::lmr_cut_node_no_tt() * i32::from(tt.mv.is_none());
        }
        if node.tt_capture {
            r += p::lmr_tt_capture();
        }
        let cutoffs = self.frame(node.ply + 1).cutoffs;
        if cutoffs > 1 {
            r += p::lmr_cutoffs()
                + p::lmr_many_cutoffs() * i32::from(cutoffs > 2)
                + p::lmr_cutoffs_all_node() * i32::from(node.all_node);
        } else if m == tt.mv {
            r -= p::lmr_tt_move();
        }
        let i = piece_to(m.piece(), m.to());
        let stat_score = if capture {
            let captured = self.captured_kind(m);
            p::lmr_captured_value() * PIECE_VALUE[captured.index()] / 128
                + self.hist.capture(m.piece(), m.to(), captured)
        } else {
            2 * self.hist.main(node.us, m, self.frame(node.ply).threats)
                + self.hist.continuation(node.continuation[0])[i] as i32
                + self.hist.continuation(node.continuation[1])[i] as i32
        };
        self.frame_mut(node.ply).stat_score = stat_score;
        r -= stat_score * p::lmr_stat_score() / 4096;
        if node.all_node {
            r += r * p::lmr_all_node() / (256 * depth + 260);
        }
        r
    }
}
