//! Mate search (tsume-shogi): does a sequence of checks mate, and how? [`Solver`] answers for any position.
//!
//! Every move of the attacker is a check, the defender plays any legal move; the attacker fails if he has no
//! check, or comes back to a position of the line with no more in hand than before. Mate by dropping a pawn
//! is no mate. The position may have both kings or only the defender's.
//!
//! The search is df-pn with a table of bounded size. Where things are: [`solver`](Solver) (the loop that
//! finds, then shortens), `search` (df-pn), `expansion` (a position with its moves), `table` and `paths`
//! (what is remembered), `hands` (the hands that results hold for), `estimate` (first guesses), `line` (the
//! moves of a mate), `node` and `visits` (the line under search).
//!
//! ```
//! use toratsugumi::mate::{Answer, Limits, Solver};
//! use toratsugumi::position::Position;
//!
//! let problem = Position::from_sfen("6Sk1/6p1P/9/9/9/9/9/9/9 b Rr2b4g3s4n4l16p 1")?;
//! let outcome = Solver::new(16)?.solve_apart(&problem, &[], &Limits::default())?;
//! let Answer::Mate(mate) = outcome.answer else { panic!("there is a mate") };
//! assert_eq!(mate.line, [problem.parse_move("R*1a")?]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::position::Position;

mod estimate;
mod expansion;
mod hands;
mod interposition;
mod limits;
mod line;
mod node;
mod paths;
mod search;
mod solver;
mod table;
mod value;
mod visits;

pub use interposition::useless_tail;
pub use limits::{Limits, Shorten};
pub use solver::{Answer, Mate, Outcome, Progress, STACK, Solver};

/// Why nobody can be mated in a position: the side to move attacks, and the other has no king.
pub fn no_king_to_mate(position: &Position) -> Option<String> {
    let attacker = position.side_to_move();
    (!position.king_square(!attacker).is_some()).then(|| {
        format!("{attacker:?} is to move, but {:?} has no king to mate: the defender is to move", !attacker)
    })
}
