//! Finding and reading the network that the user asked for: [`load_network`].

use super::options::INTERNAL;
use crate::nnue::{self, Network, NetworkError};
use std::path::{Path, PathBuf};

/// As [`load_network`], but errors go to `say`.
pub(super) fn read_network(dir: &Path, say: &mut dyn FnMut(&str)) -> Option<Network> {
    match load_network(Some(dir), say) {
        Ok(network) => Some(network),
        Err(e) => {
            say(&format!("EvalDir: {e}; the embedded network stays in use"));
            None
        }
    }
}

/// Which network cannot be loaded, and why.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum LoadError {
    /// Names the path itself.
    #[error(transparent)]
    Open(NetworkError),
    #[error("{}: {reason}", path.display())]
    Read { path: PathBuf, reason: NetworkError },
}

/// Reads the network of a directory (`DIR/nn.bin`, or `DIR` itself where that is a file), or the embedded one.
/// Warnings go to `say`.
pub fn load_network(dir: Option<&Path>, say: &mut dyn FnMut(&str)) -> Result<Network, LoadError> {
    let path = dir.unwrap_or(Path::new(INTERNAL));
    let failed = |reason| match reason {
        NetworkError::Open { .. } => LoadError::Open(reason),
        _ if path.is_dir() => LoadError::Read { path: path.join(nnue::file::FILE_NAME), reason },
        _ => LoadError::Read { path: path.into(), reason },
    };
    let Some(dir) = dir else { return Network::embedded().map_err(failed) };
    let (network, warnings) = Network::load(dir).map_err(failed)?;
    warnings.iter().for_each(|w| say(&format!("{}: {w}", dir.display())));
    Ok(network)
}
