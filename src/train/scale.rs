//! The win-rate scale of scores, from games: [`fit`].

/// The scale `s` for which `sigmoid(score / s)` predicts the results best: the maximum of the likelihood.
///
/// `pairs` are a score for a player, in `Value` units, and whether that player won (1), drew (0) or lost
/// (-1). `None` if the scores do not predict the results at all, or so well that the likelihood has no
/// maximum.
pub fn fit(pairs: &[(i16, i8)]) -> Option<f32> {
    // Newton's method on the inverse of the scale, in which the likelihood is concave
    let mut inverse = 1.0 / 600.0;
    for _ in 0..50 {
        let (mut slope, mut curvature) = (0.0, 0.0);
        for &(score, result) in pairs {
            let (score, result) = (score as f64, 0.5 * (result as f64 + 1.0));
            let p = 1.0 / (1.0 + (-score * inverse).exp());
            slope += (result - p) * score;
            curvature += p * (1.0 - p) * score * score;
        }
        if curvature <= 0.0 {
            return None;
        }
        // a long step would leave the range where the curve looks like its tangent parabola
        let next = (inverse + slope / curvature).clamp(0.25 * inverse, 4.0 * inverse);
        let done = (next - inverse).abs() < 1e-6 * inverse;
        inverse = next;
        if done {
            return Some((1.0 / inverse) as f32).filter(|s| (50.0..=10_000.0).contains(s));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::random::Rng;

    #[test]
    fn the_scale_that_made_the_results_is_found() {
        let mut rng = Rng::for_stream(7, 7);
        for scale in [200.0, 361.0, 900.0] {
            let pairs: Vec<(i16, i8)> = (0..200_000)
                .map(|_| {
                    let score = rng.below(4001) as i16 - 2000;
                    let p = 1.0 / (1.0 + (-score as f64 / scale).exp());
                    (score, if rng.chance(p) { 1 } else { -1 })
                })
                .collect();
            let found = fit(&pairs).unwrap() as f64;
            assert!((found / scale - 1.0).abs() < 0.02, "{scale}: {found}");
        }
    }

    #[test]
    fn uninformative_scores_have_no_scale() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[(100, 1), (100, -1)]), None);
        assert_eq!(fit(&[(100, 1), (-200, -1)]), None);
    }
}
