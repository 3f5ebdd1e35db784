//! Sizes and offsets of a model's flat arrays: [`Layout`].

use super::features::{OFFSETS, Sample, relative_row};
use super::kernels::WIDTHS;
use crate::nnue::features::{HAND_END, is_left};
use crate::nnue::{Architecture, DenseShape, HeadShape, Shape};
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
    /// Whether the network reflects views with the king on files 6 to 9.
    pub mirrored: bool,
    /// Rows that a view uses.
    pub active: usize,
    /// Length of the array of the other layers, padded with zeros to a multiple of 16 for vector kernels.
    pub dense: usize,
}

/// A network that this version plays, but does not train.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{shape} networks cannot be trained: {reason}")]
pub struct Untrainable {
    /// The network.
    pub shape: Box<Shape>,
    /// What is missing.
    pub reason: String,
}

/// The most numbers after the first layer.
const MOST_DENSE: usize = 1 << 24;

impl Layout {
    /// The layout of an architecture that can be trained.
    pub fn new(architecture: Architecture) -> Result<Layout, Untrainable> {
        let (layout, shape) = (Layout::of(architecture), architecture.shape);
        let reason = if shape.inputs.attacks() {
            "training records have no attacks".to_owned()
        } else if !layout.l1.is_multiple_of(WIDTHS) {
            format!("its width is no multiple of {WIDTHS}")
        } else if let HeadShape::Sfnn { shards: Some(_), .. } = shape.head {
            "only networks without shards can".to_owned()
        } else if layout.dense > MOST_DENSE {
            format!("its {} stacks have more than {MOST_DENSE} parameters", layout.stacks())
        } else {
            return Ok(layout);
        };
        Err(Untrainable { shape: shape.into(), reason })
    }

    /// The layout of an architecture.
    pub fn of(architecture: Architecture) -> Layout {
        let Shape { inputs, l1, head } = architecture.shape;
        // the inputs are padded for products of matrices
        let numbers = |d: &DenseShape| (d.inputs.next_multiple_of(8) + 1) * d.outputs;
        let layers = head.stacks().saturating_mul(architecture.shape.dense().iter().map(numbers).sum());
        let (l1, per_bucket, dense) = match head {
            HeadShape::Lite { .. } => (0, 0, layers + LITE),
            _ => (l1, inputs.per_bucket(), layers),
        };
        let (buckets, active) = (inputs.buckets(), inputs.active());
        let (mirrored, dense) = (inputs.mirrored(), dense.next_multiple_of(16));
        Layout { architecture, l1, buckets, per_bucket, mirrored, active, dense }
    }

    /// The bucket of a view by its king's square, and whether the view is reflected. It is reflected if
    /// `mirror`; if its king is then on files 6 to 9 and the network has no rows there, it is reflected once
    /// more.
    #[inline]
    pub fn bucket(&self, king: u8, mirror: bool) -> (usize, bool) {
        let (king, reflected) = (Square(king), Square(king).mirror());
        let mirror = mirror ^ (self.mirrored && is_left(if mirror { reflected } else { king }));
        let bucket = if self.buckets == 1 { 0 } else { if mirror { reflected } else { king }.index() };
        (bucket, mirror)
    }

    /// The bucket and the rows in it (see [`Sample::view`]) that the finished network has for a view.
    pub(super) fn view(&self, sample: &Sample, perspective: usize, out: &mut [u16]) -> usize {
        let (bucket, mirror) = self.bucket(sample.kings[perspective], false);
        sample.view(&self.architecture.shape.inputs, perspective, mirror, out);
        bucket
    }

    /// The stacks of layers after the first one.
    pub(super) fn stacks(&self) -> usize {
        self.architecture.shape.head.stacks()
    }

    /// The stack for a sample, which is reflected if `mirror`.
    #[inline]
    pub(super) fn stack(&self, sample: &Sample, mirror: bool) -> usize {
        match &self.architecture.shape.head {
            HeadShape::Sfnn { buckets, .. } => sample.stack(buckets, mirror),
            _ => 0,
        }
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

    /// The rows of the factor for a row of a bucket: its piece's, and that of the offset from the king.
    #[inline]
    pub(super) fn factor_rows_of(&self, king: usize, row: usize) -> (usize, Option<usize>) {
        let offset = if self.buckets > 1 { relative_row(king, row) } else { None };
        (row, offset.map(|offset| self.per_bucket + offset))
    }

    /// Words of a view's gradient: pairs of bfloat16.
    pub fn grad_words(&self) -> usize {
        self.l1 / 2
    }

    /// The lengths of the model's arrays.
    pub(super) fn signature(&self) -> [u32; 4] {
        [self.rows(), self.factor_rows(), self.l1, self.dense].map(|n| n as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::arch::ARCHITECTURES;

    #[test]
    fn architectures_are_trained_or_a_reason_is_given() {
        ARCHITECTURES.into_iter().for_each(|a| assert!(Layout::new(a).is_ok(), "{a}"));
        let layout = |name: &str| Layout::new(name.parse().unwrap());
        for (name, dense) in [
            ("sfnn_halfkahm2_512_15_32_k3k3", 9 * (513 * 16 + 33 * 32 + 33)),
            ("sfnn_ka2_256_8_64_hand1024", 1024 * (257 * 8 + 17 * 64 + 65)),
            ("halfka1_256x2-32-32", 513 * 32 + 33 * 32 + 33),
        ] {
            let layout = layout(name).unwrap();
            assert!(layout.dense.is_multiple_of(16) && layout.dense - dense < 16, "{name}: {}", layout.dense);
        }
        for (name, reason) in [
            ("halfkpe9_256x2-32-32", "no attacks"),
            ("sfnn_halfkahm1_320_8_64", "multiple of 256"),
            ("sfnn_ka2_2048_7_64_c0_s256x8_k3k3", "shards"),
            ("sfnn_ka2_1024_7_64_hand1024_k29k29_progress32", "27557888 stacks"),
        ] {
            let error = layout(name).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}: {error}");
        }
    }
}
