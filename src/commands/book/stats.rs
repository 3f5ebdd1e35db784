//! `toratsugumi book stats`.

use super::files;
use crate::book::graph::{Graph, MoveTarget};
use crate::book::{Book, edit};
use crate::support::console::say;
use crate::support::messages;
use std::error::Error;
use std::path::PathBuf;

/// Print statistics of a book
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The book to read
    #[arg(value_name = "BOOK")]
    input: PathBuf,
}

/// Runs `book stats`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let book = files::read(&args.input)?;
    for line in text(&book) {
        say!("{line}")?;
    }
    Ok(())
}

fn text(book: &Book) -> Vec<String> {
    let graph = Graph::of(book);
    let (mut scored, mut counted, mut games, mut inside, mut leaves, mut illegal) = (0, 0, 0u64, 0, 0, 0);
    let mut values = Vec::new();
    let mut deepest = 0;
    let mut plies: Vec<u16> = Vec::with_capacity(book.len());
    let mut most = 0;
    for (i, e) in book.entries().enumerate() {
        plies.push(e.ply);
        most = most.max(e.moves.len());
        for (k, m) in e.moves.iter().enumerate() {
            match graph.target(book.first_move(i) + k) {
                MoveTarget::Inside(_) => inside += 1,
                MoveTarget::Leaf => leaves += 1,
                MoveTarget::Illegal => illegal += 1,
            }
            scored += usize::from(m.value().is_some());
            counted += usize::from(m.count().is_some_and(|n| n > 0));
            games += u64::from(m.count().unwrap_or(0));
            values.extend(m.value());
            deepest = deepest.max(m.depth().unwrap_or(0));
        }
    }
    values.sort_unstable();
    let at = |share: usize| values.get(values.len() * share / 100).copied().unwrap_or(0);
    let reached = edit::reachable(book).into_iter().filter(|r| *r).count();
    let black = book.entries().filter(|e| e.packed.turn() == crate::types::Color::Black).count();
    let per = book.move_count() as f64 / book.len().max(1) as f64;
    let (first, last) = (plies.iter().min().copied().unwrap_or(0), plies.iter().max().copied().unwrap_or(0));
    vec![
        messages::stats_positions(book.len(), black, reached),
        messages::stats_moves(book.move_count(), per, most),
        messages::stats_targets(inside, leaves, illegal),
        messages::stats_plies(first, last),
        match scored {
            0 => messages::stats_no_scores(),
            _ => messages::stats_scores(scored, at(5), at(50), at(95)),
        },
        messages::stats_depth(deepest),
        messages::stats_counts(counted, games),
        messages::stats_memory(book.bytes() >> 10),
    ]
}
