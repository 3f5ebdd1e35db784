//! Which characters a file's bytes are: UTF-8, Shift_JIS or EUC-JP.

use encoding_rs::{EUC_JP, Encoding, SHIFT_JIS, UTF_8};

/// The text of a file. A byte order mark and a line `'CSA encoding=...` or `#KIF ... encoding=...` decide; without
/// them the encoding in which the bytes are well-formed, and of several the one with the most likely characters.
/// Bytes that fit nowhere become U+FFFD.
pub fn decode(bytes: &[u8]) -> (String, &'static Encoding) {
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return (encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned(), encoding);
    }
    let well_formed = |encoding: &'static Encoding| {
        encoding
            .decode_without_bom_handling_and_without_replacement(bytes)
            .map(|text| (text.into_owned(), encoding))
    };
    // a declaration that the bytes belie is as good as none
    if let Some(found) = declared(bytes).and_then(well_formed).or_else(|| well_formed(UTF_8)) {
        return found;
    }
    [SHIFT_JIS, EUC_JP]
        .into_iter()
        .filter_map(well_formed)
        .min_by_key(|(text, _)| unlikely(text))
        .unwrap_or_else(|| (String::from_utf8_lossy(bytes).into_owned(), UTF_8))
}

/// The encoding that the first line names.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let line = bytes.split(|b| *b == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let (_, label) = line.strip_prefix(['\'', '#'])?.split_once("encoding=")?;
    Encoding::for_label(label.trim().as_bytes())
}

/// Characters that Japanese text hardly has, but that a wrong decoding is full of.
fn unlikely(text: &str) -> usize {
    text.chars()
        .filter(|c| matches!(c, '\u{ff61}'..='\u{ff9f}' | '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}'))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn japanese_text_is_recognised_in_any_encoding() {
        let text = "N+羽生善治\nN-谷川浩司\n'第１局、東京・将棋会館\nPI\n+\n+7776FU\n";
        for encoding in [UTF_8, SHIFT_JIS, EUC_JP] {
            let bytes = encoding.encode(text).0;
            assert_eq!(decode(&bytes), (text.to_string(), encoding));
        }
        let declared = format!("'CSA encoding=SHIFT_JIS\n{text}");
        assert_eq!(decode(&SHIFT_JIS.encode(&declared).0), (declared.clone(), SHIFT_JIS));
        // the declaration lies
        assert_eq!(decode(declared.as_bytes()), (declared.clone(), UTF_8));
        assert_eq!(decode(b"\xef\xbb\xbfV2.2\n"), ("V2.2\n".into(), UTF_8));
        assert_eq!(decode("#KIF version=2.0 encoding=UTF-8\n手合割：平手\n".as_bytes()).1, UTF_8);
        assert!(decode(b"\xff\xff\xff").0.contains('\u{fffd}'));
    }
}
