//! [`Finished`]: the parameters in the plain shape of the network, still in f32.

use rayon::prelude::*;

use super::features::Sample;
use super::layout::Layout;
use super::model::Model;
use crate::memory::{HugeBuf, OutOfMemory};

/// What a [`Model`] amounts to: momentum made up for, the factor added to the rows, mirrored king squares written out.
/// It is rounded to integers by [`quantize`](Self::quantize).
pub struct Finished {
    /// Where everything lies.
    pub layout: Layout,
    /// A row for each king square and BonaPiece.
    pub rows: HugeBuf<f32>,
    /// Bias of the first layer.
    pub bias: Vec<f32>,
    /// The other layers, see [`Layout`].
    pub dense: Vec<f32>,
}

impl Model {
    /// The finished network in f32.
    ///
    /// # Errors
    /// No memory for another first layer.
    pub fn finished(&self) -> Result<Finished, OutOfMemory> {
        let layout = self.layout;
        let mut rows = HugeBuf::zeroed(layout.rows() * layout.l1)?;
        rows.par_chunks_exact_mut(layout.l1).enumerate().for_each(|(i, row)| self.folded_row(i, row));
        Ok(Finished { layout, rows, bias: self.bias.w.clone(), dense: self.dense.w.clone() })
    }
}

impl Finished {
    /// The output, 1 for 600 `Value`s, for the side to move: exact and slow, made for measuring.
    pub fn output(&self, sample: &Sample) -> f32 {
        let (l, d) = (self.layout, &self.dense);
        let mut a1 = d[l.b1..][..l.l2].to_vec();
        let mut pieces = vec![0u16; l.active];
        for p in 0..2 {
            let king = sample.view(p, false, &mut pieces) as usize;
            let first = if l.buckets == 1 { 0 } else { king * l.per_bucket };
            let mut acc = self.bias.clone();
            for &piece in &pieces {
                let row = &self.rows[(first + piece as usize) * l.l1..][..l.l1];
                acc.iter_mut().zip(row).for_each(|(a, r)| *a += r);
            }
            for (i, a) in acc.iter().enumerate() {
                let w = &d[l.w1 + (p * l.l1 + i) * l.l2..][..l.l2];
                a1.iter_mut().zip(w).for_each(|(s, w)| *s += a.clamp(0.0, 1.0) * w);
            }
        }
        let mut a2 = d[l.b2..][..l.l3].to_vec();
        for (i, a) in a1.iter().enumerate() {
            let w = &d[l.w2 + i * l.l3..][..l.l3];
            a2.iter_mut().zip(w).for_each(|(s, w)| *s += a.clamp(0.0, 1.0) * w);
        }
        let out = &d[l.w3..][..l.l3];
        d[l.b3] + a2.iter().zip(out).map(|(a, w)| a.clamp(0.0, 1.0) * w).sum::<f32>()
    }
}
