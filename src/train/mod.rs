//! The trainer: from training records to a network, on the processor, in f32.
//!
//! [`run::run`] is a run: a [`source::DataSet`] feeds a loader, whose [`batch::Batch`]es a [`step::Trainer`] learns from;
//! the [`model::Model`] (or its [`average::Average`]) then becomes integers in [`quantize`]. What follows the first
//! layer is in `head`, one file a kind of network, and the arithmetic in [`kernels`].

pub mod average;
pub mod batch;
pub mod checkpoint;
pub mod error;
pub mod features;
mod finished;
mod head;
mod held_out;
pub mod kernels;
pub mod layout;
mod loader;
pub mod loss;
pub mod model;
pub mod quantize;
mod report;
pub mod run;
mod scale;
pub mod schedule;
pub mod settings;
pub mod source;
mod start;
pub mod step;
pub mod tie;
pub mod yardstick;
