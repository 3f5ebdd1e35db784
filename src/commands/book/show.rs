//! `toratsugumi book show`.

use super::files;
use crate::book::nearest::nearest;
use crate::book::{BookMove, Lookup, OpenBook};
use crate::commands::positions;
use crate::engine::Game;
use crate::position::Position;
use crate::support::console::{left, note, say};
use crate::support::lang::Lang;
use crate::support::messages;
use std::error::Error;
use std::path::PathBuf;

/// Show a position's moves in a book
///
/// Finds the position at any move number, and with the board flipped. If the book does not have it, the last
/// position of --moves that it has is printed, or else the most similar position.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The book to read
    #[arg(value_name = "BOOK")]
    input: PathBuf,
    /// The position to show [default: the initial one]
    #[arg(long)]
    sfen: Option<String>,
    /// Moves from there, in USI (7g7f 3c3d ...)
    #[arg(long, num_args = 1.., value_name = "MOVE")]
    moves: Vec<String>,
    /// Book moves shown after each move
    #[arg(long, default_value_t = 6, value_name = "PLIES")]
    pv: usize,
}

/// Runs `book show`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut game = Game::default();
    let moves = args.moves.iter().map(String::as_str);
    game.update(args.sfen.as_deref(), moves).map_err(positions::refused)?;
    let pos = game.position();
    let book = OpenBook::open(&args.input, true, &mut |text| note!("{text}"))?;
    let lang = Lang::of_process();
    say!("{}\nsfen {}\n", lang.board(pos), pos.sfen())?;
    let how = Lookup { ignore_ply: true, flipped: true };
    let moves = book.find(pos, how).map_err(|e| e.in_file(&args.input))?;
    if moves.is_empty() {
        return Ok(say!("{}", not_in(&book, args, &game, how)?)?);
    }
    let last = game.before_last().map(|(_, m)| m.to());
    let total: u64 = moves.iter().map(|m| u64::from(m.count().unwrap_or(0))).sum();
    say!("{}", messages::book_header())?;
    for (i, m) in moves.iter().enumerate() {
        let number = |n: Option<i64>| n.map_or("-".to_string(), |n| n.to_string());
        let share = match (m.count(), total) {
            (Some(n), 1..) => format!("{:.1}%", 100.0 * f64::from(n) / total as f64),
            _ => "-".into(),
        };
        let (name, line) = match m.on(pos) {
            Some(_) => {
                let line = line_of(&book, pos, m, how, args.pv)?;
                let mut words = lang.spell_line(pos, last, &line).into_iter();
                (words.next().unwrap_or_default(), words.collect::<Vec<_>>().join(" "))
            }
            None => (messages::illegal(crate::book::usi(m.mv)), String::new()),
        };
        say!(
            "{:>2}  {} {:>7} {:>6} {:>9} {share:>6}  {line}",
            i + 1,
            left(&name, 12),
            number(m.value().map(i64::from)),
            number(m.depth().map(i64::from)),
            number(m.count().map(i64::from)),
        )?;
    }
    Ok(())
}

/// What to say of a position that is not in the book: the last one of its line that is, or else the nearest.
fn not_in(book: &OpenBook, args: &Args, game: &Game, how: Lookup) -> Result<String, Box<dyn Error>> {
    for n in (0..args.moves.len()).rev() {
        let mut before = Game::default();
        before.update(args.sfen.as_deref(), args.moves[..n].iter().map(String::as_str))?;
        if !book.find(before.position(), how)?.is_empty() {
            return Ok(match n {
                0 => messages::root_in_book(),
                _ => messages::left_book(n, before.position().sfen()),
            });
        }
    }
    let all = files::read(&args.input)?;
    let (nearest, differences) = nearest(&all, game.position()).ok_or("an empty book")?;
    Ok(messages::nearest_in_book(differences, nearest.position()?.sfen()))
}

/// The move and the book's best moves after it.
fn line_of(
    book: &OpenBook,
    pos: &Position,
    first: &BookMove,
    how: Lookup,
    plies: usize,
) -> Result<Vec<crate::types::Move>, Box<dyn Error>> {
    let mut pos = pos.clone();
    let mut line = Vec::new();
    let mut next = first.on(&pos);
    let mut reply = first.ponder;
    while let Some(m) = next {
        line.push(m);
        pos.do_move(m);
        if line.len() > plies {
            break;
        }
        let moves = book.find(&pos, how)?;
        let best = moves.iter().find_map(|m| Some((m.on(&pos)?, m.ponder)));
        next = best.map(|(m, _)| m).or_else(|| BookMove::new(reply).on(&pos));
        reply = best.map_or(0, |(_, ponder)| ponder);
    }
    Ok(line)
}
