//! One position of the line under search, with all its moves and the knowledge about each.

use super::estimate;
use super::hands;
use super::node::Node;
use super::paths::Paths;
use super::table::{Query, Table};
use super::value::{Count, ENDLESS, INFINITE, Knowledge, NO_REPETITION, Plies, one_less, one_more};
use crate::types::{Hand, Key, Move, MoveList};

/// Numbers as large as this are not added up, to avoid an overflow.
const TOO_LARGE_TO_ADD: Count = 1 << 50;
/// The largest difference of numbers on a suspected second way to the same position.
pub(super) const ANCESTOR_TOLERANCE: Count = 3 * super::value::UNIT;

/// No move.
const NONE: u16 = u16::MAX;

#[derive(Clone, Copy)]
struct Child {
    mv: Move,
    order: i32,
    knowledge: Knowledge,
    query: Query,
    path: Key,
    /// The neighbours among moves that are alike.
    earlier: u16,
    later: u16,
    /// Whether it is in the ranking.
    in_play: bool,
}

/// A position with its moves. The numbers of a position: phi is the smallest phi of its children; delta is
/// the sum of their deltas, or for children not in `sums` the largest of theirs.
#[derive(Default)]
pub(super) struct Expansion {
    attacking: bool,
    plies: Plies,
    board: Key,
    hand: Hand,
    depth: usize,
    children: Vec<Child>,
    /// The children in play, best first; those that wait for a similar one are left out.
    ranking: Vec<u16>,
    sums: u64,
    /// Over all children in play but the first.
    sum_of_others: Count,
    max_of_others: Count,
    /// Whether numbers come from a search nearer to the root, so that a loop may hide.
    pub old: bool,
}

/// The parameters of an expansion.
pub(super) struct Task<'a> {
    /// The number of plies within which to mate.
    pub plies: Plies,
    /// Whether this is the first expansion: then its leaves are examined more closely.
    pub first: bool,
    pub sums: u64,
    /// Moves that are excluded.
    pub without: &'a [Move],
}

impl Expansion {
    /// Generates the moves of the current position and looks up what is known about them.
    pub(super) fn fill(&mut self, node: &mut Node, table: &mut Table, paths: &Paths, task: &Task) {
        self.attacking = node.attacking();
        self.plies = task.plies;
        (self.board, self.hand, self.depth) = (node.board(), node.hand(), node.depth());
        self.sums = task.sums;
        self.old = false;
        self.children.clear();
        self.ranking.clear();
        self.list_moves(node, table, task.without);
        self.link_alike(node);
        for i in 0..self.children.len() {
            let in_play = self.look_at(i, node, table, paths, task.first);
            if in_play {
                self.children[i].in_play = true;
                self.ranking.push(i as u16);
                if self.children[i].knowledge.phi(self.attacking) == 0 {
                    break;
                }
            }
        }
        let mut ranking = std::mem::take(&mut self.ranking);
        ranking.sort_unstable_by_key(|&i| self.rank(i));
        self.ranking = ranking;
        self.add_up();
    }

    /// All keys are computed before the first look-up, so that the entries are prefetched.
    fn list_moves(&mut self, node: &Node, table: &Table, without: &[Move]) {
        let mut moves = MoveList::new();
        node.generate(&mut moves);
        let defender = if self.attacking { !node.pos.side_to_move() } else { node.pos.side_to_move() };
        for m in moves.iter().map(|m| m.mv).filter(|m| !without.contains(m)) {
            self.children.push(Child {
                mv: m,
                order: estimate::order(&node.pos, m, defender),
                knowledge: Knowledge::NOTHING,
                query: table.query(node.board_after(m), node.hand_after(m), self.depth + 1),
                path: node.path_after(m),
                earlier: NONE,
                later: NONE,
                in_play: false,
            });
        }
    }

    fn link_alike(&mut self, node: &Node) {
        let mut last: arrayvec::ArrayVec<(u32, u16), 12> = arrayvec::ArrayVec::new();
        for i in 0..self.children.len() {
            let key = estimate::likeness(&node.pos, self.children[i].mv, self.attacking);
            if key == 0 {
                continue;
            }
            if let Some(seen) = last.iter_mut().find(|(k, _)| *k == key) {
                self.children[i].earlier = seen.1;
                self.children[seen.1 as usize].later = i as u16;
                seen.1 = i as u16;
            } else {
                // kinds beyond the capacity are not linked
                let _ = last.try_push((key, i as u16));
            }
        }
    }

    /// Looks up a child; returns whether it is in play.
    fn look_at(&mut self, i: usize, node: &mut Node, table: &mut Table, paths: &Paths, first: bool) -> bool {
        let attacking = self.attacking;
        let child = &mut self.children[i];
        let hand = child.query.hand;
        if let Some(depth) = node.returns_to(child.query.board, hand) {
            child.knowledge = Knowledge::repeats(hand, self.plies, 1, depth);
            return true;
        }
        // the child is mated at once, or needs one move more
        let least = if attacking { 0 } else { 1 };
        if self.plies <= least {
            child.knowledge = Knowledge::no_mate(hand, least - 1, 1);
            return true;
        }
        let plies = one_less(self.plies);
        let found = table.look_up(&mut child.query, plies);
        child.knowledge = found.knowledge;
        if !child.knowledge.is_decided() {
            if found.repeats
                && let Some((depth, plies)) = paths.look_up(child.path, plies)
            {
                child.knowledge = Knowledge::repeats(hand, plies, found.knowledge.work, depth);
                return true;
            }
            self.old |= found.old;
            if child.knowledge.fresh {
                let (pn, dn) = if attacking {
                    estimate::after_check(&node.pos, child.mv)
                } else {
                    estimate::after_answer(&node.pos, child.mv)
                };
                child.knowledge.pn = child.knowledge.pn.max(pn);
                child.knowledge.dn = child.knowledge.dn.max(dn);
            }
            if child.knowledge.delta(attacking) >= TOO_LARGE_TO_ADD {
                self.sums &= !bit(i);
            }
            let mut earlier = self.children[i].earlier;
            while earlier != NONE {
                let before = &self.children[earlier as usize];
                if !before.knowledge.is_decided() {
                    return false;
                }
                earlier = before.earlier;
            }
            let child = &mut self.children[i];
            if first && !attacking && child.knowledge.fresh {
                node.play(child.mv);
                let leaf = obvious(node);
                node.take_back();
                if let Some(leaf) = leaf {
                    child.knowledge = leaf;
                    table.store(&mut child.query, &leaf, None);
                }
            }
        }
        true
    }

    #[inline]
    fn rank(&self, i: u16) -> (Count, Count, i32, u32, i32) {
        let child = &self.children[i as usize];
        let (phi, delta, tie, work) = child.knowledge.rank(self.attacking);
        (phi, delta, tie, work, child.order)
    }

    fn add_up(&mut self) {
        (self.sum_of_others, self.max_of_others) = (0, 0);
        for &i in self.ranking.iter().skip(1) {
            let delta = self.children[i as usize].knowledge.delta(self.attacking);
            if self.sums & bit(i as usize) != 0 {
                self.sum_of_others = (self.sum_of_others + delta).min(INFINITE);
            } else {
                self.max_of_others = self.max_of_others.max(delta);
            }
        }
    }

    /// Whether no move is in play: there is none, or none counts.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ranking.is_empty()
    }

    #[inline]
    fn front(&self) -> &Child {
        &self.children[self.ranking[0] as usize]
    }

    /// The most promising move; there must be one.
    #[inline]
    pub(super) fn best(&self) -> Move {
        self.front().mv
    }

    #[inline]
    pub(super) fn best_knowledge(&self) -> &Knowledge {
        &self.front().knowledge
    }

    /// The board and hand after the most promising move.
    #[inline]
    pub(super) fn best_position(&self) -> (Key, Hand) {
        (self.front().query.board, self.front().query.hand)
    }

    /// The moves in play with what is known about them, best first.
    pub(super) fn results(&self) -> impl Iterator<Item = (Move, &Knowledge)> {
        self.ranking.iter().map(|&i| {
            let child = &self.children[i as usize];
            (child.mv, &child.knowledge)
        })
    }

    #[inline]
    fn phi(&self) -> Count {
        if self.ranking.is_empty() { INFINITE } else { self.front().knowledge.phi(self.attacking) }
    }

    /// The share of the waiting moves in delta.
    #[inline]
    fn waiting(&self) -> Count {
        match self.children.len() - self.ranking.len() {
            0 => 0,
            n => (n as Count / 8).max(1),
        }
    }

    #[inline]
    fn delta(&self) -> Count {
        if self.ranking.is_empty() {
            return 0;
        }
        let front = self.front().knowledge.delta(self.attacking);
        let (mut sum, mut max) = (self.sum_of_others, self.max_of_others);
        if self.sums & bit(self.ranking[0] as usize) != 0 {
            sum += front;
        } else {
            max = max.max(front);
        }
        (sum + max + self.waiting()).min(INFINITE)
    }

    /// The thresholds of the search of the best child, from those of this position; pn first in both.
    #[inline]
    pub(super) fn thresholds(&self, pn: Count, dn: Count) -> (Count, Count) {
        let (phi, delta) = if self.attacking { (pn, dn) } else { (dn, pn) };
        let second = match self.ranking.get(1) {
            Some(&i) => self.children[i as usize].knowledge.phi(self.attacking),
            None => INFINITE,
        };
        let mut others = self.sum_of_others + self.waiting();
        if self.sums & bit(self.ranking[0] as usize) != 0 {
            others += self.max_of_others;
        }
        let (phi, delta) = (phi.min(second + 1), delta.saturating_sub(others));
        if self.attacking { (phi, delta) } else { (delta, phi) }
    }

    /// Proof and disproof number.
    pub(super) fn numbers(&self) -> (Count, Count) {
        let (phi, delta) = (self.phi(), self.delta());
        if self.attacking { (phi, delta) } else { (delta, phi) }
    }

    /// What is known about the position itself. `node` must stand at it.
    pub(super) fn knowledge(&self, node: &Node) -> Knowledge {
        let (phi, delta) = (self.phi(), self.delta());
        if phi == 0 {
            self.won(node)
        } else if delta == 0 {
            self.lost(node)
        } else {
            let (pn, dn) = if self.attacking { (phi, delta) } else { (delta, phi) };
            Knowledge {
                pn,
                dn,
                plies: self.plies,
                work: self.work(self.best_knowledge().work),
                fresh: false,
                sums: self.sums,
                ..Knowledge::NOTHING
            }
        }
    }

    /// The work of a position whose most expensive child took `most`. Not the sum of the children, because
    /// positions reached in many ways would count many times.
    fn work(&self, most: u32) -> u32 {
        most.saturating_add((self.children.len() as u32).saturating_sub(1))
    }

    /// The best move wins for the side to move.
    fn won(&self, node: &Node) -> Knowledge {
        let best = self.front();
        let known = &best.knowledge;
        let (plies, work) = (one_more(known.plies), self.work(known.work));
        if self.attacking {
            return Knowledge::mate(hands::before(&node.pos, best.mv, known.hand), plies, work);
        }
        if known.repetition < self.depth as u16 {
            return Knowledge::repeats(self.hand, plies, work, known.repetition);
        }
        Knowledge::no_mate(hands::keep_for_drop(&node.pos, best.mv, known.hand), plies, work)
    }

    /// Every move loses for the side to move.
    fn lost(&self, node: &Node) -> Knowledge {
        let children = self.ranking.iter().map(|&i| &self.children[i as usize]);
        let work = self.work(children.clone().map(|c| c.knowledge.work).max().unwrap_or(1));
        if !self.attacking {
            let hand = children.clone().fold(Hand::EMPTY, |hand, c| hands::union(hand, c.knowledge.hand));
            let plies = children.map(|c| c.knowledge.plies).max().unwrap_or(-1);
            return Knowledge::mate(hands::proof(&node.pos, hand), one_more(plies), work);
        }
        let mut hand = hands::everything();
        let mut plies = if self.children.is_empty() { ENDLESS } else { self.plies };
        let mut repetition = NO_REPETITION;
        for child in children {
            hand = hands::intersection(hand, hands::before(&node.pos, child.mv, child.knowledge.hand));
            plies = plies.min(child.knowledge.plies);
            repetition = repetition.min(child.knowledge.repetition);
        }
        if repetition < self.depth as u16 {
            return Knowledge::repeats(self.hand, one_more(plies), work, repetition);
        }
        Knowledge::no_mate(hands::disproof(&node.pos, hand), one_more(plies), work)
    }

    /// Updates the best child with the result of its search, and stores the result.
    pub(super) fn update(&mut self, result: &Knowledge, table: &mut Table, paths: &mut Paths) {
        let attacking = self.attacking;
        let index = self.ranking[0];
        let parent = (self.board, self.hand);
        let child = &mut self.children[index as usize];
        child.knowledge = *result;
        table.store(&mut child.query, result, Some(parent));
        if result.repetition != NO_REPETITION {
            paths.store(child.path, result.repetition, result.plies);
        }
        let mut later = child.later;
        if !result.is_decided() && result.delta(attacking) >= TOO_LARGE_TO_ADD {
            self.sums &= !bit(index as usize);
        }
        if result.phi(attacking) == 0 {
            return;
        }
        self.resort_front();
        if result.is_decided() {
            // the children that waited for this one come into play, up to the first undecided one
            while later != NONE {
                if !self.children[later as usize].in_play {
                    self.children[later as usize].in_play = true;
                    self.insert(later);
                }
                let child = &self.children[later as usize];
                if child.knowledge.delta(attacking) > 0 {
                    break;
                }
                later = child.later;
            }
        }
        self.add_up();
    }

    /// Sorts the first of the ranking into the others, which are in order.
    fn resort_front(&mut self) {
        let front = self.ranking[0];
        let rank = self.rank(front);
        let place = 1 + self.ranking[1..].partition_point(|&i| self.rank(i) < rank);
        self.ranking[..place].rotate_left(1);
    }

    fn insert(&mut self, index: u16) {
        let rank = self.rank(index);
        let place = self.ranking.partition_point(|&i| self.rank(i) < rank);
        self.ranking.insert(place, index);
    }

    /// If this is the position `at`, from which `child` is reached in two ways, only the larger of the two
    /// numbers counts. Returns whether it is.
    pub(super) fn merge_ways(&mut self, at: (Key, Hand), child: (Key, Hand)) -> bool {
        if (self.board, self.hand) != at {
            return false;
        }
        self.sums &= !bit(self.ranking[0] as usize);
        let other = self.ranking[1..].iter().copied().find(|&i| {
            let query = &self.children[i as usize].query;
            (query.board, query.hand) == child
        });
        if let Some(i) = other
            && self.sums & bit(i as usize) != 0
        {
            self.sums &= !bit(i as usize);
            self.add_up();
        }
        true
    }

    /// Whether the other moves are so heavy here that a second way further up does not matter.
    pub(super) fn outweighs(&self, attacking: bool) -> bool {
        self.attacking == attacking
            && self.delta().saturating_sub(self.front().knowledge.delta(attacking)) > ANCESTOR_TOLERANCE
    }
}

/// The bit of a child among the sums; none for the few positions with more than 64 children.
#[inline]
fn bit(i: usize) -> u64 {
    if i < 64 { 1 << i } else { 0 }
}

/// A fixed shallow search at new leaves: a mate in one move, or no check at all (Kaneko, Tanaka, Yamaguchi
/// and Kawai, IPSJ Journal 51(11), 2010).
fn obvious(node: &mut Node) -> Option<Knowledge> {
    let mut checks = MoveList::new();
    let m = node.pos.mate_in_one();
    if m.is_some() {
        node.pos.do_unrecorded(m, true);
        let hand = hands::proof(&node.pos, Hand::EMPTY);
        node.pos.undo_unrecorded();
        return Some(Knowledge::mate(hands::before(&node.pos, m, hand), 1, 1));
    }
    node.generate(&mut checks);
    if checks.is_empty() {
        let hand = hands::disproof(&node.pos, hands::everything());
        return Some(Knowledge::no_mate(hand, super::value::ENDLESS, 1));
    }
    None
}
