//! The text of `help`: the commands of a session, for people who type them.

use std::fmt::Write;

const COMMANDS: &[(&str, &str)] = &[
    ("position startpos [moves 7g7f ...]", "set up a game from the initial position"),
    ("position sfen SFEN [moves ...]", "set up a game from another position"),
    ("go movetime MS | depth N | nodes N", "search, so long, so deep or so many positions"),
    ("go btime MS wtime MS byoyomi MS", "search as long as these clocks suggest"),
    ("go infinite", "search until `stop`"),
    ("go mate MS", "search for a mate"),
    ("go perft N", "count the positions after N plies"),
    ("stop", "end the search"),
    ("d", "show the board"),
    ("eval", "show the static evaluation"),
    ("moves", "list the legal moves"),
    ("flip", "turn the board and swap the players"),
    ("usi", "list the options"),
    ("getoption [NAME]", "show the values of the options"),
    ("setoption name NAME value VALUE", "set one; NAME VALUE alone does it, too"),
    ("isready", "load the network and clear the tables"),
    ("quit", "end the program"),
];

/// One line per command: the session's own, then those of `extras` (name, explanation).
pub(super) fn text(extras: &[(&str, &str)]) -> String {
    let all = || COMMANDS.iter().chain(extras);
    let width = all().map(|(command, _)| command.len()).max().unwrap_or(0);
    let mut text = String::from("The commands of USI, and some for people:\n");
    for (command, what) in all() {
        // writing to a string cannot fail
        let _ = writeln!(text, "  {command:width$}  {what}");
    }
    text.push_str("`toratsugumi --help` lists what the program does besides.");
    text
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Command, parse};
    use super::*;

    #[test]
    fn every_command_explained_is_one_that_is_understood() {
        for (command, _) in COMMANDS {
            let word = command.split(' ').next().unwrap();
            assert!(!matches!(parse(word), Ok(Command::Other { .. })), "{word}");
        }
        let text = text(&[("bench", "measure the speed")]);
        assert!(
            text.lines().any(|l| l.starts_with("  bench ") && l.ends_with("measure the speed")),
            "{text}"
        );
    }
}
