//! Any bytes as a `.db` book: what is read is written and read back.
#![no_main]

use toratsugumi::book::db;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok((book, _)) = db::read(bytes) else { return };
    let mut written = Vec::new();
    if db::write(book, &mut written).is_ok() {
        db::read(&written[..]).expect("what is written can be read");
    }
});
