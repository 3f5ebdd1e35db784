//! Text whose encoding is not declared: lines of the protocol, option files.

use std::borrow::Cow;

/// The text of these bytes: UTF-8 where they are that, else CP932 (Windows' Shift_JIS, in which Japanese GUIs send paths;
/// needs the feature `cli`). Else they are of Windows' Western code page or damaged: a no-break space (0xA0) becomes
/// a space, and what is not UTF-8 then a replacement character.
pub fn decode_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    #[cfg(feature = "cli")]
    if let Some(text) = encoding_rs::SHIFT_JIS.decode_without_bom_handling_and_without_replacement(bytes) {
        return text;
    }
    let spaced: Vec<u8> = bytes.iter().map(|b| if *b == 0xa0 { b' ' } else { *b }).collect();
    String::from_utf8_lossy(&spaced).into_owned().into()
}
