//! What made the games of a shard, as JSON beside them: [`Manifest`].

use super::settings::Settings;
use super::shard::Shard;
use crate::data::psv::PackedSfenValue;
use crate::nnue::Network;
use crate::position::Position;
use crate::resume::whole_file;
use crate::search::{Limits, SearchOptions, Searcher, Silent};
use crate::support::console::differences;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that decides what game `g` is. Runs with equal identities make equal games; their shards mix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    pub version: String,
    /// Nodes of a fixed search: it differs as soon as the search does, even between builds of one version.
    pub signature: u64,
    /// SHA-256 of the network in its file form.
    pub network: String,
    pub settings: Settings,
}

impl Identity {
    /// # Errors
    /// When there is no memory for a search.
    pub fn new(network: &Arc<Network>, settings: &Settings) -> io::Result<Identity> {
        Ok(Identity {
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

/// What [`Identity::signature`] is with this build.
///
/// # Errors
/// When there is no memory for a search.
pub(super) fn signature(network: &Arc<Network>) -> io::Result<u64> {
    let mut searcher =
        Searcher::new(network.clone(), 1, SearchOptions::default()).map_err(io::Error::other)?;
    Ok(searcher.search(&Position::startpos(), &Limits::depth(9), &Silent).nodes)
}

/// When a shard is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Games of the whole run, all shards.
    Games(u64),
    /// Positions of the whole run; every shard makes its part and ends with the game that reaches it.
    Positions(u64),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Games(n) => write!(f, "{n} games"),
            Target::Positions(n) => write!(f, "{n} positions"),
        }
    }
}

/// Counts of a shard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
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
    /// Of what decides the games, as the game file's header has it.
    pub fingerprint: String,
    /// What decides the games.
    pub identity: Identity,
    /// Which part of the run, from 0.
    pub shard: u64,
    /// Into how many parts the run is divided.
    pub shards: u64,
    /// The size of the whole run.
    pub target: Target,
    /// Whether all games of the shard are there.
    pub complete: bool,
    /// Bytes of the game file.
    pub bytes: u64,
    /// Bytes of the file of positions in trees that belong to those games.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_bytes: Option<u64>,
    /// Wall-clock seconds spent, all runs together.
    pub seconds: f64,
    /// What the games so far add up to.
    pub counts: Counts,
}

/// Why games may not go into a directory.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path}: not a manifest ({source})")]
    Format { path: PathBuf, source: serde_json::Error },
    #[error("{path} was made with other settings ({differences}); use another directory")]
    Other { path: PathBuf, differences: String },
    #[error(
        "{path} has {found} bytes, and its manifest tells of {expected}; remove the shard's files to make it again"
    )]
    Length { path: PathBuf, found: u64, expected: u64 },
    #[error("{path} belongs to a run of {there} shards, this one has {here}; use another directory")]
    Shards { path: PathBuf, there: u64, here: u64 },
}

impl Manifest {
    /// Positions inside the searches that were written beside the games.
    pub fn inside(&self) -> u64 {
        self.tree_bytes.unwrap_or(0) / PackedSfenValue::LEN as u64
    }

    /// Reads a manifest.
    pub fn read(path: &Path) -> Result<Manifest, ManifestError> {
        let path = path.to_path_buf();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(source) => return Err(ManifestError::Io { path, source }),
        };
        serde_json::from_slice(&bytes).map_err(|source| ManifestError::Format { path, source })
    }

    /// Writes it whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ManifestError> {
        let fail = |source| ManifestError::Io { path: path.to_path_buf(), source };
        let mut text = serde_json::to_vec_pretty(self).map_err(|e| fail(e.into()))?;
        text.push(b'\n');
        whole_file::write(path, text).map_err(fail)
    }

    /// Refuses files of a complete shard that are not as long as they were.
    pub fn check_files(self, games: &Path, psv: &Path) -> Result<Manifest, ManifestError> {
        let files = [(games, Some(self.bytes)), (psv, self.tree_bytes)];
        for (path, expected) in files.into_iter().filter_map(|(path, bytes)| Some((path, bytes?))) {
            let path = path.to_path_buf();
            match std::fs::metadata(&path) {
                Err(source) => return Err(ManifestError::Io { path, source }),
                Ok(m) if m.len() != expected => {
                    return Err(ManifestError::Length { path, found: m.len(), expected });
                }
                Ok(_) => {}
            }
        }
        Ok(self)
    }

    /// Refuses a directory that holds shards of another run.
    ///
    /// # Errors
    /// `ManifestError::Other` or `ManifestError::Shards` name the shard and what differs.
    pub fn check_directory(dir: &Path, identity: &Identity, shard: Shard) -> Result<(), ManifestError> {
        let fail = |source| ManifestError::Io { path: dir.to_path_buf(), source };
        for entry in std::fs::read_dir(dir).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if !(name.starts_with("shard-") && name.ends_with(".json")) {
                continue;
            }
            let other = Manifest::read(&path)?;
            if other.identity != *identity {
                let differences = differences(identity, &other.identity);
                return Err(ManifestError::Other { path, differences });
            }
            if other.shards != shard.count {
                return Err(ManifestError::Shards { path, there: other.shards, here: shard.count });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity { version: "1".into(), signature: 5, network: "ab".into(), settings: Settings::default() }
    }

    #[test]
    fn manifests_read_back_and_refuse_what_differs() {
        let dir = tempfile::tempdir().unwrap();
        let ours = identity();
        let manifest = Manifest {
            fingerprint: format!("{:016x}", ours.fingerprint()),
            identity: ours.clone(),
            shard: 0,
            shards: 2,
            target: Target::Games(10),
            complete: false,
            bytes: 32,
            tree_bytes: None,
            seconds: 1.5,
            counts: Counts::default(),
        };
        let path = dir.path().join("shard-00000-of-00002.json");
        manifest.write(&path).unwrap();
        assert_eq!(Manifest::read(&path).unwrap(), manifest);
        let shard = Shard { index: 1, count: 2 };
        assert!(Manifest::check_directory(dir.path(), &ours, shard).is_ok());
        let other = Identity { settings: Settings { nodes: 7, ..Settings::default() }, ..identity() };
        assert_ne!(other.fingerprint(), ours.fingerprint());
        let error = Manifest::check_directory(dir.path(), &other, shard).unwrap_err().to_string();
        assert!(error.contains("nodes 7 here, 5000 there"), "{error}");
        assert!(matches!(
            Manifest::check_directory(dir.path(), &ours, Shard { index: 1, count: 3 }),
            Err(ManifestError::Shards { there: 2, here: 3, .. })
        ));
    }
}
