//! The network inside the binary, so that no file is needed to play.

use super::file::NetworkError;
use super::network::Network;

/// Made by `toratsugumi net pack`.
static FILE: &[u8] = include_bytes!("../../eval/default.nn.zst");

impl Network {
    /// Unpacks the network that the binary brings along.
    ///
    /// # Errors
    /// Only if memory is short; the file itself is tested.
    pub fn embedded() -> Result<Network, NetworkError> {
        Network::unpack(FILE)
    }
}
