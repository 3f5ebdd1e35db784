//! Any text: an SFEN that is accepted is a position that can be written, read again and moved in.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toratsugumi::position::{Position, perft};

fuzz_target!(|text: &str| {
    let Ok(mut position) = Position::from_sfen(text) else { return };
    let again = Position::from_sfen(&position.sfen()).expect("what is written can be read");
    assert_eq!((again.key(), again.sfen()), (position.key(), position.sfen()));
    let (key, moves) = (position.key(), position.legal_moves(true));
    assert_eq!(moves.len() as u64, perft(&mut position, 1));
    for m in moves {
        assert!(position.is_pseudo_legal(m.mv, true) && position.is_legal(m.mv));
        position.do_move(m.mv);
        position.undo_move();
        assert_eq!(position.key(), key);
    }
});
