//! Whether a file is still the one that was read: [`stamp`].

use std::path::Path;
use std::time::SystemTime;

/// Length in bytes and time of the last change.
pub(super) type Stamp = (u64, Option<SystemTime>);

/// None where there is no file.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(path).ok()?;
    Some((data.len(), data.modified().ok()))
}
