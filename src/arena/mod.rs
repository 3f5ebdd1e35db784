//! Matches between USI engines: `toratsugumi match`.
pub mod statistics;
