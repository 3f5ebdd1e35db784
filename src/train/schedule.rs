//! How the learning rate and lambda change over a run.

use serde::{Deserialize, Serialize};

/// How the learning rate falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum RateShape {
    /// Half a cosine from the first rate to the last
    Cosine,
    /// The same factor after every pass
    Step,
    /// The first rate throughout.
    Constant,
}

/// The learning rate and lambda by progress.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateSchedule {
    /// How the rate falls.
    pub shape: RateShape,
    /// Learning rate at the start.
    pub first_rate: f64,
    /// Learning rate at the end.
    pub last_rate: f64,
    /// Steps over which the rate rises from 0.
    pub warmup: u32,
    /// Passes over the data.
    pub epochs: u32,
    /// Lambda at the start.
    pub first_lambda: f64,
    /// Lambda at the end.
    pub last_lambda: f64,
}

impl RateSchedule {
    /// The rate of the run's step number `step` when the run is `progress` (0 to 1) done.
    pub fn rate(&self, progress: f64, step: u64) -> f64 {
        let progress = progress.clamp(0.0, 1.0);
        let (first, last) = (self.first_rate, self.last_rate);
        let rate = match self.shape {
            RateShape::Constant => first,
            RateShape::Cosine => {
                last + (first - last) * 0.5 * (1.0 + (std::f64::consts::PI * progress).cos())
            }
            RateShape::Step => {
                let passes = (progress * self.epochs as f64).floor().min(self.epochs as f64 - 1.0);
                first * (last / first).powf(passes / (self.epochs as f64 - 1.0).max(1.0))
            }
        };
        rate * ((step + 1) as f64 / (self.warmup + 1) as f64).min(1.0)
    }

    /// The weight of the score against the result when the run is `progress` (0 to 1) done.
    pub fn lambda(&self, progress: f64) -> f64 {
        self.first_lambda + (self.last_lambda - self.first_lambda) * progress.clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_go_from_first_to_last() {
        for shape in [RateShape::Cosine, RateShape::Step] {
            let s = RateSchedule {
                shape,
                first_rate: 1e-3,
                last_rate: 1e-5,
                warmup: 10,
                epochs: 5,
                first_lambda: 1.0,
                last_lambda: 0.5,
            };
            assert!((s.rate(0.0, 100) - 1e-3).abs() < 1e-9);
            assert!((s.rate(1.0, 100) - 1e-5).abs() < 1e-9);
            assert!(s.rate(0.0, 0) < 1e-4);
            assert_eq!((s.lambda(0.0), s.lambda(1.0)), (1.0, 0.5));
        }
    }
}
