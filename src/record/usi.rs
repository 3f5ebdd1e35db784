//! Games as lines of USI's `position` command, the position and the moves and nothing else; positions as SFEN.

use super::error::RecordError;
use super::game::{Ply, Record};
use crate::record::openings::Opening;

/// Reads the games of a file, one a line: `startpos moves ...`, `sfen ... moves ...`, with or without `position`, or a
/// bare SFEN. Empty lines and lines that begin with `#` are skipped.
///
/// # Errors
/// [`RecordError`] names the line and what is wrong with it.
pub fn read(text: &str) -> Result<Vec<Record>, RecordError> {
    let lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim()));
    let mut games = Vec::new();
    for (number, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let opening: Opening = line.parse().map_err(|e| RecordError::new(number, e))?;
        let mut record = Record::new(opening.root());
        record.moves = opening.moves.into_iter().map(Ply::of).collect();
        games.push(record);
    }
    if games.is_empty() { Err(RecordError::new(1, "there is no game in it")) } else { Ok(games) }
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
