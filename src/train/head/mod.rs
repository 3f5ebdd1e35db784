//! What is trained after the first layer, one file a kind of network: [`Head`].

mod dense;
mod direct;
mod hidden;
mod lite;
mod tile;

pub use tile::OUTPUT_SUM;
pub(super) use tile::{Head, Scratch, Tile, normal};

use super::layout::Layout;
use crate::nnue::HeadShape;

/// The head of networks of that layout.
pub(super) fn of(layout: &Layout) -> Box<dyn Head> {
    let l1 = layout.l1;
    match layout.architecture().shape.head {
        HeadShape::Hidden { l2, l3 } => Box::new(hidden::Hidden::new(l1, l2, l3)),
        HeadShape::Lite { l2 } => Box::new(lite::Lite::new(l2)),
        shape @ HeadShape::Direct { .. } => Box::new(direct::Direct { l1, shape }),
    }
}
