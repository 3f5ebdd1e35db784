//! [`TrainedHead`]: the layers after the first one, in one file for each kind of network.

mod dense;
mod direct;
mod hidden;
mod lite;
mod tile;

pub use tile::OUTPUT_SUM;
pub(super) use tile::{Scratch, Tile, TrainedHead, normal};

use super::layout::Layout;
use crate::nnue::HeadShape;

/// The head for a layout.
pub(super) fn of(layout: &Layout) -> Box<dyn TrainedHead> {
    let l1 = layout.l1;
    match layout.architecture.shape.head {
        HeadShape::Hidden { l2, l3 } => Box::new(hidden::HiddenHead::new(l1, l2, l3)),
        HeadShape::Lite { l2 } => Box::new(lite::LiteHead::new(l2)),
        shape @ HeadShape::Direct { .. } => Box::new(direct::DirectHead { l1, shape }),
        HeadShape::Sfnn { .. } => unreachable!("checked before: not trainable"),
    }
}
