//! The network embedded in the binary.

use super::network::Network;
use super::reader::NetworkError;

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
