//! Any bytes as a `.sbk` book.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(toratsugumi::book::sbk::read(bytes)));
