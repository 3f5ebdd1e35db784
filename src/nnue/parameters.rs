//! [`Parameters`]: read and write access to the parameters of a network of any shape, and evaluation with
//! them.

use std::sync::Arc;

use super::accumulator::{AccumulatorStack, Accumulators, Pair, Propagate};
use super::buckets::{Progress, each_piece};
use super::features::{FeatureSet, View, bona_pieces};
use super::head::Head;
use super::layers::{Aligned, Dense, Row};
use super::perspective::Perspective;
use super::shape::Shape;
use super::simd::{dispatch, scalar};
use crate::position::Position;
use crate::types::Color;

/// The parameters of a network of any shape. Access is slow; for files, tools and the trainer.
#[allow(private_bounds)] // what is computed with them is this module's business
pub trait Parameters: Evaluation + Send + Sync {
    /// The sizes.
    fn shape(&self) -> Shape;
    /// An accumulator without active features.
    fn bias(&self) -> &[i16];
    /// See [`bias`](Self::bias).
    fn bias_mut(&mut self) -> &mut [i16];
    /// The weights of an input.
    fn row(&self, input: usize) -> &[i16];
    /// See [`row`](Self::row).
    fn row_mut(&mut self, input: usize) -> &mut [i16];
    /// The dense layers, from the accumulators to the output; of several stacks one after the other.
    fn layers(&self) -> Vec<&dyn Dense>;
    /// See [`layers`](Self::layers).
    fn layers_mut(&mut self) -> Vec<&mut dyn Dense>;
    /// The parameters of the game's progress, if it chooses the stack.
    fn progress(&self) -> Option<&Progress> {
        None
    }
    /// See [`progress`](Self::progress).
    fn progress_mut(&mut self) -> Option<&mut Progress> {
        None
    }
}

/// Evaluation with a network.
pub(super) trait Evaluation {
    /// A copy in memory of its own.
    fn copy(&self) -> Arc<dyn Parameters>;
    /// New accumulators for a thread.
    fn accumulators(self: Arc<Self>) -> Box<dyn Accumulators>;
    /// Both players' accumulators, summed feature by feature.
    fn accumulators_from_scratch(&self, pos: &Position) -> [Vec<i16>; 2];
    /// The raw output for the side to move, from [these](Self::accumulators_from_scratch) accumulators with
    /// the scalar kernels: the reference for all other kernels.
    fn evaluate_from_scratch(&self, pos: &Position) -> i32;
    /// See [`output_of`](super::output_of).
    fn output_of(&self, accumulators: [&[i16]; 2], choice: usize) -> i32;
}

impl<F: FeatureSet, const L1: usize, H: Head<L1>> Parameters for Perspective<F, L1, H> {
    fn shape(&self) -> Shape {
        Self::SHAPE
    }

    fn bias(&self) -> &[i16] {
        &self.input.bias.0
    }

    fn bias_mut(&mut self) -> &mut [i16] {
        &mut self.input.bias.0
    }

    fn row(&self, input: usize) -> &[i16] {
        &self.input.rows[input].0
    }

    fn row_mut(&mut self, input: usize) -> &mut [i16] {
        &mut self.input.rows[input].0
    }

    fn layers(&self) -> Vec<&dyn Dense> {
        self.head.layers()
    }

    fn layers_mut(&mut self) -> Vec<&mut dyn Dense> {
        self.head.layers_mut()
    }
}

impl<F: FeatureSet, const L1: usize, H: Head<L1>> Evaluation for Perspective<F, L1, H> {
    fn copy(&self) -> Arc<dyn Parameters> {
        Arc::new(self.clone())
    }

    fn accumulators(self: Arc<Self>) -> Box<dyn Accumulators> {
        Box::new(AccumulatorStack::new(self))
    }

    fn accumulators_from_scratch(&self, pos: &Position) -> [Vec<i16>; 2] {
        summed_up(self, pos).map(|row| row.0.to_vec())
    }

    fn evaluate_from_scratch(&self, pos: &Position) -> i32 {
        let pair = summed_up(self, pos);
        let us = pos.side_to_move();
        let [us, them] = [&pair[us.index()], &pair[us.flip().index()]];
        scalar::run(Propagate { head: &self.head, us, them, in_hand: pos.pieces_in_hand() })
    }

    fn output_of(&self, accumulators: [&[i16]; 2], in_hand: usize) -> i32 {
        let [us, them]: [Row<L1>; 2] =
            accumulators.map(|a| Aligned(a.try_into().expect("accumulators of this network")));
        dispatch(Propagate { head: &self.head, us: &us, them: &them, in_hand })
    }
}

/// Both players' accumulators.
fn summed_up<F: FeatureSet, const L1: usize, H: Head<L1>>(
    network: &Perspective<F, L1, H>,
    pos: &Position,
) -> Pair<L1> {
    Color::ALL.map(|viewer| {
        let mut pieces: Vec<u16> = Vec::with_capacity(40);
        each_piece(pos, |slot| pieces.push(bona_pieces(slot)[viewer.index()]));
        let view = View::<F>::new(viewer, pos.king_square(viewer));
        let mut features: Vec<usize> = pieces.into_iter().map(|piece| view.row(piece)).collect();
        features.retain(|&feature| feature < F::PER_BUCKET);
        // pieces that are missing in a handicap game
        features.resize(F::ACTIVE.max(features.len()), 0);
        let mut sum = network.input.bias;
        for feature in features {
            let row = &network.input.rows[view.first() + feature].0;
            sum.0.iter_mut().zip(row).for_each(|(s, w)| *s = s.wrapping_add(*w));
        }
        sum
    })
}
