//! `toratsugumi data verify`.

use super::inputs::{files, in_file};
use crate::data::read::each_position;
use crate::data::{Format, GameReader, Joiner, Plies};
use crate::support::console::say;
use crate::support::messages::Number;
use rayon::prelude::*;
use std::collections::HashSet;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

/// Check every block and replay every game; exit with an error if anything is wrong
///
/// A record of .psv, .bin or .hcpe may be without a move, as those from inside a search often are (`datagen
/// --trees`).
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files of training records, or directories with such files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// Runs `data verify`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let files = files(&args.files, None)?;
    let problems = files
        .par_iter()
        .map(|(path, format)| {
            let checked = if *format == Format::Games { games(path) } else { records(path) };
            match checked {
                Ok(found) => say!("{}: {found}, all in order", path.display()).map(|()| 0),
                Err(e) => say!("{e}").map(|()| 1),
            }
        })
        .sum::<io::Result<usize>>()?;
    if problems > 0 { Err(format!("damaged files: {problems} of {}", files.len()).into()) } else { Ok(()) }
}

fn games(path: &Path) -> Result<String, Box<dyn Error>> {
    let located = |e: &dyn std::fmt::Display| in_file(path, e);
    let mut reader = GameReader::open(path)?;
    let (mut positions, mut ids) = (0u64, HashSet::new());
    for game in reader.by_ref() {
        let game = game?;
        game.replay(|_, _, _| positions += 1).map_err(|e| located(&e))?;
        if !ids.insert(game.id) {
            return Err(located(&format_args!("game {} occurs twice", game.id)));
        }
    }
    match reader.problem() {
        Some(problem) => Err(located(&format_args!("{problem}; games in order before it: {}", ids.len()))),
        None => Ok(format!(
            "{games} game{games:#}, {positions} position{positions:#}",
            games = Number(ids.len()),
            positions = Number(positions)
        )),
    }
}

fn records(path: &Path) -> Result<String, Box<dyn Error>> {
    let (mut positions, mut moveless) = (0u64, 0u64);
    let mut problem = None;
    each_position(
        path,
        Plies::All,
        &mut |what| problem = Some(what),
        |_| (),
        |s| {
            if s.mv == 0 {
                s.board.position(u32::from(s.ply.max(1)))?;
                moveless += 1;
            } else {
                Joiner::default().push(&s)?;
            }
            positions += 1;
            Ok(())
        },
    )?;
    match (problem, moveless) {
        (Some(problem), _) => Err(format!("{problem}; positions in order before it: {positions}").into()),
        (None, 0) => Ok(format!("{0} position{0:#}", Number(positions))),
        (None, _) => Ok(format!("{0} position{0:#}, {moveless} of them without a move", Number(positions))),
    }
}
