//! Sequential tests: [`Sprt`], the generalised sequential probability ratio test on pairs of games, the
//! likelihood ratio between the distributions that fit the counts best under each hypothesis (M. Van den
//! Bergh, "Comments on normalized Elo", 2021, gives both the logistic and the normalised form).

use super::estimate::{NORMALISED_SCALE, Pentanomial, score_of};

/// The unit of the hypotheses of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum EloModel {
    /// Normalised Elo, in units of the standard deviation of a game: the length of a test does not depend on
    /// the share of draws.
    Normalised,
    /// Logistic Elo, by the expected score.
    Logistic,
}

/// A sequential probability ratio test of "the difference is `elo0`" against "it is `elo1`".
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sprt {
    /// The first hypothesis.
    pub elo0: f64,
    /// The second one, above the first.
    pub elo1: f64,
    /// Probability of accepting `elo1` when `elo0` holds.
    pub alpha: f64,
    /// Probability of accepting `elo0` when `elo1` holds.
    pub beta: f64,
    /// The unit of the hypotheses.
    pub model: EloModel,
}

/// The state of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// No decision yet.
    Continue,
    /// `elo0` is accepted.
    H0,
    /// `elo1` is accepted.
    H1,
}

impl Sprt {
    /// The log-likelihood ratios at which the test ends.
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The log-likelihood ratio of `elo1` to `elo0`.
    pub fn llr(&self, pairs: &Pentanomial) -> f64 {
        if pairs.pairs() == 0 {
            return 0.0;
        }
        let seen = pairs.distribution();
        let fit = |elo: f64| match self.model {
            EloModel::Logistic => fit_mean(&seen, score_of(elo)),
            // a pair's mean has half the variance of a game
            EloModel::Normalised => fit_t_value(&seen, elo / NORMALISED_SCALE * std::f64::consts::SQRT_2),
        };
        let (p0, p1) = (fit(self.elo0), fit(self.elo1));
        let per_pair: f64 = (0..5).map(|i| seen[i].1 * (p1[i] / p0[i]).ln()).sum();
        per_pair * pairs.pairs() as f64
    }

    /// The decision after these pairs.
    pub fn decide(&self, pairs: &Pentanomial) -> Decision {
        let (low, high) = self.bounds();
        match self.llr(pairs) {
            l if l <= low => Decision::H0,
            l if l >= high => Decision::H1,
            _ => Decision::Continue,
        }
    }
}

/// The probabilities p_i / (1 + x a_i) with mean of the `a_i` zero: of all distributions under which `a` has
/// mean zero, this one makes the observed `p` most likely. `x` is found by bisection; the sum decreases
/// strictly in `x`.
fn tilt(a: &[f64; 5], p: &[f64; 5]) -> [f64; 5] {
    let least = a.iter().copied().fold(f64::INFINITY, f64::min);
    let most = a.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if least >= 0.0 || most <= 0.0 {
        // mean zero is impossible
        return *p;
    }
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    let mut x = 0.0;
    for _ in 0..200 {
        let sum: f64 = (0..5).map(|i| p[i] * a[i] / (1.0 + x * a[i])).sum();
        if sum > 0.0 {
            low = x;
        } else {
            high = x;
        }
        x = (low + high) / 2.0;
    }
    std::array::from_fn(|i| p[i] / (1.0 + x * a[i]))
}

/// The likeliest probabilities of the scores under which the mean score is `mean`.
fn fit_mean(seen: &[(f64, f64); 5], mean: f64) -> [f64; 5] {
    tilt(&seen.map(|(s, _)| s - mean), &seen.map(|(_, p)| p))
}

/// The likeliest probabilities under which (mean - 1/2) / (standard deviation) is `t`: the condition, made
/// linear around the last solution, is solved again and again.
fn fit_t_value(seen: &[(f64, f64); 5], t: f64) -> [f64; 5] {
    let p = seen.map(|(_, p)| p);
    let mut q = [0.2; 5];
    for _ in 0..50 {
        let mean: f64 = (0..5).map(|i| q[i] * seen[i].0).sum();
        let variance: f64 = (0..5).map(|i| q[i] * (seen[i].0 - mean).powi(2)).sum();
        let sigma = variance.sqrt();
        // the derivative of mean - t sigma with respect to the probability of score s, up to a constant
        let a = seen.map(|(s, _)| s - 0.5 - t * sigma / 2.0 * (1.0 + ((s - mean) / sigma).powi(2)));
        let next = tilt(&a, &p);
        let moved = (0..5).map(|i| (next[i] - q[i]).abs()).fold(0.0, f64::max);
        q = next;
        if moved < 1e-10 {
            break;
        }
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    // the expected numbers are those of fastchess's published test cases

    #[test]
    fn likelihood_ratios_agree_with_published_values() {
        for (counts, elo0, elo1, model, llr) in [
            ([365, 16618, 36029 + 200, 16974, 390], 0.0, 2.0, EloModel::Normalised, 2.25),
            ([127, 4883, 10311 + 401, 5150, 104], -1.75, 0.25, EloModel::Normalised, 3.01),
            ([223, 9863, 20279 + 1000, 10037, 246], 0.5, 2.5, EloModel::Logistic, -3.07),
            ([871, 26175, 55003 + 980, 26678, 821], 0.0, 2.0, EloModel::Logistic, -4.98),
        ] {
            let sprt = Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, model };
            close(sprt.llr(&Pentanomial(counts)), llr, 0.01 * llr.abs());
        }
    }

    #[test]
    fn perfect_scores_have_a_two_outcome_likelihood_ratio() {
        // all pairs won: the likeliest explanation is a coin with P(2 - 0) = q and P(0 - 2) = 1 - q
        let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model: EloModel::Normalised };
        let t = 5.0 / NORMALISED_SCALE * 2f64.sqrt();
        // (q - 1/2) / sqrt(q (1 - q)) = t
        let q = 0.5 + t / (2.0 * (1.0 + t * t).sqrt());
        close(sprt.llr(&Pentanomial([0, 0, 0, 0, 104])), 104.0 * (q / 0.5).ln(), 0.005);
    }

    #[test]
    fn a_test_decides_at_its_bounds() {
        let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model: EloModel::Logistic };
        close(sprt.bounds().0, -2.944, 0.001);
        close(sprt.bounds().1, 2.944, 0.001);
        assert_eq!(sprt.decide(&Pentanomial::default()), Decision::Continue);
        assert_eq!(sprt.decide(&Pentanomial([1, 2, 3, 2, 1])), Decision::Continue);
        assert_eq!(sprt.decide(&Pentanomial([10, 100, 400, 700, 300])), Decision::H1);
        assert_eq!(sprt.decide(&Pentanomial([300, 700, 400, 100, 10])), Decision::H0);
        // one-sided extremes stay finite
        for counts in [[0, 0, 0, 0, 50], [50, 0, 0, 0, 0], [0, 0, 50, 0, 0]] {
            for model in [EloModel::Logistic, EloModel::Normalised] {
                assert!(Sprt { model, ..sprt }.llr(&Pentanomial(counts)).is_finite(), "{counts:?}");
            }
        }
    }
}
