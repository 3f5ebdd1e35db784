//! What match results say: Elo differences with error bars, likelihood of superiority, sequential tests.
//!
//! Games are played in pairs, the same opening with colours exchanged, and a pair is the unit of observation: its score
//! is 0, 1/2, 1, 3/2 or 2, and the five counts ([`Pentanomial`]) carry the variance correctly, because what an opening
//! gives to one side it takes back in the other game. The sequential test is the generalised SPRT: the
//! likelihood ratio between the distributions that fit the counts best under each hypothesis (M. Van den Bergh,
//! "Comments on normalized Elo", 2021, gives both the logistic and the normalised form).

/// Normalised Elo per unit of (mean - 1/2) / (standard deviation of one game): 800 / ln 10.
const NORMALISED_SCALE: f64 = 800.0 / std::f64::consts::LN_10;

/// Pairs of games by their score: 0, 1/2, 1, 3/2, 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Pentanomial(pub [u64; 5]);

impl Pentanomial {
    /// Adds a pair whose score is `half_points` / 2.
    pub fn add(&mut self, half_points: usize) {
        self.0[half_points] += 1;
    }

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

    /// Scores and probabilities, no probability quite zero: an outcome not seen yet is not impossible.
    fn distribution(&self) -> [(f64, f64); 5] {
        let counts = self.0.map(|c| (c as f64).max(1e-3));
        let n: f64 = counts.iter().sum();
        std::array::from_fn(|i| (i as f64 / 4.0, counts[i] / n))
    }
}

/// The Elo difference of a player who scores `score` of 1.
pub fn elo_of(score: f64) -> f64 {
    let s = score.clamp(1e-6, 1.0 - 1e-6);
    400.0 * (s / (1.0 - s)).log10()
}

/// The score that an Elo difference leads to.
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// An Elo difference as far as results tell it.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Estimate {
    /// Mean score of a game.
    pub score: f64,
    pub elo: f64,
    /// Half of the width of the 95 % interval.
    pub error: f64,
    /// The ends of the 95 % interval.
    pub low: f64,
    pub high: f64,
    /// Normalised Elo: the difference in units of the noise of a game.
    pub normalised: f64,
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
        let standard_error = (variance / n).sqrt();
        let (low, high) = (elo_of(mean - 1.96 * standard_error), elo_of(mean + 1.96 * standard_error));
        let above = mean - 0.5;
        let (normalised, los) = if standard_error > 0.0 {
            (above / (games * variance).sqrt() * NORMALISED_SCALE, normal_cdf(above / standard_error))
        } else {
            // all results alike: the noise is unknown
            (
                above.signum() * if above == 0.0 { 0.0 } else { f64::INFINITY },
                (above.signum() * above.abs().ceil() + 1.0) / 2.0,
            )
        };
        Estimate { score: mean, elo: elo_of(mean), error: (high - low) / 2.0, low, high, normalised, los }
    }
}

/// The normal distribution function, with the error function of Abramowitz and Stegun 7.1.26 (error below 1.5e-7).
pub fn normal_cdf(x: f64) -> f64 {
    let z = x.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592]
        .into_iter()
        .fold(0.0, |acc, c| acc * t + c);
    let half_tail = poly * t * (-z * z).exp() / 2.0;
    if x >= 0.0 { 1.0 - half_tail } else { half_tail }
}

/// In which unit the hypotheses of a test are stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Elo in units of the noise of a game: the number of games a test takes does not depend on how drawish they are.
    Normalised,
    /// Ordinary Elo, by the expected score.
    Logistic,
}

/// A sequential probability ratio test of "the difference is `elo0`" against "it is `elo1`".
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sprt {
    pub elo0: f64,
    pub elo1: f64,
    /// Probability of accepting `elo1` though `elo0` holds.
    pub alpha: f64,
    /// Probability of accepting `elo0` though `elo1` holds.
    pub beta: f64,
    pub model: Model,
}

/// The state of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
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
            Model::Logistic => fit_mean(&seen, score_of(elo)),
            // a pair's mean has half the variance of a game
            Model::Normalised => fit_t_value(&seen, elo / NORMALISED_SCALE * std::f64::consts::SQRT_2),
        };
        let (p0, p1) = (fit(self.elo0), fit(self.elo1));
        let per_pair: f64 = (0..5).map(|i| seen[i].1 * (p1[i] / p0[i]).ln()).sum();
        per_pair * pairs.pairs() as f64
    }

    pub fn decide(&self, pairs: &Pentanomial) -> Decision {
        let (low, high) = self.bounds();
        match self.llr(pairs) {
            l if l <= low => Decision::H0,
            l if l >= high => Decision::H1,
            _ => Decision::Continue,
        }
    }
}

/// The probabilities p_i / (1 + x a_i) with mean of the `a_i` zero: of all distributions under which `a` has mean zero,
/// this one makes the observed `p` likeliest. `x` is found by bisection; the sum falls strictly in `x`.
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

/// The likeliest probabilities under which (mean - 1/2) / (standard deviation) is `t`: the condition, made linear around
/// the last solution, is solved again and again.
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

/// Elo ratings of several players from the scores between them (Bradley-Terry, a draw is half a win), with their 95 %
/// errors; the mean rating is 0. `points[i][j]` are the points that `i` won against `j`.
pub fn ratings(points: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let n = points.len();
    // half a draw against everybody keeps perfect scores finite
    let won = |i: usize, j: usize| if i == j { 0.0 } else { points[i][j] + 0.25 };
    let mut strength = vec![1.0; n];
    for _ in 0..10_000 {
        let old = strength.clone();
        for i in 0..n {
            let total: f64 = (0..n).map(|j| won(i, j)).sum();
            let expected: f64 = (0..n)
                .filter(|&j| j != i)
                .map(|j| (won(i, j) + won(j, i)) / (strength[i] + strength[j]))
                .sum();
            strength[i] = if expected > 0.0 { total / expected } else { 1.0 };
        }
        let mean = (strength.iter().map(|s: &f64| s.ln()).sum::<f64>() / n as f64).exp();
        strength.iter_mut().for_each(|s| *s /= mean);
        if strength.iter().zip(&old).all(|(a, b)| (a / b - 1.0).abs() < 1e-9) {
            break;
        }
    }
    let per_nat = 400.0 / std::f64::consts::LN_10;
    (0..n)
        .map(|i| {
            let information: f64 = (0..n)
                .filter(|&j| j != i)
                .map(|j| {
                    let p = strength[i] / (strength[i] + strength[j]);
                    (points[i][j] + points[j][i]) * p * (1.0 - p)
                })
                .sum();
            let error = if information > 0.0 { 1.96 * per_nat / information.sqrt() } else { f64::INFINITY };
            (per_nat * strength[i].ln(), error)
        })
        .collect()
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
        close(e.normalised, 49.77, 0.01);
        close(e.los, 0.9960, 5e-5);
        let e = Estimate::of_pairs(&Pentanomial([332, 433, 457 + 41, 333, 334])).unwrap();
        close(e.elo, -8.64, 0.01);
        close(e.error, 10.33, 0.01);
        close(e.normalised, -9.17, 0.01);
        close(e.los, 0.0505, 5e-5);
        let e = Estimate::of_pairs(&Pentanomial([34, 54, 31 + 32, 64, 75])).unwrap();
        close(e.elo, 55.58, 0.01);
        close(e.error, 27.65, 0.01);
        close(e.normalised, 57.94, 0.01);
    }

    #[test]
    fn likelihood_ratios_agree_with_published_values() {
        for (counts, elo0, elo1, model, llr) in [
            ([365, 16618, 36029 + 200, 16974, 390], 0.0, 2.0, Model::Normalised, 2.25),
            ([127, 4883, 10311 + 401, 5150, 104], -1.75, 0.25, Model::Normalised, 3.01),
            ([223, 9863, 20279 + 1000, 10037, 246], 0.5, 2.5, Model::Logistic, -3.07),
            ([871, 26175, 55003 + 980, 26678, 821], 0.0, 2.0, Model::Logistic, -4.98),
        ] {
            let sprt = Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, model };
            close(sprt.llr(&Pentanomial(counts)), llr, 0.01 * llr.abs());
        }
    }

    #[test]
    fn perfect_scores_have_the_ratio_that_two_outcomes_have() {
        // all pairs won: the likeliest explanation is a coin with P(2 - 0) = q and P(0 - 2) = 1 - q
        let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model: Model::Normalised };
        let t = 5.0 / NORMALISED_SCALE * 2f64.sqrt();
        // (q - 1/2) / sqrt(q (1 - q)) = t
        let q = 0.5 + t / (2.0 * (1.0 + t * t).sqrt());
        close(sprt.llr(&Pentanomial([0, 0, 0, 0, 104])), 104.0 * (q / 0.5).ln(), 0.005);
    }

    #[test]
    fn a_test_decides_at_its_bounds() {
        let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model: Model::Logistic };
        close(sprt.bounds().0, -2.944, 0.001);
        close(sprt.bounds().1, 2.944, 0.001);
        assert_eq!(sprt.decide(&Pentanomial::default()), Decision::Continue);
        assert_eq!(sprt.decide(&Pentanomial([1, 2, 3, 2, 1])), Decision::Continue);
        assert_eq!(sprt.decide(&Pentanomial([10, 100, 400, 700, 300])), Decision::H1);
        assert_eq!(sprt.decide(&Pentanomial([300, 700, 400, 100, 10])), Decision::H0);
        // one-sided extremes stay finite
        for counts in [[0, 0, 0, 0, 50], [50, 0, 0, 0, 0], [0, 0, 50, 0, 0]] {
            for model in [Model::Logistic, Model::Normalised] {
                assert!(Sprt { model, ..sprt }.llr(&Pentanomial(counts)).is_finite(), "{counts:?}");
            }
        }
    }

    #[test]
    fn extremes_are_finite_or_openly_infinite() {
        let e = Estimate::of_games(5, 0, 0).unwrap();
        assert!(e.elo.is_finite() && e.normalised.is_infinite() && e.los == 1.0);
        let e = Estimate::of_games(0, 4, 0).unwrap();
        assert_eq!((e.elo, e.normalised, e.los), (0.0, 0.0, 0.5));
        assert!(
            Estimate::of_games(0, 0, 0).is_none() && Estimate::of_pairs(&Pentanomial::default()).is_none()
        );
    }

    #[test]
    fn ratings_explain_the_scores() {
        // 100, 0, -100 Elo, 1000 games each pairing, played exactly to expectation
        let truth = [100.0, 0.0, -100.0];
        let points: Vec<Vec<f64>> =
            truth.iter().map(|a| truth.iter().map(|b| 1000.0 * score_of(a - b)).collect()).collect();
        for ((rating, error), expected) in ratings(&points).into_iter().zip(truth) {
            close(rating, expected, 0.5);
            assert!((5.0..30.0).contains(&error));
        }
    }
}
