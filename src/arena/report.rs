//! Reports of a match: a summary for people, one for programs, a diagram.

use super::estimate::Estimate;
use super::journal::GameLine;
use super::sprt::{Decision, Sprt};
use super::standings::Standings;
use super::tournament::{Ending, Tournament};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// The summary for people.
pub fn text(t: &Tournament, s: &Standings, ending: Ending) -> String {
    let mut out = String::new();
    let name = |i: usize| t.engines[i].name.as_str();
    // writing to a string cannot fail
    for (score, &(a, b)) in s.scores.iter().zip(&t.schedule.pairings) {
        if score.games() == 0 {
            continue;
        }
        let _ = write!(out, "{} - {}: +{} ={} -{}", name(a), name(b), score.wins, score.draws, score.losses);
        if let Some(e) = score.estimate() {
            let _ = write!(
                out,
                ", {:.1} %, {e}{}, LOS {:.2} %",
                100.0 * e.score,
                e.normalised.map(|n| format!(", nElo {n:+.1}")).unwrap_or_default(),
                100.0 * e.los
            );
        }
        let _ = writeln!(out, ", pairs {:?}", score.pairs.0);
    }
    if t.engines.len() > 2 {
        let mut table: Vec<_> = s.ratings(&t.schedule).into_iter().enumerate().collect();
        table.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
        for (rank, (i, (rating, error))) in table.into_iter().enumerate() {
            let _ = writeln!(out, "{:2}. {:20} {rating:+7.1} ± {error:.1}", rank + 1, name(i));
        }
    }
    if let Some(sprt) = &t.sprt {
        let (llr, decision) = s.test(sprt);
        let (low, high) = sprt.bounds();
        let decision = match decision {
            Decision::H0 => format!("accepted: no more than {} Elo", sprt.elo0),
            Decision::H1 => format!("accepted: at least {} Elo", sprt.elo1),
            Decision::Continue => "undecided".into(),
        };
        let model = format!("{:?}", sprt.model).to_lowercase();
        let _ = writeln!(
            out,
            "SPRT [{}, {}] {model}: LLR {llr:.2} ({low:.2}, {high:.2}), {decision}",
            sprt.elo0, sprt.elo1
        );
    }
    let [black, draws, white] = s.colors;
    let reasons: Vec<_> = s.reasons.iter().map(|(r, n)| format!("{r} {n}")).collect();
    let _ = writeln!(
        out,
        "{} games of {:.0} moves; Black wins {black}, White {white}, {draws} draws; {}",
        s.games,
        s.plies as f64 / s.games.max(1) as f64,
        reasons.join(", ")
    );
    for (i, c) in s.engines.iter().enumerate().filter(|(_, c)| c.games > 0) {
        let per_move = |n: f64| n / c.moves.max(1) as f64;
        let faults: Vec<_> = c.faults.iter().map(|(f, n)| format!("{n} {f}")).collect();
        let faults = if faults.is_empty() { "no faults".into() } else { faults.join(", ") };
        let _ = writeln!(
            out,
            "{}: depth {:.1}, {:.0} nodes and {:.1} ms a move, {:.0} nodes/s; {faults}",
            name(i),
            c.mean_depth(),
            per_move(c.nodes as f64),
            per_move(c.ms),
            c.nodes_per_second()
        );
    }
    if ending == Ending::Interrupted {
        out += "interrupted\n";
    }
    out
}

/// The summary for programs.
pub fn json(t: &Tournament, s: &Standings, ending: Ending, settings: &Json) -> Json {
    let pairings = s.scores.iter().zip(&t.schedule.pairings).map(|(score, &(a, b))| {
        json!({
            "first": t.engines[a].name,
            "second": t.engines[b].name,
            "games": score.games(),
            "wins": score.wins,
            "draws": score.draws,
            "losses": score.losses,
            "pentanomial": score.pairs.0,
            "estimate": score.estimate(),
        })
    });
    let engines = s.engines.iter().zip(&t.engines).zip(s.ratings(&t.schedule)).map(|((c, spec), rating)| {
        json!({
            "name": spec.name,
            "rating": rating.0,
            "rating_error": rating.1,
            "games": c.games,
            "moves": c.moves,
            "nodes": c.nodes,
            "milliseconds": c.ms,
            "mean_depth": c.mean_depth(),
            "nodes_per_second": c.nodes_per_second(),
            "faults": c.faults,
        })
    });
    let sprt = t.sprt.map(|sprt| {
        let (llr, decision) = s.test(&sprt);
        json!({"test": sprt, "llr": llr, "bounds": sprt.bounds(), "decision": decision})
    });
    json!({
        "ending": match ending {
            Ending::AllPlayed => "all played",
            Ending::Decided(_) => "decided",
            Ending::Interrupted => "interrupted",
        },
        "games": s.games,
        "scheduled": t.schedule.len(),
        "pairings": pairings.collect::<Vec<_>>(),
        "sprt": sprt,
        "engines": engines.collect::<Vec<_>>(),
        "reasons": s.reasons,
        "black_wins": s.colors[0],
        "color_draws": s.colors[1],
        "white_wins": s.colors[2],
        "mean_plies": s.plies as f64 / s.games.max(1) as f64,
        "settings": settings,
    })
}

/// A point of the diagram: after so many games.
struct Point {
    games: u64,
    estimate: Estimate,
    llr: f64,
}

const WIDTH: f64 = 900.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 20.0;
/// Points a curve has at most.
const POINTS: u64 = 400;

/// Elo with its 95 % band, and below it the log-likelihood ratio between its bounds if there is a test, over the games
/// of the first pairing in the order in which they ended.
pub fn svg(t: &Tournament, games: &[GameLine]) -> String {
    let mut standings = Standings::new(&t.schedule);
    let step = (games.len() as u64 / POINTS).max(1);
    let mut points = Vec::new();
    for (i, game) in games.iter().enumerate() {
        standings.add(&t.schedule, game);
        let score = &standings.scores[0];
        // the wide intervals of the first games would stretch the scale
        let tells = score.pairs.pairs() >= 4 && (i as u64).is_multiple_of(step) || i + 1 == games.len();
        if let (true, Some(estimate)) = (tells, score.estimate()) {
            let llr = t.sprt.map_or(0.0, |s| s.llr(&score.pairs));
            points.push(Point { games: score.games(), estimate, llr });
        }
    }
    let height = if t.sprt.is_some() { 620.0 } else { 400.0 };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let (a, b) = t.schedule.pairings[0];
    let title = format!("{} - {}: Elo by games played", t.engines[a].name, t.engines[b].name);
    let last = points.last().map_or(1.0, |p| p.games.max(1) as f64);
    let bounded = |v: f64| v.clamp(-1200.0, 1200.0);
    // the scale is that of the later, narrower part of the band
    let settled = &points[points.len() / 4..];
    let low = settled.iter().map(|p| bounded(p.estimate.low)).fold(-10.0, f64::min);
    let high = settled.iter().map(|p| bounded(p.estimate.high)).fold(10.0, f64::max);
    let mut elo = Panel { top: 40.0, bottom: 360.0, low, high, last };
    elo.frame(&mut out, &title);
    let band: Vec<_> = points
        .iter()
        .map(|p| (p.games, p.estimate.low))
        .chain(points.iter().rev().map(|p| (p.games, p.estimate.high)))
        .collect();
    elo.curve(&mut out, "polygon", &band, "fill=\"#9ecae1\" fill-opacity=\"0.5\"");
    let line: Vec<_> = points.iter().map(|p| (p.games, p.estimate.elo)).collect();
    elo.curve(&mut out, "polyline", &line, "fill=\"none\" stroke=\"#08519c\" stroke-width=\"2\"");
    if let Some(sprt) = &t.sprt {
        let (lower, upper) = sprt.bounds();
        let least = points.iter().map(|p| p.llr).fold(lower, f64::min);
        let most = points.iter().map(|p| p.llr).fold(upper, f64::max);
        let mut llr = Panel { top: 420.0, bottom: 580.0, low: least * 1.1, high: most * 1.1, last };
        llr.frame(&mut out, &test_title(sprt));
        for bound in [lower, upper] {
            let y = llr.y(bound);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#cb181d\" stroke-dasharray=\"6 4\"/>",
                WIDTH - RIGHT
            );
        }
        let line: Vec<_> = points.iter().map(|p| (p.games, p.llr)).collect();
        llr.curve(&mut out, "polyline", &line, "fill=\"none\" stroke=\"#238b45\" stroke-width=\"2\"");
    }
    out + "</svg>\n"
}

fn test_title(sprt: &Sprt) -> String {
    format!("Log-likelihood ratio of {} to {} Elo", sprt.elo1, sprt.elo0)
}

/// One diagram of the picture.
struct Panel {
    top: f64,
    bottom: f64,
    low: f64,
    high: f64,
    last: f64,
}

impl Panel {
    fn x(&self, games: u64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * games as f64 / self.last
    }

    fn y(&self, value: f64) -> f64 {
        let part = (value - self.low) / (self.high - self.low);
        self.bottom - (self.bottom - self.top) * part.clamp(0.0, 1.0)
    }

    /// Title, axes, and lines at round values.
    fn frame(&mut self, out: &mut String, title: &str) {
        let title = title.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\" font-size=\"15\">{title}</text>", self.top - 12.0);
        let right = WIDTH - RIGHT;
        let mut value = round_step(self.high - self.low);
        let step = value;
        value *= (self.low / step).ceil();
        while value <= self.high {
            let y = self.y(value);
            let color = if value.abs() < step / 2.0 { "#555" } else { "#ddd" };
            // sums of steps that should be zero may be -1e-15
            let shown = if value.abs() < step / 2.0 { 0.0 } else { value };
            let label = if step < 1.0 { format!("{shown:.1}") } else { format!("{shown:.0}") };
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"{color}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                LEFT - 6.0,
                y + 4.0
            );
            value += step;
        }
        let step = round_step(self.last).max(1.0);
        let mut games = 0.0;
        while games <= self.last {
            let x = self.x(games as u64);
            let _ = writeln!(
                out,
                "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{games:.0}</text>",
                self.bottom + 18.0
            );
            games += step;
        }
    }

    fn curve(&self, out: &mut String, shape: &str, points: &[(u64, f64)], style: &str) {
        let points: Vec<_> =
            points.iter().map(|&(g, v)| format!("{:.1},{:.1}", self.x(g), self.y(v))).collect();
        let _ = writeln!(out, "<{shape} points=\"{}\" {style}/>", points.join(" "));
    }
}

/// 1, 2 or 5 times a power of ten, so that about five to ten steps make the range.
fn round_step(range: f64) -> f64 {
    let raw = (range / 7.0).max(1e-6);
    let power = 10f64.powf(raw.log10().floor());
    match raw / power {
        m if m < 1.5 => power,
        m if m < 3.5 => 2.0 * power,
        m if m < 7.5 => 5.0 * power,
        _ => 10.0 * power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        for (range, step) in [(7.0, 1.0), (100.0, 10.0), (150.0, 20.0), (0.5, 0.05), (4000.0, 500.0)] {
            assert!((round_step(range) - step).abs() < 1e-9, "{range}: {}", round_step(range));
        }
    }
}
