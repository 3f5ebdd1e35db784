//! Comments as lines of a format that is made of lines.

/// Comments as lines that a format can put its sign before.
pub(super) fn comment_lines(comments: &[String]) -> impl Iterator<Item = String> {
    comments.iter().flat_map(|text| text.split('\n')).map(one_line)
}

/// A text without line ends, which would break a format of lines.
pub(super) fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
