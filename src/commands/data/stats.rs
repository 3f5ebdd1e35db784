//! `toratsugumi data stats`.

use super::inputs::{files, warn};
use crate::data::read::{count_records, each_game};
use crate::data::{EndReason, Format, GameRecord, GameResult, RecordError};
use crate::support::console::say;
use crate::types::Color;
use rayon::prelude::*;
use std::error::Error;
use std::path::{Path, PathBuf};

/// Count games, positions, results, reasons, scores and bytes
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files of training records, or directories with such files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Default, Clone)]
struct Stats {
    bytes: u64,
    games: u64,
    opening: u64,
    /// Of games.
    plies: u64,
    fit: u64,
    /// Positions of the formats without games.
    records: u64,
    results: [u64; 3],
    reasons: [u64; EndReason::ALL.len()],
    /// Fit positions by size of the score, in steps of 300.
    scores: [u64; 12],
    longest: usize,
    /// Fit positions whose sign of the score predicts the winner, and those with a winner.
    predicted: u64,
    decisive: u64,
}

impl Stats {
    fn add_game(&mut self, g: &GameRecord) {
        self.games += 1;
        self.opening += g.opening.len() as u64;
        self.plies += g.plies.len() as u64;
        self.results[g.result as usize] += 1;
        self.reasons[g.reason as usize] += 1;
        self.longest = self.longest.max(g.opening.len() + g.plies.len());
        let black_first = g.first_mover() == Color::Black;
        for (i, p) in g.plies.iter().enumerate().filter(|(_, p)| p.fit) {
            self.fit += 1;
            let bin = p.score.unsigned_abs() as usize / 300;
            self.scores[bin.min(self.scores.len() - 1)] += 1;
            if g.result != GameResult::Draw {
                let black = (i + g.opening.len()).is_multiple_of(2) == black_first;
                let won = (g.result == GameResult::BlackWin) == black;
                self.decisive += 1;
                self.predicted += ((p.score > 0) == won) as u64;
            }
        }
    }

    fn merge(mut self, o: Stats) -> Stats {
        self.bytes += o.bytes;
        self.games += o.games;
        self.opening += o.opening;
        self.plies += o.plies;
        self.fit += o.fit;
        self.records += o.records;
        self.longest = self.longest.max(o.longest);
        self.predicted += o.predicted;
        self.decisive += o.decisive;
        self.results.iter_mut().zip(o.results).for_each(|(a, b)| *a += b);
        self.reasons.iter_mut().zip(o.reasons).for_each(|(a, b)| *a += b);
        self.scores.iter_mut().zip(o.scores).for_each(|(a, b)| *a += b);
        self
    }
}

fn of_file(path: &Path, format: Format) -> Result<Stats, RecordError> {
    let bytes = std::fs::metadata(path).map_err(RecordError::at(path))?.len();
    let mut s = Stats { bytes, ..Stats::default() };
    match format.record_len() {
        None => each_game(path, &mut warn, |g| {
            s.add_game(&g);
            Ok(())
        })?,
        Some(len) => s.records = count_records(path, len, &mut warn)?,
    }
    Ok(s)
}

/// Runs `data stats`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let files = files(&args.files, None)?;
    let parts: Vec<Stats> =
        files.par_iter().map(|(path, format)| of_file(path, *format)).collect::<Result<_, RecordError>>()?;
    let s = parts.into_iter().fold(Stats::default(), Stats::merge);
    let share = |n: u64, of: u64| 100.0 * n as f64 / of.max(1) as f64;
    say!("files                {}", files.len())?;
    say!("bytes                {}", s.bytes)?;
    say!("games                {}", s.games)?;
    let (positions, fit) = (s.plies + s.records, s.fit + s.records);
    say!("positions            {positions}")?;
    say!("  fit for training   {fit} ({:.1} %)", share(fit, positions))?;
    say!("bytes a position     {:.3}", s.bytes as f64 / positions.max(1) as f64)?;
    if s.games == 0 {
        return Ok(());
    }
    say!(
        "plies a game         {:.1} after {:.1} of the opening; longest {}",
        s.plies as f64 / s.games as f64,
        s.opening as f64 / s.games as f64,
        s.longest
    )?;
    say!(
        "results              black {:.1} %  white {:.1} %  draw {:.1} %",
        share(s.results[1], s.games),
        share(s.results[2], s.games),
        share(s.results[0], s.games)
    )?;
    for reason in EndReason::ALL {
        if s.reasons[reason as usize] > 0 {
            say!(
                "  {:<18} {} ({:.1} %)",
                reason.to_string(),
                s.reasons[reason as usize],
                share(s.reasons[reason as usize], s.games)
            )?;
        }
    }
    say!(
        "winner predicted by the sign of the score: {:.2} % of {}",
        share(s.predicted, s.decisive),
        s.decisive
    )?;
    say!("fit positions of games by size of the score:")?;
    for (i, &n) in s.scores.iter().enumerate() {
        let end = if i + 1 < s.scores.len() { format!("{:>5}", (i + 1) * 300 - 1) } else { "     ".into() };
        say!("  {:>5} - {end}  {:>6.2} %  {n}", i * 300, share(n, s.fit))?;
    }
    Ok(())
}
