//! The text of `help`: the commands that people can type.

use std::fmt::Write;

const COMMANDS: &[(&str, &str)] = &[
    ("position startpos [moves 7g7f ...]", "set up a game from the initial position"),
    ("position sfen SFEN [moves ...]", "set up a game from another position"),
    ("go movetime MS | depth N | nodes N", "search up to a time, a depth or a number of nodes"),
    ("go btime MS wtime MS byoyomi MS", "search with these clocks"),
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
    ("setoption name NAME value VALUE", "set an option; `NAME VALUE` is enough"),
    ("isready", "load the network and clear the tables"),
    ("quit", "end the program"),
];

/// One line per command: those above, then `extras` (name, explanation).
pub(super) fn text(extras: &[(&str, &str)]) -> String {
    let all = || COMMANDS.iter().chain(extras);
    let width = all().map(|(command, _)| command.len()).max().unwrap_or(0);
    let mut text = String::from("Commands of USI, and some for use in a terminal:\n");
    for (command, what) in all() {
        // writing to a string cannot fail
        let _ = writeln!(text, "  {command:width$}  {what}");
    }
    text.push_str("`toratsugumi --help` lists the other functions of the program.");
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
