//! Which characters a file's bytes are: UTF-8, UTF-16, Shift_JIS, EUC-JP or ISO-2022-JP.

use encoding_rs::{EUC_JP, Encoding, ISO_2022_JP, SHIFT_JIS, UTF_8};

/// The text of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Bytes that do not fit are U+FFFD.
    pub text: String,
    /// What they were read as.
    pub encoding: &'static Encoding,
    /// Whether some do not fit.
    pub damaged: bool,
}

/// The text of a file. A byte order mark and a line `'CSA encoding=...` or `#KIF ... encoding=...` decide; without
/// them the encoding in which the bytes are well-formed, UTF-8 before all, even with a few damaged characters, and of
/// several the one with the most likely characters. Where there is none, the one named, or else the one that explains the
/// most.
pub fn decode(bytes: &[u8]) -> Decoded {
    let read = |encoding: &'static Encoding, bytes| {
        let (text, damaged) = encoding.decode_without_bom_handling(bytes);
        Decoded { text: text.into_owned(), encoding, damaged }
    };
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return read(encoding, &bytes[mark..]);
    }
    let well_formed = |encoding| Some(read(encoding, bytes)).filter(|found| !found.damaged);
    // mails and old systems; nothing but ASCII otherwise
    if bytes.is_ascii() && bytes.windows(2).any(|pair| pair == b"\x1b$") {
        return well_formed(ISO_2022_JP).unwrap_or_else(|| read(UTF_8, bytes));
    }
    // a declaration that does not fit the bytes is ignored
    let declared = declared(bytes);
    if let Some(found) = declared.and_then(well_formed).or_else(|| well_formed(UTF_8)) {
        return found;
    }
    // parts of other files put together
    let line = |line| {
        let utf8 = read(UTF_8, line);
        let (sound, bad) = soundness(&utf8.text);
        if bad <= sound { utf8 } else { read(SHIFT_JIS, line) }
    };
    let lines: Vec<Decoded> = bytes.split_inclusive(|b| *b == b'\n').map(line).collect();
    let others = [SHIFT_JIS, EUC_JP];
    let whole = || others.into_iter().filter_map(well_formed).min_by_key(|f| unlikely(&f.text));
    let both = |f: &Decoded| f.encoding == UTF_8 && !f.text.is_ascii();
    if lines.iter().all(|f| !f.damaged) && lines.iter().any(both) && whole().is_none() {
        let text = lines.into_iter().map(|f| f.text).collect();
        return Decoded { text, encoding: UTF_8, damaged: false };
    }
    // in another encoding nearly nothing would be UTF-8 by chance
    let utf8 = read(UTF_8, bytes);
    let (sound, bad) = soundness(&utf8.text);
    if sound >= 3 * bad {
        return utf8;
    }
    whole().or_else(|| Some(read(declared?, bytes))).unwrap_or_else(|| {
        let damaged = others.map(|encoding| read(encoding, bytes)).into_iter().chain([utf8]);
        damaged.min_by_key(|f| unlikely(&f.text)).unwrap_or_else(|| read(UTF_8, bytes))
    })
}

/// Stands for bytes that are no characters.
const DAMAGED: char = char::REPLACEMENT_CHARACTER;

/// The encoding that the first line names.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let line = bytes.split(|b| *b == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let (_, label) = line.strip_prefix(['\'', '#'])?.split_once("encoding=")?;
    Encoding::for_label(label.trim().as_bytes())
}

/// How many characters beyond ASCII are sound, and how many are damaged.
fn soundness(text: &str) -> (usize, usize) {
    let bad = text.matches(DAMAGED).count();
    (text.chars().filter(|c| !c.is_ascii()).count() - bad, bad)
}

/// Counts characters that Japanese text hardly has, but that a wrong decoding is full of. A damaged one counts like eight: it
/// may be the only one in a whole file.
fn unlikely(text: &str) -> usize {
    text.chars()
        .map(|c| match c {
            DAMAGED => 8,
            '\u{ff61}'..='\u{ff9f}' | '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' => 1,
            _ => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, &'static Encoding) {
        let found = decode(bytes);
        assert!(!found.damaged, "{found:?}");
        (found.text, found.encoding)
    }

    #[test]
    fn japanese_text_is_recognised_in_any_encoding() {
        let text = "N+羽生善治\nN-谷川浩司\n'第１局、東京・将棋会館\nPI\n+\n+7776FU\n";
        for encoding in [UTF_8, SHIFT_JIS, EUC_JP] {
            let bytes = encoding.encode(text).0;
            assert_eq!(read(&bytes), (text.to_string(), encoding));
        }
        let declared = format!("'CSA encoding=SHIFT_JIS\n{text}");
        assert_eq!(read(&SHIFT_JIS.encode(&declared).0), (declared.clone(), SHIFT_JIS));
        // the declaration lies
        assert_eq!(read(declared.as_bytes()), (declared.clone(), UTF_8));
        assert_eq!(read(b"\xef\xbb\xbfV2.2\n"), ("V2.2\n".into(), UTF_8));
        assert_eq!(read("#KIF version=2.0 encoding=UTF-8\n手合割：平手\n".as_bytes()).1, UTF_8);
        assert!(decode(b"\xff\xff\xff").text.contains('\u{fffd}'));
    }

    #[test]
    fn files_put_together_are_read_line_by_line() {
        let lines = ["手合割：平手\n", "先手：羽生善治\n", "   1 ７六歩(77)\n", "*よい手\n"];
        for odd in 0..lines.len() {
            let parts = lines.iter().enumerate();
            let bytes = parts
                .flat_map(|(i, line)| if i == odd { SHIFT_JIS } else { UTF_8 }.encode(line).0.into_owned());
            assert_eq!(read(&bytes.collect::<Vec<u8>>()).0, lines.concat(), "{odd}");
        }
        let mail = ISO_2022_JP.encode(&lines.concat()).0.into_owned();
        assert_eq!(read(&mail), (lines.concat(), ISO_2022_JP));
    }

    #[test]
    fn a_damaged_character_costs_only_itself() {
        let text = "N+羽生善治九段\nN-谷川浩司九段\n$EVENT:第１局\nPI\n+\n+7776FU\n'*初手は角道を開ける\n";
        let declared = format!("'CSA encoding=SHIFT_JIS\n{text}");
        // half-width kana are no damage
        let narrow = "N+ﾀﾆｶﾞﾜｺｳｼﾞ\nN-ﾊﾌﾞﾖｼﾊﾙ\n$EVENT:ｼﾝｼﾞﾝｵｳｼｮｳｾﾝ\nPI\n+\n'*ｶｸﾐﾁｦｱｹﾙ\n";
        assert_eq!(read(&SHIFT_JIS.encode(narrow).0), (narrow.into(), SHIFT_JIS));
        let short = "N+山田\nN-田中\nPI\n+\n'*よい手".as_bytes();
        let cut = decode(&short[..short.len() - 1]);
        assert!(cut.encoding == UTF_8 && cut.damaged && cut.text.contains("N-田中"), "{cut:?}");
        for (text, encoding) in [(text, UTF_8), (text, SHIFT_JIS), (text, EUC_JP), (&declared, SHIFT_JIS)] {
            let bytes = encoding.encode(text).0;
            let (mark, _) = text.split_once('段').unwrap();
            let at = encoding.encode(mark).0.len();
            // the second byte of a character left out, and the end of the file within one (which makes of this text in EUC-JP
            // one of half-width kana)
            let ends = if encoding == EUC_JP { bytes.len() } else { bytes.len() - 2 };
            for bytes in [[&bytes[..at + 1], &bytes[at + 2..]].concat(), bytes[..ends].to_vec()] {
                if bytes.len() == encoding.encode(text).0.len() {
                    continue;
                }
                let found = decode(&bytes);
                assert!(found.damaged, "{found:?}");
                assert_eq!(found.encoding, encoding, "{found:?}");
                assert!(
                    found.text.contains("谷川浩司九") && found.text.contains("初手は角道を開け"),
                    "{found:?}"
                );
            }
        }
    }
}
