//! Games as CSA records (V2.2), for viewers.

use super::game::{Reason, Winner};
use super::journal::GameLine;
use crate::openings::Opening;
use crate::position::Position;
use crate::types::{Color, Move, PieceType, Square};
use std::fmt::Write;

/// CSA's names of the kinds, by `PieceType`.
const NAMES: [&str; 15] =
    ["  ", "FU", "KY", "KE", "GI", "KA", "HI", "KI", "OU", "TO", "NY", "NK", "NG", "UM", "RY"];

fn sign(color: Color) -> char {
    if color == Color::Black { '+' } else { '-' }
}

/// The text of a game. Scores stand in comments as floodgate writes them, from Black's view.
///
/// # Errors
/// When the line's moves cannot be played, for it was not written by us.
pub fn csa(line: &GameLine) -> Result<String, String> {
    let opening: Opening = line.opening.parse()?;
    let mut pos = opening.root.clone();
    let mut out = format!("V2.2\nN+{}\nN-{}\n", line.black, line.white);
    put_position(&mut out, &pos);
    let mut put_move = |out: &mut String, m: Move| {
        let us = pos.side_to_move();
        let from = if m.is_drop() { "00".to_string() } else { digits(m.from()) };
        let kind = NAMES[m.piece().kind().index()];
        // writing to a string cannot fail
        let _ = writeln!(out, "{}{from}{}{kind}", sign(us), digits(m.to()));
        pos.do_move(m);
        us
    };
    opening.moves.iter().for_each(|&m| {
        put_move(&mut out, m);
    });
    let mut pos = opening.position();
    for ply in &line.plies {
        let m = pos.parse_move(&ply.mv).map_err(|e| format!("{}: {e}", ply.mv))?;
        let us = put_move(&mut out, m);
        pos.do_move(m);
        let _ = writeln!(out, "T{}", (ply.ms / 1000.0) as u64);
        if let Some(score) = ply.score {
            let _ = writeln!(out, "'** {}", if us == Color::Black { score } else { -score });
        }
    }
    let end = match line.reason {
        Reason::Resign => "%TORYO".to_string(),
        Reason::Mate => "%TSUMI".to_string(),
        Reason::Repetition => "%SENNICHITE".to_string(),
        Reason::PerpetualCheck => {
            let loser = if line.winner == Winner::Black { '-' } else { '+' };
            format!("%{loser}ILLEGAL_ACTION")
        }
        Reason::Declaration => "%KACHI".to_string(),
        Reason::MaxMoves => "%MAX_MOVES".to_string(),
        Reason::IllegalMove | Reason::FalseDeclaration => "%ILLEGAL_MOVE".to_string(),
        Reason::TimeLoss => "%TIME_UP".to_string(),
        Reason::Adjudication | Reason::Crash | Reason::Hang => "%CHUDAN".to_string(),
    };
    let result = match line.winner {
        Winner::Draw => "a draw".to_string(),
        Winner::Black => format!("{} wins", line.black),
        Winner::White => format!("{} wins", line.white),
    };
    let _ = writeln!(out, "{end}\n'{result}: {} {}", line.reason.name(), line.detail.replace('\n', " "));
    Ok(out)
}

fn digits(sq: Square) -> String {
    format!("{}{}", sq.file() + 1, sq.rank() + 1)
}

fn put_position(out: &mut String, pos: &Position) {
    let startpos = Position::startpos();
    if pos.key() == startpos.key() && pos.board() == startpos.board() {
        *out += "PI\n+\n";
        return;
    }
    for rank in 0..9 {
        let _ = write!(out, "P{}", rank + 1);
        for file in (0..9).rev() {
            let piece = pos.piece_on(Square::new(file, rank));
            if piece.is_some() {
                let _ = write!(out, "{}{}", sign(piece.color()), NAMES[piece.kind().index()]);
            } else {
                *out += " * ";
            }
        }
        *out += "\n";
    }
    for color in Color::ALL {
        if pos.hand(color).is_empty() {
            continue;
        }
        let _ = write!(out, "P{}", sign(color));
        for kind in PieceType::HAND {
            for _ in 0..pos.hand(color).count(kind) {
                let _ = write!(out, "00{}", NAMES[kind.index()]);
            }
        }
        *out += "\n";
    }
    let _ = writeln!(out, "{}", sign(pos.side_to_move()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::game::Ply;

    fn ply(mv: &str, score: Option<i32>) -> Ply {
        Ply { mv: mv.into(), score, depth: None, nodes: None, ms: 1500.0 }
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
        let expected = "V2.2\nN+A\nN-B\nPI\n+\n+7776FU\n-3334FU\n+8822UM\nT1\n'** 50\n-3122GI\nT1\n'** 7\n+0045KA\nT1\n%TORYO\n'A wins: resign \n";
        assert_eq!(text, expected);
        line.opening = "sfen 4k4/9/4P4/9/9/9/9/9/4K4 w 2Gp 1".into();
        line.plies = vec![ply("5a4a", None)];
        let text = csa(&line).unwrap();
        assert!(text.contains("P1 *  *  *  * -OU *  *  *  * \n"), "{text}");
        assert!(text.contains("P+00KI00KI\nP-00FU\n-\n-5141OU\n"), "{text}");
    }
}
