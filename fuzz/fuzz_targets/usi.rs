//! Any lines as USI: the parser and [`Game`] must not panic, and a refused line must leave [`Game`] unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use toratsugumi::engine::Game;
use toratsugumi::position::Position;
use toratsugumi::usi::parse::{Command, parse};

fuzz_target!(|text: &str| {
    let mut game = Game::default();
    for line in text.lines() {
        let Ok(Command::Position { sfen, moves }) = parse(line) else { continue };
        let before = game.position().key();
        if game.update(sfen, moves.split_whitespace()).is_err() {
            assert_eq!(game.position().key(), before);
        }
        let again = Position::from_sfen(&game.position().sfen()).expect("what is written can be read");
        assert_eq!(again.key(), game.position().key());
    }
});
