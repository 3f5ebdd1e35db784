//! Any text as a KI2 file.
#![no_main]

#[path = "../record.rs"]
mod record;

libfuzzer_sys::fuzz_target!(|text: &str| record::check(toratsugumi::record::Format::Ki2, text));
