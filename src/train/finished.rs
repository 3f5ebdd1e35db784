//! [`Finished`]: the parameters of the finished network in f32.

use std::sync::Arc;

use rayon::prelude::*;

use super::features::Sample;
use super::head;
use super::layout::Layout;
use super::model::Model;
use crate::nnue::Progress;
use crate::support::memory::{HugeBuf, OutOfMemory};

/// The network that a [`Model`] computes: outstanding momentum applied, and the factor added to the rows.
/// [`quantize`](Self::quantize) rounds it to integers.
pub struct Finished {
    /// Sizes and offsets.
    pub layout: Layout,
    /// A row for each king square and BonaPiece.
    pub rows: HugeBuf<f32>,
    /// Bias of the first layer.
    pub bias: Vec<f32>,
    /// The layers after it, see [`Layout`].
    pub dense: Vec<f32>,
    /// The weights of the game's progress, if it chooses a stack.
    pub progress: Option<Arc<Progress>>,
}

impl Model {
    /// The finished network in f32.
    pub fn finished(&self) -> Result<Finished, OutOfMemory> {
        let layout = self.layout;
        let mut rows = HugeBuf::zeroed(layout.rows() * layout.l1)?;
        rows.par_chunks_exact_mut(layout.l1.max(1)).enumerate().for_each(|(i, row)| self.folded_row(i, row));
        let (bias, dense, progress) = (self.bias.w.clone(), self.dense.w.clone(), self.progress.clone());
        Ok(Finished { layout, rows, bias, dense, progress })
    }
}

impl Finished {
    /// The output for the side to move, 1 for 600 `Value`s. Slow; for measurements.
    pub fn output(&self, sample: &Sample) -> f32 {
        let l = self.layout;
        let mut pieces = vec![0u16; l.active];
        let accumulators = [0, 1].map(|p| {
            let first = l.view(sample, p, &mut pieces) * l.per_bucket;
            let mut acc = self.bias.clone();
            for &piece in &pieces {
                let row = &self.rows[(first + piece as usize) * l.l1..][..l.l1];
                acc.iter_mut().zip(row).for_each(|(a, r)| *a += r);
            }
            acc
        });
        head::of(&l).output(&self.dense, accumulators.each_ref().map(|a| &a[..]), sample)
    }
}
