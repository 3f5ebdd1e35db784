//! What a network's numbers look like and what they do on positions: behind `net info` and `net compare`.

use std::fmt::Display;
use std::io::{self, Write};

use super::accumulator::accumulators_from_scratch;
use super::arch::{FV_SCALE, L1, L2, L3, NETWORK_HASH, TRANSFORMER_HASH};
use super::layers::{Affine, WEIGHT_SHIFT};
use super::network::Network;
use crate::position::Position;

/// Everything that a network computes for one position.
pub struct Activations {
    /// Clipped accumulators: of the side to move, then of the other side.
    pub transformed: [u8; 2 * L1],
    /// Clipped outputs of the first hidden layer.
    pub hidden1: [u8; L2],
    /// Clipped outputs of the second hidden layer.
    pub hidden2: [u8; L3],
    /// The output, FV_SCALE times a [`Value`](crate::types::Value), for the side to move.
    pub raw: i32,
}

impl Activations {
    /// Computes them by plain loops.
    pub fn of(network: &Network, pos: &Position) -> Activations {
        let accumulators = accumulators_from_scratch(network, pos);
        let us = pos.side_to_move().index();
        let transformed = std::array::from_fn(|i| accumulators[us ^ (i / L1)].0[i % L1].clamp(0, 127) as u8);
        let hidden1 = sums(&network.hidden1, &transformed).map(clip);
        let hidden2 = sums(&network.hidden2, &hidden1).map(clip);
        let raw = sums(&network.output, &hidden2)[0];
        Activations { transformed, hidden1, hidden2, raw }
    }
}

fn sums<const IN: usize, const OUT: usize>(layer: &Affine<IN, OUT>, inputs: &[u8; IN]) -> [i32; OUT] {
    std::array::from_fn(|o| {
        let products = inputs.iter().enumerate().map(|(i, &x)| x as i32 * layer.weight(o, i) as i32);
        layer.bias.0[o] + products.sum::<i32>()
    })
}

fn clip(sum: i32) -> u8 {
    (sum >> WEIGHT_SHIFT).clamp(0, 127) as u8
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

fn weights<const IN: usize, const OUT: usize>(layer: &Affine<IN, OUT>) -> impl Iterator<Item = i32> + Clone {
    (0..OUT).flat_map(move |o| (0..IN).map(move |i| layer.weight(o, i) as i32))
}

fn rows(network: &Network) -> impl Iterator<Item = i32> + Clone {
    network.input.rows.iter().flat_map(|row| row.0.iter().map(|&w| w as i32))
}

/// Writes what the network holds and, if there are positions, how its units are used on them.
pub fn info(network: &Network, positions: &[Position], out: &mut impl Write) -> io::Result<()> {
    fn layer<const IN: usize, const OUT: usize>(
        out: &mut impl Write,
        name: &str,
        l: &Affine<IN, OUT>,
    ) -> io::Result<()> {
        let (bias, range) = (range(l.bias.0.iter().copied()), range(weights(l)));
        writeln!(out, "{name}\t{IN} -> {OUT}\tbias {bias}\tweights {range}")?;
        writeln!(out, "\t{}", histogram(weights(l)))
    }
    let input = &network.input;
    let used = input.rows.iter().filter(|row| row.0.iter().any(|&w| w != 0)).count();
    writeln!(out, "network\t{}", network.name())?;
    writeln!(out, "origin\t{}", network.origin())?;
    writeln!(
        out,
        "hashes\tfile {:#010x}\ttransformer {TRANSFORMER_HASH:#010x}\tlayers {NETWORK_HASH:#010x}",
        TRANSFORMER_HASH ^ NETWORK_HASH
    )?;
    writeln!(
        out,
        "input\t{} -> {L1}\tbias {}\tweights {}\t{used} features used",
        input.rows.len(),
        range(input.bias.0.iter().copied()),
        range(rows(network))
    )?;
    writeln!(out, "\t{}", histogram(rows(network)))?;
    layer(out, "hidden 1", &network.hidden1)?;
    layer(out, "hidden 2", &network.hidden2)?;
    layer(out, "output", &network.output)?;
    if positions.is_empty() {
        return Ok(());
    }
    let (mut first, mut second, mut third) = (Usage::new(L1), Usage::new(L2), Usage::new(L3));
    for pos in positions {
        let a = Activations::of(network, pos);
        a.transformed.chunks_exact(L1).for_each(|view| first.note(view));
        second.note(&a.hidden1);
        third.note(&a.hidden2);
    }
    writeln!(out, "on {} positions", positions.len())?;
    writeln!(out, "input\t{}", first.line())?;
    writeln!(out, "hidden 1\t{}", second.line())?;
    writeln!(out, "hidden 2\t{}", third.line())
}

/// Writes how far two networks differ, in their numbers and, if there are positions, in what they say of them.
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
    let wide = |bias: &[i16]| bias.iter().map(|&x| x as i32).collect::<Vec<_>>();
    line(out, "input bias", wide(&a.input.bias.0).into_iter(), wide(&b.input.bias.0).into_iter())?;
    line(out, "input", rows(a), rows(b))?;
    line(out, "hidden 1", weights(&a.hidden1), weights(&b.hidden1))?;
    line(out, "hidden 2", weights(&a.hidden2), weights(&b.hidden2))?;
    line(out, "output", weights(&a.output), weights(&b.output))?;
    if positions.is_empty() {
        return Ok(());
    }
    let values: Vec<[f64; 2]> = positions
        .iter()
        .map(|pos| [a, b].map(|n| Activations::of(n, pos).raw as f64 / FV_SCALE as f64 * 100.0 / 90.0))
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
    use crate::nnue::evaluate_from_scratch;

    #[test]
    fn the_plain_loops_compute_what_the_engine_does() {
        let network = Network::bootstrap().unwrap();
        let mut pos = Position::startpos();
        for step in 0..60 {
            assert_eq!(Activations::of(&network, &pos).raw, evaluate_from_scratch(&network, &pos));
            let moves = pos.legal_moves(false);
            pos.do_move(moves[step * 7 % moves.len()].mv);
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
        let (a, mut b) = (Network::bootstrap().unwrap(), Network::bootstrap().unwrap());
        let positions = [Position::startpos()];
        let text = |a: &Network, b: &Network| {
            let mut out = Vec::new();
            compare(a, b, &positions, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(text(&a, &b).contains("difference\t0.0 on average"));
        b.output.bias.0[0] += 90 * FV_SCALE;
        assert!(text(&a, &b).contains("difference\t100.0 on average"));
    }
}
