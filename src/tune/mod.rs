//! Tuning the search parameters by play (SPSA).
//!
//! [`Spsa`] holds the numbers and moves them; [`Pair`] plays the games that tell it where to; [`run`](run())
//! does both on many threads and keeps the [`TuningState`] in a file, with a picture of the paths. Needs a
//! build with the feature `tune`, in which the numbers of `search::params` are no constants.

mod pair;
mod picture;
mod run;
mod spsa;
mod state;

pub use pair::{GameSettings, Opponents, Pair};
pub use run::{TuneJob, run};
pub use spsa::{Proposal, Spsa, Tuned};
pub use state::TuningState;
