//! Simultaneous perturbation stochastic approximation: [`Spsa`].
//!
//! Every step perturbs all numbers at once, each up or down at random, plays games between the two opposite
//! corners, and moves towards the winner (Spall 1992; the gains are given by their last values, as in the testing
//! frameworks of chess engines). With `A = N / 10`, step `k` of `N` perturbs by `c_end (N / k)^0.101` and
//! updates by `rate c_end^2 ((A + N) / (A + k))^0.602 / c_k` per game of one corner's lead.

use crate::search::params::Param;
use crate::support::random::Rng;
use serde::{Deserialize, Serialize};

const ALPHA: f64 = 0.602;
const GAMMA: f64 = 0.101;
/// Stability constant `A` as a share of all steps.
const STABILITY: f64 = 0.1;
/// The last perturbation of a number as a share of its range.
const PERTURBATION: f64 = 0.05;

/// A number that is tuned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// Its name in the table of parameters.
    pub name: String,
    /// The value at the start.
    pub start: i32,
    /// The present value, before it is rounded.
    pub value: f64,
    /// Smallest valid value.
    pub min: i32,
    /// Largest valid value.
    pub max: i32,
    /// Its perturbation in the last step.
    pub perturbation: f64,
}

impl Tuned {
    /// A number that starts at `value`.
    pub fn new(p: &Param, value: i32) -> Tuned {
        // a perturbation below one has no effect on a small integer
        let perturbation = (f64::from(p.max - p.min) * PERTURBATION).max(0.5);
        let (min, max) = (p.min, p.max);
        Tuned { name: p.name.into(), start: value, value: f64::from(value), min, max, perturbation }
    }

    /// Its change since the start, in last perturbations.
    pub fn moved(&self) -> f64 {
        (self.value - f64::from(self.start)) / self.perturbation
    }
}

/// All numbers and the progress of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spsa {
    /// The tuned numbers.
    pub numbers: Vec<Tuned>,
    /// Steps done.
    pub done: u64,
    /// Steps of the whole run.
    pub total: u64,
    /// The update of one game in the last step, as a share of the last perturbation.
    pub rate: f64,
    /// Seed of the perturbations and openings.
    pub seed: u64,
}

/// Two opposite corners around the present numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// From 0.
    pub step: u64,
    /// The sign of each number's perturbation in `plus`.
    signs: Vec<f64>,
    /// In the order of [`Spsa::numbers`].
    pub plus: Vec<i32>,
    /// The numbers perturbed the other way.
    pub minus: Vec<i32>,
}

impl Spsa {
    /// The corners of step `step`, counted from 0.
    pub fn propose(&self, step: u64) -> Proposal {
        let mut rng = Rng::for_stream(self.seed, step);
        let scale = self.scale(step);
        let mut p = Proposal { step, signs: Vec::new(), plus: Vec::new(), minus: Vec::new() };
        for n in &self.numbers {
            let sign = if rng.chance(0.5) { 1.0 } else { -1.0 };
            // rounded up with the probability of the fraction, so that small changes have an effect
            let dice = rng.below(1 << 20) as f64 / f64::from(1 << 20);
            let at = |v: f64| ((v + dice).floor() as i32).clamp(n.min, n.max);
            p.signs.push(sign);
            p.plus.push(at(n.value + sign * scale * n.perturbation));
            p.minus.push(at(n.value - sign * scale * n.perturbation));
        }
        p
    }

    /// Perturbation of this step relative to that of the last one.
    fn scale(&self, step: u64) -> f64 {
        (self.total as f64 / (step + 1) as f64).powf(GAMMA)
    }

    /// Updates the numbers by the result of `p`: games won minus games lost by `plus`.
    pub fn learn(&mut self, p: &Proposal, lead: f64) {
        let total = self.total as f64;
        let a = STABILITY * total;
        let gain = self.rate * ((a + total) / (a + (p.step + 1) as f64)).powf(ALPHA) / self.scale(p.step);
        for (n, sign) in self.numbers.iter_mut().zip(&p.signs) {
            n.value =
                (n.value + gain * n.perturbation * sign * lead).clamp(f64::from(n.min), f64::from(n.max));
        }
        self.done += 1;
    }

    /// The present numbers, in the order of [`Spsa::numbers`].
    pub fn rounded(&self) -> Vec<i32> {
        self.numbers.iter().map(|n| n.value.round() as i32).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spsa(total: u64) -> Spsa {
        let p = |name, default, min, max| Tuned::new(&Param { name, default, min, max }, default);
        let numbers = vec![p("a", 100, 0, 400), p("b", -20, -200, 200), p("c", 5, 0, 10)];
        Spsa { numbers, done: 0, total, rate: 0.01, seed: 3 }
    }

    #[test]
    fn finds_the_maximum_of_a_noisy_function() {
        let mut s = spsa(20_000);
        let mut dice = Rng::new(9);
        // the third number does not matter
        let height =
            |v: &[i32]| -(f64::from(v[0] - 250) / 200.0).powi(2) - (f64::from(v[1] - 60) / 200.0).powi(2);
        for k in 0..s.total {
            let p = s.propose(k);
            let chance = 0.5 + 0.5 * (height(&p.plus) - height(&p.minus)).clamp(-1.0, 1.0);
            let lead = if dice.chance(chance) { 1.0 } else { -1.0 };
            s.learn(&p, lead);
        }
        let v = s.rounded();
        assert!((v[0] - 250).abs() < 25 && (v[1] - 60).abs() < 25, "{v:?}");
        assert!(s.numbers[2].moved().abs() < 8.0);
        assert_eq!(s.done, s.total);
    }

    #[test]
    fn corners_are_opposite_in_range_and_deterministic() {
        let s = spsa(100);
        for k in 0..100 {
            let p = s.propose(k);
            assert_eq!(p, s.propose(k));
            for (i, n) in s.numbers.iter().enumerate() {
                assert!((n.min..=n.max).contains(&p.plus[i]) && (n.min..=n.max).contains(&p.minus[i]));
                assert!((p.plus[i] - p.minus[i]).signum() as f64 * p.signs[i] >= 0.0);
                let mean = f64::from(p.plus[i] + p.minus[i]) / 2.0;
                assert!((mean - n.value).abs() <= 1.0, "{mean} {n:?}");
            }
        }
        assert_ne!(s.propose(1).signs, s.propose(2).signs);
    }
}
