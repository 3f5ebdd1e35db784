//! Signals that ask a job to stop.

use crate::interrupt;
use std::sync::Once;

/// From now on SIGINT, SIGTERM and SIGHUP only count up [`interrupt::requests`].
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // without a handler a signal ends the process as usual: files are still safe, only work is lost
        let _ = ctrlc::set_handler(interrupt::request);
    });
}
