//! Reading JKF.

use super::names::{PRESETS, read_relative};
use crate::position::{Position, handicap};
use crate::record::builder::Builder;
use crate::record::csa::kind_of;
use crate::record::error::{RecordError, excerpt};
use crate::record::game::Record;
use crate::record::headings::name_of;
use crate::record::kakinoki::{Relative, find_move};
use crate::record::special::Special;
use crate::types::{Color, Move, Piece, PieceType, Square};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// Reads a game with its variations. Every move must be legal; moves that name their origin only by `relative`, or
/// their target by `same`, are understood.
///
/// # Errors
/// [`RecordError`] names the line and what is wrong with it.
pub fn read(text: &str) -> Result<Record, RecordError> {
    let source = Source(text);
    let file: File<'_> = source.parse(text)?;
    let record = begin(&source, &file)?;
    let mut reader = Reader { source, game: Builder::new(record) };
    reader.entries(&file.moves)?;
    Ok(reader.game.finish())
}

/// The text, to find the lines of its parts.
struct Source<'a>(&'a str);

impl<'a> Source<'a> {
    /// The line on which a part of the text begins.
    fn line(&self, part: &str) -> usize {
        let at = (part.as_ptr() as usize).saturating_sub(self.0.as_ptr() as usize).min(self.0.len());
        1 + self.0.as_bytes().iter().take(at).filter(|b| **b == b'\n').count()
    }

    fn error(&self, part: &str, what: impl fmt::Display) -> RecordError {
        RecordError::new(self.line(part), what)
    }

    fn parse<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T, RecordError> {
        serde_json::from_str(part).map_err(|e| {
            // the place that serde_json tells is that within the part
            let what = e.to_string();
            let what = what.split(" at line ").next().unwrap_or_default().to_string();
            RecordError::new(self.line(part) + e.line().max(1) - 1, format!("{what} (column {})", e.column()))
        })
    }
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default)]
    header: Option<&'a RawValue>,
    #[serde(borrow, default)]
    initial: Option<&'a RawValue>,
    #[serde(borrow)]
    moves: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Initial {
    preset: String,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    color: u8,
    /// By file, then by rank.
    board: Vec<Vec<OnSquare>>,
    hands: [BTreeMap<String, u32>; 2],
}

#[derive(Deserialize)]
struct OnSquare {
    color: Option<u8>,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Entry<'a> {
    comments: Option<Vec<String>>,
    #[serde(rename = "move")]
    mv: Option<JkfMove>,
    time: Option<Times>,
    special: Option<String>,
    #[serde(borrow)]
    forks: Option<Vec<Vec<&'a RawValue>>>,
}

#[derive(Deserialize)]
struct JkfMove {
    color: Option<u8>,
    from: Option<Place>,
    to: Option<Place>,
    piece: String,
    same: Option<bool>,
    promote: Option<bool>,
    relative: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
struct Place {
    x: u8,
    y: u8,
}

#[derive(Deserialize)]
struct Times {
    now: Time,
}

#[derive(Deserialize)]
struct Time {
    h: Option<f64>,
    m: f64,
    s: f64,
}

/// The headings in their order.
#[derive(Default)]
struct Header(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Header, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("headings and their texts")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Header(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// The preset of a position that stands in `data`.
const OTHER: &str = "OTHER";

/// The record before its first move.
fn begin(source: &Source<'_>, file: &File<'_>) -> Result<Record, RecordError> {
    let initial: Option<Initial> = match file.initial {
        Some(part) => source.parse(part.get())?,
        None => None,
    };
    let by_name = initial.as_ref().is_none_or(|initial| initial.preset != OTHER);
    let root = match (file.initial, initial) {
        (Some(part), Some(initial)) => starting_position(initial).map_err(|e| source.error(part.get(), e))?,
        _ => Position::startpos(),
    };
    let mut record = Record::new(root);
    if let Some(part) = file.header {
        let header: Header = source.parse(part.get())?;
        headings(header, &mut record, by_name).map_err(|e| source.error(part.get(), e))?;
    }
    Ok(record)
}

/// The headings; `by_name` where nothing but a name, or nothing at all, has said from where the moves begin.
fn headings(header: Header, record: &mut Record, by_name: bool) -> Result<(), String> {
    let mut named = [false; 2];
    for (heading, value) in header.0 {
        let color = match heading.as_str() {
            "先手" | "下手" => Color::Black,
            "後手" | "上手" => Color::White,
            "手合割" => {
                match handicap::position(value.trim()) {
                    // `initial` says where the moves begin, this heading only repeats it
                    Some(position) => {
                        let position = position.map_err(|e| e.to_string())?;
                        if by_name && position.sfen() != record.root.sfen() {
                            return Err(format!(
                                "手合割 is `{}`, but `initial` is another position",
                                excerpt(&value)
                            ));
                        }
                    }
                    None if value.trim() == "その他" => {}
                    None => record.headers.push((heading, value)),
                }
                continue;
            }
            _ => {
                record.headers.push((name_of(&heading, &value).into(), value));
                continue;
            }
        };
        if std::mem::replace(&mut named[color.index()], true) {
            return Err(format!("`{}`: that player has a name already", excerpt(&value)));
        }
        record.names[color.index()] = value;
    }
    Ok(())
}

fn starting_position(initial: Initial) -> Result<Position, String> {
    if let Some((_, name)) = PRESETS.iter().find(|(preset, _)| *preset == initial.preset) {
        let position = handicap::position(name).ok_or_else(|| format!("no position `{name}`"))?;
        return position.map_err(|e| e.to_string());
    }
    if initial.preset != OTHER {
        return Err(format!("the starting position `{}` is not known", excerpt(&initial.preset)));
    }
    let data = initial.data.ok_or("a starting position OTHER without its data")?;
    let mut board = [Piece::NONE; Square::NUM];
    if data.board.len() != 9 || data.board.iter().any(|file| file.len() != 9) {
        return Err("the board has not 9 files of 9 squares".into());
    }
    for (x, file) in data.board.iter().enumerate() {
        for (y, square) in file.iter().enumerate() {
            let Some(name) = &square.kind else { continue };
            let kind = kind_of(name).ok_or_else(|| format!("`{}` is no piece", excerpt(name)))?;
            board[Square::new(x as u8, y as u8).index()] = kind.of(color(square.color.unwrap_or(0))?);
        }
    }
    let mut hands = [[0; 8]; 2];
    for (hand, pieces) in hands.iter_mut().zip(&data.hands) {
        for (name, count) in pieces.iter().filter(|(_, count)| **count > 0) {
            let kind = kind_of(name).filter(|k| PieceType::HAND.contains(k));
            let kind = kind.ok_or_else(|| format!("`{}` cannot be in hand", excerpt(name)))?;
            hand[kind.index()] = *count;
        }
    }
    Position::from_parts(board, hands, color(data.color)?, 1).map_err(|e| e.to_string())
}

fn color(number: u8) -> Result<Color, String> {
    match number {
        0 => Ok(Color::Black),
        1 => Ok(Color::White),
        n => Err(format!("{n} is no colour")),
    }
}

struct Reader<'a> {
    source: Source<'a>,
    game: Builder,
}

impl<'a> Reader<'a> {
    /// A line, then its forks from the last to the first.
    fn entries(&mut self, entries: &[&'a RawValue]) -> Result<(), RecordError> {
        let mut forks = Vec::new();
        for part in entries {
            let text = part.get();
            let mut entry: Entry<'_> = self.source.parse(text)?;
            if let Some(found) = entry.forks.take() {
                forks.push((self.game.ply(), text, found));
            }
            self.entry(entry).map_err(|what| self.source.error(text, what))?;
        }
        for (ply, text, found) in forks.into_iter().rev() {
            for fork in found.into_iter().filter(|fork| !fork.is_empty()) {
                self.game.vary(ply).map_err(|what| self.source.error(text, what))?;
                self.entries(&fork)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: Entry<'_>) -> Result<(), String> {
        let game = &mut self.game;
        let turn = game.position().side_to_move();
        if (entry.mv.is_some() || entry.special.is_some())
            && let Some(end) = game.end()
        {
            return Err(format!("a move after {}", end.special.kif(turn)));
        }
        if let Some(mv) = entry.mv {
            let m = legal_move(game, &mv)?;
            game.play(m);
        }
        if let Some(name) = entry.special {
            // KIF's 反則勝ち, as the makers of the format write it: without the sign that CSA has
            let unsigned = (name == "ILLEGAL_ACTION").then_some(Special::IllegalAction(!turn));
            let special = Special::from_csa(&format!("%{name}"))
                .or(unsigned)
                .ok_or_else(|| format!("`{}` is no special move", excerpt(&name)))?;
            game.finish_line(special);
        }
        if let Some(Times { now }) = entry.time {
            let seconds = now.h.unwrap_or(0.0) * 3600.0 + now.m * 60.0 + now.s;
            let time = Duration::try_from_secs_f64(seconds).ok().filter(|t| t.as_secs() < 1 << 32);
            let time = time.ok_or_else(|| format!("{seconds} seconds are no time"))?;
            if let Some(slot) = game.time() {
                *slot = Some(time);
            }
        }
        for comment in entry.comments.unwrap_or_default() {
            game.comment(comment);
        }
        Ok(())
    }
}

fn legal_move(game: &mut Builder, mv: &JkfMove) -> Result<Move, String> {
    let position = game.position();
    let side = position.side_to_move();
    if mv.color.is_some_and(|c| color(c) != Ok(side)) {
        return Err(format!("{}: it is the other player's turn", describe(mv)));
    }
    let kind = kind_of(&mv.piece).ok_or_else(|| format!("`{}` is no piece", excerpt(&mv.piece)))?;
    let to = match (&mv.to, mv.same) {
        (Some(place), _) => square(*place)?,
        (None, Some(true)) => game.last_target().ok_or("`same` before the first move")?,
        (None, _) => return Err(format!("{} goes nowhere", describe(mv))),
    };
    let promotes = mv.promote == Some(true);
    let relative = match &mv.relative {
        None => Relative::default(),
        Some(text) => read_relative(text).ok_or_else(|| format!("`{}` is no way to move", excerpt(text)))?,
    };
    let failed = |e: String| format!("{}: {e}", describe(mv));
    let Some(from) = mv.from else {
        return find_move(position, to, kind, promotes, relative).map_err(failed);
    };
    let from = square(from)?;
    let piece = kind.of(side);
    let before = position.piece_on(from);
    if before.is_some() && before != piece {
        return Err(failed("that piece does not stand on its origin".into()));
    }
    if promotes && !kind.can_promote() {
        return Err(failed("that piece cannot promote".into()));
    }
    let m = if promotes { Move::promotion(from, to, piece) } else { Move::normal(from, to, piece) };
    position.parse_move(&m.to_string()).map_err(|e| failed(e.to_string()))
}

/// A move in an error message.
fn describe(mv: &JkfMove) -> String {
    let place = |p: &Option<Place>| p.map_or(String::new(), |p| format!("{}{}", p.x, p.y));
    format!("{} {}-{}", excerpt(&mv.piece), place(&mv.from), place(&mv.to))
}

fn square(place: Place) -> Result<Square, String> {
    match (place.x, place.y) {
        (x @ 1..=9, y @ 1..=9) => Ok(Square::new(x - 1, y - 1)),
        (x, y) => Err(format!("there is no square {x}, {y}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = r#"{
"header": {"先手": "A", "棋戦": "E", "表題": "T"},
"initial": {"preset": "HIRATE"},
"moves": [
{"comments": ["before"]},
{"move": {"color": 0, "from": {"x": 7, "y": 7}, "to": {"x": 7, "y": 6}, "piece": "FU"}, "time": {"now": {"m": 1, "s": 2}, "total": {"h": 0, "m": 1, "s": 2}}},
{"move": {"from": {"x": 3, "y": 3}, "to": {"x": 3, "y": 4}, "piece": "FU"}},
{"move": {"from": {"x": 8, "y": 8}, "to": {"x": 2, "y": 2}, "piece": "KA", "promote": true, "capture": "KA"},
 "forks": [[{"move": {"piece": "FU", "to": {"x": 2, "y": 6}}, "comments": ["other"]}, {"special": "CHUDAN"}]]},
{"move": {"piece": "GI", "same": true}},
{"move": {"piece": "KA", "to": {"x": 4, "y": 5}, "relative": "H"}},
{"special": "TORYO"}]}"#;

    #[test]
    fn a_game_with_everything() {
        let record = read(GAME).unwrap();
        assert_eq!(record.names[0], "A");
        assert_eq!((record.header("EVENT"), record.header("表題")), (Some("E"), Some("T")));
        assert_eq!(record.comments, ["before"]);
        let moves: Vec<String> = record.moves.iter().map(|p| p.mv.to_string()).collect();
        assert_eq!(moves, ["7g7f", "3c3d", "8h2b+", "3a2b", "B*4e"]);
        assert_eq!(record.moves[0].time, Some(Duration::from_secs(62)));
        let fork = &record.moves[2].variations[0];
        assert_eq!((fork.moves[0].mv.to_string(), fork.end.is_some()), ("2g2f".into(), true));
        assert_eq!(fork.moves[0].comments, ["other"]);
        assert_eq!(record.end.unwrap().special, Special::Resign);
        // 反則勝ち of the side to move, White
        let action = read(&GAME.replace("TORYO", "ILLEGAL_ACTION")).unwrap().end.unwrap();
        assert_eq!(action.special, Special::IllegalAction(crate::types::Color::Black));
    }

    #[test]
    fn errors_name_the_line() {
        let wrong = |old: &str, new: &str| read(&GAME.replacen(old, new, 1)).err().unwrap();
        for (old, new, line) in [
            ("HIRATE", "HIRATA", 3),
            (r#""y": 6}"#, r#""y": 5}"#, 6),
            (r#""y": 6}"#, r#""y": 0}"#, 6),
            // the brace is missed where the next thing begins
            (r#""y": 6}"#, r#""y": 6"#, 7),
            (r#""m": 1"#, r#""m": -1"#, 6),
            (r#""color": 0"#, r#""color": 1"#, 6),
            (r#""piece": "GI""#, r#""piece": "KI""#, 10),
            (r#""piece": "GI""#, r#""piece": "XX""#, 10),
            (r#""x": 2, "y": 6}"#, r#""x": 2, "y": 5}"#, 9),
            ("\"H\"", "\"X\"", 11),
            ("TORYO", "TORY0", 12),
        ] {
            let error = wrong(old, new);
            assert_eq!(error.line, line, "{new}: {error}");
        }
        assert!(read("").is_err() && read("[]").is_err() && read("{}").is_err());
    }

    #[test]
    fn a_handicap_in_the_headings_is_the_one_of_initial() {
        let file = |header: &str, initial: &str| {
            read(&format!("{{\n\"header\": {{{header}}},\n{initial}\"moves\": [{{}}]}}"))
        };
        let six = r#""手合割": "六枚落ち　""#;
        for initial in ["", r#""initial": {"preset": "HIRATE"}, "#, r#""initial": {"preset": "4"}, "#] {
            let error = file(six, initial).err().unwrap();
            assert!(error.line == 2 && error.what.contains("六枚落ち"), "{error}");
        }
        let root = file(six, r#""initial": {"preset": "6"}, "#).unwrap().root;
        assert_eq!(handicap::name(&root), Some("六枚落ち"));
        // what is no handicap stays
        let record = file(r#""手合割": "詰将棋""#, "").unwrap();
        assert_eq!(record.header("手合割"), Some("詰将棋"));
        assert!(file(r#""手合割": "その他""#, "").unwrap().headers.is_empty());
        assert!(file(r#""先手": "A", "下手": "B""#, "").err().unwrap().what.contains("already"));
    }
}
