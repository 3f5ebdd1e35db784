//! Many independent positions, each searched on one thread: [`Searchers`].

use super::{STACK, SearchOptions, Searcher};
use crate::nnue::Network;
use rayon::prelude::*;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Searchers on threads of their own. The result of a search depends neither on their number nor on earlier
/// searches.
pub struct Searchers {
    pool: rayon::ThreadPool,
    searchers: Vec<Mutex<Searcher>>,
}

impl Searchers {
    /// One searcher on each of `threads` threads, each with a table of `hash` MiB.
    pub fn new(
        network: &Arc<Network>,
        hash: usize,
        options: &SearchOptions,
        threads: usize,
    ) -> io::Result<Searchers> {
        let threads = threads.max(1);
        let searchers = (0..threads)
            .map(|_| Searcher::new(network.clone(), hash, options.clone()).map(Mutex::new))
            .collect::<Result<_, _>>()
            .map_err(io::Error::other)?;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
        let pool = pool.map_err(io::Error::other)?;
        Ok(Searchers { pool, searchers })
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.searchers.len()
    }

    /// Runs `work` for each item with a cleared searcher; the results are in the order of the items.
    pub fn map<'a, T: Sync, R: Send>(
        &self,
        items: &'a [T],
        work: impl Fn(&mut Searcher, &'a T) -> R + Sync,
    ) -> Vec<R> {
        self.pool.install(|| {
            items
                .par_iter()
                .with_max_len(1)
                .map(|item| {
                    let thread = rayon::current_thread_index().unwrap_or(0);
                    let mut searcher = self.searchers[thread].lock().unwrap_or_else(PoisonError::into_inner);
                    searcher.clear();
                    work(&mut searcher, item)
                })
                .collect()
        })
    }
}
