//! Mirrored king squares share their rows: [`Model::share_mirrored`].
//!
//! Shogi is the same game on the reflected board, so a king on 7九 with a piece on 5八 needs the same weights
//! as a king on 3九 with that piece on 5八's mirror image. A model that shares rows has them for king squares of
//! files 1 to 5 only (45 of 81). Views with the king further left are reflected
//! ([`Batch`](super::batch::Batch)), and the finished network repeats every row for the mirrored square. So
//! each row learns from twice as many positions.

use super::finished::Finished;
use super::kernels::Kernels;
use super::layout::Layout;
use super::model::Model;
use crate::support::memory::OutOfMemory;

/// Why a model cannot share rows; `None` if it can.
pub fn sharing_obstacle(layout: Layout) -> Option<&'static str> {
    match layout {
        l if l.buckets == 1 => Some("no row belongs to a king's square"),
        l if l.mirrored => Some("mirrored king squares share their rows anyway"),
        _ => None,
    }
}

impl Model {
    /// Makes mirrored king squares share their rows. Both rows, and the moments of their gradients, are
    /// replaced by their mean, which changes the network unless they were mirror images. Rows of kings on
    /// file 5 stay.
    ///
    /// # Panics
    /// If the rows do not depend on the king's square, or the network reflects views by itself.
    pub fn share_mirrored(&mut self) -> Result<(), OutOfMemory> {
        if self.mirror_shared {
            return Ok(());
        }
        let (l1, rows) = (self.layout.l1, self.layout.rows());
        assert!(sharing_obstacle(self.layout).is_none());
        self.apply_momentum();
        let Finished { rows: before, .. } = self.finished()?;
        let f = &mut self.factor;
        for values in [&mut f.w, &mut f.m, &mut f.v] {
            for row in 0..self.layout.factor_rows() {
                set_to_mean(values, l1, row, self.layout.mirrored_factor_row(row));
            }
        }
        let mut factor = vec![0f32; l1];
        for row in 0..rows {
            let (king, bona) = (row / self.layout.per_bucket, row % self.layout.per_bucket);
            let mirror = self.layout.mirrored_row(row);
            let at = row * l1..(row + 1) * l1;
            if self.layout.is_left(row) {
                for values in [&mut self.rows.w, &mut self.rows.m, &mut self.rows.v] {
                    values[at.clone()].fill(0.0);
                }
                self.last[row] = 0;
                continue;
            }
            let paired = self.layout.is_left(mirror);
            if paired {
                set_to_mean(&mut self.rows.m, l1, row, mirror);
                set_to_mean(&mut self.rows.v, l1, row, mirror);
                self.last[row] = self.last[row].max(self.last[mirror]);
            }
            // a row holds its difference from the factor, which has changed
            self.factor_of(Kernels::SCALAR, king, bona, &mut factor);
            let other = if paired { &before[mirror * l1..][..l1] } else { &before[at.clone()] };
            for (i, w) in self.rows.w[at.clone()].iter_mut().enumerate() {
                *w = 0.5 * (before[at.start + i] + other[i]) - factor[i];
            }
        }
        self.mirror_shared = true;
        Ok(())
    }
}

/// Sets two rows of `l1` to their mean.
fn set_to_mean(values: &mut [f32], l1: usize, a: usize, b: usize) {
    for i in 0..l1 {
        let mean = 0.5 * (values[a * l1 + i] + values[b * l1 + i]);
        values[a * l1 + i] = mean;
        values[b * l1 + i] = mean;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Architecture;
    use crate::support::random::Rng;
    use crate::train::features::BONA;

    #[test]
    fn shared_rows_are_the_mean_of_both_sides() {
        let mut model = Model::new(Architecture::DEFAULT, 3).unwrap();
        let (l1, rows) = (model.layout.l1, model.layout.rows());
        let mut rng = Rng::for_stream(1, 1);
        let mut noise = |values: &mut [f32]| {
            values.iter_mut().for_each(|x| *x += (rng.next_u64() >> 40) as f32 / (1 << 24) as f32 - 0.5);
        };
        noise(&mut model.rows.w);
        noise(&mut model.factor.w);
        let separate = model.finished().unwrap();
        model.share_mirrored().unwrap();
        let shared = model.finished().unwrap();
        let row = |f: &Finished, r: usize| -> Vec<f32> { f.rows[r * l1..][..l1].to_vec() };
        for r in (0..rows).step_by(101).chain([4 * 9 * BONA + 100, 5 * 9 * BONA + 100]) {
            let (mirror, king) = (model.layout.mirrored_row(r), r / BONA);
            if king / 9 == 4 {
                close(&row(&shared, r), &row(&separate, r));
            } else {
                let mean: Vec<f32> = row(&separate, r)
                    .iter()
                    .zip(row(&separate, mirror))
                    .map(|(a, b)| 0.5 * (a + b))
                    .collect();
                close(&row(&shared, r), &mean);
                assert_eq!(row(&shared, r), row(&shared, mirror));
            }
        }
    }

    fn close(a: &[f32], b: &[f32]) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5), "{a:?} {b:?}");
    }
}
