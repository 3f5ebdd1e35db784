//! Where everything lies in the flat arrays of a model: [`Layout`].

use super::features::{HAND_END, WAYS};
use crate::nnue::arch::ARCHITECTURES;
use crate::nnue::{Architecture, Shape};

/// Where everything lies in the arrays of a model of some architecture. The first layer has a row of [`l1`](Self::l1) numbers
/// for each input. The small layers lie in one array, weights input by input: `w[i * outputs + o]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    architecture: Architecture,
    /// Outputs of the first layer, per perspective.
    pub l1: usize,
    /// Outputs of the first hidden layer.
    pub l2: usize,
    /// Outputs of the second hidden layer.
    pub l3: usize,
    /// Inputs of the first hidden layer: two accumulators.
    pub inputs: usize,
    /// Buckets of rows by the own king's square.
    pub buckets: usize,
    /// Rows of a bucket.
    pub per_bucket: usize,
    /// Rows that a view uses.
    pub active: usize,
    /// Weights of the first hidden layer, in the array of the small layers.
    pub w1: usize,
    /// Its bias.
    pub b1: usize,
    /// The second hidden layer.
    pub w2: usize,
    /// Its bias.
    pub b2: usize,
    /// The output.
    pub w3: usize,
    /// Its bias.
    pub b3: usize,
    /// The length of the array: the last bias is followed by unused zeros, so that vector kernels run over the
    /// whole, 16 at a time.
    pub dense: usize,
}

impl Layout {
    /// The layout of an architecture.
    pub fn of(architecture: Architecture) -> Layout {
        let Shape { inputs: features, l1, l2, l3 } = architecture.shape;
        let inputs = 2 * l1;
        let b1 = inputs * l2;
        let w2 = b1 + l2;
        let b2 = w2 + l2 * l3;
        let w3 = b2 + l3;
        let b3 = w3 + l3;
        Layout {
            architecture,
            l1,
            l2,
            l3,
            inputs,
            buckets: features.buckets(),
            per_bucket: features.per_bucket(),
            active: features.active(),
            w1: 0,
            b1,
            w2,
            b2,
            w3,
            b3,
            dense: (b3 + 1).next_multiple_of(16),
        }
    }

    /// What it is the layout of.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Rows of the first layer.
    pub fn rows(&self) -> usize {
        self.buckets * self.per_bucket
    }

    /// Rows of the factor (see [`Model`](super::model::Model)): one for each row of a bucket, then, if there are several
    /// buckets, one for each kind of piece, owner and way from the own king to it, which is -8 to 8 files and ranks.
    pub fn factor_rows(&self) -> usize {
        let kinds = (self.per_bucket - HAND_END as usize) / 81;
        self.per_bucket + if self.buckets > 1 { kinds * WAYS * WAYS } else { 0 }
    }

    /// Words of a view's gradient: pairs of bfloat16.
    pub fn grad_words(&self) -> usize {
        self.l1 / 2
    }

    /// Row length of matrices with [`inputs`](Self::inputs) columns: a power of two would put every row in the same few cache
    /// sets.
    pub(super) fn pitch(&self) -> usize {
        self.inputs + 16
    }

    /// What tells the layouts of all architectures apart.
    pub(super) fn signature(&self) -> [u32; 4] {
        [self.rows(), self.factor_rows(), self.l1, self.dense].map(|n| n as u32)
    }

    /// The architecture with that [`signature`](Self::signature).
    pub(super) fn with_signature(signature: [u32; 4]) -> Option<Architecture> {
        ARCHITECTURES.into_iter().find(|a| Layout::of(*a).signature() == signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::kernels::WIDTHS;

    #[test]
    fn a_checkpoint_tells_every_architecture() {
        for a in ARCHITECTURES {
            assert_eq!(Layout::with_signature(Layout::of(a).signature()), Some(a));
        }
        assert_eq!(Layout::with_signature([1, 2, 3, 4]), None);
        // what matrix kernels work on
        let layouts = ARCHITECTURES.map(Layout::of);
        assert!(layouts.iter().all(|l| l.dense.is_multiple_of(16) && l.l1.is_multiple_of(WIDTHS)));
        assert!(layouts.iter().all(|l| [l.l1, l.l2, l.l3].iter().all(|n| n.is_multiple_of(8))));
    }
}
