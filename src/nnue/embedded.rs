//! The network inside the binary, so that no file is needed to play.

use super::file::NetworkError;
use super::network::Network;

/// An `nn.bin` file, compressed by zstd. Made by `toratsugumi net pack`.
static FILE: &[u8] = include_bytes!("../../eval/default.nn.zst");

/// zstd's window for packing: the matches of a network's rows may lie far apart.
const WINDOW_LOG: u32 = 27;

impl Network {
    /// Unpacks the network that the binary brings along.
    ///
    /// # Errors
    /// Only if memory is short; the file itself is tested.
    pub fn embedded() -> Result<Network, NetworkError> {
        let mut reader = zstd::stream::read::Decoder::with_buffer(FILE).map_err(NetworkError::Io)?;
        reader.window_log_max(WINDOW_LOG).map_err(NetworkError::Io)?;
        let (network, _warnings) = Network::read(&mut reader, None)?;
        Ok(network)
    }

    /// Packs the network as the file to embed.
    pub fn pack(&self, to: &mut impl std::io::Write) -> std::io::Result<()> {
        let mut writer = zstd::stream::write::Encoder::new(to, 19)?;
        writer.long_distance_matching(true)?;
        writer.window_log(WINDOW_LOG)?;
        writer.include_checksum(true)?;
        self.write(&mut writer)?;
        writer.finish()?;
        Ok(())
    }
}
