//! [`FeatureLine`]: the moves from the root of a line to the current position, as changes of features.

use super::features::bona_pieces;
use crate::position::{DirtyPieces, Position};
use crate::types::{Color, MAX_PLY, Square};

/// The feature changes of each move of a line, and which accumulators have been computed. It does not depend
/// on the network.
pub(super) struct FeatureLine {
    /// Frames `0..=top` are the line; later ones are stale.
    frames: Vec<FeatureChanges>,
    top: usize,
    /// Whether kings are features themselves.
    kings: bool,
}

/// The changes from the previous position, and which accumulators have been computed.
#[derive(Clone, Copy)]
pub(super) struct FeatureChanges {
    /// Removed BonaPieces, each as Black and as White see it.
    pub removed: [[u16; 2]; 2],
    /// Added BonaPieces, each as Black and as White see it.
    pub added: [[u16; 2]; 2],
    /// Number of removed, and of added ones.
    pub count: u8,
    /// Bit per perspective: its king moved.
    pub king_moved: u8,
    /// Bit per perspective: the accumulator holds this position.
    pub computed: u8,
    /// The kings' last known squares, for prefetching; wrong after a king move that was not recorded.
    pub kings: [Square; 2],
}

impl FeatureChanges {
    /// A frame without changes.
    const fn still(kings: [Square; 2]) -> FeatureChanges {
        FeatureChanges {
            removed: [[0; 2]; 2],
            added: [[0; 2]; 2],
            count: 0,
            king_moved: 0,
            computed: 0,
            kings,
        }
    }
}

/// The kings' squares.
pub(super) fn kings(pos: &Position) -> [Square; 2] {
    Color::ALL.map(|color| pos.king_square(color))
}

impl FeatureLine {
    /// A line of no moves; `kings` says whether kings are features.
    pub fn new(kings: bool) -> FeatureLine {
        FeatureLine { frames: vec![FeatureChanges::still([Square::NONE; 2]); MAX_PLY + 10], top: 0, kings }
    }

    /// Restarts at a position.
    pub fn reset(&mut self, pos: &Position) {
        self.top = 0;
        self.frames[0] = FeatureChanges::still(kings(pos));
    }

    #[inline]
    pub fn push(&mut self, changes: DirtyPieces) {
        let kings = self.frames[self.top].kings;
        let mut frame = FeatureChanges { count: changes.count.min(2), ..FeatureChanges::still(kings) };
        for i in 0..frame.count as usize {
            frame.removed[i] = bona_pieces(changes.removed[i]);
            frame.added[i] = bona_pieces(changes.added[i]);
        }
        if let Some(king) = changes.king {
            frame.king_moved = 1 << king.index();
            if self.kings {
                // the only other change is a capture
                let i = usize::from(frame.count & 1);
                [frame.removed[i], frame.added[i]] = changes.king_move.map(bona_pieces);
                frame.count = i as u8 + 1;
            }
        }
        self.push_frame(frame);
    }

    #[inline]
    pub fn push_null(&mut self) {
        let kings = self.frames[self.top].kings;
        self.push_frame(FeatureChanges::still(kings));
    }

    #[inline]
    fn push_frame(&mut self, frame: FeatureChanges) {
        self.top += 1;
        if self.top == self.frames.len() {
            self.grow();
        }
        self.frames[self.top] = frame;
    }

    #[cold]
    fn grow(&mut self) {
        self.frames.resize(2 * self.top, FeatureChanges::still([Square::NONE; 2]));
    }

    /// Takes back the last move.
    ///
    /// # Panics
    /// If there is no move to take back.
    #[inline]
    pub fn pop(&mut self) {
        self.top = self.top.checked_sub(1).expect("a move to take back");
    }

    /// The number of the last frame.
    #[inline]
    pub fn top(&self) -> usize {
        self.top
    }

    /// The last frame.
    #[inline]
    pub fn last(&self) -> &FeatureChanges {
        &self.frames[self.top]
    }

    /// All frames, also those beyond [`top`](Self::top).
    #[inline]
    pub fn frames(&mut self) -> &mut [FeatureChanges] {
        &mut self.frames
    }
}
