//! [`KingPart`]: the part of the first layer's weights that belongs to single king squares.
//!
//! Most of what a row of HalfKP knows does not depend on the king's square alone. The weights of a piece on
//! the board are split by least squares into a term for the piece and its square, shared by all kings, a term
//! for the piece and its offset from the king, shared by all pairs with that offset, and a rest. The first
//! two are what the trainer's factor expresses; only the rest has to be learnt for each king square. Rounding
//! to integers alone makes it 0.3 to 0.4.

use super::features::HAND_END;
use super::network::Network;
use super::shape::Shape;

/// Root mean squares of the weights of pieces on the board, in units of 1/127.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KingPart {
    /// Of the whole weights.
    pub all: f64,
    /// Of the rest that belongs to single king squares.
    pub specific: f64,
}

/// Offsets in files, and in ranks: -8 to 8.
const OFFSETS: usize = 17;

/// Rounds of fitting both terms in turn, after which the rest has settled to three digits.
const ROUNDS: usize = 10;

impl KingPart {
    /// The split of a network's first layer. `None` if its rows do not depend on the king.
    pub fn of_network(network: &Network) -> Option<KingPart> {
        let parameters = network.parameters();
        KingPart::of(&network.shape(), |i, out| {
            out.iter_mut().zip(parameters.row(i)).for_each(|(x, &w)| *x = f32::from(w));
        })
    }

    /// The split of what has changed in the first layer from network `a` to network `b`. `None` if their
    /// shapes differ, or if their rows do not depend on the king.
    pub fn of_change(a: &Network, b: &Network) -> Option<KingPart> {
        let (p, q) = (a.parameters(), b.parameters());
        if a.shape() != b.shape() {
            return None;
        }
        KingPart::of(&a.shape(), |i, out| {
            let pairs = p.row(i).iter().zip(q.row(i));
            out.iter_mut().zip(pairs).for_each(|(x, (&p, &q))| *x = f32::from(q) - f32::from(p));
        })
    }

    /// The split of a first layer whose row `i` is written by `read(i, row)`. `None` if its rows do not
    /// depend on the king.
    fn of(shape: &Shape, read: impl Fn(usize, &mut [f32])) -> Option<KingPart> {
        let (kings, rows, l1) = (shape.inputs.buckets(), shape.inputs.per_bucket(), shape.l1);
        // with attacks the buckets are not king squares alone
        if kings == 1 || shape.inputs.attacks() {
            return None;
        }
        let hand = HAND_END as usize;
        let pieces = rows - hand;
        let mut row = vec![0f32; l1];
        let mut by_square = vec![0f32; pieces * l1];
        let mut by_offset = vec![0f32; pieces / 81 * OFFSETS * OFFSETS * l1];
        let mut each = |work: &mut dyn FnMut(usize, usize, &[f32])| {
            for king in 0..kings {
                for piece in 0..pieces {
                    read(king * rows + hand + piece, &mut row);
                    work(piece, offset(king, piece), &row);
                }
            }
        };
        let mut pairs = vec![0u32; by_offset.len() / l1];
        each(&mut |_, offset, _| pairs[offset] += 1);
        for _ in 0..ROUNDS {
            by_square.fill(0.0);
            each(&mut |piece, offset, row| add_difference(&mut by_square, piece, row, &by_offset, offset));
            by_square.iter_mut().for_each(|x| *x /= kings as f32);
            by_offset.fill(0.0);
            each(&mut |piece, offset, row| add_difference(&mut by_offset, offset, row, &by_square, piece));
            for (x, &n) in by_offset.chunks_exact_mut(l1).zip(&pairs) {
                x.iter_mut().for_each(|x| *x /= n.max(1) as f32);
            }
        }
        let (mut all, mut specific) = (0f64, 0f64);
        each(&mut |piece, offset, row| {
            let terms = by_square[piece * l1..].iter().zip(&by_offset[offset * l1..]);
            for (x, (a, b)) in row.iter().zip(terms) {
                all += f64::from(x * x);
                specific += f64::from((x - a - b) * (x - a - b));
            }
        });
        let root_mean = |sum: f64| (sum / (kings * pieces * l1) as f64).sqrt();
        Some(KingPart { all: root_mean(all), specific: root_mean(specific) })
    }
}

/// The kind of a piece on the board and its offset from the king, as a number.
fn offset(king: usize, piece: usize) -> usize {
    let (kind, square) = (piece / 81, piece % 81);
    let (files, ranks) = (square / 9 + 8 - king / 9, square % 9 + 8 - king % 9);
    (kind * OFFSETS + files) * OFFSETS + ranks
}

/// `sums[at] += row - other[other_at]`, by rows.
fn add_difference(sums: &mut [f32], at: usize, row: &[f32], other: &[f32], other_at: usize) {
    let sums = &mut sums[at * row.len()..][..row.len()];
    for ((sum, x), y) in sums.iter_mut().zip(row).zip(&other[other_at * row.len()..]) {
        *sum += x - y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Architecture;
    use crate::support::random::Rng;

    #[test]
    fn what_all_kings_share_is_not_specific() {
        let shape = Shape { l1: 2, ..Architecture::DEFAULT.shape };
        let rows = shape.inputs.per_bucket();
        let noise =
            |stream: u64, i: usize| (Rng::for_stream(stream, i as u64).below(201) as f32 - 100.0) / 57.7;
        let weight = |size: f32| {
            move |i: usize, row: &mut [f32]| {
                let (king, piece) = (i / rows, i % rows - HAND_END as usize);
                row[0] = 10.0 * noise(1, piece) + 7.0 * noise(2, offset(king, piece)) + size * noise(3, i);
                row[1] = 0.0;
            }
        };
        let part = KingPart::of(&shape, weight(0.0)).unwrap();
        assert!(part.specific < 0.05 && part.all > 7.0, "{part:?}");
        // noise of size 1 in one of two units; both terms fit a twentieth of it
        let part = KingPart::of(&shape, weight(1.0)).unwrap();
        assert!((part.specific - 0.5f64.sqrt()).abs() < 0.03, "{part:?}");
        let kp = "kp_256x2-32-32".parse::<Architecture>().unwrap();
        assert_eq!(KingPart::of(&kp.shape, |_, _| {}), None);
    }
}
