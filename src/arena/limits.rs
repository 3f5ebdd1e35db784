//! [`EngineLimits`] of an engine's thinking, and the [`MatchClock`] of a game.

use crate::types::Color;
use std::fmt;
use std::time::Duration;

/// Limits of one engine's moves. Any combination is allowed; the times set a clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EngineLimits {
    /// Nodes per move.
    pub nodes: Option<u64>,
    /// Depth per move.
    pub depth: Option<u32>,
    /// Milliseconds per move. All times are in milliseconds.
    pub movetime: Option<u64>,
    /// Time per move after the main time is used up.
    pub byoyomi: Option<u64>,
    /// Main time.
    pub time: Option<u64>,
    /// Added for each move, which may use it at once.
    pub increment: Option<u64>,
}

impl EngineLimits {
    /// Sets a limit by its name; false if there is no limit of that name.
    ///
    /// # Errors
    /// A sentence for the user if the value is not valid.
    pub fn set(&mut self, name: &str, value: &str) -> Result<bool, String> {
        let number = |what: &str| value.parse::<u64>().map_err(|_| format!("{name}={value}: not {what}"));
        if matches!(name, "nodes" | "depth" | "movetime") && value.parse() == Ok(0) {
            return Err(format!("{name}={value}: must be positive"));
        }
        match name {
            "nodes" => self.nodes = Some(number("a number of nodes")?),
            "depth" => self.depth = Some(value.parse().map_err(|_| format!("{name}={value}: not a depth"))?),
            "movetime" => self.movetime = Some(number("milliseconds")?),
            "byoyomi" => self.byoyomi = Some(number("milliseconds")?),
            "tc" => (self.time, self.increment) = parse_tc(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Whether there is no limit at all.
    pub fn is_empty(&self) -> bool {
        *self == EngineLimits::default()
    }

    /// Whether the clock is at zero from the beginning, so that every game would be lost on time.
    pub fn is_lost(&self) -> bool {
        self.has_clock() && [self.time, self.increment, self.byoyomi].iter().all(|t| t.unwrap_or(0) == 0)
    }

    /// Whether time limits the search, so that a repeated search may choose another move.
    pub fn has_time(&self) -> bool {
        self.has_clock() || self.movetime.is_some()
    }

    fn has_clock(&self) -> bool {
        self.time.is_some() || self.increment.is_some() || self.byoyomi.is_some()
    }
}

impl fmt::Display for EngineLimits {
    /// The format that [`set`](EngineLimits::set) reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |ms: u64| ms as f64 / 1000.0;
        let clock = match (self.time, self.increment) {
            (None, None) => None,
            (time, None) => Some(format!("tc={}", seconds(time.unwrap_or(0)))),
            (time, Some(inc)) => Some(format!("tc={}+{}", seconds(time.unwrap_or(0)), seconds(inc))),
        };
        let words = [
            clock,
            self.byoyomi.map(|n| format!("byoyomi={n}")),
            self.movetime.map(|n| format!("movetime={n}")),
            self.depth.map(|n| format!("depth={n}")),
            self.nodes.map(|n| format!("nodes={n}")),
        ];
        f.write_str(&words.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

/// Reads `MAIN` or `MAIN+INCREMENT`, in seconds, as milliseconds.
pub fn parse_tc(text: &str) -> Result<(Option<u64>, Option<u64>), String> {
    let seconds = |s: &str| {
        let value = s.parse::<f64>().ok().filter(|v| (0.0..1e9).contains(v));
        value
            .map(|v| (v * 1000.0).round() as u64)
            .ok_or(format!("`{text}`: write seconds, MAIN or MAIN+INCREMENT"))
    };
    match text.split_once('+') {
        Some((main, increment)) => Ok((Some(seconds(main)?), Some(seconds(increment)?))),
        None => Ok((Some(seconds(text)?), None)),
    }
}

/// Both players' limits and the time they have left.
pub struct MatchClock<'a> {
    limits: [&'a EngineLimits; 2],
    left: [u64; 2],
    /// Exceeding the clock by at most this is allowed, because the measured time includes pipes and
    /// scheduling.
    margin: u64,
}

impl<'a> MatchClock<'a> {
    /// A clock at the start of a game.
    pub fn new(limits: [&'a EngineLimits; 2], margin: u64) -> MatchClock<'a> {
        MatchClock { limits, left: limits.map(|l| l.time.unwrap_or(0)), margin }
    }

    /// The `go` command for the player of `side`. In USI a move may use its increment in addition to its
    /// clock.
    pub fn go(&self, side: Color) -> String {
        let own = self.limits[side.index()];
        let mut s = "go".to_string();
        let mut put = |name: &str, value: Option<u64>| {
            if let Some(v) = value {
                s += &format!(" {name} {v}");
            }
        };
        if own.has_clock() {
            put("btime", Some(self.left[0]));
            put("wtime", Some(self.left[1]));
            match (own.byoyomi, own.increment) {
                (None, _) => {
                    put("binc", Some(self.limits[0].increment.unwrap_or(0)));
                    put("winc", Some(self.limits[1].increment.unwrap_or(0)));
                }
                (byoyomi, None) => put("byoyomi", byoyomi),
                (byoyomi, increment) => {
                    put("byoyomi", byoyomi);
                    put("binc", increment);
                    put("winc", increment);
                }
            }
        }
        put("movetime", own.movetime);
        put("depth", own.depth.map(u64::from));
        put("nodes", own.nodes);
        s
    }

    /// How long to wait for the move of `side` before the engine counts as hanging.
    pub fn patience(&self, side: Color, extra: Duration) -> Duration {
        let own = self.limits[side.index()];
        let clock = if own.has_clock() { self.allowed(side) } else { 0 };
        Duration::from_millis(clock + own.movetime.unwrap_or(0)) + extra
    }

    /// Subtracts the time of a move from the clock; false if the time is over.
    #[must_use]
    pub fn spend(&mut self, side: Color, elapsed: Duration) -> bool {
        let own = self.limits[side.index()];
        if !own.has_clock() {
            return true;
        }
        let used = elapsed.as_millis() as u64;
        if used > self.allowed(side) + self.margin {
            return false;
        }
        let left = &mut self.left[side.index()];
        *left = (*left + own.increment.unwrap_or(0)).saturating_sub(used);
        true
    }

    /// Milliseconds that the next move of `side` may take.
    fn allowed(&self, side: Color) -> u64 {
        let own = self.limits[side.index()];
        self.left[side.index()] + own.increment.unwrap_or(0) + own.byoyomi.unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_run_down_and_are_sent_to_the_engine() {
        let mut limits = EngineLimits::default();
        assert!(limits.set("tc", "1+0.1").unwrap());
        assert!(!limits.set("Threads", "1").unwrap());
        let mut clock = MatchClock::new([&limits, &limits], 20);
        assert_eq!(clock.go(Color::Black), "go btime 1000 wtime 1000 binc 100 winc 100");
        assert!(clock.spend(Color::Black, Duration::from_millis(400)));
        // clock, increment and margin together
        assert!(clock.spend(Color::White, Duration::from_millis(1120)));
        assert_eq!(clock.go(Color::Black), "go btime 700 wtime 0 binc 100 winc 100");
        assert!(clock.spend(Color::White, Duration::from_millis(60)));
        assert_eq!(clock.go(Color::Black), "go btime 700 wtime 40 binc 100 winc 100");
        assert!(!clock.spend(Color::White, Duration::from_millis(161)));

        let byoyomi = EngineLimits { byoyomi: Some(50), ..EngineLimits::default() };
        let nodes = EngineLimits { nodes: Some(7), depth: Some(3), ..EngineLimits::default() };
        let mut clock = MatchClock::new([&byoyomi, &nodes], 0);
        assert_eq!(clock.go(Color::Black), "go btime 0 wtime 0 byoyomi 50");
        assert_eq!(clock.go(Color::White), "go depth 3 nodes 7");
        assert!(clock.spend(Color::Black, Duration::from_millis(50)));
        assert!(clock.spend(Color::White, Duration::from_secs(100)));
        assert!(!clock.spend(Color::Black, Duration::from_millis(51)));
        for zero in ["nodes", "depth", "movetime"] {
            let error = EngineLimits::default().set(zero, "0").unwrap_err();
            assert!(error.starts_with(&format!("{zero}=0: ")), "{error}");
        }
        for bad in ["x", "1+y", "-1", ""] {
            assert!(parse_tc(bad).is_err(), "{bad}");
        }
    }
}
