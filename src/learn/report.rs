//! The loop's report: an HTML page with charts and tables, rewritten after every stage.

use super::directory::Directory;
use super::generation::{Generation, Plan};
use crate::resume::ResumeError;
use crate::support::chart::{COLORS, Curve, PALETTE, Panel, svg};
use crate::support::console::clock;
use std::fmt::Write;

/// In the looks of the page of `analyse`.
const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;max-width:1260px;margin:1em auto;padding:0 1em;\
color:var(--fg);background:var(--ground)}h1{font-size:1.15rem}h2{font-size:.95rem;color:var(--dim)}\
section{background:var(--card);border:1px solid var(--edge);border-radius:8px;padding:.2em 1em 1em;margin:1em 0}\
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.25em .5em;\
text-align:right;border-bottom:1px solid var(--edge);white-space:nowrap}th{font-weight:600;color:var(--dim)}\
.refused td{color:var(--dim)}\
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,480px),1fr));gap:8px}svg{width:100%;height:auto}summary{cursor:pointer;padding-top:.6em}pre{overflow-x:auto}";

/// Writes `report.html`. `present` is the present generation and its next stage.
pub fn write(
    directory: &Directory,
    all: &[Generation],
    present: Option<(&Plan, &str)>,
) -> Result<(), ResumeError> {
    directory.write("report.html", html(all, present))
}

/// Elo over the start with a 95 % interval: the sum over the promoted generations, with independent errors.
fn ladder(all: &[Generation]) -> Vec<(u32, f64, f64, f64)> {
    let mut rungs = vec![(0, 0.0, 0.0, 0.0)];
    for g in all {
        let Some([elo, low, high]) = g.judged.elo else { continue };
        let finite = |x: f64| if x.is_finite() { x.clamp(-1200.0, 1200.0) } else { 1200f64.copysign(x) };
        let (elo, low, high) = (finite(elo), finite(low), finite(high));
        let &(_, base, below, above) = rungs.iter().rev().find(|r| r.0 == g.plan.player).unwrap_or(&rungs[0]);
        let add = |a: f64, b: f64| (a * a + b * b).sqrt();
        rungs.push((g.plan.number, base + elo, add(below, elo - low), add(above, high - elo)));
    }
    rungs
}

/// The page.
pub fn html(all: &[Generation], present: Option<(&Plan, &str)>) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>Toratsugumi: the learning loop</title><style>{PALETTE}{STYLE}</style></head><body>\n\
         <h1>The learning loop</h1>\n"
    );
    let positions: u64 = all.iter().map(|g| g.played.positions).sum();
    let seconds: f64 = all.iter().map(|g| g.played.seconds + g.trained.seconds + g.judged.seconds).sum();
    let promoted = all.iter().filter(|g| g.judged.promoted).count();
    let _ = writeln!(
        out,
        "<p>{} generation{} ended, {promoted} promoted; {positions} positions, {} of self-play, training and matches.{}</p>",
        all.len(),
        if all.len() == 1 { "" } else { "s" },
        clock(seconds),
        present.map_or(String::new(), |(plan, stage)| format!(
            " Generation {} is under way; next is {stage}.",
            plan.number
        )),
    );
    if !all.is_empty() {
        let _ = writeln!(
            out,
            "<section><h2>Strength and losses</h2>\n<div class=\"charts\">{}</div></section>",
            pictures(all)
        );
        out += &table(all);
        out += &settings(all);
    }
    out + "</body></html>\n"
}

fn pictures(all: &[Generation]) -> String {
    let x = |g: &Generation| f64::from(g.plan.number);
    let line = |name: &str, color: usize, value: &dyn Fn(&Generation) -> Option<f64>| Curve {
        name: name.into(),
        color: COLORS[color],
        points: all.iter().filter_map(|g| Some((x(g), value(g)?))).collect(),
        dots: true,
        ..Curve::default()
    };
    let panel = |title: &str, curves: Vec<Curve>| Panel {
        title: title.into(),
        x_label: "generation".into(),
        whole_x: true,
        curves,
        ..Panel::default()
    };
    // a scale from zero does not exaggerate differences
    let from_zero = |title: &str, curves: Vec<Curve>| Panel { marks: vec![0.0], ..panel(title, curves) };
    let rungs = ladder(all);
    let promoted = |n: u32| n == 0 || all.iter().any(|g| g.plan.number == n && g.judged.promoted);
    let elo = Curve {
        color: COLORS[0],
        points: rungs.iter().filter(|r| promoted(r.0)).map(|r| (f64::from(r.0), r.1)).collect(),
        bars: rungs.iter().filter(|r| r.0 > 0).map(|r| (f64::from(r.0), r.1 - r.2, r.1, r.1 + r.3)).collect(),
        dots: true,
        ..Curve::default()
    };
    let mut panels = vec![
        panel("Elo over the start, 95 % intervals", vec![elo]),
        panel(
            "Validation and training loss",
            vec![
                line("validation", 1, &|g| g.trained.validation),
                line("training", 0, &|g| Some(g.trained.training)),
            ],
        ),
        from_zero(
            "Positions so far, millions",
            vec![line("", 2, &|g| {
                let until = all.iter().filter(|other| other.plan.number <= g.plan.number);
                Some(until.map(|g| g.played.positions).sum::<u64>() as f64 / 1e6)
            })],
        ),
        from_zero(
            "Positions a second of self-play",
            vec![line("", 2, &|g| Some(g.played.positions as f64 / g.played.seconds.max(1e-3)))],
        ),
    ];
    if all.iter().any(|g| g.judged.named.is_some()) {
        panels.push(panel(
            "Winners predicted by the evaluation, %",
            vec![Curve {
                bars: all
                    .iter()
                    .filter_map(|g| {
                        g.judged.named.map(|[s, e, _]| (x(g), 100.0 * (s - e), 100.0 * s, 100.0 * (s + e)))
                    })
                    .collect(),
                ..line("", 3, &|g| g.judged.named.map(|n| 100.0 * n[0]))
            }],
        ));
    }
    if all.iter().any(|g| g.trained.king_change.is_some()) {
        panels.push(from_zero(
            "Change specific to a king square, in 1/127",
            vec![line("", 3, &|g| g.trained.king_change)],
        ));
    }
    panels.push(from_zero(
        "Minutes",
        vec![
            line("self-play", 2, &|g| Some(g.played.seconds / 60.0)),
            line("training", 0, &|g| Some(g.trained.seconds / 60.0)),
            line("match", 1, &|g| Some(g.judged.seconds / 60.0)),
        ],
    ));
    // each alone, so that a narrow page shows them one below the other
    panels.into_iter().map(|panel| svg(&[panel], 1, (440, 270))).collect()
}

fn table(all: &[Generation]) -> String {
    let mut out = String::from(
        "<section><h2>Generations</h2>\n<div class=\"wide\"><table><tr><th>Generation</th><th></th><th>Elo</th><th>Match</th>\
         <th>Winners predicted</th><th>Validation</th><th>Training</th><th>RMSE</th><th>King squares</th><th>Games by</th><th>Games</th>\
         <th>Positions</th><th>Fit</th><th>Inside searches</th><th>Passes</th><th>Minutes</th></tr>\n",
    );
    for g in all {
        let (p, t, j) = (&g.played, &g.trained, &g.judged);
        let cells = [
            g.plan.number.to_string(),
            if j.promoted { "promoted" } else { "refused" }.into(),
            j.elo_text().unwrap_or_default(),
            if j.elo.is_some() { format!("+{} ={} -{}", j.wins, j.draws, j.losses) } else { "none".into() },
            j.named.map_or(String::new(), |n| format!("{:.1} % ± {:.1}", 100.0 * n[0], 100.0 * n[1])),
            t.validation.map_or(String::new(), |loss| format!("{loss:.5}")),
            format!("{:.5}", t.training),
            t.rmse.map_or(String::new(), |rmse| format!("{rmse:.4}")),
            t.king_change.map_or(String::new(), |change| format!("{change:.2}")),
            g.plan.player.to_string(),
            p.games.to_string(),
            p.positions.to_string(),
            p.fit.to_string(),
            p.inside.to_string(),
            g.plan.config.train.passes.to_string(),
            format!("{:.1} + {:.1} + {:.1}", p.seconds / 60.0, t.seconds / 60.0, j.seconds / 60.0),
        ];
        let class = if j.promoted { "" } else { " class=\"refused\"" };
        let _ = writeln!(out, "<tr{class}><td>{}</td></tr>", cells.join("</td><td>"));
    }
    out + "</table></div>\n<p>Losses are mean divergences from the targets in nats. King squares: how far the weights that \
           belong to single king squares lie from those of the player, as a root mean square in 1/127; up to 0.4 \
           may be rounding alone. Minutes: self-play (all shards), training, match.</p></section>\n"
}

/// The settings of the last generation.
fn settings(all: &[Generation]) -> String {
    let Some(last) = all.last() else { return String::new() };
    let text = serde_json::to_string_pretty(&last.plan.config).unwrap_or_default();
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<section><details><summary>Settings of generation {}</summary>\n<pre>{text}</pre></details></section>\n",
        last.plan.number
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::estimate::Estimate;
    use crate::learn::generation::example::generation;

    #[test]
    fn elo_adds_up_along_promoted_players() {
        let all = [
            generation(1, 0, Some([50.0, 20.0, 80.0]), true),
            generation(2, 1, Some([-30.0, -60.0, 0.0]), false),
            generation(3, 1, Some([40.0, 0.0, 80.0]), true),
        ];
        let rungs = ladder(&all);
        assert_eq!(
            rungs.iter().map(|r| (r.0, r.1)).collect::<Vec<_>>(),
            [(0, 0.0), (1, 50.0), (2, 20.0), (3, 90.0)]
        );
        assert_eq!(rungs[3].2, 50.0);
        let page = html(&all, None);
        assert!(page.contains("3 generations ended, 2 promoted") && page.contains("<svg"));
        assert!(page.contains("<details>") && page.contains("<th>Games by</th>"));
        // what a generation is worth stands first, and every chart alone
        assert!(page.contains("<td>1</td><td>promoted</td><td>+50"));
        assert_eq!(page.matches("<svg").count(), 7);
        assert!(page.contains("<td>0.1000</td><td>1.25</td>"), "{page}");
        // a generation of an earlier version lacks the number
        let mut old = all.clone();
        old.iter_mut().for_each(|g| g.trained.king_change = None);
        assert_eq!(html(&old, None).matches("<svg").count(), 6);
        assert!(page.contains("class=\"refused\"><td>2</td>"));
        assert!(
            !page.contains("http://")
                || page.matches("http").count() == page.matches("http://www.w3.org").count()
        );
    }

    #[test]
    fn one_sided_results_appear_in_the_report() {
        let elo = |wins, losses| Estimate::of_games(wins, 0, losses).map(|e| [e.elo, e.low, e.high]);
        let all = [generation(1, 0, elo(2, 0), true), generation(2, 1, elo(0, 2), false)];
        let rungs = ladder(&all);
        assert!(rungs.iter().all(|r| r.1.is_finite() && r.2.is_finite() && r.3.is_finite()), "{rungs:?}");
        assert!(rungs[1].1 > 0.0 && rungs[2].1 < rungs[1].1, "{rungs:?}");
        let page = html(&all, None);
        for part in ["<td>above -216</td>", "<td>below +216</td>"] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        assert!(!page.contains("inf") && !page.contains("NaN"));
    }
}
