//! What long runs need to survive a kill and continue: [`Journal`] (JSON lines on disk), [`Lock`] (one
//! process at a time), [`identity`] (the same settings as before), [`whole_file`] (atomic replacement),
//! [`interrupt`] (requests to stop) and [`sha256`](mod@sha256) (checksums of networks and other inputs).

mod error;
pub mod identity;
pub mod interrupt;
pub mod journal;
pub mod lock;
pub mod sha256;
pub mod whole_file;

pub use error::{AtPath, ResumeError};
pub use journal::Journal;
pub use lock::Lock;
