//! [`Average`]: a moving average of the network over the last steps, which has less noise than any single
//! step.

use rayon::prelude::*;

use super::finished::Finished;
use super::model::Model;
use crate::support::memory::OutOfMemory;

/// An exponential moving average of the finished parameters (Polyak and Ruppert; "EMA").
///
/// It is updated every few steps only, because an update of all rows costs as much as a step or two. The
/// distance between updates is a twentieth of the `1 / (1 - decay)` steps that the average covers, so little
/// changes between them.
pub struct Average {
    /// The weight of the old average in a step.
    pub(super) decay: f64,
    pub(super) updates: u32,
    /// The average; `None` before the first update.
    pub mean: Option<Finished>,
}

impl Average {
    /// An average without updates. `decay` is per step, between 0 and 1.
    pub fn new(decay: f64) -> Average {
        Average { decay, updates: 0, mean: None }
    }

    /// Steps between updates.
    pub fn every(&self) -> u32 {
        ((0.05 / (1.0 - self.decay)).round() as u32).clamp(20, 1000)
    }

    /// Updates the average with the model. The first updates are weighted as in a plain mean, so that the
    /// initial parameters do not stay in the average.
    pub fn update(&mut self, model: &Model) -> Result<(), OutOfMemory> {
        let kept = self.decay.powi(self.every() as i32);
        self.updates += 1;
        let Some(mean) = &mut self.mean else {
            self.mean = Some(model.finished()?);
            return Ok(());
        };
        let weight = ((1.0 - kept) / (1.0 - kept.powi(self.updates as i32))) as f32;
        let toward = |mean: &mut [f32], now: &[f32]| {
            mean.iter_mut().zip(now).for_each(|(m, x)| *m += weight * (x - *m));
        };
        let l1 = model.layout.l1;
        mean.rows.par_chunks_exact_mut(l1.max(1)).with_min_len(256).enumerate().for_each_init(
            || vec![0f32; l1],
            |row, (i, mean)| {
                model.folded_row(i, row);
                toward(mean, row);
            },
        );
        toward(&mut mean.bias, &model.bias.w);
        toward(&mut mean.dense, &model.dense.w);
        Ok(())
    }
}
