//! Comments as lines of a format that is made of lines.

/// Comments as lines that a format can put its sign before.
pub(super) fn comment_lines(comments: &[String]) -> impl Iterator<Item = String> {
    let lines = |text: &String| -> Vec<String> {
        text.replace("\r\n", "\n").split(['\n', '\r']).map(String::from).collect()
    };
    comments.iter().flat_map(lines)
}

/// A text without line ends, which would break a format of lines.
pub(super) fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
