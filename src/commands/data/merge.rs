//! `toratsugumi data merge`.

use super::inputs::{InOut, in_file, warn};
use crate::data::file::{HEADER_LEN, MIXED};
use crate::data::{Format, GameReader, GameRecord, GameWriter};
use crate::support::console::say;
use crate::support::messages::Number;
use std::error::Error;

/// Combine .games files of the same settings, in order of game numbers
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    files: InOut,
    /// Combine even files made with different settings; the games are numbered anew
    #[arg(long)]
    mixed: bool,
}

/// Runs `data merge`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let output = &args.files.output;
    if Format::of(output)? != Format::Games {
        return Err(in_file(output, "merged games are written as .games"));
    }
    args.files.check(false)?;
    let inputs = args.files.inputs_of(Format::Games)?;
    let mut readers = inputs.iter().map(|path| GameReader::open(path)).collect::<Result<Vec<_>, _>>()?;
    let fingerprint = readers[0].fingerprint();
    if let Some(i) = readers.iter().position(|r| r.fingerprint() != fingerprint)
        && !args.mixed
    {
        return Err(format!(
            "{} and {} were made with different settings (network, options or version); --mixed merges them anyway",
            inputs[0].display(),
            inputs[i].display()
        )
        .into());
    }
    let mut writer = GameWriter::create_whole(output, if args.mixed { MIXED } else { fingerprint })?;
    let mut heads: Vec<Option<GameRecord>> =
        readers.iter_mut().map(|r| r.next().transpose()).collect::<Result<_, _>>()?;
    let mut games = 0;
    let mut last = None;
    // each file is in order of ids, so the smallest head is next
    while let Some(i) =
        (0..heads.len()).filter(|&i| heads[i].is_some()).min_by_key(|&i| heads[i].as_ref().map(|g| g.id))
    {
        let next = readers[i].next().transpose()?;
        if let Some(mut game) = std::mem::replace(&mut heads[i], next) {
            if args.mixed {
                game.id = games;
            } else if last == Some(game.id) {
                let id = game.id;
                return Err(
                    format!("game {id} occurs twice: the shards overlap, or --mixed is missing").into()
                );
            }
            last = Some(game.id);
            writer.write(&game)?;
            games += 1;
        }
    }
    for (path, reader) in inputs.iter().zip(&readers) {
        if let Some(problem) = reader.problem() {
            warn(format!("{}: reading ends early: {problem}", path.display()));
        }
    }
    let len = writer.finish()?;
    say!("wrote {}: {games} game{:#}, {} bytes", output.display(), Number(games), len - HEADER_LEN)?;
    Ok(())
}
