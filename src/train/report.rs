//! What a run leaves to look at: a CSV log and an SVG of its losses.

use crate::support::chart::{self, COLORS, Curve, Panel};
use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// One line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Steps of this run done.
    pub step: u32,
    /// Passes over the data done.
    pub epochs: f64,
    /// Positions learnt from, repeated ones included.
    pub positions: u64,
    /// Time spent on the run.
    pub seconds: f64,
    /// Learning rate.
    pub rate: f64,
    /// Weight of the score against the result in the target.
    pub lambda: f64,
    /// Mean divergence from the targets since the last line, and on the validation set, in nats.
    pub training: f64,
    /// The same on the held-out positions, if there are any.
    pub validation: Option<f64>,
    /// Root mean square error of the win rate there.
    pub rmse: Option<f64>,
    /// Share of the decisive ones among them whose winner the sign of the output names.
    pub accuracy: Option<f64>,
}

/// The log as CSV.
pub fn csv(log: &[Entry]) -> String {
    let number = |n: Option<f64>| n.map_or(String::new(), |n| format!("{n:.6}"));
    let mut out =
        String::from("step,epochs,positions,seconds,rate,lambda,training,validation,rmse,accuracy\n");
    for e in log {
        let _ = writeln!(
            out,
            "{},{:.4},{},{:.1},{:.3e},{:.4},{:.6},{},{},{}",
            e.step,
            e.epochs,
            e.positions,
            e.seconds,
            e.rate,
            e.lambda,
            e.training,
            number(e.validation),
            number(e.rmse),
            number(e.accuracy)
        );
    }
    out
}

/// Both losses over positions.
pub fn svg(log: &[Entry]) -> String {
    let curve = |name: &str, color, value: fn(&Entry) -> Option<f64>| Curve {
        name: name.into(),
        color,
        points: log.iter().filter_map(|e| Some((e.positions as f64 / 1e6, value(e)?))).collect(),
        ..Curve::default()
    };
    let panel = Panel {
        title: "loss (nats above the targets' entropy)".into(),
        x_label: "million positions".into(),
        curves: vec![
            curve("training", COLORS[0], |e| Some(e.training)),
            curve("validation", COLORS[1], |e| e.validation),
        ],
        ..Panel::default()
    };
    chart::svg(&[panel], 1, (800, 420))
}
