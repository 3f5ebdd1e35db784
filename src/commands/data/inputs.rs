//! The files that `train` and the subcommands of `data` read, and the one that they write.

use crate::commands::output_files;
use crate::commands::record_files::PartlyRead;
use crate::data::{self, Format};
use crate::support::console::note;
use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The arguments of a subcommand that reads training records and writes a file.
#[derive(Debug, clap::Args)]
pub struct InOut {
    /// Files of training records, or directories with such files
    #[arg(required = true, value_name = "IN")]
    inputs: Vec<PathBuf>,
    /// The file to write; its extension names the format
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Overwrite the file
    #[arg(long)]
    force: bool,
}

impl InOut {
    /// Refuses an output that cannot be written, and one that exists unless with `--force` or `resume`.
    pub fn check(&self, resume: bool) -> Result<(), String> {
        output_files::check(&self.output, self.force || resume)
    }

    /// The files to read; see [`files`].
    pub fn inputs(&self) -> Result<Vec<(PathBuf, Format)>, Box<dyn Error>> {
        files(&self.inputs, Some(&self.output))
    }

    /// The files to read, all of one format.
    pub fn inputs_of(&self, format: Format) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let files = self.inputs()?;
        match files.iter().find(|(_, f)| *f != format) {
            Some((path, _)) => Err(in_file(path, "has another format than the output")),
            None => Ok(files.into_iter().map(|(path, _)| path).collect()),
        }
    }
}

/// The files that the arguments name, in directories, too: none twice, none the output. Files of unfinished runs
/// are left out with a warning.
pub fn files(paths: &[PathBuf], output: Option<&Path>) -> Result<Vec<(PathBuf, Format)>, Box<dyn Error>> {
    for part in data::unfinished(paths)? {
        note!("warning: {}: left out, its run is not finished; name the file to use it", part.display());
    }
    let files = data::files(paths)?;
    if files.is_empty() {
        let paths: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
        return Err(format!("{}: no training records in it", paths.join(", ")).into());
    }
    // an output that does not exist yet is not among the inputs
    let output = output.and_then(|path| path.canonicalize().ok());
    let mut seen = HashSet::new();
    for (path, _) in &files {
        let whole = path.canonicalize().map_err(|e| in_file(path, e))?;
        if output.as_ref() == Some(&whole) {
            return Err(in_file(path, "the output is one of the inputs"));
        }
        if !seen.insert(whole) {
            return Err(in_file(path, "given twice"));
        }
    }
    Ok(files)
}

/// How many faults [`warn`] has reported.
static FAULTS: AtomicUsize = AtomicUsize::new(0);

/// Reports a fault in a file that can still be used.
pub fn warn(text: String) {
    FAULTS.fetch_add(1, Relaxed);
    note!("warning: {text}");
}

/// # Errors
/// [`PartlyRead`] if a file had a fault.
pub fn all_read() -> Result<(), PartlyRead> {
    match FAULTS.load(Relaxed) {
        0 => Ok(()),
        n => Err(PartlyRead(format!("damaged files, read in part: {n}"))),
    }
}

pub fn in_file(path: &Path, e: impl std::fmt::Display) -> Box<dyn Error> {
    format!("{}: {e}", path.display()).into()
}
