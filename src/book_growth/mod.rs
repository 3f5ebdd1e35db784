//! Growing opening books by search: [`grow`] searches a book's positions, then the
//! leaves that [`frontier`] chooses, until the book has the size of the [`GrowthJob`]. [`SearchEffort`] is
//! the search of one position. A journal stores the searches, so a run that was killed continues.

mod effort;
mod frontier;
mod growing_book;
mod journal;
mod replies;
mod run;

pub use effort::SearchEffort;
pub use frontier::{GrowthRules, Leaf, frontier, likeliest, score_of};
pub use replies::ReplyModel;
pub use run::{GrowthError, GrowthJob, grow};
