//! `toratsugumi architectures`: what each kind of network brings, trained on the same positions.
//!
//! Every step is one of the program's own subcommands (`train`, `bench`, `match`), run as a user would, so that each of them can
//! be repeated by hand; each goes on where it stopped.

use super::networks::network;
use crate::nnue::{Architecture, Network, Shape, arch::ARCHITECTURES};
use crate::resume::whole_file;
use crate::support::console::{note, say};
use crate::train::run::NETWORK;
use crate::train::yardstick::{DeepLabels, Labelled};
use serde_json::Value;
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Train networks of several architectures on the same positions and print what each brings as a table
///
/// The first architecture is the one that the others are measured against. A run that was stopped goes on when the same
/// command is given again.
///
/// Example: toratsugumi architectures data --out compared --winners winners.tsv --games 200 -- --epochs 2 --threads 16
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Files of training records or directories of them, as for `train`
    #[arg(required = true, value_name = "DATA")]
    data: Vec<PathBuf>,
    /// Directory for networks, matches and table.md
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Architectures by the names of `train --arch`, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    arch: Vec<Architecture>,
    /// Positions of games with their winners, as for `accuracy`
    #[arg(long, value_name = "TSV")]
    winners: Option<PathBuf>,
    /// Positions with the scores of deep searches, as for `accuracy`
    #[arg(long, value_name = "PSV")]
    deep: Option<PathBuf>,
    /// Games of each against the first one, at equal nodes and again at equal time; 0 for none
    #[arg(long, default_value_t = 0)]
    games: u64,
    /// Nodes a move
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Milliseconds a move
    #[arg(long, default_value_t = 100, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    movetime: u64,
    /// Games at once
    #[arg(long, short, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: u16,
    /// Nodes of each position of the bench that measures the speed
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    bench_nodes: u64,
    /// What else `train` is told, after `--`
    #[arg(last = true, value_name = "TRAIN OPTIONS")]
    train: Vec<String>,
}

/// A row of the table.
struct Row {
    name: &'static str,
    parameters: usize,
    bytes: u64,
    /// Positions a second.
    training: f64,
    /// On the positions set aside, if there are any.
    loss: Option<f64>,
    /// Percent.
    named: Option<f64>,
    rms: Option<f64>,
    /// Nodes a second.
    speed: f64,
    /// Against the first one, at equal nodes and at equal time.
    elo: [Option<String>; 2],
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let architectures = if args.arch.is_empty() { ARCHITECTURES.to_vec() } else { args.arch.clone() };
    let winners = args.winners.as_deref().map(Labelled::read).transpose()?;
    let mut warn = |text| note!("warning: {text}");
    let deep = args.deep.as_deref().map(|path| DeepLabels::read(path, &mut warn)).transpose()?;
    for architecture in &architectures {
        train(args, architecture.name)?;
    }
    let mut rows = Vec::new();
    for architecture in &architectures {
        let dir = args.out.join(architecture.name);
        let file = dir.join(NETWORK);
        let net = network(Some(&file))?;
        let (training, loss) = log(&dir.join("log.csv"))?;
        rows.push(Row {
            name: architecture.name,
            parameters: parameters(&net.shape()),
            bytes: std::fs::metadata(&file)?.len(),
            training,
            loss,
            named: winners.as_ref().map(|w| 100.0 * w.name_winners(&net).share),
            rms: deep.as_ref().map(|d| rms(d, &net)),
            speed: speed(args, &file)?,
            elo: [None, None],
        });
    }
    if args.games > 0 && architectures.len() > 1 {
        let limits = [("nodes", args.nodes), ("movetime", args.movetime)];
        for (column, (limit, much)) in limits.into_iter().enumerate() {
            let elos = play(args, &architectures, limit, much)?;
            rows.iter_mut().skip(1).zip(elos).for_each(|(row, elo)| row.elo[column] = Some(elo));
        }
    }
    let table = table(args, &rows);
    whole_file::write(&args.out.join("table.md"), &table)?;
    say!("{}", table.trim_end())?;
    Ok(())
}

/// Runs a subcommand of this program; returns what it prints.
fn subcommand(words: &[String]) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    let out = command.args(words).stderr(Stdio::inherit()).output()?;
    if !out.status.success() {
        return Err(format!("`toratsugumi {}` ended with {}", words.join(" "), out.status).into());
    }
    Ok(String::from_utf8(out.stdout)?)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_string).to_vec()
}

fn train(args: &Args, name: &str) -> Result<(), Box<dyn Error>> {
    let dir = args.out.join(name);
    let mut line = words(["train", "--arch", name, "--resume", "--out", &text(&dir)]);
    line.extend(args.train.iter().cloned());
    line.extend(args.data.iter().map(|path| text(path)));
    subcommand(&line).map(|_| ())
}

/// Positions a second and, if something was set aside, validation loss, from the last line of a log.
fn log(path: &Path) -> Result<(f64, Option<f64>), Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut lines = text.lines();
    let (Some(head), Some(last)) = (lines.next(), lines.next_back()) else {
        return Err(format!("{}: no line", path.display()).into());
    };
    let not_a_log = || format!("{}: not a log of `train`", path.display());
    let field = |name: &str| {
        let column = head.split(',').position(|column| column == name)?;
        last.split(',').nth(column)
    };
    let number = |name: &str| field(name)?.parse::<f64>().ok();
    match (number("positions"), number("seconds"), field("validation")) {
        (Some(positions), Some(seconds), Some("")) => Ok((positions / seconds, None)),
        (Some(positions), Some(seconds), Some(loss)) => {
            Ok((positions / seconds, Some(loss.parse().map_err(|_| not_a_log())?)))
        }
        _ => Err(not_a_log().into()),
    }
}

fn parameters(shape: &Shape) -> usize {
    let dense = shape.dense();
    shape.l1 * (1 + shape.inputs.count()) + dense.iter().map(|d| (d.inputs + 1) * d.outputs).sum::<usize>()
}

fn rms(labels: &DeepLabels, net: &Network) -> f64 {
    labels.distances(net)[0].rms
}

fn speed(args: &Args, file: &Path) -> Result<f64, Box<dyn Error>> {
    let line = words(["bench", "--nodes", &args.bench_nodes.to_string(), "--eval-file", &text(file)]);
    let out = subcommand(&line)?;
    let nps = out.trim_end().strip_suffix(" nps").and_then(|out| out.rsplit(' ').next()?.parse().ok());
    nps.ok_or_else(|| format!("`bench` did not tell its speed: {out}").into())
}

/// The first one against all others: what each of these is better by.
fn play(
    args: &Args,
    architectures: &[Architecture],
    limit: &str,
    much: u64,
) -> Result<Vec<String>, Box<dyn Error>> {
    let dir = args.out.join(format!("match-{limit}"));
    let mut line =
        words(["match", "--mode", "gauntlet", "--json", "--quiet", "--resume", "--out", &text(&dir)]);
    line.extend(words(["--games", &args.games.to_string(), "--jobs", &args.jobs.to_string()]));
    for architecture in architectures {
        let net = std::path::absolute(args.out.join(architecture.name).join(NETWORK))?;
        // all of them stay loaded, once for each game at a time
        let spec = format!(
            "cmd=self name={} {limit}={much} USI_Hash=64 'EvalDir={}'",
            architecture.name,
            net.display()
        );
        line.extend(["--engine".to_string(), spec]);
    }
    let summary: Value = serde_json::from_str(&subcommand(&line)?)?;
    let pairings = summary["pairings"].as_array().ok_or("a match without pairings")?;
    // the estimates are those of the first one
    Ok(pairings.iter().map(|pairing| elo(&pairing["estimate"])).collect())
}

fn elo(estimate: &Value) -> String {
    let number = |name: &str| estimate[name].as_f64();
    match (number("elo"), number("error"), number("low"), number("high")) {
        (Some(elo), Some(error), ..) => format!("{:+.0} ± {error:.0}", 0.0 - elo),
        (_, _, Some(low), None) => format!("below {:+.0}", -low),
        (_, _, None, Some(high)) => format!("above {:+.0}", -high),
        _ => "?".into(),
    }
}

fn table(args: &Args, rows: &[Row]) -> String {
    let mut out = String::from("| Network | Parameters | File | Training, positions/s | Loss |");
    let mut columns = 5;
    let mut head = |asked: bool, title: String| {
        if asked {
            let _ = write!(out, " {title} |");
            columns += 1;
        }
    };
    let (named, rms, games) = (args.winners.is_some(), args.deep.is_some(), args.games > 0);
    head(named, "Winner named".into());
    head(rms, "RMS against deep labels".into());
    head(true, "Nodes/s".into());
    head(games, format!("Elo at {} nodes", args.nodes));
    head(games, format!("Elo at {} ms", args.movetime));
    out += "\n|";
    out += &"---|".repeat(columns);
    for row in rows {
        let _ = write!(
            out,
            "\n| `{}` | {} | {} | {:.0} k | {} |",
            row.name,
            row.parameters,
            size(row.bytes),
            row.training / 1e3,
            row.loss.map_or("-".into(), |loss| format!("{loss:.5}"))
        );
        if let Some(named) = row.named {
            let _ = write!(out, " {named:.2} % |");
        }
        if let Some(rms) = row.rms {
            let _ = write!(out, " {rms:.4} |");
        }
        let _ = write!(out, " {:.0} k |", row.speed / 1e3);
        if games {
            row.elo.iter().for_each(|elo| out += &format!(" {} |", elo.as_deref().unwrap_or("0")));
        }
    }
    out + "\n"
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn elo_is_that_of_the_second_one() {
        let of = |estimate| elo(&estimate);
        assert_eq!(of(json!({"elo": 31.4, "error": 12.0, "low": 19.4, "high": 43.4})), "-31 ± 12");
        assert_eq!(of(json!({"elo": null, "error": null, "low": 182.7, "high": null})), "below -183");
        assert_eq!(of(json!({"elo": null, "error": null, "low": null, "high": -182.7})), "above +183");
        assert_eq!(of(Value::Null), "?");
    }

    #[test]
    fn where_nothing_was_set_aside_there_is_no_loss() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let of = |fields: &str| {
            std::fs::write(file.path(), format!("positions,seconds,validation,rmse\n{fields}\n")).unwrap();
            log(file.path()).map_err(|e| e.to_string())
        };
        assert_eq!(of("3000,2.0,0.125,0.5"), Ok((1500.0, Some(0.125))));
        assert_eq!(of("3000,2.0,,"), Ok((1500.0, None)));
        assert!(of("3000,2.0,x,").unwrap_err().contains("not a log"));
        assert!(of("3000,2.0").unwrap_err().contains("not a log"));
    }

    #[test]
    fn parameters_are_counted() {
        let of = |name: &str| parameters(&name.parse::<Architecture>().unwrap().shape);
        // 125,388 rows and a bias of 256; 512 x 32, 32 x 32, 32 x 1 and their biases
        assert_eq!(of("halfkp_256x2-32-32"), 256 * 125_389 + 513 * 32 + 33 * 32 + 33);
        assert_eq!(of("psq_256x2-screlu-8b"), 256 * 1711 + 513 * 8);
    }
}
