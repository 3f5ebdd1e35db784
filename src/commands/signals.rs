//! Signals that ask a job to stop.
#![allow(unsafe_code)] // a signal's action is asked of the system

use crate::resume::interrupt;
use std::sync::Once;

/// From now on SIGINT, SIGTERM and SIGHUP only count up [`interrupt::requests`]; one that was ignored stays ignored.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        #[cfg(unix)]
        let ignored = ignored();
        // without a handler a signal ends the process as usual: files are still safe, only work is lost
        let _ = ctrlc::set_handler(interrupt::request);
        #[cfg(unix)]
        for signal in ignored {
            // SAFETY: that a signal is ignored runs no code of ours.
            unsafe { libc::signal(signal, libc::SIG_IGN) };
        }
    });
}

/// Which of them are ignored: SIGHUP behind `nohup`, SIGINT behind the `&` of a shell script.
#[cfg(unix)]
fn ignored() -> Vec<libc::c_int> {
    let is_ignored = |signal: &libc::c_int| {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action nothing changes; the old one is written to a place of its own, where zeros are one, too.
        unsafe {
            libc::sigaction(*signal, std::ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init().sa_sigaction == libc::SIG_IGN
        }
    };
    [libc::SIGHUP, libc::SIGINT, libc::SIGTERM].into_iter().filter(is_ignored).collect()
}
