//! [`ValidationSet`]: positions of games that training does not use, for measuring the loss.

use rayon::prelude::*;

use super::batch::{Batch, TILE};
use super::features::Sample;
use super::layout::Layout;
use super::loss::{Loss, Objective};
use super::source::{DataSet, Part};
use super::step::Trainer;
use crate::data::RecordError;
use crate::support::random::Rng;

/// The validation positions, singly and in batches.
pub struct ValidationSet {
    /// All positions.
    pub samples: Vec<Sample>,
    batches: Vec<Batch>,
}

impl ValidationSet {
    /// At most `most` validation positions, drawn from the whole set, in batches of at most `batch`. `counts`
    /// is the result of [`DataSet::count`]; `layout` as for [`Batch::fill`].
    pub fn draw(
        data: &DataSet,
        counts: &[[u32; 2]],
        most: usize,
        seed: u64,
        batch: usize,
        layout: &Layout,
    ) -> Result<ValidationSet, RecordError> {
        let mut rng = Rng::for_stream(seed, u64::MAX);
        let mut order: Vec<usize> = (0..counts.len()).filter(|&i| counts[i][1] > 0).collect();
        rng.shuffle(&mut order);
        // from units with three times as many, so that the positions come from many games
        let mut sum = 0;
        let taken = order
            .iter()
            .take_while(|&&i| {
                let more = sum < 3 * most;
                sum += counts[i][1] as usize;
                more
            })
            .count();
        let parts: Vec<Vec<Sample>> = order[..taken]
            .par_iter()
            .map(|&i| {
                let mut out = Vec::new();
                data.read(i, Part::Validation, &mut out).map(|()| out)
            })
            .collect::<Result<_, _>>()?;
        let mut samples: Vec<Sample> = parts.concat();
        rng.shuffle(&mut samples);
        samples.truncate(most);
        let batches = batches(&samples, batch, layout);
        Ok(ValidationSet { samples, batches })
    }

    /// The loss of the trainer's model.
    pub fn loss(&self, trainer: &mut Trainer, objective: Objective) -> Loss {
        let seconds = trainer.seconds;
        let mut loss = Loss::default();
        self.batches.iter().for_each(|b| loss.add(&trainer.evaluate(b, objective)));
        trainer.seconds = seconds;
        loss
    }
}

/// Batches of at most `size`, without the last samples if they do not fill a tile.
fn batches(samples: &[Sample], size: usize, layout: &Layout) -> Vec<Batch> {
    samples
        .chunks(size)
        .map(|c| &c[..c.len() / TILE * TILE])
        .filter(|c| !c.is_empty())
        .map(|c| {
            let mut batch = Batch::default();
            batch.fill(&c.iter().map(|s| (*s, false)).collect::<Vec<_>>(), layout);
            batch
        })
        .collect()
}
