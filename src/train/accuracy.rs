//! The accuracy of static evaluations, without a match: compared with the winners of games
//! ([`LabelledGames`]) and with deep searches ([`DeepLabels`]).

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

/// Why a file of positions cannot be used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum AccuracyError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path}, line {line}: the third field must be a result: 1, 0 or -1")]
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

/// A position of a game with the move played and the result.
pub struct LabelledPosition {
    /// The position.
    pub position: Position,
    /// The move played; `None` where the file has no legal one.
    pub mv: Option<Move>,
    /// For the side to move: 1 win, 0 draw, -1 loss.
    pub result: i32,
    /// The player's own evaluation, in centipawns for the side to move, if the file has it.
    pub eval: Option<i32>,
    /// Line in the file.
    pub line: usize,
}

/// Positions of games with known results.
pub struct LabelledGames {
    /// In the order of the file; at least one has a winner.
    pub positions: Vec<LabelledPosition>,
}

/// How well the winners of games were predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WinnerAccuracy {
    /// Number of positions; draws are left out.
    pub positions: usize,
    /// Share of the positions in which the sign of the evaluation predicts the winner.
    pub share: f64,
    /// Standard error of `share`.
    pub standard_error: f64,
    /// Mean negative logarithm of the winner's win rate, in nats.
    pub log_loss: f64,
    /// Standard error of `log_loss`.
    pub log_loss_error: f64,
}

impl LabelledGames {
    /// Reads lines of fields separated by tabs: SFEN, move played, result for the side to move (1, 0, -1)
    /// and, optionally, the player's own evaluation in centipawns. Lines that start with `#` are skipped.
    pub fn read(path: &Path) -> Result<LabelledGames, AccuracyError> {
        let owned = || path.to_path_buf();
        let text =
            std::fs::read_to_string(path).map_err(|source| AccuracyError::Io { path: owned(), source })?;
        let mut positions = Vec::new();
        for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.starts_with('#') && !l.trim().is_empty())
        {
            let fields: Vec<&str> = line.split('\t').collect();
            let result: i32 = fields
                .get(2)
                .and_then(|r| r.trim().parse().ok())
                .filter(|r| (-1..=1).contains(r))
                .ok_or_else(|| AccuracyError::Result { path: owned(), line: i + 1 })?;
            let pos = Position::from_sfen(fields[0]).map_err(|source| AccuracyError::Sfen {
                path: owned(),
                line: i + 1,
                source,
            })?;
            let mv = fields.get(1).and_then(|text| pos.parse_move(text.trim()).ok());
            let eval = fields.get(3).and_then(|e| e.trim().parse().ok());
            positions.push(LabelledPosition { position: pos, mv, result, eval, line: i + 1 });
        }
        if positions.iter().all(|p| p.result == 0) {
            return Err(AccuracyError::NoWinner { path: owned() });
        }
        Ok(LabelledGames { positions })
    }

    /// How well a network's evaluations predict the winners.
    pub fn winner_accuracy(&self, network: &Network) -> WinnerAccuracy {
        let won: Vec<&LabelledPosition> = self.positions.iter().filter(|p| p.result != 0).collect();
        let n = won.len() as f64;
        let (mut predicted, mut loss, mut squares) = (0u32, 0.0, 0.0);
        for LabelledPosition { position, result, .. } in &won {
            let value = static_value(network, position);
            predicted += u32::from((value > 0) == (*result > 0));
            let l = -f64::from(win_rate(value * result)).max(1e-9).ln();
            loss += l;
            squares += l * l;
        }
        let (share, mean) = (f64::from(predicted) / n, loss / n);
        WinnerAccuracy {
            positions: won.len(),
            share,
            standard_error: (share * (1.0 - share) / n).sqrt(),
            log_loss: mean,
            log_loss_error: ((squares / n - mean * mean).max(0.0) / n).sqrt(),
        }
    }
}

/// Positions with the scores of deep searches, as `data label` makes them. They stay packed, because a
/// [`Position`] takes kilobytes.
pub struct DeepLabels {
    records: Vec<PackedSfenValue>,
}

/// Distance of the static win rate from the labels' over a group of positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// Name of the group.
    pub of: &'static str,
    /// Number of positions.
    pub positions: usize,
    /// Root mean square difference of the win rates.
    pub rms: f64,
    /// Mean divergence of the evaluation's win rate from the label's, in nats.
    pub kl: f64,
}

impl DeepLabels {
    /// Reads PackedSfenValue records; an incomplete one at the end goes to `warn`.
    pub fn read(path: &Path, warn: &mut dyn FnMut(String)) -> Result<DeepLabels, AccuracyError> {
        let mut records = Vec::new();
        each_record(path, warn, |bytes| {
            let record = PackedSfenValue::from_bytes(bytes)?;
            position(&record)?;
            records.push(record);
            Ok(())
        })?;
        if records.is_empty() {
            return Err(AccuracyError::Empty { path: path.to_path_buf() });
        }
        Ok(DeepLabels { records })
    }

    /// The distances over all positions, by phase of the game, and over positions with labels near 0.
    pub fn distances(&self, network: &Network) -> Vec<Distance> {
        let value = |record| static_value(network, &position(record).expect("checked when it was read"));
        let values: Vec<i32> = self.records.par_iter().map(value).collect();
        type Filter = fn(u16, i16) -> bool;
        let groups: [(&'static str, Filter); 6] = [
            ("all", |_, _| true),
            ("to ply 40", |ply, _| ply <= 40),
            ("plies 41-80", |ply, _| (41..=80).contains(&ply)),
            ("plies 81-120", |ply, _| (81..=120).contains(&ply)),
            ("from ply 121", |ply, _| ply > 120),
            ("label below 600", |_, score| score.unsigned_abs() < 600),
        ];
        groups
            .into_iter()
            .map(|(name, selects)| {
                let mut loss = Loss::default();
                for (label, &value) in self.records.iter().zip(&values) {
                    if selects(label.ply, label.score) {
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
    fn labels_are_read_and_a_torn_record_is_reported() {
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
        assert!(matches!(DeepLabels::read(&path, &mut |_| {}), Err(AccuracyError::Empty { .. })));
        bytes[38] = 5;
        std::fs::write(&path, &bytes).unwrap();
        let error = DeepLabels::read(&path, &mut |_| {}).err().unwrap().to_string();
        assert!(error.contains("labels.psv: record 0: ") && error.contains("result"), "{error}");
    }
}
