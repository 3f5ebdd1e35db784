//! Reports of a match: a summary for people, one for programs.

use super::schedule::MatchSchedule;
use super::sprt::Decision;
use super::standings::Standings;
use super::tournament::{MatchEnd, Tournament};
use crate::support::messages::{self, list, word};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// The summary for people.
pub fn text(t: &Tournament, s: &Standings, ending: MatchEnd) -> String {
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
        let [none, half, one, one_and_half, two] = score.pairs.0;
        let _ = writeln!(out, ", {}", messages::pairs(two, one_and_half, one, half, none));
    }
    if t.engines.len() > 2 {
        let names: Vec<&str> = t.engines.iter().map(|engine| engine.name.as_str()).collect();
        out += &cross_table(&names, &t.schedule, s);
    }
    if let Some(sprt) = &t.sprt {
        let (llr, decision) = s.test(sprt);
        let (low, high) = sprt.bounds();
        let decision = match decision {
            Decision::H0 => messages::sprt_h0(sprt.elo0),
            Decision::H1 => messages::sprt_h1(sprt.elo1),
            Decision::Continue => messages::sprt_open(),
        };
        let model = format!("{:?}", sprt.model).to_lowercase();
        let _ = writeln!(
            out,
            "SPRT [{}, {}] {model}: LLR {llr:.2} ({low:.2}, {high:.2}), {decision}",
            sprt.elo0, sprt.elo1
        );
    }
    let [black, draws, white] = s.colors;
    let reasons = list(s.reasons.iter().map(|(reason, n)| format!("{} {n}", word(reason))));
    let plies = s.plies as f64 / s.games.max(1) as f64;
    let _ = writeln!(out, "{}", messages::match_summary(s.games, plies, black, white, draws, reasons));
    for (i, c) in s.engines.iter().enumerate().filter(|(_, c)| c.games > 0) {
        let per_move = |n: f64| n / c.moves.max(1) as f64;
        let faults = list(c.faults.iter().map(|(fault, n)| format!("{n} {}", word(fault))));
        let faults = if faults.is_empty() { messages::no_faults() } else { faults };
        let (nodes, ms, speed) = (per_move(c.nodes as f64), per_move(c.ms), c.nodes_per_second());
        let summary = messages::engine_summary(name(i), c.mean_depth(), nodes, ms, speed, faults);
        let _ = writeln!(out, "{summary}");
    }
    if ending == MatchEnd::Interrupted {
        let _ = writeln!(out, "{}", messages::interrupted());
    }
    out
}

/// The engines by rating, and the points and games of each against each.
fn cross_table(names: &[&str], schedule: &MatchSchedule, s: &Standings) -> String {
    let mut table: Vec<_> = s.ratings(schedule).into_iter().enumerate().collect();
    table.sort_by(|a, b| b.1.0.total_cmp(&a.1.0));
    let result = |a: usize, b: usize| {
        let mut pairings = s.scores.iter().zip(&schedule.pairings).filter(|(score, _)| score.games() > 0);
        let (score, &(first, _)) = pairings.find(|(_, pair)| **pair == (a, b) || **pair == (b, a))?;
        let points = if first == a { score.points() } else { score.games() as f64 - score.points() };
        Some(format!("{points}/{}", score.games()))
    };
    let cell = |a: usize, b: usize| if a == b { "*".into() } else { result(a, b).unwrap_or_default() };
    let wide = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut out = format!("{:1$}{2:>16}", "", wide + 4, "Elo");
    for rank in 1..=table.len() {
        let _ = write!(out, " {rank:>10}");
    }
    out.push('\n');
    for (rank, &(i, (rating, error))) in table.iter().enumerate() {
        let _ = write!(out, "{:2}. {:wide$} {rating:+7.1} ± {error:5.1}", rank + 1, names[i]);
        for &(j, _) in &table {
            let _ = write!(out, " {:>10}", cell(i, j));
        }
        out.push('\n');
    }
    out
}

/// The summary for programs.
pub fn json(t: &Tournament, s: &Standings, ending: MatchEnd, settings: &Json) -> Json {
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
            MatchEnd::AllPlayed => "all played",
            MatchEnd::Decided(_) => "decided",
            MatchEnd::Interrupted => "interrupted",
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::schedule::PairingMode;
    use crate::arena::standings::PairingScore;
    use crate::record::openings::Opening;

    #[test]
    fn the_cross_table_has_each_against_each() {
        let schedule = MatchSchedule::new(3, PairingMode::Gauntlet, 2, vec![Opening::startpos()], 1);
        let mut standings = Standings::new(&schedule);
        for (score, (wins, draws, losses)) in standings.scores.iter_mut().zip([(1, 1, 2), (4, 0, 0)]) {
            *score = PairingScore { wins, draws, losses, ..PairingScore::default() };
        }
        let table = cross_table(&["old", "newest", "x"], &schedule, &standings);
        let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["Elo", "1", "2", "3"]);
        // the second and third engines do not meet in a gauntlet
        let after_elo = |row: usize| &rows[row][5..];
        assert_eq!((rows[1][1], after_elo(1)), ("newest", &["*", "2.5/4"][..]), "{table}");
        assert_eq!((rows[2][1], after_elo(2)), ("old", &["1.5/4", "*", "4/4"][..]));
        assert_eq!((rows[3][1], after_elo(3)), ("x", &["0/4", "*"][..]));
        let width = |row: &str| row.chars().count();
        assert!(table.lines().all(|row| width(row) == width(table.lines().next().unwrap())), "{table}");
    }
}
