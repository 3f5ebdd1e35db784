//! [`Evaluator`]: one thread's evaluation of the positions along a line, by a network of any shape.

use std::sync::Arc;

use super::accumulator::Accumulators;
use super::line::FeatureLine;
use super::network::Network;
use crate::position::{DirtyPieces, Position};

/// One thread's evaluation of the positions along a line. Call [`push`](Self::push) or
/// [`push_null`](Self::push_null) after every move and [`pop`](Self::pop) after every move taken back;
/// [`evaluate`](Self::evaluate) evaluates the current position.
///
/// ```
/// use std::sync::Arc;
/// use toratsugumi::nnue::{Evaluator, Network, evaluate_from_scratch};
/// use toratsugumi::position::Position;
///
/// let network = Arc::new(Network::bootstrap()?);
/// let mut position = Position::startpos();
/// let mut evaluator = Evaluator::new(network.clone());
/// evaluator.reset(&position);
/// let move_ = position.parse_move("7g7f").unwrap();
/// evaluator.push(position.do_move(move_));
/// assert_eq!(evaluator.evaluate(&position), evaluate_from_scratch(&network, &position));
/// # Ok::<(), toratsugumi::support::memory::OutOfMemory>(())
/// ```
pub struct Evaluator {
    network: Arc<Network>,
    line: FeatureLine,
    /// The part that depends on the network's shape; dispatched dynamically once per evaluation.
    accumulators: Box<dyn Accumulators>,
}

impl Evaluator {
    /// An evaluator without a position; call [`reset`](Self::reset) first.
    pub fn new(network: Arc<Network>) -> Evaluator {
        Evaluator {
            line: FeatureLine::new(network.shape().inputs.kings()),
            accumulators: network.shared().accumulators(),
            network,
        }
    }

    /// The network it evaluates with.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Starts a new line at a position.
    pub fn reset(&mut self, pos: &Position) {
        self.line.reset(pos);
    }

    /// Records a move. The accumulators are only computed when needed.
    #[inline]
    pub fn push(&mut self, changes: DirtyPieces) {
        self.line.push(changes);
    }

    /// Prefetches the rows that an evaluation after the last move will need.
    #[inline]
    pub fn prefetch(&self) {
        self.accumulators.prefetch(self.line.last());
    }

    /// Records a null move.
    #[inline]
    pub fn push_null(&mut self) {
        self.line.push_null();
    }

    /// Takes back the last move or null move.
    ///
    /// # Panics
    /// If there is no move to take back.
    #[inline]
    pub fn pop(&mut self) {
        self.line.pop();
    }

    /// The network's raw output (before FV_SCALE) for the side to move. `pos` must be the position after the
    /// moves pushed since [`reset`](Self::reset).
    #[inline]
    pub fn evaluate(&mut self, pos: &Position) -> i32 {
        self.accumulators.evaluate(&mut self.line, pos)
    }

    /// Updates the accumulators without evaluating; [`evaluate`](Self::evaluate) includes it.
    #[inline]
    pub fn update(&mut self, pos: &Position) {
        self.accumulators.update(&mut self.line, pos);
    }
}

/// The raw output for the side to move, summed feature by feature with the scalar kernels: the reference that
/// [`Evaluator::evaluate`] must equal.
pub fn evaluate_from_scratch(network: &Network, pos: &Position) -> i32 {
    network.parameters().evaluate_from_scratch(pos)
}

/// The raw output for given accumulators: of the side to move, then of the other side. `choice` is the stack of
/// layers if there are several, else the number of pieces in both players' hands.
///
/// # Panics
/// If the accumulators do not have this network's length, or it has no such stack.
pub fn output_of(network: &Network, accumulators: [&[i16]; 2], choice: usize) -> i32 {
    network.parameters().output_of(accumulators, choice)
}
