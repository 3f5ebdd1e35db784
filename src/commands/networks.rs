//! The network of `--eval-file`.

use crate::engine::{LoadError, load_network};
use crate::nnue::Network;
use crate::support::console::note;
use std::path::Path;

/// As [`load_network`]; warnings go to standard error.
pub fn network(eval_dir: Option<&Path>) -> Result<Network, LoadError> {
    load_network(eval_dir, &mut |text| note!("warning: {text}"))
}
