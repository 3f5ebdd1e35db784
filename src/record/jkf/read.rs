//! Reading JKF.

use super::names::{PRESETS, read_relative};
use crate::position::{Position, handicap};
use crate::record::builder::Builder;
use crate::record::csa::kind_of;
use crate::record::error::{BadMove, RecordError, Warnings, excerpt};
use crate::record::game::{DEEPEST, Record};
use crate::record::headings::name_of;
use crate::record::kakinoki::{Relative, find_move};
use crate::record::special::Special;
use crate::support::messages;
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
    read_with(text, &mut Warnings::strict())
}

/// As [`read`]; what does not change the moves may be skipped.
pub(in crate::record) fn read_with(text: &str, warnings: &mut Warnings) -> Result<Record, RecordError> {
    let source = Source::new(text);
    source.check_depth()?;
    let file: File<'_> = source.parse(text)?;
    let record = begin(&source, &file, warnings)?;
    let mut reader = Reader { source, game: Builder::new(record), warnings };
    match reader.entries(&file.moves) {
        Ok(()) => Ok(reader.game.finish()),
        Err(e) => Err(reader.game.error(e.line, e.what)),
    }
}

/// The text, to find the lines of its parts.
struct Source<'a> {
    text: &'a str,
    /// Where the lines end.
    ends: Vec<usize>,
}

impl<'a> Source<'a> {
    fn new(text: &'a str) -> Source<'a> {
        Source { text, ends: text.match_indices('\n').map(|(at, _)| at).collect() }
    }

    /// The line on which a part of the text begins.
    fn line(&self, part: &str) -> usize {
        let at = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len());
        self.line_at(at)
    }

    fn line_at(&self, at: usize) -> usize {
        1 + self.ends.partition_point(|end| *end < at)
    }

    /// # Errors
    /// When brackets stand so deep within each other that reading them could exhaust the stack.
    fn check_depth(&self) -> Result<(), RecordError> {
        let (mut depth, mut quoted, mut escaped) = (0, false, false);
        for (at, byte) in self.text.bytes().enumerate() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if quoted => escaped = true,
                b'"' => quoted = !quoted,
                b'[' | b'{' if !quoted => depth += 1,
                b']' | b'}' if !quoted => depth -= 1,
                _ => {}
            }
            if depth > DEEPEST_JSON {
                let what = messages::too_deep(DEEPEST);
                return Err(RecordError::new(self.line_at(at), what));
            }
        }
        Ok(())
    }

    fn error(&self, part: &str, what: impl fmt::Display) -> RecordError {
        RecordError::new(self.line(part), what)
    }

    fn parse<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T, RecordError> {
        let mut json = serde_json::Deserializer::from_str(part);
        json.disable_recursion_limit();
        let read = T::deserialize(&mut json).and_then(|read| json.end().map(|()| read));
        read.map_err(|e| {
            // the position that serde_json reports is relative to the part
            let what = e.to_string();
            let what = what.split(" at line ").next().unwrap_or_default().to_string();
            RecordError::new(self.line(part) + e.line().max(1) - 1, format!("{what} (column {})", e.column()))
        })
    }
}

/// Brackets within each other: a fork adds three, and a move in it a few more.
const DEEPEST_JSON: i32 = 3 * DEEPEST as i32 + 8;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default)]
    header: Option<&'a RawValue>,
    #[serde(borrow, default)]
    initial: Option<&'a RawValue>,
    #[serde(borrow)]
    moves: Vec<Entry<'a>>,
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
    #[serde(borrow, rename = "move")]
    mv: Option<&'a RawValue>,
    #[serde(borrow)]
    time: Option<&'a RawValue>,
    #[serde(borrow)]
    special: Option<&'a RawValue>,
    #[serde(borrow)]
    forks: Option<Vec<Vec<Entry<'a>>>>,
}

#[derive(Deserialize)]
struct JkfMove {
    color: Option<u8>,
    from: Option<Coordinates>,
    to: Option<Coordinates>,
    piece: String,
    same: Option<bool>,
    promote: Option<bool>,
    relative: Option<String>,
}

#[derive(Deserialize, Clone, Copy)]
struct Coordinates {
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
    #[serde(default)]
    m: f64,
    s: f64,
}

/// The headings in their order.
#[derive(Default)]
struct Header(Vec<(String, serde_json::Value)>);

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
fn begin(source: &Source<'_>, file: &File<'_>, warnings: &mut Warnings) -> Result<Record, RecordError> {
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
        warnings.line = source.line(part.get());
        headings(header, &mut record, by_name, warnings).map_err(|e| source.error(part.get(), e))?;
    }
    Ok(record)
}

/// The headings; `by_name` if the starting position is given by a name or not at all.
fn headings(
    header: Header,
    record: &mut Record,
    by_name: bool,
    warnings: &mut Warnings,
) -> Result<(), String> {
    let mut named = [false; 2];
    for (heading, value) in header.0 {
        let value = match value {
            serde_json::Value::String(value) => value,
            other => {
                warnings.skip(messages::heading_not_text(excerpt(&heading)))?;
                other.to_string()
            }
        };
        let color = match heading.as_str() {
            "先手" | "下手" => Color::Black,
            "後手" | "上手" => Color::White,
            "手合割" => {
                match handicap::position(value.trim()) {
                    // `initial` gives the starting position; this heading only repeats it
                    Some(position) => {
                        let position = position.map_err(|e| e.to_string())?;
                        if by_name && position.sfen() != record.root.sfen() {
                            return Err(messages::handicap_differs(excerpt(&value)));
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
            warnings.skip(messages::named_already(excerpt(&value)))?;
            continue;
        }
        record.names[color.index()] = value;
    }
    Ok(())
}

fn starting_position(initial: Initial) -> Result<Position, String> {
    if let Some((_, name)) = PRESETS.iter().find(|(preset, _)| *preset == initial.preset) {
        let position = handicap::position(name).ok_or_else(|| messages::unknown_start(name))?;
        return position.map_err(|e| e.to_string());
    }
    if initial.preset != OTHER {
        return Err(messages::unknown_start(excerpt(&initial.preset)));
    }
    let data = initial.data.ok_or_else(messages::no_data)?;
    let mut board = [Piece::NONE; Square::NUM];
    if data.board.len() != 9 || data.board.iter().any(|file| file.len() != 9) {
        return Err(messages::board_size());
    }
    for (x, file) in data.board.iter().enumerate() {
        for (y, square) in file.iter().enumerate() {
            let Some(name) = &square.kind else { continue };
            let kind = kind_of(name).ok_or_else(|| messages::not_a_piece(excerpt(name)))?;
            board[Square::new(x as u8, y as u8).index()] = kind.of(color(square.color.unwrap_or(0))?);
        }
    }
    let mut hands = [[0; 8]; 2];
    for (hand, pieces) in hands.iter_mut().zip(&data.hands) {
        for (name, count) in pieces.iter().filter(|(_, count)| **count > 0) {
            let kind = kind_of(name).filter(|k| PieceType::HAND.contains(k));
            let kind = kind.ok_or_else(|| messages::never_in_hand(excerpt(name)))?;
            hand[kind.index()] = *count;
        }
    }
    Position::from_parts(board, hands, color(data.color)?, 1).map_err(|e| e.to_string())
}

fn color(number: u8) -> Result<Color, String> {
    match number {
        0 => Ok(Color::Black),
        1 => Ok(Color::White),
        n => Err(messages::not_a_side(n)),
    }
}

struct Reader<'a, 'w> {
    source: Source<'a>,
    game: Builder,
    warnings: &'w mut Warnings,
}

impl<'a> Reader<'a, '_> {
    /// A line, then its forks from the last to the first.
    fn entries(&mut self, entries: &[Entry<'a>]) -> Result<(), RecordError> {
        let mut forks = Vec::new();
        for entry in entries {
            if let Some(found) = &entry.forks {
                forks.push((self.game.ply(), found));
            }
            self.entry(entry)?;
        }
        for (ply, found) in forks.into_iter().rev() {
            for fork in found.iter().filter(|fork| !fork.is_empty()) {
                let line = self.warnings.line;
                let varied = self.game.vary(ply).map_err(|what| RecordError::new(line, what));
                if let Err(error) = varied.and_then(|()| self.entries(fork)) {
                    // the game's own moves stay as they are
                    self.warnings.line = error.line;
                    let what = messages::rest_skipped(&error.what);
                    self.warnings.skip(what).map_err(|_| error.clone())?;
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'a>) -> Result<(), RecordError> {
        let game = &mut self.game;
        if let Some(part) = entry.mv.map(RawValue::get) {
            let mv: JkfMove = self.source.parse(part)?;
            self.warnings.line = self.source.line(part);
            let found = legal_move(game, &mv);
            let played = game.play_or_foul(found, &describe(&mv), self.warnings);
            played.map_err(|what| self.source.error(part, what))?;
        }
        if let Some(part) = entry.special.map(RawValue::get) {
            let name: String = self.source.parse(part)?;
            self.warnings.line = self.source.line(part);
            let turn = game.position().side_to_move();
            // KIF's 反則勝ち, as Kifu for JS writes it: without CSA's sign
            let unsigned = (name == "ILLEGAL_ACTION").then_some(Special::IllegalAction(!turn));
            let ended = match Special::from_csa(&format!("%{name}")).or(unsigned) {
                Some(special) => game.finish_line(special, None),
                None => self
                    .warnings
                    .skip(messages::unknown_ending(excerpt(&name)))
                    .and_then(|()| game.finish_line(Special::from_words(&name), Some(name))),
            };
            ended.map_err(|what| self.source.error(part, what))?;
        }
        if let Some(part) = entry.time.map(RawValue::get) {
            self.warnings.line = self.source.line(part);
            let read = self.source.parse(part).map_err(|e: RecordError| e.what).and_then(|Times { now }| {
                let seconds = now.h.unwrap_or(0.0) * 3600.0 + now.m * 60.0 + now.s;
                let time = Duration::try_from_secs_f64(seconds).ok().filter(|t| t.as_secs() < 1 << 32);
                time.map(Some).ok_or_else(|| messages::not_a_time(seconds))
            });
            let time = read.or_else(|what| self.warnings.skip(what).map(|()| None));
            let time = time.map_err(|what| self.source.error(part, what))?;
            if let Some(slot) = game.time() {
                *slot = time;
            }
        }
        for comment in entry.comments.iter().flatten() {
            game.comment(comment.clone());
        }
        Ok(())
    }
}

fn legal_move(game: &Builder, mv: &JkfMove) -> Result<Move, BadMove> {
    let position = game.position();
    let side = position.side_to_move();
    let failed = |e: BadMove| e.map(|what| format!("{}: {what}", describe(mv)));
    let wrong = |what: String| failed(BadMove::Text(what));
    let text = BadMove::Text;
    if mv.color.is_some_and(|c| color(c) != Ok(side)) {
        let what = messages::two_in_a_row(messages::other_turn());
        return Err(failed(BadMove::Foul(!side, what)));
    }
    let kind = kind_of(&mv.piece).ok_or_else(|| text(messages::not_a_piece(excerpt(&mv.piece))))?;
    let to = match (&mv.to, mv.same) {
        (Some(place), _) => square(*place).map_err(text)?,
        (None, Some(true)) => game.last_target().ok_or_else(|| wrong(messages::same_at_first()))?,
        (None, _) => return Err(wrong(messages::no_target())),
    };
    let promotes = mv.promote == Some(true);
    let relative = match &mv.relative {
        None => Relative::default(),
        Some(word) => read_relative(word).ok_or_else(|| text(messages::not_relative(excerpt(word))))?,
    };
    let Some(from) = mv.from else {
        return find_move(position, to, kind, promotes, relative).map_err(failed);
    };
    let from = square(from).map_err(text)?;
    let piece = kind.of(side);
    let before = position.piece_on(from);
    if before.is_some() && before != piece && before != kind.of(!side) {
        return Err(wrong(messages::not_on_origin()));
    }
    if promotes && !kind.can_promote() {
        return Err(wrong(messages::word("this kind of piece cannot promote").into()));
    }
    let m = if promotes { Move::promotion(from, to, piece) } else { Move::normal(from, to, piece) };
    position.parse_move(&m.to_string()).map_err(|e| failed(BadMove::of(side, &e)))
}

/// A move in an error message.
fn describe(mv: &JkfMove) -> String {
    let place = |p: &Option<Coordinates>| p.map_or(String::new(), |p| format!("{}{}", p.x, p.y));
    format!("{} {}-{}", excerpt(&mv.piece), place(&mv.from), place(&mv.to))
}

fn square(place: Coordinates) -> Result<Square, String> {
    match (place.x, place.y) {
        (x @ 1..=9, y @ 1..=9) => Ok(Square::new(x - 1, y - 1)),
        (x, y) => Err(messages::no_square(x, y)),
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
