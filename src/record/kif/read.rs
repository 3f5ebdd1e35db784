//! Reading KIF.

use super::board::DiagramReader;
use super::moves::read_move;
use super::{HEADINGS, handicap};
use crate::position::Position;
use crate::record::{End, Ply, Record, RecordError, Special, excerpt};
use crate::types::{Color, Square};
use std::time::Duration;

/// Reads a game: its main line, without variations. Every move must be legal.
///
/// # Errors
/// [`RecordError`] names the line and what is wrong with it.
pub fn read(text: &str) -> Result<Record, RecordError> {
    let mut reader = Reader::default();
    let mut last = 0;
    for (i, line) in text.lines().enumerate() {
        last = i + 1;
        if line.starts_with("変化：") || line.starts_with("変化:") {
            break;
        }
        reader.line(line.trim_end_matches('\r')).map_err(|what| RecordError::new(last, what))?;
    }
    reader.begin().map_err(|what| RecordError::new(last.max(1), what))?;
    match reader.record {
        Some((record, _)) if reader.any => Ok(record),
        _ => Err(RecordError::new(last.max(1), "there is no game in it")),
    }
}

#[derive(Default)]
struct Reader {
    names: [String; 2],
    headers: Vec<(String, String)>,
    comments: Vec<String>,
    handicap: Option<String>,
    diagram: DiagramReader,
    white_moves: bool,
    /// Set with the first move; with the position after the moves so far.
    record: Option<(Record, Position)>,
    /// Whether anything was understood at all.
    any: bool,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(text) = line.strip_prefix('*') {
            match &mut self.record {
                Some((record, _)) => record.comment(text.into()),
                None => self.comments.push(text.into()),
            }
            return Ok(());
        }
        let line = line.trim_end();
        // program comments, bookmarks, what the result means, which repeats the last line, where a diagram was taken
        let silent = line.starts_with(['#', '&']) || line.starts_with("まで") || line.starts_with("手数＝");
        if line.is_empty() || silent {
            return Ok(());
        }
        if line.starts_with("手数") {
            self.any = true;
            return self.begin();
        }
        let numbered = line.trim_start();
        if numbered.starts_with(|c: char| c.is_ascii_digit()) {
            self.begin()?;
            self.any = true;
            return self.ply(numbered);
        }
        if self.record.is_some() {
            return Err(format!("`{}` is neither a move nor a remark", excerpt(line)));
        }
        self.about(line)
    }

    /// A line before the moves.
    fn about(&mut self, line: &str) -> Result<(), String> {
        if line.starts_with('|') {
            self.any = true;
            return self.diagram.rank(line);
        }
        if line.starts_with('+') || line.trim_start().starts_with(['９', '9']) {
            return Ok(());
        }
        match line {
            "後手番" | "上手番" => {
                self.white_moves = true;
                return Ok(());
            }
            "先手番" | "下手番" => return Ok(()),
            _ => {}
        }
        let Some((heading, value)) = line.split_once('：').or_else(|| line.split_once(':')) else {
            return Err(format!("`{}` is no line of a KIF record", excerpt(line)));
        };
        self.any = true;
        let value = value.trim_matches(['　', ' ']);
        match heading {
            "手合割" => {
                if value != "その他" && handicap::position(value).is_none() {
                    return Err(format!("the handicap `{}` is not known", excerpt(value)));
                }
                self.handicap = Some(value.into());
            }
            "先手" | "下手" => self.names[0] = value.into(),
            "後手" | "上手" => self.names[1] = value.into(),
            "先手の持駒" | "下手の持駒" => return self.diagram.hand(Color::Black, value),
            "後手の持駒" | "上手の持駒" => return self.diagram.hand(Color::White, value),
            "手数" => {}
            _ => match HEADINGS.iter().find(|(kif, _)| *kif == heading) {
                Some((_, csa)) => self.headers.push((csa.to_string(), value.into())),
                None if !heading.is_empty()
                    && heading.chars().all(|c| c.is_ascii_uppercase() || c == '_') =>
                {
                    self.headers.push((heading.into(), value.into()));
                }
                None => self.comments.push(line.into()),
            },
        }
        Ok(())
    }

    /// Ends the lines before the moves, if they have not ended.
    fn begin(&mut self) -> Result<(), String> {
        if self.record.is_some() {
            return Ok(());
        }
        let diagram = std::mem::take(&mut self.diagram);
        let root = if diagram.has_board() {
            diagram.finish(if self.white_moves { Color::White } else { Color::Black })?
        } else {
            let name = self.handicap.as_deref().unwrap_or("平手");
            match handicap::position(name) {
                Some(position) => position.map_err(|e| e.to_string())?,
                None => return Err(format!("`{}` without a diagram", excerpt(name))),
            }
        };
        let mut record = Record::new(root.clone());
        record.names = std::mem::take(&mut self.names);
        record.headers = std::mem::take(&mut self.headers);
        record.comments = std::mem::take(&mut self.comments);
        self.record = Some((record, root));
        Ok(())
    }

    /// `   1 ７六歩(77)   ( 0:16/00:00:16)`
    fn ply(&mut self, line: &str) -> Result<(), String> {
        let Some((record, position)) = &mut self.record else { return Ok(()) };
        let (number, rest) = line.split_once(|c: char| !c.is_ascii_digit()).unwrap_or((line, ""));
        if number.parse() != Ok(record.moves.len() + 1) {
            return Err(format!("move {} is missing", record.moves.len() + 1));
        }
        if let Some(end) = &record.end {
            return Err(format!("a move after {}", end.special.kif(position.side_to_move())));
        }
        let rest = rest.trim_start_matches(['　', ' ']);
        let (text, time) = split_time(rest)?;
        let last: Option<Square> = record.moves.last().map(|ply| ply.mv.to());
        match read_move(position, last, text) {
            Some(m) => {
                let mv = m?;
                position.do_move(mv);
                record.moves.push(Ply { mv, time, comments: Vec::new() });
            }
            None => {
                let special = Special::from_kif(text, position.side_to_move())
                    .ok_or_else(|| format!("`{}` is neither a move nor an ending", excerpt(text)))?;
                record.end = Some(End { special, time, comments: Vec::new() });
            }
        }
        Ok(())
    }
}

/// Splits `７六歩(77)   ( 0:16/00:00:16)+` into the move and its time; the plus marks a variation.
fn split_time(text: &str) -> Result<(&str, Option<Duration>), String> {
    let text = text.trim_end_matches('+').trim_end();
    let Some((m, time)) = text.split_once(|c: char| c == ' ' || c == '　' && !text.starts_with('同'))
    else {
        return split_after_bracket(text);
    };
    // 同　歩(77)
    if m == "同" {
        return split_after_bracket(text);
    }
    Ok((m, read_time(time)?))
}

/// As [`split_time`], where a blank may stand inside the move: it ends with the origin, or with 打.
fn split_after_bracket(text: &str) -> Result<(&str, Option<Duration>), String> {
    let end = text.find(')').map(|i| i + 1).or_else(|| text.find('打').map(|i| i + '打'.len_utf8()));
    let (m, time) = text.split_at(end.unwrap_or(text.len()));
    Ok((m, read_time(time)?))
}

/// `( 0:16/00:00:16)`: minutes and seconds of the move; the total follows from the others.
fn read_time(text: &str) -> Result<Option<Duration>, String> {
    let text = text.trim_matches(['　', ' ']);
    if text.is_empty() {
        return Ok(None);
    }
    let read = || {
        let inner = text.strip_prefix('(')?.strip_suffix(')')?;
        let own = inner.split('/').next()?.trim();
        let mut seconds = 0u64;
        for part in own.split(':') {
            seconds = seconds
                .checked_mul(60)?
                .checked_add(part.trim().parse().ok().filter(|n: &u64| *n < 1 << 32)?)?;
        }
        Some(Duration::from_secs(seconds))
    };
    read().map(Some).ok_or_else(|| format!("`{}` is no time", excerpt(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = "# KIF\n開始日時：2026/07/17 16:30:00\n手合割：平手　　\n手数＝0  まで\n先手：A\n後手：B\n組：1\n手数----指手---------消費時間--\n*before\n   1 ７六歩(77)        ( 0:16/00:00:16)\n*one\n   2 ３四歩(33)   ( 1:02/00:01:02)\n   3 ２二角成(88) ( 0:00/00:00:16)+\n   4 同　銀(31) ( 0:00/00:01:02)\n   5 ４五角打\n   6 投了\nまで5手で先手の勝ち\n\n変化：3手\n   3 ２六歩(27)\n";

    #[test]
    fn a_game_with_everything() {
        let record = read(GAME).unwrap();
        assert_eq!(record.names, ["A", "B"].map(String::from));
        assert_eq!(record.header("START_TIME"), Some("2026/07/17 16:30:00"));
        assert_eq!(record.comments, ["組：1", "before"]);
        let moves: Vec<String> = record.moves.iter().map(|p| p.mv.to_string()).collect();
        assert_eq!(moves, ["7g7f", "3c3d", "8h2b+", "3a2b", "B*4e"]);
        assert_eq!(record.moves[1].time, Some(Duration::from_secs(62)));
        assert_eq!(record.moves[0].comments, ["one"]);
        assert_eq!(record.end.unwrap().special, Special::Resign);
    }

    #[test]
    fn errors_name_the_line() {
        let wrong = |old: &str, new: &str| read(&GAME.replacen(old, new, 1)).err().unwrap();
        let cases = [
            ("７六歩(77)", "７五歩(77)", 10),
            ("７六歩", "７六金", 10),
            ("   2 ", "   3 ", 12),
            ("( 1:02/", "( x:02/", 12),
            ("投了", "投", 16),
            ("平手", "三十枚落ち", 3),
            ("先手：A", "先手A", 5),
            ("*one", "one", 11),
        ];
        for (old, new, line) in cases {
            assert_eq!(wrong(old, new).line, line, "{new}");
        }
        assert!(read("").is_err());
        assert!(read("手合割：その他\n手数----\n").is_err());
    }
}
