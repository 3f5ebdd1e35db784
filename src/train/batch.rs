//! [`Batch`]: the two views of every sample, ordered by king square.
//!
//! Rows of the first layer belong to a king square. With the views of one king square next to each other, all
//! rows they use fit in the second-level cache, and so do the gradients that flow back to those rows.

use super::features::{Sample, in_hand};
use super::layout::Layout;
use super::loss::SCORE_SCALE;
use crate::types::Value;

/// Samples are handled in tiles of this many; batches are a multiple of it.
pub const TILE: usize = 32;

/// The win rate of a search score, on the scale of 600.
pub fn win_rate(score: Value) -> f32 {
    1.0 / (1.0 + (-score as f32 / SCORE_SCALE).exp())
}

/// Samples, ready for a step.
#[derive(Default)]
pub struct Batch {
    /// Number of samples; a view is numbered `2 * sample + perspective`.
    pub len: usize,
    /// Pieces of a view.
    pub active: usize,
    /// For each bucket of the own king, where its views start in the order by bucket; one more entry for the
    /// end.
    pub king_start: Vec<u32>,
    /// By place in that order: the view.
    pub view: Vec<u32>,
    /// By place: the king's bucket.
    pub king: Vec<u8>,
    /// By place: the [`active`](Self::active) BonaPieces.
    pub pieces: Vec<u16>,
    /// By view: its place.
    pub place: Vec<u32>,
    /// By sample: the stack of layers; samples of one stack are next to each other.
    pub stack: Vec<u32>,
    /// By sample: the score for the side to move, in `Value` units.
    pub score: Vec<f32>,
    /// By sample: the result (1, 0.5, 0) for the side to move.
    pub result: Vec<f32>,
}

impl Batch {
    /// Fills the batch with samples; the flag says whether to reflect the sample.
    ///
    /// # Panics
    /// Unless there is a positive multiple of [`TILE`] samples.
    pub fn fill(&mut self, samples: &[(Sample, bool)], layout: &Layout) {
        assert!(!samples.is_empty() && samples.len().is_multiple_of(TILE));
        let n = samples.len();
        self.len = n;
        self.active = layout.active;
        let buckets = layout.buckets;
        self.king_start.clear();
        self.king_start.resize(buckets + 1, 0);
        self.view.resize(2 * n, 0);
        self.king.resize(2 * n, 0);
        self.place.resize(2 * n, 0);
        self.pieces.resize(2 * n * self.active, 0);
        self.stack.clear();
        self.score.resize(n, 0.0);
        self.result.resize(n, 0.0);
        for (s, mirror) in samples {
            for p in 0..2 {
                self.king_start[layout.bucket(s.kings[p], *mirror).0 + 1] += 1;
            }
        }
        for k in 0..buckets {
            self.king_start[k + 1] += self.king_start[k];
        }
        let mut next = self.king_start.clone();
        let order = samples.iter().enumerate();
        let mut order: Vec<_> = order.map(|(i, (s, mirror))| (layout.stack(s, *mirror) as u32, i)).collect();
        if layout.stacks() > 1 {
            order.sort_unstable();
        }
        for (i, (stack, (s, mirror))) in order.into_iter().map(|(stack, i)| (stack, &samples[i])).enumerate()
        {
            self.stack.push(stack);
            for p in 0..2 {
                let (k, mirror) = layout.bucket(s.kings[p], *mirror);
                let place = next[k] as usize;
                next[k] += 1;
                self.view[place] = (2 * i + p) as u32;
                self.king[place] = k as u8;
                self.place[2 * i + p] = place as u32;
                s.view(
                    &layout.architecture.shape.inputs,
                    p,
                    mirror,
                    &mut self.pieces[place * self.active..][..self.active],
                );
            }
            self.score[i] = s.score as f32;
            self.result[i] = (s.result as f32 + 1.0) * 0.5;
        }
    }

    /// The pieces of a sample as the side to move sees them.
    pub(super) fn pieces_of(&self, sample: usize) -> &[u16] {
        let place = self.place[2 * sample] as usize;
        &self.pieces[place * self.active..][..self.active]
    }

    /// Number of pieces in both players' hands.
    pub(super) fn in_hand(&self, sample: usize) -> usize {
        in_hand(self.pieces_of(sample))
    }
}
