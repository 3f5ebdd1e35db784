//! What a run leaves to look at: a CSV log and an SVG of its losses.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// One line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    pub step: u32,
    /// Passes over the data done.
    pub epochs: f64,
    pub positions: u64,
    pub seconds: f64,
    pub rate: f64,
    pub lambda: f64,
    /// Mean divergence from the targets since the last line, and on the validation set, in nats.
    pub training: f64,
    pub validation: f64,
    /// Root mean square error of the win rate on the validation set.
    pub rmse: f64,
    /// Share of decisive validation positions whose winner the sign of the output names.
    pub accuracy: f64,
}

/// The log as CSV.
pub fn csv(log: &[Entry]) -> String {
    let mut out =
        String::from("step,epochs,positions,seconds,rate,lambda,training,validation,rmse,accuracy\n");
    for e in log {
        let _ = writeln!(
            out,
            "{},{:.4},{},{:.1},{:.3e},{:.4},{:.6},{:.6},{:.6},{:.6}",
            e.step,
            e.epochs,
            e.positions,
            e.seconds,
            e.rate,
            e.lambda,
            e.training,
            e.validation,
            e.rmse,
            e.accuracy
        );
    }
    out
}

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 420.0;
/// Left, right, top, bottom.
const MARGIN: [f64; 4] = [70.0, 20.0, 30.0, 45.0];

/// Both losses over positions, logarithmic upwards.
pub fn svg(log: &[Entry]) -> String {
    let values = || {
        log.iter().flat_map(|e| [e.training, e.validation]).filter(|x| x.is_finite() && *x > 0.0).map(f64::ln)
    };
    let (low, high) = values().fold((f64::MAX, f64::MIN), |(a, b), x| (a.min(x), b.max(x)));
    let (low, high) = if low < high { (low, high) } else { (-1.0, 0.0) };
    let end = log.last().map_or(1.0, |e| e.positions.max(1) as f64);
    let x = |p: f64| MARGIN[0] + p / end * (WIDTH - MARGIN[0] - MARGIN[1]);
    let y = |v: f64| HEIGHT - MARGIN[3] - (v - low) / (high - low) * (HEIGHT - MARGIN[2] - MARGIN[3]);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    for i in 0..=4 {
        let (v, p) = (low + (high - low) * i as f64 / 4.0, end * i as f64 / 4.0);
        let (left, right, bottom) = (MARGIN[0], WIDTH - MARGIN[1], HEIGHT - MARGIN[3] + 18.0);
        let (height, place, loss, millions) = (y(v), x(p), v.exp(), p / 1e6);
        let (text_left, text_height) = (left - 6.0, height + 4.0);
        let _ = writeln!(
            out,
            "<line x1=\"{left:.1}\" x2=\"{right:.1}\" y1=\"{height:.1}\" y2=\"{height:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{text_left:.1}\" y=\"{text_height:.1}\" text-anchor=\"end\">{loss:.4}</text>\
             <text x=\"{place:.1}\" y=\"{bottom:.1}\" text-anchor=\"middle\">{millions:.1} M</text>",
        );
    }
    let mut curve = |name: &str, color: &str, row: f64, value: fn(&Entry) -> f64| {
        let points: String = log
            .iter()
            .filter(|e| value(e).is_finite() && value(e) > 0.0)
            .map(|e| format!("{:.1},{:.1} ", x(e.positions as f64), y(value(e).ln())))
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{color}\">{name}</text>",
            WIDTH - MARGIN[1] - 6.0,
            MARGIN[2] + row,
        );
    };
    curve("training", "#3b6fb6", 0.0, |e| e.training);
    curve("validation", "#c0392b", 16.0, |e| e.validation);
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">positions</text>\
         <text x=\"{:.1}\" y=\"18\">loss (nats above the targets' entropy)</text>\n</svg>",
        WIDTH / 2.0,
        HEIGHT - 8.0,
        MARGIN[0],
    );
    out
}
