//! The loss of a move in win rate, the class that follows from it, and how certain that is.

use super::reading::Reading;
use crate::types::{Color, VALUE_MATE, VALUE_MATE_IN_MAX_PLY, Value};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How good a move was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// 最善手: the engine's own choice.
    Best,
    /// 良手: loses less than an inaccuracy.
    Good,
    /// 緩手
    Inaccuracy,
    /// 疑問手
    Mistake,
    /// 悪手
    Blunder,
}

impl Class {
    /// From the best to the worst.
    pub const ALL: [Class; 5] = [Class::Best, Class::Good, Class::Inaccuracy, Class::Mistake, Class::Blunder];

    /// The least loss in win rate (0 to 1) that makes a move one of this class; best moves lose nothing.
    pub fn threshold(self) -> f64 {
        match self {
            Class::Best | Class::Good => 0.0,
            Class::Inaccuracy => 0.05,
            Class::Mistake => 0.10,
            Class::Blunder => 0.20,
        }
    }

    /// The class of a move that is not the engine's own, by its loss.
    fn of(loss: f64) -> Class {
        let bad = [Class::Blunder, Class::Mistake, Class::Inaccuracy];
        bad.into_iter().find(|class| loss >= class.threshold()).unwrap_or(Class::Good)
    }
}

/// The judgement of a move by the readings before and after it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The player's win rate before the move, 0 to 1.
    pub before: f64,
    /// The player's win rate after it.
    pub after: f64,
    /// The difference of the two in whole percent, as people see it, 0 to 1. 0 where the move is the engine's
    /// own.
    pub loss: f64,
    /// The standard error of `loss`, 0 to 1. With ten times the nodes, two of three losses change by less.
    pub margin: f64,
    /// The class of the loss.
    pub class: Class,
    /// The class of the least loss within the margin.
    pub least: Class,
    /// The class of the greatest loss within the margin.
    pub most: Class,
    /// Plies of the mate that the player had before the move and no longer has.
    pub missed_mate: Option<i32>,
    /// Plies of the mate that the move gives to the opponent, who had none before.
    pub allowed_mate: Option<i32>,
}

impl Judgement {
    /// Whether a bad move may be a good one: the least loss within the margin is no inaccuracy.
    pub fn is_doubtful(&self) -> bool {
        self.class >= Class::Inaccuracy && self.least < Class::Inaccuracy
    }
}

/// A win rate in whole percent, as it is shown everywhere.
pub(super) fn percent(rate: f64) -> f64 {
    (100.0 * rate).round()
}

/// Judges a move by the readings of the positions before and after it. `played` is in USI.
pub fn judge(played: &str, before: &Reading, after: &Reading) -> Judgement {
    let best = before.best() == Some(played);
    let (was, is) = (before.win_rate(), 1.0 - after.win_rate());
    let loss = if best { 0.0 } else { (percent(was) - percent(is)).max(0.0) / 100.0 };
    let margin = before.error.hypot(after.error);
    let class = if best { Class::Best } else { Class::of(loss) };
    // the margin is around the exact difference; the rounded loss stays within it
    let exact = (was - is).max(0.0);
    let (least, most) = match best {
        true => (Class::Best, Class::Best),
        false => (Class::of(exact - margin).min(class), Class::of(exact + margin).max(class)),
    };
    let mated = |value: Value| mate(-value);
    // a player who may declare a win does not have to mate
    let mates = |reading: &Reading| mate(reading.value()).filter(|_| !reading.declares());
    let missed_mate = mates(before).filter(|_| !best && mated(after.value()).is_none());
    let allowed_mate = mates(after).filter(|_| !best && mated(before.value()).is_none());
    Judgement { before: was, after: is, loss, margin, class, least, most, missed_mate, allowed_mate }
}

/// The number of plies to the mate by the side to move that a value stands for.
pub(super) fn mate(value: Value) -> Option<i32> {
    (value >= VALUE_MATE_IN_MAX_PLY).then_some(VALUE_MATE - value)
}

/// A player's game in figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Side {
    /// How many moves the player made.
    pub moves: usize,
    /// The mean over the moves of 100 e^(-4 loss), weighted by how much the win rate moves around each: 100
    /// when none lost anything, 67 for a loss of ten percent each.
    pub accuracy: f64,
    /// In win rate, 0 to 1.
    pub average_loss: f64,
    /// By [`Class::ALL`].
    pub classes: [usize; 5],
    /// Moves that missed a mate.
    pub missed_mates: usize,
    /// Moves that allowed a mate by the opponent.
    pub allowed_mates: usize,
    /// Moves that are in the book, if there is one.
    pub book_moves: usize,
    /// Seconds used, if the record has times.
    pub seconds: Option<f64>,
}

/// The number of positions before and after a move whose win rates determine its weight.
const AROUND: usize = 4;
/// The smallest and the largest weight of a move.
const WEIGHTS: [f64; 2] = [0.005, 0.12];

/// The weights of the moves in the accuracy, by the win rates of the game's positions: the standard deviation
/// of the win rate around the move. A long opening and a decided ending, in which nobody can lose much, would
/// raise everybody's accuracy towards 100 otherwise.
pub fn weights(win_rates: &[f64]) -> Vec<f64> {
    let of = |at: usize| {
        let around = &win_rates[at.saturating_sub(AROUND)..(at + AROUND + 1).min(win_rates.len())];
        let count = around.len() as f64;
        let mean = around.iter().sum::<f64>() / count;
        let variance = around.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / count;
        variance.sqrt().clamp(WEIGHTS[0], WEIGHTS[1])
    };
    (1..win_rates.len()).map(of).collect()
}

impl Side {
    /// Sums up the moves of one player, with the weight of each in the accuracy and its time.
    pub fn of(moves: &[(Judgement, f64, Option<Duration>)]) -> Side {
        let mut side = Side { moves: moves.len(), ..Side::default() };
        let count = moves.len().max(1) as f64;
        let mut total = 0.0;
        for (judgement, weight, time) in moves {
            total += weight;
            side.accuracy += weight * 100.0 * (-4.0 * judgement.loss).exp();
            side.average_loss += judgement.loss / count;
            side.classes[judgement.class as usize] += 1;
            side.missed_mates += usize::from(judgement.missed_mate.is_some());
            side.allowed_mates += usize::from(judgement.allowed_mate.is_some());
            if let Some(time) = time {
                side.seconds = Some(side.seconds.unwrap_or(0.0) + time.as_secs_f64());
            }
        }
        if total > 0.0 {
            side.accuracy /= total;
        }
        side
    }

    /// The accuracy as text; `-` for a player without moves.
    pub fn accuracy_text(&self) -> String {
        if self.moves == 0 { "-".into() } else { format!("{:.1}", self.accuracy) }
    }

    /// The average loss as text; `-` for a player without moves.
    pub fn loss_text(&self) -> String {
        if self.moves == 0 { "-".into() } else { format!("{:.1}%", 100.0 * self.average_loss) }
    }
}

/// The value for Black of a value for the side to move.
pub(super) fn black_view(value: Value, side: Color) -> Value {
    if side == Color::Black { value } else { -value }
}

#[cfg(test)]
mod tests {
    use super::super::reading::PvLine;
    use super::*;
    use crate::types::{mate_in, mated_in};

    fn reading(value: Value, best: &str) -> Reading {
        Reading::certain(PvLine { value, depth: 1, seldepth: 1, nodes: 1, pv: vec![best.into()] })
    }

    #[test]
    fn classes_follow_from_the_loss() {
        // 600 is a win rate of 73 %
        for (after, class) in [
            (-600, Class::Good),
            (-700, Class::Good),
            (-420, Class::Inaccuracy),
            (-300, Class::Mistake),
            (0, Class::Blunder),
        ] {
            let judgement = judge("7g7f", &reading(600, "2g2f"), &reading(after, "3c3d"));
            assert_eq!(judgement.class, class, "{judgement:?}");
            assert!(judgement.loss >= 0.0);
        }
        let best = judge("7g7f", &reading(600, "7g7f"), &reading(0, "3c3d"));
        assert_eq!((best.class, best.loss), (Class::Best, 0.0));
        assert!((best.after - 0.5).abs() < 1e-9);
    }

    #[test]
    fn mates_missed_and_given() {
        let missed = judge("7g7f", &reading(mate_in(5), "2g2f"), &reading(-500, "3c3d"));
        assert_eq!((missed.missed_mate, missed.allowed_mate), (Some(5), None));
        let longer = judge("7g7f", &reading(mate_in(5), "2g2f"), &reading(mated_in(8), "3c3d"));
        assert_eq!((longer.missed_mate, longer.class), (None, Class::Good));
        let given = judge("7g7f", &reading(0, "2g2f"), &reading(mate_in(3), "3c3d"));
        assert_eq!((given.allowed_mate, given.class), (Some(3), Class::Blunder));
        let lost = judge("7g7f", &reading(mated_in(4), "2g2f"), &reading(mate_in(3), "3c3d"));
        assert_eq!((lost.allowed_mate, lost.loss), (None, 0.0));
    }

    #[test]
    fn what_is_shown_never_contradicts_the_class() {
        for after in -800..800 {
            let m = judge("7g7f", &reading(600, "2g2f"), &reading(after, "3c3d"));
            let shown = (100.0 * m.before).round() - (100.0 * m.after).round();
            assert_eq!(m.loss, shown.max(0.0) / 100.0);
            assert!(m.class == Class::Good || shown >= (100.0 * m.class.threshold()).round(), "{m:?}");
            assert!(m.least <= m.class && m.class <= m.most);
        }
    }

    #[test]
    fn a_bad_move_that_may_be_good_is_doubtful() {
        let mut before = reading(0, "2g2f");
        let sure = judge("7g7f", &before, &reading(250, "3c3d"));
        assert_eq!((sure.least, sure.class, sure.most), (Class::Mistake, Class::Mistake, Class::Mistake));
        assert!(!sure.is_doubtful());
        // a loss of .10
        for (error, least, doubtful) in [(0.01, Class::Inaccuracy, false), (0.07, Class::Good, true)] {
            before.error = error;
            let open = judge("7g7f", &before, &reading(250, "3c3d"));
            assert_eq!((open.least, open.class, open.is_doubtful()), (least, Class::Mistake, doubtful));
        }
        let good = judge("7g7f", &before, &reading(100, "3c3d"));
        assert_eq!((good.class, good.most, good.is_doubtful()), (Class::Good, Class::Mistake, false));
    }

    #[test]
    fn quiet_moves_weigh_little() {
        let rates: Vec<f64> = (0..40).map(|i| if i < 30 { 0.5 } else { 0.1 }).collect();
        let weights = weights(&rates);
        assert_eq!((weights.len(), weights[0], weights[29]), (39, 0.005, 0.12));
    }

    #[test]
    fn sides_sum_up() {
        let lossless = judge("7g7f", &reading(0, "7g7f"), &reading(0, "3c3d"));
        let blunder = judge("7g7f", &reading(600, "2g2f"), &reading(600, "3c3d"));
        let side = Side::of(&[(lossless, 0.1, Some(Duration::from_secs(3))), (blunder, 0.1, None)]);
        assert_eq!((side.moves, side.classes, side.seconds), (2, [1, 0, 0, 0, 1], Some(3.0)));
        assert!((side.average_loss - blunder.loss / 2.0).abs() < 1e-9);
        assert!(side.accuracy > 50.0 && side.accuracy < 100.0);
        assert_eq!(Side::of(&[]).moves, 0);
    }
}
