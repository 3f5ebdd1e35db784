//! One training step on a batch, in phases that threads share: [`Trainer`].
//!
//! 1. *index*, by king square: which views use which row, and the current value of each row in use as 16-bit
//!    integers
//! 2. *gather*, by view: the accumulator
//! 3. *dense*, by tile of samples: the layers forward and backward; leaves dL/d(accumulator) in bfloat16
//! 4. *rows*, by row: the sum of the gradients of all views that use it, and its Adam step; no gradient
//!    array, no atomics
//! 5. *factor*, by row: the Adam step of the factor, whose gradients phase 4 has summed
//!
//! Rows that no view uses are not touched; their momentum is applied when they are needed next (see
//! [`CatchUp`]). The result is that of dense Adam, without touching 400 MB in every step.

use rayon::prelude::*;

use super::batch::{Batch, TILE};
use super::head::{self, Scratch, Tile, TrainedHead};
use super::kernels::{Adam, AdamStep, Add, CatchUp, EffectiveRow, Gather, Grid, Kernels, SumGradients};
use super::layout::Layout;
use super::loss::{Loss, Objective};
use super::model::{Model, catch_up};
use crate::support::memory::{HugeBuf, OutOfMemory, prefetch};

/// Estimated cost of a touched row and of a view that uses it, for dividing rows among threads.
const ROW_COST: usize = 24;
const USE_COST: usize = 1;

/// The views of one king square by row.
struct KingIndex {
    /// Where each BonaPiece's views start in `views`; one more for the end.
    start: Vec<u32>,
    views: Vec<u32>,
    touched: usize,
}

/// A model with the kernels, threads and buffers that training needs.
pub struct Trainer {
    /// The model.
    pub model: Model,
    kernels: Kernels,
    /// The values of the parameters in the forward pass. Gradients ignore the rounding and change the
    /// unrounded parameters (straight-through estimator).
    grid: Grid,
    pool: rayon::ThreadPool,
    /// Rows rounded for the forward pass; only those in use are current.
    effective: HugeBuf<i16>,
    /// Accumulators by place.
    acc: HugeBuf<i16>,
    /// dL/d(accumulator) by view.
    grads: HugeBuf<u32>,
    index: Vec<KingIndex>,
    head: Box<dyn TrainedHead>,
    dense: Vec<Scratch>,
    /// Gradients of the factor, by thread.
    factor_grads: Vec<HugeBuf<f32>>,
    /// The layers after the first one, rounded for the forward pass, and the output of
    /// [`TrainedHead::prepare`] for them.
    rounded: Vec<f32>,
    prepared: Vec<f32>,
    /// Seconds spent in the five phases.
    pub seconds: [f64; 5],
}

impl Trainer {
    /// A trainer for batches of at most `batch` samples.
    pub fn new(
        model: Model,
        kernels: Kernels,
        grid: Grid,
        threads: usize,
        batch: usize,
    ) -> Result<Trainer, OutOfMemory> {
        let threads = threads.max(1);
        let l = model.layout;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("train-{i}"))
            .build()
            .map_err(|_| OutOfMemory { bytes: 0 })?;
        let head = head::of(&l);
        let scratch = || Scratch {
            buffer: vec![0.0; head.buffer_len()],
            grad: vec![0.0; l.dense + head.extra_len()],
            loss: Loss::default(),
        };
        let index = (0..l.buckets).map(|_| KingIndex {
            start: vec![0; l.per_bucket + 1],
            views: Vec::new(),
            touched: 0,
        });
        Ok(Trainer {
            model,
            kernels,
            grid,
            pool,
            effective: HugeBuf::zeroed(l.rows() * l.l1)?,
            acc: HugeBuf::zeroed(2 * batch * l.l1)?,
            grads: HugeBuf::zeroed(2 * batch * l.grad_words())?,
            index: index.collect(),
            dense: (0..threads).map(|_| scratch()).collect(),
            factor_grads: (0..threads)
                .map(|_| HugeBuf::zeroed(l.factor_rows() * l.l1))
                .collect::<Result<_, _>>()?,
            rounded: vec![0.0; l.dense],
            prepared: vec![0.0; head.prepared_len()],
            head,
            seconds: [0.0; 5],
        })
    }

    /// The loss on a batch.
    pub fn evaluate(&mut self, batch: &Batch, objective: Objective) -> Loss {
        self.forward(batch, objective, false)
    }

    /// Makes one Adam step and returns the loss before it.
    pub fn step(&mut self, batch: &Batch, rate: f32, objective: Objective) -> Loss {
        let loss = self.forward(batch, objective, true);
        let step = self.model.adam(rate);
        let t = std::time::Instant::now();
        if self.model.layout.rows() > 0 {
            self.update_rows(AdamStep { rate: step.rate * self.model.row_rate, ..step });
        }
        self.seconds[3] += t.elapsed().as_secs_f64();
        let t = std::time::Instant::now();
        if self.model.layout.rows() > 0 {
            self.update_factor(step);
        }
        self.update_dense(step);
        self.model.finish_step(step);
        self.seconds[4] += t.elapsed().as_secs_f64();
        loss
    }

    /// Phases 1 to 3.
    fn forward(&mut self, batch: &Batch, objective: Objective, backward: bool) -> Loss {
        let t = std::time::Instant::now();
        if self.model.layout.rows() > 0 {
            self.index_views(batch);
        }
        self.seconds[0] += t.elapsed().as_secs_f64();
        let t = std::time::Instant::now();
        if self.model.layout.rows() > 0 {
            self.gather(batch);
        }
        self.seconds[1] += t.elapsed().as_secs_f64();
        let t = std::time::Instant::now();
        let loss = self.run_dense(batch, objective, backward);
        self.seconds[2] += t.elapsed().as_secs_f64();
        loss
    }

    fn index_views(&mut self, batch: &Batch) {
        let (model, kernels, grid) = (&self.model, self.kernels, self.grid);
        let Layout { l1, per_bucket, active, .. } = model.layout;
        let mut jobs: Vec<_> = self
            .effective
            .chunks_exact_mut(per_bucket * l1)
            .zip(&mut self.index)
            .enumerate()
            .map(|(king, (rows, index))| {
                let places = batch.king_start[king] as usize..batch.king_start[king + 1] as usize;
                (king, places, rows, index)
            })
            .collect();
        jobs.sort_by_key(|(king, places, ..)| (std::cmp::Reverse(places.len()), *king));
        self.pool.install(|| {
            jobs.into_par_iter().with_max_len(1).for_each(|(king, places, rows, index)| {
                // a counting sort of (row, view)
                let start = &mut index.start;
                start.fill(0);
                let pieces = &batch.pieces[places.start * active..places.end * active];
                for &p in pieces {
                    start[p as usize] += 1;
                }
                index.touched = 0;
                let mut sum = 0;
                for s in start.iter_mut() {
                    index.touched += (*s != 0) as usize;
                    sum += *s;
                    *s = sum; // the end of the run; the scatter below moves it down to the start
                }
                index.views.resize(pieces.len(), 0);
                for (list, &view) in pieces.chunks_exact(active).zip(&batch.view[places.clone()]).rev() {
                    for &p in list {
                        let at = &mut start[p as usize];
                        *at -= 1;
                        index.views[*at as usize] = view;
                    }
                }
                let epsilon = model.epsilon;
                let mut factor = vec![0f32; l1];
                for bona in 0..per_bucket {
                    if start[bona] == start[bona + 1] {
                        continue;
                    }
                    let row = king * per_bucket + bona;
                    let at = row * l1..(row + 1) * l1;
                    model.factor_of(kernels, king, bona, &mut factor);
                    kernels.run(EffectiveRow {
                        w: &model.rows.w[at.clone()],
                        m: &model.rows.m[at.clone()],
                        v: &model.rows.v[at],
                        p: &factor,
                        catch_up: model.catch_up(model.last[row]).map(|late| (late, epsilon)),
                        grid,
                        out: &mut rows[bona * l1..(bona + 1) * l1],
                    });
                }
            })
        });
    }

    fn gather(&mut self, batch: &Batch) {
        let (kernels, effective) = (self.kernels, &self.effective);
        let Layout { l1, per_bucket, active, .. } = self.model.layout;
        let bias: Vec<i16> = self.model.bias.w.iter().map(|b| self.grid.round(*b)).collect();
        self.pool.install(|| {
            self.acc[..2 * batch.len * l1].par_chunks_mut(64 * l1).enumerate().for_each(|(chunk, acc)| {
                for (i, acc) in acc.chunks_exact_mut(l1).enumerate() {
                    let place = 64 * chunk + i;
                    let table = &effective[batch.king[place] as usize * per_bucket * l1..][..per_bucket * l1];
                    let rows = &batch.pieces[place * active..][..active];
                    kernels.run(Gather { table, rows, bias: &bias, acc });
                }
            })
        });
    }

    fn run_dense(&mut self, batch: &Batch, objective: Objective, backward: bool) -> Loss {
        match self.grid {
            Grid::Fine => self.rounded.copy_from_slice(&self.model.dense.w),
            Grid::Quantized => self.head.round(&self.model.dense.w, &mut self.rounded),
        }
        self.head.prepare(&self.rounded, self.grid, &mut self.prepared);
        let l = self.model.layout;
        let words = l.grad_words();
        let first = Tile {
            number: 0,
            kernels: self.kernels,
            batch,
            l1: l.l1,
            acc: &self.acc,
            dense: &self.rounded,
            prepared: &self.prepared,
            grid: self.grid,
            objective,
        };
        let head = &*self.head;
        // Each thread has a fixed run of tiles, so that the sums are reproducible.
        let (tiles, threads) = (batch.len / TILE, self.dense.len());
        let mut grads = &mut self.grads[..2 * batch.len * words];
        let mut jobs = Vec::with_capacity(threads);
        for (t, scratch) in self.dense.iter_mut().enumerate() {
            let run = t * tiles / threads..(t + 1) * tiles / threads;
            let (own, rest) = grads.split_at_mut(run.len() * 2 * TILE * words);
            grads = rest;
            jobs.push((run, scratch, own));
        }
        self.pool.install(|| {
            jobs.into_par_iter().with_max_len(1).for_each(|(run, s, own)| {
                s.loss = Loss::default();
                s.grad.fill(0.0);
                for (i, number) in run.enumerate() {
                    let out = &mut own[i * 2 * TILE * words..][..2 * TILE * words];
                    head.run(&Tile { number, ..first }, s, backward.then_some(out));
                }
            })
        });
        let mut loss = Loss::default();
        self.dense.iter().for_each(|s| loss.add(&s.loss));
        loss
    }

    fn update_rows(&mut self, step: AdamStep) {
        let layout = self.model.layout;
        let Layout { l1, per_bucket, .. } = layout;
        // Runs of rows of about equal work, one per thread.
        let threads = self.factor_grads.len();
        let work = |k: &KingIndex| k.touched * ROW_COST + k.views.len() * USE_COST;
        let total: usize = self.index.iter().map(work).sum();
        let mut ends = Vec::with_capacity(threads);
        let mut done = 0;
        for (king, index) in self.index.iter().enumerate() {
            let here = work(index);
            while ends.len() + 1 < threads && done + here > total * (ends.len() + 1) / threads {
                // the boundary is within this king's rows
                let goal = total * (ends.len() + 1) / threads - done;
                let mut sum = 0;
                let bona = (0..per_bucket)
                    .find(|&b| {
                        let uses = (index.start[b + 1] - index.start[b]) as usize;
                        sum += uses * USE_COST + (uses != 0) as usize * ROW_COST;
                        sum > goal
                    })
                    .unwrap_or(per_bucket);
                ends.push(king * per_bucket + bona);
            }
            done += here;
        }
        ends.resize(threads, layout.rows());

        let Model { rows, last, shift, beta1, beta2, step: now, .. } = &mut self.model;
        let (now, shift, beta1, beta2) = (*now, &*shift, *beta1, *beta2);
        let (mut w, mut m, mut v, mut last) =
            (&mut rows.w[..], &mut rows.m[..], &mut rows.v[..], &mut last[..]);
        let mut begin = 0;
        let mut jobs = Vec::with_capacity(threads);
        for (factor, end) in self.factor_grads.iter_mut().zip(ends) {
            let n = end - begin;
            let parts = (
                w.split_off_mut(..n * l1).expect("rows are left"),
                m.split_off_mut(..n * l1).expect("rows are left"),
                v.split_off_mut(..n * l1).expect("rows are left"),
                last.split_off_mut(..n).expect("rows are left"),
            );
            jobs.push((begin, parts, factor));
            begin = end;
        }
        let (kernels, index, grads) = (self.kernels, &self.index, &self.grads[..]);
        self.pool.install(|| {
            jobs.into_par_iter().with_max_len(1).for_each(|(begin, (w, m, v, last), factor)| {
                factor.fill(0.0);
                let mut g = vec![0f32; l1];
                for (i, last) in last.iter_mut().enumerate() {
                    let (king, bona) = ((begin + i) / per_bucket, (begin + i) % per_bucket);
                    let k = &index[king];
                    let list = k.start[bona] as usize..k.start[bona + 1] as usize;
                    if list.is_empty() {
                        continue;
                    }
                    let at = i * l1..(i + 1) * l1;
                    for values in [&*w, &*m, &*v] {
                        values[at.clone()].iter().step_by(16).for_each(|x| prefetch(x));
                    }
                    kernels.run(SumGradients { grads, list: &k.views[list], out: &mut g });
                    let (own, way) = layout.factor_rows_of(king, bona);
                    for shared in [Some(own), way].into_iter().flatten() {
                        kernels.run(Add { total: &mut factor[shared * l1..(shared + 1) * l1], x: &g });
                    }
                    let late: Option<CatchUp> = catch_up(shift, now, beta1, beta2, *last);
                    let (w, m, v) = (&mut w[at.clone()], &mut m[at.clone()], &mut v[at]);
                    kernels.run(Adam { w, m, v, g: &g, step, late });
                    *last = now + 1;
                }
            })
        });
    }

    fn update_factor(&mut self, step: AdamStep) {
        let Layout { l1, per_bucket, active, .. } = self.model.layout;
        let Some((first, others)) = self.factor_grads.split_first_mut() else { return };
        let f = &mut self.model.factor;
        let kernels = self.kernels;
        self.pool.install(|| {
            first
                .par_chunks_exact_mut(l1)
                .zip(f.w.par_chunks_exact_mut(l1))
                .zip(f.m.par_chunks_exact_mut(l1))
                .zip(f.v.par_chunks_exact_mut(l1))
                .with_min_len(16)
                .enumerate()
                .for_each(|(row, (((g, w), m), v))| {
                    for other in others.iter() {
                        kernels.run(Add { total: g, x: &other[row * l1..(row + 1) * l1] });
                    }
                    kernels.run(Adam { w, m, v, g, step, late: None });
                })
        });
        // Every view uses `active` BonaPieces, so the sum of their gradients is the bias's times `active`.
        let mut bias = vec![0f32; l1];
        for x in first[..per_bucket * l1].chunks_exact(l1) {
            kernels.run(Add { total: &mut bias, x });
        }
        bias.iter_mut().for_each(|g| *g *= 1.0 / active as f32);
        let b = &mut self.model.bias;
        kernels.run(Adam { w: &mut b.w, m: &mut b.m, v: &mut b.v, g: &bias, step, late: None });
    }

    fn update_dense(&mut self, step: AdamStep) {
        let Some((first, others)) = self.dense.split_first_mut() else { return };
        for other in others {
            self.kernels.run(Add { total: &mut first.grad, x: &other.grad });
        }
        self.head.finish(&self.rounded, &mut first.grad);
        let d = &mut self.model.dense;
        let g = &first.grad[..d.w.len()];
        self.kernels.run(Adam { w: &mut d.w, m: &mut d.m, v: &mut d.v, g, step, late: None });
        self.model.clip();
    }

    /// Runs `work` on the trainer's threads.
    pub fn with_threads<R: Send>(&self, work: impl FnOnce(&Model) -> R + Send) -> R {
        self.pool.install(|| work(&self.model))
    }
}
