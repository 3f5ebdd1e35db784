//! The subcommand `accuracy`: how often the static evaluation names the winner.

use std::error::Error;
use std::path::PathBuf;

use crate::nnue::arch::FV_SCALE;
use crate::nnue::{Network, evaluate_from_scratch};
use crate::position::Position;
use crate::train::batch::win_rate;

/// Count how often the sign of the network's evaluation, without search, names the winner of the game.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Positions, one a line, separated by tabs: SFEN, move played, result for the side to move (1, 0, -1). Lines that
    /// begin with # are skipped
    #[arg(value_name = "TSV")]
    positions: PathBuf,
    /// Networks to compare, files or directories of an nn.bin [default: the embedded network]
    #[arg(value_name = "NETWORK")]
    networks: Vec<PathBuf>,
}

/// Runs the subcommand.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let name = args.positions.display();
    let text = std::fs::read_to_string(&args.positions).map_err(|e| format!("{name}: {e}"))?;
    let mut positions = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.starts_with('#') && !l.trim().is_empty()) {
        let fields: Vec<&str> = line.split('\t').collect();
        let result: i32 = fields
            .get(2)
            .and_then(|r| r.trim().parse().ok())
            .filter(|r| (-1..=1).contains(r))
            .ok_or_else(|| format!("{name}, line {}: the third field should be a result", i + 1))?;
        let pos = Position::from_sfen(fields[0]).map_err(|e| format!("{name}, line {}: {e}", i + 1))?;
        positions.push((pos, result));
    }
    if args.networks.is_empty() {
        return report("embedded network", &Network::embedded()?, &positions);
    }
    for path in &args.networks {
        let (net, warnings) = Network::load(path).map_err(|e| format!("{}: {e}", path.display()))?;
        warnings.iter().for_each(|w| eprintln!("warning: {}: {w}", path.display()));
        report(&path.display().to_string(), &net, &positions)?;
    }
    Ok(())
}

fn report(name: &str, net: &Network, positions: &[(Position, i32)]) -> Result<(), Box<dyn Error>> {
    let (mut named, mut loss) = (0u32, 0.0);
    let decisive: Vec<_> = positions.iter().filter(|(_, result)| *result != 0).collect();
    if decisive.is_empty() {
        return Err("no position has a winner".into());
    }
    for (pos, result) in &decisive {
        let value = evaluate_from_scratch(net, pos) / FV_SCALE;
        named += ((value > 0) == (*result > 0)) as u32;
        let p = win_rate(value * result) as f64;
        loss -= p.max(1e-9).ln();
    }
    let n = decisive.len() as f64;
    let share = named as f64 / n;
    println!(
        "{name}: {:.2} % (standard error {:.2}) of {} positions; log loss {:.4}",
        100.0 * share,
        100.0 * (share * (1.0 - share) / n).sqrt(),
        decisive.len(),
        loss / n
    );
    Ok(())
}
