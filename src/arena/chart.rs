//! The chart of a match: [`svg`].

use super::estimate::Estimate;
use super::journal::GameLine;
use super::standings::Standings;
use super::tournament::Tournament;
use crate::support::chart::{self, COLORS, Curve, Panel};

/// A point of the curves: the estimate after `games` games.
struct Point {
    games: f64,
    estimate: Estimate,
    llr: f64,
}

/// Maximum number of points of a curve.
const POINTS: u64 = 400;

/// Draws Elo with its 95 % band and, if there is a test, the log-likelihood ratio with its bounds, over the
/// games of the first pairing in the order in which they ended.
pub fn svg(t: &Tournament, games: &[GameLine]) -> String {
    let points = points(t, games);
    let (a, b) = t.schedule.pairings[0];
    // the scale is that of the later, narrower part of the band
    let settled = &points[points.len() / 4..];
    let bounded = |v: f64| v.clamp(-1200.0, 1200.0);
    let low = settled.iter().map(|p| bounded(p.estimate.low)).fold(-10.0, f64::min);
    let high = settled.iter().map(|p| bounded(p.estimate.high)).fold(10.0, f64::max);
    let mut panels = vec![Panel {
        title: format!("{} - {}: Elo by games played", t.engines[a].name, t.engines[b].name),
        curves: vec![Curve {
            color: COLORS[0],
            points: points.iter().map(|p| (p.games, p.estimate.elo)).collect(),
            // an infinite end is drawn outside the picture
            band: points
                .iter()
                .map(|p| (p.games, bounded(p.estimate.low), bounded(p.estimate.high)))
                .collect(),
            ..Curve::default()
        }],
        marks: vec![0.0],
        y_range: Some((low, high)),
        ..Panel::default()
    }];
    if let Some(sprt) = &t.sprt {
        let (lower, upper) = sprt.bounds();
        panels.push(Panel {
            title: format!("Log-likelihood ratio of {} to {} Elo", sprt.elo1, sprt.elo0),
            curves: vec![Curve {
                color: COLORS[2],
                points: points.iter().map(|p| (p.games, p.llr)).collect(),
                ..Curve::default()
            }],
            marks: vec![lower, upper],
            ..Panel::default()
        });
    }
    chart::svg(&panels, 1, (900, 320))
}

fn points(t: &Tournament, games: &[GameLine]) -> Vec<Point> {
    let mut standings = Standings::new(&t.schedule);
    let step = (games.len() as u64 / POINTS).max(1);
    let mut points = Vec::new();
    for (i, game) in games.iter().enumerate() {
        standings.add(&t.schedule, game);
        let score = &standings.scores[0];
        // the first few games mean nothing and would stretch the scale
        let tells = score.pairs.pairs() >= 4 && (i as u64).is_multiple_of(step) || i + 1 == games.len();
        if let (true, Some(estimate)) = (tells, score.estimate()) {
            let llr = t.sprt.map_or(0.0, |s| s.llr(&score.pairs));
            points.push(Point { games: score.games() as f64, estimate, llr });
        }
    }
    points
}
