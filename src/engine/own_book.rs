//! The opening book in play: [`OwnBook`].

use super::options::{INTERNAL, NO_BOOK, Opt, Options};
use crate::book::choose::{candidates, choose};
use crate::book::{BookMove, Library, Lookup};
use crate::position::{Position, Repetition};
use crate::search::BookLine;
use crate::support::random::Rng;
use crate::types::{MAX_PLY, Move};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The book's move in a position.
pub(super) struct BookHit {
    /// The move to play, and the reply to expect.
    pub best: Move,
    pub ponder: Option<Move>,
    /// The move's own line first, then those of the others.
    pub lines: Vec<BookLine>,
}

/// Whether a file is still the one that was read: its length in bytes and the time of its last change.
type Stamp = (u64, Option<SystemTime>);

/// None where there is no file.
fn stamp(path: &Path) -> Option<Stamp> {
    let data = std::fs::metadata(path).ok()?;
    Some((data.len(), data.modified().ok()))
}

/// The book that the options name.
pub(super) struct OwnBook {
    library: Library,
    /// The file, whether it stays on the disk, and what the files that its name stands for looked like.
    loaded: Option<(PathBuf, bool, Vec<Option<Stamp>>)>,
    rng: Rng,
}

impl Default for OwnBook {
    fn default() -> OwnBook {
        // games are to differ
        let seed = RandomState::new().hash_one(0);
        OwnBook { library: Library::default(), loaded: None, rng: Rng::new(seed) }
    }
}

/// Where a book lies: in `BookDir`, from here or else from beside the binary.
fn path_of(dir: &str, file: &str) -> PathBuf {
    let named = Path::new(dir).join(file);
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join(&named)));
    match beside.filter(|_| crate::book::files(&named).iter().all(|p| !p.exists())) {
        Some(other) if crate::book::files(&other).iter().any(|p| p.exists()) => other,
        _ => named,
    }
}

impl OwnBook {
    /// Opens the book of the options, unless it is open and unchanged on the disk. Errors go to `say`; there is then no book.
    pub fn prepare(&mut self, options: &Options, say: &mut dyn FnMut(&str)) {
        let file = options.text(Opt::BookFile);
        if !options.check(Opt::UsiOwnBook) || file.is_empty() || file == NO_BOOK {
            *self = OwnBook { rng: self.rng.clone(), ..OwnBook::default() };
            return;
        }
        let path = if file == INTERNAL { file.into() } else { path_of(options.text(Opt::BookDir), file) };
        let stamps = crate::book::files(&path).iter().map(|file| stamp(file)).collect();
        let wanted = (path, options.check(Opt::BookOnTheFly), stamps);
        if self.loaded.as_ref() == Some(&wanted) {
            return;
        }
        self.loaded = None;
        // the old one's memory is free before the new one is read
        self.library = Library::default();
        self.library =
            Library::open_sound(&wanted.0, wanted.1, &mut |text| say(&format!("BookFile: {text}")));
        if !self.library.is_empty() {
            self.loaded = Some(wanted);
        }
    }

    /// What to play from the book, if anything. `wanted` are the only moves allowed, if there are any. Why not goes to
    /// `say`, where the book has the position.
    pub fn hit(
        &mut self,
        pos: &Position,
        wanted: &[Move],
        options: &Options,
        say: &mut dyn FnMut(&str),
    ) -> Option<BookHit> {
        if self.library.is_empty() || !options.check(Opt::UsiOwnBook) {
            return None;
        }
        if i64::from(pos.game_ply()) > options.spin(Opt::BookMoves)
            || options.spin(Opt::BookIgnoreRate) > self.rng.below(100) as i64
        {
            return None;
        }
        let how = Lookup {
            ignore_ply: options.check(Opt::IgnoreBookPly),
            flipped: options.check(Opt::FlippedBook),
        };
        let moves = self.legal(pos, how, say);
        let mut choice_options = options.choice_options(pos.side_to_move());
        if options.text(Opt::BookFile) == INTERNAL {
            // its depths count plies to its leaves, which were searched with few nodes
            if moves.first().is_some_and(|m| m.depth().unwrap_or(0) == 0) {
                return None;
            }
            // the least scores are meant for even games; whoever gives a handicap begins below them
            if is_handicap(pos) {
                choice_options.eval_limit = i32::MIN;
            }
        }
        let mut left = candidates(&moves, choice_options, say);
        if !wanted.is_empty() {
            left.retain(|m| m.on(pos).is_some_and(|m| wanted.contains(&m)));
        }
        let before = left.len();
        left.retain(|m| !repeats(pos, m));
        if left.len() < before {
            say(&format!(
                "book: {} of {before} moves would repeat a position of this game",
                before - left.len()
            ));
        }
        let chosen = choose(&left, choice_options.by_count, &mut self.rng)?;
        let best = chosen.on(pos)?;
        let plies = options.spin(Opt::BookPvMoves) as usize;
        let others = moves.iter().filter(|m| m.mv != chosen.mv);
        let lines: Vec<BookLine> = std::iter::once(&chosen)
            .chain(others)
            .enumerate()
            .map(|(i, m)| BookLine {
                multipv: i + 1,
                centipawns: m.value().unwrap_or(0),
                depth: m.depth().unwrap_or(0),
                pv: self.line(pos, m, how, plies),
            })
            .collect();
        let mut next = pos.clone();
        next.do_move(best);
        let reply = BookMove::new(chosen.ponder).on(&next);
        let reply = reply.or_else(|| self.legal(&next, how, &mut |_| ()).first().and_then(|m| m.on(&next)));
        Some(BookHit { best, ponder: reply, lines })
    }

    /// The book's legal moves, in its order.
    fn legal(&self, pos: &Position, how: Lookup, say: &mut dyn FnMut(&str)) -> Vec<BookMove> {
        let mut moves = match self.library.find(pos, how) {
            Ok(moves) => moves,
            Err(e) => {
                say(&format!("book: error: {e}"));
                return Vec::new();
            }
        };
        moves.retain(|m| {
            let legal = m.on(pos).is_some();
            if !legal {
                say(&format!("book: {} is illegal in {}", crate::book::usi(m.mv), pos.sfen()));
            }
            legal
        });
        moves
    }

    /// The move and the book's best ones after it, until the book or its line ends or a position comes again.
    fn line(&self, pos: &Position, first: &BookMove, how: Lookup, plies: usize) -> Vec<Move> {
        let mut pos = pos.clone();
        let mut line = Vec::new();
        let mut next = Some(*first);
        while let Some((m, entry)) = next.and_then(|m| Some((m.on(&pos)?, m))) {
            line.push(m);
            pos.do_move(m);
            if line.len() >= plies || pos.repetition(MAX_PLY) != Repetition::None {
                break;
            }
            let moves = self.legal(&pos, how, &mut |_| ());
            // of the moves that are at least as good as the first, the first is the most played
            next = moves.first().copied();
            if next.is_none() {
                line.extend(BookMove::new(entry.ponder).on(&pos));
                break;
            }
        }
        line
    }
}

/// Whether pieces are missing on the board and in the hands.
fn is_handicap(pos: &Position) -> bool {
    pos.occupied().count() as usize + pos.pieces_in_hand() < 40
}

/// Whether the position after a move has been on the board before, with the same or a comparable hand: what the
/// repetition means is for the search to judge.
fn repeats(pos: &Position, m: &BookMove) -> bool {
    let Some(m) = m.on(pos) else { return true };
    let mut next = pos.clone();
    next.do_move(m);
    next.repetition(usize::MAX) != Repetition::None
}
