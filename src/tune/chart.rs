//! The chart of a run: [`svg`].

use super::Spsa;
use crate::support::chart::{self, COLORS, Curve, Panel};

/// A small chart per number: its value over the steps, with a line at its start. `path` holds the steps and
/// the numbers after them. The height is four last perturbations, or more if the number has changed more.
pub fn svg(spsa: &Spsa, path: &[(u64, Vec<f64>)]) -> String {
    let panel = |(i, n): (usize, &super::Tuned)| {
        let start = f64::from(n.start);
        let furthest = path.iter().map(|(_, v)| (v[i] - start).abs()).fold(2.0 * n.perturbation, f64::max);
        Panel {
            title: format!("{} {} → {:.1}", n.name, n.start, n.value),
            curves: vec![Curve {
                color: COLORS[0],
                points: path.iter().map(|(steps, v)| (*steps as f64, v[i])).collect(),
                ..Curve::default()
            }],
            marks: vec![start],
            y_range: Some((start - furthest, start + furthest)),
            ..Panel::default()
        }
    };
    let panels: Vec<_> = spsa.numbers.iter().enumerate().map(panel).collect();
    chart::svg(&panels, 4, (300, 180))
}
