//! Sizes and offsets of a model's flat arrays: [`Layout`].

use super::features::{OFFSETS, Sample};
use crate::nnue::arch::ARCHITECTURES;
use crate::nnue::features::{HAND_END, is_left};
use crate::nnue::{Architecture, HeadShape, Shape};
use crate::types::Square;

/// Numbers of a lite network before its dense layers: see `head/lite.rs`.
pub(super) const LITE: usize = 2920;

/// Sizes and offsets of the arrays of a model. The first layer has a row of [`l1`](Self::l1) numbers for each
/// input. The layers after it share one array, whose order their `head` defines; a lite network has only that
/// array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layout {
    /// What it is the layout of.
    pub architecture: Architecture,
    /// Outputs of the first layer, per perspective.
    pub l1: usize,
    /// Buckets of rows by the own king's square.
    pub buckets: usize,
    /// Rows of a bucket.
    pub per_bucket: usize,
    /// Whether the network itself reflects views with the king on files 6 to 9, so that
    /// [sharing](super::model::Model::share_mirrored) adds nothing.
    pub mirrored: bool,
    /// Rows that a view uses.
    pub active: usize,
    /// Length of the array of the other layers, padded with zeros to a multiple of 16 for vector kernels.
    pub dense: usize,
}

impl Layout {
    /// The layout of an architecture.
    pub fn of(architecture: Architecture) -> Layout {
        let Shape { inputs, l1, head } = architecture.shape;
        let layers = architecture.shape.dense().iter().map(|d| (d.inputs + 1) * d.outputs).sum::<usize>();
        let (l1, per_bucket, dense) = match head {
            HeadShape::Lite { .. } => (0, 0, layers + LITE),
            _ => (l1, inputs.per_bucket(), layers),
        };
        let (buckets, active) = (inputs.buckets(), inputs.active());
        let (mirrored, dense) = (inputs.mirrored(), dense.next_multiple_of(16));
        Layout { architecture, l1, buckets, per_bucket, mirrored, active, dense }
    }

    /// The bucket of a view by its king's square, and whether the view is reflected. It is reflected if
    /// `mirror`; if its king is then on files 6 to 9 and the network or the model (`mirror_shared`) has no
    /// rows there, it is reflected once more.
    #[inline]
    pub fn bucket(&self, king: u8, mirror: bool, mirror_shared: bool) -> (usize, bool) {
        let (king, reflected) = (Square(king), Square(king).mirror());
        let mirror =
            mirror ^ ((mirror_shared || self.mirrored) && is_left(if mirror { reflected } else { king }));
        let bucket = if self.buckets == 1 { 0 } else { if mirror { reflected } else { king }.index() };
        (bucket, mirror)
    }

    /// The bucket and the pieces (see [`Sample::view`]) that the finished network has for a view.
    pub(super) fn view(&self, sample: &Sample, perspective: usize, out: &mut [u16]) -> usize {
        let (bucket, mirror) = self.bucket(sample.kings[perspective], false, false);
        sample.view(perspective, mirror, out);
        bucket
    }

    /// Rows of the first layer.
    pub fn rows(&self) -> usize {
        self.buckets * self.per_bucket
    }

    /// Rows of the factor (see [`Model`](super::model::Model)): one for each row of a bucket, then, if there
    /// are several buckets, one for each kind of piece, owner and offset from the own king, which is -8 to 8
    /// files and ranks.
    pub fn factor_rows(&self) -> usize {
        if self.rows() == 0 {
            return 0;
        }
        let kinds = (self.per_bucket - HAND_END as usize) / 81;
        self.per_bucket + if self.buckets > 1 { kinds * OFFSETS * OFFSETS } else { 0 }
    }

    /// Words of a view's gradient: pairs of bfloat16.
    pub fn grad_words(&self) -> usize {
        self.l1 / 2
    }

    /// Numbers that differ between the layouts of all architectures.
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
    fn a_signature_identifies_every_architecture() {
        for a in ARCHITECTURES {
            assert_eq!(Layout::with_signature(Layout::of(a).signature()), Some(a));
        }
        assert_eq!(Layout::with_signature([1, 2, 3, 4]), None);
        // the multiples that the kernels require
        let layouts = ARCHITECTURES.map(Layout::of);
        assert!(layouts.iter().all(|l| l.dense.is_multiple_of(16) && l.l1.is_multiple_of(WIDTHS)));
    }
}
