//! The reading of a whole game: every position searched, every move judged, and what comes of it for people.
//!
//! [`Analyst`] searches with the [`Engine`](crate::engine::Engine); [`judge`] gives moves their [`Class`]; [`Report`]
//! holds both and is written as JSON, as [`text`] for a terminal, as comments in a record ([`annotate`]), as a picture
//! ([`graph`]) and as a page for a browser ([`page`]).

mod analyst;
pub mod annotate;
pub mod graph;
mod judge;
mod lang;
pub mod page;
mod report;
pub mod store;
pub mod text;

pub use analyst::{Analyst, AnalystError, Effort, PvLine, Reading, SEGMENT, Settings};
pub use judge::{Class, Judgement, Side, judge};
pub use lang::Lang;
pub use report::{MoveReport, Report, TurningPoint};
