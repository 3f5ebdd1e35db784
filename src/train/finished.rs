//! [`Finished`]: the parameters in the plain shape of the network, still in f32.

use rayon::prelude::*;

use super::features::{ACTIVE, BONA, ROWS, Sample};
use super::model::{Model, dense};
use crate::memory::{HugeBuf, OutOfMemory};
use crate::nnue::arch::{L1, L2, L3};

/// What a [`Model`] amounts to: momentum made up for, the factor added to the rows, mirrored king squares written out.
/// It is rounded to integers by [`quantize`](Self::quantize).
pub struct Finished {
    /// A row of [`L1`] for each king square and BonaPiece.
    pub rows: HugeBuf<f32>,
    /// Bias of the first layer.
    pub bias: Vec<f32>,
    /// The other layers, see [`dense`].
    pub dense: Vec<f32>,
}

impl Model {
    /// The finished network in f32.
    ///
    /// # Errors
    /// No memory for another first layer (128 MB).
    pub fn finished(&self) -> Result<Finished, OutOfMemory> {
        let mut rows = HugeBuf::zeroed(ROWS * L1)?;
        rows.par_chunks_exact_mut(L1).enumerate().for_each(|(i, row)| self.folded_row(i, row));
        Ok(Finished { rows, bias: self.bias.w.clone(), dense: self.dense.w.clone() })
    }
}

impl Finished {
    /// The output, 1 for 600 `Value`s, for the side to move: exact and slow, made for measuring.
    pub fn output(&self, sample: &Sample) -> f32 {
        let d = &self.dense;
        let mut a1 = [0f32; L2];
        a1.copy_from_slice(&d[dense::B1..][..L2]);
        let mut pieces = [0u16; ACTIVE];
        for p in 0..2 {
            let king = sample.view(p, false, &mut pieces) as usize;
            let mut acc = [0f32; L1];
            acc.copy_from_slice(&self.bias);
            for &piece in &pieces {
                let row = &self.rows[(king * BONA + piece as usize) * L1..][..L1];
                acc.iter_mut().zip(row).for_each(|(a, r)| *a += r);
            }
            for (i, a) in acc.iter().enumerate() {
                let w = &d[dense::W1 + (p * L1 + i) * L2..][..L2];
                a1.iter_mut().zip(w).for_each(|(s, w)| *s += a.clamp(0.0, 1.0) * w);
            }
        }
        let mut a2 = [0f32; L3];
        a2.copy_from_slice(&d[dense::B2..][..L3]);
        for (i, a) in a1.iter().enumerate() {
            let w = &d[dense::W2 + i * L3..][..L3];
            a2.iter_mut().zip(w).for_each(|(s, w)| *s += a.clamp(0.0, 1.0) * w);
        }
        let out = &d[dense::W3..][..L3];
        d[dense::B3] + a2.iter().zip(out).map(|(a, w)| a.clamp(0.0, 1.0) * w).sum::<f32>()
    }
}
