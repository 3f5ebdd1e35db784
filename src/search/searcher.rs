//! A search on the caller's own thread, for games at fixed nodes, data and tests: [`Searcher`].

use super::go::{Helpers, SearchTask, go};
use super::node::Pv;
use super::tree::{Tree, TreePosition};
use super::vote::Vote;
use super::worker::Worker;
use super::{Limits, Observer, SearchOptions, SearchResult};
use crate::nnue::Network;
use crate::position::Position;
use crate::support::memory::OutOfMemory;
use crate::types::{VALUE_INFINITE, Value};
use std::sync::Arc;
use std::time::Instant;

/// A single search thread with a table of its own. Deterministic: the same calls give the same results.
pub struct Searcher {
    worker: Worker,
    options: Arc<SearchOptions>,
}

/// No other threads.
struct Alone;

impl Helpers for Alone {
    fn start(&self, _task: &SearchTask) {}
    fn finish(&self) -> Vec<Vote> {
        Vec::new()
    }
    fn release(&self) {}
}

impl Searcher {
    /// A searcher with a table of `tt_mb` MiB.
    ///
    /// # Errors
    /// [`OutOfMemory`] for the table or the histories (about 110 MB).
    pub fn new(network: Arc<Network>, tt_mb: usize, options: SearchOptions) -> Result<Searcher, OutOfMemory> {
        Ok(Searcher { worker: Worker::alone(network, tt_mb)?, options: Arc::new(options) })
    }

    /// The options of the next search.
    pub fn options_mut(&mut self) -> &mut SearchOptions {
        Arc::make_mut(&mut self.options)
    }

    /// Whether searches record their tree for [`take_tree`](Self::take_tree).
    pub fn keep_tree(&mut self, keep: bool) {
        self.worker.tree = keep.then(Tree::default);
    }

    /// The quiet positions of the last search's tree that were searched at least three plies deep, in no
    /// particular order.
    pub fn take_tree(&mut self) -> Vec<TreePosition> {
        self.worker.tree.as_mut().map_or_else(Vec::new, |tree| std::mem::take(tree).into_positions())
    }

    /// Clears table and histories, so that the next search does not depend on earlier ones.
    pub fn clear(&mut self) {
        // SAFETY: no other thread has this table, and `&mut self` excludes a search.
        #[allow(unsafe_code)]
        unsafe {
            self.worker.shared.tt.clear(0, 1);
        }
        self.worker.clear();
    }

    /// Searches, and returns when it is done.
    pub fn search(&mut self, pos: &Position, limits: &Limits, observer: &dyn Observer) -> SearchResult {
        self.worker.shared.begin(limits.start, false);
        self.keep_tree(self.worker.tree.is_some());
        let task =
            SearchTask { pos: pos.clone(), limits: Arc::new(limits.clone()), options: self.options.clone() };
        go(&mut self.worker, &task, observer, &Alone)
    }

    fn set_root(&mut self, pos: &Position) {
        self.worker.shared.begin(Instant::now(), false);
        self.worker.set_root(pos, Arc::default(), self.options.clone());
    }

    /// The static evaluation without corrections, side to move's view.
    pub fn evaluate(&mut self, pos: &Position) -> Value {
        self.set_root(pos);
        self.worker.evaluate()
    }

    /// The score of a quiescence search, side to move's view.
    pub fn quiescence(&mut self, pos: &Position) -> Value {
        self.set_root(pos);
        self.worker.quiescence::<Pv>(0, -VALUE_INFINITE, VALUE_INFINITE)
    }
}
