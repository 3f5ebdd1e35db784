//! The lines of the CSA server protocol 1.2.1: [`ServerLine`] is what a server sends, [`ClientLine`] what we do. Pure
//! text, no state.

use crate::record::csa::color_of;
use std::fmt;

/// What a line of the server means. The lines of a game summary are parsed elsewhere: see
/// [`SummaryReader`](super::summary::SummaryReader).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerLine<'a> {
    /// An empty line answers ours.
    KeepAlive,
    /// With our name.
    LoggedIn(&'a str),
    /// With the reason, if the server gives one.
    LoginRefused(&'a str),
    /// The answer to a logout.
    LoggedOut,
    /// `BEGIN Game_Summary`
    BeginSummary,
    /// `BEGIN Reconnect_State` and its end.
    BeginReconnect,
    /// `END Reconnect_State`
    EndReconnect,
    /// The game with this id begins.
    Start(&'a str),
    /// The game does not take place.
    Reject {
        /// Which game.
        game_id: &'a str,
        /// Who does not want it.
        by: &'a str,
    },
    /// A move in CSA notation and what the clock charged for it, in the game's time unit.
    Move {
        /// Without what stands behind the comma.
        text: &'a str,
        /// What the clock charged.
        time: Option<u64>,
    },
    /// `%TORYO`, `%KACHI`, `%CHUDAN`, ...
    Special {
        /// Without what stands behind the comma.
        text: &'a str,
        /// What the clock charged.
        time: Option<u64>,
    },
    /// Why the game is over.
    Reason(Reason),
    /// Who has won.
    Verdict(Verdict),
    /// An answer of the extended mode: `##[WHO] ...`
    Extended(&'a str),
    /// Anything else.
    Other(&'a str),
}

/// Why a game is over, by the server's lines that begin with `#`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `%TORYO`, resignation.
    Resign,
    /// A flag has fallen.
    TimeUp,
    /// A move against the rules, or a false declaration.
    IllegalMove,
    /// Any other foul.
    IllegalAction,
    /// The fourth repetition.
    Sennichite,
    /// Perpetual check.
    OuteSennichite,
    /// A declared win, or an impasse.
    Jishogi,
    /// By the number of moves.
    MaxMoves,
    /// A player is gone.
    Abnormal,
}

/// Who has won, from our view; with it the game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// We have won.
    Win,
    /// We have lost.
    Lose,
    /// Nobody has.
    Draw,
    /// Neither a result nor a draw, by the number of moves.
    Censored,
    /// Broken off by the server.
    Chudan,
}

const REASONS: [(Reason, &str); 9] = [
    (Reason::Resign, "#RESIGN"),
    (Reason::TimeUp, "#TIME_UP"),
    (Reason::IllegalMove, "#ILLEGAL_MOVE"),
    (Reason::IllegalAction, "#ILLEGAL_ACTION"),
    (Reason::Sennichite, "#SENNICHITE"),
    (Reason::OuteSennichite, "#OUTE_SENNICHITE"),
    (Reason::Jishogi, "#JISHOGI"),
    (Reason::MaxMoves, "#MAX_MOVES"),
    (Reason::Abnormal, "#ABNORMAL"),
];

const VERDICTS: [(Verdict, &str); 5] = [
    (Verdict::Win, "#WIN"),
    (Verdict::Lose, "#LOSE"),
    (Verdict::Draw, "#DRAW"),
    (Verdict::Censored, "#CENSORED"),
    (Verdict::Chudan, "#CHUDAN"),
];

impl fmt::Display for Reason {
    /// The server's line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REASONS.iter().find(|(r, _)| r == self).map_or("", |(_, text)| text))
    }
}

impl fmt::Display for Verdict {
    /// The server's line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(VERDICTS.iter().find(|(v, _)| v == self).map_or("", |(_, text)| text))
    }
}

impl<'a> ServerLine<'a> {
    /// Reads a line without its end.
    pub fn parse(line: &'a str) -> ServerLine<'a> {
        match line {
            "" => return ServerLine::KeepAlive,
            "LOGOUT:completed" => return ServerLine::LoggedOut,
            "BEGIN Game_Summary" => return ServerLine::BeginSummary,
            "BEGIN Reconnect_State" => return ServerLine::BeginReconnect,
            "END Reconnect_State" => return ServerLine::EndReconnect,
            _ => {}
        }
        if let Some(rest) = line.strip_prefix("LOGIN:") {
            return match (rest.strip_prefix("incorrect"), rest.strip_suffix(" OK")) {
                (Some(reason), _) => ServerLine::LoginRefused(reason.trim()),
                (None, Some(name)) => ServerLine::LoggedIn(name),
                (None, None) => ServerLine::Other(line),
            };
        }
        if let Some(id) = line.strip_prefix("START:") {
            return ServerLine::Start(id);
        }
        if let Some(rest) = line.strip_prefix("REJECT:") {
            let (game_id, by) = rest.split_once(" by ").unwrap_or((rest, ""));
            return ServerLine::Reject { game_id, by };
        }
        if line.starts_with("##") {
            return ServerLine::Extended(line);
        }
        if line.starts_with('#') {
            let text = line.trim_end();
            let reason = REASONS.iter().find(|(_, name)| *name == text).map(|(r, _)| ServerLine::Reason(*r));
            let verdict =
                VERDICTS.iter().find(|(_, name)| *name == text).map(|(v, _)| ServerLine::Verdict(*v));
            return reason.or(verdict).unwrap_or(ServerLine::Other(line));
        }
        let (text, time) = split_time(line);
        if text.len() == 7 && text.is_ascii() && text.chars().next().and_then(color_of).is_some() {
            return ServerLine::Move { text, time };
        }
        if text.starts_with('%') && !text.starts_with("%%") {
            return ServerLine::Special { text, time };
        }
        ServerLine::Other(line)
    }
}

/// Splits `+7776FU,T12` at its commas; an invalid time is left out.
fn split_time(line: &str) -> (&str, Option<u64>) {
    let mut parts = line.trim_end().split(',');
    let text = parts.next().unwrap_or_default();
    let time = parts.find_map(|part| part.strip_prefix('T'));
    (text, time.and_then(|t| t.parse().ok()).filter(|t: &u64| *t < 1 << 40))
}

/// What we say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientLine<'a> {
    /// `resume` continues a game that a broken connection interrupted.
    Login {
        /// Who we are.
        name: &'a str,
        /// Game and trip on floodgate.
        password: &'a str,
        /// Game and token.
        resume: Option<&'a str>,
    },
    /// `LOGOUT`
    Logout,
    /// `AGREE`
    Agree,
    /// `REJECT`
    Reject,
    /// An empty line.
    KeepAlive,
    /// A move in CSA notation with floodgate's comment, which begins behind `'`.
    Move {
        /// Without what stands behind the comma.
        text: &'a str,
        /// Score and line of play.
        comment: Option<&'a str>,
    },
    /// `%TORYO`, resignation.
    Resign,
    /// `%KACHI`
    DeclareWin,
}

impl fmt::Display for ClientLine<'_> {
    /// Without the line's end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientLine::Login { name, password, resume: None } => write!(f, "LOGIN {name} {password}"),
            ClientLine::Login { name, password, resume: Some(resume) } => {
                write!(f, "LOGIN {name} {password} reconnect:{resume}")
            }
            ClientLine::Logout => f.write_str("LOGOUT"),
            ClientLine::Agree => f.write_str("AGREE"),
            ClientLine::Reject => f.write_str("REJECT"),
            ClientLine::KeepAlive => Ok(()),
            ClientLine::Move { text, comment: None } => f.write_str(text),
            ClientLine::Move { text, comment: Some(comment) } => write!(f, "{text},'{comment}"),
            ClientLine::Resign => f.write_str("%TORYO"),
            ClientLine::DeclareWin => f.write_str("%KACHI"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_server() {
        use ServerLine as L;
        let cases = [
            ("", L::KeepAlive),
            ("LOGIN:alice OK", L::LoggedIn("alice")),
            ("LOGIN:incorrect", L::LoginRefused("")),
            ("LOGIN:incorrect rate_limited retry_after=7", L::LoginRefused("rate_limited retry_after=7")),
            ("LOGOUT:completed", L::LoggedOut),
            ("START:a+b", L::Start("a+b")),
            ("REJECT:a+b by bob", L::Reject { game_id: "a+b", by: "bob" }),
            ("+7776FU,T12", L::Move { text: "+7776FU", time: Some(12) }),
            ("-3334FU", L::Move { text: "-3334FU", time: None }),
            ("-3334FU,Tx", L::Move { text: "-3334FU", time: None }),
            ("-3334FU,'* 3,T5", L::Move { text: "-3334FU", time: Some(5) }),
            ("%KACHI,T0", L::Special { text: "%KACHI", time: Some(0) }),
            ("%TORYO", L::Special { text: "%TORYO", time: None }),
            ("#OUTE_SENNICHITE", L::Reason(Reason::OuteSennichite)),
            ("#CENSORED", L::Verdict(Verdict::Censored)),
            ("#NEW_THING", L::Other("#NEW_THING")),
            ("##[WHO] +OK", L::Extended("##[WHO] +OK")),
            ("username x is already connected", L::Other("username x is already connected")),
            ("+７７", L::Other("+７７")),
        ];
        for (text, line) in cases {
            assert_eq!(ServerLine::parse(text), line, "{text}");
        }
        for (reason, text) in REASONS {
            assert_eq!(reason.to_string(), text);
        }
    }

    #[test]
    fn our_lines() {
        let login = ClientLine::Login { name: "a", password: "g,p", resume: None };
        assert_eq!(login.to_string(), "LOGIN a g,p");
        let login = ClientLine::Login { name: "a", password: "p", resume: Some("id+token") };
        assert_eq!(login.to_string(), "LOGIN a p reconnect:id+token");
        assert_eq!(ClientLine::KeepAlive.to_string(), "");
        let m = ClientLine::Move { text: "+7776FU", comment: Some("* 30 -3334FU") };
        assert_eq!(m.to_string(), "+7776FU,'* 30 -3334FU");
    }
}
