//! The tree search: alpha-beta after the manner of YaneuraOu, over our own position and network.
//!
//! [`Limits`] says when to stop, [`SearchOptions`] what the user set, [`Observer`] receives what is found;
//! [`ThreadPool`] runs a search on several threads over one [`SharedState`] (transposition table, stop flag).
//! Nothing here prints.

mod limits;
mod observer;
mod options;

pub use limits::Limits;
pub use observer::{Bound, Info, Observer, SearchResult, Silent};
pub use options::SearchOptions;
