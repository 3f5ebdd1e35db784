//! Any text as a JKF file.
#![no_main]

#[path = "../record.rs"]
mod record;

libfuzzer_sys::fuzz_target!(|text: &str| record::check(toratsugumi::record::Format::Jkf, text));
