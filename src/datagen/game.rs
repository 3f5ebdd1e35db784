//! One self-play game: [`SelfPlayer`].

use super::openings::Openings;
use super::settings::DatagenSettings;
use crate::data::psv::PackedSfenValue;
use crate::data::referee::{self, Agreement};
use crate::data::{EndReason, GameRecord, GameResult, PlyRecord};
use crate::nnue::Network;
use crate::position::Position;
use crate::search::{
    LastLines, Limits, Observer, SearchOptions, SearchResult, Searcher, Silent, TreePosition,
};
use crate::support::memory::OutOfMemory;
use crate::support::random::Rng;
use crate::types::{Move, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Hard node limit of a search, as a multiple of its soft limit.
const NODES_OVERRUN: u64 = 4;

/// Separates the random numbers that choose positions of a tree from those of the game.
const TREES: u64 = 0x7472_6565;

/// Plays games with one single-threaded search.
pub struct SelfPlayer {
    searcher: Searcher,
    settings: Arc<DatagenSettings>,
    openings: Arc<Openings>,
    nodes: u64,
    /// Positions inside the searches of the present game.
    trees: Vec<TreePosition>,
    /// The game that would follow the last one, if it was played to its end.
    next: Option<u64>,
}

impl SelfPlayer {
    /// # Errors
    /// [`OutOfMemory`] for the search's tables.
    pub fn new(
        network: Arc<Network>,
        settings: Arc<DatagenSettings>,
        openings: Arc<Openings>,
    ) -> Result<SelfPlayer, OutOfMemory> {
        let options = SearchOptions {
            entering_king_rule: referee::DECLARATION,
            ..SearchOptions::self_play(settings.fv_scale)
        };
        let mut searcher = Searcher::new(network, settings.hash, options)?;
        searcher.keep_tree(settings.trees > 0);
        Ok(SelfPlayer { searcher, settings, openings, nodes: 0, trees: Vec::new(), next: None })
    }

    /// Nodes searched so far.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The labelled positions inside the searches of the last game, which ended with `result`.
    pub fn take_trees(&mut self, result: GameResult) -> Vec<PackedSfenValue> {
        let record = |p: TreePosition| PackedSfenValue {
            sfen: p.sfen,
            score: p.score.clamp(-i32::from(i16::MAX), i32::from(i16::MAX)) as i16,
            mv: p.best.raw16(),
            ply: p.ply,
            result: result.sign(p.turn),
            padding: 0,
        };
        self.trees.drain(..).map(record).collect()
    }

    /// Plays game number `id`, which depends on the settings, the network and `id` only: to play a game in the
    /// middle of a series, the player first plays the games before it, unless it has just done so. `None` when
    /// `abandon` was set before the game's end.
    pub fn play(&mut self, id: u64, abandon: &AtomicBool) -> Option<GameRecord> {
        let first = id - id % self.settings.series;
        let mut from = self.next.take().filter(|&next| next == id && next != first).unwrap_or(first);
        if from == first {
            self.searcher.clear();
        }
        while from < id {
            self.play_next(from, abandon)?;
            from += 1;
        }
        let game = self.play_next(id, abandon)?;
        self.next = Some(id + 1);
        Some(game)
    }

    /// Plays a game with the present tables of the search.
    fn play_next(&mut self, id: u64, abandon: &AtomicBool) -> Option<GameRecord> {
        let mut rng = Rng::for_stream(self.settings.seed, id);
        // random numbers of their own, so that the games are the same with and without trees
        let mut tree_rng = Rng::for_stream(self.settings.seed ^ TREES, id);
        self.trees.clear();
        let settings = self.settings.clone();
        let openings = self.openings.clone();
        let (start, mut pos, opening) = openings.draw(&settings, &mut rng, |pos| self.is_balanced(pos));
        // a position from a file may be late in its game
        let last_ply = pos.game_ply() - pos.history_len() as u32 - 1 + settings.max_ply;
        self.searcher.options_mut().max_moves_to_draw = last_ply;
        let mut plies = Vec::with_capacity(160);
        let mut decided = Agreement::new(settings.decided_score, settings.decided_plies);
        let (result, reason) = loop {
            if abandon.load(Relaxed) {
                return None;
            }
            if let Some(verdict) = referee::by_rules(&pos, last_ply) {
                break verdict;
            }
            let us = pos.side_to_move();
            let may_randomize = pos.history_len() < settings.random_until as usize;
            // both random numbers are always drawn, so that one setting does not shift the other's sequence
            let (random, few) = (rng.chance(settings.random_chance), rng.chance(settings.multipv_chance));
            if may_randomize && few {
                let (m, score) = self.one_of_the_best(&pos, &mut rng);
                plies.push(PlyRecord::new(m, score, false));
                pos.do_move(m);
                continue;
            }
            let found = self.search(&pos, settings.nodes, settings.depth, &Silent);
            if settings.trees > 0 {
                let mut tree = self.searcher.take_tree();
                tree_rng.shuffle(&mut tree);
                self.trees.extend(tree.iter().take(settings.trees));
            }
            if !found.best.is_some() {
                // not expected, because `by_rules` has found a legal move
                break (GameResult::win(!us), EndReason::Mate);
            }
            let fit = is_fit(&pos, &found, settings.fit_score);
            if let Some(verdict) = decided.record(us, found.score) {
                plies.push(PlyRecord::new(found.best, found.score, fit));
                break verdict;
            }
            let m = if may_randomize && random {
                let legal = pos.legal_moves(false);
                legal[rng.below(legal.len())].mv
            } else {
                found.best
            };
            plies.push(PlyRecord::new(m, found.score, fit && m == found.best));
            pos.do_move(m);
        };
        let most = match result {
            GameResult::Draw => settings.fit_per_game / 2,
            _ => settings.fit_per_game,
        };
        thin_out(&mut plies, most, &mut rng);
        let opening = opening.iter().map(|m| m.raw16()).collect();
        Some(GameRecord { id, start, opening, plies, result, reason })
    }

    fn search(
        &mut self,
        pos: &Position,
        nodes: u64,
        depth: Option<i32>,
        observer: &dyn Observer,
    ) -> SearchResult {
        let limits = match depth {
            Some(d) => Limits::depth(d),
            None => Limits {
                soft_nodes: Some(nodes),
                nodes: Some(nodes.saturating_mul(NODES_OVERRUN)),
                ..Limits::default()
            },
        };
        let found = self.searcher.search(pos, &limits, observer);
        self.nodes += found.nodes;
        found
    }

    /// Whether a quick search finds neither side far ahead.
    fn is_balanced(&mut self, pos: &Position) -> bool {
        let found =
            self.search(pos, self.settings.nodes / 4, self.settings.depth.map(|d| d / 2 + 1), &Silent);
        found.best.is_some() && found.score.abs() <= self.settings.balance
    }

    /// One of the best few moves within the margin, each as likely, and the position's score.
    fn one_of_the_best(&mut self, pos: &Position, rng: &mut Rng) -> (Move, Value) {
        let lines = LastLines::default();
        self.searcher.options_mut().multi_pv = self.settings.multipv;
        let settings = self.settings.clone();
        let found = self.search(pos, settings.nodes, settings.depth, &lines);
        self.searcher.options_mut().multi_pv = 1;
        let mut lines = lines.take();
        lines.retain(|line| line.pv[0].is_some() && line.score >= found.score - settings.multipv_margin);
        let m = lines.get(rng.below(lines.len())).map_or(found.best, |line| line.pv[0]);
        (m, found.score)
    }
}

/// Whether a network can learn the score from the static position: no check, no capture pending, game not
/// decided.
fn is_fit(pos: &Position, found: &SearchResult, bound: Value) -> bool {
    !pos.in_check() && !pos.is_capture(found.best) && !found.best.is_promotion() && found.score.abs() <= bound
}

/// Marks fit positions as unfit, evenly over the game, until at most `most` are left.
fn thin_out(plies: &mut [PlyRecord], most: usize, rng: &mut Rng) {
    let mut left = plies.iter().filter(|p| p.fit).count();
    let mut keep = most.min(left);
    for p in plies.iter_mut().filter(|p| p.fit) {
        // selection sampling: each of the positions left is kept with probability keep / left
        p.fit = rng.below(left) < keep;
        keep -= usize::from(p.fit);
        left -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_requested_number() {
        let mut rng = Rng::new(5);
        for (n, most) in [(0, 10), (5, 10), (300, 100), (300, 0)] {
            let mut plies = vec![PlyRecord { mv: 1, score: 0, fit: true }; n];
            thin_out(&mut plies, most, &mut rng);
            assert_eq!(plies.iter().filter(|p| p.fit).count(), n.min(most));
        }
    }
}
