//! Reading files of training records from end to end.

use super::error::RecordError;
use super::file::GameReader;
use super::format::Format;
use super::game::GameRecord;
use super::hcpe::HcpEval;
use super::psv::PackedSfenValue;
use super::scored::{Plies, Scored};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

/// A number for the content of files: hash of their lengths and first bytes.
pub fn fingerprint<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<u64, RecordError> {
    let mut crc = crc32fast::Hasher::new();
    let mut total = 0u64;
    for path in files {
        let mut head = Vec::new();
        let file = File::open(path).map_err(RecordError::at(path))?;
        total += file.metadata().map_err(RecordError::at(path))?.len();
        file.take(4096).read_to_end(&mut head).map_err(RecordError::at(path))?;
        crc.update(&head);
    }
    Ok((crc.finalize() as u64) << 32 | total & 0xffff_ffff)
}

/// Calls `each` with every game of a file; a damaged end goes to `warn`.
pub fn each_game(
    path: &Path,
    warn: &mut dyn FnMut(String),
    mut each: impl FnMut(GameRecord) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let mut reader = GameReader::open(path)?;
    for game in reader.by_ref() {
        each(game?).map_err(RecordError::at(path))?;
    }
    if let Some(problem) = reader.problem() {
        warn(format!("{}: reading ends early: {problem}", path.display()));
    }
    Ok(())
}

/// How many records of `size` bytes a file has; an incomplete one at the end goes to `warn`.
pub fn count_records(path: &Path, size: usize, warn: &mut dyn FnMut(String)) -> Result<u64, RecordError> {
    let len = std::fs::metadata(path).map_err(RecordError::at(path))?.len();
    if len % size as u64 != 0 {
        warn(format!("{}: an incomplete record at the end", path.display()));
    }
    Ok(len / size as u64)
}

/// Calls `each` with every record of fixed size `N`; an incomplete one at the end goes to `warn`.
///
/// # Errors
/// They name the file and the number of the record.
pub fn each_record<const N: usize>(
    path: &Path,
    warn: &mut dyn FnMut(String),
    mut each: impl FnMut(&[u8; N]) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let count = count_records(path, N, warn)?;
    let mut input = BufReader::with_capacity(1 << 20, File::open(path).map_err(RecordError::at(path))?);
    let mut record = [0; N];
    for index in 0..count {
        input.read_exact(&mut record).map_err(RecordError::at(path))?;
        each(&record).map_err(|e| RecordError::at(path)(RecordError::in_record(index, e)))?;
    }
    Ok(())
}

/// Calls `each` with every position of a file of any format; of games, after `relabel` has changed them, with
/// those that `plies` selects.
///
/// # Errors
/// They name the file and the place in it.
pub fn each_position(
    path: &Path,
    plies: Plies,
    warn: &mut dyn FnMut(String),
    relabel: impl Fn(&mut GameRecord),
    mut each: impl FnMut(Scored) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    match Format::of(path)? {
        Format::Games => each_game(path, warn, |mut game| {
            relabel(&mut game);
            Scored::each_of_game(&game, plies, &mut each)
        }),
        Format::Psv => each_record(path, warn, |b| each(Scored::try_from(&PackedSfenValue::from_bytes(b)?)?)),
        Format::Hcpe => each_record(path, warn, |b| each(Scored::try_from(&HcpEval::from_bytes(b)?)?)),
    }
}
