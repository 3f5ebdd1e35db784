//! The search: alpha-beta with the techniques of YaneuraOu and Stockfish, over our own position and network.
//!
//! # Using it
//!
//! | Type | For |
//! |---|---|
//! | [`ThreadPool`] | a search on several threads over one transposition table; what the engine uses |
//! | [`Searcher`] | a deterministic search on the caller's thread, for fixed nodes, data and tests |
//! | [`Searchers`] | many independent positions on several threads |
//! | [`Limits`] | when to stop: clocks, depth, nodes |
//! | [`SearchOptions`] | the user's settings |
//! | [`Observer`] | receives lines of analysis and the best move; the search prints nothing |
//!
//! # How it works
//!
//! Files use only files below them in this list:
//!
//! | File | Content |
//! |---|---|
//! | `pool`, `searcher`, `many` | the threads that search |
//! | `groups` | what threads near the same memory share |
//! | `go` | one search from `go` to the best move: mates first, then iterative deepening, then the choice among threads (`vote`) |
//! | `root` | iterative deepening with aspiration windows, and when to stop |
//! | `alphabeta` | the main search of a node, as numbered steps |
//! | `quiescence` | captures and evasions at the leaves |
//! | `pruning`, `history_update`, `report` | moves not worth searching; what a node teaches the histories; lines for the observer |
//! | `worker` | one thread's state: position, accumulators, stack, histories |
//! | `late_moves`, `movepick`, `tree` | reductions; the order of moves; positions of the tree, for training |
//! | `history`, `tt`, `stack`, `node`, `root_move` | the data of the above |
//! | `root_mate`, `timeman` | the mate solver at the root; the clock |
//! | `params`, `stats` | the tunable numbers; counters of what happens in the tree |
//!
//! `docs/search-experiments.md` lists the ideas that were tried, kept or refused, with their results.

mod alphabeta;
mod go;
mod groups;
mod history;
mod history_update;
mod late_moves;
mod limits;
mod many;
mod movepick;
mod node;
mod observer;
mod options;
pub mod params;
mod pool;
mod pruning;
mod quiescence;
mod report;
mod root;
mod root_mate;
mod root_move;
mod searcher;
mod shared;
mod stack;
mod stats;
mod timeman;
mod tree;
mod tt;
mod vote;
mod worker;

pub use crate::types::Bound;
pub use limits::Limits;
pub use many::Searchers;
pub use observer::{BookLine, Info, LastLines, Observer, SearchResult, Silent};
pub use options::SearchOptions;
pub use pool::{STACK, ThreadPool};
pub use searcher::Searcher;
pub use stats::report as event_counts;
pub use tree::TreePosition;
