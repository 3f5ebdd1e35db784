//! hcpe, 38 bytes: the record of dlshogi and Apery.

use super::error::RecordError;
use super::game::GameResult;
use super::hcp::HuffmanCodedPos;

/// One position with its evaluation, move and game result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HcpEval {
    /// The position, Huffman-coded as Apery does it.
    pub hcp: HuffmanCodedPos,
    /// For the side to move.
    pub eval: i16,
    /// Apery's 16 bits, see [`from_apery_move`](super::hcp::from_apery_move).
    pub mv: u16,
    /// Of the whole game.
    pub result: GameResult,
    /// Written as 0 by us; kept when records pass through.
    pub padding: u8,
}

impl HcpEval {
    /// Bytes of a record.
    pub const LEN: usize = 38;

    /// The record as it stands in a file.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut b = [0; Self::LEN];
        b[..32].copy_from_slice(&self.hcp.0);
        b[32..34].copy_from_slice(&self.eval.to_le_bytes());
        b[34..36].copy_from_slice(&self.mv.to_le_bytes());
        b[36] = self.result as u8;
        b[37] = self.padding;
        b
    }

    /// # Errors
    /// An unknown result (which shows that the bytes are something else).
    pub fn from_bytes(b: &[u8; Self::LEN]) -> Result<HcpEval, RecordError> {
        Ok(HcpEval {
            hcp: HuffmanCodedPos(b[..32].try_into().expect("32 bytes")),
            eval: i16::from_le_bytes([b[32], b[33]]),
            mv: u16::from_le_bytes([b[34], b[35]]),
            result: GameResult::from_bits(b[36]).ok_or(RecordError::Packed("an unknown game result"))?,
            padding: b[37],
        })
    }
}
