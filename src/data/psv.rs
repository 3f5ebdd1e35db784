//! PackedSfenValue, 40 bytes: the record of YaneuraOu, tanuki-, nodchip's nnue-pytorch and others (`.bin`,
//! `.psv`).

use super::error::RecordError;
use super::packed_sfen::PackedSfen;

/// One position with its score, move and game result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedSfenValue {
    /// The position, Huffman-coded as YaneuraOu does it.
    pub sfen: PackedSfen,
    /// For the side to move, in `Value` units.
    pub score: i16,
    /// The move played, as [`Move::raw16`](crate::types::Move::raw16); 0 for none, as
    /// for a position inside a search whose moves all failed low.
    pub mv: u16,
    /// The game's ply, from 1.
    pub ply: u16,
    /// For the side to move: 1 win, 0 draw, -1 loss.
    pub result: i8,
    /// Written as 0 by us; kept when records pass through.
    pub padding: u8,
}

impl PackedSfenValue {
    /// Bytes of a record.
    pub const LEN: usize = 40;

    /// The record as it stands in a file.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut b = [0; Self::LEN];
        b[..32].copy_from_slice(&self.sfen.0);
        b[32..34].copy_from_slice(&self.score.to_le_bytes());
        b[34..36].copy_from_slice(&self.mv.to_le_bytes());
        b[36..38].copy_from_slice(&self.ply.to_le_bytes());
        b[38] = self.result as u8;
        b[39] = self.padding;
        b
    }

    /// # Errors
    /// A result other than -1, 0, 1 (which shows that the bytes are something else).
    pub fn from_bytes(b: &[u8; Self::LEN]) -> Result<PackedSfenValue, RecordError> {
        let result = b[38] as i8;
        if !(-1..=1).contains(&result) {
            return Err(RecordError::Packed("a game result other than -1, 0 and 1"));
        }
        Ok(PackedSfenValue {
            sfen: PackedSfen(b[..32].try_into().expect("32 bytes")),
            score: i16::from_le_bytes([b[32], b[33]]),
            mv: u16::from_le_bytes([b[34], b[35]]),
            ply: u16::from_le_bytes([b[36], b[37]]),
            result,
            padding: b[39],
        })
    }
}
