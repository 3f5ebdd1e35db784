//! Tuning the search's numbers by play: `toratsugumi tune`.
//!
//! [`Spsa`] holds the numbers and moves them; [`Pair`] plays the games that tell it where to; `commands::tune` runs both on many
//! threads and keeps what was reached in a file; `picture` draws the paths. Needs a build with the feature `tune`, in
//! which the numbers of `search::params` are no constants.

mod pair;
pub(crate) mod picture;
mod spsa;

pub use pair::{Conduct, Opponents, Pair};
pub use spsa::{Proposal, Spsa, Tuned};
