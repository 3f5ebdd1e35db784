//! From f32 to the integers of `nn.bin`, and back.

use std::sync::Arc;

use super::features::Sample;
use super::finished::Finished;
use super::head;
pub use super::head::OUTPUT_SUM;
use super::layout::{Layout, Untrainable};
use super::loss::{Loss, Objective, SCORE_SCALE};
use super::model::Model;
use crate::nnue::{FV_SCALE, Network, output_of};
use crate::support::memory::OutOfMemory;
use crate::support::random::Rng;

/// The integer for 1 in the first layer.
const INPUT_SCALE: f32 = 127.0;

/// Why training cannot start from a network.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum FromNetworkError {
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    #[error("a {0} network holds products of the trained parameters: start from its run's checkpoint")]
    Multiplied(String),
    #[error(transparent)]
    Untrainable(#[from] Untrainable),
}

impl Model {
    /// A model with the evaluations of `net`, for further training. The FV_SCALE of `net` may differ from
    /// that of trained networks.
    ///
    /// Every weight gets a random part that rounding removes, less than half a step either way. So a change by a
    /// tenth of a step changes a tenth of the integers. Without these parts it would change none of them, and
    /// quantized training would not see what it does until all weights change at once. The parts depend on `net`
    /// only: runs from the same network share them, so that they do not disappear in a mean of those runs.
    ///
    /// # Errors
    /// No memory, or a network whose trained parameters cannot be recovered.
    pub fn from_network(net: &Network) -> Result<Model, FromNetworkError> {
        Layout::new(net.architecture())?;
        let mut model = Model::new(net.architecture(), 0)?;
        model.factor.w.fill(0.0);
        let scale = FV_SCALE as f32 / net.fv_scale() as f32;
        let net = net.parameters();
        let mut content = crc32fast::Hasher::new();
        for row in 0..model.layout.rows() {
            let bytes: Vec<u8> = net.row(row).iter().flat_map(|w| w.to_le_bytes()).collect();
            content.update(&bytes);
        }
        let mut rng = Rng::new(content.finalize().into());
        for (row, out) in model.rows.w.chunks_exact_mut(model.layout.l1.max(1)).enumerate() {
            for (o, &w) in out.iter_mut().zip(net.row(row)) {
                *o = (f32::from(w) + rng.rounded_off()) / INPUT_SCALE;
            }
        }
        for (out, &b) in model.bias.w.iter_mut().zip(net.bias()) {
            *out = b as f32 / INPUT_SCALE;
        }
        model.progress = net.progress().map(|progress| Arc::new(progress.clone()));
        if !head::of(&model.layout).read(net, scale, &mut rng, &mut model.dense.w) {
            return Err(FromNetworkError::Multiplied(net.shape().to_string()));
        }
        Ok(model)
    }
}

impl Finished {
    /// Rounds to the network's integers.
    pub fn quantize(&self) -> Result<Network, OutOfMemory> {
        let mut net = self.layout.architecture.zeroed()?;
        let short = |x: f32| (x * INPUT_SCALE).round_ties_even() as i16;
        for (row, values) in self.rows.chunks_exact(self.layout.l1.max(1)).enumerate() {
            net.row_mut(row).iter_mut().zip(values).for_each(|(o, &w)| *o = short(w));
        }
        for (out, &b) in net.bias_mut().iter_mut().zip(&self.bias) {
            *out = short(b);
        }
        head::of(&self.layout).write(&self.dense, &mut *net);
        if let (Some(to), Some(progress)) = (net.progress_mut(), &self.progress) {
            *to = (**progress).clone();
        }
        Ok(Network::new(net, "trained".to_owned()))
    }
}

/// The raw output that the engine computes: FV_SCALE times the `Value`.
pub fn integer_output(net: &Network, sample: &Sample) -> i32 {
    let layout = Layout::of(net.architecture());
    let accumulators = head::of(&layout).accumulators(&layout, net.parameters(), sample);
    let choice = if layout.stacks() > 1 { layout.stack(sample, false) } else { sample.in_hand() };
    output_of(net, accumulators.each_ref().map(|a| &a[..]), choice)
}

/// Distance of the integers from f32, in centipawns (a pawn is 90 `Value`s), and both losses.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuantizationError {
    /// Positions compared.
    pub positions: usize,
    /// Mean distance.
    pub mean: f64,
    /// Largest distance.
    pub max: f64,
    /// Mean loss of the network in f32.
    pub loss_f32: f64,
    /// Mean loss of the integers.
    pub loss_integers: f64,
}

/// Compares the network in f32 with its integers on `samples`; the losses are those of `objective`.
///
/// Quantized training minimizes the loss of the integers, so the difference from f32 means little there.
pub fn quantization_error(
    exact: &Finished,
    net: &Network,
    samples: &[Sample],
    objective: Objective,
) -> QuantizationError {
    use rayon::prelude::*;
    let one = |s: &Sample| {
        let (f, i) = (exact.output(s), integer_output(net, s) as f32 / OUTPUT_SUM);
        let result = (s.result as f32 + 1.0) * 0.5;
        let target = objective.target(s.score as f32, result);
        let mut losses = [Loss::default(); 2];
        losses[0].count(objective.logit(f), target, result);
        losses[1].count(objective.logit(i), target, result);
        let error = (f - i).abs() as f64 * SCORE_SCALE as f64 * 100.0 / 90.0;
        [error, error, losses[0].cross_entropy, losses[1].cross_entropy]
    };
    let [sum, max, f32s, integers] = samples
        .par_iter()
        .map(one)
        .reduce(|| [0.0; 4], |a, b| [a[0] + b[0], a[1].max(b[1]), a[2] + b[2], a[3] + b[3]]);
    let n = samples.len().max(1) as f64;
    QuantizationError {
        positions: samples.len(),
        mean: sum / n,
        max,
        loss_f32: f32s / n,
        loss_integers: integers / n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Architecture;

    /// A network of FV_SCALE 32 evaluates half as high as the same integers with 16; so does the model made
    /// of it.
    #[test]
    fn a_model_evaluates_as_its_network_whatever_the_scale() {
        for name in ["halfkp_256x2-32-32", "psq_256x2-screlu-8b"] {
            let kind = name.parse::<Architecture>().unwrap();
            let source = Model::new(kind, 7).unwrap();
            let dense = |fv_scale: i32| {
                let mut net = kind.zeroed().unwrap();
                head::of(&source.layout).write(&source.dense.w, &mut *net);
                let net = Network::new(net, format!("fv_scale={fv_scale}"));
                Model::from_network(&net).unwrap().dense.w
            };
            let (usual, double) = (dense(16), dense(32));
            let halved: Vec<f32> =
                usual.iter().zip(&double).filter(|(a, b)| a != b).map(|(a, b)| a / b).collect();
            assert!(!halved.is_empty() && halved.iter().all(|ratio| *ratio == 2.0), "{name}: {halved:?}");
        }
    }

    /// A model made of a network is that network; when all its weights rise by a quarter of a step, a quarter of
    /// the integers do.
    #[test]
    fn steps_smaller_than_an_integer_count() {
        for name in ["halfkp_256x2-32-32", "psq_256x2-screlu-8b", "sfnn_halfkahm2_256_15_32_k3k3"] {
            let kind = name.parse::<Architecture>().unwrap();
            let layout = Layout::of(kind);
            let net = Model::new(kind, 7).unwrap().finished().unwrap().quantize().unwrap();
            let weights = |net: &Network| -> Vec<i16> {
                let net = net.parameters();
                let rows = (0..layout.rows()).step_by(11).flat_map(|row| net.row(row));
                let mut weights: Vec<i16> = rows.copied().collect();
                for layer in net.layers() {
                    let places =
                        (0..layer.bias().len()).flat_map(|o| (0..layer.inputs()).map(move |i| (o, i)));
                    weights.extend(places.map(|(o, i)| layer.weight(o, i)));
                }
                weights
            };
            let mut model = Model::from_network(&net).unwrap();
            let there = weights(&net);
            assert_eq!(weights(&model.finished().unwrap().quantize().unwrap()), there, "{name}");
            model.rows.w.iter_mut().for_each(|w| *w += 0.25 / INPUT_SCALE);
            let rows = layout.rows().div_ceil(11) * layout.l1;
            let moved = weights(&model.finished().unwrap().quantize().unwrap());
            let changes = || there[..rows].iter().zip(&moved).map(|(from, to)| to - from);
            assert!(changes().all(|change| change == 0 || change == 1), "{name}");
            let share = changes().filter(|&change| change == 1).count() as f64 / rows as f64;
            assert!((share - 0.25).abs() < 0.01, "{name}: {share}");
        }
    }
}
