//! Ratings of several players: [`ratings`].

use super::estimate::Z;

/// Elo ratings of several players from the scores between them (Bradley-Terry, a draw is half a win), with
/// their 95 % errors; the mean rating is 0. `points[i][j]` are the points that `i` won against `j`.
pub fn ratings(points: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let n = points.len();
    // half a draw against every opponent keeps perfect scores finite
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
            let error = if information > 0.0 { Z * per_nat / information.sqrt() } else { f64::INFINITY };
            (per_nat * strength[i].ln(), error)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::estimate::score_of;
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not {b}");
    }

    #[test]
    fn ratings_reproduce_expected_scores() {
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
