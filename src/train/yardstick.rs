//! How good a static evaluation is, without a match: against the winners of games ([`Labelled`]) and against deep
//! searches ([`DeepLabels`]).

use super::batch::win_rate;
use super::loss::{Loss, SCORE_SCALE};
use crate::data::RecordError;
use crate::data::psv::PackedSfenValue;
use crate::data::read::each_record;
use crate::nnue::{Network, evaluate_from_scratch};
use crate::position::{Position, SfenError};
use crate::types::Move;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// A file of positions that cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum YardstickError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path}, line {line}: the third field should be a result: 1, 0 or -1")]
    Result { path: PathBuf, line: usize },
    #[error("{path}, line {line}: {source}")]
    Sfen { path: PathBuf, line: usize, source: SfenError },
    #[error("{path}: no position has a winner")]
    NoWinner { path: PathBuf },
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("{path}: no position to compare with")]
    Empty { path: PathBuf },
}

/// The static evaluation for the side to move, in `Value` units.
fn static_value(network: &Network, pos: &Position) -> i32 {
    evaluate_from_scratch(network, pos) / network.fv_scale()
}

/// A position of a game and how it went on.
pub struct Played {
    /// The position.
    pub position: Position,
    /// The move played there; `None` where the file has none that is legal.
    pub mv: Option<Move>,
    /// For the side to move: 1 win, 0 draw, -1 loss.
    pub result: i32,
    /// What the player thought of it, in centipawns for the side to move, if the file says so.
    pub eval: Option<i32>,
    /// Line in the file.
    pub line: usize,
}

/// Positions of games.
pub struct Labelled {
    /// In the order of the file; at least one has a winner.
    pub positions: Vec<Played>,
}

/// How well the winners of games were predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Named {
    /// How many; draws are left out.
    pub positions: usize,
    /// Share of the positions whose winner the sign of the evaluation names, and its standard error.
    pub share: f64,
    /// Of `share`.
    pub standard_error: f64,
    /// Mean of minus the logarithm of the winner's win rate, in nats, and its standard error.
    pub log_loss: f64,
    /// Of `log_loss`.
    pub log_loss_error: f64,
}

impl Labelled {
    /// Reads lines of fields separated by tabs: SFEN, move played, result for the side to move (1, 0, -1) and, if it is
    /// there, the player's own evaluation in centipawns. Lines that begin with `#` are skipped.
    ///
    /// # Errors
    /// [`YardstickError`] names the line.
    pub fn read(path: &Path) -> Result<Labelled, YardstickError> {
        let owned = || path.to_path_buf();
        let text =
            std::fs::read_to_string(path).map_err(|source| YardstickError::Io { path: owned(), source })?;
        let mut positions = Vec::new();
        for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.starts_with('#') && !l.trim().is_empty())
        {
            let fields: Vec<&str> = line.split('\t').collect();
            let result: i32 = fields
                .get(2)
                .and_then(|r| r.trim().parse().ok())
                .filter(|r| (-1..=1).contains(r))
                .ok_or_else(|| YardstickError::Result { path: owned(), line: i + 1 })?;
            let pos = Position::from_sfen(fields[0]).map_err(|source| YardstickError::Sfen {
                path: owned(),
                line: i + 1,
                source,
            })?;
            let mv = fields.get(1).and_then(|text| pos.parse_move(text.trim()).ok());
            let eval = fields.get(3).and_then(|e| e.trim().parse().ok());
            positions.push(Played { position: pos, mv, result, eval, line: i + 1 });
        }
        if positions.iter().all(|p| p.result == 0) {
            return Err(YardstickError::NoWinner { path: owned() });
        }
        Ok(Labelled { positions })
    }

    /// Asks a network who wins.
    pub fn name_winners(&self, network: &Network) -> Named {
        let won: Vec<&Played> = self.positions.iter().filter(|p| p.result != 0).collect();
        let n = won.len() as f64;
        let (mut named, mut loss, mut squares) = (0u32, 0.0, 0.0);
        for Played { position, result, .. } in &won {
            let value = static_value(network, position);
            named += u32::from((value > 0) == (*result > 0));
            let l = -f64::from(win_rate(value * result)).max(1e-9).ln();
            loss += l;
            squares += l * l;
        }
        let (share, mean) = (f64::from(named) / n, loss / n);
        Named {
            positions: won.len(),
            share,
            standard_error: (share * (1.0 - share) / n).sqrt(),
            log_loss: mean,
            log_loss_error: ((squares / n - mean * mean).max(0.0) / n).sqrt(),
        }
    }
}

/// Positions with the scores of deep searches, as `data label` makes them; packed, since a [`Position`] takes kilobytes.
pub struct DeepLabels {
    records: Vec<PackedSfenValue>,
}

/// How far the static win rate is from that of the labels, over some of the positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// Which positions.
    pub of: &'static str,
    /// How many.
    pub positions: usize,
    /// Root mean square difference of the win rates.
    pub rms: f64,
    /// Mean divergence of the evaluation's win rate from the label's, in nats.
    pub kl: f64,
}

impl DeepLabels {
    /// Reads PackedSfenValue records; an incomplete one at the end goes to `warn`.
    ///
    /// # Errors
    /// [`YardstickError`].
    pub fn read(path: &Path, warn: &mut dyn FnMut(String)) -> Result<DeepLabels, YardstickError> {
        let mut records = Vec::new();
        each_record(path, warn, |bytes| {
            let record = PackedSfenValue::from_bytes(bytes)?;
            position(&record)?;
            records.push(record);
            Ok(())
        })?;
        if records.is_empty() {
            return Err(YardstickError::Empty { path: path.to_path_buf() });
        }
        Ok(DeepLabels { records })
    }

    /// The distance over all positions, by phase of the game, and where the label is near even.
    pub fn distances(&self, network: &Network) -> Vec<Distance> {
        let value = |record| static_value(network, &position(record).expect("read once already"));
        let values: Vec<i32> = self.records.par_iter().map(value).collect();
        type Chooses = fn(u16, i16) -> bool;
        let groups: [(&'static str, Chooses); 6] = [
            ("all", |_, _| true),
            ("to ply 40", |ply, _| ply <= 40),
            ("plies 41-80", |ply, _| (41..=80).contains(&ply)),
            ("plies 81-120", |ply, _| (81..=120).contains(&ply)),
            ("from ply 121", |ply, _| ply > 120),
            ("label below 600", |_, score| score.unsigned_abs() < 600),
        ];
        groups
            .into_iter()
            .map(|(name, chooses)| {
                let mut loss = Loss::default();
                for (label, &value) in self.records.iter().zip(&values) {
                    if chooses(label.ply, label.score) {
                        loss.count(value as f32 / SCORE_SCALE, win_rate(i32::from(label.score)), 0.5);
                    }
                }
                Distance { of: name, positions: loss.samples as usize, rms: loss.rmse(), kl: loss.mean() }
            })
            .collect()
    }
}

fn position(record: &PackedSfenValue) -> Result<Position, RecordError> {
    record.sfen.position(u32::from(record.ply.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::PackedSfen;

    #[test]
    fn labels_are_read_whole_and_a_torn_end_is_told() {
        let network = Network::embedded().unwrap();
        let mut pos = Position::startpos();
        let mut bytes = Vec::new();
        for ply in [1, 60] {
            // the label is the static evaluation at ply 1, and far from it at ply 60
            let score = static_value(&network, &pos) as i16 + if ply == 1 { 0 } else { 600 };
            let record =
                PackedSfenValue { sfen: PackedSfen::of(&pos), score, mv: 0, ply, result: 0, padding: 0 };
            bytes.extend(record.to_bytes());
            pos.do_move(pos.legal_moves(false)[0].mv);
        }
        bytes.extend([0; 7]);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("labels.psv");
        std::fs::write(&path, &bytes).unwrap();
        let mut warnings = Vec::new();
        let labels = DeepLabels::read(&path, &mut |text| warnings.push(text)).unwrap();
        assert!(warnings.len() == 1 && warnings[0].ends_with("incomplete record at the end"), "{warnings:?}");
        let of = |distances: &[Distance], name: &str| {
            let d = distances.iter().find(|d| d.of == name).unwrap();
            (d.positions, d.rms)
        };
        let distances = labels.distances(&network);
        assert_eq!(of(&distances, "all").0, 2);
        assert!(of(&distances, "to ply 40").1 < 1e-4);
        let (n, rms) = of(&distances, "plies 41-80");
        assert!(n == 1 && rms > 0.15 && rms < 0.25, "{rms}");

        std::fs::write(&path, &bytes[80..]).unwrap();
        assert!(matches!(DeepLabels::read(&path, &mut |_| {}), Err(YardstickError::Empty { .. })));
        bytes[38] = 5;
        std::fs::write(&path, &bytes).unwrap();
        let told = DeepLabels::read(&path, &mut |_| {}).err().unwrap().to_string();
        assert!(told.contains("labels.psv: record 0: ") && told.contains("result"), "{told}");
    }
}
