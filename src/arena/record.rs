//! Games of a match as CSA records, for viewers: [`write_all`].

use super::adjudication::{EndReason, Winner};
use super::journal::GameLine;
use super::limits::EngineLimits;
use super::tournament::Tournament;
use crate::position::Position;
use crate::record::csa::move_text;
use crate::record::openings::Opening;
use crate::record::{End, Ply, Record, Special, csa};
use crate::resume::whole_file;
use crate::types::Color;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Writes every game to a file of its own, named by its number from 1.
///
/// # Errors
/// A file cannot be written; a move of a game is illegal (the game was not written by us).
pub fn write_all(dir: &Path, t: &Tournament, games: &[GameLine]) -> io::Result<()> {
    std::fs::create_dir_all(dir)?;
    for game in games {
        let fixture = t.schedule.fixture(game.game);
        let [first, second] = [fixture.first, fixture.second].map(|engine| t.engines[engine].name.as_str());
        let about = About {
            event: format!("{first} - {second}, game {}", game.game + 1),
            limits: fixture.players().map(|engine| t.limits(engine)),
            max_moves: t.adjudication.max_ply,
            rule: &t.adjudication.rule,
            time_zone: TimeZone::system(),
        };
        let path = dir.join(format!("{:06}.csa", game.game + 1));
        let failed = |e: &dyn std::fmt::Display| io::Error::other(format!("{}: {e}", path.display()));
        let text = csa(game, &about).map_err(|e| failed(&e))?;
        whole_file::write(&path, text).map_err(|e| failed(&e))?;
    }
    Ok(())
}

/// The header of a game record.
struct About<'a> {
    event: String,
    /// Black's and White's.
    limits: [&'a EngineLimits; 2],
    max_moves: u32,
    rule: &'a str,
    /// The time zone of dates.
    time_zone: TimeZone,
}

/// The text of a game. Scores and lines of play are comments in floodgate's format: centipawns from Black's
/// view, then the moves that the engine expects.
fn csa(line: &GameLine, about: &About<'_>) -> Result<String, String> {
    let opening: Opening = line.opening.parse()?;
    let mut pos = opening.position();
    let mut record = Record::new(opening.root());
    record.names = [line.black.clone(), line.white.clone()];
    record.headers = headers(line, about);
    record.moves = opening.moves.into_iter().map(Ply::of).collect();
    for ply in &line.plies {
        let mv = pos.parse_move(&ply.mv).map_err(|e| format!("{}: {e}", ply.mv))?;
        let black = pos.side_to_move() == Color::Black;
        pos.do_move(mv);
        let score = ply.score.map(|score| if black { score } else { -score });
        let comment = score.map(|score| format!("* {score}{}", line_of_play(&pos, &ply.pv)));
        let time = Some(Duration::from_micros((ply.ms * 1000.0) as u64));
        record.moves.push(Ply { time, comments: comment.into_iter().collect(), ..Ply::of(mv) });
    }
    let result = match line.winner {
        Winner::Draw => "a draw".to_string(),
        Winner::Black => format!("{} wins", line.black),
        Winner::White => format!("{} wins", line.white),
    };
    let mut end = End::of(ending(line));
    let reason = format!("{result}: {} {}", line.reason.name(), line.detail.replace('\n', " "));
    end.asides.push(reason.trim_end().into());
    record.end = Some(end);
    Ok(csa::write(&record))
}

/// Event, dates and limits under the names of CSA's `$` lines.
fn headers(line: &GameLine, about: &About<'_>) -> Vec<(String, String)> {
    let date = |at: Timestamp| at.to_zoned(about.time_zone.clone()).strftime("%Y/%m/%d %H:%M:%S").to_string();
    let mut headers = vec![("EVENT", about.event.clone())];
    headers.extend(line.start.map(|at| ("START_TIME", date(at))));
    headers.extend(line.end.map(|at| ("END_TIME", date(at))));
    let [black, white] = about.limits.map(clock_text);
    match (black, white) {
        (Some(black), Some(white)) if black == white => headers.push(("TIME", black)),
        (black, white) => {
            headers.extend(black.map(|text| ("TIME+", text)));
            headers.extend(white.map(|text| ("TIME-", text)));
        }
    }
    headers.push(("MAX_MOVES", about.max_moves.to_string()));
    let [black, white] = about.limits.map(EngineLimits::to_string);
    headers.push(("NOTE", format!("Black {black}; White {white}; {}", about.rule)));
    headers.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

/// A clock as V3.0 states it: main time, byoyomi and increment in seconds.
fn clock_text(limits: &EngineLimits) -> Option<String> {
    if limits.time.is_none() && limits.byoyomi.is_none() && limits.increment.is_none() {
        return None;
    }
    let seconds = |ms: Option<u64>| ms.unwrap_or(0) as f64 / 1000.0;
    Some(format!("{}+{}+{}", seconds(limits.time), seconds(limits.byoyomi), seconds(limits.increment)))
}

/// The legal moves of a line in CSA notation, each after a space.
fn line_of_play(position: &Position, pv: &[String]) -> String {
    let mut position = position.clone();
    let mut text = String::new();
    for m in pv {
        let Ok(m) = position.parse_move(m) else { break };
        text.push(' ');
        text += &move_text(m);
        position.do_move(m);
    }
    text
}

fn ending(line: &GameLine) -> Special {
    match line.reason {
        EndReason::Resign => Special::Resign,
        EndReason::Mate => Special::Mate,
        EndReason::Repetition => Special::Repetition,
        EndReason::PerpetualCheck if line.winner == Winner::Black => Special::IllegalAction(Color::White),
        EndReason::PerpetualCheck => Special::IllegalAction(Color::Black),
        EndReason::Declaration => Special::Declaration,
        EndReason::MaxMoves => Special::MaxMoves,
        EndReason::IllegalMove | EndReason::FalseDeclaration => Special::IllegalMove,
        EndReason::TimeLoss => Special::TimeUp,
        EndReason::Adjudication | EndReason::Crash | EndReason::Hang => Special::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::game;

    fn ply(mv: &str, score: Option<i32>, pv: &str) -> game::PlayedMove {
        let pv = pv.split_whitespace().map(String::from).collect();
        game::PlayedMove { mv: mv.into(), score, depth: None, nodes: None, ms: 1500.0, pv }
    }

    fn about(limits: [&EngineLimits; 2]) -> About<'_> {
        About {
            event: "A - B, game 1".into(),
            limits,
            max_moves: 320,
            rule: "CSARule27",
            time_zone: TimeZone::UTC,
        }
    }

    #[test]
    fn games_are_written_as_csa() {
        let mut line = GameLine {
            game: 0,
            black: "A".into(),
            white: "B".into(),
            winner: Winner::Black,
            reason: EndReason::Resign,
            detail: String::new(),
            opening: "startpos moves 7g7f 3c3d".into(),
            plies: vec![
                ply("8h2b+", Some(50), "3a2b 5i5h 9z9z"),
                ply("3a2b", Some(-7), ""),
                ply("B*4e", None, "2b3c"),
            ],
            start: Some(Timestamp::UNIX_EPOCH),
            end: Timestamp::from_second(61).ok(),
        };
        let (clock, nodes) = (
            EngineLimits { time: Some(10_000), increment: Some(100), ..EngineLimits::default() },
            EngineLimits { nodes: Some(5000), ..EngineLimits::default() },
        );
        let text = csa(&line, &about([&clock, &nodes])).unwrap();
        let expected = "'CSA encoding=UTF-8\nV3.0\nN+A\nN-B\n$EVENT:A - B, game 1\n$START_TIME:1970/01/01 00:00:00\n$END_TIME:1970/01/01 00:01:01\n$TIME+:10+0+0.1\n$MAX_MOVES:320\n$NOTE:Black tc=10+0.1; White nodes=5000; CSARule27\nPI\n+\n+7776FU\n-3334FU\n+8822UM\nT1.5\n'** 50 -3122GI +5958OU\n-3122GI\nT1.5\n'** 7\n+0045KA\nT1.5\n%TORYO\n'A wins: resign\n";
        assert_eq!(text, expected);
        let read = crate::record::csa::read(&text).unwrap().remove(0);
        assert_eq!(read.header("EVENT"), Some("A - B, game 1"));
        line.opening = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 w 2Gp 1".into();
        line.plies = vec![ply("5a4a", None, "")];
        let text = csa(&line, &about([&clock, &clock])).unwrap();
        assert!(text.contains("$TIME:10+0+0.1\n"), "{text}");
        assert!(text.contains("P1 *  *  *  * -OU *  *  *  * \n"), "{text}");
        assert!(text.contains("P+00KI00KI\nP-00FU\n-\n-5141OU\n"), "{text}");
    }
}
