//! Reading KIF and KI2.

use super::board::DiagramReader;

use super::pieces::strip_kind;
use super::{ki2_moves, kif_moves, pieces};
use crate::position::handicap;
use crate::record::builder::Builder;
use crate::record::error::{BadMove, RecordError, Warnings, excerpt};
use crate::record::game::Record;
use crate::record::headings::name_of;
use crate::record::special::Special;
use crate::support::messages;
use crate::types::Color;
use std::time::Duration;

/// Reads a KIF game with its variations, or a BOD diagram. Every move must be legal.
///
/// # Errors
/// [`RecordError`] names the line and what is wrong with it.
pub fn read_kif(text: &str) -> Result<Record, RecordError> {
    read_game(text, 0, Notation::Kif, &mut Warnings::strict())
}

/// Reads a KI2 game with its variations. Every move must be legal and unambiguous.
///
/// # Errors
/// As [`read_kif`].
pub fn read_ki2(text: &str) -> Result<Record, RecordError> {
    read_game(text, 0, Notation::Ki2, &mut Warnings::strict())
}

/// How moves are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    Kif,
    Ki2,
}

/// Reads the games of a file. What does not change the moves may be skipped, and games that cannot be read
/// if another one can. The formats have no separator; only a reader that is not strict looks for where
/// another game begins.
pub fn read_with(
    text: &str,
    notation: Notation,
    warnings: &mut Warnings,
) -> Result<Vec<Record>, RecordError> {
    let parts = if warnings.is_strict() { vec![(0, text)] } else { split(text) };
    let (mut games, mut refused) = (Vec::new(), None);
    for &(before, part) in &parts {
        match read_game(part, before, notation, warnings) {
            Ok(game) => games.push(game),
            Err(e) if parts.len() == 1 => return Err(e),
            Err(e) => {
                warnings.skip_game(&e)?;
                refused = refused.or(Some(e));
            }
        }
    }
    match refused {
        Some(error) if games.is_empty() => Err(error),
        _ => Ok(games),
    }
}

/// The games of a file, each with the number of lines before it. After moves, the headings of a game begin
/// another one.
fn split(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    // where the present game begins, the headings right before the present line, and a game without moves yet
    let mut start = (0, 0);
    let (mut headings, mut another) = (None, None::<(usize, usize)>);
    let (mut moves, mut ended) = (false, false);
    let mut offset = 0;
    for (i, whole) in text.split_inclusive('\n').enumerate() {
        let here = (i, offset);
        offset += whole.len();
        let line = whole.trim_start_matches(MARGIN).trim_end();
        let ending = line.starts_with("まで") || is_ending(line);
        if ending || begins_with_move(line) || line.starts_with(ki2_moves::MARKS) {
            if let Some(another) = another.take() {
                parts.push((start.0, &text[start.1..another.1]));
                (start, ended) = (another, false);
            }
            (moves, ended, headings) = (true, ended || ending, None);
        } else if line.starts_with("変化") {
            (headings, another) = (None, None);
        } else if moves && !line.is_empty() {
            if !is_above_moves(line) {
                headings = None;
                continue;
            }
            let first = *headings.get_or_insert(here);
            if another.is_none() && begins_game(line, ended) {
                another = Some(first);
            }
        }
    }
    parts.push((start.0, &text[start.1..]));
    parts
}

/// Whether a line is a numbered ending.
fn is_ending(line: &str) -> bool {
    begins_with_digit(line) && Special::from_kif(split_time(split_number(line).1).0, Color::Black).is_some()
}

/// Whether a line that is no move may stand before the moves of a game: a heading, a diagram's line, a program's line.
fn is_above_moves(line: &str) -> bool {
    let note = line.starts_with(['*', '＊', '&']);
    let diagram = line.starts_with(['|', '｜', '+', '＋', '#', '９', '9']) || line.ends_with("手番");
    let begins = line.starts_with("手数");
    let heading = split_heading(line).is_some_and(|(name, _)| name != "終了日時");
    !note && (diagram || begins || heading)
}

/// Whether a line behind the moves of a game, perhaps behind its ending, begins another game.
fn begins_game(line: &str, ended: bool) -> bool {
    if line.starts_with("手数") {
        return !line.starts_with("手数：");
    }
    match split_heading(line) {
        Some(("手合割" | "開始日時", _)) => true,
        Some((name, _)) => ended && matches!(Heading::of(name), Heading::Player(_) | Heading::Hand(_)),
        None => false,
    }
}

/// Reads a game. `before` is the number of lines of the file above it. What does not change its moves may be
/// skipped.
fn read_game(
    text: &str,
    before: usize,
    notation: Notation,
    warnings: &mut Warnings,
) -> Result<Record, RecordError> {
    let mut reader = Reader::new(notation, warnings);
    let mut lines = text.lines().enumerate().peekable();
    while let Some((i, line)) = lines.next() {
        reader.warnings.line = before + i + 1;
        let read = reader.line(line.trim_end_matches('\r'));
        let truncated = lines.peek().is_none() && !text.ends_with('\n');
        if let Err(what) = read.or_else(|what| reader.give_up(what, truncated)) {
            return Err(reader.error(what));
        }
    }
    reader.warnings.line = reader.warnings.line.max(1);
    if let Err(what) = reader.begin() {
        return Err(reader.error(what));
    }
    match reader.game {
        Some(game) if reader.any => {
            let mut record = game.finish();
            record.headers.extend(reader.late);
            Ok(record)
        }
        _ => Err(RecordError::new(reader.warnings.line, messages::no_game_in_it())),
    }
}

struct Reader<'w> {
    warnings: &'w mut Warnings,
    notation: Notation,
    names: [Option<String>; 2],
    headers: Vec<(String, String)>,
    comments: Vec<String>,
    asides: Vec<String>,
    bookmark: Option<String>,
    handicap: Option<String>,
    diagram: DiagramReader,
    white_moves: bool,
    /// Of `手数＝N`: how many moves led to the diagram.
    plies: u32,
    /// Set with the first move.
    game: Option<Builder>,
    /// Headings that stand behind the moves.
    late: Vec<(String, String)>,
    /// Whether anything was understood at all.
    any: bool,
    /// The number of the first move of the present variation.
    variation: Option<usize>,
    /// Set while lines are skipped: up to a variation that begins at this move or before.
    skipped: Option<usize>,
}

impl<'w> Reader<'w> {
    fn new(notation: Notation, warnings: &'w mut Warnings) -> Reader<'w> {
        Reader {
            warnings,
            notation,
            names: Default::default(),
            headers: Vec::new(),
            comments: Vec::new(),
            asides: Vec::new(),
            bookmark: None,
            handicap: None,
            diagram: DiagramReader::default(),
            white_moves: false,
            plies: 0,
            game: None,
            late: Vec::new(),
            any: false,
            variation: None,
            skipped: None,
        }
    }

    fn error(self, what: String) -> RecordError {
        let line = self.warnings.line;
        match self.game {
            Some(game) => game.error(line, what),
            None => RecordError::new(line, what),
        }
    }

    /// Skips what cannot be read where the game's own moves stay as they are: the rest of a variation, and the last line of
    /// a truncated file.
    fn give_up(&mut self, what: String, truncated: bool) -> Result<(), String> {
        if truncated && self.game.as_ref().is_some_and(|game| game.ply() > 0) {
            return self.warnings.skip(messages::file_ends(&what));
        }
        let Some(number) = self.variation else { return Err(what) };
        self.skipped = Some(number);
        self.warnings.skip(messages::rest_skipped(&what))
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        let strict = self.warnings.is_strict();
        // copied from a page or a mail
        let line = if strict { line } else { line.trim_start_matches(MARGIN) };
        if self.skipped.is_some() && !line.starts_with("変化") || self.note(line) {
            return Ok(());
        }
        let line = line.trim_end();
        if line.is_empty() {
            return Ok(());
        }
        if let Some(plies) = line.strip_prefix("手数＝") {
            let digits: String = plies.chars().take_while(char::is_ascii_digit).collect();
            self.plies = digits.parse().unwrap_or(0);
            return Ok(());
        }
        if line.starts_with("手数") && !line.starts_with("手数：") {
            self.any = true;
            return self.begin();
        }
        if let Some(what) = line.strip_prefix("まで") {
            return self.result(what);
        }
        let trimmed = line.trim_start_matches([' ', '　']);
        if let Some(number) = trimmed.strip_prefix("変化：").or_else(|| trimmed.strip_prefix("変化:")) {
            return self.variation(number);
        }
        if let Some(number) = trimmed.strip_prefix("変化").filter(|n| !strict && begins_with_digit(n)) {
            return self.variation(number);
        }
        let bare = !strict && is_move(trimmed);
        let kif = if strict {
            trimmed.starts_with(|c: char| c.is_ascii_digit()) && !self.is_diagram_head(trimmed)
        } else if bare {
            // with a time
            trimmed.contains([':', '：'])
        } else {
            self.is_statement(trimmed)
        };
        if kif || bare || trimmed.starts_with(ki2_moves::MARKS) {
            // a file of the one kind under the name of the other
            if self.warnings.is_strict() && kif != (self.notation == Notation::Kif) {
                return Err(messages::other_notation(excerpt(line)));
            }
            self.begin()?;
            self.any = true;
            return if kif { self.kif_move(trimmed) } else { self.ki2_moves(trimmed) };
        }
        if self.game.is_none() {
            return self.about(trimmed);
        }
        let what = messages::neither_move_nor_comment(excerpt(line));
        let turn = self.game.as_ref().map_or(Color::Black, |game| game.position().side_to_move());
        match split_heading(trimmed) {
            _ if kif_moves::strip_target(trimmed, None).is_some() => Err(what),
            // an ending without a number
            _ if !strict && Special::from_kif(trimmed, turn).is_some() => self.kif_move(trimmed),
            Some((heading, value)) if !strict && is_heading(heading) => {
                self.late.push((name_of(heading, value).into(), value.into()));
                Ok(())
            }
            _ => self.warnings.skip(what),
        }
    }

    /// Comments, lines of programs and bookmarks.
    fn note(&mut self, line: &str) -> bool {
        let mut chars = line.chars();
        let sign = chars.next();
        let text = chars.as_str();
        match (sign, &mut self.game) {
            (Some('＊'), _) if self.warnings.is_strict() => return false,
            (Some('*' | '＊'), Some(game)) => game.comment(text.into()),
            (Some('*' | '＊'), None) => self.comments.push(text.into()),
            // the encoding of the file: the writer adds its own
            (Some('#'), _) if text.starts_with("KIF version=") || text.starts_with("KI2 version=") => {}
            (Some('#'), Some(game)) => game.aside(text.into()),
            (Some('#'), None) => self.asides.push(text.into()),
            (Some('&'), Some(game)) => game.bookmark(text.into()),
            (Some('&'), None) => self.bookmark = Some(text.into()),
            _ => return false,
        }
        true
    }

    /// Whether a line is a numbered move or ending: a word that KIF knows, or any with the next number and a blank.
    fn is_statement(&self, line: &str) -> bool {
        if !begins_with_digit(line) || self.is_diagram_head(line) {
            return false;
        }
        let (number, rest) = split_number(line);
        let next = self.game.as_ref().map(Builder::next_number);
        let blank = line.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(BLANKS);
        next.is_some() && number == next && (blank || rest.is_empty())
            || kif_moves::strip_target(rest, None).is_some()
            || Special::from_kif(split_time(rest).0, Color::Black).is_some()
    }

    /// The line of files above a diagram, where it is written in plain digits.
    fn is_diagram_head(&self, line: &str) -> bool {
        self.game.is_none() && line.split_whitespace().eq(["9", "8", "7", "6", "5", "4", "3", "2", "1"])
    }

    /// A line before the moves.
    fn about(&mut self, line: &str) -> Result<(), String> {
        if line.starts_with('|') {
            self.any = true;
            return self.diagram.rank(line);
        }
        if line.starts_with('｜') && !self.warnings.is_strict() {
            self.any = true;
            return self.diagram.rank(&half_width(line));
        }
        if line.starts_with(['+', '＋']) || line.trim_start().starts_with(['９', '9']) {
            return Ok(());
        }
        match line {
            "後手番" | "上手番" => {
                self.white_moves = true;
                return Ok(());
            }
            "先手番" | "下手番" => return Ok(()),
            // how the window was turned
            "盤面回転" | "盤面反転" if !self.warnings.is_strict() => return Ok(()),
            _ => {}
        }
        let Some((heading, value)) = split_heading(line) else {
            return self.warnings.skip(messages::not_this_format(excerpt(line)));
        };
        self.any = true;
        // what is not looked at stays as it is, a blank in front included; behind, there are none
        let plain = value.trim();
        match Heading::of(heading) {
            Heading::Handicap => {
                let value = match handicap::spelled(plain) {
                    Some(name) if !self.warnings.is_strict() => name,
                    _ => plain,
                };
                // some programs write what is no handicap, 詰将棋 for instance, above a diagram
                self.handicap = Some(value.into());
                if value != "その他" && handicap::position(value).is_none() {
                    self.headers.push(("手合割".into(), value.into()));
                }
            }
            Heading::Player(color) => return self.name(color, line, value),
            Heading::Hand(color) => return self.diagram.hand(color, plain),
            Heading::SomeHand => return Err(messages::whose_hand(excerpt(line))),
            Heading::Other => self.headers.push((name_of(heading, value).into(), value.into())),
        }
        Ok(())
    }

    fn name(&mut self, color: Color, line: &str, value: &str) -> Result<(), String> {
        let name = &mut self.names[color.index()];
        if name.is_some() {
            return self.warnings.skip(messages::named_already(excerpt(line)));
        }
        *name = Some(value.into());
        Ok(())
    }

    /// Ends the lines before the moves, if they have not ended.
    fn begin(&mut self) -> Result<(), String> {
        if self.game.is_some() {
            return Ok(());
        }
        let diagram = std::mem::take(&mut self.diagram);
        let root = if diagram.has_board() {
            let side = if self.white_moves { Color::White } else { Color::Black };
            diagram.finish(side, self.plies + 1)?
        } else {
            let name = self.handicap.as_deref().unwrap_or("平手");
            match handicap::position(name) {
                Some(position) => position.map_err(|e| e.to_string())?,
                None => return Err(messages::without_diagram(excerpt(name))),
            }
        };
        let mut record = Record::new(root);
        record.names = std::mem::take(&mut self.names).map(Option::unwrap_or_default);
        record.headers = std::mem::take(&mut self.headers);
        record.comments = std::mem::take(&mut self.comments);
        record.asides = std::mem::take(&mut self.asides);
        record.bookmark = self.bookmark.take();
        self.game = Some(Builder::new(record));
        Ok(())
    }

    /// `変化：12手`
    fn variation(&mut self, text: &str) -> Result<(), String> {
        // an old program wrote such lines among the headings
        let Some(game) = &mut self.game else { return Ok(()) };
        let number = match self.warnings.is_strict() {
            true => text.trim_start_matches([' ', '　']).into(),
            false => half_width(text.trim_start_matches(BLANKS)),
        };
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        let number = digits.parse::<usize>().unwrap_or(0);
        // what varies a variation that was skipped is skipped, too
        if self.skipped.is_some_and(|skipped| number > skipped) {
            return Ok(());
        }
        self.skipped = None;
        self.variation = Some(number);
        match number {
            0 => Err(messages::no_move_number(excerpt(text))),
            _ => game.vary(number - 1),
        }
    }

    /// What follows まで: KI2's ending. KIF repeats its last line there, if that was an ending.
    fn result(&mut self, text: &str) -> Result<(), String> {
        self.begin()?;
        let Some(game) = &mut self.game else { return Ok(()) };
        if game.end().is_some() {
            return Ok(());
        }
        let narrow = half_width(text);
        let text = if self.warnings.is_strict() { text } else { &narrow };
        let text = text.trim_start_matches('、');
        // 49手詰 of a problem has no で
        let mate = text.strip_suffix("手詰").or_else(|| text.strip_suffix("手詰み"));
        let parts = text.split_once("手で").or(mate.map(|number| (number, "詰")));
        let (number, how) = match parts {
            Some((number, how)) if number.trim().bytes().all(|b| b.is_ascii_digit()) => (Some(number), how),
            _ => (None, text),
        };
        let special = Special::from_ki2(how, game.position().side_to_move());
        // in KIF it adds nothing where it is no ending
        if special.is_none() && self.notation == Notation::Kif {
            return Ok(());
        }
        let plies = game.ply();
        if number.is_some_and(|number| number.trim().parse() != Ok(plies)) {
            return self.warnings.skip(messages::after_move(excerpt(text), plies));
        }
        match special {
            Some(Ok(special)) => game.finish_line(special, None),
            Some(Err(what)) => self.warnings.skip(what),
            None if how.trim().is_empty() => Ok(()),
            None => self.unknown_ending(how.trim()),
        }
    }

    /// An ending that KIF has no word for is kept as text.
    fn unknown_ending(&mut self, text: &str) -> Result<(), String> {
        let Some(game) = &mut self.game else { return Ok(()) };
        let turn = game.position().side_to_move();
        let special = match Special::from_ki2(text, turn) {
            Some(Ok(special)) => special,
            _ => Special::from_words(text),
        };
        let what = match special {
            Special::Other => messages::unknown_ending(excerpt(text)),
            _ => messages::unknown_ending_read_as(excerpt(text), special.kif(turn)),
        };
        self.warnings.skip(what)?;
        let words = (special != Special::Resign).then(|| text.into());
        game.finish_line(special, words)
    }

    /// `   1 ７六歩(77)   ( 0:16/00:00:16)`
    fn kif_move(&mut self, line: &str) -> Result<(), String> {
        let Some(game) = &mut self.game else { return Ok(()) };
        let next = game.next_number();
        let strict = self.warnings.is_strict();
        let (number, tidied);
        let (text, time) = if strict {
            let (digits, rest) =
                line.split_at(line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len()));
            number = digits.parse().ok();
            split_time(rest.trim_start_matches(BLANKS).trim_start_matches(ki2_moves::MARKS))
        } else {
            let rest;
            (number, rest) = split_number(line);
            tidied = tidy(rest);
            split_time(&tidied)
        };
        let text = if strict { text } else { text.strip_suffix("(00)").unwrap_or(text) };
        let (position, last) = (game.position(), game.last_target());
        let mut found = kif_moves::read_move(position, last, text);
        if !strict && !text.contains('(') && matches!(found, Some(Err(BadMove::Text(_)))) {
            // without its origin, as in KI2
            let relative = ki2_moves::read_move(position, last, text);
            found = Some(relative).filter(|read| !matches!(read, Err(BadMove::Text(_)))).or(found);
        }
        if !strict && found.is_some() && number.is_some_and(|number| (1..next).contains(&number)) {
            return self.variation_without_heading(line, number.unwrap_or(next), next);
        }
        if found.is_some() {
            game.must_go_on(messages::word("a move"))?;
        }
        if number != Some(next) && (strict || number.is_some()) {
            let what = messages::move_missing(next);
            // the number of an ending changes no move
            if found.is_some() { Err(what) } else { self.warnings.skip(what) }?;
        }
        let turn = game.position().side_to_move();
        if !strict && text.is_empty() {
            return self.warnings.skip(messages::move_missing(next));
        }
        match (found, Special::from_kif(text, turn)) {
            (Some(found), _) => game.play_or_foul(found, text, self.warnings)?,
            (None, Some(special)) => game.finish_line(special, None)?,
            (None, None) if self.warnings.is_strict() => {
                return Err(messages::neither_move_nor_ending(excerpt(text)));
            }
            (None, None) => {
                game.must_go_on(text)?;
                self.unknown_ending(text)?;
            }
        }
        let time = match read_time(time, strict) {
            Ok(time) => time,
            // several moves in one line
            Err(_) if !strict && begins_with_move(time.trim_start_matches(BLANKS)) => {
                return self.kif_move(time.trim_start_matches(BLANKS));
            }
            Err(what) => return self.warnings.skip(what),
        };
        if let Some(slot) = self.game.as_mut().and_then(Builder::time) {
            *slot = time;
        }
        Ok(())
    }

    /// A move with the number of one that was read already; it must be legal instead of that.
    fn variation_without_heading(&mut self, line: &str, number: usize, next: usize) -> Result<(), String> {
        let before = self.variation;
        self.warnings.skip(messages::read_as_variation(number, next - 1))?;
        self.variation(&number.to_string())?;
        let read = self.kif_move(line);
        if read.is_err() || self.game.as_ref().is_some_and(|game| game.foul().is_some()) {
            self.variation = before;
            return Err(messages::move_missing(next));
        }
        Ok(())
    }

    /// `▲７六歩    △３四歩    ▲２六歩`, or without the marks.
    fn ki2_moves(&mut self, line: &str) -> Result<(), String> {
        let mut rest = line;
        while !rest.is_empty() {
            let body = rest.trim_start_matches(ki2_moves::MARKS);
            let mark = rest.len() - body.len();
            let end = match mark {
                0 => rest
                    .match_indices(BLANKS)
                    .map(|(i, _)| i)
                    .find(|i| is_move(rest[*i..].trim_start_matches(BLANKS))),
                _ => body.find(ki2_moves::MARKS).map(|i| i + mark),
            };
            let (text, behind) = rest.split_at(end.unwrap_or(rest.len()));
            rest = behind.trim_start_matches(BLANKS);
            self.ki2_move(text.trim_end_matches(BLANKS), mark)?;
        }
        Ok(())
    }

    /// A move behind a mark of that length.
    fn ki2_move(&mut self, text: &str, mark: usize) -> Result<(), String> {
        let Some(game) = &mut self.game else { return Ok(()) };
        let tidied;
        let text = if self.warnings.is_strict() {
            text
        } else {
            tidied = tidy(text);
            let text = tidied.trim_end_matches(|c| "、。，,．→".contains(c));
            text.strip_suffix("まで").unwrap_or(text)
        };
        // some programs write the ending as if it were a move
        if let Some(special) = Special::from_kif(&text[mark..], game.position().side_to_move()) {
            return game.finish_line(special, None);
        }
        let found = ki2_moves::read_move(game.position(), game.last_target(), text);
        game.play_or_foul(found, text, self.warnings)
    }
}

const BLANKS: [char; 3] = [' ', '　', '\t'];
/// What may stand before a line that was copied.
const MARGIN: [char; 4] = [' ', '　', '\t', '>'];

/// What a heading says.
#[derive(Clone, Copy, PartialEq)]
enum Heading {
    Handicap,
    Player(Color),
    Hand(Color),
    /// A hand, but not whose.
    SomeHand,
    Other,
}

impl Heading {
    fn of(name: &str) -> Heading {
        match name {
            "手合割" => Heading::Handicap,
            "先手" | "下手" => Heading::Player(Color::Black),
            "後手" | "上手" => Heading::Player(Color::White),
            "先手の持駒" | "下手の持駒" | "先手の持ち駒" | "下手の持ち駒" => {
                Heading::Hand(Color::Black)
            }
            "後手の持駒" | "上手の持駒" | "後手の持ち駒" | "上手の持ち駒" => {
                Heading::Hand(Color::White)
            }
            "持駒" | "持ち駒" => Heading::SomeHand,
            _ => Heading::Other,
        }
    }
}

/// Whether a line `name：value` is a heading and nothing else, wherever it stands before the moves.
pub(super) fn is_heading(name: &str) -> bool {
    let other = |c: char| "|｜+＋*＊#&>".contains(c) || ki2_moves::MARKS.contains(&c);
    let plain = !name.is_empty() && !name.starts_with(other) && !name.contains(['：', ':']);
    let plain = plain && !begins_with_digit(name) && !is_move(name);
    let number =
        name.starts_with("手数") && name != "手数" || name.starts_with("変化") || name.starts_with("まで");
    plain && !number && name.trim_matches(BLANKS) == name && Heading::of(name) == Heading::Other
}

/// `棋戦：...`
fn split_heading(line: &str) -> Option<(&str, &str)> {
    let (heading, value) = line.split_once('：').or_else(|| line.split_once(':'))?;
    Some((heading.trim_matches(BLANKS), value))
}

/// Full-width forms of ASCII's characters as these.
fn half_width(text: &str) -> String {
    text.chars().map(pieces::half_width).collect()
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| matches!(c, '0'..='9' | '０'..='９'))
}

/// The number before a move, as people write it, and what follows.
fn split_number(line: &str) -> (Option<usize>, &str) {
    if is_move(line) {
        return (None, line);
    }
    let wide = |c: char| matches!(c, '０'..='９');
    let end = match line.starts_with(wide) {
        true => line.find(|c| !wide(c)),
        false => line.find(|c: char| !c.is_ascii_digit()),
    };
    let (number, rest) = line.split_at(end.unwrap_or(line.len()));
    let rest = rest.strip_prefix("手目").unwrap_or(rest);
    let rest = rest.trim_start_matches(|c| BLANKS.contains(&c) || ".．:：)）、,".contains(c));
    (half_width(number).parse().ok(), rest.trim_start_matches(ki2_moves::MARKS))
}

/// Whether a line begins with a move that has neither number nor mark.
fn is_move(line: &str) -> bool {
    let word = line.strip_prefix('同').map_or(line, |rest| rest.trim_start_matches(BLANKS));
    let word = word.split(BLANKS).next().unwrap_or(word);
    let target = match line.starts_with('同') {
        true => Some(word),
        false => kif_moves::strip_target(line, None)
            .map(|(_, _)| &word[word.chars().take(2).map(char::len_utf8).sum()..]),
    };
    let words = |c: char| {
        "左直右上行入寄引打成不り()（）".contains(c) || begins_with_digit(c.encode_utf8(&mut [0; 4]))
    };
    target.and_then(strip_kind).is_some_and(|(_, rest)| rest.chars().all(words))
}

/// Whether a line begins with a numbered move, as in KIF, or with one that stands alone.
pub(in crate::record) fn begins_with_move(line: &str) -> bool {
    let numbered = begins_with_digit(line).then(|| split_number(line).1);
    is_move(line) || numbered.is_some_and(|rest| kif_moves::strip_target(rest, None).is_some())
}

/// A move and its time without what some programs add: 打打, 成り, brackets and digits of full width.
fn tidy(text: &str) -> String {
    let text = text.replace("打打", "打").replace("成り", "成");
    match text.find(['(', '（']) {
        Some(bracket) => text[..bracket].to_string() + &half_width(&text[bracket..]),
        None => text,
    }
}

/// Splits `７六歩(77)   ( 0:16/00:00:16)+` into the move and its time; the plus marks a variation.
fn split_time(text: &str) -> (&str, &str) {
    let text = text.trim_end_matches('+').trim_end();
    // the time may follow an origin at once
    if let (Some(start), Some(end)) = (text.find('('), text.find(')'))
        && end == start + 3
        && text[start + 1..end].bytes().all(|b| b.is_ascii_digit())
        && !text[..start].trim_start_matches('同').trim_start_matches(BLANKS).contains(BLANKS)
    {
        return text.split_at(end + 1);
    }
    if kif_moves::strip_target(text, None).is_none() {
        let end = text.find(|c| BLANKS.contains(&c) || c == '(');
        return text.split_at(end.unwrap_or(text.len()));
    }
    match text.split_once(|c: char| BLANKS.contains(&c) && (c != '　' || !text.starts_with('同'))) {
        // 同　歩(77)
        Some(("同", _)) | None => split_after_bracket(text),
        Some(parts) => parts,
    }
}

/// As [`split_time`], where a blank may stand inside the move: it ends with the origin, or with 打.
fn split_after_bracket(text: &str) -> (&str, &str) {
    let end = text.find(')').map(|i| i + 1).or_else(|| text.find('打').map(|i| i + '打'.len_utf8()));
    text.split_at(end.unwrap_or(text.len()))
}

/// `( 0:16/00:00:16)`: minutes and seconds of the move; the total follows from the others. Unless `strict`, brackets may
/// be missing.
fn read_time(text: &str, strict: bool) -> Result<Option<Duration>, String> {
    let text = text.trim_matches(BLANKS);
    if text.is_empty() {
        return Ok(None);
    }
    let read = || {
        let inner = match strict {
            true => text.strip_prefix(['(', '（'])?.strip_suffix([')', '）'])?,
            false => text.trim_matches(['(', ')', '（', '）']),
        };
        let own = inner.split('/').next()?.trim_matches(BLANKS);
        let (own, fraction) = own.split_once('.').unwrap_or((own, "0"));
        let mut seconds = 0u64;
        for part in own.split(':') {
            seconds = seconds
                .checked_mul(60)?
                .checked_add(part.trim().parse().ok().filter(|n: &u64| *n < 1 << 32)?)?;
        }
        let fraction: f64 = format!("0.{fraction}").parse().ok()?;
        Some(Duration::from_secs(seconds) + Duration::from_secs_f64(fraction))
    };
    read().map(Some).ok_or_else(|| messages::not_a_time(excerpt(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = "# KIF\n開始日時：2026/07/17 16:30:00\n手合割：平手　　\n手数＝0  まで\n先手：A\n後手：B\n組：1\n手数----指手---------消費時間--\n*before\n   1 ７六歩(77)        ( 0:16/00:00:16)\n*one\n   2 ３四歩(33)   ( 1:02/00:01:02)\n   3 ２二角成(88) ( 0:00/00:00:16)+\n   4 同　銀(31) ( 0:00/00:01:02)\n   5 ４五角打\n   6 投了\nまで5手で先手の勝ち\n\n変化：3手\n   3 ２六歩(27)\n&mark\n";

    #[test]
    fn a_game_with_everything() {
        let record = read_kif(GAME).unwrap();
        assert_eq!(record.names, ["A", "B"].map(String::from));
        assert_eq!(record.header("START_TIME"), Some("2026/07/17 16:30:00"));
        assert_eq!(record.header("組"), Some("1"));
        assert_eq!(record.comments, ["before"]);
        let moves: Vec<String> = record.moves.iter().map(|p| p.mv.to_string()).collect();
        assert_eq!(moves, ["7g7f", "3c3d", "8h2b+", "3a2b", "B*4e"]);
        assert_eq!(record.moves[1].time, Some(Duration::from_secs(62)));
        assert_eq!(record.moves[0].comments, ["one"]);
        assert_eq!(record.end.as_ref().unwrap().special, Special::Resign);
        assert_eq!(record.asides, [" KIF"]);
        let variation = &record.moves[2].variations[0];
        assert_eq!(variation.moves[0].mv.to_string(), "2g2f");
        assert_eq!(variation.moves[0].bookmark.as_deref(), Some("mark"));
    }

    #[test]
    fn ki2_with_everything() {
        let text = "開始日時：2026/07/17\n手合割：平手\n先手：A\n*before\n▲７六歩    △３四歩    ▲２二角成\n*taken\n△同　銀▲４五角打\nまで5手で先手の勝ち\n\n変化：3手\n▲２六歩    △８四歩\nまで、4手で中断\n";
        let record = read_ki2(text).unwrap();
        let moves: Vec<String> = record.moves.iter().map(|p| p.mv.to_string()).collect();
        assert_eq!(moves, ["7g7f", "3c3d", "8h2b+", "3a2b", "B*4e"]);
        assert_eq!(record.moves[2].comments, ["taken"]);
        assert_eq!(record.end.as_ref().unwrap().special, Special::Resign);
        let variation = &record.moves[2].variations[0];
        assert_eq!(
            (variation.moves.len(), variation.end.as_ref().unwrap().special),
            (2, Special::Interrupted)
        );
        let wrong = |old: &str, new: &str| read_ki2(&text.replacen(old, new, 1)).err().unwrap();
        for (old, new, line) in [
            ("▲７六歩", "▲７五歩", 5),
            ("△同　銀", "△同　金", 7),
            ("まで5手", "まで6手", 8),
            ("先手の勝ち", "先手の負け", 8),
            ("変化：3手", "変化：9手", 10),
            ("変化：3手", "変化：手", 10),
            ("▲２六歩 ", "   3 ２六歩(27)", 11),
        ] {
            assert_eq!(wrong(old, new).line, line, "{new}: {}", wrong(old, new));
        }
    }

    #[test]
    fn errors_name_the_line() {
        let wrong = |old: &str, new: &str| read_kif(&GAME.replacen(old, new, 1)).err().unwrap();
        let cases = [
            ("７六歩(77)", "７五歩(77)", 10),
            ("７六歩", "７六金", 10),
            ("   2 ", "   3 ", 12),
            ("( 1:02/", "( x:02/", 12),
            ("投了", "投", 16),
            ("平手", "三十枚落ち", 8),
            ("先手：A", "先手A", 5),
            ("*one", "one", 11),
        ];
        for (old, new, line) in cases {
            assert_eq!(wrong(old, new).line, line, "{new}");
        }
        assert!(read_kif("").is_err());
        assert!(read_kif("手合割：その他\n手数----\n").is_err());
        // an ending of no moves is no game
        for text in ["まで77手で先手の勝ち\n", "まで0手で中断\n", "まで77手で\n"] {
            assert!(read_kif(text).is_err() && read_ki2(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_follows_made_may_not_contradict_the_moves() {
        let kif = "手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n";
        let ki2 = "手合割：平手\n▲７六歩    △３四歩\n\n";
        for (made, special) in [
            ("まで2手で後手の勝ち", Special::Resign),
            ("まで2手で後手の反則負け", Special::IllegalAction(Color::White)),
            ("まで2手詰", Special::Mate),
            ("まで先手の入玉勝ち", Special::Declaration),
        ] {
            for record in [read_kif(&format!("{kif}{made}")), read_ki2(&format!("{ki2}{made}"))] {
                assert_eq!(record.unwrap().end.unwrap().special, special, "{made}");
            }
        }
        for (made, what) in [
            ("まで99手で後手の勝ち", "after move 2"),
            ("まで3手詰", "after move 2"),
            ("まで2手で先手の勝ち", "Black is to move"),
            ("まで2手で後手の入玉勝ち", "Black is to move"),
        ] {
            for record in [read_kif(&format!("{kif}{made}")), read_ki2(&format!("{ki2}{made}"))] {
                let error = record.err().unwrap();
                assert!(error.line == 4 && error.what.contains(what), "{made}: {error}");
            }
        }
        // an ending of its own comes first, and what follows まで in KIF need not be one
        assert!(read_kif(&format!("{kif}   3 投了\nまで9手で先手の勝ち")).is_ok());
        assert!(read_kif(&format!("{kif}まで9手で終わり")).unwrap().end.is_none());
    }

    #[test]
    fn a_player_has_one_name() {
        for (read, moves) in [(read_kif as fn(&str) -> _, "   1 ７六歩(77)\n"), (read_ki2, "▲７六歩\n")]
        {
            let error = read(&format!("先手：A\n後手：B\n下手：C\n{moves}")).err().unwrap();
            assert!(error.line == 3 && error.what.contains("already"), "{error}");
        }
    }
}
