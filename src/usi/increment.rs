//! What `btime` and `wtime` mean beside `binc` and `winc`. There are two conventions, which a single `go` does not reveal:
//!
//! - USI, Shogidokoro, ShogiHome: the clock does **not** hold this move's increment; `btime 0 binc 10000` is ten seconds.
//! - Chess runners: the increment is **included**, because it was added after the last move; `btime 10000 binc 10000` is
//!   ten seconds.
//!
//! Read as the first, a clock of the second kind loses on time. Read as the second, a clock of the first kind leaves one
//! increment unused. So [`IncrementReader`] starts with the second. A clock well below its increment proves the first,
//! because an included increment keeps the clock above it.

use super::parse::Go;
use crate::types::Color;

/// Reads the clocks of one game.
#[derive(Default)]
pub struct IncrementReader {
    /// A clock of this game has shown that it does not include the increment.
    usi_proven: bool,
}

impl IncrementReader {
    /// Forgets what the last game has shown.
    pub fn new_game(&mut self) {
        self.usi_proven = false;
    }

    /// Turns the clocks of a `go` or `ponderhit` of `us` into what each side may use, by the convention that the user
    /// names (a value of the option `IncrementConvention`). Returns whether this clock is the proof of the game.
    pub fn read(&mut self, go: &mut Go, us: Color, convention: &str) -> bool {
        let us = us.index();
        let limits = &mut go.limits;
        // half of the increment: no lag or rounding is that large
        let below = limits.byoyomi[us] == 0 && limits.time[us] < limits.inc[us] / 2;
        let usi = match convention {
            "usi" => true,
            "included" => false,
            _ => self.usi_proven || below,
        };
        if usi {
            for side in [0, 1] {
                let time = limits.time[side].saturating_add(limits.inc[side]);
                limits.time[side] = time.saturating_sub(go.overdrawn[side]);
            }
        }
        usi && convention == "auto" && !std::mem::replace(&mut self.usi_proven, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Limits;

    fn clock(time: u64, inc: u64) -> Go<'static> {
        let limits = Limits { time: [time; 2], inc: [inc; 2], has_clock: true, ..Limits::default() };
        Go { limits, ..Go::default() }
    }

    /// What Black may use of such a clock, and whether it is a proof.
    fn read(reader: &mut IncrementReader, time: u64, inc: u64, convention: &str) -> (u64, bool) {
        let mut go = clock(time, inc);
        let proof = reader.read(&mut go, Color::Black, convention);
        (go.limits.time[0], proof)
    }

    #[test]
    fn a_named_convention_holds_from_the_first_move() {
        let mut reader = IncrementReader::default();
        assert_eq!(read(&mut reader, 300_000, 10_000, "usi"), (310_000, false));
        assert_eq!(read(&mut reader, 0, 10_000, "included"), (0, false));
        assert_eq!(read(&mut reader, 0, 10_000, "usi"), (10_000, false));
    }

    #[test]
    fn a_clock_below_its_increment_proves_the_convention_until_the_next_game() {
        let mut reader = IncrementReader::default();
        for clock in [300_000, 10_000, 9_000] {
            assert_eq!(read(&mut reader, clock, 10_000, "auto"), (clock, false));
        }
        assert_eq!(read(&mut reader, 1_000, 10_000, "auto"), (11_000, true));
        assert_eq!(read(&mut reader, 9_000, 10_000, "auto"), (19_000, false));
        reader.new_game();
        assert_eq!(read(&mut reader, 9_000, 10_000, "auto"), (9_000, false));
        assert_eq!(read(&mut reader, 0, 10_000, "auto"), (10_000, true));
    }

    #[test]
    fn clocks_without_increment_prove_nothing() {
        let mut reader = IncrementReader::default();
        assert_eq!(read(&mut reader, 0, 0, "auto"), (0, false));
        let mut go = clock(0, 10_000);
        go.limits.byoyomi = [5_000; 2];
        assert!(!reader.read(&mut go, Color::Black, "auto"));
        // the opponent's clock is not ours
        let mut go = clock(0, 10_000);
        go.limits.time = [50_000, 0];
        assert!(!reader.read(&mut go, Color::Black, "auto"));
        assert_eq!(go.limits.time, [50_000, 0]);
    }

    /// ShogiHome's first `go` on a clock of 4 s + 10 s: only the clock itself may be used.
    #[test]
    fn a_clock_below_zero_is_a_part_of_the_increment() {
        let mut reader = IncrementReader::default();
        let mut go = Go { overdrawn: [6_000, 0], ..clock(0, 10_000) };
        assert!(reader.read(&mut go, Color::Black, "auto"));
        assert_eq!(go.limits.time, [4_000, 10_000]);
        let mut go = Go { overdrawn: [6_000, 0], ..clock(0, 10_000) };
        assert!(!reader.read(&mut go, Color::Black, "included"));
        assert_eq!(go.limits.time, [0, 0]);
    }
}
