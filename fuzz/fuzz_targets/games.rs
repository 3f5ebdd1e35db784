//! Any bytes as the blocks of a `.games` file; the checksums are made right, for the blocks to be decoded at all.
#![no_main]

use toratsugumi::data::GameReader;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = b"toragame\x01\0\0\0".to_vec();
    file.extend(crc32fast::hash(&[&file[..], &[0; 16]].concat()).to_le_bytes());
    file.extend([0; 16]);
    file.extend(bytes);
    if let Some(block) = file.get_mut(32..).filter(|block| block.len() > 20) {
        let length = (block.len() - 20) as u32;
        block[..4].copy_from_slice(b"TGB1");
        block[16..20].copy_from_slice(&length.to_le_bytes());
        let sum = crc32fast::hash(&block[8..]);
        block[4..8].copy_from_slice(&sum.to_le_bytes());
    }
    let games = GameReader::new(&file[..]).expect("the header is right");
    assert!(games.map_while(Result::ok).count() <= 1 << 18);
});
