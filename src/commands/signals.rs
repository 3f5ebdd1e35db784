//! Signals that ask a job to stop.
#![allow(unsafe_code)] // sigaction

use crate::resume::interrupt;
use std::sync::Once;

/// From now on SIGINT, SIGTERM and SIGHUP only increment [`interrupt::requests`]. Ignored signals stay
/// ignored.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(unix)]
        let ignored = ignored();
        // without a handler a signal ends the process: unsaved work is lost, but no file is damaged
        let _ = ctrlc::set_handler(interrupt::request);
        #[cfg(unix)]
        for signal in ignored {
            // SAFETY: SIG_IGN installs no handler.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    });
}

/// The ignored ones of these signals: SIGHUP under `nohup`, SIGINT after `&` in a shell script.
#[cfg(unix)]
fn ignored() -> Vec<libc::c_int> {
    let is_ignored = |signal: &libc::c_int| {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a null new action changes nothing. The old one is written to `action`, and all zeros
        // is a valid sigaction.
        unsafe {
            libc::sigaction(*signal, std::ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init().sa_sigaction == libc::SIG_IGN
        }
    };
    [libc::SIGHUP, libc::SIGINT, libc::SIGTERM].into_iter().filter(is_ignored).collect()
}
