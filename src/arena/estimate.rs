//! The Elo difference of match results with its interval and the likelihood of superiority: [`Estimate`].
//!
//! Games are played in pairs, the same opening with colours exchanged, and a pair is the unit of observation:
//! its score is 0, 1/2, 1, 3/2 or 2. The five counts ([`Pentanomial`]) give the correct variance, because the
//! advantage that an opening gives to one side cancels out in the other game.

use crate::support::messages;
use std::fmt;

/// Normalised Elo per unit of (mean - 1/2) / (standard deviation of one game): 800 / ln 10.
pub(super) const NORMALISED_SCALE: f64 = 800.0 / std::f64::consts::LN_10;

/// Pairs of games by their score: 0, 1/2, 1, 3/2, 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Pentanomial(pub [u64; 5]);

impl Pentanomial {
    /// Adds a pair whose score is `half_points` / 2.
    pub fn add(&mut self, half_points: usize) {
        self.0[half_points] += 1;
    }

    /// Number of pairs.
    pub fn pairs(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The score of an average game and the variance of the mean score of a pair.
    fn moments(&self) -> (f64, f64) {
        let n = self.pairs().max(1) as f64;
        let moment = |power| {
            self.0.iter().enumerate().map(|(i, &c)| (i as f64 / 4.0).powi(power) * c as f64 / n).sum::<f64>()
        };
        let mean = moment(1);
        (mean, (moment(2) - mean * mean).max(0.0))
    }

    /// Scores and probabilities. No probability is zero, because an outcome not yet seen is possible.
    pub(super) fn distribution(&self) -> [(f64, f64); 5] {
        let counts = self.0.map(|c| (c as f64).max(1e-3));
        let n: f64 = counts.iter().sum();
        std::array::from_fn(|i| (i as f64 / 4.0, counts[i] / n))
    }
}

/// The Elo difference of a player who scores `score` of 1; infinite at 0 and 1.
pub fn elo_of(score: f64) -> f64 {
    let s = score.clamp(0.0, 1.0);
    400.0 * (s / (1.0 - s)).log10()
}

/// The expected score at an Elo difference.
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// An Elo difference estimated from results. Infinite values are `null` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// Mean score of a game.
    pub score: f64,
    /// Infinite if all games were won, or all lost.
    pub elo: f64,
    /// Half of the width of the 95 % interval.
    pub error: f64,
    /// The lower end of the 95 % interval. If all games were won, or all lost, one end is infinite and the
    /// other a one-sided bound.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Normalised Elo: the difference in units of the noise of a game; unknown if all results are alike.
    pub normalised: Option<f64>,
    /// Likelihood of superiority: how likely the first player is the stronger one.
    pub los: f64,
}

impl Estimate {
    /// From pairs of games. `None` without a pair.
    pub fn of_pairs(pairs: &Pentanomial) -> Option<Estimate> {
        let n = pairs.pairs();
        let (mean, variance) = pairs.moments();
        (n > 0).then(|| Self::new(mean, variance, n as f64, 2.0))
    }

    /// From single games: wins, draws, losses.
    pub fn of_games(wins: u64, draws: u64, losses: u64) -> Option<Estimate> {
        let n = (wins + draws + losses) as f64;
        let mean = (wins as f64 + draws as f64 / 2.0) / n;
        let square = (wins as f64 + draws as f64 / 4.0) / n;
        (n > 0.0).then(|| Self::new(mean, (square - mean * mean).max(0.0), n, 1.0))
    }

    /// `n` observations, each the mean of `games` games.
    fn new(mean: f64, variance: f64, n: f64, games: f64) -> Estimate {
        let (low, high) = interval(mean, variance, n);
        let (low, high) = (elo_of(low), elo_of(high));
        let above = mean - 0.5;
        let (normalised, los) = if variance > 0.0 {
            let normalised = above / (games * variance).sqrt() * NORMALISED_SCALE;
            (Some(normalised), normal_cdf(above / (variance / n).sqrt()))
        } else if above == 0.0 {
            (Some(0.0), 0.5)
        } else {
            // the posterior probability, after n equal results and a uniform prior, that they are the
            // likelier ones
            let sure = 1.0 - 0.5f64.powf(n + 1.0);
            (None, if above > 0.0 { sure } else { 1.0 - sure })
        };
        Estimate { score: mean, elo: elo_of(mean), error: (high - low) / 2.0, low, high, normalised, los }
    }
}

impl fmt::Display for Estimate {
    /// `Elo +12.3 ± 45.6 [-33.3, +57.9]`, or `Elo above +210.0 (95 %, one-sided)` where there is only one
    /// bound.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, false) => f.write_str(&messages::elo_above(self.low)),
            (false, true) => f.write_str(&messages::elo_below(self.high)),
            _ => write!(f, "Elo {:+.1} ± {:.1} [{:+.1}, {:+.1}]", self.elo, self.error, self.low, self.high),
        }
    }
}

/// Standard errors to either side of a 95 % interval.
pub(super) const Z: f64 = 1.96;

/// The 95 % interval of the mean of observations between 0 and 1: `n` of them with this mean and variance.
///
/// Usually the normal approximation. Where that leaves 0 to 1, Wilson's score interval (E. B. Wilson,
/// "Probable inference, the law of succession, and statistical inference", 1927), for observations whose
/// variance is that part of a coin's. Where all observations are alike, the exact bound of C. J. Clopper and
/// E. S. Pearson ("The use of confidence or fiducial limits", 1934): with 95 % confidence their probability
/// is at least q = 0.05^(1/n), and the rest of the probability may lie anywhere.
fn interval(mean: f64, variance: f64, n: f64) -> (f64, f64) {
    if variance <= 0.0 {
        let q = 0.05f64.powf(1.0 / n);
        return (q * mean, q * mean + (1.0 - q));
    }
    let half = Z * (variance / n).sqrt();
    if mean - half > 0.0 && mean + half < 1.0 {
        return (mean - half, mean + half);
    }
    let coin = mean * (1.0 - mean);
    let n = n * coin / variance;
    let (shrink, z2) = (1.0 + Z * Z / n, Z * Z);
    let middle = (mean + z2 / (2.0 * n)) / shrink;
    let half = Z / shrink * (coin / n + z2 / (4.0 * n * n)).sqrt();
    (middle - half, middle + half)
}

/// The normal distribution function, with the error function of Abramowitz and Stegun 7.1.26 (error below
/// 1.5e-7).
pub fn normal_cdf(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592]
        .into_iter()
        .fold(0.0, |acc, c| acc * t + c);
    let half_tail = poly * t * (-z * z).exp() / 2.0;
    if x >= 0.0 { 1.0 - half_tail } else { half_tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    // the expected numbers are those of fastchess's published test cases

    #[test]
    fn estimates_agree_with_published_values() {
        let e = Estimate::of_games(136, 111, 96).unwrap();
        close(e.elo, 40.70, 0.01);
        close(e.error, 30.43, 0.01);
        close(e.normalised.unwrap(), 49.77, 0.01);
        close(e.los, 0.9960, 5e-5);
        let e = Estimate::of_pairs(&Pentanomial([332, 433, 457 + 41, 333, 334])).unwrap();
        close(e.elo, -8.64, 0.01);
        close(e.error, 10.33, 0.01);
        close(e.normalised.unwrap(), -9.17, 0.01);
        close(e.los, 0.0505, 5e-5);
        let e = Estimate::of_pairs(&Pentanomial([34, 54, 31 + 32, 64, 75])).unwrap();
        close(e.elo, 55.58, 0.01);
        close(e.error, 27.65, 0.01);
        close(e.normalised.unwrap(), 57.94, 0.01);
    }

    #[test]
    fn all_wins_give_a_one_sided_bound() {
        // ten pairs won: 0.05^(1/10) = 0.7411 of the points at least
        let won = Estimate::of_pairs(&Pentanomial([0, 0, 0, 0, 10])).unwrap();
        close(won.low, 400.0 * (0.741_134_f64 / 0.258_866).log10(), 0.01);
        assert_eq!((won.elo, won.high, won.normalised), (f64::INFINITY, f64::INFINITY, None));
        close(won.los, 1.0 - 1.0 / 2048.0, 1e-9);
        assert_eq!(won.to_string(), "Elo above +182.7 (95 %, one-sided)");
        let lost = Estimate::of_games(0, 0, 10).unwrap();
        assert_eq!(lost.low, f64::NEG_INFINITY);
        close(lost.high, -won.low, 1e-9);
        close(lost.los, 1.0 - won.los, 1e-9);
        assert_eq!(lost.to_string(), "Elo below -182.7 (95 %, one-sided)");
        assert_eq!(serde_json::to_value(lost).unwrap()["low"], serde_json::Value::Null);
        // a single game means next to nothing
        close(Estimate::of_games(1, 0, 0).unwrap().low, elo_of(0.05), 1e-9);
    }

    #[test]
    fn equal_results_give_a_finite_interval() {
        let e = Estimate::of_pairs(&Pentanomial([0, 0, 10, 0, 0])).unwrap();
        assert_eq!((e.elo, e.normalised, e.los), (0.0, Some(0.0), 0.5));
        close(e.low, elo_of(0.741_134 / 2.0), 0.01);
        close(e.high, -e.low, 1e-9);
        assert!(e.to_string().starts_with("Elo +0.0 ± 92."), "{e}");
    }

    #[test]
    fn nearly_all_wins_give_a_finite_interval() {
        // 49 of 50: Wilson's interval is 0.895 to 0.996
        let e = Estimate::of_games(49, 0, 1).unwrap();
        close(e.low, elo_of(0.8950), 2.0);
        close(e.high, elo_of(0.9965), 20.0);
        assert!(e.low < e.elo && e.elo < e.high && e.high.is_finite());
        let pairs = Estimate::of_pairs(&Pentanomial([0, 0, 0, 1, 20])).unwrap();
        assert!(pairs.low < pairs.elo && pairs.elo < pairs.high && pairs.high.is_finite(), "{pairs}");
    }

    #[test]
    fn no_games_give_no_estimate() {
        assert!(
            Estimate::of_games(0, 0, 0).is_none() && Estimate::of_pairs(&Pentanomial::default()).is_none()
        );
    }
}
