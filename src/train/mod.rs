//! The trainer.
pub mod batch;
pub mod features;
pub mod kernels;
pub mod model;
pub mod rng;
pub mod step;
