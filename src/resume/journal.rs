//! An append-only file of JSON lines that survives a kill: [`Journal`].

use super::error::{AtPath, ResumeError};
use super::lock::Lock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// A file of lines of type `T`, locked and open for more.
pub struct Journal<T> {
    path: PathBuf,
    file: File,
    /// Bytes of the whole lines, if an incomplete one follows.
    torn_at: Option<u64>,
    _lock: Lock,
    _lines: PhantomData<fn(&T)>,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Opens or creates the journal at `path`; also returns the lines in it. A last line that a kill left
    /// incomplete is ignored, and overwritten by the next one.
    ///
    /// # Errors
    /// [`ResumeError::InUse`]; [`ResumeError::Line`] when a line is no `T`. The file then stays as it is.
    pub fn open(path: &Path) -> Result<(Journal<T>, Vec<T>), ResumeError> {
        let lock = Lock::take(path)?;
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(path).at(path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).at(path)?;
        let (lines, whole) = parse(path, &text)?;
        let torn_at = (whole < text.len()).then_some(whole as u64);
        let journal = Journal { path: path.to_owned(), file, torn_at, _lock: lock, _lines: PhantomData };
        Ok((journal, lines))
    }

    /// Appends a line.
    pub fn append(&mut self, line: &T) -> Result<(), ResumeError> {
        let mut text = serde_json::to_vec(line).at(&self.path)?;
        text.push(b'\n');
        // one write for each line: a kill leaves at most one incomplete line, the last
        self.write(&text).at(&self.path)
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        if let Some(whole) = self.torn_at.take() {
            self.file.set_len(whole)?;
            self.file.seek(SeekFrom::End(0))?;
        }
        self.file.write_all(text)
    }

    /// Waits until all lines are on the disk.
    pub fn sync(&self) -> Result<(), ResumeError> {
        self.file.sync_all().at(&self.path)
    }

    /// Deletes the journal of a run that is complete.
    pub fn remove(self) -> Result<(), ResumeError> {
        drop(self.file);
        std::fs::remove_file(&self.path).at(&self.path)
    }
}

/// The whole lines of a journal that another process may be writing; none if there is no file.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, ResumeError> {
    match std::fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        text => Ok(parse(path, &text.at(path)?)?.0),
    }
}

/// The whole lines, and how many bytes they have.
fn parse<T: DeserializeOwned>(path: &Path, text: &[u8]) -> Result<(Vec<T>, usize), ResumeError> {
    let (mut lines, mut whole) = (Vec::new(), 0);
    for (i, line) in text.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let is_whole = line.ends_with(b"\n");
        match serde_json::from_slice(line) {
            _ if is_whole && line.trim_ascii().is_empty() => {}
            Ok(line) if is_whole => lines.push(line),
            // text that does not begin a line of this journal is kept
            Err(e) if is_whole || !e.is_eof() => {
                return Err(ResumeError::Line { path: path.to_owned(), line: i + 1, source: e });
            }
            _ => break,
        }
        whole += line.len();
    }
    Ok((lines, whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct TestLine {
        n: u32,
        text: String,
    }

    fn line(n: u32) -> TestLine {
        TestLine { n, text: "先手\n".into() }
    }

    #[test]
    fn every_whole_line_survives_a_kill_at_any_byte() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let (mut journal, lines) = Journal::open(&path).unwrap();
        assert!(lines.is_empty());
        (0..3).for_each(|n| journal.append(&line(n)).unwrap());
        journal.sync().unwrap();
        assert!(matches!(Journal::<TestLine>::open(&path), Err(ResumeError::InUse { .. })));
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for end in 0..=whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let count = whole[..end].iter().filter(|&&byte| byte == b'\n').count() as u32;
            let expected: Vec<TestLine> = (0..count).map(line).collect();
            assert_eq!(read::<TestLine>(&path).unwrap(), expected);
            let (mut journal, lines) = Journal::open(&path).unwrap();
            assert_eq!(lines, expected);
            assert_eq!(
                std::fs::read(&path).unwrap(),
                whole[..end],
                "nothing is cut off before the next line"
            );
            (count..3).for_each(|n| journal.append(&line(n)).unwrap());
            if count < 3 {
                assert_eq!(std::fs::read(&path).unwrap(), whole);
            }
        }
        Journal::<TestLine>::open(&path).unwrap().0.remove().unwrap();
        assert_eq!(read::<TestLine>(&path).unwrap(), []);
    }

    #[test]
    fn other_files_are_refused_and_not_changed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let good = serde_json::to_string(&line(0)).unwrap();
        for (text, number) in [
            ("a note".to_string(), 1),
            (format!("{good}\n{good} x\n"), 2),
            ("{\"m\": 5}".into(), 1),
            ("{\n  \"n\": 1\n}\n".into(), 1),
            (format!("{good}\n\n\u{0}"), 3),
        ] {
            std::fs::write(&path, &text).unwrap();
            let error = Journal::<TestLine>::open(&path).err().unwrap().to_string();
            assert!(error.contains(&format!("a.jsonl, line {number}: ")), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
