//! What threads share besides the search's state: [`Groups`] has the histories of each group of threads,
//! [`NetworkCopies`] a network in each memory. The first thread that asks makes them, so that they lie in its
//! memory.

use super::history::SharedHistories;
use crate::nnue::Network;
use crate::support::memory::OutOfMemory;
use crate::support::numa::{Placement, Policy};
use std::sync::{Arc, OnceLock};

/// The groups of a pool's threads, and their histories.
pub(super) struct Groups {
    pub placement: Placement,
    histories: Vec<OnceLock<Result<Arc<SharedHistories>, OutOfMemory>>>,
}

impl Groups {
    pub fn new(policy: &Policy, threads: usize) -> Groups {
        let placement = Placement::new(policy, threads);
        let histories = (0..placement.groups()).map(|_| OnceLock::new()).collect();
        Groups { placement, histories }
    }

    /// The histories of a group, and the part of them that one of its threads clears: which of how many.
    pub fn histories(&self, group: usize, thread: usize) -> Result<Part, OutOfMemory> {
        let threads = self.placement.threads_of(group);
        let made = self.histories[group].get_or_init(|| Ok(Arc::new(SharedHistories::new(threads.len())?)));
        Ok((made.clone()?, (thread - threads.start, threads.len())))
    }
}

type Part = (Arc<SharedHistories>, (usize, usize));

/// A network, and copies of it where threads have different memories.
pub(super) struct NetworkCopies {
    network: Arc<Network>,
    copies: Vec<OnceLock<Arc<Network>>>,
}

impl NetworkCopies {
    pub fn new(network: Arc<Network>, placement: &Placement) -> NetworkCopies {
        NetworkCopies { network, copies: (0..placement.groups()).map(|_| OnceLock::new()).collect() }
    }

    /// The network for a group's threads.
    pub fn near(&self, placement: &Placement, group: usize) -> Arc<Network> {
        if !placement.is_spread() {
            return self.network.clone();
        }
        let copy = || Arc::new(self.network.as_ref().clone());
        self.copies[placement.memory_of(group)].get_or_init(copy).clone()
    }
}
