//! [`DataSet`]: files of training records, divided into units that can be decoded in any order.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::features::Sample;
use super::scale;
use crate::data::hcpe::HcpEval;
use crate::data::psv::PackedSfenValue;
use crate::data::read::{count_records, fingerprint};
use crate::data::{self, EndReason, Format, GameReader, GameRecord, RecordError, TdLambda};
use crate::nnue::Progress;
use crate::types::Color;

/// Records of a fixed size that make one unit.
const RECORDS: u64 = 8192;

/// A part of a file that is decoded as a whole.
#[derive(Clone, Copy, Debug)]
struct Unit {
    file: u32,
    offset: u64,
    /// Records, for formats of fixed size.
    records: u32,
}

/// The score stands at the same place in both formats of fixed size.
fn score_of_record(record: &[u8]) -> i16 {
    i16::from_le_bytes([record[32], record[33]])
}

/// Which part of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// For steps.
    Training,
    /// For validation.
    Validation,
}

/// Which positions are used, and which of them for validation.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    /// Share of games set aside for validation; of units, for records without games.
    pub validation: f64,
    /// Positions with larger scores are left out.
    pub score_limit: i16,
    /// Scores beyond this, announced mates included, count as this.
    pub score_clip: Option<i16>,
    /// Targets computed from whole games instead of the search scores. Formats without games keep their
    /// scores.
    pub td: Option<TdLambda>,
}

/// Numbers of positions and games in a set.
pub struct SetCounts {
    /// By unit: positions for training and for validation.
    pub units: Vec<[u32; 2]>,
    /// Games.
    pub games: u64,
    /// Games whose end is unknown.
    pub unknown_ends: u64,
}

/// Files of training records.
pub struct DataSet {
    files: Vec<(PathBuf, Format)>,
    units: Vec<Unit>,
    selection: Selection,
    /// Computes the progress of positions.
    progress: Option<Arc<Progress>>,
}

/// Units that a fit of a few parameters reads from a large set, at most.
const UNITS: usize = 64;

impl DataSet {
    /// Opens files, and directories for the `.games`, `.psv`, `.bin` and `.hcpe` files in them, in order of
    /// names. (The `.part` of a run that was stopped must be named.)
    ///
    /// # Errors
    /// A file that cannot be read or is of no known kind. A damaged end of a game file is skipped and
    /// reported to `warn`.
    pub fn open(
        paths: &[PathBuf],
        selection: Selection,
        mut warn: impl FnMut(String),
    ) -> Result<DataSet, RecordError> {
        let files = data::files(paths)?;
        let mut units = Vec::new();
        for (i, (path, format)) in files.iter().enumerate() {
            let file = i as u32;
            match format {
                Format::Games => {
                    let mut reader = GameReader::open(path)?;
                    while let Some(offset) = reader.skip_block()? {
                        units.push(Unit { file, offset, records: 0 });
                    }
                    if let Some(problem) = reader.problem() {
                        warn(format!("{}: reading ends early: {problem}", path.display()));
                    }
                }
                Format::Psv | Format::Hcpe => {
                    let size = format.record_len().unwrap_or(1);
                    let records = count_records(path, size, &mut warn)?;
                    units.extend((0..records).step_by(RECORDS as usize).map(|first| Unit {
                        file,
                        offset: first * size as u64,
                        records: RECORDS.min(records - first) as u32,
                    }));
                }
            }
        }
        Ok(DataSet { files, units, selection, progress: None })
    }

    /// A hash of the files' content.
    pub fn fingerprint(&self) -> Result<u64, RecordError> {
        fingerprint(self.files.iter().map(|(path, _)| &**path))
    }

    /// Number of units.
    pub fn units(&self) -> usize {
        self.units.len()
    }

    /// Number of files.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// The win-rate scale of the search scores that fits the results of these games best, from a part of a
    /// large set. `None` if none fits.
    pub fn fit_score_scale(&self) -> Result<Option<f32>, RecordError> {
        let plain = DataSet {
            files: self.files.clone(),
            units: self.units.iter().step_by(self.units.len().div_ceil(UNITS).max(1)).copied().collect(),
            selection: Selection { validation: 0.0, td: None, ..self.selection },
            progress: None,
        };
        let pairs: Vec<Vec<(i16, i8)>> = (0..plain.units())
            .into_par_iter()
            .map(|i| {
                let mut samples = Vec::new();
                plain.read(i, Part::Training, &mut samples)?;
                Ok(samples.iter().map(|s| (s.score, s.result)).collect())
            })
            .collect::<Result<_, RecordError>>()?;
        Ok(scale::fit(&pairs.concat()))
    }

    /// Positions with the share of their games' plies that were over, from a part of a large set. Records without
    /// games are left out.
    pub fn progress_examples(&self) -> Result<Vec<(Sample, f32)>, RecordError> {
        let games = self.units.iter().filter(|unit| self.files[unit.file as usize].1 == Format::Games);
        let games: Vec<&Unit> = games.collect();
        let some = games.iter().step_by(games.len().div_ceil(UNITS).max(1)).collect::<Vec<_>>();
        let examples = some.into_par_iter().map(|unit| {
            let (path, _) = &self.files[unit.file as usize];
            let (mut samples, mut examples) = (Vec::new(), Vec::new());
            for game in GameReader::open(path)?.block_at(unit.offset)?.decode()? {
                if self.part(game.id) == Part::Training {
                    self.read_game(&game, &mut samples)?;
                    let first = game.start.position()?.game_ply() as f32;
                    let plies = (game.opening.len() + game.plies.len()) as f32;
                    examples.extend(samples.drain(..).map(|s| (s, (f32::from(s.ply) - first) / plies)));
                }
            }
            Ok(examples)
        });
        Ok(examples.collect::<Result<Vec<_>, RecordError>>()?.concat())
    }

    /// Computes the progress of all positions that are read.
    pub fn set_progress(&mut self, progress: Option<Arc<Progress>>) {
        self.progress = progress;
    }

    /// Sets the win-rate scale of the scores for targets from whole games.
    pub fn set_score_scale(&mut self, scale: f32) {
        if let Some(td) = &mut self.selection.td {
            td.scale = scale as f64;
        }
    }

    /// Counts positions and games without replaying games.
    pub fn count(&self) -> Result<SetCounts, RecordError> {
        let (games, unknown_ends) = (AtomicU64::new(0), AtomicU64::new(0));
        let units = self
            .units
            .par_iter()
            .map(|unit| {
                let (path, format) = &self.files[unit.file as usize];
                let mut counts = [0; 2];
                if let Some(size) = format.record_len() {
                    let bytes = self.bytes(unit, size)?;
                    let scores = bytes.chunks_exact(size).map(score_of_record);
                    counts[self.unit_part(unit) as usize] =
                        scores.filter(|&score| self.takes(score)).count() as u32;
                    return Ok(counts);
                }
                for mut game in GameReader::open(path)?.block_at(unit.offset)?.decode()? {
                    games.fetch_add(1, Relaxed);
                    unknown_ends.fetch_add(u64::from(game.reason == EndReason::Unknown), Relaxed);
                    if let Some(td) = &self.selection.td {
                        td.relabel(&mut game);
                    }
                    let fit = game.plies.iter().filter(|p| p.fit && self.takes(p.score)).count();
                    counts[self.part(game.id) as usize] += fit as u32;
                }
                Ok(counts)
            })
            .collect::<Result<_, RecordError>>()?;
        Ok(SetCounts { units, games: games.into_inner(), unknown_ends: unknown_ends.into_inner() })
    }

    /// Appends the positions of one part of unit `i`.
    pub fn read(&self, i: usize, part: Part, out: &mut Vec<Sample>) -> Result<(), RecordError> {
        let first = out.len();
        self.read_unit(i, part, out)?;
        if let Some(progress) = &self.progress {
            for sample in &mut out[first..] {
                sample.progress = progress.level_of([0, 1].map(|p| sample.seen(p, false)));
            }
        }
        Ok(())
    }

    fn read_unit(&self, i: usize, part: Part, out: &mut Vec<Sample>) -> Result<(), RecordError> {
        let unit = &self.units[i];
        let (path, format) = &self.files[unit.file as usize];
        match format {
            Format::Games => {
                for mut game in GameReader::open(path)?.block_at(unit.offset)?.decode()? {
                    if self.part(game.id) == part {
                        if let Some(td) = &self.selection.td {
                            td.relabel(&mut game);
                        }
                        self.read_game(&game, out)?;
                    }
                }
                Ok(())
            }
            _ if self.unit_part(unit) != part => Ok(()),
            Format::Psv => self.records(unit, |b: &[u8; PackedSfenValue::LEN]| {
                let r = PackedSfenValue::from_bytes(b)?;
                if self.takes(r.score) {
                    out.extend(Sample::new(&r.sfen.unpack()?, self.clip(r.score), r.ply, r.result));
                }
                Ok(())
            }),
            Format::Hcpe => self.records(unit, |b: &[u8; HcpEval::LEN]| {
                let r = HcpEval::from_bytes(b)?;
                if self.takes(r.eval) {
                    let board = r.hcp.unpack()?;
                    out.extend(Sample::new(&board, self.clip(r.eval), 0, r.result.sign(board.turn)));
                }
                Ok(())
            }),
        }
    }

    fn read_game(&self, game: &GameRecord, out: &mut Vec<Sample>) -> Result<(), RecordError> {
        let results = Color::ALL.map(|c| game.result.sign(c));
        game.replay(|pos, ply, _| {
            if ply.fit && self.takes(ply.score) {
                out.extend(Sample::of(pos, self.clip(ply.score), results[pos.side_to_move().index()]));
            }
        })
    }

    fn records<const N: usize>(
        &self,
        unit: &Unit,
        mut each: impl FnMut(&[u8; N]) -> Result<(), RecordError>,
    ) -> Result<(), RecordError> {
        self.bytes(unit, N)?.as_chunks::<N>().0.iter().try_for_each(&mut each)
    }

    /// The records of a unit, `size` bytes each.
    fn bytes(&self, unit: &Unit, size: usize) -> Result<Vec<u8>, RecordError> {
        let path = &self.files[unit.file as usize].0;
        let mut bytes = vec![0u8; unit.records as usize * size];
        let mut file = File::open(path).map_err(RecordError::at(path))?;
        file.seek(SeekFrom::Start(unit.offset)).map_err(RecordError::at(path))?;
        file.read_exact(&mut bytes).map_err(RecordError::at(path))?;
        Ok(bytes)
    }

    fn clip(&self, score: i16) -> i16 {
        self.selection.score_clip.map_or(score, |bound| score.clamp(-bound, bound))
    }

    fn takes(&self, score: i16) -> bool {
        self.clip(score).unsigned_abs() <= self.selection.score_limit.unsigned_abs()
    }

    fn unit_part(&self, unit: &Unit) -> Part {
        self.part(unit.offset ^ (unit.file as u64) << 48)
    }

    /// The part that a game or unit belongs to. It depends on `name` only, not on the rest of the set.
    fn part(&self, name: u64) -> Part {
        let mut rng = crate::support::random::Rng::for_stream(0x7661_6c69, name);
        if rng.chance(self.selection.validation) { Part::Validation } else { Part::Training }
    }
}
