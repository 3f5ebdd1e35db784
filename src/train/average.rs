//! [`Average`]: the mean of the network over the last steps, which is smoother than any one of them.

use rayon::prelude::*;

use super::finished::Finished;
use super::model::Model;
use crate::support::memory::OutOfMemory;

/// An exponential moving average of the finished parameters (Polyak and Ruppert; "EMA").
///
/// It is taken every few steps only, because a look at all rows costs as much as a step or two, and next to nothing
/// changes between looks: their distance is a twentieth of the average's memory of `1 / (1 - decay)` steps.
pub struct Average {
    decay: f64,
    looks: u32,
    mean: Option<Finished>,
}

impl Average {
    /// An average that has seen nothing yet. `decay` is by step, between 0 and 1.
    pub fn new(decay: f64) -> Average {
        Average { decay, looks: 0, mean: None }
    }

    /// An average as it was when a checkpoint was written.
    pub(super) fn restored(decay: f64, looks: u32, mean: Finished) -> Average {
        Average { decay, looks, mean: Some(mean) }
    }

    /// Steps between looks.
    pub fn every(&self) -> u32 {
        ((0.05 / (1.0 - self.decay)).round() as u32).clamp(20, 1000)
    }

    /// The share of the average that is kept in a step.
    pub fn decay(&self) -> f64 {
        self.decay
    }

    /// How many looks it has taken.
    pub fn looks(&self) -> u32 {
        self.looks
    }

    /// The mean of all looks, once there was one.
    pub fn mean(&self) -> Option<&Finished> {
        self.mean.as_ref()
    }

    /// Takes a look at the model. The first looks count as much as they would in a plain mean, so that where the run
    /// began is not in the average.
    ///
    /// # Errors
    /// No memory at the first look.
    pub fn look(&mut self, model: &Model) -> Result<(), OutOfMemory> {
        let kept = self.decay.powi(self.every() as i32);
        self.looks += 1;
        let Some(mean) = &mut self.mean else {
            self.mean = Some(model.finished()?);
            return Ok(());
        };
        let weight = ((1.0 - kept) / (1.0 - kept.powi(self.looks as i32))) as f32;
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
