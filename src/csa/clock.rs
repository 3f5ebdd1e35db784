//! The server's clock as far as the client knows it: [`TimeControl`] from the game summary, [`Clock`] charged by the
//! server's T values, [`Lag`] between the two ends of the line.

use crate::types::Color;
use std::collections::VecDeque;

/// One player's time by the game summary; amounts are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// What T values count in.
    pub unit: u64,
    /// `None`: no limit.
    pub total: Option<u64>,
    /// Byoyomi, available to every move.
    pub byoyomi: u64,
    /// Added before a move is charged, so that it can be used up by the very first move.
    pub increment: u64,
    /// The beginning of every move that costs nothing.
    pub delay: u64,
    /// The least that a move costs.
    pub least: u64,
    /// Fractions of a unit are rounded up.
    pub round_up: bool,
}

impl Default for TimeControl {
    fn default() -> TimeControl {
        TimeControl { unit: 1000, total: None, byoyomi: 0, increment: 0, delay: 0, least: 0, round_up: false }
    }
}

impl TimeControl {
    /// Whether time never runs out, which some servers express by zeros.
    pub fn is_unlimited(&self) -> bool {
        self.total.unwrap_or(0) == 0 && self.byoyomi == 0 && self.increment == 0 && self.delay == 0
    }
}

/// What both players have left. By colour.
#[derive(Clone, Debug)]
pub struct Clock {
    control: [TimeControl; 2],
    left: [u64; 2],
}

impl Clock {
    /// A clock at the start of a game.
    pub fn new(control: [TimeControl; 2]) -> Clock {
        Clock { control, left: control.map(|c| c.total.unwrap_or(0)) }
    }

    /// The time of that colour.
    pub fn control(&self, color: Color) -> &TimeControl {
        &self.control[color.index()]
    }

    /// Main time left, in milliseconds.
    pub fn left(&self, color: Color) -> u64 {
        self.left[color.index()]
    }

    /// Sets what is left, as a server says after a reconnection.
    pub fn set_left(&mut self, color: Color, ms: u64) {
        self.left[color.index()] = ms;
    }

    /// Forgets what that colour has gained so far.
    pub fn cap(&mut self, color: Color) {
        let total = self.control(color).total.unwrap_or(0);
        self.set_left(color, self.left(color).min(total));
    }

    /// What the next move may take before the flag falls, in milliseconds; `None` without limit. The flag falls when
    /// exactly this much is charged.
    pub fn budget(&self, color: Color) -> Option<u64> {
        let c = self.control(color);
        (!c.is_unlimited()).then(|| self.left(color).saturating_add(c.increment + c.byoyomi + c.delay))
    }

    /// Takes a T value off the clock.
    pub fn charge(&mut self, color: Color, time: u64) {
        let c = self.control[color.index()];
        let spent = time.saturating_mul(c.unit).max(c.least).saturating_sub(c.delay);
        let left = &mut self.left[color.index()];
        *left = left.saturating_add(c.increment).saturating_sub(spent);
    }
}

/// How much longer our moves take by the server's clock than by ours: the network both ways, and both programs.
#[derive(Clone, Debug)]
pub struct Lag {
    recent: VecDeque<u64>,
    least: u64,
}

impl Lag {
    /// How many moves are remembered.
    const MOVES: usize = 32;

    /// `least`: the margin while nothing worse was seen, in milliseconds.
    pub fn new(least: u64) -> Lag {
        Lag { recent: VecDeque::new(), least }
    }

    /// A move was answered. `echo` is how long the server took to confirm it, which is what the line and the server
    /// add to our own time `own`; `charged` is its T value in a clock's terms. All milliseconds.
    pub fn observe(&mut self, control: &TimeControl, echo: u64, own: u64, charged: Option<u64>) {
        let charged = charged.map_or(0, |t| t.saturating_mul(control.unit));
        // a charge up to one unit above our time may be rounding, and the least time is no lag
        let rounding = if control.round_up { control.unit } else { 0 };
        let unexplained = if charged > control.least { charged.saturating_sub(own + rounding) } else { 0 };
        if self.recent.len() == Lag::MOVES {
            self.recent.pop_front();
        }
        self.recent.push_back(echo.max(unexplained));
    }

    /// The worst lag of the last moves.
    pub fn worst(&self) -> u64 {
        self.recent.iter().copied().max().unwrap_or(0)
    }

    /// How much of the budget to leave unused: half as much again as the worst lag.
    pub fn margin(&self) -> u64 {
        (self.worst() * 3 / 2).max(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(total: u64, byoyomi: u64, increment: u64) -> TimeControl {
        TimeControl { total: Some(total), byoyomi, increment, ..TimeControl::default() }
    }

    #[test]
    fn clocks_follow_the_servers_charges() {
        let mut clock = Clock::new([control(300_000, 0, 10_000), control(60_000, 5000, 0)]);
        assert_eq!(clock.budget(Color::Black), Some(310_000));
        clock.charge(Color::Black, 4);
        assert_eq!((clock.left(Color::Black), clock.budget(Color::Black)), (306_000, Some(316_000)));
        clock.charge(Color::White, 64);
        assert_eq!((clock.left(Color::White), clock.budget(Color::White)), (0, Some(5000)));
        clock.charge(Color::Black, u64::MAX);
        assert_eq!(clock.left(Color::Black), 0);
        assert_eq!(Clock::new([TimeControl::default(); 2]).budget(Color::Black), None);
    }

    #[test]
    fn units_least_times_and_delays() {
        let ms = TimeControl { unit: 1, ..control(10_000, 0, 0) };
        let delayed = TimeControl { delay: 3000, least: 1000, ..control(10_000, 0, 0) };
        let mut clock = Clock::new([ms, delayed]);
        clock.charge(Color::Black, 1234);
        assert_eq!(clock.left(Color::Black), 8766);
        clock.charge(Color::White, 2);
        assert_eq!(clock.left(Color::White), 10_000);
        clock.charge(Color::White, 5);
        assert_eq!((clock.left(Color::White), clock.budget(Color::White)), (8000, Some(11_000)));
    }

    #[test]
    fn the_margin_grows_with_the_lag() {
        let c = control(60_000, 0, 0);
        let mut lag = Lag::new(100);
        assert_eq!(lag.margin(), 100);
        lag.observe(&c, 40, 1500, Some(1));
        assert_eq!(lag.margin(), 100);
        lag.observe(&c, 200, 1500, Some(1));
        assert_eq!(lag.margin(), 300);
        // charged 4 s for what we believe were 3.2
        lag.observe(&c, 50, 3200, Some(4));
        assert_eq!(lag.margin(), 1200);
        // rounding up explains that much
        let round = TimeControl { round_up: true, ..c };
        let mut lag = Lag::new(0);
        lag.observe(&round, 10, 3200, Some(4));
        assert_eq!(lag.margin(), 15);
        // a least time is charged whatever we do
        let least = TimeControl { least: 1000, ..c };
        lag.observe(&least, 10, 5, Some(1));
        assert_eq!(lag.margin(), 15);
        for _ in 0..Lag::MOVES {
            lag.observe(&c, 0, 0, None);
        }
        assert_eq!(lag.margin(), 0);
    }
}
