//! [`Loader`]: batches in random order, made on a separate thread.
//!
//! A set that fits in the allowed memory is decoded once and shuffled for every pass. A larger set is
//! streamed: its units, in random order, fill a pool from which positions are drawn at random while further
//! units refill it. The batches depend on seed and settings only, so a resumed run gets the same batches as
//! an uninterrupted one.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use rayon::prelude::*;

use super::batch::Batch;
use super::features::Sample;
use super::layout::Layout;
use super::source::{DataSet, Part};
use crate::data::RecordError;
use crate::support::random::Rng;

/// Options of the loader.
#[derive(Clone, Copy, Debug)]
pub struct LoaderOptions {
    /// Determines the order.
    pub seed: u64,
    /// Positions a batch.
    pub batch: usize,
    /// Passes over the set.
    pub epochs: u32,
    /// Bytes that decoded positions may take.
    pub memory: usize,
    /// Threads that decode during training.
    pub threads: usize,
    /// Threads that decode a resident set before training begins.
    pub first_threads: usize,
    /// Reflect each position left to right with probability 1/2.
    pub mirror: bool,
    /// Layout of the model.
    pub layout: Layout,
    /// First batch: the pass, and how many batches of it to skip.
    pub start: (u32, u64),
}

/// A batch with its position in the run.
pub struct Delivery {
    /// The positions.
    pub batch: Batch,
    /// Number of the pass, from 0.
    pub epoch: u32,
    /// Number within the pass, from 0.
    pub number: u64,
    /// Whether the pass ends with it.
    pub last_of_epoch: bool,
}

/// Batches, in order, until all passes are done.
pub struct Loader {
    batches: Receiver<Result<Delivery, RecordError>>,
    empty: Sender<Batch>,
    thread: Option<JoinHandle<()>>,
}

impl Loader {
    /// Starts the thread. `positions` is the number of training positions in the set (see [`DataSet::count`]).
    pub fn start(data: std::sync::Arc<DataSet>, positions: u64, options: LoaderOptions) -> Loader {
        let (send, batches) = sync_channel(3);
        let (empty, used) = channel();
        let thread = std::thread::Builder::new().name("loader".into()).spawn(move || {
            let mut out = BatchSender { send, used, samples: Vec::new(), options };
            let result = if positions * size_of::<Sample>() as u64 <= options.memory as u64 {
                out.resident(&data, positions)
            } else {
                out.streamed(&data, positions)
            };
            match result {
                Ok(()) | Err(Stop::Closed) => {}
                Err(Stop::Record(e)) => {
                    let _ = out.send.send(Err(e)); // the receiver may have ended
                }
            }
        });
        Loader { batches, empty, thread: thread.ok() }
    }

    /// The next batch; `None` after the last.
    pub fn take(&mut self) -> Option<Result<Delivery, RecordError>> {
        self.batches.recv().ok()
    }

    /// Returns a batch's memory for reuse.
    pub fn recycle(&self, batch: Batch) {
        let _ = self.empty.send(batch); // the loader may have ended
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        // closes the channel, which ends the thread
        self.batches = sync_channel(0).1;
        if let Some(t) = self.thread.take() {
            let _ = t.join();
        }
    }
}

/// Units decoded at a time. It does not depend on the number of threads, so the order does not either.
const GROUP: usize = 16;

enum Stop {
    Closed,
    Record(RecordError),
}

impl From<RecordError> for Stop {
    fn from(e: RecordError) -> Stop {
        Stop::Record(e)
    }
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, Stop> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .thread_name(|i| format!("decode-{i}"))
        .build()
        .map_err(|e| Stop::Record(RecordError::Io(std::io::Error::other(e))))
}

/// Appends the training positions of `units`, in their order.
fn read_units(
    decoders: &rayon::ThreadPool,
    data: &DataSet,
    units: &[usize],
    out: &mut Vec<Sample>,
) -> Result<(), Stop> {
    let parts: Vec<Vec<Sample>> = decoders.install(|| {
        units
            .par_iter()
            .map(|&i| {
                let mut part = Vec::new();
                data.read(i, Part::Training, &mut part).map(|()| part)
            })
            .collect::<Result<_, _>>()
    })?;
    parts.into_iter().for_each(|p| out.extend(p));
    Ok(())
}

struct BatchSender {
    send: SyncSender<Result<Delivery, RecordError>>,
    used: Receiver<Batch>,
    samples: Vec<(Sample, bool)>,
    options: LoaderOptions,
}

impl BatchSender {
    fn deliver(&mut self, epoch: u32, number: u64, last_of_epoch: bool) -> Result<(), Stop> {
        if (epoch, number) >= self.options.start {
            // the reflections depend on the batch's number only, so resuming does not have to repeat earlier
            // draws
            let mut rng = Rng::for_stream(self.options.seed ^ 0x6d69_7272, (epoch as u64) << 40 | number);
            if self.options.mirror {
                for chunk in self.samples.chunks_mut(64) {
                    let bits = rng.next_u64();
                    chunk.iter_mut().enumerate().for_each(|(i, s)| s.1 = bits >> i & 1 != 0);
                }
            }
            let mut batch = self.used.try_recv().unwrap_or_default();
            batch.fill(&self.samples, &self.options.layout);
            let delivery = Delivery { batch, epoch, number, last_of_epoch };
            self.send.send(Ok(delivery)).map_err(|_| Stop::Closed)?;
        }
        self.samples.clear();
        Ok(())
    }

    fn resident(&mut self, data: &DataSet, positions: u64) -> Result<(), Stop> {
        let decoders = pool(self.options.first_threads)?;
        // in groups, so that memory never holds everything twice
        let mut all: Vec<Sample> = Vec::with_capacity(positions as usize);
        let units: Vec<usize> = (0..data.units()).collect();
        for group in units.chunks(8 * GROUP) {
            read_units(&decoders, data, group, &mut all)?;
        }
        drop(decoders);
        let batches = all.len() / self.options.batch;
        for epoch in self.options.start.0..self.options.epochs {
            let mut rng = Rng::for_stream(self.options.seed, epoch as u64);
            let mut order: Vec<u32> = (0..all.len() as u32).collect();
            rng.shuffle(&mut order);
            for (number, chunk) in order.chunks_exact(self.options.batch).enumerate() {
                if (epoch, number as u64) < self.options.start {
                    continue;
                }
                self.samples.extend(chunk.iter().map(|&i| (all[i as usize], false)));
                self.deliver(epoch, number as u64, number + 1 == batches)?;
            }
        }
        Ok(())
    }

    fn streamed(&mut self, data: &DataSet, positions: u64) -> Result<(), Stop> {
        let decoders = pool(self.options.threads)?;
        let capacity = (self.options.memory / size_of::<Sample>()).max(2 * self.options.batch);
        let batches = positions / self.options.batch as u64;
        let mut pool: Vec<Sample> = Vec::with_capacity(capacity);
        for epoch in self.options.start.0..self.options.epochs {
            let mut rng = Rng::for_stream(self.options.seed, epoch as u64);
            let mut order: Vec<usize> = (0..data.units()).collect();
            rng.shuffle(&mut order);
            let mut groups = order.chunks(GROUP);
            let mut more = true;
            pool.clear();
            for number in 0.. {
                // the pool does not overflow: a group has fewer positions than a quarter of a small pool
                while more && pool.len() < capacity - capacity / 4 {
                    let Some(group) = groups.next() else {
                        more = false;
                        break;
                    };
                    read_units(&decoders, data, group, &mut pool)?;
                }
                if pool.len() < self.options.batch {
                    break; // the rest is less than a batch and is not used in this pass
                }
                for _ in 0..self.options.batch {
                    let i = rng.below(pool.len());
                    self.samples.push((pool.swap_remove(i), false));
                }
                let last = !more && pool.len() < self.options.batch || number + 1 == batches;
                self.deliver(epoch, number, last)?;
                if last {
                    break;
                }
            }
        }
        Ok(())
    }
}
