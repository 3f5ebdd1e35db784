//! [`Line`]: the moves that led to a position from where the line began, as changes of features.

use super::features::bona_pieces;
use crate::position::{DirtyPieces, Position};
use crate::types::{Color, MAX_PLY, Square};

/// The moves of a line, and which accumulators have been computed for the positions along it. The same for all networks.
pub(super) struct Line {
    /// Frames `0..=top` are the line; what lies beyond is left from earlier ones.
    frames: Vec<Frame>,
    top: usize,
    /// Whether a king's move changes features of its own.
    kings: bool,
}

/// How a position came from the one before it, and which accumulators have been computed for it.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    /// BonaPieces that go and come, each as Black and as White see it.
    pub removed: [[u16; 2]; 2],
    /// See `removed`.
    pub added: [[u16; 2]; 2],
    /// How many of them.
    pub count: u8,
    /// Bit per perspective: its king moved.
    pub king_moved: u8,
    /// Bit per perspective: the accumulator holds this position.
    pub computed: u8,
    /// The kings' squares as last known, for prefetching; right unless that king moved unseen.
    pub kings: [Square; 2],
}

impl Frame {
    /// A frame without changes.
    const fn still(kings: [Square; 2]) -> Frame {
        Frame { removed: [[0; 2]; 2], added: [[0; 2]; 2], count: 0, king_moved: 0, computed: 0, kings }
    }
}

/// Where the kings stand.
pub(super) fn kings(pos: &Position) -> [Square; 2] {
    Color::ALL.map(|color| pos.king_square(color))
}

impl Line {
    /// A line of no moves; `kings` says whether kings are features.
    pub fn new(kings: bool) -> Line {
        Line { frames: vec![Frame::still([Square::NONE; 2]); MAX_PLY + 10], top: 0, kings }
    }

    /// Starts anew at a position.
    pub fn reset(&mut self, pos: &Position) {
        self.top = 0;
        self.frames[0] = Frame::still(kings(pos));
    }

    #[inline]
    pub fn push(&mut self, changes: DirtyPieces) {
        let kings = self.frames[self.top].kings;
        let mut frame = Frame { count: changes.count.min(2), ..Frame::still(kings) };
        for i in 0..frame.count as usize {
            frame.removed[i] = bona_pieces(changes.removed[i]);
            frame.added[i] = bona_pieces(changes.added[i]);
        }
        if let Some(king) = changes.king {
            frame.king_moved = 1 << king.index();
            if self.kings {
                // a capture at most stands beside it
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
        self.push_frame(Frame::still(kings));
    }

    #[inline]
    fn push_frame(&mut self, frame: Frame) {
        self.top += 1;
        if self.top == self.frames.len() {
            self.grow();
        }
        self.frames[self.top] = frame;
    }

    #[cold]
    fn grow(&mut self) {
        self.frames.resize(2 * self.top, Frame::still([Square::NONE; 2]));
    }

    /// Takes the last move back.
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
    pub fn last(&self) -> &Frame {
        &self.frames[self.top]
    }

    /// All frames, also those beyond [`top`](Self::top).
    #[inline]
    pub fn frames(&mut self) -> &mut [Frame] {
        &mut self.frames
    }
}
