//! Game files: append-only blocks of games, about 2.5 bytes a position.
//!
//! All integers are little-endian. A file is one header and any number of blocks:
//!
//! ```text
//! header, 32 bytes   "toragame"  u32 version = 1  u32 CRC-32 of the other 28 bytes  u64 fingerprint  u64 0
//! block              u32 magic "TGB1"  u32 CRC-32 of all that follows in the block
//!                    u32 games  u32 scored plies  u32 payload bytes
//!                    payload = five columns, each: u32 plain bytes  u32 stored bytes  zstd frame
//! ```
//!
//! The columns hold the same fields of all games of the block side by side, because each field has its own
//! statistics and a column of like bytes compresses far better than interleaved records (zstd keeps one
//! entropy table a column):
//!
//! 1. *games*: per game varint id; byte `result | reason << 2 | packed start << 6`; with a packed start 32
//!    bytes of PackedSfen and a u16 ply; varint opening moves; varint scored plies
//! 2. *to*: per move (openings included) `to | promotion << 7`
//! 3. *from*: per move origin square, or dropped kind `| 128`
//! 4. *score*: per scored ply the zigzag varint of `score + previous score`. Scores are for the side to move,
//!    so the sum is how far the opponent's opinion differs, a small number
//! 5. *fit*: one bit per scored ply, each game starting on a new byte
//!
//! The fingerprint stands for the settings that made the games (network, options, version); files whose
//! fingerprints differ are not appended to by accident. Where games come together that may be of several
//! settings it is [`MIXED`], and they are numbered anew, so that a number occurs once. A block is valid only
//! when complete and its CRC matches, so a run killed while writing loses at most the unfinished block:
//! [`GameReader`] stops before it, and [`GameWriter::append`] cuts it off.

mod block;
mod column;
mod header;
mod reader;
mod writer;

pub use block::RawBlock;
pub use header::{HEADER_LEN, MIXED, VERSION};
pub use reader::GameReader;
pub use writer::GameWriter;

#[cfg(test)]
mod tests {
    use super::block::Block;
    use super::*;
    use crate::data::error::RecordError;
    use crate::data::game::{EndReason, GameRecord, GameResult, PlyRecord, Start};
    use crate::data::packed_sfen::PackedSfen;

    fn game(id: u64, n: usize) -> GameRecord {
        let mut x = id.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut rnd = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            (x >> 32) as u32
        };
        let start = if id.is_multiple_of(3) {
            Start::Packed(PackedSfen(std::array::from_fn(|_| rnd() as u8)), rnd() as u16)
        } else {
            Start::Startpos
        };
        let plies = (0..n)
            .map(|_| PlyRecord { mv: rnd() as u16, score: rnd() as i16, fit: rnd() & 1 == 0 })
            .collect();
        GameRecord {
            id,
            start,
            opening: (0..rnd() % 9).map(|_| rnd() as u16).collect(),
            plies,
            result: GameResult::from_bits((id % 3) as u8).unwrap(),
            reason: EndReason::ALL[id as usize % EndReason::ALL.len()],
        }
    }

    #[test]
    fn games_read_back_and_torn_tails_are_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.tgames");
        let games: Vec<_> = (0..40).map(|i| game(i * 1_000_003, i as usize * 5)).collect();
        let mut w = GameWriter::create(&path, 77).unwrap();
        let mut ends = vec![(HEADER_LEN, 0)];
        for (i, g) in games.iter().enumerate() {
            w.write(g).unwrap();
            if i % 7 == 6 {
                w.flush().unwrap();
                ends.push((w.bytes(), i + 1));
            }
        }
        ends.push((w.finish().unwrap(), games.len()));
        let read: Vec<_> = GameReader::open(&path).unwrap().map(|g| g.unwrap()).collect();
        assert_eq!(read, games);

        let bytes = std::fs::read(&path).unwrap();
        for cut in (HEADER_LEN as usize..bytes.len()).step_by(37) {
            let &(end, n) = ends.iter().rev().find(|(e, _)| *e <= cut as u64).unwrap();
            let mut r = GameReader::new(&bytes[..cut]).unwrap();
            assert_eq!(r.by_ref().map(|g| g.unwrap()).collect::<Vec<_>>(), games[..n]);
            assert_eq!(r.valid_len(), end);
            assert_eq!(r.problem().is_some(), end != cut as u64);

            std::fs::write(&path, &bytes[..cut]).unwrap();
            let mut seen = 0;
            let mut w = GameWriter::append(&path, 77, |_| seen += 1).unwrap();
            assert_eq!(seen, n);
            games[n..].iter().for_each(|g| w.write(g).unwrap());
            w.finish().unwrap();
            let again: Vec<_> = GameReader::open(&path).unwrap().map(|g| g.unwrap()).collect();
            assert_eq!(again, games);
        }
        let Err(RecordError::At { source, .. }) = GameWriter::append(&path, 78, |_| ()) else {
            panic!("another run's file was taken");
        };
        assert!(matches!(*source, RecordError::Fingerprint { found: 77, expected: 78 }));
    }

    #[test]
    fn damage_never_panics_and_never_yields_other_games() {
        let mut block = Block::default();
        let games: Vec<_> = (0..5).map(|i| game(i, 20)).collect();
        games.iter().for_each(|g| block.push(g));
        let mut bytes = header::bytes(1).to_vec();
        bytes.extend(block.take_bytes().unwrap());
        for at in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[at] ^= 0x41;
            if let Ok(r) = GameReader::new(&bad[..]) {
                assert_eq!(r.filter_map(Result::ok).count(), 0, "byte {at}");
            }
        }
    }
}
