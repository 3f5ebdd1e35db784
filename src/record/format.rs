//! The formats of records: their names, their readers and writers, and what each has no place for.

use super::error::{RecordError, Warnings};
use super::game::Record;
use super::special::Special;
use super::text::visible;
use super::{csa, jkf, kakinoki, psn, usi};
use crate::support::messages;
use crate::types::Color;
use std::borrow::Cow;
use std::path::Path;
use std::str::FromStr;

/// What a record is kept in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// CSA's standard format, V2 to V3.
    Csa,
    /// Kakinoki's format.
    Kif,
    /// Kakinoki's format with moves as books print them.
    Ki2,
    /// JSON Kifu Format.
    Jkf,
    /// Portable Shogi Notation, as gshogi saves games.
    Psn,
    /// A line a game, as in USI's `position`: `startpos moves ...` or `sfen ...`.
    Usi,
    /// A line a position.
    Sfen,
    /// A diagram of one position.
    Bod,
}

impl Format {
    /// Every format, as help lists them.
    pub const ALL: [Format; 8] = [
        Format::Csa,
        Format::Kif,
        Format::Ki2,
        Format::Jkf,
        Format::Psn,
        Format::Usi,
        Format::Sfen,
        Format::Bod,
    ];

    /// Its name on the command line and as an extension.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csa => "csa",
            Format::Kif => "kif",
            Format::Ki2 => "ki2",
            Format::Jkf => "jkf",
            Format::Psn => "psn",
            Format::Usi => "usi",
            Format::Sfen => "sfen",
            Format::Bod => "bod",
        }
    }

    /// All names, for help and errors: `csa, kif, ...`.
    pub fn names() -> String {
        Format::ALL.map(Format::name).join(", ")
    }

    /// The format that a file's name promises; none for names that promise none.
    pub fn of_path(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csa" => Some(Format::Csa),
            "kif" | "kifu" => Some(Format::Kif),
            "ki2" | "ki2u" => Some(Format::Ki2),
            "jkf" | "json" => Some(Format::Jkf),
            "psn" => Some(Format::Psn),
            "usi" => Some(Format::Usi),
            "sfen" => Some(Format::Sfen),
            "bod" => Some(Format::Bod),
            _ => None,
        }
    }

    /// The format that a text looks like.
    pub fn of_text(text: &str) -> Option<Format> {
        let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
        let first = lines.clone().find(|l| !l.starts_with('#'))?;
        if first.starts_with('{') {
            return Some(Format::Jkf);
        }
        if first.starts_with('[') {
            return Some(Format::Psn);
        }
        let board = first.split(' ').next().is_some_and(|b| b.matches('/').count() == 8);
        if board || ["position", "startpos", "sfen "].iter().any(|word| first.starts_with(word)) {
            return Some(Format::Usi);
        }
        let is_move =
            |l: &str| l.starts_with(['+', '-']) && l.bytes().skip(1).take(4).all(|b| b.is_ascii_digit());
        if first.starts_with(['\'', '$', 'V', 'N', 'P']) || is_move(first) {
            return Some(Format::Csa);
        }
        if lines.clone().any(|l| l.starts_with(kakinoki::MARKS)) {
            return Some(Format::Ki2);
        }
        let is_kif = |l: &str| l.starts_with("手数") || l.contains('：') || l.starts_with('|');
        lines.any(|l| is_kif(l) || kakinoki::begins_with_move(l)).then_some(Format::Kif)
    }

    /// The extension of files; in Kakinoki's formats it depends on the encoding.
    pub fn extension(self, utf8: bool) -> &'static str {
        match (self, utf8) {
            (Format::Kif, true) => "kifu",
            (Format::Ki2, true) => "ki2u",
            _ => self.name(),
        }
    }

    /// Reads the games of a file.
    ///
    /// # Errors
    /// [`RecordError`] names the line and what is wrong with it.
    pub fn read(self, text: &str) -> Result<Vec<Record>, RecordError> {
        self.read_with(text, &mut Warnings::strict())
    }

    /// Reads the games of a file. `Warnings::default()` collects what was skipped because it could not be understood and
    /// does not change the moves: unknown headings, endings and times, what follows an illegal last move, of several
    /// games those that cannot be read. [`Warnings::strict`] skips nothing.
    ///
    /// # Errors
    /// [`RecordError`] names the line and what is wrong with it.
    pub fn read_with(self, text: &str, warnings: &mut Warnings) -> Result<Vec<Record>, RecordError> {
        use kakinoki::Notation;
        let one = |record| vec![record];
        let plain = if warnings.is_strict() { Cow::Borrowed(text) } else { visible(text) };
        let text = &*plain;
        match self {
            Format::Csa => csa::read_with(text, warnings),
            Format::Kif | Format::Bod => kakinoki::read_with(text, Notation::Kif, warnings),
            Format::Ki2 => kakinoki::read_with(text, Notation::Ki2, warnings),
            Format::Jkf => jkf::read_with(text, warnings).map(one),
            Format::Psn => psn::read(text),
            Format::Usi | Format::Sfen => usi::read_with(text, warnings),
        }
    }

    /// Whether its reader reads the other format as well.
    #[cfg(feature = "cli")]
    pub(crate) fn reads(self, other: Format) -> bool {
        let family = |format| match format {
            Format::Bod => Format::Kif,
            Format::Sfen => Format::Usi,
            _ => format,
        };
        family(self) == family(other)
    }

    /// The text of a game.
    pub fn write(self, record: &Record) -> String {
        match self {
            Format::Csa => csa::write(record),
            Format::Kif => kakinoki::write_kif(record),
            Format::Ki2 => kakinoki::write_ki2(record),
            Format::Jkf => jkf::write(record),
            Format::Psn => psn::write(record),
            Format::Usi => usi::write(record),
            Format::Sfen => usi::write_sfen(record),
            Format::Bod => kakinoki::write_bod(record),
        }
    }

    /// What stands between games in one file; none where a file holds one game.
    pub fn separator(self) -> Option<&'static str> {
        match self {
            Format::Csa => Some("/\n"),
            Format::Psn | Format::Usi | Format::Sfen => Some(""),
            Format::Kif | Format::Ki2 | Format::Jkf | Format::Bod => None,
        }
    }

    /// What [`write`](Self::write) drops, for a warning: `3 variations, the times`. Empty where nothing is lost.
    pub fn losses(self, record: &Record) -> String {
        let has = Contents::of(record);
        let moves_kept = !matches!(self, Format::Sfen | Format::Bod);
        let kakinoki = matches!(self, Format::Kif | Format::Ki2);
        let text_kept = kakinoki || matches!(self, Format::Csa | Format::Jkf | Format::Psn);
        let mut lost = Vec::new();
        let mut lose = |count: usize, kept: bool, one: &str, many: &str| {
            if !kept && count > 0 {
                lost.push(messages::counted(count, one, many));
            }
        };
        lose(has.moves, moves_kept, "1 move", "moves");
        lose(has.variations, kakinoki || self == Format::Jkf, "1 variation", "variations");
        lose(has.times, matches!(self, Format::Csa | Format::Kif | Format::Jkf), "1 time", "times");
        if matches!(self, Format::Kif | Format::Jkf) {
            lose(has.fractions, false, "the fraction of 1 time", "times' fractions of seconds");
        }
        lose(has.comments, text_kept, "1 comment", "comments");
        lose(has.asides, kakinoki || self == Format::Csa, "1 program's line", "programs' lines");
        lose(has.bookmarks, kakinoki, "1 bookmark", "bookmarks");
        lose(has.headings, text_kept, "1 heading", "headings");
        let one_line = !matches!(self, Format::Jkf) && text_kept;
        lose(has.headings_of_lines, !one_line, "1 heading's line ends", "headings' line ends");
        lose(has.braces, self != Format::Psn, "the `}` of 1 comment", "comments' `}`");
        lose(has.empty_headings, self != Format::Psn, "1 heading without text", "headings without text");
        let turn = record.mover(record.moves.len());
        let main = usize::from(record.end.as_ref().is_some_and(|end| !self.spells(end.special, turn)));
        lose(main, false, "the ending", "endings");
        let endings = has.endings.iter().filter(|(special, turn)| !self.spells(*special, *turn)).count();
        let variations_kept = kakinoki || self == Format::Jkf;
        lose(endings - main, !variations_kept, "the ending of 1 variation", "endings of variations");
        let numbered = record.root.game_ply() > 1;
        lose(
            usize::from(numbered),
            !matches!(self, Format::Csa | Format::Jkf),
            "the first move's number",
            "",
        );
        messages::list(lost)
    }
}

impl Format {
    /// Whether it has a word for an ending with that side to move which means nothing else.
    fn spells(self, special: Special, turn: Color) -> bool {
        let word = match self {
            Format::Csa | Format::Jkf => Special::from_csa(special.csa()),
            Format::Kif | Format::Ki2 => Special::from_kif(special.kif(turn), turn),
            Format::Psn | Format::Usi | Format::Sfen | Format::Bod => None,
        };
        word == Some(special)
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Format, String> {
        let found = Format::ALL.into_iter().find(|f| f.name() == text);
        found.ok_or_else(|| format!("`{text}` is none of {}", Format::names()))
    }
}

/// How much of everything a record holds.
#[derive(Default)]
struct Contents {
    moves: usize,
    variations: usize,
    times: usize,
    fractions: usize,
    comments: usize,
    asides: usize,
    bookmarks: usize,
    headings: usize,
    /// Headings of more than one line.
    headings_of_lines: usize,
    empty_headings: usize,
    /// Comments with `}` in them.
    braces: usize,
    /// Those of variations too, with the side to move.
    endings: Vec<(Special, Color)>,
}

impl Contents {
    fn of(record: &Record) -> Contents {
        let braces = |comments: &[String]| comments.iter().filter(|text| text.contains('}')).count();
        let of_lines = |text: &str| text.contains(['\n', '\r']);
        let named = record.headers.iter().filter(|(name, value)| of_lines(name) || of_lines(value));
        let mut has = Contents {
            moves: record.moves.len(),
            comments: record.comments.len(),
            asides: record.asides.len(),
            bookmarks: usize::from(record.bookmark.is_some()),
            headings: record.headers.len() + record.names.iter().filter(|n| !n.is_empty()).count(),
            headings_of_lines: named.count() + record.names.iter().filter(|name| of_lines(name)).count(),
            empty_headings: record.headers.iter().filter(|(_, value)| value.is_empty()).count(),
            braces: braces(&record.comments),
            ..Contents::default()
        };
        let notes = std::cell::RefCell::new(&mut has);
        let add = |time: Option<std::time::Duration>,
                   comments: &[String],
                   asides: usize,
                   bookmark: bool,
                   lines: usize| {
            let mut has = notes.borrow_mut();
            has.times += usize::from(time.is_some());
            has.fractions += usize::from(time.is_some_and(|t| t.subsec_nanos() > 0));
            has.comments += comments.len();
            has.braces += braces(comments);
            has.asides += asides;
            has.bookmarks += usize::from(bookmark);
            has.variations += lines;
        };
        record.visit(
            &mut |p| add(p.time, &p.comments, p.asides.len(), p.bookmark.is_some(), p.variations.len()),
            &mut |e, turn| {
                add(e.time, &e.comments, e.asides.len(), e.bookmark.is_some(), e.variations.len());
                notes.borrow_mut().endings.push((e.special, turn));
            },
        );
        has
    }
}
