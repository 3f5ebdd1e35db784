//! Matches between USI engines: `toratsugumi match`.
//!
//! [`EngineSpec`](spec::EngineSpec) names an engine, which is driven as a child process; [`game::play`] plays
//! one game between two of them under our own rules; [`MatchSchedule`](schedule::MatchSchedule) says who
//! plays whom from which opening; [`tournament::run`] plays it, several games at once, and writes each to the
//! [`journal`], from which a killed match continues. [`estimate`] has the Elo estimates, [`sprt`] the
//! sequential test, [`report`] the summary, [`chart`] the chart, [`record`] the game records.

pub mod adjudication;
pub mod balanced;
pub mod chart;

pub mod estimate;
pub mod game;
pub mod journal;
pub mod limits;
mod ratings;
pub mod record;
pub mod report;
pub mod schedule;
pub mod spec;
pub mod sprt;
pub mod standings;
mod start;
pub mod tournament;
