//! The time manager: how long to think. [`TimeManager`] plans a move from the clocks and the user's options;
//! [`Timekeeper`] adapts the plan to what each iteration shows ([`Stability`]).
//!
//! Quantities and options have YaneuraOu's meaning: a move takes at least `minimum`, about `optimum` and at most
//! `maximum` milliseconds. With `RoundUpToFullSecond` a search ends just before a whole second, because servers charge
//! whole seconds. `NetworkDelay` is the usual lag, `NetworkDelay2` the worst lag, which is kept in reserve.
//!
//! On a short clock these options would cost too much. Without byoyomi they do not apply where `MinimumThinkingTime` for
//! every remaining move would use up the clock, or where the clock holds less than ten times `MinimumThinkingTime`:
//! moves then take their share, and at most 0.4 seconds are kept in reserve. Of a short byoyomi a quarter is kept.

use super::{Limits, SearchOptions};
use crate::types::{Color, VALUE_INFINITE, Value};
use std::time::Instant;

/// With byoyomi or increments, a game is planned to last this many more plies; a few more early in the game.
const MOVE_HORIZON: i64 = 160;

/// In sudden death, where unused time is lost, a game is planned to last to this ply ...
const SUDDEN_DEATH_LAST_PLY: i64 = 180;

/// ... and at least this many more plies.
const SUDDEN_DEATH_HORIZON: i64 = 80;

/// The largest reserve (milliseconds) on a clock too short for whole seconds.
const SHORT_CLOCK_RESERVE: i64 = 400;

/// The longest search (milliseconds) for a move without alternative: it only finds the reply to expect.
const SINGLE_MOVE_TIME: i64 = 500;

/// The position to plan for, as far as time depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// Whose clock runs.
    pub us: Color,
    pub ply: u32,
    /// There is only one move to choose from.
    pub single_move: bool,
    /// Chooses within `rtime`.
    pub random: u64,
}

/// The plan for one move. Times are milliseconds since `go`.
#[derive(Clone, Debug)]
pub struct TimeManager {
    start: Instant,
    /// When our clock began to run: at `go`, or at `ponderhit`.
    clock_start: i64,
    minimum: i64,
    pub optimum: i64,
    pub maximum: i64,
    /// The most that this move may take.
    pub remaining: i64,
    /// All that is left is used for this move (byoyomi).
    final_push: bool,
    /// The moment at which to stop, once it is decided.
    pub end: Option<i64>,
    round_up: bool,
    network_delay: i64,
    minimum_thinking_time: i64,
}

impl TimeManager {
    /// Plans the move of a turn.
    pub fn new(limits: &Limits, options: &SearchOptions, turn: Turn) -> TimeManager {
        let us = turn.us.index();
        let ply = i64::from(turn.ply);
        let (time, inc, byoyomi) =
            (clamp_ms(limits.time[us]), clamp_ms(limits.inc[us]), clamp_ms(limits.byoyomi[us]));
        let sudden_death = inc == 0 && byoyomi == 0;
        let horizon = if sudden_death {
            (SUDDEN_DEATH_LAST_PLY - ply).max(SUDDEN_DEATH_HORIZON)
        } else {
            MOVE_HORIZON + 20 - ply.min(80)
        };
        let last_ply =
            if options.max_moves_to_draw == 0 { 100_000 } else { i64::from(options.max_moves_to_draw) };
        let moves_to_go = (last_ply - ply + 2).min(horizon) / 2;
        let least = clamp_ms(options.minimum_thinking_time);
        let short = byoyomi < 1000
            && (time + inc < 10 * least || time + (inc + byoyomi - least) * moves_to_go.max(1) < 0);
        let round_up = options.round_up_to_full_second && !short;
        let reserve =
            clamp_ms(options.network_delay2).min(if short { SHORT_CLOCK_RESERVE } else { i64::MAX });
        let usual_lag = clamp_ms(options.network_delay);
        let mut tm = TimeManager {
            start: limits.start,
            clock_start: 0,
            minimum: 0,
            optimum: 0,
            maximum: 0,
            remaining: usable_time(time, inc, byoyomi, reserve, usual_lag),
            final_push: false,
            end: None,
            round_up,
            network_delay: if short { 0 } else { usual_lag },
            minimum_thinking_time: if short { 0 } else { least },
        };
        if let Some(t) = limits.movetime {
            tm.set_all(clamp_ms(t));
            tm.remaining = clamp_ms(t);
            return tm;
        }
        if let Some(t) = limits.rtime {
            let t = clamp_ms(t);
            let spread = (t / 2).min(10 * t / ply.max(1)).max(1);
            tm.set_all(t + (turn.random % spread as u64) as i64);
            tm.remaining = tm.optimum;
            return tm;
        }
        if moves_to_go <= 1 {
            tm.set_all(tm.remaining.min(if moves_to_go == 1 { i64::MAX } else { 500 }));
            return tm;
        }
        let floor = if round_up { 1000 } else { 1 };
        tm.minimum = (tm.minimum_thinking_time - tm.network_delay).max(floor);
        let mut estimate = time + (inc + byoyomi) * moves_to_go;
        if round_up {
            estimate -= (moves_to_go + 1) * 1000;
        }
        let estimate = estimate.max(0);
        // on sudden death clocks of a few minutes, no single move may take five times its share
        let ratio = if sudden_death { (time as f64 / 60_000.0).clamp(3.0, 5.0) } else { 5.0 };
        let optimum = tm.minimum + estimate / moves_to_go;
        let maximum = (tm.minimum + (estimate as f64 * ratio / moves_to_go as f64) as i64)
            .min((estimate as f64 * 0.3) as i64);
        tm.optimum = optimum.min(tm.remaining) * clamp_ms(options.slow_mover) / 100;
        tm.maximum = maximum.min(tm.remaining);
        if options.usi_ponder && !options.stochastic_ponder {
            tm.optimum += tm.optimum / 4;
        }
        tm.optimum = tm.optimum.min(tm.remaining);
        if turn.single_move {
            (tm.round_up, tm.network_delay, tm.minimum_thinking_time) = (false, 0, 0);
            tm.set_all(tm.optimum.min(SINGLE_MOVE_TIME));
            return tm;
        }
        if byoyomi > 0 && time * 5 < byoyomi * 6 {
            tm.set_all(time + byoyomi);
            tm.final_push = true;
        }
        if inc > 0 && time * 5 < inc * 6 {
            // the increment is all there is, and the next one comes soon
            tm.minimum = tm.minimum.max(time / 2);
        }
        tm.minimum = tm.rounded(tm.minimum);
        tm.optimum = tm.optimum.min(tm.remaining);
        tm.maximum = tm.rounded(tm.maximum);
        tm
    }

    fn set_all(&mut self, t: i64) {
        (self.minimum, self.optimum, self.maximum) = (t, t, t);
    }

    /// The last useful moment at or after `t`: just before a full second with `RoundUpToFullSecond`.
    fn rounded(&self, t: i64) -> i64 {
        let mut r = if self.round_up { (t + 999) / 1000 * 1000 } else { t }.max(self.minimum_thinking_time)
            - self.network_delay;
        if self.round_up && r < t {
            r += 1000;
        }
        r.min(self.remaining)
    }

    /// Milliseconds since `go`.
    pub fn elapsed(&self) -> i64 {
        self.start.elapsed().as_millis() as i64
    }

    /// Milliseconds that this move may still take: until the moment to stop, once it is decided.
    pub fn left(&self) -> i64 {
        self.end.unwrap_or(self.clock_start + self.remaining) - self.elapsed()
    }

    /// Whether our clock has run for `ms` milliseconds, `elapsed` after `go`.
    pub fn has_used(&self, ms: u64, elapsed: i64) -> bool {
        elapsed - self.clock_start >= clamp_ms(ms)
    }

    /// Enough thought at `elapsed`: stop at the next useful moment.
    pub fn finish(&mut self, elapsed: i64) {
        let own = elapsed - self.clock_start;
        let least = if self.final_push { self.minimum } else { self.minimum - self.clock_start };
        self.end = Some(self.rounded(own.max(least)) + self.clock_start);
    }
}

/// What the time manager remembers of the previous move of the game.
#[derive(Clone, Copy)]
pub struct PreviousMove {
    /// From the then side to move's view; `VALUE_INFINITE` for none.
    pub score: Value,
    /// The mean score of the best move over the iterations, likewise.
    pub average: Value,
    pub time_reduction: f64,
    pub game_ply: u32,
}

impl Default for PreviousMove {
    fn default() -> PreviousMove {
        PreviousMove { score: VALUE_INFINITE, average: VALUE_INFINITE, time_reduction: 0.85, game_ply: 0 }
    }
}

impl PreviousMove {
    /// The same from the view of the side to move at `game_ply`: after an odd number of plies the scores are the
    /// opponent's.
    pub fn seen_at(mut self, game_ply: u32) -> PreviousMove {
        if self.game_ply.wrapping_sub(game_ply) & 1 == 1 {
            for v in [&mut self.score, &mut self.average] {
                if *v != VALUE_INFINITE {
                    *v = -*v;
                }
            }
        }
        self
    }
}

/// What an iteration has shown about how much more thought is worthwhile.
#[derive(Clone, Copy, Debug)]
pub struct Stability {
    /// The finished iteration.
    pub depth: i32,
    pub best_value: Value,
    /// The best value four iterations before.
    pub earlier_value: Value,
    /// The iteration in which the best move last changed.
    pub last_best_depth: i32,
    /// Changes of the best move per thread, older ones halved with every iteration.
    pub changes: f64,
    /// Share of the nodes spent on the best move, in 1/100000.
    pub effort: u64,
}

/// A falling score gets more time: the factor in per cent where the score is that of the last move, ...
const FALLING_BASE: f64 = 11.325;
/// ... per point below the previous move's mean score, ...
const FALLING_SINCE_LAST_MOVE: f64 = 2.115;
/// ... per point below the score four iterations before, ...
const FALLING_SINCE_EARLIER: f64 = 0.987;
/// ... and the factor's bounds.
const FALLING_BOUNDS: [f64; 2] = [0.5688, 1.5698];

/// A stable best move gets less time: the reduction grows from the first value by the second over its last change ...
const STABLE: [f64; 2] = [0.723, 0.79];
/// ... as a logistic curve of this denominator at its top, this steepness a ply, ...
const STABLE_TOP: f64 = 1.104;
const STABLE_STEEPNESS: f64 = 0.5189;
/// ... and with its middle this many plies after the last change.
const STABLE_PLIES: f64 = 11.57;
/// The last move's reduction takes part in this one's.
const STABLE_MEMORY: f64 = 1.455;
const STABLE_SCALE: f64 = 2.2375;

/// An unstable best move gets more time: the factor without a change, and what each change adds.
const UNSTABLE: [f64; 2] = [1.04, 1.8956];

/// From this depth on, a best move that took this share of the nodes (in 1/100000) gets only a part of the time.
const OBVIOUS_DEPTH: i32 = 10;
const OBVIOUS_EFFORT: u64 = 92_425;
const OBVIOUS_FACTOR: f64 = 0.666;

/// The clock of a search. Only the thread that keeps the time has it.
pub struct Timekeeper {
    pub time: TimeManager,
    /// Enough thought: the opponent's time alone delays the move.
    pub stop_on_ponderhit: bool,
    turn: Turn,
}

impl Timekeeper {
    pub fn new(limits: &Limits, options: &SearchOptions, turn: Turn) -> Timekeeper {
        Timekeeper { time: TimeManager::new(limits, options, turn), stop_on_ponderhit: false, turn }
    }

    /// Plans again, by clocks that came with `ponderhit`.
    pub fn plan_again(&mut self, limits: &Limits, options: &SearchOptions) {
        *self = Timekeeper::new(limits, options, self.turn);
    }

    /// The opponent played the expected move `ms` after `go`: our clock runs from there.
    pub fn ponderhit(&mut self, ms: i64) {
        self.time.clock_start = ms;
    }

    /// How long to think in all (milliseconds since `go`), and the time reduction for a stable best move, which the
    /// plan of the next move takes into account. A falling score or an unstable best move gets more time, a stable one
    /// less.
    pub fn planned_time(&self, previous: &PreviousMove, s: &Stability) -> (f64, f64) {
        let falling = ((FALLING_BASE
            + FALLING_SINCE_LAST_MOVE * f64::from(previous.average - s.best_value)
            + FALLING_SINCE_EARLIER * f64::from(s.earlier_value - s.best_value))
            / 100.0)
            .clamp(FALLING_BOUNDS[0], FALLING_BOUNDS[1]);
        let middle = f64::from(s.last_best_depth) + STABLE_PLIES;
        let time_reduction =
            STABLE[0] + STABLE[1] / (STABLE_TOP + (-STABLE_STEEPNESS * (f64::from(s.depth) - middle)).exp());
        let reduction = (STABLE_MEMORY + previous.time_reduction) / (STABLE_SCALE * time_reduction);
        let instability = UNSTABLE[0] + UNSTABLE[1] * s.changes;
        let obvious = s.depth >= OBVIOUS_DEPTH && s.effort >= OBVIOUS_EFFORT;
        let obvious = if obvious { OBVIOUS_FACTOR } else { 1.0 };
        let total = self.time.optimum as f64 * falling * reduction * instability * obvious;
        (total, time_reduction)
    }
}

fn clamp_ms(t: u64) -> i64 {
    // a century of milliseconds: sums and products of such numbers fit
    t.min(1 << 42) as i64
}

/// How much of the clock's milliseconds one move may take: all but the reserve for the worst lag. Where the clock is
/// shorter than that, the move takes a share of it, because a lag that long would lose the game in any case.
///
/// - Byoyomi that is not used is gone: the reserve is at most a quarter of it, but no less than the usual lag if more than
///   100 ms are left then; two fifths where it is so short that the lag of a busy machine takes a quarter.
/// - An increment stays on the clock: half of it, at most half of the increment, so that a reserve builds up.
/// - Sudden death: two fifths, at most 100 ms.
fn usable_time(time: i64, inc: i64, byoyomi: i64, reserve: i64, usual_lag: i64) -> i64 {
    let total = time + byoyomi;
    let (reserve, share) = match (byoyomi, inc) {
        (1.., _) => (reserve.min((total / 4).max(usual_lag)), (total * 3 / 5).min(100)),
        (_, 1..) => (reserve, total.min(inc) / 2),
        _ => (reserve, (total * 2 / 5).min(100)),
    };
    (total - reserve).max(share).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(time: u64, inc: u64, byoyomi: u64) -> Limits {
        Limits { time: [time; 2], inc: [inc; 2], byoyomi: [byoyomi; 2], has_clock: true, ..Limits::default() }
    }

    fn plan(limits: &Limits, options: &SearchOptions, ply: u32) -> TimeManager {
        let turn = Turn { us: Color::Black, ply, single_move: false, random: 0 };
        TimeManager::new(limits, options, turn)
    }

    #[test]
    fn no_plan_exceeds_the_clock() {
        for round in [true, false] {
            for (delay, delay2, min) in [(120, 1120, 2000), (0, 0, 1), (50, 200, 100), (10000, 10000, 100000)]
            {
                let o = SearchOptions {
                    round_up_to_full_second: round,
                    network_delay: delay,
                    network_delay2: delay2,
                    minimum_thinking_time: min,
                    ..SearchOptions::default()
                };
                for time in [0, 1, 50, 100, 999, 5000, 60_000, 3_600_000, u64::MAX] {
                    for inc in [0, 10, 100, 10_000] {
                        for byoyomi in [0, 10, 100, 1000, 30_000] {
                            for ply in [0, 1, 60, 300, 10_000] {
                                let l = clock(time, inc, byoyomi);
                                let mut tm = plan(&l, &o, ply);
                                let total = clamp_ms(time) + byoyomi as i64;
                                let cap = total.max(1);
                                assert!(tm.maximum <= cap, "{tm:?}");
                                tm.finish(tm.maximum);
                                assert!(tm.end.unwrap() <= cap, "{tm:?}");
                                if total > 0 && total <= 120 && delay2 as i64 >= total {
                                    assert!(tm.end.unwrap() <= total * 4 / 5 + 1, "{tm:?}");
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn increments_build_up_a_reserve() {
        let o = SearchOptions {
            round_up_to_full_second: false,
            network_delay: 10,
            network_delay2: 100,
            minimum_thinking_time: 10,
            ..SearchOptions::default()
        };
        let mut left = 6;
        for ply in 100..120 {
            left += 20;
            let tm = plan(&clock(left, 20, 0), &o, ply);
            left -= tm.maximum as u64;
        }
        assert!(left >= 29, "{left}");
    }

    #[test]
    fn whole_seconds_are_used_up() {
        let o = SearchOptions::default();
        let mut tm = plan(&clock(600_000, 0, 10_000), &o, 20);
        tm.finish(2300);
        assert_eq!(tm.end, Some(3000 - 120));
        tm.finish(2950);
        assert_eq!(tm.end, Some(4000 - 120));
        // byoyomi alone: all of it but the reserve
        let mut tm = plan(&clock(0, 0, 10_000), &o, 20);
        tm.finish(0);
        assert_eq!(tm.end, Some(10_000 - 1120));
    }

    #[test]
    fn a_clock_of_seconds_lasts_for_the_game() {
        let o = SearchOptions::default();
        for (time, inc) in [(5000, 0), (19_000, 0), (2000, 50), (3000, 100), (200, 20)] {
            let (mut left, mut least): (u64, u64) = (time, time);
            for ply in (1..=160).step_by(2) {
                let mut tm = plan(&clock(left, inc, 0), &o, ply);
                tm.finish(tm.optimum);
                let used = tm.end.unwrap() as u64;
                assert!(used <= time.max(1000) / 10, "{used} of {left} at ply {ply}");
                left = left - used + inc;
                least = least.min(left);
            }
            // a lag of this length loses no game
            assert!(least >= if inc > 0 { time.min(330) } else { time / 10 }, "{least} of {time} and {inc}");
        }
    }

    /// The time used where the search stops at its optimum, and where it would stop at once; the clocks include the
    /// increment.
    #[test]
    fn short_times_are_used_and_kept() {
        let o = SearchOptions::default();
        for (time, inc, byoyomi, least, most) in [
            // byoyomi alone: a quarter is kept, but no more than the worst lag
            (0, 0, 10_000, 8880, 8880),
            (0, 0, 3000, 2250, 2250),
            (0, 0, 1000, 750, 750),
            (0, 0, 500, 375, 375),
            (0, 0, 100, 60, 60),
            (300, 0, 1000, 975, 975),
            // the increment alone
            (10_000, 10_000, 0, 8000, 8880),
            (5000, 5000, 0, 4600, 4600),
            (1000, 1000, 0, 600, 600),
            (600, 600, 0, 300, 300),
            (100, 100, 0, 50, 50),
            // Fischer with little on the clock, and with much
            (12_000, 10_000, 0, 8000, 10_880),
            (310_000, 10_000, 0, 9000, 17_000),
            // sudden death
            (60_000, 0, 0, 400, 2000),
            (300_000, 0, 0, 1880, 6000),
        ] {
            let mut tm = plan(&clock(time, inc, byoyomi), &o, 60);
            tm.finish(tm.optimum);
            let used = tm.end.unwrap();
            assert!((least..=most).contains(&used), "{used} of {time} + {inc} + {byoyomi}");
            tm.finish(1);
            if byoyomi > 0 || time == inc {
                assert!(tm.end.unwrap() * 2 >= (time + byoyomi) as i64, "{tm:?}");
            }
        }
    }

    #[test]
    fn a_single_move_takes_little_time() {
        let o = SearchOptions::default();
        let turn = Turn { us: Color::Black, ply: 60, single_move: true, random: 0 };
        for limits in [clock(0, 0, 10_000), clock(600_000, 0, 10_000), clock(10_000, 10_000, 0)] {
            let mut tm = TimeManager::new(&limits, &o, turn);
            tm.finish(tm.maximum);
            assert_eq!(tm.end, Some(500), "{limits:?}");
        }
        let tm = TimeManager::new(&clock(0, 0, 100), &o, turn);
        assert!(tm.maximum <= 60);
        // what is asked for exactly is kept
        assert_eq!(TimeManager::new(&Limits::movetime(3000), &o, turn).maximum, 3000);
    }

    #[test]
    fn sudden_death_spends_the_clock_and_never_runs_out() {
        let o = SearchOptions::default();
        for time in [5000, 60_000, 600_000] {
            let mut left: u64 = time;
            for ply in (1..=320).step_by(2) {
                let mut tm = plan(&clock(left, 0, 0), &o, ply);
                assert!(tm.maximum as u64 <= left / 3, "{} of {left} at ply {ply}", tm.maximum);
                tm.finish(tm.optimum);
                left -= tm.end.unwrap() as u64;
                if ply == 121 {
                    assert!(left < time * 2 / 5 && left > time / 5, "{left} of {time}");
                }
            }
            assert!(left >= time / 100, "{left} of {time}");
        }
    }

    #[test]
    fn movetime_is_exact_and_rtime_varies() {
        let o = SearchOptions::default();
        let l = Limits::movetime(333);
        let tm = plan(&l, &o, 1);
        assert_eq!((tm.optimum, tm.maximum), (333, 333));
        let l = Limits { rtime: Some(1000), ..Limits::default() };
        let turn = |random| Turn { us: Color::Black, ply: 30, single_move: false, random };
        let longest = (0..1000).map(|r| TimeManager::new(&l, &o, turn(r)).optimum).max().unwrap();
        assert!((1200..1400).contains(&longest), "{longest}");
    }
}
