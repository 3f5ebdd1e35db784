//! [`Objective`]: the targets of training. [`Loss`]: the divergence from them.

/// The score, in `Value` units, for which the network's output is 1.
pub const SCORE_SCALE: f32 = 600.0;

/// The targets of the outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Objective {
    /// Weight of the score in the target; the rest is the game's result.
    pub lambda: f32,
    /// The win rate of a score is `sigmoid(score / scale)`, for labels and for the network's output, so that
    /// the output keeps the unit of scores. The smaller the scale, the less large scores weigh.
    pub scale: f32,
}

impl Objective {
    /// The win rate to learn, from a search score in `Value` units and the result (1, 0.5, 0).
    pub fn target(self, score: f32, result: f32) -> f32 {
        let win_rate = 1.0 / (1.0 + (-score / self.scale).exp());
        self.lambda * win_rate + (1.0 - self.lambda) * result
    }

    /// The argument of the sigmoid for a network output, which is 1 for [`SCORE_SCALE`].
    pub fn logit(self, output: f32) -> f32 {
        output * (SCORE_SCALE / self.scale)
    }
}

/// Sums over samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// Number of samples.
    pub samples: f64,
    /// Cross-entropy of prediction against target, less the target's own entropy (so 0 is perfect).
    pub cross_entropy: f64,
    /// Squared difference of the win rates.
    pub squared: f64,
    /// Samples with a decisive result whose winner the sign of the output predicts.
    pub predicted: f64,
    /// Samples with a decisive result.
    pub decisive: f64,
}

impl Loss {
    /// Adds a sample with predicted win rate `sigmoid(z)`; returns the derivative of its loss by `z`.
    pub fn count(&mut self, z: f32, target: f32, result: f32) -> f32 {
        let p = 1.0 / (1.0 + (-z).exp());
        self.samples += 1.0;
        self.cross_entropy += divergence(z, target);
        self.squared += ((p - target) * (p - target)) as f64;
        if result != 0.5 {
            self.decisive += 1.0;
            self.predicted += ((z > 0.0) == (result > 0.5)) as u8 as f64;
        }
        p - target
    }

    /// Adds the sums of `other`.
    pub fn add(&mut self, other: &Loss) {
        self.samples += other.samples;
        self.cross_entropy += other.cross_entropy;
        self.squared += other.squared;
        self.predicted += other.predicted;
        self.decisive += other.decisive;
    }

    /// Mean divergence from the targets, in nats.
    pub fn mean(&self) -> f64 {
        self.cross_entropy / self.samples.max(1.0)
    }

    /// Root mean square error of the win rate.
    pub fn rmse(&self) -> f64 {
        (self.squared / self.samples.max(1.0)).sqrt()
    }

    /// Share of decisive samples whose winner is predicted.
    pub fn accuracy(&self) -> f64 {
        self.predicted / self.decisive.max(1.0)
    }
}

/// Kullback-Leibler divergence of the prediction sigmoid(z) from the target.
fn divergence(z: f32, target: f32) -> f64 {
    let (z, t) = (z as f64, target as f64);
    let entropy = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
    let softplus = z.max(0.0) + (-z.abs()).exp().ln_1p();
    softplus - t * z - entropy(t) - entropy(1.0 - t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergence_is_zero_only_between_equals() {
        let logit = |p: f64| (p / (1.0 - p)).ln() as f32;
        assert!(divergence(logit(0.3), 0.3).abs() < 1e-6);
        assert!((divergence(logit(0.5), 1.0) - 2f64.ln()).abs() < 1e-6);
        assert!(divergence(logit(0.1), 0.5) > divergence(logit(0.3), 0.5));
    }
}
