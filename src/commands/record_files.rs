//! Record files as the command line names them: single files, directories, standard input.

use crate::record::encoding::{Decoded, decode};
use crate::record::{Format, Record, RecordError, Warnings};
use crate::support::console::note;
use crate::support::messages;
use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file to read.
pub struct Source {
    /// Where it lies.
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

/// The files to read. Files in a directory that are no records are reported, except those of `analyse`. A directory
/// without records is an error.
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

/// Whether the file is an output of `analyse`, such as `NAME.analysis.html`.
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

/// The text of a file, or of standard input for `-`; damage is reported.
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

/// The games of a file. Its format is `from`, else by its name, else by its text, else `or`; by its text, too, where it is
/// not what its name promises.
fn read(
    path: &Path,
    from: Option<Format>,
    or: Option<Format>,
    warnings: &mut Warnings,
) -> Result<Vec<Record>, Box<dyn Error>> {
    let text = text(path)?;
    let format = from.or_else(|| Format::of_path(path)).or_else(|| Format::of_text(&text)).or(or);
    let format = format.ok_or_else(|| messages::unknown_format(Format::names()))?;
    let found = format.read_with(&text, warnings);
    let has_moves = |games: &[Record]| games.iter().any(|game| !game.moves.is_empty());
    if from.is_some() || warnings.is_strict() || found.as_ref().is_ok_and(|games| has_moves(games)) {
        return Ok(found?);
    }
    // a name may promise what the file is not
    let mut others = Warnings::default();
    if let Some(other) = Format::of_text(&text).filter(|other| !format.reads(*other))
        && let Ok(games) = other.read_with(&text, &mut others)
        && has_moves(&games)
    {
        note!("{}", messages::other_format(path.display(), format.name(), other.name()));
        *warnings = others;
        return Ok(games);
    }
    Ok(found?)
}

/// Reads files and counts those that could not be read as they are.
#[derive(Default)]
pub struct Reader {
    from: Option<Format>,
    or: Option<Format>,
    strict: bool,
    whole: usize,
    partly: usize,
    refused: usize,
    games: usize,
}

impl Reader {
    /// The maximum number of warnings that are printed for a file.
    const SHOWN: usize = 20;

    /// For files of the format `from`, if it is given; `strict` refuses a file instead of skipping what cannot be
    /// understood.
    pub fn new(from: Option<Format>, strict: bool) -> Reader {
        Reader { from, strict, ..Reader::default() }
    }

    /// The same, with a format for files that look like none.
    pub fn or(self, format: Format) -> Reader {
        Reader { or: Some(format), ..self }
    }

    /// The games of a file; none if it cannot be read. What was skipped, and why a file was refused, is printed.
    pub fn read(&mut self, path: &Path) -> Option<Vec<Record>> {
        let mut warnings = if self.strict { Warnings::strict() } else { Warnings::default() };
        let found = read(path, self.from, self.or, &mut warnings);
        let report = |e: &dyn fmt::Display| note!("{}: {e}", path.display());
        if let Err(e) = found {
            report(&e);
            self.refused += 1;
            return None;
        }
        let list = warnings.list();
        list.iter().take(Self::SHOWN).for_each(|warning: &RecordError| report(warning));
        if list.len() > Self::SHOWN {
            report(&messages::more_warnings(list.len() - Self::SHOWN));
        }
        *if list.is_empty() { &mut self.whole } else { &mut self.partly } += 1;
        self.games += warnings.games();
        found.ok()
    }

    /// The result of all files, with `complaints` of the caller: [`PartlyRead`] if every game was read, but some
    /// only in part; any other failure is a sentence for the user.
    pub fn finish(&self, mut complaints: Vec<String>) -> Result<(), Box<dyn Error>> {
        let &Reader { whole, partly, refused, games, .. } = self;
        if games > 0 {
            complaints.push(messages::games_skipped(games));
        }
        let summary = messages::files_read(whole, partly, refused);
        if refused == 0 && complaints.is_empty() {
            return if partly == 0 { Ok(()) } else { Err(PartlyRead(summary).into()) };
        }
        complaints.insert(0, summary);
        Err(complaints.join("; ").into())
    }
}

/// A success, but of some files only a part was read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PartlyRead(pub String);

impl PartlyRead {
    /// Distinguishes it from a failure, for scripts.
    pub fn exit_code() -> std::process::ExitCode {
        std::process::ExitCode::from(3)
    }
}
