//! Why a file of a run cannot be used: [`ResumeError`].

use std::io;
use std::path::{Path, PathBuf};

/// Why a file of a run cannot be read, written or continued.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum ResumeError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: io::Error },
    #[error("{path} is in use by {holder}")]
    InUse { path: PathBuf, holder: String },
    #[error("{path}: {source}")]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("{path}, line {line}: not a line of this journal ({source})")]
    Line { path: PathBuf, line: usize, source: serde_json::Error },
    #[error("{path} was made with other settings ({differences}); use the same settings or another path")]
    OtherSettings { path: PathBuf, differences: String },
    #[error("{0} exists; use --resume to continue it, or another path")]
    Exists(PathBuf),
}

/// Adds the path to an error of a file.
pub trait AtPath<T> {
    /// # Errors
    /// The same error with the path.
    fn at(self, path: &Path) -> Result<T, ResumeError>;
}

impl<T> AtPath<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, ResumeError> {
        self.map_err(|source| ResumeError::Io { path: path.to_owned(), source })
    }
}

impl<T> AtPath<T> for serde_json::Result<T> {
    fn at(self, path: &Path) -> Result<T, ResumeError> {
        self.map_err(|source| ResumeError::Json { path: path.to_owned(), source })
    }
}
