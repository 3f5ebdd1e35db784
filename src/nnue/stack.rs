//! [`Stack`]: the dense layers of a network whose sizes are known at run time only.

use super::layers::{Dense, clipped, squared};
use super::shape::{DenseShape, HeadShape, Shape, Shards};
use super::simd::Simd;
use crate::support::memory::{HugeBuf, OutOfMemory};

/// The most outputs of a hidden layer.
const MOST: usize = 128;

/// Clipped accumulators, and a bit for each group of four that are not all zero.
pub(super) struct SparseInput {
    bytes: HugeBuf<u8>,
    live: Vec<u64>,
}

impl SparseInput {
    /// Room for the inputs of a network's stacks.
    pub fn new(shape: &Shape) -> Result<SparseInput, OutOfMemory> {
        let inputs = shape.dense()[0].inputs;
        Ok(SparseInput { bytes: HugeBuf::zeroed(inputs)?, live: vec![0; inputs.div_ceil(256)] })
    }

    /// Clips the accumulators of the side to move and of the other side or, in `pairs`, multiplies the halves
    /// of each.
    ///
    /// # Safety
    /// The processor has the instructions of `S`.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub unsafe fn fill<S: Simd>(&mut self, sides: [&[i16]; 2], pairs: bool) {
        let mut out = self.bytes.as_chunks_mut::<32>().0.iter_mut();
        // a byte of bits for every 32 bytes
        let mut bits = self.live.as_mut_slice().iter_mut();
        let (mut word, mut at) = (0, 0);
        for side in sides {
            let half = side.len() / 2;
            let (first, second) = if pairs { side.split_at(half) } else { (side, &side[..0]) };
            let mut second = second.as_chunks::<32>().0.iter();
            for first in first.as_chunks::<32>().0 {
                let Some(to) = out.next() else { return };
                // SAFETY: the caller's promise.
                word |= u64::from(unsafe { S::activate(first, second.next(), to) }) << at;
                at += 8;
                if at == 64 {
                    if let Some(to) = bits.next() {
                        *to = word;
                    }
                    (word, at) = (0, 0);
                }
            }
        }
        if let Some(to) = bits.next() {
            *to = word;
        }
    }
}

/// A dense layer.
#[derive(Clone)]
struct Layer {
    inputs: usize,
    bias: HugeBuf<i32>,
    /// Those of the common inputs in the order of [`Affine`](super::layers::Affine), then those of the shards,
    /// output by output.
    weights: HugeBuf<i8>,
    shards: Shards,
}

impl Layer {
    fn zeroed(shape: &DenseShape, shards: Option<Shards>) -> Result<Layer, OutOfMemory> {
        let inputs = shape.inputs;
        // inputs are seen in groups of four
        let whole = Shards { common: inputs.next_multiple_of(4), size: 0, groups: 1 };
        let shards = shards.unwrap_or(whole);
        let weights = HugeBuf::zeroed(shape.outputs * (shards.common + shards.size))?;
        Ok(Layer { inputs, bias: HugeBuf::zeroed(shape.outputs)?, weights, shards })
    }

    /// The place of a weight, unless the output does not see the input.
    fn place(&self, output: usize, input: usize) -> Option<usize> {
        let (Shards { common, size, groups }, outputs) = (self.shards, self.bias.len());
        match input.checked_sub(common) {
            None => Some((input / 4 * outputs + output) * 4 + input % 4),
            Some(at) if at / size == output / (outputs / groups) => {
                Some(common * outputs + output * size + at % size)
            }
            Some(_) => None,
        }
    }

    /// The layer's sums.
    ///
    /// # Safety
    /// The processor has the instructions of `S`. `input` has the layer's inputs, padded to a multiple of four,
    /// and `live` no bits beyond them. The layer's outputs are a multiple of eight.
    #[allow(unsafe_code)]
    #[inline(always)]
    unsafe fn sums<S: Simd>(&self, input: &[u8], live: &[u64], out: &mut [i32; MOST]) {
        let (Shards { common, size, groups }, outputs) = (self.shards, self.bias.len());
        let out = &mut out[..outputs];
        // SAFETY: the caller's promise; shards begin at multiples of 64 inputs, whose bits may end in the middle
        // of a word.
        unsafe {
            let whole = common / 256;
            if size == 0 {
                S::sums(input, live, &self.bias, &self.weights, out);
            } else if common.is_multiple_of(256) {
                S::sums(&input[..common], &live[..whole], &self.bias, &self.weights, out);
            } else {
                let mut words = [0; MOST_WORDS];
                words[..=whole].copy_from_slice(&live[..=whole]);
                words[whole] &= (1 << (common / 4 % 64)) - 1;
                S::sums(&input[..common], &words[..=whole], &self.bias, &self.weights, out);
            }
            if size > 0 {
                let weights = self.weights[common * outputs..].chunks_exact(size).enumerate();
                for (output, weights) in weights {
                    let shard = output / (outputs / groups);
                    let sum = S::dot(&input[common + shard * size..][..size], weights);
                    out[output] = out[output].wrapping_add(sum);
                }
            }
        }
    }
}

/// Words of bits for the inputs of the widest network.
const MOST_WORDS: usize = 8192 / 256;

impl Dense for Layer {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn weight_bytes(&self) -> usize {
        1
    }

    fn bias(&self) -> &[i32] {
        &self.bias
    }

    fn bias_mut(&mut self) -> &mut [i32] {
        &mut self.bias
    }

    fn weight(&self, output: usize, input: usize) -> i16 {
        self.place(output, input).map_or(0, |at| self.weights[at].into())
    }

    /// Drops the weight of an input that the output does not see.
    fn set_weight(&mut self, output: usize, input: usize, weight: i16) {
        if let Some(at) = self.place(output, input) {
            self.weights[at] = weight.try_into().expect("a weight of eight bits");
        }
    }
}

/// The dense layers between a position's accumulators and its value.
#[derive(Clone)]
pub(super) struct Stack([Layer; 3]);

impl Stack {
    /// Layers of zeros.
    ///
    /// # Errors
    /// No memory.
    pub fn zeroed(shape: &Shape) -> Result<Stack, OutOfMemory> {
        let shards = match shape.head {
            HeadShape::Sfnn { shards, .. } => shards,
            _ => None,
        };
        let dense = shape.dense();
        Ok(Stack([
            Layer::zeroed(&dense[0], shards)?,
            Layer::zeroed(&dense[1], None)?,
            Layer::zeroed(&dense[2], None)?,
        ]))
    }

    pub fn layers(&self) -> impl Iterator<Item = &dyn Dense> {
        self.0.iter().map(|layer| layer as &dyn Dense)
    }

    pub fn layers_mut(&mut self) -> impl Iterator<Item = &mut dyn Dense> {
        self.0.iter_mut().map(|layer| layer as &mut dyn Dense)
    }

    /// The raw output; `squares` if the first hidden layer is clipped twice, once of them squared.
    ///
    /// # Safety
    /// The processor has the instructions of `S`, and the input is one for these layers.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub unsafe fn propagate<S: Simd>(&self, input: &SparseInput, squares: bool) -> i32 {
        let [first, second, output] = &self.0;
        let mut sums = [0; MOST];
        let mut bytes = [0; 2 * MOST];
        let mut shortcut = 0;
        // SAFETY: the caller's promise; all inputs of the second layer are live.
        unsafe {
            first.sums::<S>(&input.bytes, &input.live, &mut sums);
            let sums_of_first = &sums[..first.bias.len()];
            if squares {
                let n = second.inputs / 2;
                // a shortcut's bytes are overwritten or have no weights
                to_bytes(sums_of_first, squared, &mut bytes);
                to_bytes(sums_of_first, clipped, &mut bytes[n..]);
                if n < first.bias.len() {
                    shortcut = sums[n];
                }
            } else {
                to_bytes(sums_of_first, clipped, &mut bytes);
            }
            let inputs = second.inputs.next_multiple_of(4);
            let live = [u64::MAX >> (64 - inputs / 4)];
            second.sums::<S>(&bytes[..inputs], &live, &mut sums);
            to_bytes(&sums[..output.inputs], clipped, &mut bytes);
            S::dot(&bytes[..output.inputs], &output.weights)
                .wrapping_add(output.bias[0])
                .wrapping_add(shortcut)
        }
    }
}

/// Sums, a multiple of eight, as bytes: whole vectors at once.
#[inline(always)]
fn to_bytes(sums: &[i32], byte: impl Fn(i32) -> u8, bytes: &mut [u8]) {
    for (sums, bytes) in sums.as_chunks::<8>().0.iter().zip(bytes.as_chunks_mut::<8>().0) {
        for (&sum, to) in sums.iter().zip(bytes) {
            *to = byte(sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_see_the_common_inputs_and_their_shard() {
        let shape = DenseShape { inputs: 256, outputs: 8, weight_bytes: 1 };
        let shards = Shards { common: 128, size: 64, groups: 2 };
        let mut layer = Layer::zeroed(&shape, Some(shards)).unwrap();
        for (o, i) in (0..8).flat_map(|o| (0..256).map(move |i| (o, i))) {
            layer.set_weight(o, i, ((o * 31 + i) % 127) as i16);
        }
        for (o, i) in (0..8).flat_map(|o| (0..256).map(move |i| (o, i))) {
            let seen = i < 128 || (i < 192) == (o < 4);
            assert_eq!(layer.weight(o, i), if seen { ((o * 31 + i) % 127) as i16 } else { 0 });
        }
    }
}
