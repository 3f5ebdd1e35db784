//! Comments and headings for formats in which every line begins with its meaning, and texts without what
//! nobody sees.

use std::borrow::Cow;

/// The lines of comments; the format puts its sign before each.
pub(super) fn comment_lines(comments: &[String]) -> impl Iterator<Item = String> {
    let lines = |text: &String| -> Vec<String> {
        text.replace("\r\n", "\n").split(['\n', '\r']).map(String::from).collect()
    };
    comments.iter().flat_map(lines)
}

/// A text with blanks instead of line ends, for a heading on one line.
pub(super) fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// A text without characters that nobody sees: those without width, the zeros or the Ctrl-Z that old systems write behind
/// the end. Blanks of web pages become blanks, the line ends of old Macintosh files line ends.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    const NO_WIDTH: [char; 3] = ['\u{200b}', '\u{2060}', '\u{feff}'];
    const WEB_BLANK: char = '\u{a0}';
    let text = text.trim_end_matches(['\0', '\u{1a}']);
    let old_mac = text.contains('\r') && !text.contains('\n');
    if !old_mac && !text.contains(WEB_BLANK) && !text.contains(NO_WIDTH) {
        return Cow::Borrowed(text);
    }
    let text = text.replace(NO_WIDTH, "").replace(WEB_BLANK, " ");
    Cow::Owned(if old_mac { text.replace('\r', "\n") } else { text })
}
