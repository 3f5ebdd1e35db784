//! `toratsugumi data dedup`.

use super::inputs::{InOut, warn};
use crate::data::board::Board;
use crate::data::file::MIXED;
use crate::data::hcpe::HcpEval;
use crate::data::psv::PackedSfenValue;
use crate::data::read::{each_game, each_record};
use crate::data::{Format, GameReader, GameWriter, PackedSfen, RecordError};
use crate::resume::whole_file::WholeFile;
use crate::support::console::say;
use std::collections::HashSet;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Keep only the first occurrence of each position: later ones are dropped (.psv, .bin, .hcpe) or marked as
/// unfit for training (.games; those of several files are numbered anew)
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    files: InOut,
}

/// The positions seen so far.
#[derive(Default)]
struct Seen {
    hashes: HashSet<u64>,
    all: u64,
    kept: u64,
}

/// Runs `data dedup`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let format = Format::of(&args.files.output)?;
    args.files.check(false)?;
    let inputs = args.files.inputs_of(format)?;
    let mut seen = Seen::default();
    match format {
        Format::Games => games(&inputs, &args.files.output, &mut seen)?,
        Format::Psv => records::<{ PackedSfenValue::LEN }>(&inputs, &args.files.output, &mut seen)?,
        Format::Hcpe => records::<{ HcpEval::LEN }>(&inputs, &args.files.output, &mut seen)?,
    }
    say!("wrote {}: {} of {} positions", args.files.output.display(), seen.kept, seen.all)?;
    Ok(())
}

fn games(inputs: &[PathBuf], output: &Path, seen: &mut Seen) -> Result<(), RecordError> {
    // games of several files may have the same numbers
    let mixed = inputs.len() > 1;
    let fingerprint = if mixed { MIXED } else { GameReader::open(&inputs[0])?.fingerprint() };
    let mut writer = GameWriter::create_whole(output, fingerprint)?;
    let mut number = 0;
    for path in inputs {
        each_game(path, &mut warn, |mut game| {
            let mut fresh = Vec::with_capacity(game.plies.len());
            game.replay(|pos, ply, _| {
                let packed = PackedSfen::pack(&Board::of(pos));
                let hash = packed.map_or(pos.key(), |p| position_hash(&p.0));
                fresh.push(ply.fit && seen.hashes.insert(hash));
            })?;
            for (ply, fresh) in game.plies.iter_mut().zip(fresh) {
                seen.all += u64::from(ply.fit);
                seen.kept += u64::from(fresh);
                ply.fit = fresh;
            }
            if mixed {
                game.id = number;
                number += 1;
            }
            writer.write(&game)
        })?;
    }
    writer.finish().map(drop)
}

/// Both formats begin with the packed position.
fn records<const N: usize>(inputs: &[PathBuf], output: &Path, seen: &mut Seen) -> Result<(), RecordError> {
    let mut whole = WholeFile::create(output).map_err(RecordError::at(output))?;
    for path in inputs {
        each_record(path, &mut warn, |b: &[u8; N]| {
            seen.all += 1;
            if seen.hashes.insert(position_hash(&b[..32])) {
                seen.kept += 1;
                whole.write_all(b).map_err(RecordError::at(output))?;
            }
            Ok(())
        })?;
    }
    whole.finish().map_err(RecordError::at(output))
}

/// 64 bits of a position; two different positions of even 10^9 collide with probability below 3 %.
fn position_hash(packed: &[u8]) -> u64 {
    packed.as_chunks::<8>().0.iter().fold(0x2545_F491_4F6C_DD1D, |h: u64, c| {
        let h = (h ^ u64::from_le_bytes(*c)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        h ^ h >> 29
    })
}
