//! Record files as the command line names them: single files, directories, standard input.

use crate::record::encoding::{Decoded, decode};
use crate::record::{Format, Record};
use crate::support::console::note;
use crate::support::messages;
use std::error::Error;
use std::path::{Path, PathBuf};

/// A file to read.
pub struct Source {
    pub path: PathBuf,
    /// Its path within the directory that was named, else its name.
    pub name: PathBuf,
}

impl Source {
    /// What the file of its game number `index` (of `count`) is called, without an ending.
    pub fn stem(&self, index: usize, count: usize) -> PathBuf {
        let stem = self.name.file_stem().unwrap_or_default().to_string_lossy();
        let stem = if count > 1 { format!("{stem}-{}", index + 1) } else { stem.into_owned() };
        self.name.with_file_name(stem)
    }
}

/// The files to read. What is no record in a directory is named on standard error; what `analyse` left there is passed over.
///
/// # Errors
/// When a directory cannot be read or holds no record.
pub fn sources(files: &[PathBuf]) -> Result<Vec<Source>, Box<dyn Error>> {
    let mut found = Vec::new();
    for file in files {
        if file.is_dir() {
            let mut inside = Vec::new();
            walk(file, &mut inside).map_err(|e| format!("{}: {e}", file.display()))?;
            let before = found.len();
            for path in inside.into_iter().filter(|path| !is_analysis(path)) {
                match Format::of_path(&path) {
                    Some(_) => {
                        let name = path.strip_prefix(file).unwrap_or(&path).to_owned();
                        found.push(Source { path, name });
                    }
                    None => note!("{}", messages::not_a_record(path.display())),
                }
            }
            if found.len() == before {
                return Err(messages::no_record_in(file.display()).into());
            }
        } else {
            let name = match file.file_name() {
                Some(name) if file != Path::new("-") => PathBuf::from(name),
                _ => PathBuf::from("game"),
            };
            found.push(Source { path: file.clone(), name });
        }
    }
    Ok(found)
}

/// Whether `analyse` wrote it, `NAME.analysis.html` and the like: no record of a game to read.
fn is_analysis(path: &Path) -> bool {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    stem.ends_with(".analysis") || stem.ends_with(".analysis.part")
}

/// All files below a directory, in the order of their names.
fn walk(dir: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(dir)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        // a link could lead round in a circle
        if path.is_dir() && !path.is_symlink() {
            walk(&path, found)?;
        } else if path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

/// The text of a file, or of standard input for `-`; damage is told.
pub fn text(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes)?;
    } else {
        bytes = std::fs::read(path)?;
    }
    let Decoded { text, encoding, damaged } = decode(&bytes);
    if damaged {
        note!("{}", messages::damaged(path.display(), encoding.name()));
    }
    Ok(text)
}

/// The games of a file. Its format is `from`, else what its name says, else what it looks like.
///
/// # Errors
/// When it cannot be read; the message names the line.
pub fn read(path: &Path, from: Option<Format>) -> Result<Vec<Record>, Box<dyn Error>> {
    let text = text(path)?;
    let format = from.or_else(|| Format::of_path(path)).or_else(|| Format::of_text(&text));
    let format = format.ok_or_else(|| messages::unknown_format(Format::names()))?;
    Ok(format.read(&text)?)
}
