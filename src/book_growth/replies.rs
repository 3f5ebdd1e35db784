//! How likely each move of a position is in a game: [`ReplyModel`].

use crate::book::{Book, flip_move};
use crate::position::Position;
use crate::types::{Color, Move};
use std::collections::HashMap;

/// Weight of the model against the games played in a position, in games.
const MODEL_WEIGHT: f64 = 4.0;
/// Weight of [`UNSEEN_RATE`] in the rate of a move, in games where the move was legal.
const RATE_WEIGHT: f64 = 20.0;
/// The rate of a move never played.
const UNSEEN_RATE: f64 = 0.002;
/// The share of replies that follow the square roots of the rates, because players have habits of their own.
const FREE: f64 = 0.1;
/// Centipawns by which a move that the book does not name counts as worse than the worst one that it names.
const UNNAMED_LOSS: i32 = 30;

/// The probabilities of moves. A move is likelier the more often it was played where it was legal, and less
/// likely the more it loses. In positions of the games, the moves played there count, too.
pub struct ReplyModel {
    played: Book,
    /// The share of positions with a legal move in which it is played, for every move of Black. The moves of
    /// White are turned.
    rates: HashMap<u16, f64>,
    /// Centipawns of loss that make a move e times less likely.
    softness: f64,
}

fn turned(m: u16, turn: Color) -> u16 {
    if turn == Color::Black { m } else { flip_move(m) }
}

impl ReplyModel {
    /// The softness of `book think` without arguments.
    pub const SOFTNESS: u16 = 60;

    /// The model of a book with the counts of moves of games, in which each position occurs once. Without
    /// positions, scored moves are equally likely but for what they lose.
    pub fn new(played: Book, softness: f64) -> ReplyModel {
        let mut tally: HashMap<u16, (f64, f64)> = HashMap::new();
        for e in played.entries() {
            let Some(pos) = e.packed.position(e.ply) else { continue };
            let games: u32 = e.moves.iter().filter_map(|m| m.count()).sum();
            for m in pos.legal_moves(true).iter() {
                tally.entry(turned(m.mv.raw16(), pos.side_to_move())).or_default().1 += f64::from(games);
            }
            for m in e.moves {
                let count = f64::from(m.count().unwrap_or(0));
                tally.entry(turned(m.mv, pos.side_to_move())).or_default().0 += count;
            }
        }
        let rate = |(played, legal): (f64, f64)| (played + RATE_WEIGHT * UNSEEN_RATE) / (legal + RATE_WEIGHT);
        let rates = tally.into_iter().map(|(m, counts)| (m, rate(counts))).collect();
        ReplyModel { played, rates, softness }
    }

    /// What the probabilities depend on.
    pub(super) fn identity(&self) -> String {
        let mut hash = crc32fast::Hasher::new();
        self.played.entries().for_each(|e| hash.update(format!("{:?} {:?}", e.packed, e.moves).as_bytes()));
        format!("{} {:08x}", self.softness, hash.finalize())
    }

    /// The probability of each move of a position, given with the centipawns that it loses, if known.
    pub fn probabilities(&self, pos: &Position, moves: &[(Move, Option<i32>)]) -> Vec<f64> {
        let turn = pos.side_to_move();
        // a move that a search did not name is worse than those that it named
        let worst = moves.iter().filter_map(|(_, loss)| *loss).max().unwrap_or(0);
        // `power` 1 for the rates of the games, 0.5 for their square roots, which differ less
        let weigh = |(m, loss): &(Move, Option<i32>), power: f64| {
            let rate = match self.played.is_empty() {
                true => f64::from(u8::from(loss.is_some())),
                false => *self.rates.get(&turned(m.raw16(), turn)).unwrap_or(&UNSEEN_RATE),
            };
            rate.powf(power) * (-f64::from(loss.unwrap_or(worst + UNNAMED_LOSS)) / self.softness).exp()
        };
        let shares = |power: f64| {
            let weights: Vec<f64> = moves.iter().map(|m| weigh(m, power)).collect();
            let total: f64 = weights.iter().sum();
            weights.into_iter().map(|w| if total > 0.0 { w / total } else { 0.0 }).collect::<Vec<_>>()
        };
        let here = crate::book::PackedPosition::of(pos).map(|packed| self.played.find(&packed));
        let entry = here.filter(|found| !found.is_empty()).map(|found| self.played.entry(found.start));
        let count = |raw: u16| {
            let m = entry.and_then(|e| e.moves.iter().find(|m| m.mv == raw));
            f64::from(m.and_then(|m| m.count()).unwrap_or(0))
        };
        let games: f64 = entry.map_or(0.0, |e| e.moves.iter().map(|m| count(m.mv)).sum());
        let (usual, free) = (shares(1.0), shares(0.5));
        let all = moves.iter().zip(usual.iter().zip(&free));
        all.map(|((m, _), (usual, free))| {
            let played = (count(m.raw16()) + MODEL_WEIGHT * usual) / (games + MODEL_WEIGHT);
            (1.0 - FREE) * played + FREE * free
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::db;

    #[test]
    fn moves_of_games_are_likely_where_they_are_new_too() {
        let start = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";
        let games = format!("sfen {start} 1\n7g7f none none none 75\n2g2f none none none 25\n");
        let model = ReplyModel::new(db::read(games.as_bytes()).unwrap().0, 50.0);
        let likely = |model: &ReplyModel, moves: &str, loss: &dyn Fn(&str) -> Option<i32>, of: &str| {
            let mut pos = Position::startpos();
            for m in moves.split_whitespace() {
                pos.do_move(pos.parse_move(m).unwrap());
            }
            let moves: Vec<_> =
                pos.legal_moves(true).iter().map(|m| (m.mv, loss(&m.mv.to_string()))).collect();
            let all = model.probabilities(&pos, &moves);
            assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            moves.iter().zip(all).find(|((m, _), _)| m.to_string() == of).unwrap().1
        };
        let equal = |_: &str| Some(0);
        assert!((0.6..0.8).contains(&likely(&model, "", &equal, "7g7f")));
        // White's 3c3d is the same move; after 9g9f the games have nothing
        assert!(likely(&model, "9g9f", &equal, "3c3d") > 0.5);
        assert!(likely(&model, "9g9f", &equal, "9c9d") < 0.05);
        // a loss counts, and a move without a score is worse than the worst that has one
        let loses = |m: &str| Some(if m == "3c3d" { 200 } else { 0 });
        assert!(likely(&model, "9g9f", &loses, "3c3d") < likely(&model, "9g9f", &loses, "8c8d"));
        let named = |m: &str| (m == "8c8d").then_some(0);
        assert!(likely(&model, "9g9f", &named, "3c3d") < likely(&model, "9g9f", &equal, "3c3d"));
        // without games only scored moves are likely
        let none = ReplyModel::new(Book::default(), 50.0);
        let first = |m: &str| (m == "7g7f").then_some(0);
        assert_eq!(likely(&none, "", &first, "2g2f"), 0.0);
        let two = |m: &str| ["7g7f", "2g2f"].contains(&m).then_some(if m == "2g2f" { 50 } else { 0 });
        assert!(
            (likely(&none, "", &two, "7g7f") / likely(&none, "", &two, "2g2f") - 1f64.exp()).abs() < 1e-9
        );
    }
}
