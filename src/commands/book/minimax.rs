//! `toratsugumi book minimax`.

use super::files::{self, OutputArgs};
use crate::book::minimax::minimax;
use crate::support::console::say;
use crate::support::messages;
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

/// Back the scores of a book's leaves up into all its moves
///
/// Transpositions and repetitions are resolved: a line that repeats forever is a draw. The depth of a move
/// becomes the number of book moves that follow it on the way to the leaf (999: it repeats). Counts are
/// dropped, because engines would prefer them to the scores. A perpetual check counts as a draw here; in play
/// the engine probes it itself.
///
/// To play from such a book set BookDepthLimit to 0: few lines are 16 book moves long, as the default asks.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The book to read
    #[arg(value_name = "BOOK")]
    input: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
    /// Score of a repetition for Black, in centipawns
    #[arg(long, default_value_t = 0, value_name = "CP", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-30_000..=30_000))]
    draw_value: i32,
}

/// Runs `book minimax`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let format = args.output.check()?;
    let begin = Instant::now();
    let book = files::each_once(files::read(&args.input)?, &args.input);
    let read = begin.elapsed();
    let (book, report) = minimax(book, args.draw_value);
    let (inner, leaves) = (report.inner, report.leaves);
    say!("{}", messages::backed_up(report.positions, inner, leaves, report.illegal, report.repetitions))?;
    let solved = (begin.elapsed() - read).as_secs_f64();
    say!("{}", messages::backup_time(read.as_secs_f64(), solved, report.bytes >> 20))?;
    args.output.write(book, format)?;
    Ok(say!("{}", messages::needs_depth_limit())?)
}
