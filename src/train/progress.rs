//! The weights of a game's progress, which may choose the stack of layers: [`fit_progress`].

use super::features::Sample;
use crate::nnue::Progress;
use crate::support::memory::OutOfMemory;
use crate::support::random::Rng;

/// The integer for 1 in a weight.
const SCALE: f32 = 65536.0;
/// The first step of a weight; later ones shrink with the root of all squared gradients so far (Adagrad).
const RATE: f32 = 0.02;
/// Passes over the examples.
const PASSES: usize = 3;

/// The logistic regression of the share of a game that is over on the position. Mirrored positions have the same
/// progress.
pub fn fit_progress(examples: &[(Sample, f32)], seed: u64) -> Result<Progress, OutOfMemory> {
    let mut rng = Rng::for_stream(seed, 0x7072_6f67);
    let mut order: Vec<u32> = (0..examples.len() as u32).collect();
    // the last weight is the bias
    let mut weights = vec![0f32; Progress::WEIGHTS + 1];
    let mut squares = vec![0f32; weights.len()];
    for _ in 0..PASSES {
        rng.shuffle(&mut order);
        for &i in &order {
            let (sample, share) = &examples[i as usize];
            let mirror = rng.below(2) == 0;
            let inputs = [0, 1].map(|p| sample.seen(p, mirror));
            let inputs = inputs.iter().flat_map(|(king, pieces)| pieces.map(|p| Progress::input(*king, p)));
            let inputs = inputs.chain([Progress::WEIGHTS]);
            let sum: f32 = inputs.clone().map(|input| weights[input]).sum();
            let slope = 1.0 / (1.0 + (-sum).exp()) - share;
            for input in inputs {
                squares[input] += slope * slope;
                weights[input] -= RATE * slope / squares[input].sqrt().max(1e-6);
            }
        }
    }
    let mut progress = Progress::zeroed()?;
    let integer = |x: f32| (x * SCALE).round_ties_even() as i32;
    progress.bias = integer(weights[Progress::WEIGHTS]);
    for (i, weight) in progress.weights.iter_mut().enumerate() {
        *weight = integer(0.5 * (weights[i] + weights[Progress::mirrored(i)]));
    }
    Ok(progress)
}

/// The root mean square difference of the fitted progress from the share of the game that was over.
pub fn progress_error(progress: &Progress, examples: &[(Sample, f32)]) -> f64 {
    let squares = examples.iter().map(|(sample, share)| {
        let level = progress.level_of([0, 1].map(|p| sample.seen(p, false)));
        (f64::from(level) / 256.0 + 0.5 / 256.0 - f64::from(*share)).powi(2)
    });
    (squares.sum::<f64>() / examples.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Position;

    #[test]
    fn what_decides_the_progress_is_found() {
        // pieces leave their squares as a game goes on
        let mut examples = Vec::new();
        for game in 0..60 {
            let mut rng = Rng::for_stream(7, game);
            let mut pos = Position::startpos();
            for ply in 0..100 {
                examples.extend(Sample::of(&pos, 0, 0).map(|s| (s, ply as f32 / 100.0)));
                let moves = pos.legal_moves(false);
                let Some(chosen) = (!moves.is_empty()).then(|| moves[rng.below(moves.len())].mv) else {
                    break;
                };
                pos.do_move(chosen);
            }
        }
        let nothing = progress_error(&Progress::zeroed().unwrap(), &examples);
        let fitted = fit_progress(&examples, 1).unwrap();
        let rest = progress_error(&fitted, &examples);
        assert!(rest < 0.4 * nothing, "{rest} {nothing}");
        for (sample, _) in &examples {
            let level = |mirror: bool| fitted.level_of([0, 1].map(|p| sample.seen(p, mirror)));
            assert_eq!(level(false), level(true));
        }
    }
}
