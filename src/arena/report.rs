//! Reports of a match: a summary for people, one for programs.

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
        let _ = writeln!(out, ", {}", messages::pairs(format_args!("{:?}", score.pairs.0)));
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
