//! Lines from the GUI, read on a thread of their own, so that `stop` is seen while the loop is busy.

use crate::engine::decode_text;
use std::io::{self, BufRead};
use std::sync::mpsc::SyncSender;

/// An event that wakes the loop.
#[derive(Debug)]
pub enum Input {
    /// A line without its end.
    Line(String),
    /// A line beyond [`LONGEST_LINE`], dropped; its length in bytes.
    TooLong(usize),
    /// The input has ended.
    Eof,
    /// Nobody reads our output any more.
    OutputClosed,
}

/// A game of 10,000 plies is 50 kB; no real line comes near this.
pub const LONGEST_LINE: usize = 16 << 20;

/// Sends line after line until the input ends or the receiver has gone. The encodings are those of [`decode_text`].
pub fn read_lines(mut input: impl BufRead, events: &SyncSender<Input>) {
    loop {
        let event = match read_line(&mut input) {
            Ok(Some(event)) => event,
            Ok(None) | Err(_) => Input::Eof,
        };
        let ended = matches!(event, Input::Eof);
        if events.send(event).is_err() || ended {
            return;
        }
    }
}

/// One line without its end; none at the end of the input.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<Input>> {
    let mut line = Vec::new();
    let mut dropped = 0;
    loop {
        let chunk = match input.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let end = chunk.iter().position(|b| *b == b'\n');
        let text = &chunk[..end.unwrap_or(chunk.len())];
        let read = text.len() + usize::from(end.is_some());
        let ended = end.is_some() || read == 0;
        if dropped > 0 || line.len() + text.len() > LONGEST_LINE {
            // nothing of an overlong line is kept
            dropped += text.len() + std::mem::take(&mut line).len();
        } else {
            line.extend_from_slice(text);
        }
        input.consume(read);
        if ended {
            return Ok(match (dropped, read) {
                (0, 0) if line.is_empty() => None,
                (0, _) => Some(Input::Line(plain(&decode_text(&line)))),
                (n, _) => Some(Input::TooLong(n)),
            });
        }
    }
}

/// The line without what editors and scripts on Windows leave in it: a byte order mark, no-break spaces.
fn plain(line: &str) -> String {
    line.trim_start_matches('\u{feff}').replace('\u{a0}', " ").trim_end().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;
    use std::sync::mpsc::sync_channel;

    fn events(input: &[u8]) -> Vec<String> {
        let (send, receive) = sync_channel(100);
        read_lines(Cursor::new(input.to_vec()), &send);
        drop(send);
        receive.iter().map(|e| format!("{e:?}")).collect()
    }

    #[test]
    fn lines_end_in_any_way() {
        assert_eq!(events(b""), ["Eof"]);
        assert_eq!(events(b"usi\r\n\nquit"), ["Line(\"usi\")", "Line(\"\")", "Line(\"quit\")", "Eof"]);
        assert_eq!(events(b"a\xffb\n"), ["Line(\"a\u{fffd}b\")", "Eof"]);
    }

    #[test]
    #[cfg(feature = "cli")]
    fn a_windows_gui_may_write_cp932() {
        // `setoption name EvalDir value C:\将棋\表` as such a GUI sends it: two characters hold bytes of ASCII
        let mut line = b"setoption name EvalDir value C:\\\x8f\xab\x8a\xfb\\\x95\\\r\n".to_vec();
        assert_eq!(events(&line)[0], "Line(\"setoption name EvalDir value C:\\\\将棋\\\\表\")");
        line = "EvalDir 将棋\n".into();
        assert_eq!(events(&line)[0], "Line(\"EvalDir 将棋\")");
    }

    #[test]
    fn marks_and_blanks_of_windows_are_taken_for_what_they_mean() {
        assert_eq!(events(b"\xef\xbb\xbfusi\r\n")[0], "Line(\"usi\")");
        assert_eq!(events(b"go\xc2\xa0depth 3\n")[0], "Line(\"go depth 3\")");
        assert_eq!(events(b"go\xa0depth\xa03\n")[0], "Line(\"go depth 3\")");
    }

    #[test]
    fn an_endless_line_is_dropped() {
        let mut input = vec![b'x'; LONGEST_LINE + 10];
        input.extend_from_slice(b"\nusi\n");
        assert_eq!(
            events(&input),
            [format!("TooLong({})", LONGEST_LINE + 10).as_str(), "Line(\"usi\")", "Eof"]
        );
    }
}
