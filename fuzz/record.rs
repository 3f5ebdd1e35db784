//! What every reader of game records promises.

use toratsugumi::record::{Format, Record, Warnings};

/// A game that can be read can be written in every format that keeps its moves, and read back.
pub fn check(format: Format, text: &str) {
    let Ok(games) = format.read_with(text, &mut Warnings::default()) else { return };
    let moves = |game: &Record| game.moves.iter().map(|ply| ply.mv).collect::<Vec<_>>();
    for game in &games {
        for to in [Format::Kif, Format::Ki2, Format::Jkf, Format::Csa, Format::Usi] {
            let written = to.write(game);
            let again = to.read_with(&written, &mut Warnings::default());
            let again = again.unwrap_or_else(|e| panic!("{to:?}: {e}\n{written}"));
            assert_eq!(moves(&again[0]), moves(game), "{to:?}\n{written}");
        }
    }
}
