//! A run that searches a book's positions and grows it: [`grow`].

use super::effort::SearchEffort;
use super::frontier::{GrowthRules, Leaf, frontier};
use super::growing_book::GrowingBook;
use super::journal::{self, GrowthLine, SearchedPosition};
use super::replies::ReplyModel;
use crate::book::{Book, PackedPosition};
use crate::nnue::Network;
use crate::resume::interrupt::{self, Unfinished};
use crate::resume::{Journal, ResumeError};
use crate::search::{SearchOptions, Searchers};
use crate::support::console::{Progress, clock};
use crate::support::messages;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What to search, and for how long.
pub struct GrowthJob {
    /// The book to begin with; each position once.
    pub book: Book,
    /// Positions to search that are not in the book, with their plies.
    pub extra: BTreeMap<PackedPosition, u16>,
    /// Search every position of the book again.
    pub again: bool,
    /// Search only part `I` (from 0) of `N` of the positions, and drop the others.
    pub shard: Option<(usize, usize)>,
    /// Grow until the book has this number of positions.
    pub grow: usize,
    /// Grow from these positions, with their plies.
    pub roots: Vec<(PackedPosition, u16)>,
    /// Which leaves to search.
    pub expansion: GrowthRules,
    /// Which moves are likely.
    pub replies: ReplyModel,
    /// How long a position is searched.
    pub effort: SearchEffort,
    /// Evaluates the searches.
    pub network: Arc<Network>,
    /// Positions searched at once, each on one thread.
    pub threads: usize,
    /// The file of the searches until the book is written.
    pub journal: PathBuf,
    /// Stop after this time.
    pub max_time: Option<Duration>,
    /// No progress lines.
    pub quiet: bool,
}

/// Why a book cannot grow.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum GrowthError {
    #[error(transparent)]
    Unfinished(#[from] Unfinished),
    #[error(transparent)]
    Journal(#[from] ResumeError),
    #[error(transparent)]
    Searchers(#[from] io::Error),
}

/// A run in progress.
struct Growth<'a> {
    job: &'a GrowthJob,
    searchers: Searchers,
    book: GrowingBook,
    journal: Journal<GrowthLine>,
    /// Searches of the present round from an earlier process.
    known: HashMap<PackedPosition, SearchedPosition>,
    begin: Instant,
    progress: Progress,
    /// Searches of this process.
    searched: usize,
}

/// Searches and grows the book. Also returns the journal; remove it when the book is written.
///
/// # Errors
/// [`GrowthError::Unfinished`] when stopped, with all searches in the journal; no memory or threads; the
/// journal's file, another process that uses it, other settings in it.
pub fn grow(job: &GrowthJob) -> Result<(Book, Journal<GrowthLine>), GrowthError> {
    let mut book = GrowingBook::new(&job.book);
    let mut todo: Vec<Leaf> = book.to_search(job.again).map(Leaf::wanted).collect();
    let extra = job.extra.iter().filter(|(p, _)| !book.entries.contains_key(p));
    todo.extend(extra.map(|(p, ply)| Leaf::wanted((*p, *ply))));
    if let Some((index, count)) = job.shard {
        todo = todo.into_iter().skip(index).step_by(count).collect();
        let own: HashSet<PackedPosition> = todo.iter().map(|leaf| leaf.packed).collect();
        book.entries.retain(|packed, _| own.contains(packed));
    }
    let (journal, searches) = journal::open(&job.journal, &settings(job, &book, &todo)?)?;
    searches.rounds.iter().flatten().for_each(|searched| book.add(searched));
    // the positions above are the first round
    if !searches.rounds.is_empty() {
        todo.clear();
    }
    let options = SearchOptions::self_play(job.effort.fv_scale);
    let mut growth = Growth {
        job,
        searchers: Searchers::new(&job.network, job.effort.hash, &options, job.threads)?,
        book,
        journal,
        known: searches.rest.into_iter().map(|searched| (searched.packed, searched)).collect(),
        begin: Instant::now(),
        progress: Progress::new(job.quiet),
        searched: 0,
    };
    growth.announce(todo.len());
    loop {
        if todo.is_empty() {
            todo = growth.next_round();
        }
        if todo.is_empty() {
            break;
        }
        growth.search_round(&todo)?;
        todo.clear();
    }
    let seconds = growth.begin.elapsed().as_secs_f64();
    growth.progress.say(&messages::searched(growth.searched, clock(seconds)));
    Ok((growth.book.book(), growth.journal))
}

impl Growth<'_> {
    /// Says how long the searches may take, by the time of a short one: those of a growing book are mostly
    /// short.
    fn announce(&mut self, todo: usize) {
        let Growth { job, searchers, book, progress, .. } = self;
        let count = todo.max(job.grow.saturating_sub(book.entries.len()));
        let first = job.roots.first().and_then(|(root, ply)| root.position(*ply));
        let Some(pos) = first.filter(|_| count > 0 && !job.quiet) else { return };
        let probability = if todo < count { 0.0 } else { 1.0 };
        let begin = Instant::now();
        let threads = vec![(); job.threads.min(count)];
        searchers.map(&threads, |searcher, ()| job.effort.search(searcher, &pos, &[], probability));
        let seconds = begin.elapsed().as_secs_f64() * count as f64 / threads.len() as f64;
        progress.say(&messages::book_effort(count, job.threads, clock(seconds)));
    }

    /// The leaves to search next; none if the book is large enough or nothing is of interest.
    fn next_round(&self) -> Vec<Leaf> {
        let size = self.book.entries.len();
        // larger rounds for larger books, because every round solves the whole graph
        let most = self.job.grow.saturating_sub(size).min((size / 16).max(64));
        if most == 0 {
            return Vec::new();
        }
        let Growth { job, book, .. } = self;
        frontier(&book.book(), &job.roots, &job.expansion, &job.replies, &book.game_over, most)
    }

    /// Searches the positions that the journal does not have, and adds all to the book.
    fn search_round(&mut self, todo: &[Leaf]) -> Result<(), GrowthError> {
        let Growth { job, searchers, book, journal, known, begin, progress, searched } = self;
        let (job, begin, before) = (*job, *begin, *searched);
        let missing: Vec<Leaf> = todo.iter().filter(|l| !known.contains_key(&l.packed)).copied().collect();
        let again = missing.iter().filter(|l| book.entries.contains_key(&l.packed)).count();
        let finished = book.entries.len() - again;
        let total = job.grow.max(finished + missing.len());
        let late = || interrupt::requests() > 0 || job.max_time.is_some_and(|t| begin.elapsed() >= t);
        let results = Mutex::new((&mut *journal, &mut *known, searched, progress));
        let done = searchers.map(
            &missing,
            |searcher, &Leaf { packed, ply, probability }| -> Result<(), ResumeError> {
                if late() {
                    return Ok(());
                }
                let old = book.entries.get(&packed).map_or(&[][..], |(_, moves)| moves);
                // a position against the rules has no moves
                let moves = packed
                    .position(ply)
                    .map_or(Vec::new(), |pos| job.effort.search(searcher, &pos, old, probability));
                let result = SearchedPosition { packed, ply, moves };
                let mut guard = results.lock().unwrap_or_else(PoisonError::into_inner);
                let (journal, known, searched, progress) = &mut *guard;
                journal.append(&GrowthLine::Searched(result.clone()))?;
                known.insert(packed, result);
                **searched += 1;
                let done = finished + (**searched - before);
                let speed = **searched as f64 / begin.elapsed().as_secs_f64();
                let left = clock(total.saturating_sub(done) as f64 / speed);
                progress.update(|| messages::searches(done, total, speed, left));
                Ok(())
            },
        );
        done.into_iter().collect::<Result<(), _>>()?;
        journal.sync()?;
        let round: Option<Vec<SearchedPosition>> =
            todo.iter().map(|leaf| known.get(&leaf.packed).cloned()).collect();
        round.ok_or(Unfinished)?.iter().for_each(|searched| book.add(searched));
        known.clear();
        Ok(journal.append(&GrowthLine::RoundEnd)?)
    }
}

/// Everything that determines the searches. The final size is not part of it, so that a finished run may grow
/// further.
fn settings(job: &GrowthJob, book: &GrowingBook, todo: &[Leaf]) -> io::Result<Json> {
    let GrowthJob { effort: e, expansion: x, .. } = job;
    let mut start = crc32fast::Hasher::new();
    for (packed, (ply, moves)) in &book.entries {
        start.update(&packed.0);
        start.update(format!("{ply} {moves:?}").as_bytes());
    }
    let todo = todo.iter().map(|leaf| (leaf.packed, leaf.ply));
    for (packed, ply) in todo.chain(job.roots.iter().copied()) {
        start.update(&packed.0);
        start.update(&ply.to_le_bytes());
    }
    Ok(json!({
        "nodes": e.nodes, "least_nodes": e.least_nodes, "movetime": e.movetime, "multipv": e.multipv,
        "hash": e.hash, "fv_scale": e.fv_scale,
        "margin": x.margin, "range": x.range, "own_margin": x.own_margin,
        "replies": job.replies.identity(), "max_ply": x.max_ply, "draw": x.draw,
        "shard": job.shard,
        "network": job.network.sha256()?,
        "positions": start.finalize(),
    }))
}
