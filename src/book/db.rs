//! YaneuraOu's text format (`.db`): a line `sfen ...` a position, then its moves, a line each.

use super::error::{BookError, excerpt};
use super::moves::{BookMove, read_move, usi};
use super::packed_position::PackedPosition;
use super::store::{Book, BookBuilder, Dropped, Remark};
use std::io::{BufRead, Write};
use std::num::IntErrorKind;
use std::ops::RangeInclusive;

/// The first line of a file.
pub const HEADER: &str = "#YANEURAOU-DB2016 1.00";
/// The prefix of such first lines.
const FAMILY: &str = "#YANEURAOU-";
/// YaneuraOu's number of positions, in a comment at the head; it would not hold for the book that is made of
/// this one.
const ENTRIES: &str = "NOE:";
/// Valid scores and depths: YaneuraOu's have 32 bits, and the last value means unknown.
const NUMBERS: RangeInclusive<i64> = -(i32::MAX as i64)..=i32::MAX as i64;
/// Valid counts; YaneuraOu has no negative ones.
const COUNTS: RangeInclusive<i64> = 0..=u32::MAX as i64 - 1;

/// One position of the file.
pub struct DbEntry {
    /// Line of the `sfen`, 1-based.
    pub line: usize,
    /// The words after `sfen`, unchanged.
    pub sfen: String,
    /// The same, packed.
    pub packed: PackedPosition,
    /// 0 where there is none.
    pub ply: u16,
    /// In the file's order.
    pub moves: Vec<BookMove>,
    /// The line of each.
    pub lines: Vec<usize>,
    /// By move (0: the position).
    pub remarks: Vec<(u16, String)>,
}

impl DbEntry {
    fn remark(&mut self, text: &str) {
        let mv = self.moves.last().map_or(0, |m| m.mv);
        match self.remarks.last_mut().filter(|(on, _)| *on == mv) {
            Some((_, before)) => {
                before.push('\n');
                before.push_str(text);
            }
            None => self.remarks.push((mv, text.to_string())),
        }
    }
}

/// Reads a file position by position.
pub struct DbReader<R> {
    input: R,
    line: usize,
    buffer: Vec<u8>,
    /// The position whose moves come next.
    next: Option<DbEntry>,
    /// The comments before the first position, a line each.
    head: Vec<String>,
    /// Whether the position of the present lines cannot be read.
    ignores: bool,
    /// What could not be read since it was taken from here.
    pub skipped: Vec<BookError>,
}

impl<R: BufRead> DbReader<R> {
    /// Reads from the file's beginning.
    pub fn new(input: R) -> DbReader<R> {
        DbReader {
            input,
            line: 0,
            buffer: Vec::new(),
            next: None,
            head: Vec::new(),
            ignores: false,
            skipped: Vec::new(),
        }
    }

    /// The next line without its end; none at the end.
    fn line(&mut self) -> Result<Option<String>, BookError> {
        self.buffer.clear();
        self.line += 1;
        let n = self.input.read_until(b'\n', &mut self.buffer).map_err(|e| BookError::line(self.line, e))?;
        if n == 0 {
            return Ok(None);
        }
        let mut text = &self.buffer[..];
        if self.line == 1 {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        // comments may be in any encoding
        Ok(Some(String::from_utf8_lossy(text).trim_end_matches(['\r', '\n']).to_string()))
    }

    /// The next position; none at the end. A position or a move that cannot be read is skipped.
    ///
    /// # Errors
    /// Those of the input; what no book of this kind has.
    pub fn next_entry(&mut self) -> Result<Option<DbEntry>, BookError> {
        loop {
            let Some(line) = self.line()? else { return Ok(self.next.take()) };
            let number = self.line;
            let at = |what: String| BookError::line(number, what);
            let comment = line.strip_prefix('#').or_else(|| line.strip_prefix("//"));
            if let Some(text) = comment {
                let header = line.trim_end() == HEADER;
                // later it is a remark
                if number == 1 && line.starts_with(FAMILY) && !header {
                    return Err(at(format!("this kind of book is not known: {}", excerpt(&line))));
                }
                match &mut self.next {
                    _ if header => {}
                    Some(entry) => entry.remark(text),
                    None if text.trim_start().starts_with(ENTRIES) => {}
                    None => self.head.push(text.to_string()),
                }
                continue;
            }
            if line.trim().is_empty() {
                continue;
            }
            let Some(sfen) = line.strip_prefix("sfen ") else {
                let Some(entry) = &mut self.next else {
                    if self.ignores {
                        continue;
                    }
                    return Err(at(format!("neither a position nor a comment: {}", excerpt(&line))));
                };
                let (m, remark) = match read_line(&line) {
                    Ok(read) => read,
                    Err(what) => {
                        self.skipped.push(at(what));
                        continue;
                    }
                };
                if let Some(m) = m {
                    entry.moves.push(m);
                    entry.lines.push(number);
                }
                if let Some(text) = remark {
                    entry.remark(&text);
                }
                continue;
            };
            let sfen = sfen.trim();
            let done = self.next.take();
            match PackedPosition::read(sfen) {
                Ok((packed, ply)) => {
                    self.next = Some(DbEntry {
                        line: number,
                        sfen: sfen.to_string(),
                        packed,
                        ply,
                        moves: Vec::new(),
                        lines: Vec::new(),
                        remarks: Vec::new(),
                    });
                }
                Err(what) => self.skipped.push(at(what)),
            }
            self.ignores = self.next.is_none();
            if done.is_some() {
                return Ok(done);
            }
        }
    }
}

/// Reads `move ponder value depth count`, all but the first optional; `none` and nothing between two spaces
/// stand for unknown values. A comment may follow. `none` and `resign` are no moves.
pub(super) fn read_line(line: &str) -> Result<(Option<BookMove>, Option<String>), String> {
    let mut rest = line;
    let mut fields = [""; 5];
    for field in &mut fields {
        if rest.starts_with('#') || rest.starts_with("//") {
            break;
        }
        let end = rest.find([' ', '\t']).unwrap_or(rest.len());
        *field = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    let a_move = |text: &str| match text {
        "none" | "None" | "resign" | "" => Ok(0),
        _ => read_move(text.as_bytes()).ok_or_else(|| format!("{:?} is no move", excerpt(text))),
    };
    let mv = a_move(fields[0])?;
    let m = BookMove::new(mv)
        .with_ponder(a_move(fields[1])?)
        .with_value(number(fields[2], "value", NUMBERS)?.map(|n| n as i32))
        .with_depth(number(fields[3], "depth", NUMBERS)?.map(|n| n as i32))
        .with_count(number(fields[4], "count", COUNTS)?.map(|n| n as u64));
    let remark = rest.trim_start();
    let remark = remark.strip_prefix('#').or_else(|| remark.strip_prefix("//")).unwrap_or(remark);
    Ok(((mv != 0).then_some(m), (!remark.trim().is_empty()).then(|| remark.to_string())))
}

/// Reads a field with a number; none where it is not known.
fn number(text: &str, what: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, String> {
    if matches!(text, "none" | "None" | "") {
        return Ok(None);
    }
    let wrong = |how: String| Err(format!("{what} {:?} is {how}", excerpt(text)));
    match text.parse() {
        Ok(n) if range.contains(&n) => Ok(Some(n)),
        Err(e) if !matches!(e.kind(), IntErrorKind::PosOverflow | IntErrorKind::NegOverflow) => {
            wrong("no number".into())
        }
        _ => wrong(format!("not between {} and {}", range.start(), range.end())),
    }
}

/// Reads a whole book. Positions and moves that cannot be read are skipped and counted.
///
/// # Errors
/// As [`DbReader::next_entry`].
pub fn read(input: impl BufRead) -> Result<(Book, Dropped), BookError> {
    let mut reader = DbReader::new(input);
    let mut builder = BookBuilder::default();
    let mut unread = 0;
    while let Some(entry) = reader.next_entry()? {
        unread += reader.skipped.drain(..).count();
        builder.push(entry.packed, entry.ply, &entry.moves);
        for (mv, text) in entry.remarks {
            builder.remark(Remark { packed: entry.packed, ply: entry.ply, mv, text });
        }
    }
    unread += reader.skipped.len();
    builder.comment(&reader.head.join("\n"));
    let (book, dropped) = builder.finish();
    Ok((book, Dropped { unread, ..dropped }))
}

/// Writes a book: the positions in the order of their SFENs, of the same one at several plies only the
/// smallest. Returns the numbers of positions and moves.
///
/// # Errors
/// The output cannot be written; a position is against the rules.
pub fn write(book: Book, out: &mut impl Write) -> Result<(usize, usize), BookError> {
    let (book, _) = book.without_other_plies();
    let mut order = Vec::with_capacity(book.len());
    for (i, e) in book.entries().enumerate() {
        let sfen = e.position()?.sfen();
        order.push((sfen, i));
    }
    order.sort_unstable();
    writeln!(out, "{HEADER}")?;
    book.comment().lines().try_for_each(|line| writeln!(out, "#{line}"))?;
    for (sfen, i) in order {
        write_entry(out, &book, i, &sfen)?;
    }
    Ok((book.len(), book.move_count()))
}

fn write_entry(out: &mut impl Write, book: &Book, i: usize, sfen: &str) -> Result<(), BookError> {
    let e = book.entry(i);
    writeln!(out, "sfen {sfen}")?;
    let remarks = |out: &mut dyn Write, mv: u16| -> Result<(), BookError> {
        let text = book.remark(&e, mv);
        text.lines().try_for_each(|line| writeln!(out, "#{line}"))?;
        Ok(())
    };
    remarks(out, 0)?;
    let mut moves = e.moves.to_vec();
    moves.sort_by_key(BookMove::rank);
    for m in &moves {
        writeln!(out, "{}", move_line(m))?;
        remarks(out, m.mv)?;
    }
    Ok(())
}

/// A move's line. What is not known is left out at the end, and `none` before what is known.
pub(super) fn move_line(m: &BookMove) -> String {
    let mut numbers = vec![m.value().map(i64::from), m.depth().map(i64::from), m.count().map(i64::from)];
    while numbers.last() == Some(&None) {
        numbers.pop();
    }
    numbers.into_iter().fold(format!("{} {}", usi(m.mv), usi(m.ponder)), |line, n| match n {
        Some(n) => format!("{line} {n}"),
        None => line + " none",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";

    fn read_text(text: &str) -> Result<Book, String> {
        read(text.as_bytes()).map(|(book, _)| book).map_err(|e| e.to_string())
    }

    fn written(book: Book) -> String {
        let mut out = Vec::new();
        write(book, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_db_file_round_trips() {
        let text = format!(
            "{HEADER}\n# of the book\n#twice\n#twice\nsfen {START} 1\n#of the position\n2g2f 8c8d 63 27 935\n#two\n#lines\n7g7f none 20 25 6\n\
             3g3f none none none 2\n9g9f none\n"
        );
        let book = read_text(&text).unwrap();
        assert_eq!(written(book), text);
        // a remark may look like a header
        let text = format!("{HEADER}\n#YANEURAOU-x\nsfen {START} 1\n2g2f none\n#YANEURAOU-DB2099 1.00\n");
        assert_eq!(written(read_text(&text).unwrap()), text);
        // the largest numbers that are read, and negative depths
        let text = format!(
            "{HEADER}\nsfen {START} 65535\n2g2f none 2147483647 2147483647 4294967294\n\
             7g7f none -2147483647 -3 0\n"
        );
        assert_eq!(written(read_text(&text).unwrap()), text);
    }

    #[test]
    fn files_of_other_programs_are_read() {
        let moves =
            "2g2f 3c3d 63 27 935 #one\r\n7g7f none   8\r\nresign none 0 0 1\r\n5g5f None -32 23\r\n4g4f\r\n";
        let entry = format!("sfen {START} 1\r\n// of the position\r\n\r\n{moves}");
        for head in
            ["", "#YANEURAOU-DB2016 1.00\r\n", "\u{feff}#YANEURAOU-DB2016 1.00\r\n# NOE:258\r\n", "\u{feff}"]
        {
            let book = read_text(&format!("{head}{entry}")).unwrap();
            let e = book.entry(0);
            assert_eq!((book.len(), e.ply, e.moves.len(), book.comment()), (1, 1, 4, ""));
            assert_eq!(e.moves[0].value(), Some(63));
            assert_eq!((e.moves[1].value(), e.moves[1].count()), (None, Some(8)));
            assert_eq!((e.moves[2].depth(), e.moves[2].count()), (Some(23), None));
            assert_eq!((book.remark(&e, 0), book.remark(&e, e.moves[0].mv)), (" of the position", "one"));
        }
        let book =
            read_text(&format!("sfen {START}\n7g7f\nsfen {START} 3\n2g2f\nsfen {START} 1\n2h7h\n")).unwrap();
        assert_eq!(book.entries().map(|e| e.ply).collect::<Vec<_>>(), [0, 1, 3]);
        assert_eq!(written(book), format!("{HEADER}\nsfen {START} 1\n7g7f none\n2h7h none\n2g2f none\n"));
    }

    #[test]
    fn errors_name_the_line() {
        for (text, packed) in [
            ("7g7f none\n".to_string(), "line 1: "),
            ("#YANEURAOU-DB2016 2.00\n".into(), "line 1: this kind of book is not known"),
            ("#YANEURAOU-POLICY-DB2024 1.01\n".into(), "line 1: "),
            (format!("\nsfen {START} 1\n7g7f none x\n"), "line 3: value \"x\""),
            (
                format!("sfen {START} 1\n7g7f none 2147483648\n"),
                "line 2: value \"2147483648\" is not between",
            ),
            (
                format!("sfen {START} 1\n7g7f none -2147483648\n"),
                "line 2: value \"-2147483648\" is not between",
            ),
            (
                format!("sfen {START} 1\n7g7f none 0 2147483648\n"),
                "line 2: depth \"2147483648\" is not between",
            ),
            (
                format!("sfen {START} 1\n7g7f none 0 0 4294967295\n"),
                "line 2: count \"4294967295\" is not between 0 and 4294967294",
            ),
            (format!("sfen {START} 1\n7g7f none 0 0 -1\n"), "line 2: count \"-1\" is not between"),
            (format!("sfen {START} 1\n7g7f none 0 0 99999999999999999999\n"), "line 2: count \"9999"),
            (format!("sfen {START} 65536\n"), "line 1: move number 65536 is greater than 65535"),
            (format!("sfen {START} 1\n7g7 none\n"), "line 2: \"7g7\" is no move"),
            ("sfen 9/9/9 b - 1\n".into(), "line 1: board: 9 ranks are needed, found 3"),
            ("sfen 9/9/9/9/9/9/9/9/4K4 b - 1\n".into(), "line 1: "),
            (format!("sfen {START}99R 1\n"), "line 1: "),
        ] {
            let mut reader = DbReader::new(text.as_bytes());
            let error = match reader.next_entry() {
                Err(e) => e,
                Ok(_) => reader.skipped.remove(0),
            };
            assert!(error.to_string().starts_with(packed), "{text}: {error}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_skipped() {
        let text = format!("sfen {START} 1\n7g7f\n2g2x\n2g2f\nsfen 9/9 b - 1\n7g7f\nsfen {START} 3\n7g7f\n");
        let (book, dropped) = read(text.as_bytes()).unwrap();
        assert_eq!((book.len(), book.move_count(), dropped.unread), (2, 3, 2));
    }
}
