//! Being asked to stop: SIGINT and SIGTERM (Ctrl-C, a batch system's end of time, a spot machine's recall) set a flag
//! that long jobs look at, so that they save what they have before they go.

use std::fmt;
use std::process::ExitCode;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

static REQUESTS: AtomicU32 = AtomicU32::new(0);

/// From now on SIGINT, SIGTERM and SIGHUP only count up [`requests`].
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // without a handler a signal ends the process as usual: files are still safe, only work is lost
        let _ = ctrlc::set_handler(|| {
            REQUESTS.fetch_add(1, Relaxed);
        });
    });
}

/// How often the process was asked to stop. Twice means: at once.
pub fn requests() -> u32 {
    REQUESTS.load(Relaxed)
}

/// A job ended early with all it had saved; run again, it goes on.
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
        f.write_str("stopped before the end; all is saved, --resume goes on")
    }
}

impl std::error::Error for Unfinished {}
