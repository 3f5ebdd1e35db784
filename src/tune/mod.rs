//! Tuning the search parameters by play (SPSA).
//!
//! [`Spsa`] holds the parameters and updates them; [`Pair`] plays the games that give the gradient;
//! [`run`](run()) does both on many threads and stores the [`TuningState`] in a file, with a chart of the
//! paths. Needs a build with the feature `tune`, in which the numbers of `search::params` are variables.

mod chart;
mod pair;
mod run;
mod spsa;
mod state;

pub use pair::{GameSettings, Opponents, Pair};
pub use run::{TuneJob, run};
pub use spsa::{Proposal, Spsa, Tuned};
pub use state::TuningState;
