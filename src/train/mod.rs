//! The trainer.
pub mod batch;
pub mod features;
pub mod kernels;
pub mod loader;
pub mod model;
pub mod source;
pub mod step;
