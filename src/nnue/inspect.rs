//! Statistics of a network's parameters and activations, for `net info` and `net compare`.

use std::fmt::Display;
use std::io::{self, Write};

use super::king_part::KingPart;
use super::layers::{Dense, clipped, squared};
use super::network::Network;
use super::parameters::Parameters;
use super::shape::HeadShape;
use crate::position::Position;
use crate::types::Color;

/// All activations of a network for one position.
pub struct Activations {
    /// Clipped accumulators: of the side to move, then of the other side if the network looks at it.
    pub transformed: Vec<u8>,
    /// Clipped outputs of the hidden layers, if there are any.
    pub hidden: Vec<Vec<u8>>,
    /// The output, [the network's scale](Network::fv_scale) times a [`Value`](crate::types::Value), for the
    /// side to move.
    pub raw: i32,
}

impl Activations {
    /// Computes the activations by plain loops.
    pub fn of(network: &Network, pos: &Position) -> Activations {
        let (parameters, shape) = (network.parameters(), network.shape());
        let [mut us, mut them] = parameters.accumulators_from_scratch(pos);
        if pos.side_to_move() == Color::White {
            std::mem::swap(&mut us, &mut them);
        }
        let (mut layers, mut stack) = (parameters.layers(), 0);
        let sfnn = if let HeadShape::Sfnn { buckets, .. } = shape.head {
            stack = buckets.of(pos, parameters.progress().map_or(0, |progress| progress.sum(pos)));
            us = products(&us);
            them = products(&them);
            true
        } else {
            false
        };
        let in_stack = shape.dense().len();
        let layers: Vec<&dyn Dense> = layers.drain(stack * in_stack..).take(in_stack).collect();
        // a lite network uses only the side to move's
        let seen = us.into_iter().chain(them).take(layers[0].inputs());
        let transformed: Vec<u8> = seen.map(|a| a.clamp(0, 127) as u8).collect();
        let (output, layers) = layers.split_last().expect("every network has an output");
        let mut hidden: Vec<Vec<u8>> = Vec::new();
        let mut shortcut = 0;
        for (i, layer) in layers.iter().enumerate() {
            let inputs = hidden.last().unwrap_or(&transformed).iter();
            let mut sums = sums(*layer, inputs.map(|&x| i32::from(x)));
            let mut outputs = Vec::new();
            if sfnn && i == 0 {
                let n = layers[1].inputs() / 2;
                shortcut = sums.drain(n..).sum();
                outputs.extend(sums.iter().map(|&sum| squared(sum)));
            }
            outputs.extend(sums.into_iter().map(clipped));
            hidden.push(outputs);
        }
        let head = shape.head;
        let direct = matches!(head, HeadShape::Direct { .. });
        let last = hidden.last().unwrap_or(&transformed).iter().map(|&x| i32::from(x));
        let sums = sums(*output, last.map(|x| if direct { x * x } else { x }));
        let raw = (sums[head.bucket(pos.pieces_in_hand())] >> head.shift()).wrapping_add(shortcut);
        Activations { transformed, hidden, raw }
    }
}

/// The products of an accumulator's halves.
fn products(sums: &[i16]) -> Vec<i16> {
    let (first, second) = sums.split_at(sums.len() / 2);
    let clip = |x: &i16| i32::from(*x).clamp(0, 127);
    first.iter().zip(second).map(|(a, b)| (clip(a) * clip(b) / 128) as i16).collect()
}

fn sums(layer: &dyn Dense, inputs: impl Iterator<Item = i32> + Clone) -> Vec<i32> {
    let product = |o: usize| {
        let products = inputs.clone().enumerate().map(|(i, x)| x.wrapping_mul(i32::from(layer.weight(o, i))));
        products.fold(0, i32::wrapping_add)
    };
    layer.bias().iter().enumerate().map(|(o, bias)| bias.wrapping_add(product(o))).collect()
}

/// How often each unit of a layer is 0 and how often 127.
struct Usage {
    zero: Vec<u32>,
    full: Vec<u32>,
    seen: u32,
}

impl Usage {
    fn new(units: usize) -> Usage {
        Usage { zero: vec![0; units], full: vec![0; units], seen: 0 }
    }

    fn note(&mut self, activations: &[u8]) {
        self.seen += 1;
        self.zero.resize(activations.len(), 0);
        self.full.resize(activations.len(), 0);
        for (i, &a) in activations.iter().enumerate() {
            self.zero[i] += (a == 0) as u32;
            self.full[i] += (a == 127) as u32;
        }
    }

    fn line(&self) -> String {
        let share = |counts: &[u32]| {
            let all = counts.len() as f64 * self.seen as f64;
            100.0 * counts.iter().map(|&c| c as f64).sum::<f64>() / all.max(1.0)
        };
        let always = |counts: &[u32]| {
            let units: Vec<String> =
                (0..counts.len()).filter(|&i| counts[i] == self.seen).map(|i| i.to_string()).collect();
            match units.len() {
                0 => "none".to_owned(),
                n if n > 12 => format!("{n} units"),
                _ => units.join(" "),
            }
        };
        format!(
            "at 0 {:.1} %\tat 127 {:.1} %\talways 0: {}\talways 127: {}",
            share(&self.zero),
            share(&self.full),
            always(&self.zero),
            always(&self.full)
        )
    }
}

/// Shares of weights by size: 0, 1, 2 to 3, 4 to 7 and so on.
fn histogram(weights: impl Iterator<Item = i32>) -> String {
    let mut classes = [0u64; 17];
    weights.for_each(|w| classes[32 - w.unsigned_abs().leading_zeros() as usize] += 1);
    let all: u64 = classes.iter().sum();
    let last = classes.iter().rposition(|&c| c != 0).unwrap_or(0);
    let name = |class: usize| match class {
        0 | 1 => class.to_string(),
        _ => format!("{}-{}", 1 << (class - 1), (1u32 << class) - 1),
    };
    let parts: Vec<String> = (0..=last)
        .map(|c| format!("{}: {:.1} %", name(c), 100.0 * classes[c] as f64 / all.max(1) as f64))
        .collect();
    parts.join("  ")
}

fn range<T: Copy + Ord + Display>(values: impl Iterator<Item = T> + Clone) -> String {
    match (values.clone().min(), values.max()) {
        (Some(min), Some(max)) => format!("{min} .. {max}"),
        _ => "none".to_owned(),
    }
}

fn weights(layers: &[&dyn Dense]) -> impl Iterator<Item = i32> + Clone {
    layers.iter().flat_map(|layer| {
        let outputs = 0..layer.bias().len();
        outputs.flat_map(move |o| (0..layer.inputs()).map(move |i| layer.weight(o, i) as i32))
    })
}

fn rows(network: &dyn Parameters) -> impl Iterator<Item = i32> + Clone {
    let inputs = 0..network.shape().inputs.count();
    inputs.flat_map(|input| network.row(input).iter().map(|&w| w as i32))
}

/// The dense layers with their names: the same layer of all stacks.
fn layers(network: &dyn Parameters) -> Vec<(String, Vec<&dyn Dense>)> {
    let (layers, in_stack) = (network.layers(), network.shape().dense().len());
    let name = |i: usize| if i == in_stack - 1 { "output".to_owned() } else { format!("hidden {}", i + 1) };
    let of_all = |i: usize| layers.iter().skip(i).step_by(in_stack).copied().collect();
    (0..in_stack).map(|i| (name(i), of_all(i))).collect()
}

/// Writes statistics of the network's parameters and, if there are positions, of its units on them.
pub fn info(network: &Network, positions: &[Position], out: &mut impl Write) -> io::Result<()> {
    let (parameters, shape) = (network.parameters(), network.shape());
    let inputs = shape.inputs.count();
    let used = (0..inputs).filter(|&input| parameters.row(input).iter().any(|&w| w != 0)).count();
    writeln!(out, "network\t{}", network.name())?;
    writeln!(out, "origin\t{}", network.origin())?;
    writeln!(out, "FV_SCALE\t{}", network.fv_scale())?;
    writeln!(
        out,
        "hashes\tfile {:#010x}\ttransformer {:#010x}\tlayers {:#010x}",
        shape.file_hash(),
        shape.transformer_hash(),
        shape.layers_hash()
    )?;
    writeln!(
        out,
        "input\t{inputs} -> {}\tbias {}\tweights {}\t{used} features used",
        shape.l1,
        range(parameters.bias().iter().copied()),
        range(rows(parameters))
    )?;
    writeln!(out, "\t{}", histogram(rows(parameters)))?;
    if let Some(KingPart { all, specific }) = KingPart::of_network(network) {
        writeln!(out, "king squares\tRMS of board rows {all:.2}\tspecific to a king square {specific:.2}")?;
    }
    if let Some(progress) = parameters.progress() {
        let weights = range(progress.weights.iter().copied());
        writeln!(out, "progress\tbias {}\tweights {weights}, in 65536ths", progress.bias)?;
    }
    let stacks = shape.head.stacks();
    if stacks > 1 {
        writeln!(out, "stacks\t{stacks} of the following layers")?;
    }
    for (name, layers) in layers(parameters) {
        let biases = layers.iter().flat_map(|layer| layer.bias().iter().copied());
        let (bias, range) = (range(biases), range(weights(&layers)));
        let (inputs, outputs) = (layers[0].inputs(), layers[0].bias().len());
        writeln!(out, "{name}\t{inputs} -> {outputs}\tbias {bias}\tweights {range}")?;
        writeln!(out, "\t{}", histogram(weights(&layers)))?;
    }
    if positions.is_empty() {
        return Ok(());
    }
    let mut first = Usage::new(shape.units());
    if let HeadShape::Sfnn { .. } = shape.head {
        first = Usage::new(shape.l1 / 2);
    }
    let mut hidden: Vec<(String, Usage)> =
        layers(parameters).into_iter().map(|(name, _)| (name, Usage::new(0))).collect();
    hidden.pop(); // the output is not clipped
    for pos in positions {
        let a = Activations::of(network, pos);
        a.transformed.chunks_exact(first.zero.len()).for_each(|view| first.note(view));
        hidden.iter_mut().zip(&a.hidden).for_each(|((_, usage), layer)| usage.note(layer));
    }
    writeln!(out, "on {} positions", positions.len())?;
    writeln!(out, "input\t{}", first.line())?;
    hidden.iter().try_for_each(|(name, usage)| writeln!(out, "{name}\t{}", usage.line()))
}

/// Writes the differences of two networks: of their parameters, if they have the same shape, and, if there
/// are positions, of their evaluations.
pub fn compare(a: &Network, b: &Network, positions: &[Position], out: &mut impl Write) -> io::Result<()> {
    fn line(
        out: &mut impl Write,
        name: &str,
        a: impl Iterator<Item = i32>,
        b: impl Iterator<Item = i32>,
    ) -> io::Result<()> {
        let (mut all, mut different, mut sum, mut most) = (0u64, 0u64, 0f64, 0u32);
        for (a, b) in a.zip(b) {
            let distance = a.abs_diff(b);
            all += 1;
            different += (distance != 0) as u64;
            sum += distance as f64;
            most = most.max(distance);
        }
        let share = 100.0 * different as f64 / all.max(1) as f64;
        writeln!(
            out,
            "{name}\t{share:.1} % of {all} differ\tby {:.2} on average, {most} at most",
            sum / all as f64
        )
    }
    let (p, q) = (a.parameters(), b.parameters());
    writeln!(out, "networks\t{} and {}", a.name(), b.name())?;
    if a.shape() == b.shape() {
        let bias = |p: &dyn Parameters| p.bias().iter().map(|&x| x as i32).collect::<Vec<_>>();
        line(out, "input bias", bias(p).into_iter(), bias(q).into_iter())?;
        line(out, "input", rows(p), rows(q))?;
        if let Some(KingPart { all, specific }) = KingPart::of_change(a, b) {
            writeln!(
                out,
                "king squares\tRMS of changes in board rows {all:.2}\tspecific to a king square {specific:.2}"
            )?;
        }
        for ((name, p), (_, q)) in layers(p).into_iter().zip(layers(q)) {
            line(out, &name, weights(&p), weights(&q))?;
        }
    } else {
        writeln!(out, "of different shapes: no number of one has its like in the other")?;
    }
    if positions.is_empty() {
        return Ok(());
    }
    let values: Vec<[f64; 2]> = positions
        .iter()
        .map(|pos| [a, b].map(|n| Activations::of(n, pos).raw as f64 / n.fv_scale() as f64 * 100.0 / 90.0))
        .collect();
    let n = values.len() as f64;
    let mean = |f: &dyn Fn(&[f64; 2]) -> f64| values.iter().map(f).sum::<f64>() / n;
    let centre = [mean(&|v| v[0]), mean(&|v| v[1])];
    let product = |i: usize, j: usize| mean(&|v| (v[i] - centre[i]) * (v[j] - centre[j]));
    writeln!(out, "on {} positions, in centipawns", values.len())?;
    writeln!(out, "mean size\t{:.0} and {:.0}", mean(&|v| v[0].abs()), mean(&|v| v[1].abs()))?;
    writeln!(out, "difference\t{:.1} on average", mean(&|v| (v[0] - v[1]).abs()))?;
    writeln!(
        out,
        "correlation\t{:.4}",
        product(0, 1) / (product(0, 0) * product(1, 1)).sqrt().max(f64::MIN_POSITIVE)
    )?;
    writeln!(out, "same sign\t{:.1} %", 100.0 * mean(&|v| (v[0].signum() == v[1].signum()) as u8 as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::{Architecture, evaluate_from_scratch};

    #[test]
    fn the_plain_loops_compute_what_the_engine_does() {
        let mut direct = "psq_256x2-screlu-8b".parse::<Architecture>().unwrap().zeroed().unwrap();
        for input in 0..direct.shape().inputs.count() {
            direct
                .row_mut(input)
                .iter_mut()
                .enumerate()
                .for_each(|(i, w)| *w = ((i ^ input) % 31) as i16 - 14);
        }
        for (o, i) in (0..8).flat_map(|o| (0..512).map(move |i| (o, i))) {
            direct.layers_mut()[0].set_weight(o, i, (i * 37 % 300) as i16 * (o as i16 - 3));
        }
        for network in [Network::bootstrap().unwrap(), Network::new(direct, String::new())] {
            let mut pos = Position::startpos();
            let mut values = std::collections::BTreeSet::new();
            for step in 0..60 {
                let raw = Activations::of(&network, &pos).raw;
                assert_eq!(raw, evaluate_from_scratch(&network, &pos));
                values.insert(raw);
                let moves = pos.legal_moves(false);
                pos.do_move(moves[step * 7 % moves.len()].mv);
            }
            assert!(values.len() > 20);
        }
    }

    #[test]
    fn weights_fall_into_classes_by_size() {
        let text = histogram([0, 1, -1, 2, -3, 4, 100, -128].into_iter());
        assert!(text.starts_with("0: 12.5 %  1: 25.0 %  2-3: 25.0 %  4-7: 12.5 %"), "{text}");
        assert!(text.ends_with("64-127: 12.5 %  128-255: 12.5 %"), "{text}");
    }

    #[test]
    fn units_that_never_move_are_named() {
        let mut usage = Usage::new(3);
        usage.note(&[0, 127, 5]);
        usage.note(&[0, 127, 0]);
        assert_eq!(usage.line(), "at 0 50.0 %\tat 127 33.3 %\talways 0: 0\talways 127: 1");
    }

    #[test]
    fn a_network_equals_itself_and_not_another() {
        let a = Network::bootstrap().unwrap();
        let positions = [Position::startpos()];
        let text = |a: &Network, b: &Network| {
            let mut out = Vec::new();
            compare(a, b, &positions, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(text(&a, &a).contains("difference\t0.0 on average"));
        // the output's bias is the last thing but 32 weights
        let mut bytes = Vec::new();
        a.write(&mut bytes).unwrap();
        let (rest, end) = bytes.split_last_chunk_mut::<36>().unwrap();
        let bias = i32::from_le_bytes(*end.first_chunk().unwrap()) + 90 * a.fv_scale();
        end[..4].copy_from_slice(&bias.to_le_bytes());
        let length = rest.len() + end.len();
        let b = Network::read(&mut &bytes[..], Some(length as u64)).unwrap().0;
        assert!(text(&a, &b).contains("difference\t100.0 on average"));

        let kp = "kp_256x2-32-32".parse::<Architecture>().unwrap().zeroed().unwrap();
        let text = text(&a, &Network::new(kp, String::new()));
        assert!(text.contains("HalfKP 256x2-32-32-1 and K-P 256x2-32-32-1"), "{text}");
        assert!(text.contains("of different shapes") && !text.contains("differ\tby"), "{text}");
    }
}
