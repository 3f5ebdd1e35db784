//! The formats, detected by content: [`BookFormat`]; reading and writing whole books.

use super::apery::{self, AperyBook};
use super::db;
use super::embedded;
use super::error::BookError;
use super::moves::BookMove;
use super::sbk;
use super::store::{Book, Dropped};
use super::ybb::{self, YbbFile};
use crate::support::messages;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::str::FromStr;

/// A kind of book file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookFormat {
    /// YaneuraOu's text.
    Db,
    /// YaneuraOu's binary.
    Ybb,
    /// Apery's `book.bin`.
    Apery,
    /// ShogiGUI's.
    Sbk,
}

/// What a format cannot hold, or a reader dropped, in words; empty for nothing.
pub type Loss = String;

impl BookFormat {
    /// All of them.
    pub const ALL: [BookFormat; 4] = [BookFormat::Db, BookFormat::Ybb, BookFormat::Apery, BookFormat::Sbk];

    /// Its name, which is also the usual ending.
    pub fn name(self) -> &'static str {
        match self {
            BookFormat::Db => "db",
            BookFormat::Ybb => "ybb",
            BookFormat::Apery => "bin",
            BookFormat::Sbk => "sbk",
        }
    }

    /// The format that a file's name promises.
    pub fn of_path(path: &Path) -> Option<BookFormat> {
        path.extension()?.to_str()?.to_ascii_lowercase().parse().ok()
    }

    /// The format of a file that begins with these bytes (all of it if it is shorter than a few kilobytes)
    /// and is so long.
    pub fn of_content(head: &[u8], len: u64) -> Option<BookFormat> {
        if head.starts_with(ybb::MAGIC) {
            return Some(BookFormat::Ybb);
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        if text.starts_with(b"sfen ") || text.starts_with(b"#YANEURAOU-") {
            return Some(BookFormat::Db);
        }
        // a key of Apery's format may begin like a comment
        let is_text = !head.iter().any(|b| matches!(b, 0..=8 | 14..=31));
        let line = text.trim_ascii_start();
        let begins = |start: &[u8]| line.starts_with(start);
        if is_text && (begins(b"sfen ") || begins(b"#") || begins(b"//") || line.is_empty()) {
            return Some(BookFormat::Db);
        }
        // binary formats have zeros among the first bytes; a text of another kind is no book
        let text = std::str::from_utf8(text).map_or_else(|e| e.error_len().is_none(), |_| true);
        if is_text && text && head.len() >= 32 {
            return None;
        }
        // the first field of a .sbk is its author, then come description and states
        if looks_like_sbk(head) {
            return Some(BookFormat::Sbk);
        }
        len.is_multiple_of(16).then_some(BookFormat::Apery)
    }

    /// The format of a file.
    ///
    /// # Errors
    /// A file that cannot be read, or is no book.
    pub fn of_file(path: &Path) -> Result<BookFormat, BookError> {
        if embedded::is_meant(path) {
            return Ok(BookFormat::Ybb);
        }
        const HEAD: u64 = 1 << 16;
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        let mut head = Vec::new();
        file.take(HEAD).read_to_end(&mut head)?;
        BookFormat::of_content(&head, len)
            .ok_or_else(|| BookError::whole("not a book in a known format (.db, .ybb, .bin, .sbk)"))
    }

    /// What is lost if a book is written in this format.
    pub fn losses(self, book: &Book) -> Loss {
        use BookFormat::{Apery, Db, Sbk, Ybb};
        let any = |f: &dyn Fn(&BookMove) -> bool| book.entries().any(|e| e.moves.iter().any(f));
        let mut lost = Vec::new();
        let mut lose = |by: &[BookFormat], there: &dyn Fn() -> bool, what: &'static str| {
            if by.contains(&self) && there() {
                lost.push(messages::word(what));
            }
        };
        lose(&[Ybb, Apery, Sbk], &|| any(&|m| m.ponder != 0), "replies");
        lose(&[Sbk], &|| any(&|m| m.value().is_some_and(|v| v != 0)), "scores");
        lose(&[Apery, Sbk], &|| any(&|m| m.depth().is_some_and(|d| d != 0)), "depths");
        lose(&[Ybb], &|| any(&|m| m.count().is_some_and(|n| n > 1)), "counts");
        lose(&[Apery, Sbk], &|| book.entries().any(|e| e.ply > 1), "move numbers");
        lose(&[Ybb, Apery], &|| !book.remarks().is_empty(), "remarks");
        lose(&[Sbk], &|| book.remarks().iter().any(|r| r.mv != 0), "remarks on moves");
        lose(&[Ybb, Apery], &|| !book.comment().is_empty(), "the comment on the whole book");
        lose(&[Sbk], &|| illegal(book), "illegal moves");
        // what is written, but as another number
        lose(&[Db], &|| book.entries().any(|e| e.ply == 0), "unknown move numbers (1 is written)");
        lose(&[Ybb, Apery], &|| any(&|m| m.value().is_none()), "unknown scores (0 is written)");
        let wide = |m: &BookMove| m.value().is_some_and(|v| i16::try_from(v).is_err());
        lose(&[Ybb], &|| any(&wide), "scores beyond 32767 (cut off there)");
        let depths = || any(&|m| m.depth().is_some_and(|d| d > 0));
        lose(&[Ybb], &|| depths() && any(&|m| m.depth().is_none()), "unknown depths (0 is written)");
        lose(&[Ybb], &|| any(&|m| m.depth().is_some_and(|d| d < 0)), "depths below 0 (0 is written)");
        let deep = |m: &BookMove| m.depth().is_some_and(|d| d > i32::from(u16::MAX));
        lose(&[Ybb], &|| any(&deep), "depths beyond 65535 (cut off there)");
        lose(&[Apery], &|| any(&|m| m.count().is_none()), "unknown counts (1 is written)");
        let above = |most: u32| any(&|m| m.count().is_some_and(|n| n > most));
        lose(&[Apery], &|| above(u16::MAX.into()), "counts beyond 65535 (cut off there)");
        lose(&[Sbk], &|| above(i32::MAX as u32), "counts beyond 2147483647 (cut off there)");
        messages::list(lost)
    }
}

fn illegal(book: &Book) -> bool {
    book.entries()
        .any(|e| e.packed.position(e.ply).is_none_or(|pos| e.moves.iter().any(|m| m.on(&pos).is_none())))
}

/// Whether the bytes are fields 1 and 2 as text, or field 3 as a message, as far as they reach.
fn looks_like_sbk(mut bytes: &[u8]) -> bool {
    let mut fields = 0;
    while let [tag, rest @ ..] = bytes {
        if !matches!(tag, 0x0a | 0x12 | 0x1a) {
            return false;
        }
        let Some((n, length)) = rest.iter().enumerate().take(5).find(|(_, b)| **b < 0x80).map(|(n, _)| {
            (n + 1, rest[..=n].iter().rev().fold(0usize, |len, b| len << 7 | usize::from(b & 0x7f)))
        }) else {
            return fields > 0;
        };
        // a text is text
        let body = &rest[n..];
        if *tag != 0x1a
            && std::str::from_utf8(&body[..length.min(body.len())]).is_err_and(|e| e.error_len().is_some())
        {
            return false;
        }
        fields += 1;
        // a field that is longer than the available bytes counts only after other fields
        match body.get(length..) {
            Some(rest) => bytes = rest,
            None => return fields > 2,
        }
    }
    fields > 0
}

impl FromStr for BookFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<BookFormat, String> {
        let found = BookFormat::ALL.into_iter().find(|f| f.name() == text);
        found.ok_or_else(|| format!("`{text}` is none of db, ybb, bin, sbk"))
    }
}

impl fmt::Display for BookFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reads a book of any format; also returns what was dropped.
///
/// # Errors
/// They name the file and the location in it.
pub fn read(path: &Path) -> Result<(Book, BookFormat, Loss), BookError> {
    read_any(path).map_err(|e| e.in_file(path))
}

fn read_any(path: &Path) -> Result<(Book, BookFormat, Loss), BookError> {
    let format = BookFormat::of_file(path)?;
    let mut lost = Vec::new();
    let mut lose = |n: usize, what: &str| {
        if n > 0 {
            lost.push(messages::number_of(n, what));
        }
    };
    let (book, dropped) = match format {
        BookFormat::Db => db::read(BufReader::with_capacity(1 << 20, File::open(path)?))?,
        BookFormat::Ybb => YbbFile::of_bytes(embedded::bytes_of(path)?)?.read()?,
        BookFormat::Apery => {
            let (book, dropped, unreached) = AperyBook::read(&std::fs::read(path)?)?.positions();
            lose(unreached, "positions that no known start leads to");
            (book, dropped)
        }
        BookFormat::Sbk => {
            let (book, dropped, unread) = sbk::read(&std::fs::read(path)?)?;
            lose(unread.evals, "analyses");
            lose(unread.marks, "marks on moves");
            lose(unread.weights, "weights below 0 (read as 0)");
            lose(unread.author, "author");
            lose(unread.games, "counts of games");
            lose(unread.unreached, "positions that no root leads to");
            (book, dropped)
        }
    };
    if dropped != Dropped::default() {
        lost.push(dropped.to_string());
    }
    Ok((book, format, messages::list(lost)))
}

/// The index of the first position of a `.ybb` that is out of order, if any.
///
/// # Errors
/// Files, and what is no `.ybb`.
pub fn first_unsorted(path: &Path) -> Result<Option<u64>, BookError> {
    YbbFile::of_bytes(embedded::bytes_of(path)?)?.first_unsorted()
}

/// Writes a book; returns the numbers of positions and moves.
///
/// # Errors
/// The output cannot be written; a position is against the rules.
pub fn write(book: Book, format: BookFormat, out: &mut impl Write) -> Result<(usize, usize), BookError> {
    match format {
        BookFormat::Db => db::write(book, out),
        BookFormat::Ybb => ybb::write(book, out),
        BookFormat::Apery => apery::write(book, out),
        BookFormat::Sbk => sbk::write(book, out),
    }
}
