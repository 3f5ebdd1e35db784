//! The trainer: from training records to a network, on the processor, in f32.
//!
//! [`run::run`] is a run: a [`source::DataSet`] feeds a [`loader::Loader`], whose [`batch::Batch`]es a [`step::Trainer`]
//! learns from; the [`model::Model`] then becomes integers in [`quantize`]. The arithmetic is in [`kernels`].

pub mod batch;
pub mod checkpoint;
pub mod features;
pub mod kernels;
pub mod loader;
pub mod model;
pub mod quantize;
pub mod report;
pub mod run;
pub mod schedule;
pub mod source;
pub mod step;
