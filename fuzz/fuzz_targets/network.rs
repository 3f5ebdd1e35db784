//! Any bytes as a network file: an error, never a panic or a huge allocation.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toratsugumi::nnue::Network;

fuzz_target!(|bytes: &[u8]| {
    let _ = Network::read(&mut &*bytes, None);
    let _ = Network::read(&mut &*bytes, Some(bytes.len() as u64));
});
