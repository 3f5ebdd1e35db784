//! [`Network`]: all layers together.

use super::arch;
use super::layers::Row;
use super::simd::Simd;
use crate::memory::OutOfMemory;

/// The parameters of a network; see [`arch`] for its shape. Immutable once made, shared by all threads.
pub struct Network {
    /// Features to accumulators.
    pub input: arch::Input,
    /// Both accumulators to the first hidden layer.
    pub hidden1: arch::Hidden1,
    /// First to second hidden layer.
    pub hidden2: arch::Hidden2,
    /// Second hidden layer to the output.
    pub output: arch::Output,
    /// The architecture string of the file it came from, cut to a sane length, or who made it.
    pub(super) origin: String,
}

impl Network {
    /// A network of zeros.
    pub fn zeroed() -> Result<Network, OutOfMemory> {
        Ok(Network {
            input: arch::Input::zeroed()?,
            hidden1: arch::Hidden1::zeroed()?,
            hidden2: arch::Hidden2::zeroed()?,
            output: arch::Output::zeroed()?,
            origin: String::new(),
        })
    }

    /// The shape, such as `HalfKP 256x2-32-32-1`.
    pub fn name(&self) -> String {
        format!("HalfKP {}x2-{}-{}-1", arch::L1, arch::L2, arch::L3)
    }

    /// The architecture string of the file that it was read from, or what made it.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Everything after the accumulators: the raw output for the player whose accumulator is `us`.
    ///
    /// # Safety
    /// The processor must have what `S` needs.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(super) unsafe fn propagate<S: Simd>(&self, us: &Row<{ arch::L1 }>, them: &Row<{ arch::L1 }>) -> i32 {
        // SAFETY: the caller's promise is the kernels' only condition.
        unsafe {
            let first = S::transformed_affine(us, them, &self.hidden1);
            let second = S::affine(&first, &self.hidden2);
            S::output(&second, &self.output)
        }
    }
}
