//! Values as people and protocols read them.

use crate::types::{VALUE_MATE, Value, is_loss, is_win};
use std::fmt;

/// Centipawns of a value: the engine's pawn is 90.
pub fn centipawns(value: Value) -> i32 {
    value * 100 / 90
}

/// Expected share of points at a value, 0 to 1, for the side whose value it is: the logistic curve of scale 600 by
/// which networks for shogi are commonly trained.
pub fn win_rate(value: Value) -> f64 {
    match value {
        v if is_win(v) => 1.0,
        v if is_loss(v) => 0.0,
        v => 1.0 / (1.0 + (-f64::from(v) / 600.0).exp()),
    }
}

/// Displays a score as USI does: `cp N`, or `mate N` in plies, negative for the side that is mated.
pub struct UsiScore(pub Value);

impl fmt::Display for UsiScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // a mate in no plies has no sign that GUIs could read, so the one who is already mated is "mated in 1"
            v if is_win(v) => write!(f, "mate {}", (VALUE_MATE - v).max(1)),
            v if is_loss(v) => write!(f, "mate -{}", (VALUE_MATE + v).max(1)),
            v => write!(f, "cp {}", centipawns(v)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{VALUE_SUPERIOR, mate_in, mated_in};
    use proptest::prelude::*;

    fn score(value: Value) -> String {
        UsiScore(value).to_string()
    }

    #[test]
    fn scores() {
        assert_eq!(score(0), "cp 0");
        assert_eq!(score(90), "cp 100");
        assert_eq!(score(-45), "cp -50");
        assert_eq!(score(VALUE_SUPERIOR), "cp 35281");
        assert_eq!(score(mate_in(3)), "mate 3");
        assert_eq!(score(mated_in(2)), "mate -2");
        assert_eq!(score(mated_in(0)), "mate -1");
    }

    #[test]
    fn win_rates() {
        assert_eq!(win_rate(0), 0.5);
        assert!((win_rate(600) - 0.731).abs() < 0.001);
        assert_eq!((win_rate(mate_in(1)), win_rate(mated_in(2))), (1.0, 0.0));
    }

    proptest! {
        #[test]
        fn a_score_keeps_its_sign(v in -VALUE_MATE..=VALUE_MATE) {
            let text = score(v);
            let n: i32 = text.rsplit(' ').next().unwrap().parse().unwrap();
            prop_assert!(n.signum() * v.signum() >= 0, "{} {}", v, text);
            prop_assert!(!text.contains("-0"));
            prop_assert!(!text.starts_with("mate") || n != 0);
        }
    }
}
