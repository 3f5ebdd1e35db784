//! Binary search in a sorted `.db` file on the disk: [`DbFile`].

use super::db::read_line;
use super::error::BookError;
use super::moves::BookMove;
use super::source::BookSource;
use std::fs::File;
use std::path::Path;

/// A sorted `.db` file that stays on the disk.
pub struct DbFile {
    source: BookSource,
}

/// A `sfen` line.
struct SfenLine {
    /// Where it begins.
    start: u64,
    /// Where the next line begins.
    end: u64,
    /// The words behind `sfen`.
    sfen: String,
}

impl SfenLine {
    /// Board, side and hands.
    fn position(&self) -> &str {
        self.split().0
    }

    /// Without, and with the move number.
    fn split(&self) -> (&str, &str) {
        let end = self.sfen.match_indices(' ').nth(2).map_or(self.sfen.len(), |(i, _)| i);
        (&self.sfen[..end], self.sfen[end..].trim())
    }
}

/// Reads lines from an offset on, in pieces.
struct LineReader<'a> {
    source: &'a BookSource,
    at: u64,
    buffer: Vec<u8>,
    used: usize,
}

impl<'a> LineReader<'a> {
    fn new(source: &'a BookSource, at: u64) -> LineReader<'a> {
        LineReader { source, at, buffer: Vec::new(), used: 0 }
    }

    /// Where the line begins, and the line without its end; none at the end.
    fn next(&mut self) -> Result<Option<(u64, &[u8])>, BookError> {
        const PIECE: usize = 4096;
        let mut seen = self.used;
        loop {
            if let Some(n) = self.buffer[seen..].iter().position(|b| *b == b'\n') {
                let (start, end) = (self.used, seen + n);
                self.used = end + 1;
                let line = &self.buffer[start..end];
                return Ok(Some((self.at + start as u64, line.strip_suffix(b"\r").unwrap_or(line))));
            }
            self.buffer.drain(..self.used);
            self.at += self.used as u64;
            self.used = 0;
            seen = self.buffer.len();
            self.buffer.resize(seen + PIECE, 0);
            let n = self.source.read_at(self.at + seen as u64, &mut self.buffer[seen..])?;
            self.buffer.truncate(seen + n);
            if n == 0 {
                self.used = seen;
                return Ok((seen > 0).then_some((self.at, &self.buffer[..])));
            }
        }
    }
}

impl DbFile {
    /// Opens a file and checks a few dozen samples for order.
    ///
    /// # Errors
    /// The file cannot be read. `Ok(None)` if it is not sorted.
    pub fn open(path: &Path) -> Result<Option<DbFile>, BookError> {
        const SAMPLES: u64 = 64;
        let file = DbFile { source: BookSource::file(File::open(path)?)? };
        let len = file.source.len();
        let mut last: Option<SfenLine> = None;
        for i in 0..SAMPLES {
            let (from, until) = (len * i / SAMPLES, len * (i + 1) / SAMPLES);
            let Some(head) = file.next_head(from, until)? else { continue };
            // of two neighbours it may be the second that is out of place
            let next = file.next_head(head.end, len)?;
            let ordered = |a: &SfenLine, b: &SfenLine| a.position() <= b.position();
            let fine = last.as_ref().is_none_or(|l| ordered(l, &head))
                && next.as_ref().is_none_or(|n| ordered(&head, n));
            if !fine {
                return Ok(None);
            }
            last = Some(head);
        }
        // no position at all: whoever reads it whole can say what it is
        Ok(Some(file).filter(|_| last.is_some() || len == 0))
    }

    /// The first `sfen` line that begins at `from` or after it, before `until`.
    fn next_head(&self, from: u64, until: u64) -> Result<Option<SfenLine>, BookError> {
        let mut lines = LineReader::new(&self.source, from.saturating_sub(1));
        if from > 0 {
            // the rest of a line that begins earlier, or just the end of the last one
            lines.next()?;
        }
        while let Some((start, line)) = lines.next()? {
            if start >= until {
                return Ok(None);
            }
            let line = if start == 0 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
            if let Some(sfen) = line.strip_prefix(b"sfen ") {
                let sfen = String::from_utf8_lossy(sfen).trim().to_string();
                let end = lines.at + lines.used as u64;
                return Ok(Some(SfenLine { start, end, sfen }));
            }
        }
        Ok(None)
    }

    /// The moves of a position, given as SFEN without a move number, at every ply.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn find(&self, position: &str) -> Result<Vec<(u16, Vec<BookMove>)>, BookError> {
        let (mut low, mut high) = (0, self.source.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.next_head(middle, high)? {
                Some(head) if head.position() < position => low = head.end,
                _ => high = middle,
            }
        }
        let mut found = Vec::new();
        let mut from = low;
        while let Some(head) = self.next_head(from, u64::MAX)? {
            if head.position() != position {
                break;
            }
            let ply = head.split().1.parse().unwrap_or(0);
            let moves = self.moves(&head)?;
            found.push((ply, moves));
            from = head.end;
        }
        Ok(found)
    }

    fn moves(&self, head: &SfenLine) -> Result<Vec<BookMove>, BookError> {
        let mut lines = LineReader::new(&self.source, head.end);
        let mut moves: Vec<BookMove> = Vec::new();
        while let Some((_, line)) = lines.next()? {
            let line = String::from_utf8_lossy(line);
            if line.starts_with("sfen ") {
                break;
            }
            if line.trim().is_empty() || line.starts_with('#') || line.starts_with("//") {
                continue;
            }
            // as the reader of whole books does
            let Ok((m, _)) = read_line(&line) else { continue };
            moves.extend(m.filter(|m| moves.iter().all(|other| other.mv != m.mv)));
        }
        debug_assert!(head.start < head.end);
        Ok(moves)
    }
}

#[cfg(test)]
mod tests {
    use super::super::db;
    use super::*;
    use crate::position::Position;
    use crate::support::random::Rng;
    use std::collections::BTreeMap;
    use std::fmt::Write;

    #[test]
    fn every_position_is_found_and_no_other() {
        let mut rng = Rng::new(1);
        let mut lines = BTreeMap::new();
        for _ in 0..60 {
            let mut pos = Position::startpos();
            for _ in 0..12 {
                let moves = pos.legal_moves(false);
                let m = moves[rng.below(moves.len())].mv;
                lines.insert(pos.sfen(), m);
                pos.do_move(m);
            }
        }
        for (bom, end, header) in [("", "\n", true), ("\u{feff}", "\r\n", true), ("\u{feff}", "\n", false)] {
            let mut text = bom.to_string();
            if header {
                write!(text, "{}{end}", db::HEADER).unwrap();
            }
            for (i, (sfen, m)) in lines.iter().enumerate() {
                write!(text, "sfen {sfen}{end}{m} none {i} 1 1{end}").unwrap();
                if i % 7 == 0 {
                    write!(text, "#{}{end}", "x".repeat(i * 20)).unwrap();
                }
            }
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), text.trim_end()).unwrap();
            let book = DbFile::open(file.path()).unwrap().unwrap();
            for (i, (sfen, m)) in lines.iter().enumerate() {
                let (position, ply) = sfen.rsplit_once(' ').unwrap();
                let found = book.find(position).unwrap();
                let (_, moves) = found.iter().find(|(p, _)| p.to_string() == ply).unwrap();
                assert_eq!((moves[0].mv, moves[0].value()), (m.raw16(), Some(i as i32)), "{sfen}");
            }
            for other in ["", "a", "z", "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w -"] {
                assert!(book.find(other).unwrap().is_empty());
            }
        }
    }

    #[test]
    fn an_unsorted_file_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "sfen b b - 1\n7g7f none\nsfen a b - 1\n7g7f none\n").unwrap();
        assert!(DbFile::open(file.path()).unwrap().is_none());
        std::fs::write(file.path(), "").unwrap();
        assert!(DbFile::open(file.path()).unwrap().unwrap().find("a b -").unwrap().is_empty());
    }
}
