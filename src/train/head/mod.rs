//! [`TrainedHead`]: the layers after the first one, in one file for each kind of network.

mod dense;
mod direct;
mod hidden;
mod lite;
mod sfnn;
mod tile;

pub use tile::OUTPUT_SUM;
pub(super) use tile::{Scratch, Tile, TrainedHead, normal};

use super::layout::Layout;
use crate::nnue::{HeadShape, Shape};

/// The head for a layout.
pub(super) fn of(layout: &Layout) -> Box<dyn TrainedHead> {
    let Shape { inputs, l1, head } = layout.architecture.shape;
    match head {
        HeadShape::Hidden { l2, l3 } => Box::new(hidden::HiddenHead::new(l1, l2, l3)),
        HeadShape::Lite { l2 } => Box::new(lite::LiteHead::new(inputs, l2)),
        shape @ HeadShape::Direct { .. } => Box::new(direct::DirectHead { l1, shape }),
        HeadShape::Sfnn { l2, l3, buckets, .. } => Box::new(sfnn::SfnnHead::new(l1, [l2, l3], buckets)),
    }
}
