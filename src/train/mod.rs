//! The trainer: from training records to a network, on the processor, in f32.
//!
//! [`run::run`] is a run: a [`source::DataSet`] feeds a loader, which makes [`batch::Batch`]es for a
//! [`step::Trainer`]. [`quantize`] rounds the [`model::Model`] (or its [`average::Average`]) to integers. The
//! layers after the first one are in `head`, one file for each kind of network. The arithmetic is in
//! [`kernels`].

pub mod accuracy;
pub mod average;
pub mod batch;
pub mod checkpoint;
pub mod error;
pub mod features;
mod finished;
mod head;
pub mod kernels;
pub mod layout;
mod loader;
pub mod loss;
pub mod model;
pub mod progress;
pub mod quantize;
mod report;
pub mod run;
mod scale;
pub mod schedule;
pub mod settings;
pub mod source;
mod start;
pub mod step;
mod validation;
