//! What engines send to floodgate's server with a move, kept as comments: `* 55 -3334FU +2726FU`, a score and a line.

use super::csa;
use super::game::{Ply, Record};
use super::notation;
use crate::position::Position;
use crate::types::{Color, Move};

/// The score that stands for a mate, and all beyond.
const MATE: i32 = 100_000;

/// An engine's view of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// Centipawns, from Black's side.
    pub score: i32,
    /// What it expected next.
    pub line: Vec<Move>,
}

impl Evaluation {
    /// Reads the comment on a move; `position` stands after it. None for a comment of another kind.
    pub fn read(comment: &str, position: &Position) -> Option<Evaluation> {
        let mut words = comment.strip_prefix('*')?.split_whitespace().peekable();
        let score = words.next()?.parse().ok()?;
        // some engines begin the line with the move itself
        let own = position.last_move();
        words.next_if(|word| own.is_some() && csa::move_text(own) == *word);
        let mut position = position.clone();
        let mut line = Vec::new();
        for word in words {
            let Ok(m) = csa::read_move(&position, word) else { return None };
            position.do_move(m);
            line.push(m);
        }
        Some(Evaluation { score, line })
    }

    /// Who mates, if the score means a mate.
    pub fn mates(&self) -> Option<Color> {
        (self.score.abs() >= MATE).then_some(if self.score > 0 { Color::Black } else { Color::White })
    }
}

/// Writes the evaluations of a game in the form that GUIs read in KIF: `#評価値=55` and `#読み筋=△３四歩▲２六歩`.
pub fn spell_out(record: &mut Record) {
    let mut position = record.root.clone();
    for Ply { mv, comments, .. } in &mut record.moves {
        let before = (position.clone(), *mv);
        position.do_move(*mv);
        let spelled = comments.iter().flat_map(|comment| match Evaluation::read(comment, &position) {
            None => vec![comment.clone()],
            Some(found) => {
                let score = match found.mates() {
                    Some(Color::Black) => "#詰み=先手勝ち".to_string(),
                    Some(Color::White) => "#詰み=後手勝ち".to_string(),
                    None => format!("#評価値={}", found.score),
                };
                let line = notation::line(&position, Some(&before), &found.line).concat();
                let line = (!line.is_empty()).then(|| format!("#読み筋={line}"));
                std::iter::once(score).chain(line).collect()
            }
        });
        *comments = spelled.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_spelled_out() {
        let text = "PI\n+\n+7776FU\n'** 55 -3334FU +8822UM\n-3334FU\n'** -100000\n+8822UM\n'** 9 +8822UM -3122GI\n\
            -3122GI\n'** 12 hello\n'* 12 -3334FU\n";
        let mut record = csa::read(text).unwrap().remove(0);
        spell_out(&mut record);
        let comments: Vec<_> = record.moves.iter().map(|ply| ply.comments.join(" ")).collect();
        assert_eq!(
            comments,
            [
                "#評価値=55 #読み筋=△３四歩▲２二角成",
                "#詰み=後手勝ち",
                "#評価値=9 #読み筋=△同銀",
                "* 12 hello  12 -3334FU"
            ]
        );
    }
}
