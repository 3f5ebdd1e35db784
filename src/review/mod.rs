//! The analysis of a whole game: every position is searched and every move judged.
//!
//! [`Analyst`] searches and looks for mates with the solver; [`judge`] gives moves their [`Class`]; [`Report`]
//! holds both and is written as JSON, as [`text`] for a terminal, as comments in a record ([`annotate`]), as a picture
//! ([`graph`]) and as a page for a browser ([`page`]).

mod analyst;
pub mod annotate;
mod book_moves;
pub mod graph;
mod judge;
mod lang;
mod mates;
pub mod page;
mod reading;
mod report;
pub mod store;
pub mod text;

pub use analyst::{Analyst, AnalystError, Effort, Settings, State};
pub use book_moves::{BookReport, book_moves};
pub use judge::{Class, Judgement, Side, judge};
pub use reading::{PvLine, Reading, Readings};
pub use report::{MoveReport, Report, TurningPoint};
