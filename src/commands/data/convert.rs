//! `toratsugumi data convert`.

use super::inputs::{InOut, in_file, warn};
use crate::commands::values::parse_share;
use crate::data::read::{each_position, fingerprint};
use crate::data::{EndReason, Format, GameRecord, Plies, PositionWriter, TdLambda};
use crate::support::console::{note, say};
use crate::support::messages::Number;
use std::cell::Cell;
use std::error::Error;

/// Convert between formats, which the files' extensions name
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    files: InOut,
    /// Include positions of .games that are not fit for training
    #[arg(long)]
    all: bool,
    /// Write TD(lambda) targets of .games instead of the search scores (0 to 1; see `train --td-lambda`).
    /// Games whose end is unknown (made from positions) contribute no result
    #[arg(long, value_name = "LAMBDA", value_parser = parse_share)]
    td_lambda: Option<f64>,
}

/// Runs `data convert`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let plies = if args.all { Plies::All } else { Plies::Fit };
    let to_games = Format::of(&args.files.output)? == Format::Games;
    args.files.check(false)?;
    let inputs = args.files.inputs()?;
    if to_games && inputs.iter().any(|(_, format)| *format == Format::Games) {
        return Err("input and output are .games; use `data merge`".into());
    }
    if args.all && inputs.iter().all(|(_, format)| *format != Format::Games) {
        return Err("--all is for .games files: in the others all positions are fit for training".into());
    }
    if args.td_lambda.is_some() {
        if to_games {
            return Err("--td-lambda needs .games as input and another format as output".into());
        }
        if let Some((path, _)) = inputs.iter().find(|(_, format)| *format != Format::Games) {
            return Err(in_file(path, "--td-lambda needs whole games, a .games file"));
        }
    }
    let td = args.td_lambda.map(TdLambda::new);
    let (games, unknown_ends) = (Cell::new(0), Cell::new(0));
    let relabel = |game: &mut GameRecord| {
        games.update(|n| n + 1);
        unknown_ends.update(|n| n + u64::from(game.reason == EndReason::Unknown));
        td.iter().for_each(|td| td.relabel(game));
    };
    let fingerprint = if to_games { fingerprint(inputs.iter().map(|(path, _)| &**path))? } else { 0 };
    let mut out = PositionWriter::create(&args.files.output, fingerprint)?;
    let mut count = 0u64;
    for (path, _) in &inputs {
        each_position(path, plies, &mut warn, relabel, |position| {
            count += 1;
            out.write(&position)
        })?;
    }
    out.finish()?;
    if let (Some(_), Some(text)) = (td, TdLambda::note(unknown_ends.get(), games.get())) {
        note!("{text}");
    }
    say!("wrote {}: {count} position{:#}", args.files.output.display(), Number(count))?;
    Ok(())
}
