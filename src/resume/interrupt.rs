//! Requests to stop (Ctrl-C, a batch system's end of time, a spot machine's recall): long jobs look at their
//! number, and save what they have before they end. The command line counts signals here; another program may
//! call [`request`].

use std::fmt;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static REQUESTS: AtomicU32 = AtomicU32::new(0);

/// Counts one request more: a signal's handler calls it.
pub fn request() {
    REQUESTS.fetch_add(1, Relaxed);
}

/// How often the process was asked to stop. Twice means: at once.
pub fn requests() -> u32 {
    REQUESTS.load(Relaxed)
}

/// A job ended early, what it had done saved; run again, it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished;

impl Unfinished {
    /// EX_TEMPFAIL of sysexits: batch systems queue the job again.
    pub fn exit_code() -> ExitCode {
        ExitCode::from(75)
    }
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("stopped before the end")
    }
}

impl std::error::Error for Unfinished {}
