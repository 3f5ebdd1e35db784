//! An open book, to look positions up: [`OpenBook`].

use super::apery::AperyBook;
use super::db;
use super::db_file::DbFile;
use super::embedded;
use super::error::BookError;
use super::format::BookFormat;
use super::moves::BookMove;
use super::packed_position::PackedPosition;
use super::sbk;
use super::store::Book;
use super::ybb::YbbFile;
use crate::position::Position;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// An open book.
pub enum OpenBook {
    /// Whole in memory.
    Memory {
        /// The book.
        book: Book,
        /// Whether its move numbers are meaningful.
        plies: bool,
    },
    /// YaneuraOu's text on the disk.
    Db(DbFile),
    /// YaneuraOu's binary, on the disk or its bytes in memory.
    Ybb(YbbFile),
    /// Apery's.
    Apery(AperyBook),
}

/// How positions are looked up: the options of these names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lookup {
    /// `IgnoreBookPly`: at any move number.
    pub ignore_ply: bool,
    /// `FlippedBook`: also with the board turned and the players swapped.
    pub flipped: bool,
}

impl OpenBook {
    /// Opens a file. With `on_the_fly` the formats of YaneuraOu stay on the disk; a `.db` that is not sorted
    /// cannot, which is reported to `say`.
    ///
    /// # Errors
    /// They name the file and the location in it.
    pub fn open(path: &Path, on_the_fly: bool, say: &mut dyn FnMut(&str)) -> Result<OpenBook, BookError> {
        OpenBook::open_any(path, on_the_fly, say).map_err(|e| e.in_file(path))
    }

    fn open_any(path: &Path, on_the_fly: bool, say: &mut dyn FnMut(&str)) -> Result<OpenBook, BookError> {
        Ok(match BookFormat::of_file(path)? {
            BookFormat::Db => {
                if on_the_fly {
                    match DbFile::open(path)? {
                        Some(file) => return Ok(OpenBook::Db(file)),
                        None => say(&format!("{} is not sorted: it is read as a whole", path.display())),
                    }
                }
                let (book, dropped) = db::read(BufReader::with_capacity(1 << 20, File::open(path)?))?;
                if dropped.unread > 0 {
                    say(&format!("{}: unreadable positions and moves: {}", path.display(), dropped.unread));
                }
                OpenBook::Memory { book, plies: true }
            }
            BookFormat::Ybb if on_the_fly && !embedded::is_meant(path) => OpenBook::Ybb(YbbFile::open(path)?),
            BookFormat::Ybb => OpenBook::Ybb(YbbFile::of_bytes(embedded::bytes_of(path)?)?),
            BookFormat::Apery => OpenBook::Apery(AperyBook::read(&std::fs::read(path)?)?),
            BookFormat::Sbk => OpenBook::Memory { book: sbk::read(&std::fs::read(path)?)?.0, plies: false },
        })
    }

    /// Number of positions; none on the fly if it is not known.
    pub fn positions(&self) -> Option<u64> {
        match self {
            OpenBook::Memory { book, .. } => Some(book.len() as u64),
            OpenBook::Db(_) => None,
            OpenBook::Ybb(file) => Some(file.positions()),
            OpenBook::Apery(book) => Some(book.positions_count() as u64),
        }
    }

    /// The moves of a position, the most played first, then by score; empty if it is not there. They may be
    /// illegal.
    ///
    /// # Errors
    /// What is wrong in the part of the file that is read.
    pub fn find(&self, pos: &Position, how: Lookup) -> Result<Vec<BookMove>, BookError> {
        let mut moves = match self {
            OpenBook::Apery(book) => book.find(pos),
            _ => {
                let Some(packed) = PackedPosition::of(pos) else { return Ok(Vec::new()) };
                let ply = pos.game_ply();
                let mut moves = self.at(&packed, pos, ply, how.ignore_ply)?;
                if moves.is_empty() && how.flipped {
                    let turned = packed.flipped().and_then(|p| Some((p, p.position(1)?)));
                    if let Some((packed, pos)) = turned {
                        moves = self.at(&packed, &pos, ply, how.ignore_ply)?;
                        moves.iter_mut().for_each(|m| *m = m.flipped());
                    }
                }
                moves
            }
        };
        moves.sort_by_key(BookMove::rank);
        Ok(moves)
    }

    fn at(
        &self,
        packed: &PackedPosition,
        pos: &Position,
        ply: u32,
        any_ply: bool,
    ) -> Result<Vec<BookMove>, BookError> {
        // 0: the file names no move number
        let here = |p: u16| any_ply || p == 0 || u32::from(p) == ply;
        let mut moves: Vec<BookMove> = Vec::new();
        let mut add = |more: &[BookMove]| {
            for m in more {
                if moves.iter().all(|other| other.mv != m.mv) {
                    moves.push(*m);
                }
            }
        };
        match self {
            OpenBook::Memory { book, plies } => {
                let entries = book.find(packed).map(|i| book.entry(i));
                entries.filter(|e| !plies || here(e.ply)).for_each(|e| add(e.moves));
            }
            OpenBook::Db(file) => {
                let sfen = pos.sfen();
                let text = sfen.rsplit_once(' ').map_or(sfen.as_str(), |(text, _)| text);
                file.find(text)?.iter().filter(|(p, _)| here(*p)).for_each(|(_, more)| add(more));
            }
            OpenBook::Ybb(file) => {
                let found = file.find(packed)?;
                found.iter().filter(|(p, _)| here(*p)).for_each(|(_, more)| add(more));
            }
            OpenBook::Apery(_) => {}
        }
        Ok(moves)
    }
}
