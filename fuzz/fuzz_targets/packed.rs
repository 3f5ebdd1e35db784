//! Any 32 bytes as a packed position: what is accepted packs to the same board again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toratsugumi::data::PackedSfen;
use toratsugumi::data::hcp::HuffmanCodedPos;

fuzz_target!(|bytes: [u8; 32]| {
    if let Ok(board) = PackedSfen(bytes).unpack() {
        assert_eq!(PackedSfen::pack(&board).unwrap().unpack().unwrap(), board);
    }
    if let Ok(board) = HuffmanCodedPos(bytes).unpack() {
        assert_eq!(HuffmanCodedPos::pack(&board).unwrap().unpack().unwrap(), board);
    }
});
