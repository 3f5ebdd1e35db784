//! Weaker play for people: a [`Skill`] limits the search, and a [`SkillRelay`] chooses among the lines that were found.
//!
//! A weak player sees few moves ahead and does not weigh good moves exactly, but does not play at random: what is obvious
//! is seen. So a level has few nodes, looks at several lines, and draws the move from them by what each loses in win
//! rate.

use super::score::win_rate;
use crate::position::Position;
use crate::search::{BookLine, Info, LastLines, Limits, Observer};
use crate::support::random::Rng;
use crate::types::{Move, Value, is_win};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// The level of full strength.
pub(super) const FULL: i64 = 20;
/// From this level on, the best move is always played where it recaptures; below, the more often the higher the level.
const SEES_RECAPTURES: f64 = 4.0;
/// The same for mates that were found.
const SEES_MATES: f64 = 6.0;
/// No piece is thrown away: a move may lose a pawn (90) by exchanges, but not more.
const MOST_LOST: Value = 100;

/// Elo of the levels, which `UCI_Elo` selects by, from matches between neighbours (see docs/playing.md).
const ELO: [i32; FULL as usize + 1] = [
    0, 250, 470, 685, 986, 1211, 1506, 1702, 1957, 2137, 2305, 2490, 2708, 2835, 3040, 3299, 3540, 3660,
    3940, 4108, 4284,
];
/// The range of `UCI_Elo`.
pub(super) const ELO_RANGE: (i64, i64) = (ELO[0] as i64, ELO[FULL as usize] as i64);

/// How well to play: a level from 0 to below 20; `UCI_Elo` may fall between two levels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Skill(f64);

impl Skill {
    /// The level of `elo` if there is one, else `level`; none for full strength.
    pub fn of(level: i64, elo: Option<i32>) -> Option<Skill> {
        let level = elo.map_or(level as f64, level_of);
        (level < FULL as f64).then_some(Skill(level))
    }

    /// Limits a search to what the level sees.
    pub fn limit(self, limits: &mut Limits) {
        // the first iteration is finished in any case; up to level 9 it takes more than this
        let nodes = (200.0 * (self.0 / 3.0).exp2()) as u64;
        limits.nodes = Some(limits.nodes.map_or(nodes, |n| n.min(nodes)));
    }

    /// How many lines the move is drawn from.
    pub fn lines(self) -> usize {
        (64.0 * 0.83f64.powf(self.0)).round() as usize
    }

    /// The loss in win rate at which a move is played e times less often than the best one.
    fn tolerance(self) -> f64 {
        0.35 * 0.77f64.powf(self.0)
    }
}

/// The level of that Elo.
fn level_of(elo: i32) -> f64 {
    let above = ELO.iter().position(|e| *e > elo).unwrap_or(ELO.len());
    match above {
        0 => 0.0,
        n if n == ELO.len() => FULL as f64,
        n => (n - 1) as f64 + f64::from(elo - ELO[n - 1]) / f64::from(ELO[n] - ELO[n - 1]),
    }
}

/// What a score is worth, 0 to 1: the win rate, but a part of it on a scale so wide that a large lead can still grow.
fn worth(score: Value) -> f64 {
    let wide = if is_win(score.abs()) { score } else { score / 4 };
    (win_rate(score) + win_rate(wide)) / 2.0
}

/// The move that was chosen, and its line.
#[derive(Clone)]
pub(super) struct Choice {
    pub best: Move,
    pub ponder: Option<Move>,
    pub line: Info,
}

/// Stands between a search and the observer, and answers with a move of its own choice.
pub(super) struct SkillRelay {
    inner: Arc<dyn Observer>,
    skill: Skill,
    position: Position,
    /// How many lines the observer wants.
    shown: usize,
    lines: LastLines,
    choice: Mutex<Option<Choice>>,
}

impl SkillRelay {
    pub fn new(inner: Arc<dyn Observer>, skill: Skill, position: Position, shown: usize) -> SkillRelay {
        let (lines, choice) = Default::default();
        SkillRelay { inner, skill, position, shown, lines, choice }
    }

    /// What was played, once it was.
    pub fn choice(&self) -> Option<Choice> {
        self.choice.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Draws a line, given the best first.
    fn draw(&self, lines: &[Info], random: &mut Rng) -> usize {
        let (best, level) = (&lines[0], self.skill.0);
        let retakes = self.position.captured().is_some()
            && best.pv[0].to() == self.position.last_move().to()
            && self.position.is_capture(best.pv[0]);
        let mut sees = |all: f64| random.chance(level / all);
        if retakes && sees(SEES_RECAPTURES) || is_win(best.score) && sees(SEES_MATES) {
            return 0;
        }
        let weight = |line: &Info| {
            let loss = (worth(best.score) - worth(line.score)).max(0.0);
            if line.pv[0] != best.pv[0] && !self.position.see_ge(line.pv[0], -MOST_LOST) {
                return 0.0;
            }
            (-loss / self.skill.tolerance()).exp()
        };
        let weights: Vec<f64> = lines.iter().map(weight).collect();
        let unit = random.next_u64() as f64 / u64::MAX as f64;
        let mut left = unit * weights.iter().sum::<f64>();
        let drawn = weights.iter().position(|w| {
            left -= w;
            left < 0.0
        });
        drawn.unwrap_or(0)
    }
}

impl Observer for SkillRelay {
    fn info(&self, info: &Info) {
        self.lines.info(info);
        if info.multipv <= self.shown {
            self.inner.info(info);
        }
    }

    fn book(&self, line: &BookLine) {
        self.inner.book(line);
    }

    fn message(&self, text: &str) {
        self.inner.message(text);
    }

    fn best_move(&self, best: Move, ponder: Option<Move>) {
        let lines = self.lines.take();
        // resigning, a declared win, a move without a line
        if lines.first().is_none_or(|line| line.pv[0] != best) {
            return self.inner.best_move(best, ponder);
        }
        // games are to differ
        let seed = RandomState::new().hash_one(0);
        let drawn = self.draw(&lines, &mut Rng::new(seed));
        let line = Info { multipv: 1, ..lines[drawn].clone() };
        let choice = match drawn {
            0 => Choice { best, ponder, line },
            _ => {
                self.inner.info(&line);
                Choice { best: line.pv[0], ponder: line.pv.get(1).copied(), line }
            }
        };
        *self.choice.lock().unwrap_or_else(PoisonError::into_inner) = Some(choice.clone());
        self.inner.best_move(choice.best, choice.ponder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Bound, Silent};
    use crate::types::mate_in;

    fn relay(level: f64, sfen: &str) -> SkillRelay {
        SkillRelay::new(Arc::new(Silent), Skill(level), Position::from_sfen(sfen).unwrap(), 1)
    }

    /// How often each of the moves is drawn in a thousand times.
    fn counts(relay: &SkillRelay, lines: &[(&str, Value)]) -> Vec<usize> {
        let info = |(rank, (text, score)): (usize, &(&str, Value))| Info {
            depth: 1,
            seldepth: 1,
            multipv: rank + 1,
            score: *score,
            bound: Bound::Exact,
            nodes: 1,
            nps: 1,
            hashfull: 0,
            time_ms: 0,
            pv: vec![relay.position.parse_move(text).unwrap()],
            pv_end: None,
        };
        let lines: Vec<Info> = lines.iter().enumerate().map(info).collect();
        let mut random = Rng::new(1);
        let mut counts = vec![0; lines.len()];
        (0..1000).for_each(|_| counts[relay.draw(&lines, &mut random)] += 1);
        counts
    }

    #[test]
    fn moves_are_drawn_by_what_they_lose() {
        let lines = [("7g7f", 60), ("2g2f", 50), ("9g9f", -40), ("5i5h", -300)];
        let strong = counts(&relay(19.0, crate::position::STARTPOS), &lines);
        assert!(strong[0] > strong[1] && strong[1] > 100 && strong[2] < 10 && strong[3] == 0, "{strong:?}");
        let weak = counts(&relay(3.0, crate::position::STARTPOS), &lines);
        assert!(weak.iter().all(|n| *n > 50) && weak[0] > weak[3], "{weak:?}");
    }

    #[test]
    fn nothing_is_thrown_away_and_mates_are_seen_from_a_level_on() {
        // the rook could go where a pawn takes it
        let sfen = "4k4/9/9/4p4/9/9/9/4R4/4K4 b P 1";
        assert_eq!(counts(&relay(0.0, sfen), &[("5h4h", 300), ("5h5e", 290)])[1], 0);
        let sfen = "8k/9/8G/9/9/9/9/9/4K4 b G 1";
        let lines = [("G*1b", mate_in(1)), ("G*5e", 3000)];
        assert!(counts(&relay(3.0, sfen), &lines)[1] > 0);
        assert_eq!(counts(&relay(6.0, sfen), &lines)[1], 0);
    }

    #[test]
    fn what_was_taken_is_taken_back() {
        let mut position = Position::from_sfen("4k4/9/9/9/4p4/4P4/4R4/9/4K4 w - 1").unwrap();
        position.do_move(position.parse_move("5e5f").unwrap());
        let take_back = |level| {
            let relay = SkillRelay::new(Arc::new(Silent), Skill(level), position.clone(), 1);
            counts(&relay, &[("5g5f", 100), ("5i4h", 90)])[0]
        };
        assert!(take_back(1.0) < take_back(3.0) && take_back(3.0) < 1000);
        assert_eq!(take_back(4.0), 1000);
    }

    #[test]
    fn elo_and_levels_agree() {
        for (level, elo) in ELO.iter().enumerate() {
            assert_eq!(level_of(*elo), level as f64);
        }
        assert!(ELO.is_sorted());
        assert_eq!(Skill::of(FULL, None), None);
        assert_eq!(Skill::of(7, None), Some(Skill(7.0)));
        assert_eq!(Skill::of(7, Some(ELO[FULL as usize])), None);
        let between = Skill::of(FULL, Some(ELO[3] + (ELO[4] - ELO[3]) / 2));
        assert!(between.is_some_and(|s| (s.0 - 3.5).abs() < 0.02));
    }

    #[test]
    fn every_level_is_stronger_in_all_respects() {
        for level in 1..FULL {
            let (low, high) = (Skill((level - 1) as f64), Skill(level as f64));
            assert!(low.lines() >= high.lines() && low.tolerance() > high.tolerance());
            let nodes = |skill: Skill| {
                let mut limits = Limits::default();
                skill.limit(&mut limits);
                limits.nodes
            };
            assert!(nodes(low) <= nodes(high));
        }
    }
}
