//! [`Evaluator`]: accumulators along the line that is being searched, brought up to date when a value is asked for.

use std::sync::Arc;

use super::arch::{Features, L1};
use super::features::{FeatureSet, NO_FEATURE};
use super::layers::{Aligned, Row};
use super::network::Network;
use super::refresh::RefreshTable;
use super::simd::{Simd, Work, dispatch, prefetch, scalar};
use crate::position::{DirtyPieces, Position, Slot};
use crate::types::{Color, MAX_PLY, PieceType, Square};

/// One thread's evaluation of the positions along a line: follow every move with [`push`](Self::push) or
/// [`push_null`](Self::push_null), every take-back with [`pop`](Self::pop), and ask with [`evaluate`](Self::evaluate).
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
/// # Ok::<(), toratsugumi::memory::OutOfMemory>(())
/// ```
pub struct Evaluator {
    network: Arc<Network>,
    /// Frames `0..=top` are the line; what lies beyond is left from earlier ones.
    frames: Vec<Frame>,
    accumulators: Vec<Pair>,
    top: usize,
    table: RefreshTable,
}

/// Both perspectives' accumulators, Black's first.
type Pair = [Row<L1>; 2];

/// How a position came from the one before it, and which accumulators have been computed for it.
#[derive(Clone, Copy, Default)]
struct Frame {
    /// Features within the bucket that go and come, each as Black and as White see it.
    removed: [[u16; 2]; 2],
    added: [[u16; 2]; 2],
    /// How many of them.
    count: u8,
    /// Bit per perspective: its king moved, so that all features are others.
    king_moved: u8,
    /// Bit per perspective: the accumulator holds this position.
    computed: u8,
    /// Perspectives' buckets as last known, for prefetching; right unless that king moved unseen.
    buckets: [u8; 2],
}

impl Evaluator {
    /// An evaluator without a line: [`reset`](Self::reset) it before use.
    pub fn new(network: Arc<Network>) -> Evaluator {
        let plies = MAX_PLY + 10;
        let table = RefreshTable::new(&network.input);
        Evaluator {
            network,
            frames: vec![Frame::default(); plies],
            accumulators: vec![[Aligned([0; L1]); 2]; plies],
            top: 0,
            table,
        }
    }

    /// The network it evaluates with.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Starts a new line at a position.
    pub fn reset(&mut self, pos: &Position) {
        self.top = 0;
        self.frames[0] = Frame { buckets: buckets(pos), ..Frame::default() };
    }

    /// Follows a move. Costs next to nothing: accumulators are computed when needed.
    #[inline]
    pub fn push(&mut self, changes: DirtyPieces) {
        let buckets = self.frames[self.top].buckets;
        let mut frame = Frame { count: changes.count.min(2), buckets, ..Frame::default() };
        if let Some(king) = changes.king {
            frame.king_moved = 1 << king.index();
        }
        for i in 0..frame.count as usize {
            frame.removed[i] = Features::features(changes.removed[i]);
            frame.added[i] = Features::features(changes.added[i]);
        }
        self.push_frame(frame);
    }

    /// Asks for the rows that evaluating after the last move will need.
    #[inline]
    pub fn prefetch(&self) {
        let frame = &self.frames[self.top];
        for viewer in Color::ALL.map(Color::index) {
            // a moved king's rows are others, which its refresh will know
            if frame.king_moved >> viewer & 1 == 0 {
                let first = frame.buckets[viewer] as usize * Features::PER_BUCKET;
                for i in 0..frame.count as usize {
                    prefetch(&self.network.input.rows[first + frame.removed[i][viewer] as usize]);
                    prefetch(&self.network.input.rows[first + frame.added[i][viewer] as usize]);
                }
            }
        }
    }

    /// Follows a null move.
    #[inline]
    pub fn push_null(&mut self) {
        let buckets = self.frames[self.top].buckets;
        self.push_frame(Frame { buckets, ..Frame::default() });
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
        self.frames.resize(2 * self.top, Frame::default());
        self.accumulators.resize(2 * self.top, [Aligned([0; L1]); 2]);
    }

    /// Takes the last (null) move back.
    ///
    /// # Panics
    /// If there is no move to take back.
    #[inline]
    pub fn pop(&mut self) {
        self.top = self.top.checked_sub(1).expect("a move to take back");
    }

    /// The network's raw output (before FV_SCALE) from the view of the side to move. `pos` must be the position that
    /// the pushes since [`reset`](Self::reset) led to.
    #[inline]
    pub fn evaluate(&mut self, pos: &Position) -> i32 {
        dispatch(Evaluate(self, pos))
    }

    /// Brings the accumulators up to date without evaluating; [`evaluate`](Self::evaluate) does so by itself.
    #[inline]
    pub fn update(&mut self, pos: &Position) {
        dispatch(Update(self, pos))
    }

    /// # Safety
    /// The processor must have what `S` needs.
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn update_with<S: Simd>(&mut self, pos: &Position) {
        let top = self.top;
        if self.frames[top].computed == 0b11 {
            return;
        }
        for viewer in Color::ALL {
            let (v, bit) = (viewer.index(), 1 << viewer.index());
            // the last ancestor that is computed, unless the king has moved since
            let mut from = top;
            while self.frames[from].computed & bit == 0 {
                if self.frames[from].king_moved & bit != 0 || from == 0 {
                    from = usize::MAX;
                    break;
                }
                from -= 1;
            }
            if from == usize::MAX {
                let out = &mut self.accumulators[top][v];
                // SAFETY: the caller's promise.
                unsafe { self.table.refresh::<S>(&self.network.input, viewer, pos, out) };
                self.frames[top].computed |= bit;
                continue;
            }
            let first = Features::bucket(viewer, pos.king_square(viewer)) * Features::PER_BUCKET;
            let bucket = &self.network.input.rows[first..][..Features::PER_BUCKET];
            for at in from + 1..=top {
                let frame = &mut self.frames[at];
                frame.computed |= bit;
                let [before, .., after] = &mut self.accumulators[at - 1..=at] else { unreachable!() };
                let (src, dst) = (&before[v], &mut after[v]);
                let row = |features: [u16; 2]| &bucket[features[v] as usize];
                let (gone, come) = (frame.removed, frame.added);
                // SAFETY: the caller's promise.
                unsafe {
                    match frame.count {
                        0 => *dst = *src,
                        1 => S::fused(src, dst, [row(gone[0])], [row(come[0])]),
                        _ => S::fused(src, dst, [row(gone[0]), row(gone[1])], [row(come[0]), row(come[1])]),
                    }
                }
            }
        }
        self.frames[top].buckets = buckets(pos);
    }
}

fn buckets(pos: &Position) -> [u8; 2] {
    Color::ALL.map(|viewer| Features::bucket(viewer, pos.king_square(viewer)) as u8)
}

struct Evaluate<'a>(&'a mut Evaluator, &'a Position);

impl Work for Evaluate<'_> {
    type Output = i32;

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        let Evaluate(evaluator, pos) = self;
        // SAFETY: the caller's promise.
        unsafe {
            evaluator.update_with::<S>(pos);
            let pair = &evaluator.accumulators[evaluator.top];
            let us = pos.side_to_move();
            evaluator.network.propagate::<S>(&pair[us.index()], &pair[us.flip().index()])
        }
    }
}

struct Update<'a>(&'a mut Evaluator, &'a Position);

impl Work for Update<'_> {
    type Output = ();

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) {
        // SAFETY: the caller's promise.
        unsafe { self.0.update_with::<S>(self.1) }
    }
}

/// The raw output for the side to move, summed feature by feature with the scalar kernels: the reference that
/// [`Evaluator::evaluate`] must equal.
pub fn evaluate_from_scratch(network: &Network, pos: &Position) -> i32 {
    let accumulators = accumulators_from_scratch(network, pos);
    scalar::run(Propagate(network, &accumulators, pos.side_to_move()))
}

/// The raw output for accumulators that were summed up elsewhere: of the side to move, then of the other side.
pub fn output_of(network: &Network, accumulators: &[Row<L1>; 2]) -> i32 {
    dispatch(Propagate(network, accumulators, Color::Black))
}

/// Both players' accumulators, summed up feature by feature.
pub(super) fn accumulators_from_scratch(network: &Network, pos: &Position) -> Pair {
    Color::ALL.map(|viewer| {
        let mut features: Vec<u16> = Vec::with_capacity(Features::ACTIVE);
        for square in Square::all() {
            features.push(Features::features(Slot::board(pos.piece_on(square), square))[viewer.index()]);
        }
        for owner in Color::ALL {
            for kind in PieceType::HAND {
                let nths = 1..=pos.hand(owner).count(kind);
                features
                    .extend(nths.map(|nth| Features::features(Slot::hand(owner, kind, nth))[viewer.index()]));
            }
        }
        features.retain(|&feature| feature != NO_FEATURE);
        // pieces that a handicap game lacks
        features.resize(Features::ACTIVE.max(features.len()), 0);
        let first = Features::bucket(viewer, pos.king_square(viewer)) * Features::PER_BUCKET;
        let mut sum = network.input.bias;
        for feature in features {
            let row = &network.input.rows[first + feature as usize].0;
            sum.0.iter_mut().zip(row).for_each(|(s, w)| *s = s.wrapping_add(*w));
        }
        sum
    })
}

struct Propagate<'a>(&'a Network, &'a Pair, Color);

impl Work for Propagate<'_> {
    type Output = i32;

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn run<S: Simd>(self) -> i32 {
        let Propagate(network, pair, us) = self;
        // SAFETY: the caller's promise.
        unsafe { network.propagate::<S>(&pair[us.index()], &pair[us.flip().index()]) }
    }
}
