//! The table behind all reductions: [`Reductions`].

use super::params as p;
use crate::types::{Depth, MAX_MOVES};

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

    /// By how much to reduce the move of that number at that depth, other things being equal, in 1/1024 ply.
    #[inline]
    pub fn scale(&self, depth: Depth, move_count: i32) -> i32 {
        self.0[depth as usize] * self.0[move_count as usize]
    }
}
