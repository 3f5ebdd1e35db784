//! The evaluation: an NNUE of the HalfKP kind, 256x2-32-32-1, on int16 accumulators and int8 layers.
//!
//! [`Network`] holds the parameters, shared by all threads; [`Evaluator`] follows one thread's line of moves. The net is
//! drawn in [`arch`], its inputs in [`features`], its file in [`mod@file`]; vector code lives in `simd` alone.

mod accumulator;
pub mod arch;
mod bootstrap;
mod embedded;
pub mod features;
pub mod file;
pub mod inspect;
pub(crate) mod layers;
mod network;
mod refresh;
mod simd;

pub use accumulator::{Evaluator, evaluate_from_scratch, output_of};
pub use file::NetworkError;
pub use network::Network;
pub use simd::{Kernel, KernelError, force_kernel, kernel, kernel_name};
