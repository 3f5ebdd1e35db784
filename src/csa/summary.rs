//! The game summary: who plays whom, from where, with what clocks.

use super::clock::TimeControl;
use crate::position::Position;
use crate::record::csa::{BoardReader, color_of, read_move};
use crate::types::{Color, Move};

/// A proposed game.
#[derive(Clone)]
pub struct GameSummary {
    /// The name that the server gives the game.
    pub game_id: String,
    /// By colour.
    pub names: [String; 2],
    /// The colour we play.
    pub our_color: Color,
    /// Whether a draw is played again.
    pub rematch_on_draw: bool,
    /// How many moves a game may have, where there is a limit.
    pub max_moves: Option<u32>,
    /// By colour.
    pub times: [TimeControl; 2],
    /// Where the moves begin.
    pub root: Position,
    /// Moves that are played already, with their T values.
    pub moves: Vec<(Move, Option<u64>)>,
    /// The server's token to resume the game after a broken connection.
    pub reconnect_token: Option<String>,
    /// All other lines, by their keys: `Declaration`, `Protocol_Version`, ...
    pub other: Vec<(String, String)>,
}

/// Why a summary cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("game summary, line {line} `{text}`: {what}")]
pub struct SummaryError {
    /// 1-based, counted from `BEGIN Game_Summary`.
    pub line: usize,
    /// The line, cut.
    pub text: String,
    /// A sentence for the user.
    pub what: String,
}

/// Which block a line stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Top,
    /// `Time`, `Time+`, `Time-`
    Time(Option<Color>),
    Position,
    /// One that we do not know.
    Unknown,
}

/// Collects the lines between `BEGIN Game_Summary` and `END Game_Summary`.
pub struct SummaryReader {
    lines: usize,
    block: Block,
    game_id: Option<String>,
    names: [String; 2],
    our_color: Option<Color>,
    to_move: Option<Color>,
    rematch_on_draw: bool,
    max_moves: Option<u32>,
    times: [RawTime; 2],
    board: BoardReader,
    /// From the line that says who moves first.
    played: Option<PositionBlock>,
    reconnect_token: Option<String>,
    other: Vec<(String, String)>,
}

/// Where the game begins, and what was played already.
struct PositionBlock {
    root: Position,
    /// After the moves.
    position: Position,
    moves: Vec<(Move, Option<u64>)>,
}

impl PositionBlock {
    fn from(root: Position) -> PositionBlock {
        PositionBlock { position: root.clone(), root, moves: Vec::new() }
    }
}

/// Amounts as the lines state them: in units.
#[derive(Clone, Copy, Default)]
struct RawTime {
    unit: Option<u64>,
    total: Option<u64>,
    byoyomi: u64,
    increment: u64,
    delay: u64,
    least: u64,
    round_up: bool,
}

/// A summary has fewer lines: a game has a few hundred moves.
const MOST_LINES: usize = 20_000;

impl Default for SummaryReader {
    fn default() -> SummaryReader {
        SummaryReader {
            lines: 1,
            block: Block::Top,
            game_id: None,
            names: Default::default(),
            our_color: None,
            to_move: None,
            rematch_on_draw: false,
            max_moves: None,
            times: Default::default(),
            board: BoardReader::default(),
            played: None,
            reconnect_token: None,
            other: Vec::new(),
        }
    }
}

impl SummaryReader {
    /// Takes the next line; returns the summary with the last one. Unknown keys are kept and have no effect.
    ///
    /// # Errors
    /// [`SummaryError`] names the line. The game should then be rejected.
    pub fn line(&mut self, line: &str) -> Result<Option<GameSummary>, SummaryError> {
        self.lines += 1;
        let done = line == "END Game_Summary";
        let result = if self.lines > MOST_LINES {
            Err("the summary has no end".into())
        } else if done {
            self.finish().map(Some)
        } else {
            self.read(line).map(|()| None)
        };
        result.map_err(|what| SummaryError { line: self.lines, text: line.chars().take(80).collect(), what })
    }

    fn read(&mut self, line: &str) -> Result<(), String> {
        if let Some(block) = line.strip_prefix("BEGIN ") {
            self.block = match block {
                "Time" => Block::Time(None),
                "Time+" => Block::Time(Some(Color::Black)),
                "Time-" => Block::Time(Some(Color::White)),
                "Position" => Block::Position,
                _ => Block::Unknown,
            };
            return Ok(());
        }
        if line.starts_with("END ") {
            self.block = Block::Top;
            return Ok(());
        }
        match self.block {
            Block::Position => self.position(line),
            Block::Unknown => Ok(()),
            // a line without a colon is an error in the clock or the board, and harmless elsewhere
            Block::Top => match line.split_once(':') {
                Some((key, value)) => self.entry(key, value),
                None => Ok(()),
            },
            Block::Time(color) => match line.split_once(':') {
                Some((key, value)) => self.time(color, key, value),
                None if line.is_empty() => Ok(()),
                None => Err("no key and value".into()),
            },
        }
    }

    fn entry(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "Game_ID" => self.game_id = Some(value.into()),
            "Name+" => self.names[0] = value.into(),
            "Name-" => self.names[1] = value.into(),
            "Your_Turn" => self.our_color = Some(color(value)?),
            "To_Move" => self.to_move = Some(color(value)?),
            "Rematch_On_Draw" => self.rematch_on_draw = value == "YES",
            "Max_Moves" => self.max_moves = Some(number(value)? as u32).filter(|n| *n > 0),
            "Reconnect_Token" => self.reconnect_token = Some(value.into()),
            "Format" if !value.starts_with("Shogi") => return Err("another game than shogi".into()),
            _ => self.other.push((key.into(), value.into())),
        }
        Ok(())
    }

    fn time(&mut self, whose: Option<Color>, key: &str, value: &str) -> Result<(), String> {
        for c in Color::ALL.into_iter().filter(|c| whose.is_none_or(|w| w == *c)) {
            let t = &mut self.times[c.index()];
            match key {
                "Time_Unit" => t.unit = Some(unit(value)?),
                "Total_Time" => t.total = Some(number(value)?),
                "Byoyomi" => t.byoyomi = number(value)?,
                "Increment" => t.increment = number(value)?,
                "Delay" => t.delay = number(value)?,
                "Least_Time_Per_Move" => t.least = number(value)?,
                "Time_Roundup" => t.round_up = value == "YES",
                _ => {}
            }
        }
        Ok(())
    }

    fn position(&mut self, line: &str) -> Result<(), String> {
        if line.starts_with('P') && self.played.is_none() {
            return self.board.line(line).map_err(|e| e.to_string());
        }
        let mut parts = line.split(',');
        let text = parts.next().unwrap_or_default().trim_end();
        match (&mut self.played, text) {
            (_, "") => Ok(()),
            (None, "+" | "-") => {
                let root = self.board.clone().finish(color(text)?).map_err(|e| e.to_string())?;
                self.played = Some(PositionBlock::from(root));
                Ok(())
            }
            (None, _) => Err("a move before the side to move".into()),
            (Some(PositionBlock { position, moves, .. }), _) => {
                let m = read_move(position, text).map_err(|e| e.to_string())?;
                position.do_move(m);
                let time = parts.find_map(|p| p.strip_prefix('T')).and_then(|t| t.parse().ok());
                moves.push((m, time));
                Ok(())
            }
        }
    }

    fn finish(&mut self) -> Result<GameSummary, String> {
        let missing = |what: &str| format!("{what} is missing");
        let game_id = self.game_id.take().ok_or_else(|| missing("Game_ID"))?;
        let our_color = self.our_color.ok_or_else(|| missing("Your_Turn"))?;
        let PositionBlock { root, moves, .. } = match self.played.take() {
            Some(played) => played,
            None => {
                let side = self.to_move.ok_or_else(|| missing("the position"))?;
                let root = std::mem::take(&mut self.board).finish(side).map_err(|e| e.to_string())?;
                PositionBlock::from(root)
            }
        };
        let stop_watch = is_stop_watch(&game_id);
        Ok(GameSummary {
            names: std::mem::take(&mut self.names),
            our_color,
            rematch_on_draw: self.rematch_on_draw,
            max_moves: self.max_moves,
            times: self.times.map(|t| t.control(stop_watch)),
            root,
            moves,
            reconnect_token: self.reconnect_token.take(),
            other: std::mem::take(&mut self.other),
            game_id,
        })
    }
}

impl RawTime {
    /// The same in milliseconds. `stop_watch`: the server's game name asks for a clock that counts whole byoyomi
    /// periods; it says `Time_Unit:1min` then, though all its numbers are seconds, and what it calls byoyomi is no
    /// extra time.
    fn control(&self, stop_watch: bool) -> TimeControl {
        let minutes = self.unit == Some(60_000);
        let unit = if stop_watch && minutes { 1000 } else { self.unit.unwrap_or(1000) };
        let ms = |n: u64| n.saturating_mul(unit).min(1 << 42);
        TimeControl {
            unit,
            total: self.total.map(ms),
            byoyomi: if stop_watch && minutes { 0 } else { ms(self.byoyomi) },
            increment: ms(self.increment),
            delay: ms(self.delay),
            least: ms(self.least),
            round_up: self.round_up,
        }
    }
}

/// Whether a game's name, the second part of its id, ends like `-900-060`.
fn is_stop_watch(game_id: &str) -> bool {
    let name = game_id.split('+').nth(1).unwrap_or_default();
    let name = name.strip_suffix("-B").or_else(|| name.strip_suffix("-W")).unwrap_or(name);
    let byoyomi = name.rsplit('-').next().unwrap_or_default();
    byoyomi.len() > 1 && byoyomi.starts_with('0') && byoyomi.bytes().all(|b| b.is_ascii_digit())
}

fn color(text: &str) -> Result<Color, String> {
    let mut chars = text.trim().chars();
    match (chars.next().and_then(color_of), chars.next()) {
        (Some(color), None) => Ok(color),
        _ => Err("neither + nor -".into()),
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.trim().parse().ok().filter(|n: &u64| *n < 1 << 32).ok_or_else(|| "not a number".into())
}

/// `1sec`, `1min`, `100msec` in milliseconds.
fn unit(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let count: u64 = if digits == 0 { 1 } else { number(&text[..digits])? };
    let ms = match &text[digits..] {
        "msec" => 1,
        "sec" => 1000,
        "min" => 60_000,
        _ => return Err("not a unit of time".into()),
    };
    if count == 0 { Err("not a unit of time".into()) } else { Ok(count * ms) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "Protocol_Version:1.2\nProtocol_Mode:Server\nFormat:Shogi 1.0\nGame_ID:t+g-300-10F+a+b+1\nName+:a\nName-:b\nYour_Turn:-\nRematch_On_Draw:NO\nTo_Move:+\nMax_Moves:256\nBEGIN Time\nTime_Unit:1sec\nTotal_Time:300\nByoyomi:0\nIncrement:10\nLeast_Time_Per_Move:0\nEND Time\nBEGIN Position\nPI\n+\n+7776FU,T12\n-3334FU,T3\nEND Position\nEntering_King_Rule:CSARule27\nEND Game_Summary";

    fn read(text: &str) -> Result<GameSummary, SummaryError> {
        let mut reader = SummaryReader::default();
        for line in text.lines() {
            if let Some(summary) = reader.line(line)? {
                return Ok(summary);
            }
        }
        panic!("no end in {text}")
    }

    #[test]
    fn all_fields() {
        let s = read(SUMMARY).unwrap();
        assert_eq!(
            (s.game_id.as_str(), s.our_color, s.max_moves),
            ("t+g-300-10F+a+b+1", Color::White, Some(256))
        );
        let t = s.times[0];
        assert_eq!((t.unit, t.total, t.byoyomi, t.increment), (1000, Some(300_000), 0, 10_000));
        assert_eq!(
            s.moves.iter().map(|(m, t)| (m.to_string(), *t)).collect::<Vec<_>>(),
            [("7g7f".into(), Some(12)), ("3c3d".into(), Some(3))]
        );
        assert!(s.other.iter().any(|(k, v)| k == "Entering_King_Rule" && v == "CSARule27"));
    }

    #[test]
    fn each_side_its_own_time_in_other_units() {
        let text = SUMMARY.replace(
            "BEGIN Time\n",
            "BEGIN Time+\nTime_Unit:1msec\nTotal_Time:5000\nDelay:200\nEND Time+\nBEGIN Time-\nTime_Unit:1min\nTotal_Time:15\nTime_Roundup:YES\nEND Time-\nBEGIN Unheard_Of\n",
        );
        let s = read(&text.replace("END Time\n", "END Unheard_Of\n")).unwrap();
        assert_eq!((s.times[0].unit, s.times[0].total, s.times[0].delay), (1, Some(5000), 200));
        assert_eq!((s.times[1].unit, s.times[1].total, s.times[1].round_up), (60_000, Some(900_000), true));
    }

    #[test]
    fn a_stop_watch_counts_in_seconds() {
        let text = SUMMARY
            .replace("g-300-10F", "g-900-060-B")
            .replace("1sec", "1min")
            .replace("Byoyomi:0", "Byoyomi:60");
        let t = read(&text.replace("Increment:10", "Increment:0")).unwrap().times[0];
        assert_eq!((t.unit, t.total, t.byoyomi), (1000, Some(300_000), 0));
    }

    #[test]
    fn handicaps_begin_with_white() {
        let s =
            read(&SUMMARY.replace("PI\n+\n+7776FU,T12\n-3334FU,T3", "PI82HI22KA\n-\n-3334FU,T1")).unwrap();
        assert_eq!((s.root.side_to_move(), s.moves.len()), (Color::White, 1));
    }

    #[test]
    fn missing_and_wrong_lines_are_reported() {
        let cases = [
            ("Game_ID:t+g-300-10F+a+b+1\n", "", "Game_ID is missing"),
            ("Your_Turn:-", "Your_Turn:x", "neither"),
            ("1sec", "1year", "unit"),
            ("Total_Time:300", "Total_Time:300s", "number"),
            ("Total_Time:300", "Total_Time", "no key"),
            ("+7776FU", "+7775FU", "7775FU"),
            ("PI", "P1-XX", "P1-XX"),
            ("PI\n+\n", "PI\n", "before the side to move"),
            ("Shogi 1.0", "Chess 1.0", "another game"),
        ];
        for (old, new, what) in cases {
            let error = read(&SUMMARY.replacen(old, new, 1)).err().unwrap().to_string();
            assert!(error.contains(what), "{new}: {error}");
        }
        assert_eq!(read(&SUMMARY.replacen("Your_Turn:-", "Your_Turn:x", 1)).err().unwrap().line, 8);
    }
}
