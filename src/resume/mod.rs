//! What long runs need to survive a kill: [`whole_file`] replaces files atomically, [`lock`] keeps a second process out,
//! [`interrupt`] counts requests to stop, [`sha256`] identifies files.

pub mod interrupt;
pub mod lock;
pub mod sha256;
pub mod whole_file;
