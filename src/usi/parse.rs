//! Lines of the protocol as typed commands. Pure: no state, no position, and no line makes it panic.

use crate::engine::{Limits, shorten};
use crate::types::MAX_PLY;

/// One line of input.
#[derive(Debug)]
#[allow(missing_docs)] // of the fields
pub enum Command<'a> {
    /// A blank line.
    Nothing,
    /// `usi`.
    Usi,
    /// `isready`.
    IsReady,
    /// `usinewgame`.
    NewGame,
    /// `position`.
    Position {
        /// None for `startpos`.
        sfen: Option<&'a str>,
        /// Move texts, separated by white space.
        moves: &'a str,
    },
    /// `go`.
    Go(Box<Go<'a>>),
    /// `stop`.
    Stop,
    /// `ponderhit`, perhaps with the clocks of a `go`, which replace those of the `go ponder` before it.
    PonderHit(Box<Go<'a>>),
    /// `gameover`.
    GameOver,
    /// `quit`.
    Quit,
    /// `setoption`.
    SetOption { name: &'a str, value: &'a str },
    /// All options without a name.
    GetOption(Option<&'a str>),
    /// `d`: the board.
    Display,
    /// `eval`, `e`: the static evaluation.
    Eval,
    /// `moves`: all legal moves.
    Moves,
    /// `flip`: turn the board.
    Flip,
    /// `help`: explain the commands.
    Help,
    /// Some other word: a command that the front end was given, or an option in shorthand (`threads 4`).
    Other { name: &'a str, rest: &'a str },
}

/// What a `go` asks for. Moves stay text, for only a position can read them.
#[derive(Debug, Default)]
pub struct Go<'a> {
    /// What the words say about time, depth and nodes.
    pub limits: Limits,
    /// The words behind `searchmoves`.
    pub search_moves: Vec<&'a str>,
    /// Milliseconds by which `btime` and `wtime` are below zero (the clocks in `limits` are then 0): ShogiHome excludes
    /// the increment even where it is larger than the clock.
    pub overdrawn: [u64; 2],
    /// `go perft N`.
    pub perft: Option<u32>,
    /// What was not understood and left out.
    pub remarks: Vec<String>,
}

/// Why a line is no command.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum ParseError {
    #[error("position: neither `startpos` nor an SFEN")]
    PositionWithoutBoard,
    #[error("position: `{0}` after startpos, where only `moves` may stand")]
    AfterStartpos(String),
    #[error("setoption: write `setoption name NAME value VALUE`, or `NAME VALUE` alone")]
    OptionWithoutName,
    #[error("{0}; nothing is searched")]
    GoWithoutSense(String),
}

/// Splits off the first word; both parts are trimmed.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim();
    match text.split_once(char::is_whitespace) {
        Some((first, rest)) => (first, rest.trim_start()),
        None => (text, ""),
    }
}

/// Splits at the first occurrence of `key` as a whole word: the text before it and, if it occurs, the text behind it.
fn split_at_word<'a>(text: &'a str, key: &str) -> (&'a str, Option<&'a str>) {
    let mut from = 0;
    while let Some(i) = text[from..].find(key).map(|i| i + from) {
        let end = i + key.len();
        let opens = text[..i].chars().next_back().is_none_or(char::is_whitespace);
        let closes = text[end..].chars().next().is_none_or(char::is_whitespace);
        if opens && closes {
            return (text[..i].trim(), Some(text[end..].trim()));
        }
        from = end;
    }
    (text.trim(), None)
}

/// Reads one line.
pub fn parse(line: &str) -> Result<Command<'_>, ParseError> {
    let (name, rest) = word(line);
    Ok(match name {
        "" => Command::Nothing,
        "usi" => Command::Usi,
        "isready" => Command::IsReady,
        "usinewgame" => Command::NewGame,
        "position" => position(rest)?,
        "go" => Command::Go(Box::new(go(rest).map_err(ParseError::GoWithoutSense)?)),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit(Box::new(ponderhit(rest))),
        "gameover" => Command::GameOver,
        "quit" => Command::Quit,
        "setoption" => set_option(rest)?,
        "getoption" => {
            // `getoption name X` is how some people type it
            let (first, behind) = word(rest);
            let name = if first == "name" { behind } else { rest };
            Command::GetOption((!name.is_empty()).then_some(name))
        }
        "d" => Command::Display,
        "eval" | "e" => Command::Eval,
        "moves" => Command::Moves,
        "flip" => Command::Flip,
        "help" | "?" => Command::Help,
        _ => Command::Other { name, rest },
    })
}

fn position(rest: &str) -> Result<Command<'_>, ParseError> {
    let (board, moves) = split_at_word(rest, "moves");
    let moves = moves.unwrap_or_default();
    let (first, behind) = word(board);
    let sfen = match first {
        "startpos" if behind.is_empty() => return Ok(Command::Position { sfen: None, moves }),
        "startpos" => return Err(ParseError::AfterStartpos(shorten(behind))),
        "sfen" => behind,
        _ => board,
    };
    if sfen.is_empty() {
        return Err(ParseError::PositionWithoutBoard);
    }
    Ok(Command::Position { sfen: Some(sfen), moves })
}

fn set_option(rest: &str) -> Result<Command<'_>, ParseError> {
    let (keyword, behind) = word(rest);
    let (name, value) = split_at_word(behind, "value");
    if keyword != "name" || name.is_empty() {
        return Err(ParseError::OptionWithoutName);
    }
    Ok(Command::SetOption { name, value: value.unwrap_or_default() })
}

const GO_WORDS: &[&str] = &[
    "btime",
    "wtime",
    "binc",
    "winc",
    "byoyomi",
    "rtime",
    "movetime",
    "depth",
    "nodes",
    "mate",
    "infinite",
    "ponder",
    "perft",
    "searchmoves",
];

/// A count that saturates; negative ones are 0.
fn number(text: &str) -> Option<u64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(if text.starts_with('-') { 0 } else { digits.parse().unwrap_or(u64::MAX) })
}

/// The words of a `go`, or the remark on one that must not start a search.
fn go(rest: &str) -> Result<Go<'_>, String> {
    let mut go = Go::default();
    let mut understood = false;
    let mut tokens = rest.split_whitespace().peekable();
    while let Some(token) = tokens.next() {
        let limits = &mut go.limits;
        match token {
            "infinite" => limits.infinite = true,
            "ponder" => limits.ponder = true,
            "searchmoves" => {
                while let Some(text) = tokens.next_if(|t| !GO_WORDS.contains(t)) {
                    go.search_moves.push(text);
                }
            }
            "mate" => {
                limits.mate = Some(match tokens.next_if(|t| *t == "infinite" || !GO_WORDS.contains(t)) {
                    None | Some("infinite") => u64::MAX,
                    Some(text) => number(text).ok_or_else(|| {
                        let text = shorten(text);
                        format!("go: mate wants milliseconds or `infinite`, not `{text}`")
                    })?,
                });
            }
            _ if GO_WORDS.contains(&token) => {
                let text = tokens.next_if(|t| !GO_WORDS.contains(t));
                let Some(n) = text.and_then(number) else {
                    go.remarks.push(match text {
                        Some(text) => format!("go: {token} wants a number, not `{}`", shorten(text)),
                        None => format!("go: {token} wants a number"),
                    });
                    continue;
                };
                limits.has_clock |= matches!(token, "btime" | "wtime" | "binc" | "winc" | "byoyomi");
                match token {
                    "btime" | "wtime" => {
                        let side = usize::from(token == "wtime");
                        limits.time[side] = n;
                        go.overdrawn[side] = text.and_then(|t| number(t.strip_prefix('-')?)).unwrap_or(0);
                    }
                    "binc" => limits.inc[0] = n,
                    "winc" => limits.inc[1] = n,
                    "byoyomi" => limits.byoyomi = [n; 2],
                    "rtime" => limits.rtime = Some(n),
                    "movetime" => limits.movetime = Some(n),
                    "depth" => limits.depth = Some(n.clamp(1, MAX_PLY as u64) as i32),
                    "nodes" => limits.nodes = Some(n.max(1)),
                    _ => go.perft = Some(n.min(u64::from(u32::MAX)) as u32),
                }
            }
            _ => {
                go.remarks.push(format!("go: unknown word `{}`", shorten(token)));
                continue;
            }
        }
        understood = true;
    }
    go.remarks.extend(unused(&mut go.limits, go.perft));
    // one line is answered by one line, however many words of it make no sense
    if go.remarks.len() > 1 {
        let more = go.remarks.len() - 1;
        go.remarks.truncate(1);
        if let Some(first) = go.remarks.first_mut() {
            first.push_str(&format!(", and {more} more"));
        }
    }
    match go.remarks.first() {
        // a garbled number must not start a search without end
        Some(first) if !understood => Err(first.clone()),
        _ => Ok(go),
    }
}

/// The words of a `ponderhit`. Whatever they are, the opponent has moved.
fn ponderhit(rest: &str) -> Go<'_> {
    go(rest).unwrap_or_else(|remark| Go { remarks: vec![remark], ..Go::default() })
}

/// What a mate search or a count of positions cannot use; a time for the move is one for the mate, too.
fn unused(limits: &mut Limits, perft: Option<u32>) -> Option<String> {
    let clock = limits.has_clock || limits.rtime.is_some();
    let rule = if perft.is_some() {
        let limited = clock || limits.movetime.is_some() || limits.depth.is_some() || limits.nodes.is_some();
        limited.then_some("go perft: nothing limits the count but its depth")
    } else {
        let mate = limits.mate.as_mut()?;
        *mate = limits.movetime.take().map_or(*mate, |time| time.min(*mate));
        let limited = clock || limits.depth.is_some();
        limited
            .then_some("go mate: only `movetime`, `nodes` and the milliseconds after `mate` limit the search")
    };
    rule.map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn go_of(line: &str) -> Go<'_> {
        match parse(line) {
            Ok(Command::Go(go)) => *go,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn positions() {
        let read = |line: &'static str| match parse(line) {
            Ok(Command::Position { sfen, moves }) => format!("{sfen:?} {moves}"),
            Ok(other) => panic!("{other:?}"),
            Err(e) => e.to_string(),
        };
        assert_eq!(read("position startpos"), "None ");
        assert_eq!(read(" position  startpos  moves 7g7f  3c3d "), "None 7g7f  3c3d");
        assert_eq!(read("position startpos moves"), "None ");
        assert_eq!(read("position sfen 4k4/9 b - 1 moves 1a1b"), "Some(\"4k4/9 b - 1\") 1a1b");
        assert_eq!(read("position 4k4/9 b - 1"), "Some(\"4k4/9 b - 1\") ");
        assert_eq!(read("position"), ParseError::PositionWithoutBoard.to_string());
        assert_eq!(read("position sfen"), ParseError::PositionWithoutBoard.to_string());
        assert_eq!(read("position moves 7g7f"), ParseError::PositionWithoutBoard.to_string());
        assert_eq!(read("position startpos 7g7f"), ParseError::AfterStartpos("7g7f".into()).to_string());
    }

    #[test]
    fn options() {
        let read = |line: &'static str| match parse(line) {
            Ok(Command::SetOption { name, value }) => format!("{name}|{value}"),
            Ok(other) => panic!("{other:?}"),
            Err(e) => e.to_string(),
        };
        assert_eq!(read("setoption name USI_Hash value 256"), "USI_Hash|256");
        assert_eq!(read("setoption name Skill Level value 3"), "Skill Level|3");
        assert_eq!(read("setoption name EvalDir value a value b"), "EvalDir|a value b");
        assert_eq!(read("setoption name valued"), "valued|");
        assert_eq!(read("setoption USI_Hash 256"), ParseError::OptionWithoutName.to_string());
        assert_eq!(read("setoption name value 3"), ParseError::OptionWithoutName.to_string());
        assert_eq!(read("setoption"), ParseError::OptionWithoutName.to_string());
    }

    #[test]
    fn clocks() {
        let go = go_of("go btime 1000 wtime -5 binc 10 winc 20 byoyomi 99999999999999999999999");
        assert_eq!((go.limits.time, go.overdrawn, go.limits.inc), ([1000, 0], [0, 5], [10, 20]));
        assert_eq!(go.limits.byoyomi, [u64::MAX; 2]);
        assert!(go.limits.has_clock && go.remarks.is_empty());
        assert!(!go_of("go infinite").limits.has_clock);
    }

    #[test]
    fn ponderhit_may_carry_clocks_and_is_never_lost() {
        let hit = |line| match parse(line) {
            Ok(Command::PonderHit(go)) => (go.limits.has_time(), go.limits.byoyomi[0], go.remarks.len()),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(hit("ponderhit"), (false, 0, 0));
        assert_eq!(hit("ponderhit btime 37082 wtime 23103 byoyomi 10000"), (true, 10_000, 0));
        assert_eq!(hit("ponderhit movetime 300"), (true, 0, 0));
        assert_eq!(hit("ponderhit btime x byoyomi 500"), (true, 500, 1));
        assert_eq!(hit("ponderhit now"), (false, 0, 1));
        assert_eq!(hit("ponderhit mate soon"), (false, 0, 1));
    }

    #[test]
    fn mates() {
        assert_eq!(go_of("go mate").limits.mate, Some(u64::MAX));
        assert_eq!(go_of("go mate infinite").limits.mate, Some(u64::MAX));
        assert_eq!(go_of("go mate 30000").limits.mate, Some(30000));
        assert_eq!(go_of("go mate searchmoves 7g7f").search_moves, ["7g7f"]);
        assert!(matches!(parse("go mate 500ms"), Err(ParseError::GoWithoutSense(_))));
        assert!(matches!(parse("go mate 5s searchmoves 7g7f"), Err(ParseError::GoWithoutSense(_))));
        assert_eq!(go_of("go mate movetime 300").limits.mate, Some(300));
        assert_eq!(go_of("go mate 200 movetime 300").limits.mate, Some(200));
        for (line, remarks) in [
            ("go mate nodes 5", 0),
            ("go mate btime 1000 wtime 1000 byoyomi 300", 1),
            ("go mate 500 depth 3", 1),
            ("go perft 2", 0),
            ("go perft 2 depth 5", 1),
        ] {
            assert_eq!(go_of(line).remarks.len(), remarks, "{line}");
        }
    }

    #[test]
    fn other_limits() {
        let go = go_of("go depth 7 nodes 0 movetime 100 rtime 5 ponder searchmoves 7g7f P*5e infinite");
        assert_eq!((go.limits.depth, go.limits.nodes), (Some(7), Some(1)));
        assert_eq!((go.limits.movetime, go.limits.rtime), (Some(100), Some(5)));
        assert!(go.limits.ponder && go.limits.infinite);
        assert_eq!(go.search_moves, ["7g7f", "P*5e"]);
        assert_eq!(go_of("go perft 3").perft, Some(3));
        assert_eq!(go_of("go depth 99999999999").limits.depth, Some(MAX_PLY as i32));
    }

    #[test]
    fn garbage_in_a_go_is_named_once() {
        let go = go_of("go btime x wtime 1000 foo bar");
        assert_eq!(go.limits.time, [0, 1000]);
        assert_eq!(go.remarks, ["go: btime wants a number, not `x`, and 2 more"]);
        assert!(matches!(parse("go depth x"), Err(ParseError::GoWithoutSense(_))));
        assert!(matches!(parse("go depth"), Err(ParseError::GoWithoutSense(_))));
        assert!(matches!(parse("go foo"), Err(ParseError::GoWithoutSense(_))));
        assert!(go_of("go").remarks.is_empty());
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "\\PC*") {
            let _ = parse(&line);
        }

        #[test]
        fn no_list_of_words_panics(words in prop::collection::vec(
            prop_oneof![
                prop::sample::select(GO_WORDS).prop_map(String::from),
                prop::sample::select(&["go", "position", "setoption", "name", "value", "startpos", "sfen", "moves", "-1", ""])
                    .prop_map(String::from),
                "[0-9a-i*+]{0,6}",
            ], 0..12)) {
            let _ = parse(&words.join(" "));
        }

        #[test]
        fn a_shown_clock_reads_back(b in any::<u32>(), w in any::<u32>(), i in any::<u32>()) {
            let line = format!("go btime {b} wtime {w} binc {i} winc 0");
            let go = go_of(&line);
            prop_assert_eq!(go.limits.time, [u64::from(b), u64::from(w)]);
            prop_assert_eq!(go.limits.inc, [u64::from(i), 0]);
        }
    }
}
