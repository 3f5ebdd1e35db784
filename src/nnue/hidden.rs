//! [`Hidden`]: two hidden layers after the accumulators, as HalfKP networks have had them since 2018.

use super::head::Head;
use super::layers::{Affine, Dense, Row};
use super::shape::HeadShape;
use super::simd::Simd;
use crate::support::memory::OutOfMemory;

/// `WIDE -> L2 -> L3 -> 1`, all clipped ReLU on bytes; `WIDE` is the length of both accumulators, side to
/// move first.
#[derive(Clone)]
pub(super) struct Hidden<const WIDE: usize, const L2: usize, const L3: usize> {
    hidden1: Affine<WIDE, L2>,
    hidden2: Affine<L2, L3>,
    output: Affine<L3, 1>,
}

impl<const L1: usize, const WIDE: usize, const L2: usize, const L3: usize> Head<L1> for Hidden<WIDE, L2, L3> {
    const SHAPE: HeadShape = {
        assert!(WIDE == 2 * L1);
        HeadShape::Hidden { l2: L2, l3: L3 }
    };

    fn zeroed() -> Result<Self, OutOfMemory> {
        Ok(Hidden { hidden1: Affine::zeroed()?, hidden2: Affine::zeroed()?, output: Affine::zeroed()? })
    }

    fn layers(&self) -> Vec<&dyn Dense> {
        vec![&self.hidden1, &self.hidden2, &self.output]
    }

    fn layers_mut(&mut self) -> Vec<&mut dyn Dense> {
        vec![&mut self.hidden1, &mut self.hidden2, &mut self.output]
    }

    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn propagate<S: Simd>(&self, us: &Row<L1>, them: &Row<L1>, _in_hand: usize) -> i32 {
        // SAFETY: the caller's promise is the kernels' only condition.
        unsafe {
            let first = S::transformed_affine(us, them, &self.hidden1);
            let second = S::affine(&first, &self.hidden2);
            S::output(&second, &self.output)
        }
    }
}
