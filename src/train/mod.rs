//! The trainer: from training records to a network, on the processor, in f32.
//!
//! [`run::run`] is a run: a [`source::DataSet`] feeds a [`loader::Loader`], whose [`batch::Batch`]es a [`step::Trainer`]
//! learns from; the [`model::Model`] then becomes integers in [`quantize`]. The arithmetic is in [`kernels`].

pub mod average;
pub mod batch;
pub mod checkpoint;
pub mod features;
pub mod finished;
mod held_out;
pub mod kernels;
pub mod loader;
pub mod loss;
pub mod model;
pub mod quantize;
pub mod report;
pub mod run;
pub mod scale;
pub mod schedule;
pub mod settings;
pub mod source;
mod start;
pub mod step;
mod tie;
mod tile;
pub mod yardstick;
