//! The files of a book name, probed one after the other: [`Library`].

use super::error::BookError;
use super::moves::BookMove;
use super::probe::{Lookup, OpenBook};
use crate::position::Position;
use crate::support::messages::Number;
use std::path::{Path, PathBuf};

/// The open books of one name: `NAME-000`, `NAME-001`, ... and `NAME` itself; the first that has a position
/// answers.
#[derive(Default)]
pub struct Library {
    books: Vec<(PathBuf, OpenBook)>,
}

/// The files of a book name, found as in YaneuraOu: first `NAME-000`, `NAME-001` and so on with either
/// extension, then `NAME.db` or, if it is missing, `NAME.ybb`.
pub fn files(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let other = match extension {
        "db" => "ybb",
        "ybb" => "db",
        _ => return vec![path.to_owned()],
    };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    for index in 0.. {
        let numbered = path.with_file_name(format!("{stem}-{index:03}.{extension}"));
        match [numbered.clone(), numbered.with_extension(other)].into_iter().find(|p| p.exists()) {
            Some(file) => found.push(file),
            None => break,
        }
    }
    let fallback = path.with_extension(other);
    found.push(if extension == "db" && !path.exists() && fallback.exists() {
        fallback
    } else {
        path.to_owned()
    });
    found
}

impl Library {
    /// Opens the files of a name, all of them.
    ///
    /// # Errors
    /// The first that cannot be opened.
    pub fn open(path: &Path, on_the_fly: bool, say: &mut dyn FnMut(&str)) -> Result<Library, BookError> {
        let open = |file: PathBuf| OpenBook::open(&file, on_the_fly, say).map(|book| (file, book));
        Ok(Library { books: files(path).into_iter().map(open).collect::<Result<_, _>>()? })
    }

    /// Opens the files of a name. Errors are reported to `say`, and the remaining files are used.
    pub fn open_sound(path: &Path, on_the_fly: bool, say: &mut dyn FnMut(&str)) -> Library {
        let mut books = Vec::new();
        for file in files(path) {
            match OpenBook::open(&file, on_the_fly, say) {
                Ok(book) => {
                    let size =
                        book.positions().map_or(String::new(), |n| format!(", {n} position{:#}", Number(n)));
                    say(&format!("{}{size}", file.display()));
                    books.push((file, book));
                }
                Err(e) => say(&format!("cannot read {e}; the engine plays without this book")),
            }
        }
        Library { books }
    }

    /// One book that is no file.
    pub fn of(name: &str, book: OpenBook) -> Library {
        Library { books: vec![(name.into(), book)] }
    }

    /// Whether nothing could be opened.
    pub fn is_empty(&self) -> bool {
        self.books.is_empty()
    }

    /// The moves of a position in the first book that has it.
    ///
    /// # Errors
    /// What is wrong in the part of the file that is read, with its name.
    pub fn find(&self, pos: &Position, how: Lookup) -> Result<Vec<BookMove>, BookError> {
        for (path, book) in &self.books {
            let moves = book.find(pos, how).map_err(|e| e.in_file(path))?;
            if !moves.is_empty() {
                return Ok(moves);
            }
        }
        Ok(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_name_finds_numbered_files() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        assert_eq!(files(&at("a.db")), [at("a.db")]);
        std::fs::write(at("a.ybb"), "").unwrap();
        assert_eq!(files(&at("a.db")), [at("a.ybb")]);
        for name in ["a.db", "a-000.db", "a-001.ybb", "a-003.db"] {
            std::fs::write(at(name), "").unwrap();
        }
        assert_eq!(files(&at("a.db")), [at("a-000.db"), at("a-001.ybb"), at("a.db")]);
        assert_eq!(files(&at("a.ybb")), [at("a-000.db"), at("a-001.ybb"), at("a.ybb")]);
        assert_eq!(files(&at("book.bin")), [at("book.bin")]);
    }
}
