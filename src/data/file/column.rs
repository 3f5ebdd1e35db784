//! The numbers in a block's columns: bytes, variable-length and zigzag integers.

/// Appends `v`, seven bits a byte, the lowest first; the highest bit is set if more follow.
pub(super) fn put_varint(out: &mut Vec<u8>, mut v: u64) {
    while v >= 0x80 {
        out.push(v as u8 | 0x80);
        v >>= 7;
    }
    out.push(v as u8);
}

/// Signed numbers so that small ones of either sign are small.
pub(super) fn zigzag(v: i32) -> u64 {
    ((v << 1) ^ (v >> 31)) as u32 as u64
}

/// The inverse of [`zigzag`].
pub(super) fn unzigzag(v: u64) -> i32 {
    ((v >> 1) as i32) ^ -((v & 1) as i32)
}

/// A cursor over one decompressed column.
pub(super) struct Column {
    pub(super) bytes: Vec<u8>,
    pub(super) at: usize,
}

impl Column {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let b = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(b)
    }

    pub(super) fn take(&mut self, n: usize) -> Option<&[u8]> {
        let s = self.bytes.get(self.at..self.at.checked_add(n)?)?;
        self.at += n;
        Some(s)
    }

    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut v = 0u64;
        for shift in (0..64).step_by(7) {
            let b = self.byte()?;
            v |= ((b & 0x7f) as u64) << shift;
            if b & 0x80 == 0 {
                return Some(v);
            }
        }
        None
    }

    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }
}
