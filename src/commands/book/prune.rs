//! `toratsugumi book prune`.

use super::files::{self, OutputArgs};
use super::think;
use crate::book::PackedPosition;
use crate::book::edit::{Keep, prune};
use crate::book_growth::{GrowthRules, ReplyModel, likeliest};
use crate::position::STARTPOS;
use crate::support::console::say;
use crate::support::messages;
use std::error::Error;
use std::path::PathBuf;

/// Prune a book
///
/// Moves to other positions of the book are kept whatever their score, because the opponent may play them.
/// Positions that only dropped moves reached are dropped, too. It is an error if no move is left.
///
/// Example: toratsugumi book prune thought.db -o small.db --eval-diff 50 --max-moves 4
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The book to read
    #[arg(value_name = "BOOK")]
    input: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
    /// Drop moves played less often; moves without a count are kept
    #[arg(long, value_name = "N")]
    min_count: Option<u32>,
    /// Keep this number of moves per position, the best ones
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    max_moves: Option<u16>,
    /// Drop moves that are worse than the best of their position by more centipawns
    #[arg(long, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..))]
    eval_diff: Option<i32>,
    /// Drop positions with a greater move number; an error if positions have none, as in .sbk
    #[arg(long, value_name = "PLY")]
    max_ply: Option<u16>,
    /// Keep only this number of positions, before the other options apply: those that games from the initial
    /// position are likeliest to reach, by the model of `book think`. Positions of handicap games are dropped
    #[arg(long, value_name = "POSITIONS", value_parser = clap::value_parser!(u32).range(1..))]
    likeliest: Option<u32>,
    /// With --likeliest: a book with counts, as `book make` writes it: moves that were played more often are
    /// likelier
    #[arg(long, value_name = "BOOK", requires = "likeliest")]
    played: Option<PathBuf>,
    /// Also drop positions that the book, before pruning, does not reach from the usual starting positions
    #[arg(long)]
    reachable: bool,
}

/// Runs `book prune`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let format = args.output.check()?;
    let keep = Keep {
        min_count: args.min_count,
        max_moves: args.max_moves.map(usize::from),
        eval_diff: args.eval_diff,
        max_ply: args.max_ply,
        reachable: args.reachable || args.likeliest.is_some(),
    };
    let book = files::each_once(files::read(&args.input)?, &args.input);
    let unnumbered = book.entries().filter(|e| e.ply == 0).count();
    if args.max_ply.is_some() && unnumbered > 0 {
        return Err(messages::unnumbered(args.input.display(), unnumbered, book.len()).into());
    }
    let likely = match args.likeliest {
        Some(most) => {
            let rules = GrowthRules { max_ply: u16::MAX, ..GrowthRules::DEFAULT };
            let root = PackedPosition::read(STARTPOS)?;
            let replies = think::replies(args.played.as_deref(), ReplyModel::SOFTNESS)?;
            &likeliest(&book, &[root], &rules, &replies, most as usize)
        }
        None => &book,
    };
    let left = prune(likely, keep);
    if left.is_empty() {
        return Err(messages::nothing_left().into());
    }
    say!("{}", messages::pruned(book.len() - left.len(), book.move_count() - left.move_count()))?;
    args.output.write(left, format)
}
