//! Games as lines of USI's `position` command, the position and the moves and nothing else; positions as SFEN.

use super::builder::Builder;
use super::error::{BadMove, RecordError, Warnings, excerpt};
use super::game::Record;
use super::special::Special;
use crate::position::Position;
use crate::record::openings::Opening;
use crate::support::messages;

/// What other programs write behind the moves.
const ENDINGS: [(&str, Special); 6] = [
    ("resign", Special::Resign),
    ("win", Special::Declaration),
    ("draw", Special::DrawDeclaration),
    ("timeup", Special::TimeUp),
    ("rep_draw", Special::Repetition),
    ("interrupt", Special::Interrupted),
];

/// Reads the games of a file, one a line: `startpos moves ...`, `sfen ... moves ...`, with or without `position`, or a
/// bare SFEN. Empty lines and lines that begin with `#` are skipped. An ending, `resign` and the like, may follow the
/// moves. Moves alone begin at the usual position.
///
/// # Errors
/// [`RecordError`] names the line and what is wrong with it.
pub fn read(text: &str) -> Result<Vec<Record>, RecordError> {
    read_with(text, &mut Warnings::strict())
}

/// As [`read`]; lines that cannot be read may be skipped.
pub(super) fn read_with(text: &str, warnings: &mut Warnings) -> Result<Vec<Record>, RecordError> {
    let mut games = Vec::new();
    let mut refused = None;
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        warnings.line = i + 1;
        match read_line(line, warnings) {
            Ok(game) => games.push(game),
            Err(what) => {
                let error = RecordError::new(i + 1, what);
                warnings.skip_game(&error)?;
                refused = refused.or(Some(error));
            }
        }
    }
    match refused {
        Some(error) if games.is_empty() => Err(error),
        None if games.is_empty() => Err(RecordError::new(1, messages::no_game_in_it())),
        _ => Ok(games),
    }
}

fn read_line(line: &str, warnings: &mut Warnings) -> Result<Record, String> {
    // in the log of a program something may stand before the command
    let start = if warnings.is_strict() {
        None
    } else {
        line.find("position startpos").or(line.find("position sfen"))
    };
    let line = start.map_or(line, |at| &line[at..]);
    let text = line.strip_prefix("position ").unwrap_or(line).trim();
    // what follows a tab is about the problem
    let text = text.split('\t').next().unwrap_or(text);
    let (root, moves) = text.split_once("moves").unwrap_or((text, ""));
    let start = Position::startpos();
    let bare =
        !warnings.is_strict() && text.split_whitespace().next().is_some_and(|m| start.parse_move(m).is_ok());
    let (root, moves) = if bare { ("startpos", text) } else { (root, moves) };
    let root = match root.trim() {
        "startpos" => start,
        sfen => Position::from_sfen(sfen).map_err(|e| e.to_string())?,
    };
    let mut game = Builder::new(Record::new(root));
    for word in moves.split_whitespace() {
        let ending = ENDINGS.iter().find(|(name, _)| *name == word);
        if let Some((_, special)) = ending.filter(|_| !warnings.is_strict()) {
            game.finish_line(*special, None)?;
            continue;
        }
        let position = game.position();
        let found = position.parse_move(word);
        if !warnings.is_strict()
            && found.is_err()
            && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        {
            warnings.skip(messages::neither_move_nor_ending(excerpt(word)))?;
            game.finish_line(Special::Other, Some(word.into()))?;
            continue;
        }
        let side = position.side_to_move();
        let found = found.map_err(|e| BadMove::of(side, &e));
        game.play_or_foul(found, word, warnings).map_err(|what| match game.foul() {
            Some(foul) => foul.what.clone(),
            None => what,
        })?;
    }
    Ok(game.finish())
}

/// The words after `position`, with a line end.
pub fn write(record: &Record) -> String {
    let moves = record.moves.iter().map(|ply| ply.mv).collect();
    format!("{}\n", Opening::new(&record.root, moves))
}

/// The position after the main line as SFEN, with a line end.
pub fn write_sfen(record: &Record) -> String {
    format!("{}\n", record.position().sfen())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_back() {
        let text = "startpos moves 7g7f 3c3d\nsfen 4k4/9/9/9/9/9/9/9/4K4 b G 1 moves G*5b\n";
        let games = read(&format!("# remark\n\nposition {text}")).unwrap();
        assert_eq!(games.iter().map(write).collect::<String>(), text);
        let sfen: String = games.iter().map(write_sfen).collect();
        assert_eq!(read(&sfen).unwrap()[1].root.sfen(), games[1].position().sfen());
        assert_eq!(read("startpos\nstartpos moves 7g7e\n").err().unwrap().line, 2);
        assert!(read("\n").is_err());
    }
}
