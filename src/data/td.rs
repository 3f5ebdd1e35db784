//! Training targets from whole games by temporal differences: [`TdLambda`].

use super::game::{EndReason, GameRecord, GameResult};
use crate::types::VALUE_MATE_IN_MAX_PLY;

/// TD(λ) targets (Sutton 1988; for shogi and chess evaluations Beal and Smith 1997, Baxter, Tridgell and
/// Weaver 2000).
///
/// With `v` the win rate that the search score of a ply stands for, the target is the λ-return, computed
/// from the game's end: `G(t) = (1 - λ) v(t) + λ (1 - G(t + 1))`, and the game's result after the last ply
/// (if it is unknown how the game ended, there may have been more plies: the last target is `v(t)`). So a
/// label mixes the search's score with those of the next few plies. Where two successive win rates differ by
/// more than `cut` (a random move, a blunder), the plies after it do not count: there
/// `G(t) = v(t)`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct TdLambda {
    /// The weight of what follows, 0 to 1; 0 leaves every score as the search gave it.
    pub lambda: f64,
    /// The largest change of the win rate from one ply to the next that is carried back.
    pub cut: f64,
    /// The score whose win rate is `1 / (1 + 1/e)`, in `Value` units.
    pub scale: f64,
}

impl TdLambda {
    /// Larger changes are cut: 1.75 % of the plies of self-play with 2 % random moves.
    pub const CUT: f64 = 0.2;
    /// The scale of the trainer's loss.
    pub const SCALE: f64 = 600.0;
    /// The largest score of a target; a win rate of 1 has none.
    pub const LIMIT: f64 = 4800.0;

    /// Targets for λ with the usual cut and scale.
    pub fn new(lambda: f64) -> TdLambda {
        TdLambda { lambda, cut: Self::CUT, scale: Self::SCALE }
    }

    /// A note about a set in which some games are fragments, as `data convert` makes from positions.
    pub fn note(unknown_ends: u64, games: u64) -> Option<String> {
        (unknown_ends > 0).then(|| {
            format!("note: games whose end is not known: {unknown_ends} of {games}; TD targets leave their results out")
        })
    }

    fn win_rate(&self, score: i16) -> f64 {
        1.0 / (1.0 + (-score as f64 / self.scale).exp())
    }

    fn score(&self, win_rate: f64) -> i16 {
        let logit = (win_rate / (1.0 - win_rate)).ln();
        (self.scale * logit).round().clamp(-Self::LIMIT, Self::LIMIT) as i16
    }

    /// Replaces the score of every ply by its target. Announced mates stay as they are.
    pub fn relabel(&self, game: &mut GameRecord) {
        let count = game.plies.len();
        let even = (game.opening.len() + count).is_multiple_of(2);
        let to_move = if even { game.first_mover() } else { !game.first_mover() };
        let mut next = 0.5 * (1.0 + game.result.sign(to_move) as f64);
        let mut next_rate = next;
        // the largest jump from the last ply to the result: a draw by length is no evidence about a won
        // position, and the end of a fragment is no result at all
        let last_cut = match (game.reason, game.result) {
            (EndReason::Unknown, _) => -1.0,
            (_, GameResult::Draw) => self.cut,
            _ => 1.0,
        };
        for (i, ply) in game.plies.iter_mut().enumerate().rev() {
            let rate = self.win_rate(ply.score);
            let cut = if i + 1 < count { self.cut } else { last_cut };
            let jump = (rate - (1.0 - next_rate)).abs();
            let target =
                if jump > cut { rate } else { (1.0 - self.lambda) * rate + self.lambda * (1.0 - next) };
            if (ply.score as i32).abs() < VALUE_MATE_IN_MAX_PLY {
                ply.score = self.score(target);
            }
            (next, next_rate) = (target, rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{EndReason, PlyRecord};

    fn game(scores: &[i16], opening: usize, result: GameResult) -> GameRecord {
        GameRecord {
            id: 0,
            start: crate::data::Start::Startpos,
            opening: vec![0; opening],
            plies: scores.iter().map(|&score| PlyRecord { mv: 0, score, fit: true }).collect(),
            result,
            reason: EndReason::Adjudication,
        }
    }

    fn rate(score: f64) -> f64 {
        1.0 / (1.0 + (-score / 600.0).exp())
    }

    fn targets(td: TdLambda, scores: &[i16], opening: usize, result: GameResult) -> Vec<i16> {
        let mut g = game(scores, opening, result);
        td.relabel(&mut g);
        g.plies.iter().map(|p| p.score).collect()
    }

    #[test]
    fn a_target_is_the_lambda_return() {
        // white moves last and wins
        let td = TdLambda { cut: 1.0, ..TdLambda::new(0.7) };
        let got = targets(td, &[100, -40, -200, 300], 20, GameResult::WhiteWin);
        let mut g = 0.0; // of Black, who would move next and has lost
        for (i, &score) in [100, -40, -200, 300].iter().enumerate().rev() {
            g = 0.3 * rate(score as f64) + 0.7 * (1.0 - g);
            assert!((got[i] as f64 - 600.0 * (g / (1.0 - g)).ln()).abs() <= 0.5, "{i}: {got:?}");
        }
        // the winner is the same with an odd opening played by the other side
        assert_eq!(got, targets(td, &[100, -40, -200, 300], 21, GameResult::BlackWin));
    }

    #[test]
    fn the_end_of_a_fragment_is_not_the_end_of_the_game() {
        let td = TdLambda { cut: 1.0, ..TdLambda::new(0.7) };
        let mut fragment = game(&[100, -40, -200, 300], 20, GameResult::BlackWin);
        fragment.reason = EndReason::Unknown;
        td.relabel(&mut fragment);
        let scores: Vec<i16> = fragment.plies.iter().map(|p| p.score).collect();
        assert_eq!(scores[3], 300);
        let third = 0.3 * rate(-200.0) + 0.7 * (1.0 - rate(300.0));
        assert!((scores[2] as f64 - 600.0 * (third / (1.0 - third)).ln()).abs() <= 0.5, "{scores:?}");
        assert_ne!(scores, targets(td, &[100, -40, -200, 300], 20, GameResult::BlackWin));
    }

    #[test]
    fn jumps_cut_the_chain_and_mates_stay() {
        let td = TdLambda::new(0.7);
        // Black blunders at the third ply: the two before it do not depend on the end
        let got = targets(td, &[50, -60, 70, 1500, -1600, 31990], 0, GameResult::WhiteWin);
        assert_eq!(got[2], 70);
        assert!(got[1] < -55 && got[1] > -75 && got[0] > 45 && got[0] < 75, "{got:?}");
        assert!(got[3] > 1500 && got[4] < -1600);
        assert_eq!(got[5], 31990);
        // a draw by length does not change the score of a won position
        assert_eq!(targets(td, &[-900, 900], 0, GameResult::Draw), [-900, 900]);
        assert_eq!(targets(TdLambda::new(0.0), &[1, -2, 3], 0, GameResult::WhiteWin), [1, -2, 3]);
    }
}
