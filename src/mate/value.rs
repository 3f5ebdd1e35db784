//! The search's knowledge about a position: proof and disproof numbers, a mate, or no mate.

use crate::types::Hand;

/// A proof or disproof number.
pub(super) type Count = u64;

/// The number of a goal that cannot be reached.
pub(super) const INFINITE: Count = 1 << 60;

/// The unit in which initial estimates count, so that half steps are possible.
pub(super) const UNIT: Count = 2;

/// Plies to mate.
pub(super) type Plies = i16;

/// Longer than any line the search follows: "at all".
pub(super) const ENDLESS: Plies = 10_000;

/// The deepest line that the search follows.
pub(super) const MAX_DEPTH: usize = 4_000;

/// A depth that no repetition goes back to.
pub(super) const NO_REPETITION: u16 = u16::MAX;

/// One ply less; [`ENDLESS`] remains.
#[inline]
pub(super) fn one_less(plies: Plies) -> Plies {
    if plies >= ENDLESS { plies } else { plies - 1 }
}

/// One ply more; [`ENDLESS`] remains.
#[inline]
pub(super) fn one_more(plies: Plies) -> Plies {
    if plies >= ENDLESS { ENDLESS } else { plies + 1 }
}

/// The knowledge about one position, searched for a mate within some plies.
///
/// - `pn == 0`: mate within `plies`, with any hand of the attacker that dominates `hand`.
/// - `dn == 0`: no mate within `plies` with any hand that `hand` dominates; or, where `repetition` is a
///   depth, only on lines through the position at that depth.
/// - otherwise not decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knowledge {
    pub pn: Count,
    pub dn: Count,
    pub plies: Plies,
    /// The depth of the position that the disproof returns to, or [`NO_REPETITION`].
    pub repetition: u16,
    /// The attacker's hand that a proof needs or a disproof withstands.
    pub hand: Hand,
    /// The approximate work spent on it; cheap entries are dropped first.
    pub work: u32,
    /// Whether nothing is stored about the position yet.
    pub fresh: bool,
    /// The children (by bit) whose numbers are added up; of the others only the largest counts.
    pub sums: u64,
}

impl Knowledge {
    pub(super) const NOTHING: Knowledge = Knowledge {
        pn: 1,
        dn: 1,
        plies: ENDLESS,
        repetition: NO_REPETITION,
        hand: Hand::EMPTY,
        work: 1,
        fresh: true,
        sums: u64::MAX,
    };

    pub(super) fn mate(hand: Hand, plies: Plies, work: u32) -> Knowledge {
        Knowledge { pn: 0, dn: INFINITE, plies, hand, work, fresh: false, ..Self::NOTHING }
    }

    pub(super) fn no_mate(hand: Hand, plies: Plies, work: u32) -> Knowledge {
        Knowledge { pn: INFINITE, dn: 0, plies, hand, work, fresh: false, ..Self::NOTHING }
    }

    /// No mate on this path, for the attacker would return to the position at `depth`.
    pub(super) fn repeats(hand: Hand, plies: Plies, work: u32, depth: u16) -> Knowledge {
        Knowledge { repetition: depth, ..Self::no_mate(hand, plies, work) }
    }

    #[inline]
    pub(super) fn is_mate(&self) -> bool {
        self.pn == 0
    }

    #[inline]
    pub(super) fn is_no_mate(&self) -> bool {
        self.dn == 0
    }

    #[inline]
    pub(super) fn is_decided(&self) -> bool {
        self.pn == 0 || self.dn == 0
    }

    /// The number that the side to move wants to bring to 0.
    #[inline]
    pub(super) fn phi(&self, attacking: bool) -> Count {
        if attacking { self.pn } else { self.dn }
    }

    /// The number that the opponent wants to bring to 0.
    #[inline]
    pub(super) fn delta(&self, attacking: bool) -> Count {
        if attacking { self.dn } else { self.pn }
    }

    /// How a child ranks for the side to move; smaller is better. Decided ones: short mates first for the
    /// attacker, long ones for the defender; the defender trusts a disproof more than a repetition, the
    /// attacker gives up on the one that reaches back furthest first.
    #[inline]
    pub(super) fn rank(&self, attacking: bool) -> (Count, Count, i32, u32) {
        let tie = if self.pn == 0 {
            i32::from(self.plies)
        } else if self.dn == 0 {
            i32::from(self.repetition)
        } else {
            0
        };
        (self.phi(attacking), self.delta(attacking), if attacking { tie } else { -tie }, self.work)
    }
}
