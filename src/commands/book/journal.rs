//! What a run of `book think` has found so far, safe from a kill: [`Journal`].
//!
//! A text file, a line a search, each with a checksum; a line that a kill has cut short ends it. Searches come in rounds:
//! which positions a round has depends on the rounds before it only, so that a run that was killed does the same as one
//! that was not.

use crate::book::{BookMove, Place};
use std::error::Error;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A search's result: the position, its ply, its moves (none where the game is over).
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub place: Place,
    pub ply: u16,
    pub moves: Vec<BookMove>,
}

/// The file, open for more.
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// What a journal holds.
#[derive(Default)]
pub struct Contents {
    /// Of the rounds that are complete.
    pub rounds: Vec<Vec<Found>>,
    /// Of the round that is not.
    pub rest: Vec<Found>,
}

impl Journal {
    /// Opens a journal, or begins one with the line `identity`, which tells what decides the results.
    ///
    /// # Errors
    /// Files; a journal of another identity.
    pub fn open(path: &Path, identity: &str) -> Result<(Journal, Contents), Box<dyn Error>> {
        let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| at(&e))?;
        let text = String::from_utf8_lossy(&std::fs::read(path).map_err(|e| at(&e))?).into_owned();
        let mut contents = Contents::default();
        let mut good = 0;
        let mut lines = text.split_inclusive('\n').map_while(|line| Some((checked(line)?, line.len())));
        match lines.next() {
            Some((first, len)) => {
                if first != identity {
                    return Err(at(&format_args!(
                        "was made with other settings ({first}, not {identity}); remove it to begin anew"
                    ))
                    .into());
                }
                good += len;
            }
            None => {
                file.set_len(0)?;
                let mut journal = Journal { file, path: path.to_owned() };
                journal.line(identity)?;
                return Ok((journal, contents));
            }
        }
        for (line, len) in lines {
            if line == "round" {
                contents.rounds.push(std::mem::take(&mut contents.rest));
            } else if let Some(found) = read(line) {
                contents.rest.push(found);
            } else {
                break;
            }
            good += len;
        }
        file.set_len(good as u64).map_err(|e| at(&e))?;
        file.seek(SeekFrom::End(0)).map_err(|e| at(&e))?;
        Ok((Journal { file, path: path.to_owned() }, contents))
    }

    /// Adds a search.
    ///
    /// # Errors
    /// Those of the file.
    pub fn add(&mut self, found: &Found) -> Result<(), String> {
        let mut line = String::from("found ");
        // writing to a string cannot fail
        for b in &found.place.0 {
            let _ = write!(line, "{b:02x}");
        }
        let _ = write!(line, " {}", found.ply);
        for m in &found.moves {
            let _ =
                write!(line, " {},{},{},{}", m.mv, m.ponder, m.value().unwrap_or(0), m.depth().unwrap_or(0));
            if let Some(n) = m.count() {
                let _ = write!(line, ",{n}");
            }
        }
        self.line(&line)
    }

    /// Ends a round.
    ///
    /// # Errors
    /// Those of the file.
    pub fn end_round(&mut self) -> Result<(), String> {
        self.line("round")
    }

    fn line(&mut self, text: &str) -> Result<(), String> {
        // in one write, so that a kill leaves whole lines but for the last
        let line = format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes()));
        self.file.write_all(line.as_bytes()).map_err(|e| format!("{}: {e}", self.path.display()))
    }

    /// Brings everything to the disk.
    ///
    /// # Errors
    /// Those of the file.
    pub fn sync(&self) -> Result<(), String> {
        self.file.sync_all().map_err(|e| format!("{}: {e}", self.path.display()))
    }
}

/// A line without its checksum, if that is right.
fn checked(line: &str) -> Option<&str> {
    let (text, sum) = line.strip_suffix('\n')?.rsplit_once(' ')?;
    (u32::from_str_radix(sum, 16) == Ok(crc32fast::hash(text.as_bytes()))).then_some(text)
}

fn read(line: &str) -> Option<Found> {
    let mut words = line.strip_prefix("found ")?.split(' ');
    let hex = words.next().filter(|h| h.len() == 64 && h.is_ascii())?;
    let mut place = Place([0; 32]);
    for (i, byte) in place.0.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).ok()?;
    }
    let ply = words.next()?.parse().ok()?;
    let moves = words.map(|word| {
        let mut numbers = word.split(',').map(|n| n.parse::<i64>().ok());
        let mut next = || numbers.next().flatten();
        let m = BookMove::new(u16::try_from(next()?).ok()?).with_ponder(u16::try_from(next()?).ok()?);
        let m = m.with_value(i32::try_from(next()?).ok()).with_depth(i32::try_from(next()?).ok());
        Some(m.with_count(next().and_then(|n| u64::try_from(n).ok())))
    });
    Some(Found { place, ply, moves: moves.collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::read_move;
    use crate::position::handicap;

    fn found(i: usize) -> Found {
        let m = BookMove::new(read_move(b"7g7f").unwrap()).with_value(Some(-5)).with_depth(Some(9));
        let moves = vec![
            m.with_count(Some(3)),
            BookMove::new(read_move(b"2g2f").unwrap()).with_value(Some(0)).with_depth(Some(1)),
        ];
        Found {
            place: handicap::starts().nth(i).and_then(|pos| Place::of(&pos)).unwrap(),
            ply: 1,
            moves: if i == 2 { Vec::new() } else { moves },
        }
    }

    #[test]
    fn whatever_a_kill_leaves_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let mut journal = Journal::open(&path, "one").unwrap().0;
        for i in 0..3 {
            journal.add(&found(i)).unwrap();
        }
        journal.end_round().unwrap();
        journal.add(&found(3)).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        assert!(Journal::open(&path, "two").is_err());
        for len in 0..=whole.len() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let (mut journal, contents) = Journal::open(&path, "one").unwrap();
            let all: Vec<Found> = contents.rounds.iter().flatten().chain(&contents.rest).cloned().collect();
            assert!(all.iter().enumerate().all(|(i, f)| *f == found(i)), "{len}");
            assert!(len < whole.len() || (contents.rounds.len(), contents.rest.len()) == (1, 1));
            journal.add(&found(4)).unwrap();
            let again = Journal::open(&path, "one").unwrap().1;
            assert_eq!(again.rest.last(), Some(&found(4)));
            assert_eq!(again.rounds.len(), contents.rounds.len());
        }
    }
}
