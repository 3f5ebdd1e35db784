//! Requests to stop (Ctrl-C, a time limit of a batch system, preemption of a machine). Long jobs check their
//! number and save their work before they end. The command line counts signals here; other programs may call
//! [`request`].

use std::fmt;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static REQUESTS: AtomicU32 = AtomicU32::new(0);

/// Counts a request; signal handlers call it.
pub fn request() {
    REQUESTS.fetch_add(1, Relaxed);
}

/// Number of requests to stop. Two mean: immediately.
pub fn requests() -> u32 {
    REQUESTS.load(Relaxed)
}

/// A job ended early with its work saved; the same command continues it.
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
