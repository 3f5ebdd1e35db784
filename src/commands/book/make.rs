//! `toratsugumi book make`.

use super::files::OutputArgs;
use crate::book::make::{Collector, Filter, RecordedResult};
use crate::commands::record_files;
use crate::data::read::each_game;
use crate::data::{GameResult, RecordError};
use crate::engine::centipawns;
use crate::position::Position;
use crate::record::{Format, Record, Special};
use crate::support::console::{note, say};
use crate::support::messages;
use crate::types::Color;
use std::error::Error;
use std::path::PathBuf;

/// Make a book of the moves played in games
///
/// Reads records (CSA, KIF, KI2, JKF, PSN, USI lines) and self-play games (.games). The count of a move is
/// the number of games that played it, its score the mean of the scores in .games, its reply the one played
/// most. Such a book has no depths: to play from it, set BookDepthLimit to 0.
///
/// Example: toratsugumi book make records -o mine.db --winners --min-count 2 --max-ply 40
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Files and directories to read
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Format of the records: csa, kif, ki2, jkf, psn, usi [default: detected by name or content]
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    #[command(flatten)]
    output: OutputArgs,
    /// Only moves of one side
    #[arg(long, value_enum)]
    side: Option<SideArg>,
    /// Only moves of the side that won
    #[arg(long)]
    winners: bool,
    /// Only games that were won or drawn
    #[arg(long)]
    decided: bool,
    /// Only moves of players with at least this rating in the record (as floodgate's records have it)
    #[arg(long, value_name = "RATING")]
    min_rating: Option<f64>,
    /// The first move number
    #[arg(long, default_value_t = 1, value_name = "PLY")]
    min_ply: u32,
    /// The last move number
    #[arg(long, default_value_t = 60, value_name = "PLY")]
    max_ply: u32,
    /// Drop moves played less often
    #[arg(long, default_value_t = 1, value_name = "N")]
    min_count: u32,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SideArg {
    Black,
    White,
}

/// Runs `book make`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let format = args.output.check()?;
    let side = args.side.map(|s| match s {
        SideArg::Black => Color::Black,
        SideArg::White => Color::White,
    });
    let filter = Filter {
        side,
        winners: args.winners,
        decided: args.decided,
        plies: (args.min_ply, args.max_ply),
        min_count: args.min_count,
    };
    let mut collector = Collector::new(filter);
    let (games, records): (Vec<PathBuf>, Vec<PathBuf>) =
        args.inputs.iter().cloned().partition(|p| p.extension().is_some_and(|e| e == "games"));
    let mut read = 0u64;
    if args.min_rating.is_some() && !games.is_empty() {
        return Err(messages::no_ratings().into());
    }
    for path in &games {
        each_game(path, &mut |text| note!("warning: {text}"), |game| {
            let ending = match game.result {
                GameResult::Draw => RecordedResult::Drawn,
                GameResult::BlackWin => RecordedResult::Won(Color::Black),
                GameResult::WhiteWin => RecordedResult::Won(Color::White),
            };
            read += 1;
            let mut moves = Vec::with_capacity(game.opening.len() + game.plies.len());
            let root = game.start.position()?;
            let mut pos = root.clone();
            for raw in &game.opening {
                let m = legal(&pos, *raw, game.id)?;
                moves.push((m, None));
                pos.do_move(m);
            }
            game.replay(|_, ply, m| moves.push((m, Some(centipawns(ply.score.into())))))?;
            collector.add(&root, &moves, ending);
            Ok(())
        })?;
    }
    let mut reader = record_files::Reader::new(args.from, false);
    for source in record_files::sources(&records)? {
        for record in reader.read(&source.path).into_iter().flatten() {
            read += 1;
            add(&mut collector, filter, &record, args.min_rating);
        }
    }
    say!("{}", messages::games_taken(read, collector.games))?;
    let book = collector.finish();
    if book.is_empty() {
        return Err(messages::nothing_left().into());
    }
    args.output.write(book, format)?;
    reader.finish(Vec::new())
}

fn legal(pos: &Position, raw: u16, game: u64) -> Result<crate::types::Move, RecordError> {
    let m = crate::book::BookMove::new(raw).on(pos);
    m.ok_or(RecordError::Move { game, ply: pos.game_ply(), raw })
}

/// The endings of records that are draws.
const DRAWS: [Special; 4] =
    [Special::Repetition, Special::Impasse, Special::DrawDeclaration, Special::MaxMoves];

fn add(collector: &mut Collector, filter: Filter, record: &Record, min_rating: Option<f64>) {
    let turn = record.mover(record.moves.len());
    let ending = match &record.end {
        Some(end) => match end.special.winner(turn) {
            Some(winner) => RecordedResult::Won(winner),
            None if DRAWS.contains(&end.special) => RecordedResult::Drawn,
            None => RecordedResult::Unknown,
        },
        None => RecordedResult::Unknown,
    };
    let moves: Vec<_> = record.moves.iter().map(|p| (p.mv, None)).collect();
    let strong =
        |color: Color| min_rating.is_none_or(|least| rating(record, color).is_some_and(|r| r >= least));
    let sides = match (strong(Color::Black), strong(Color::White)) {
        (true, true) => filter.side,
        (true, false) if filter.side != Some(Color::White) => Some(Color::Black),
        (false, true) if filter.side != Some(Color::Black) => Some(Color::White),
        _ => return,
    };
    collector.add_of(sides, &record.root, &moves, ending);
}

/// The rating in a line such as `'black_rate:name:2345.6`.
fn rating(record: &Record, color: Color) -> Option<f64> {
    let key = if color == Color::Black { "black_rate:" } else { "white_rate:" };
    let lines = record.asides.iter().chain(&record.comments);
    lines
        .filter_map(|l| l.trim_start_matches('\'').trim().strip_prefix(key))
        .find_map(|l| l.rsplit(':').next()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floodgate_ratings_are_parsed() {
        let mut record = Record::new(Position::startpos());
        record.asides = vec!["black_rate:a+b:2345.6".into(), "'white_rate:c:d:12".into()];
        assert_eq!(
            (rating(&record, Color::Black), rating(&record, Color::White)),
            (Some(2345.6), Some(12.0))
        );
    }
}
