//! Reading CSA records.

use super::board::BoardReader;
use super::moves::{MoveTextError, read_move};
use super::names::color_of;
use crate::record::builder::Builder;
use crate::record::error::{BadMove, RecordError, Warnings, excerpt};
use crate::record::game::Record;
use crate::record::headings::is_csa_name;
use crate::record::special::Special;
use crate::support::messages;
use crate::types::Color;
use std::time::Duration;

/// Reads the games of a file; a line `/` separates them.
///
/// V1 to V3 are accepted, and the records of floodgate's server (`'$END_TIME:` and the like are comments). A
/// line may have several statements, separated by commas. Every move must be legal.
///
/// # Errors
/// [`RecordError`] names the line and what is wrong with it.
pub fn read(text: &str) -> Result<Vec<Record>, RecordError> {
    read_with(text, &mut Warnings::strict())
}

/// Like [`read`], but skips what does not change the moves, and games that cannot be read if another one can.
pub(in crate::record) fn read_with(text: &str, warnings: &mut Warnings) -> Result<Vec<Record>, RecordError> {
    let mut games = Vec::new();
    let mut refused = None;
    let truncated = !text.ends_with('\n');
    let mut lines = text.lines().enumerate().peekable();
    while lines.peek().is_some() || games.is_empty() && refused.is_none() {
        match read_game(&mut lines, truncated, warnings) {
            Ok(game) => games.extend(game),
            Err(e) => {
                warnings.skip_game(&e)?;
                lines.by_ref().find(|(_, line)| line.trim_end() == "/");
                refused = refused.or(Some(e));
            }
        }
    }
    match refused {
        Some(error) if games.is_empty() => Err(error),
        _ => Ok(games),
    }
}

/// The next game; `None` after the last one, even if a separator follows.
fn read_game<'a>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'a str)>>,
    truncated: bool,
    warnings: &mut Warnings,
) -> Result<Option<Record>, RecordError> {
    let mut reader = Reader::default();
    let first = warnings.line == 0;
    let mut separated = false;
    while let Some((i, line)) = lines.next() {
        warnings.line = i + 1;
        let line = line.trim_end_matches('\r');
        separated = line == "/";
        if separated {
            break;
        }
        if let Err(what) = reader.line(line, warnings) {
            let ends =
                truncated && lines.peek().is_none() && reader.game.as_ref().is_some_and(|g| g.ply() > 0);
            if !ends || warnings.skip(messages::file_ends(&what)).is_err() {
                return Err(reader.error(warnings.line, what));
            }
        }
    }
    // a separator after the last game does not begin another one
    if reader.is_empty() && !separated && !first {
        return Ok(None);
    }
    warnings.line = warnings.line.max(1);
    reader.finish(warnings).map(Some).map_err(|what| RecordError::new(warnings.line, what))
}

/// A game that is being read. The record exists as soon as the side to move is known.
#[derive(Default)]
struct Reader {
    names: [Option<String>; 2],
    headers: Vec<(String, String)>,
    comments: Vec<String>,
    asides: Vec<String>,
    board: BoardReader,
    /// Set when the side to move is read.
    game: Option<Builder>,
    /// Headers after the moves.
    late: Vec<(String, String)>,
    versioned: bool,
}

impl Reader {
    fn is_empty(&self) -> bool {
        let about = self.names.iter().any(Option::is_some)
            || !(self.headers.is_empty() && self.comments.is_empty() && self.asides.is_empty());
        !about && self.game.is_none() && !self.versioned
    }

    fn error(self, line: usize, what: String) -> RecordError {
        match self.game {
            Some(game) => game.error(line, what),
            None => RecordError::new(line, what),
        }
    }

    fn line(&mut self, line: &str, warnings: &mut Warnings) -> Result<(), String> {
        let line = if warnings.is_strict() { line } else { line.trim_start() };
        let mut chars = line.chars();
        match chars.next() {
            None => Ok(()),
            Some('\'') => {
                self.comment(chars.as_str());
                Ok(())
            }
            Some('P') if self.game.is_some() => Err(messages::before_the_moves(excerpt(line))),
            Some('V' | 'N') if self.game.is_some() => {
                warnings.skip(messages::before_the_moves(excerpt(line)))
            }
            Some('V') => self.version(chars.as_str(), warnings),
            Some('N') => self.name(line, chars.as_str(), warnings),
            Some('$') => self.header(line, chars.as_str(), warnings),
            Some('P') => {
                let (first, others) = line.split_once(',').unwrap_or((line, ""));
                self.board.line(first).map_err(|e| e.to_string())?;
                self.line(others, warnings)
            }
            Some('+' | '-' | '%' | 'T') => self.statements(line, warnings),
            Some(_) => warnings.skip(messages::not_this_format(excerpt(line))),
        }
    }

    /// `+7776FU,T12,'* 30`: `'` begins a comment. Some programs write blanks instead of commas.
    fn statements(&mut self, line: &str, warnings: &mut Warnings) -> Result<(), String> {
        if warnings.is_strict() {
            return line.split(',').try_for_each(|statement| self.statement(statement, warnings));
        }
        let mut rest = line;
        while !rest.is_empty() {
            if let Some(text) = rest.strip_prefix('\'') {
                self.comment(text);
                return Ok(());
            }
            let blanks = if rest.starts_with('T') { ',' } else { ' ' };
            let (statement, behind) = rest.split_once([',', blanks, '\t']).unwrap_or((rest, ""));
            rest = behind.trim_start_matches([' ', '\t', ',']);
            if !statement.is_empty() {
                self.statement(statement, warnings)?;
            }
        }
        Ok(())
    }

    fn comment(&mut self, text: &str) {
        let comment = text.strip_prefix('*');
        match (&mut self.game, comment) {
            (Some(game), Some(comment)) => game.comment(comment.into()),
            (Some(game), None) => game.aside(text.into()),
            (None, Some(comment)) => self.comments.push(comment.into()),
            // the encoding of the file: the writer adds its own
            (None, None) if !self.versioned && text.starts_with("CSA encoding=") => {}
            // a heading without a name in CSA, as the writer writes it
            (None, None) => match text.strip_prefix('$').and_then(|t| t.split_once(':')) {
                Some((name, value)) => self.headers.push((name.into(), value.trim_end().into())),
                None => self.asides.push(text.into()),
            },
        }
    }

    fn version(&mut self, text: &str, warnings: &mut Warnings) -> Result<(), String> {
        let number = text.trim_end();
        let known = matches!(number.split('.').next(), Some("1" | "2" | "3"));
        self.versioned = true;
        if !known || !number.chars().all(|c| c.is_ascii_digit() || c == '.') {
            return warnings.skip(messages::unknown_version(excerpt(number)));
        }
        Ok(())
    }

    fn name(&mut self, line: &str, text: &str, warnings: &mut Warnings) -> Result<(), String> {
        let mut chars = text.chars();
        let Some(color) = chars.next().and_then(color_of) else {
            return warnings.skip(messages::nobodys_name(excerpt(line)));
        };
        let name = &mut self.names[color.index()];
        if name.is_some() {
            return warnings.skip(messages::named_already(excerpt(line)));
        }
        *name = Some(chars.as_str().trim_end().into());
        Ok(())
    }

    fn header(&mut self, line: &str, text: &str, warnings: &mut Warnings) -> Result<(), String> {
        let Some((name, value)) = text.split_once(':') else {
            return warnings.skip(messages::no_colon(excerpt(line)));
        };
        if !is_csa_name(name) && warnings.is_strict() {
            return Err(messages::not_csa_heading(excerpt(line)));
        }
        // some programs write the end time after the moves
        let headers = if self.game.is_some() { &mut self.late } else { &mut self.headers };
        headers.push((name.into(), value.trim_end().into()));
        Ok(())
    }

    fn statement(&mut self, text: &str, warnings: &mut Warnings) -> Result<(), String> {
        let text = text.trim_end();
        let Some(game) = &mut self.game else {
            let side = text.chars().next().and_then(color_of);
            let Some(side) = side.filter(|_| text.len() == 1 || !warnings.is_strict()) else {
                return Err(messages::before_the_side(excerpt(text)));
            };
            self.begin(side)?;
            if text.len() == 1 {
                return Ok(());
            }
            warnings.skip(messages::side_of_first_move())?;
            return self.statement(text, warnings);
        };
        if let Some(text) = text.strip_prefix('T') {
            let Some(time) = read_time(if warnings.is_strict() { text } else { tidy_time(text) }) else {
                return warnings.skip(messages::not_a_time(format_args!("T{}", excerpt(text))));
            };
            return match game.time() {
                None => warnings.skip(messages::time_without_move()),
                Some(Some(_)) => warnings.skip(messages::second_time(format_args!("T{}", excerpt(text)))),
                Some(free) => {
                    *free = Some(time);
                    Ok(())
                }
            };
        }
        if text.starts_with('%') {
            let known = Special::from_csa(text);
            // floodgate's server writes a declaration twice
            if game.end().is_some_and(|end| Some(end.special) == known) {
                return Ok(());
            }
            if let Some(special) = known {
                return game.finish_line(special, None).or_else(|what| warnings.skip(what));
            }
            warnings.skip(messages::unknown_ending(excerpt(text)))?;
            return game.finish_line(Special::Other, Some(text.trim_start_matches('%').into()));
        }
        if !text.starts_with(['+', '-']) {
            return warnings.skip(messages::not_this_format(excerpt(text)));
        }
        // the side to move again
        if text.len() == 1 && game.ply() == 0 {
            return warnings.skip(messages::second_side());
        }
        let found = read_move(game.position(), text).map_err(|e| bad_move(game, &e));
        game.play_or_foul(found, text, warnings)
    }

    fn begin(&mut self, side: Color) -> Result<(), String> {
        let root = std::mem::take(&mut self.board).finish(side).map_err(|e| e.to_string())?;
        let mut record = Record::new(root);
        record.names = std::mem::take(&mut self.names).map(Option::unwrap_or_default);
        record.headers = std::mem::take(&mut self.headers);
        record.comments = std::mem::take(&mut self.comments);
        record.asides = std::mem::take(&mut self.asides);
        self.game = Some(Builder::new(record));
        Ok(())
    }

    fn finish(mut self, warnings: &mut Warnings) -> Result<Record, String> {
        if self.game.is_none() && self.versioned {
            warnings.skip(messages::black_assumed())?;
            self.begin(Color::Black)?;
        }
        let game = self.game.ok_or_else(messages::no_side)?;
        let mut record = game.finish();
        record.headers.extend(self.late);
        Ok(record)
    }
}

fn bad_move(game: &Builder, error: &MoveTextError) -> BadMove {
    let side = game.position().side_to_move();
    let what = error.to_string();
    match error {
        MoveTextError::Turn(_) => BadMove::Foul(!side, messages::two_in_a_row(what)),
        MoveTextError::Illegal { reason, .. } => BadMove::of(side, reason).map(|_| what),
        MoveTextError::Notation(_) | MoveTextError::Kind(_) => BadMove::Text(what),
    }
}

/// A time as other programs write it: with a sign, blanks, a point without digits.
fn tidy_time(text: &str) -> &str {
    text.trim().trim_start_matches('+').trim_end_matches(['.', 's'])
}

/// Seconds, since V3 with a fraction.
fn read_time(text: &str) -> Option<Duration> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let seconds: u64 = whole.parse().ok().filter(|s| *s < 1 << 32)?;
    let nanos: u32 = format!("{fraction:0<9}").parse().ok()?;
    Some(Duration::new(seconds, nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Record {
        let mut games = read(text).unwrap();
        assert_eq!(games.len(), 1);
        games.remove(0)
    }

    #[test]
    fn a_record_with_everything() {
        let text = "'CSA encoding=UTF-8\nV3.0\nN+先手\nN-Gote 2\n$EVENT:a:b\n'$表題:x\n'before\nPI\n+\n'*first\n+7776FU,T12.5\n'** 30 -3334FU\n'note\n-3334FU\nT3\n%TORYO,T7\n'over\n$END_TIME:2026/07/17\n";
        let record = one(text);
        assert_eq!(record.names, ["先手", "Gote 2"].map(String::from));
        let headers = [("EVENT", "a:b"), ("表題", "x"), ("END_TIME", "2026/07/17")];
        assert_eq!(record.headers, headers.map(|(n, v)| (n.to_string(), v.to_string())));
        assert_eq!((record.comments, record.asides), (vec!["first".into()], vec!["before".into()]));
        assert_eq!(record.moves[0].time, Some(Duration::from_millis(12_500)));
        assert_eq!(record.moves[0].comments, ["* 30 -3334FU"]);
        assert_eq!(record.moves[0].asides, ["note"]);
        assert_eq!(record.moves[1].time, Some(Duration::from_secs(3)));
        let end = record.end.unwrap();
        assert_eq!((end.special, end.time), (Special::Resign, Some(Duration::from_secs(7))));
        assert_eq!(end.asides, ["over"]);
    }

    #[test]
    fn several_games_in_one_file() {
        let text = "V2.2\nPI\n+\n+7776FU\n/\nPI\n-\n-3334FU\n%CHUDAN\n/\n";
        let games = read(text).unwrap();
        assert_eq!(games.len(), 2);
        assert_eq!(games[1].moves.len(), 1);
    }

    #[test]
    fn an_ending_may_be_written_twice() {
        let record = one("V2\nPI\n+\n+7776FU\nT1\n%KACHI\nT0\n%KACHI\n'summary:kachi:a lose:b win\n");
        let end = record.end.unwrap();
        assert_eq!((end.special, end.time), (Special::Declaration, Some(Duration::ZERO)));
        assert_eq!(end.asides.len(), 1);
    }

    #[test]
    fn errors_name_the_line() {
        let cases = [
            ("V2.2\nPI\n+\n+7775FU\n", 4, "7775FU"),
            ("V2.2\nPI\n+\n+7776FU\n+2726FU\n", 5, "other player"),
            ("V2.2\nPI\n+7776FU\n", 3, "before the side to move"),
            ("V2.2\nPI\n", 2, "ends before"),
            ("V9\nPI\n+\n", 1, "version"),
            ("V2.2\nN*x\n+\n", 2, "neither player"),
            ("V2.2\nN+a\nN+b\n+\n", 3, "already"),
            ("V2.2\n$EVENT\n+\n", 2, "colon"),
            ("V2.2\n+\nT1\n", 3, "before the first move"),
            ("V2.2\n+\n+7776FU\nT1\nT2\n", 5, "second time"),
            ("V2.2\n+\n+7776FU\nT1.\n", 4, "not a time"),
            ("V2.2\n+\n+7776FU\nTx\n", 4, "not a time"),
            ("V2.2\n+\n%TORY0\n", 3, "not an ending"),
            ("V2.2\n+\n%TORYO\n+7776FU\n", 4, "after"),
            ("V2.2\n+\n+7776FU\nPI\n", 4, "before the moves"),
            ("V2.2\n+\nhello\n", 3, "not a line"),
            ("", 1, "ends before"),
        ];
        for (text, line, what) in cases {
            let error = read(text).err().unwrap();
            assert_eq!(error.line, line, "{text:?}: {error}");
            assert!(error.to_string().contains(what), "{text:?}: {error}");
        }
    }
}
