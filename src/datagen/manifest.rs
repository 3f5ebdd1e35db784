//! The settings that made a shard's games, and counts, as JSON beside them: [`Manifest`].

use super::error::ShardError;
use super::settings::DatagenSettings;
use super::shard::{RunSize, Shard};
use crate::data::psv::PackedSfenValue;
use crate::nnue::Network;
use crate::position::Position;
use crate::resume::{AtPath, ResumeError, identity, whole_file};
use crate::search::{Limits, SearchOptions, Searcher, Silent};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Everything that determines game `g`. Runs with equal identities make equal games; their shards may be
/// mixed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunIdentity {
    pub version: String,
    /// Nodes of a fixed search: it differs as soon as the search does, even between builds of one version.
    pub signature: u64,
    /// SHA-256 of the network in its file form.
    pub network: String,
    pub settings: DatagenSettings,
}

impl RunIdentity {
    /// # Errors
    /// When there is no memory for a search.
    pub fn new(network: &Arc<Network>, settings: &DatagenSettings) -> io::Result<RunIdentity> {
        Ok(RunIdentity {
            version: env!("CARGO_PKG_VERSION").to_string(),
            signature: signature(network)?,
            network: network.sha256()?,
            settings: settings.clone(),
        })
    }

    /// The identity as the number that game files carry.
    pub fn fingerprint(&self) -> u64 {
        let text = serde_json::to_vec(self).unwrap_or_default();
        let digest = Sha256::digest(text);
        digest.iter().take(8).fold(0, |n, &b| n << 8 | u64::from(b))
    }
}

/// The [`RunIdentity::signature`] of this build.
pub(super) fn signature(network: &Arc<Network>) -> io::Result<u64> {
    let mut searcher =
        Searcher::new(network.clone(), 1, SearchOptions::default()).map_err(io::Error::other)?;
    Ok(searcher.search(&Position::startpos(), &Limits::depth(9), &Silent).nodes)
}

/// Counts of a shard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GameCounts {
    pub games: u64,
    /// Scored plies.
    pub positions: u64,
    /// Positions fit for training.
    pub fit: u64,
    pub black_wins: u64,
    pub white_wins: u64,
    pub draws: u64,
    /// Games by the reason of their end.
    pub reasons: std::collections::BTreeMap<String, u64>,
}

/// The contents of `shard-I-of-N.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Hash of the identity, as in the game file's header.
    pub fingerprint: String,
    /// The settings that determine the games.
    pub identity: RunIdentity,
    /// Index of the shard, from 0.
    pub shard: u64,
    /// Number of shards of the run.
    pub shards: u64,
    /// The size of the whole run.
    pub target: RunSize,
    /// Whether all games of the shard are there.
    pub complete: bool,
    /// Bytes of the game file.
    pub bytes: u64,
    /// Bytes of the file of positions in trees that belong to those games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_bytes: Option<u64>,
    /// Wall-clock seconds spent, all runs together.
    pub seconds: f64,
    /// Counts of the games so far.
    pub counts: GameCounts,
}

impl Manifest {
    /// Positions inside the searches that were written beside the games.
    pub fn inside(&self) -> u64 {
        self.tree_bytes.unwrap_or(0) / PackedSfenValue::LEN as u64
    }

    /// Reads a manifest.
    pub fn read(path: &Path) -> Result<Manifest, ResumeError> {
        serde_json::from_slice(&std::fs::read(path).at(path)?).at(path)
    }

    /// Writes it whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ResumeError> {
        whole_file::write_json(path, self).at(path)
    }

    /// Refuses files of a complete shard whose lengths have changed.
    pub(super) fn check_files(self, games: &Path, psv: &Path) -> Result<Manifest, ShardError> {
        let files = [(games, Some(self.bytes)), (psv, self.tree_bytes)];
        for (path, expected) in files.into_iter().filter_map(|(path, bytes)| Some((path, bytes?))) {
            let found = std::fs::metadata(path).at(path)?.len();
            if found != expected {
                return Err(ShardError::Length { path: path.into(), found, expected });
            }
        }
        Ok(self)
    }

    /// Refuses a directory that holds shards of another run.
    ///
    /// # Errors
    /// [`ResumeError::OtherSettings`] and [`ShardError::Shards`] name the shard and what differs.
    pub(super) fn check_directory(
        dir: &Path,
        identity: &RunIdentity,
        shard: Shard,
    ) -> Result<(), ShardError> {
        for entry in std::fs::read_dir(dir).at(dir)? {
            let path = entry.at(dir)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !(name.starts_with("shard-") && name.ends_with(".json")) {
                continue;
            }
            let other = Manifest::read(&path)?;
            identity::check(&path, &other.identity, identity)?;
            if other.shards != shard.count {
                return Err(ShardError::Shards { path, there: other.shards, here: shard.count });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> RunIdentity {
        RunIdentity {
            version: "1".into(),
            signature: 5,
            network: "ab".into(),
            settings: DatagenSettings::default(),
        }
    }

    #[test]
    fn manifests_round_trip_and_refuse_other_settings() {
        let dir = tempfile::tempdir().unwrap();
        let ours = identity();
        let manifest = Manifest {
            fingerprint: format!("{:016x}", ours.fingerprint()),
            identity: ours.clone(),
            shard: 0,
            shards: 2,
            target: RunSize::Games(10),
            complete: false,
            bytes: 32,
            tree_bytes: None,
            seconds: 1.5,
            counts: GameCounts::default(),
        };
        let path = dir.path().join("shard-00000-of-00002.json");
        manifest.write(&path).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), manifest);
        let shard = Shard { index: 1, count: 2 };
        assert!(Manifest::check_directory(dir.path(), &ours, shard).is_ok());
        let other = RunIdentity {
            settings: DatagenSettings { nodes: 7, ..DatagenSettings::default() },
            ..identity()
        };
        assert_ne!(other.fingerprint(), ours.fingerprint());
        let error = Manifest::check_directory(dir.path(), &other, shard).unwrap_err().to_string();
        assert!(error.contains("settings.nodes was 5000, now 7"), "{error}");
        assert!(matches!(
            Manifest::check_directory(dir.path(), &ours, Shard { index: 1, count: 3 }),
            Err(ShardError::Shards { there: 2, here: 3, .. })
        ));
    }
}
