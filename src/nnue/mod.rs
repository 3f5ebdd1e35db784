//! The evaluation: NNUE with two perspectives and int16 accumulators. The default is HalfKP 256x2-32-32-1.
//!
//! [`Network`] holds the parameters, shared by all threads; [`Evaluator`] follows one thread's line of moves.
//! [`arch`] lists the networks and [`features`] their inputs; `hidden` and `direct` are the layers after the
//! accumulators, and `lite` is a network with its own accumulators. [`mod@file`] reads and writes files,
//! `packed` the embedded network. All vector code is in `simd`. Modules below the traits [`Parameters`] and
//! `Accumulators` (`layers`, `perspective`, `accumulator`, `refresh`, `simd`) are generic in a network's
//! sizes; modules above them know the sizes at run time only.
//!
//! ```
//! use toratsugumi::nnue::{Network, evaluate_from_scratch};
//! use toratsugumi::position::Position;
//!
//! let network = Network::embedded()?;
//! let even = evaluate_from_scratch(&network, &Position::startpos());
//! let rook_up = Position::from_sfen("lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b R 1")?;
//! assert!(evaluate_from_scratch(&network, &rook_up) > even);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accumulator;
pub mod arch;
mod bootstrap;
mod buckets;
mod direct;
mod dynamic;
mod embedded;
mod evaluator;
pub mod features;
pub mod file;
mod head;
mod hidden;
pub mod inspect;
mod king_part;
pub(crate) mod layers;
mod line;
mod lite;
pub mod mean;
mod network;
mod packed;
mod parameters;
mod perspective;
mod reader;
mod refresh;
mod shape;
mod simd;
mod stack;

pub use arch::{Architecture, FV_SCALE};
pub use buckets::{Buckets, Progress};
pub use evaluator::{Evaluator, evaluate_from_scratch, output_of};
pub use features::Inputs;
pub use king_part::KingPart;
pub use layers::Dense;
pub use network::Network;
pub use parameters::Parameters;
pub use reader::NetworkError;
pub use shape::{DenseShape, HeadShape, Shape, Shards, Style};
pub use simd::{Kernel, KernelError, force_kernel, kernel, kernel_name};
