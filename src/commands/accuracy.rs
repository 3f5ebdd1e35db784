//! `toratsugumi accuracy`: measures an evaluation or a search without a match.

use crate::support::console::{Progress, clock, note, say};
use crate::support::numa::processors;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use crate::nnue::Network;
use crate::search::{Limits, SearchOptions, Searchers, Silent};
use crate::train::accuracy::{DeepLabels, LabelledGames, LabelledPosition};
use crate::types::Move;

/// Measure networks against the winners of games, the moves played, or deep searches
///
/// For a .tsv: how often the sign of the evaluation predicts the winner, and the log loss; with `--nodes`,
/// how often a search of N nodes finds the move played and predicts the winner. For a .psv of `data label`:
/// the distance of the win rate from that of the deep search, by phase of the game. The latter compares only
/// networks that were trained on the same kind of labels.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A .tsv with the SFEN, the move played, the result for the side to move (1, 0, -1) and optionally the
    /// player's evaluation in centipawns (# begins a comment), or a .psv with the scores of deep searches
    #[arg(value_name = "FILE")]
    positions: PathBuf,
    /// Networks to compare, files or directories of an nn.bin [default: the embedded network]
    #[arg(value_name = "NETWORK")]
    networks: Vec<PathBuf>,
    /// Search every position of a .tsv with N nodes, from an empty table
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// MiB of each search's transposition table
    #[arg(long, default_value_t = 64, requires = "nodes", value_parser = clap::value_parser!(u32).range(1..))]
    hash: u32,
    /// Parallel searches; the results are the same [default: one per logical processor]
    #[arg(long, requires = "nodes", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

enum Comparison {
    Winners(LabelledGames),
    Moves(Moves),
    Deep(DeepLabels),
}

/// Runs the subcommand.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let deep = args.positions.extension().is_some_and(|e| e == "psv" || e == "bin");
    let comparison = match args.nodes {
        Some(_) if deep => {
            return Err(
                "--nodes searches the positions of a .tsv; the scores of a .psv come from `data label`"
                    .into(),
            );
        }
        Some(nodes) => Comparison::Moves(Moves::read(&args, nodes)?),
        None if deep => {
            Comparison::Deep(DeepLabels::read(&args.positions, &mut |text| note!("warning: {text}"))?)
        }
        None => Comparison::Winners(LabelledGames::read(&args.positions)?),
    };
    if args.networks.is_empty() {
        comparison.report("embedded network", Network::embedded()?)?;
    }
    for path in &args.networks {
        comparison.report(&path.display().to_string(), super::networks::network(Some(Path::new(path)))?)?;
    }
    Ok(())
}

impl Comparison {
    fn report(&self, name: &str, network: Network) -> Result<(), Box<dyn Error>> {
        match self {
            Comparison::Winners(labelled) => {
                let n = labelled.winner_accuracy(&network);
                say!(
                    "{name}: winner predicted in {:.2} % (standard error {:.2}) of {}; log loss {:.4} \
                     (standard error {:.4})",
                    100.0 * n.share,
                    100.0 * n.standard_error,
                    n.positions,
                    n.log_loss,
                    n.log_loss_error
                )?;
            }
            Comparison::Moves(moves) => moves.report(name, network)?,
            Comparison::Deep(labels) => {
                say!("{name}:")?;
                say!("  {:<16} {:>9} {:>8} {:>9}", "positions", "count", "RMS", "KL")?;
                for d in labels.distances(&network).iter().filter(|d| d.positions > 0) {
                    say!("  {:<16} {:>9} {:>8.5} {:>9.6}", d.of, d.positions, d.rms, d.kl)?;
                }
            }
        }
        Ok(())
    }
}

/// A position counts as decided from this evaluation of the player on, in centipawns.
const DECIDED: u32 = 40;
/// Positions per thread between two updates of the progress line.
const CHUNK: usize = 8;

/// Searches whose moves are compared with those played.
struct Moves {
    played: Vec<(LabelledPosition, Move)>,
    nodes: u64,
    hash: usize,
    threads: usize,
}

impl Moves {
    fn read(args: &Args, nodes: u64) -> Result<Moves, Box<dyn Error>> {
        let with_move = |p: LabelledPosition| match p.mv {
            Some(mv) => Ok((p, mv)),
            None => {
                let (path, line) = (args.positions.display(), p.line);
                Err(format!("{path}, line {line}: the second field should be a legal move of that position"))
            }
        };
        Ok(Moves {
            played: LabelledGames::read(&args.positions)?
                .positions
                .into_iter()
                .map(with_move)
                .collect::<Result<_, _>>()?,
            nodes,
            hash: args.hash as usize,
            threads: args.threads.map_or_else(processors, usize::from),
        })
    }

    fn report(&self, name: &str, network: Network) -> Result<(), Box<dyn Error>> {
        let options = SearchOptions::self_play(network.fv_scale());
        let searchers = Searchers::new(&Arc::new(network), self.hash, &options, self.threads)?;
        let limits = Limits::nodes(self.nodes);
        let (mut progress, begin) = (Progress::new(false), Instant::now());
        let mut answers: Vec<Answer> = Vec::with_capacity(self.played.len());
        for chunk in self.played.chunks(CHUNK * searchers.threads()) {
            answers.extend(searchers.map(chunk, |searcher, (played, mv)| {
                let found = searcher.search(&played.position, &limits, &Silent);
                Answer { played, moves: found.best == *mv, winners: (found.score > 0) == (played.result > 0) }
            }));
            progress.update(|| {
                let (done, all) = (answers.len(), self.played.len());
                let speed = done as f64 / begin.elapsed().as_secs_f64();
                let left = clock((all - done) as f64 / speed);
                format!("{name}: {done}/{all} positions  {speed:.1} positions/s  {left} left")
            });
        }
        drop(progress);
        let decided = |a: &&Answer| a.played.eval.is_some_and(|e| e.unsigned_abs() >= DECIDED);
        say!("{name}, {} nodes:", self.nodes)?;
        print_share("move played found", answers.iter().map(|a| a.moves))?;
        print_share(
            &format!("  if the player's score was {DECIDED} cp or more"),
            answers.iter().filter(decided).map(|a| a.moves),
        )?;
        let winners = answers.iter().filter(|a| a.played.result != 0).map(|a| a.winners);
        Ok(print_share("winner predicted", winners)?)
    }
}

/// The result of a search: whether it found the move played, and whether it predicted the winner.
struct Answer<'a> {
    played: &'a LabelledPosition,
    moves: bool,
    winners: bool,
}

/// Prints the share that is right, with its standard error; nothing if there are no positions.
fn print_share(what: &str, right: impl Iterator<Item = bool>) -> io::Result<()> {
    let right: Vec<bool> = right.collect();
    let n = right.len() as f64;
    if right.is_empty() {
        return Ok(());
    }
    let share = right.iter().filter(|r| **r).count() as f64 / n;
    let error = (share * (1.0 - share) / n).sqrt();
    say!("  {what:<44} {:>6.2} % (standard error {:.2}) of {n}", 100.0 * share, 100.0 * error)
}
