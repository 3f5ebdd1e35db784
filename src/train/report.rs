//! The log of a run as CSV, and its losses as SVG.

use crate::support::chart::{self, COLORS, Curve, Panel};
use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// One line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Steps done.
    pub step: u32,
    /// Passes done.
    pub epochs: f64,
    /// Positions learnt from, repeated ones included.
    pub positions: u64,
    /// Time spent on the run.
    pub seconds: f64,
    /// Learning rate.
    pub rate: f64,
    /// Weight of the score against the result in the target.
    pub lambda: f64,
    /// Mean divergence from the targets since the last entry, in nats.
    pub training: f64,
    /// The same on the validation set, if there is one.
    pub validation: Option<f64>,
    /// Root mean square error of the win rate on the validation set.
    pub rmse: Option<f64>,
    /// Share of its decisive positions in which the sign of the output names the winner.
    pub accuracy: Option<f64>,
}

/// The log as CSV.
pub fn csv(log: &[LogEntry]) -> String {
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
pub fn svg(log: &[LogEntry]) -> String {
    let curve = |name: &str, color, value: fn(&LogEntry) -> Option<f64>| Curve {
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
