//! The 256 bits of a packed position.

use super::error::RecordError;

/// 256 bits, the lowest bit of the first byte first.
pub(super) struct BitWriter {
    bits: [u8; 32],
    at: usize,
}

impl BitWriter {
    pub(super) fn new() -> BitWriter {
        BitWriter { bits: [0; 32], at: 0 }
    }

    /// Appends the low `n` bits of `code`; what does not fit is counted and dropped.
    pub(super) fn put(&mut self, code: u32, n: usize) {
        for i in 0..n {
            if self.at < 256 {
                self.bits[self.at >> 3] |= ((code >> i & 1) as u8) << (self.at & 7);
            }
            self.at += 1;
        }
    }

    /// The bits, when exactly 256 were written.
    pub(super) fn finish(self) -> Result<[u8; 32], RecordError> {
        if self.at == 256 {
            Ok(self.bits)
        } else {
            Err(RecordError::Packed("the position does not fill exactly 256 bits"))
        }
    }
}

pub(super) struct BitReader<'a> {
    bits: &'a [u8; 32],
    at: usize,
}

impl<'a> BitReader<'a> {
    pub(super) fn new(bits: &'a [u8; 32]) -> BitReader<'a> {
        BitReader { bits, at: 0 }
    }

    pub(super) fn left(&self) -> usize {
        256 - self.at
    }

    /// The next `n` bits (at most 8) as a number, without consuming them; bits past the end read as 0.
    pub(super) fn peek(&self, n: usize) -> u32 {
        let byte = |i: usize| u32::from(self.bits.get(i).copied().unwrap_or(0));
        let word = byte(self.at >> 3) | byte((self.at >> 3) + 1) << 8;
        word >> (self.at & 7) & ((1 << n) - 1)
    }

    pub(super) fn take(&mut self, n: usize) -> Result<u32, RecordError> {
        if n > self.left() {
            return Err(RecordError::Packed("the bits end early"));
        }
        let v = self.peek(n);
        self.at += n;
        Ok(v)
    }
}
