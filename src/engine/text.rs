//! Text whose encoding is not declared: lines of the protocol, option files.

use std::borrow::Cow;

/// The text of these bytes: UTF-8 where they are that, else CP932 (Windows' Shift_JIS, in which Japanese GUIs send paths;
/// needs the feature `cli`), else UTF-8 with replacement characters.
pub fn decode_text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        #[cfg(feature = "cli")]
        Err(_) => encoding_rs::SHIFT_JIS
            .decode_without_bom_handling_and_without_replacement(bytes)
            .unwrap_or_else(|| String::from_utf8_lossy(bytes)),
        #[cfg(not(feature = "cli"))]
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
