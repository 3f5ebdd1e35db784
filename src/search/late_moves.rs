//! Late move reductions: how much to reduce the depth of a move by its place in the order. All are in 1/1024
//! ply.

use super::history::{Histories, Threats, piece_to};
use super::node::{Node, NodeType};
use super::params as p;
use crate::position::Position;
use crate::position::material::PIECE_VALUE;
use crate::types::{Depth, MAX_MOVES, Move, Value};

/// The logarithms of depths and move numbers, scaled so that the product of two is a reduction.
pub(super) struct Reductions(Box<[i32; MAX_MOVES + 1]>);

impl Default for Reductions {
    fn default() -> Reductions {
        Reductions(Box::new([0; MAX_MOVES + 1]))
    }
}

impl Reductions {
    /// Computes the table from the parameters.
    pub fn fill(&mut self) {
        for (i, r) in self.0.iter_mut().enumerate().skip(1) {
            *r = (f64::from(p::reduction_base()) / 128.0 * (i as f64).ln()) as i32;
        }
    }

    /// The reduction by depth and move number alone; `window` is beta minus alpha, `root_window` that of the
    /// root.
    #[inline]
    pub fn base(
        &self,
        improving: bool,
        depth: Depth,
        move_count: i32,
        window: Value,
        root_window: Value,
    ) -> i32 {
        let scale = self.0[depth as usize] * self.0[move_count as usize];
        scale - window * p::reduction_window() / root_window
            + if improving { 0 } else { scale * p::reduction_not_improving() / 512 }
            + p::reduction_offset()
    }
}

/// What a move's reduction depends on, besides the node.
#[derive(Clone, Copy)]
pub(super) struct LateMove {
    pub mv: Move,
    pub move_count: i32,
    pub depth: Depth,
    pub alpha: Value,
    pub tt_pv: bool,
    /// The sum of the move's histories ([`stat_score`]).
    pub stat_score: i32,
    /// Fail-highs among the node's children so far.
    pub cutoffs: i32,
}

/// The sum of the histories of `m`, a move of the position `pos` of `node`.
#[inline(always)]
pub(super) fn stat_score(
    hist: &Histories,
    pos: &Position,
    node: &Node,
    threats: Threats,
    m: Move,
    capture: bool,
) -> i32 {
    if capture {
        let captured = pos.captured_kind(m);
        p::lmr_captured_value() * PIECE_VALUE[captured.index()] / 128
            + hist.capture(m.piece(), m.to(), captured)
    } else {
        let i = piece_to(m.piece(), m.to());
        2 * hist.main(node.us, m, threats)
            + hist.continuation(node.continuation[0])[i] as i32
            + hist.continuation(node.continuation[1])[i] as i32
    }
}

/// The reduction by the state of the node and the move's histories, starting from [`Reductions::base`].
#[inline]
pub(super) fn late_move_reduction<N: NodeType>(node: &Node, late: LateMove, base: i32) -> i32 {
    let LateMove { mv, move_count, depth, alpha, tt_pv, stat_score, cutoffs } = late;
    let tt = &node.tt;
    let mut r = base;
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
    r += p::lmr_base() - move_count * p::lmr_move_count() - node.correction.abs() / p::lmr_correction_div();
    if node.cut_node {
        r += p::lmr_cut_node() + p::lmr_cut_node_no_tt() * i32::from(tt.mv.is_none());
    }
    if node.tt_capture {
        r += p::lmr_tt_capture();
    }
    if cutoffs > 1 {
        r += p::lmr_cutoffs()
            + p::lmr_many_cutoffs() * i32::from(cutoffs > 2)
            + p::lmr_cutoffs_all_node() * i32::from(node.all_node);
    } else if mv == tt.mv {
        r -= p::lmr_tt_move();
    }
    r -= stat_score * p::lmr_stat_score() / 4096;
    if node.all_node {
        r += r * p::lmr_all_node() / (256 * depth + 260);
    }
    r
}
