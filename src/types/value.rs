//! Scores and depths of the search: [`Value`], its special values, and mate scores.

/// A score in the engine's unit: a pawn is about 90 (centipawns = 100 × value / 90).
pub type Value = i32;
/// A search depth in plies.
pub type Depth = i32;

/// The deepest line that the search follows, in plies from the root.
pub const MAX_PLY: usize = 246;

/// Even.
pub const VALUE_ZERO: Value = 0;
/// The score of a mate on the board; a mate in `n` plies scores `VALUE_MATE - n`.
pub const VALUE_MATE: Value = 32000;
/// Beyond every score.
pub const VALUE_INFINITE: Value = 32001;
/// No score.
pub const VALUE_NONE: Value = 32002;
/// Scores at or above this one are mates.
pub const VALUE_MATE_IN_MAX_PLY: Value = VALUE_MATE - MAX_PLY as Value;
/// Scores at or below this one are mates against the side to move.
pub const VALUE_MATED_IN_MAX_PLY: Value = -VALUE_MATE_IN_MAX_PLY;
/// The largest static evaluation, also the score of a superior position (same board, better hand).
pub const VALUE_MAX_EVAL: Value = VALUE_MATE_IN_MAX_PLY - 1;
/// The score of a superior position.
pub const VALUE_SUPERIOR: Value = VALUE_MAX_EVAL;

/// The score of giving mate `ply` plies from the root.
#[inline]
pub const fn mate_in(ply: usize) -> Value {
    VALUE_MATE - ply as Value
}

/// The score of being mated `ply` plies from the root.
#[inline]
pub const fn mated_in(ply: usize) -> Value {
    ply as Value - VALUE_MATE
}

/// Whether the side to move mates by force.
#[inline]
pub const fn is_win(v: Value) -> bool {
    v >= VALUE_MATE_IN_MAX_PLY
}

/// Whether the side to move is mated by force.
#[inline]
pub const fn is_loss(v: Value) -> bool {
    v <= VALUE_MATED_IN_MAX_PLY
}

/// Whether one side mates by force.
#[inline]
pub const fn is_decisive(v: Value) -> bool {
    is_win(v) || is_loss(v)
}

/// How a score relates to the true one. The numbers are bits: `Exact` is both bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Bound {
    /// There is no score.
    #[default]
    None = 0,
    /// The true score is at most this (fail low).
    Upper = 1,
    /// The true score is at least this (fail high).
    Lower = 2,
    /// The score is the true one.
    Exact = 3,
}

impl Bound {
    /// Whether the true score is known to be at least the score.
    #[inline]
    pub const fn is_lower(self) -> bool {
        self as u8 & Bound::Lower as u8 != 0
    }

    /// Whether a score with this bound decides if the true score is at least `threshold`.
    #[inline]
    pub const fn decides(self, score: Value, threshold: Value) -> bool {
        let needed = if score >= threshold { Bound::Lower } else { Bound::Upper };
        self as u8 & needed as u8 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_are_decisive_and_evaluations_are_not() {
        assert!(is_win(mate_in(1)) && is_win(mate_in(MAX_PLY)) && !is_win(VALUE_MAX_EVAL));
        assert!(is_loss(mated_in(0)) && is_loss(mated_in(MAX_PLY)) && !is_loss(-VALUE_MAX_EVAL));
        assert!(is_decisive(mate_in(9)) && is_decisive(mated_in(9)) && !is_decisive(0));
    }

    #[test]
    fn a_bound_decides_on_its_own_side_only() {
        assert!(Bound::Lower.decides(50, 50) && !Bound::Lower.decides(49, 50));
        assert!(Bound::Upper.decides(49, 50) && !Bound::Upper.decides(50, 50));
        assert!(Bound::Exact.decides(49, 50) && Bound::Exact.decides(50, 50));
        assert!(!Bound::None.decides(49, 50) && !Bound::None.decides(50, 50));
    }
}
