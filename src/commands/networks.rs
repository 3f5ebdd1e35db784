//! The network that a command works with.

use crate::console::note;
use crate::nnue::{Network, NetworkError};
use std::error::Error;
use std::path::Path;

/// The network of a file, or of a directory with an nn.bin; the embedded one if there is no path. Warnings go to standard
/// error.
pub fn network(eval_dir: Option<&Path>) -> Result<Network, Box<dyn Error>> {
    let Some(path) = eval_dir else {
        return Ok(Network::embedded()?);
    };
    let (network, warnings) = Network::load(path).map_err(|e| match e {
        NetworkError::Open { .. } => e.to_string(),
        _ => format!("{}: {e}", path.display()),
    })?;
    warnings.iter().for_each(|w| note!("warning: {w}"));
    Ok(network)
}
