//! Games as CSA records (V2.2), for viewers.

use super::game::{Reason, Winner};
use super::journal::GameLine;
use crate::openings::Opening;
use crate::record::{End, Ply, Record, Special, csa};
use crate::types::Color;
use std::time::Duration;

/// The text of a game. Scores stand in comments as floodgate writes them, from Black's view.
///
/// # Errors
/// When the line's moves cannot be played, for it was not written by us.
pub fn csa(line: &GameLine) -> Result<String, String> {
    let opening: Opening = line.opening.parse()?;
    let mut pos = opening.position();
    let mut record = Record::new(opening.root);
    record.names = [line.black.clone(), line.white.clone()];
    record.moves = opening.moves.into_iter().map(Ply::of).collect();
    for ply in &line.plies {
        let mv = pos.parse_move(&ply.mv).map_err(|e| format!("{}: {e}", ply.mv))?;
        let black = pos.side_to_move() == Color::Black;
        let score = ply.score.map(|score| format!("** {}", if black { score } else { -score }));
        let time = Some(Duration::from_secs((ply.ms / 1000.0) as u64));
        record.moves.push(Ply { mv, time, comments: score.into_iter().collect() });
        pos.do_move(mv);
    }
    let result = match line.winner {
        Winner::Draw => "a draw".to_string(),
        Winner::Black => format!("{} wins", line.black),
        Winner::White => format!("{} wins", line.white),
    };
    let mut end = End::of(ending(line));
    let about = format!("{result}: {} {}", line.reason.name(), line.detail.replace('\n', " "));
    end.comments.push(about.trim_end().into());
    record.end = Some(end);
    Ok(csa::write(&record))
}

fn ending(line: &GameLine) -> Special {
    match line.reason {
        Reason::Resign => Special::Resign,
        Reason::Mate => Special::Mate,
        Reason::Repetition => Special::Repetition,
        Reason::PerpetualCheck if line.winner == Winner::Black => Special::IllegalAction(Color::White),
        Reason::PerpetualCheck => Special::IllegalAction(Color::Black),
        Reason::Declaration => Special::Declaration,
        Reason::MaxMoves => Special::MaxMoves,
        Reason::IllegalMove | Reason::FalseDeclaration => Special::IllegalMove,
        Reason::TimeLoss => Special::TimeUp,
        Reason::Adjudication | Reason::Crash | Reason::Hang => Special::Interrupted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::game;

    fn ply(mv: &str, score: Option<i32>) -> game::Ply {
        game::Ply { mv: mv.into(), score, depth: None, nodes: None, ms: 1500.0 }
    }

    #[test]
    fn games_are_written_as_csa() {
        let mut line = GameLine {
            game: 0,
            black: "A".into(),
            white: "B".into(),
            winner: Winner::Black,
            reason: Reason::Resign,
            detail: String::new(),
            opening: "startpos moves 7g7f 3c3d".into(),
            plies: vec![ply("8h2b+", Some(50)), ply("3a2b", Some(-7)), ply("B*4e", None)],
        };
        let text = csa(&line).unwrap();
        let expected = "V2.2\nN+A\nN-B\nPI\n+\n+7776FU\n-3334FU\n+8822UM\nT1\n'** 50\n-3122GI\nT1\n'** 7\n+0045KA\nT1\n%TORYO\n'A wins: resign\n";
        assert_eq!(text, expected);
        line.opening = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 w 2Gp 1".into();
        line.plies = vec![ply("5a4a", None)];
        let text = csa(&line).unwrap();
        assert!(text.contains("P1 *  *  *  * -OU *  *  *  * \n"), "{text}");
        assert!(text.contains("P+00KI00KI\nP-00FU\n-\n-5141OU\n"), "{text}");
    }
}
