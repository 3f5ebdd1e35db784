//! The course of a game as a picture: Black's win rate over the moves, with the bad moves marked.

use super::judge::Class;
use super::report::Report;
use std::fmt::Write;

/// Size of the picture in its own units, and of the part that shows the curve.
pub const WIDTH: f64 = 800.0;
/// Height of the picture, in its units.
pub const HEIGHT: f64 = 240.0;
/// Where the curve begins.
pub const LEFT: f64 = 40.0;
/// Where the curve ends.
pub const RIGHT: f64 = 788.0;
/// Where Black's win rate is 1.
pub const TOP: f64 = 10.0;
/// Where Black's win rate is 0.
pub const BOTTOM: f64 = 214.0;

/// The CSS variable for the colour of a class's marks: `--best`, `--good`, and so on.
pub fn color(class: Class) -> &'static str {
    match class {
        Class::Best => "var(--best)",
        Class::Good => "var(--good)",
        Class::Inaccuracy => "var(--inaccuracy)",
        Class::Mistake => "var(--mistake)",
        Class::Blunder => "var(--blunder)",
    }
}

/// The colours of an SVG file: programs other than browsers do not know CSS variables.
const COLORS: [(&str, &str); 9] = [
    ("var(--fg)", "#333"),
    ("var(--grid)", "#ccc"),
    ("var(--area)", "#dfe6f0"),
    ("var(--line)", "#1f5fa8"),
    ("var(--best)", "#1f7a45"),
    ("var(--good)", "#4f6f7e"),
    ("var(--inaccuracy)", "#c79a00"),
    ("var(--mistake)", "#e06c00"),
    ("var(--blunder)", "#d62f2f"),
];

/// The horizontal place of the position after `plies` moves.
fn x(plies: usize, of: usize) -> f64 {
    LEFT + (RIGHT - LEFT) * plies as f64 / of.max(1) as f64
}

fn y(win_rate: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * win_rate
}

/// The picture as a file of its own, on white.
pub fn svg(report: &Report<'_>) -> String {
    let open = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">"
    );
    let ground = "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>";
    let drawn = COLORS.iter().fold(inner(report), |text, (name, color)| text.replace(name, color));
    format!("{open}{ground}{drawn}</svg>\n")
}

/// The contents of the `svg` element. Colours are CSS variables: `--fg`, `--grid`, `--area`, `--line`, and
/// those of the classes.
pub fn inner(report: &Report<'_>) -> String {
    let count = report.moves.len();
    let lang = report.words;
    let mut out = String::new();
    let label = lang.pick("先手の勝率の推移", "Black's win rate over the game");
    // writing to a string cannot fail
    let _ = write!(out, "<title>{label}</title>");
    for percent in [0, 25, 50, 75, 100] {
        let at = y(f64::from(percent) / 100.0);
        let width = if percent == 50 { 1.5 } else { 0.7 };
        let _ = write!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"var(--grid)\" stroke-width=\"{width}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"var(--fg)\">{percent}</text>",
            LEFT - 6.0,
            at + 4.0
        );
    }
    let step = [10, 20, 25, 50, 100, 200, 500].into_iter().find(|s| count / s <= 10).unwrap_or(1000);
    for plies in (0..=count).step_by(step) {
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"var(--fg)\">{plies}</text>",
            x(plies, count),
            BOTTOM + 17.0
        );
    }
    let points: Vec<String> = report
        .positions
        .iter()
        .enumerate()
        .map(|(i, p)| format!("{:.1},{:.1}", x(i, count), y(p.win_rate)))
        .collect();
    let middle = y(0.5);
    let _ = write!(
        out,
        "<polygon points=\"{LEFT},{middle:.1} {} {:.1},{middle:.1}\" fill=\"var(--area)\"/>\
         <polyline points=\"{}\" fill=\"none\" stroke=\"var(--line)\" stroke-width=\"2\" stroke-linejoin=\"round\"/>",
        points.join(" "),
        x(report.positions.len().saturating_sub(1), count),
        points.join(" ")
    );
    for m in report.moves.iter().filter(|m| m.judgement.class >= Class::Mistake) {
        let Some(after) = report.positions.get(m.ply) else { continue };
        let _ = write!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"{}\"><title>{} {} {}</title></circle>",
            x(m.ply, count),
            y(after.win_rate),
            color(m.judgement.class),
            m.ply,
            m.text,
            lang.class(m.judgement.class)
        );
    }
    out
}
