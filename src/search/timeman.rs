//! The time manager: how long to think. [`TimeManager`] plans a move from the clocks and the user's options;
//! [`Timekeeper`] adapts the plan to what each iteration shows ([`Stability`]).
//!
//! The quantities and options mean what they mean in YaneuraOu: a move takes at least `minimum`, about `optimum`, at
//! most `maximum` milliseconds; with `RoundUpToFullSecond` a thought ends just before a whole second, because servers
//! charge whole seconds; `NetworkDelay` is the usual lag, `NetworkDelay2` the worst one, kept in reserve.
//!
//! On a short clock whole seconds are too dear: where `MinimumThinkingTime` for every move that the game is planned to last
//! would use it up, and below ten times that option, both without byoyomi to fall back on, neither it nor
//! `RoundUpToFullSecond` nor `NetworkDelay` holds, and moves take their share; 0.4 seconds at most are kept in reserve.

use super::{Limits, SearchOptions};
use crate::types::{Color, VALUE_INFINITE, Value};
use std::time::Instant;

/// From move to move a game is planned to last about so many plies more; a little longer early in the game.
const MOVE_HORIZON: i64 = 160;

/// On clocks of sudden death, where what is left at the end is lost, a game is planned to last to this ply, ...
const SUDDEN_DEATH_LAST_PLY: i64 = 180;

/// ... and so many plies more however long it has lasted.
const SUDDEN_DEATH_HORIZON: i64 = 80;

/// The most that is kept in reserve (milliseconds) of a clock on which whole seconds are too dear.
const MOST_KEPT_OF_SECONDS: i64 = 400;

/// The plan for one move. Times are milliseconds since `go`.
#[derive(Clone, Debug)]
pub struct TimeManager {
    start: Instant,
    /// When the clock began to run: at `go`, or at `ponderhit`.
    ponderhit: i64,
    minimum: i64,
    optimum: i64,
    maximum: i64,
    /// The most that this move may take.
    remaining: i64,
    /// Everything left is to be used for this move (byoyomi).
    final_push: bool,
    end: Option<i64>,
    round_up: bool,
    network_delay: i64,
    minimum_thinking_time: i64,
}

impl TimeManager {
    /// Plans a move of `us` at `ply` of the game; `random` chooses within `rtime`.
    pub fn new(limits: &Limits, options: &SearchOptions, us: Color, ply: u32, random: u64) -> TimeManager {
        let c = us.index();
        let ply = i64::from(ply);
        let (time, inc, byoyomi) =
            (clamp_ms(limits.time[c]), clamp_ms(limits.inc[c]), clamp_ms(limits.byoyomi[c]));
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
        let dear = byoyomi < 1000
            && (time + inc < 10 * least || time + (inc + byoyomi - least) * moves_to_go.max(1) < 0);
        let round_up = options.round_up_to_full_second && !dear;
        let reserve =
            clamp_ms(options.network_delay2).min(if dear { MOST_KEPT_OF_SECONDS } else { i64::MAX });
        let unless_dear = |ms: u64| if dear { 0 } else { clamp_ms(ms) };
        let mut tm = TimeManager {
            start: limits.start,
            ponderhit: 0,
            minimum: 0,
            optimum: 0,
            maximum: 0,
            remaining: usable_time(time, inc, byoyomi, reserve),
            final_push: false,
            end: None,
            round_up,
            network_delay: unless_dear(options.network_delay),
            minimum_thinking_time: unless_dear(options.minimum_thinking_time),
        };
        if let Some(t) = limits.movetime {
            tm.set_all(clamp_ms(t));
            tm.remaining = clamp_ms(t);
            return tm;
        }
        if let Some(t) = limits.rtime {
            let t = clamp_ms(t);
            let spread = (t / 2).min(10 * t / ply.max(1)).max(1);
            tm.set_all(t + (random % spread as u64) as i64);
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
        if byoyomi > 0 && time * 5 < byoyomi * 6 {
            tm.set_all(time + byoyomi);
            tm.final_push = true;
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

    pub fn optimum(&self) -> i64 {
        self.optimum
    }

    pub fn maximum(&self) -> i64 {
        self.maximum
    }

    /// The moment at which to stop, once it is decided.
    pub fn end(&self) -> Option<i64> {
        self.end
    }

    /// The most that this move may take, in milliseconds.
    pub fn remaining(&self) -> i64 {
        self.remaining
    }

    /// How much of the time that this move may take is left, in milliseconds: until the moment to stop, once it is decided.
    pub fn left(&self) -> i64 {
        self.end.unwrap_or(self.ponderhit + self.remaining) - self.elapsed()
    }

    /// The opponent played the expected move `ms` after `go`: our clock runs from there.
    pub fn set_ponderhit(&mut self, ms: i64) {
        self.ponderhit = ms;
    }

    /// Enough thought at `elapsed`: stop at the next useful moment.
    pub fn finish(&mut self, elapsed: i64) {
        let own = elapsed - self.ponderhit;
        let least = if self.final_push { self.minimum } else { self.minimum - self.ponderhit };
        self.end = Some(self.rounded(own.max(least)) + self.ponderhit);
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
    /// The same from the view of the side to move at `game_ply`: after an odd number of plies the scores were the opponent's.
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

/// What an iteration has shown about how much more thought is worth while.
#[derive(Clone, Copy, Debug)]
pub struct Stability {
    /// The iteration just done.
    pub depth: i32,
    pub best_value: Value,
    /// The best value four iterations before.
    pub earlier_value: Value,
    /// The iteration in which the best move last changed.
    pub last_best_depth: i32,
    /// Changes of the best move a thread, older ones halved with every iteration.
    pub changes: f64,
    /// Share of the nodes that went into the best move, in 1/100000.
    pub effort: u64,
    /// There is only one legal move.
    pub single_move: bool,
}

/// The clock of a search, which only the thread that keeps the time has.
pub struct Timekeeper {
    pub time: TimeManager,
    pub stop_on_ponderhit: bool,
}

impl Timekeeper {
    pub fn new(time: TimeManager) -> Timekeeper {
        Timekeeper { time, stop_on_ponderhit: false }
    }

    /// How long to think in all (milliseconds since `go`), and the time reduction for a stable best move, which the next
    /// move will ask for. A falling score or an unstable best move gets more time, a stable one less.
    pub fn wanted(&self, previous: &PreviousMove, s: &Stability) -> (f64, f64) {
        let falling = ((11.325
            + 2.115 * f64::from(previous.average - s.best_value)
            + 0.987 * f64::from(s.earlier_value - s.best_value))
            / 100.0)
            .clamp(0.5688, 1.5698);
        let center = f64::from(s.last_best_depth) + 11.57;
        let time_reduction = 0.723 + 0.79 / (1.104 + (-0.5189 * (f64::from(s.depth) - center)).exp());
        let reduction = (1.455 + previous.time_reduction) / (2.2375 * time_reduction);
        let instability = 1.04 + 1.8956 * s.changes;
        let obvious = if s.depth >= 10 && s.effort >= 92_425 { 0.666 } else { 1.0 };
        let mut total = self.time.optimum() as f64 * falling * reduction * instability * obvious;
        if s.single_move {
            total = total.min(502.0);
        }
        (total, time_reduction)
    }
}

fn clamp_ms(t: u64) -> i64 {
    // a century of milliseconds: sums and products of such numbers fit
    t.min(1 << 42) as i64
}

/// What one move may take of the clock's milliseconds: all but the `reserve` for the worst lag. Where the clock is shorter
/// than that, a share of what there is, up to 100 ms: a lag that long could not be survived anyway, and a full tenth of a
/// second would lose a clock of a tenth of a second. Of byoyomi, which is gone if it is not used, four fifths; of time that
/// stays on the clock, two fifths, and no more than three quarters of the increment, so that the reserve builds up.
fn usable_time(time: i64, inc: i64, byoyomi: i64, reserve: i64) -> i64 {
    let total = time + byoyomi;
    let share = match (byoyomi, inc) {
        (1.., _) => total * 4 / 5,
        (_, 1..) => (total * 2 / 5).min(inc * 3 / 4),
        _ => total * 2 / 5,
    };
    (total - reserve).max(share.min(100)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(time: u64, inc: u64, byoyomi: u64) -> Limits {
        Limits { time: [time; 2], inc: [inc; 2], byoyomi: [byoyomi; 2], has_clock: true, ..Limits::default() }
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
                                let mut tm = TimeManager::new(&l, &o, Color::Black, ply, 0);
                                let total = clamp_ms(time) + byoyomi as i64;
                                let cap = total.max(1);
                                assert!(tm.maximum() <= cap, "{tm:?}");
                                tm.finish(tm.maximum());
                                assert!(tm.end().unwrap() <= cap, "{tm:?}");
                                if total > 0 && total <= 120 && delay2 as i64 >= total {
                                    assert!(tm.end().unwrap() <= total * 4 / 5 + 1, "{tm:?}");
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
            let tm = TimeManager::new(&clock(left, 20, 0), &o, Color::Black, ply, 0);
            left -= tm.maximum() as u64;
        }
        assert!(left >= 29, "{left}");
    }

    #[test]
    fn whole_seconds_are_used_up() {
        let o = SearchOptions::default();
        let mut tm = TimeManager::new(&clock(600_000, 0, 10_000), &o, Color::White, 20, 0);
        tm.finish(2300);
        assert_eq!(tm.end(), Some(3000 - 120));
        tm.finish(2950);
        assert_eq!(tm.end(), Some(4000 - 120));
        // byoyomi alone: all of it but the reserve
        let mut tm = TimeManager::new(&clock(0, 0, 10_000), &o, Color::White, 20, 0);
        tm.finish(0);
        assert_eq!(tm.end(), Some(10_000 - 1120));
    }

    #[test]
    fn a_clock_of_seconds_lasts_for_the_game() {
        let o = SearchOptions::default();
        for (time, inc) in [(5000, 0), (19_000, 0), (2000, 50), (3000, 100), (200, 20)] {
            let (mut left, mut least): (u64, u64) = (time, time);
            for ply in (1..=160).step_by(2) {
                let mut tm = TimeManager::new(&clock(left, inc, 0), &o, Color::Black, ply, 0);
                tm.finish(tm.optimum());
                let used = tm.end().unwrap() as u64;
                assert!(used <= time.max(1000) / 10, "{used} of {left} at ply {ply}");
                left = left - used + inc;
                least = least.min(left);
            }
            // a lag of so much loses no game
            assert!(least >= if inc > 0 { time.min(330) } else { time / 10 }, "{least} of {time} and {inc}");
        }
    }

    #[test]
    fn sudden_death_spends_the_clock_and_never_runs_out() {
        let o = SearchOptions::default();
        for time in [5000, 60_000, 600_000] {
            let mut left: u64 = time;
            for ply in (1..=320).step_by(2) {
                let mut tm = TimeManager::new(&clock(left, 0, 0), &o, Color::Black, ply, 0);
                assert!(tm.maximum() as u64 <= left / 3, "{} of {left} at ply {ply}", tm.maximum());
                tm.finish(tm.optimum());
                left -= tm.end().unwrap() as u64;
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
        let tm = TimeManager::new(&l, &o, Color::Black, 1, 0);
        assert_eq!((tm.optimum(), tm.maximum()), (333, 333));
        let l = Limits { rtime: Some(1000), ..Limits::default() };
        let longest =
            (0..1000).map(|r| TimeManager::new(&l, &o, Color::Black, 30, r).optimum()).max().unwrap();
        assert!((1200..1400).contains(&longest), "{longest}");
    }
}
