//! The way of every number, as an SVG.

use super::Spsa;
use std::fmt::Write;

const COLUMNS: usize = 5;
const WIDTH: f64 = 230.0;
const HEIGHT: f64 = 120.0;
const MARGIN: f64 = 10.0;
/// Room for the name above a diagram.
const TITLE: f64 = 30.0;

/// One small diagram a number: its value over the run, a line at where it began. `path` holds the steps done and the numbers then.
/// The height of a diagram is four last perturbations, or more where a number went further.
pub fn svg(spsa: &Spsa, path: &[(u64, Vec<f64>)]) -> String {
    let rows = spsa.numbers.len().div_ceil(COLUMNS);
    let (width, height) = (COLUMNS as f64 * WIDTH, rows as f64 * HEIGHT);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (i, n) in spsa.numbers.iter().enumerate() {
        let (left, top) = ((i % COLUMNS) as f64 * WIDTH + MARGIN, (i / COLUMNS) as f64 * HEIGHT + TITLE);
        let (w, h) = (WIDTH - 2.0 * MARGIN, HEIGHT - TITLE - MARGIN);
        let start = f64::from(n.start);
        let furthest = path.iter().map(|(_, v)| (v[i] - start).abs()).fold(2.0 * n.perturbation, f64::max);
        let x = |step: u64| left + w * step as f64 / spsa.total.max(1) as f64;
        let y = |v: f64| top + h / 2.0 * (1.0 - (v - start) / furthest);
        let _ = writeln!(
            out,
            "<text x=\"{left}\" y=\"{:.1}\">{} {} → {:.1}</text>\
             <rect x=\"{left}\" y=\"{top}\" width=\"{w}\" height=\"{h}\" fill=\"none\" stroke=\"#ccc\"/>\
             <line x1=\"{left}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#ccc\"/>",
            top - 8.0,
            n.name,
            n.start,
            n.value,
            left + w,
            y(start),
            y(start)
        );
        let points: Vec<_> = path.iter().map(|(k, v)| format!("{:.1},{:.1}", x(*k), y(v[i]))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#08519c\" stroke-width=\"1.5\"/>",
            points.join(" ")
        );
    }
    out + "</svg>\n"
}
