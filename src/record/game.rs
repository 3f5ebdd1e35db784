//! A game as a tree of moves, the hub between the formats.

use super::special::Special;
use crate::position::Position;
use crate::types::{Color, Move};
use std::time::Duration;

/// How deep variations may stand within variations. People's records have a handful; the bound keeps a hostile file
/// from exhausting the stack.
pub const DEEPEST: usize = 300;

/// A game: who played, from where, which moves, and how it ended. The moves are its main line; alternatives hang on the
/// move that they replace.
#[derive(Clone)]
pub struct Record {
    /// Black's and White's name, empty where unknown.
    pub names: [String; 2],
    /// What else is known, by the names of CSA's `$` lines where CSA has one (`EVENT`, `START_TIME`, ...), else by the
    /// heading that KIF uses (表題).
    pub headers: Vec<(String, String)>,
    /// Comments on the starting position, without the sign that makes them comments.
    pub comments: Vec<String>,
    /// Lines that programs write for themselves and readers pass over: `'` without `*` in CSA, `#` in KIF.
    pub asides: Vec<String>,
    /// The name under which the starting position can be found again (しおり).
    pub bookmark: Option<String>,
    /// Where the moves begin.
    pub root: Position,
    /// From the first on.
    pub moves: Vec<Ply>,
    /// How the line ends, if that is known.
    pub end: Option<End>,
}

/// A move of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    /// The move.
    pub mv: Move,
    /// What the clock charged for it.
    pub time: Option<Duration>,
    /// Comments for readers, a line each.
    pub comments: Vec<String>,
    /// Lines of programs, as those of [`Record`].
    pub asides: Vec<String>,
    /// The name of a bookmark set here.
    pub bookmark: Option<String>,
    /// What could be played instead (変化).
    pub variations: Vec<Line>,
}

/// What stands in place of a move at the end of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Resignation and the like.
    pub special: Special,
    /// What the file calls it, if that is none of KIF's words.
    pub words: Option<String>,
    /// What the last player used.
    pub time: Option<Duration>,
    /// Comments for readers, a line each.
    pub comments: Vec<String>,
    /// Lines of programs, as those of [`Record`].
    pub asides: Vec<String>,
    /// The name of a bookmark set here.
    pub bookmark: Option<String>,
    /// Other ways to go on.
    pub variations: Vec<Line>,
}

/// A line of play.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// From the first on.
    pub moves: Vec<Ply>,
    /// How the line ends, if that is known.
    pub end: Option<End>,
}

impl Ply {
    /// A move of which nothing more is known.
    pub fn of(mv: Move) -> Ply {
        Ply {
            mv,
            time: None,
            comments: Vec::new(),
            asides: Vec::new(),
            bookmark: None,
            variations: Vec::new(),
        }
    }
}

impl End {
    /// An ending of which nothing more is known.
    pub fn of(special: Special) -> End {
        End {
            special,
            words: None,
            time: None,
            comments: Vec::new(),
            asides: Vec::new(),
            bookmark: None,
            variations: Vec::new(),
        }
    }
}

impl Record {
    /// A record without moves.
    pub fn new(root: Position) -> Record {
        Record {
            names: Default::default(),
            headers: Vec::new(),
            comments: Vec::new(),
            asides: Vec::new(),
            bookmark: None,
            root,
            moves: Vec::new(),
            end: None,
        }
    }

    /// The position after the last move of the main line, with its history.
    pub fn position(&self) -> Position {
        let mut position = self.root.clone();
        for ply in &self.moves {
            position.do_move(ply.mv);
        }
        position
    }

    /// The player of the move with that index (0 = the first).
    pub fn mover(&self, index: usize) -> Color {
        if index.is_multiple_of(2) { self.root.side_to_move() } else { !self.root.side_to_move() }
    }

    /// The value of the header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Visits every move and ending of the tree, variations too, in no useful order; an ending with the side to move.
    pub fn visit(&self, on_ply: &mut dyn FnMut(&Ply), on_end: &mut dyn FnMut(&End, Color)) {
        visit(&self.moves, self.end.as_ref(), self.root.side_to_move(), on_ply, on_end);
    }
}

/// Visits a line; `turn` is the side to move at its beginning.
fn visit(
    moves: &[Ply],
    end: Option<&End>,
    mut turn: Color,
    on_ply: &mut dyn FnMut(&Ply),
    on_end: &mut dyn FnMut(&End, Color),
) {
    for ply in moves {
        on_ply(ply);
        for line in &ply.variations {
            visit(&line.moves, line.end.as_ref(), turn, on_ply, on_end);
        }
        turn = !turn;
    }
    if let Some(end) = end {
        on_end(end, turn);
        for line in &end.variations {
            visit(&line.moves, line.end.as_ref(), turn, on_ply, on_end);
        }
    }
}
