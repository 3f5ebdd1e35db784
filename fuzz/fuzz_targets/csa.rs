//! Any text as a CSA file.
#![no_main]

#[path = "../record.rs"]
mod record;

libfuzzer_sys::fuzz_target!(|text: &str| record::check(toratsugumi::record::Format::Csa, text));
