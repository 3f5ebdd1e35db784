//! The comment that floodgate's viewers read after a move: `* SCORE PV`.

use crate::position::Position;
use crate::record::csa::move_text;
use crate::types::{Color, Move};
use crate::usi_client::UsiScore;

/// What a mate counts there.
const MATE: i32 = 100_000;
/// A viewer shows a few moves, and a search may claim hundreds.
const LONGEST: usize = 32;

/// The comment on the move `played` in `position`: the score from Black's view in centipawns, and the line that the
/// engine expects *after* it, in CSA notation. `pv` begins with the move itself; a line that begins otherwise belongs to
/// another search and is left out.
pub fn comment(position: &Position, played: Move, score: UsiScore, pv: &[String]) -> String {
    let own = match score {
        UsiScore::Cp(cp) => cp,
        UsiScore::Mate(plies) if plies < 0 => -MATE,
        UsiScore::Mate(_) => MATE,
    };
    let value = if position.side_to_move() == Color::Black { own } else { own.saturating_neg() };
    let mut text = format!("* {value}");
    if pv.first().is_some_and(|first| *first == played.to_string()) {
        let mut position = position.clone();
        position.do_move(played);
        for m in pv.iter().skip(1).take(LONGEST) {
            let Ok(m) = position.parse_move(m) else { break };
            text.push(' ');
            text += &move_text(m);
            position.do_move(m);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_blacks_and_lines_begin_with_the_reply() {
        let mut position = Position::startpos();
        let pv = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
        let m = position.parse_move("7g7f").unwrap();
        let text = comment(&position, m, UsiScore::Cp(55), &pv("7g7f 3c3d 8h2b+ 9z9z 3a2b"));
        assert_eq!(text, "* 55 -3334FU +8822UM");
        assert_eq!(comment(&position, m, UsiScore::Cp(55), &pv("2g2f 3c3d")), "* 55");
        position.do_move(m);
        let m = position.parse_move("3c3d").unwrap();
        assert_eq!(comment(&position, m, UsiScore::Cp(30), &[]), "* -30");
        assert_eq!(comment(&position, m, UsiScore::Mate(5), &pv("3c3d 2g2f")), "* -100000 +2726FU");
        assert_eq!(comment(&position, m, UsiScore::Mate(-4), &[]), "* 100000");
    }
}
