//! The network embedded in the binary.

use super::file::NetworkError;
use super::network::Network;

/// Made by `toratsugumi net pack`.
static FILE: &[u8] = include_bytes!("../../eval/default.nn.zst");

impl Network {
    /// Unpacks the embedded network.
    ///
    /// # Errors
    /// No memory; the file itself is tested.
    pub fn embedded() -> Result<Network, NetworkError> {
        Network::unpack(FILE)
    }
}
