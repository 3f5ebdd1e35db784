//! The search itself: df-pn, depth first by thresholds on proof and disproof numbers.
//!
//! - Nagai and Imai, "Application of df-pn algorithm to a program to solve tsume-shogi problems", IPSJ
//!   Journal 43(6), 2002.
//! - Loops: Kishimoto, "Dealing with infinite loops, underestimation, and overestimation of depth-first
//!   proof-number search", AAAI 2010 (threshold controlling: where numbers come from a search nearer to the
//!   root, continue a little beyond the threshold until something new is expanded).
//! - A position that is reached in two ways would be counted twice. So the table keeps the parent from which
//!   a position was searched last. Where the two ways leave the line under search, the larger number counts
//!   instead of the sum.

use super::expansion::{ANCESTOR_TOLERANCE, Expansion, Task};
use super::limits::Watch;
use super::node::Node;
use super::paths::Paths;
use super::table::Table;
use super::value::{Count, INFINITE, Knowledge, MAX_DEPTH, Plies, one_less};
use crate::types::{Hand, Key, Move};

/// A position by its board and the attacker's hand.
type At = (Key, Hand);

/// Called from time to time while the search runs.
pub(super) type OnVisit<'a> = &'a mut dyn FnMut(&Search);

/// One search from one root.
pub(super) struct Search<'a> {
    pub node: Node,
    pub table: &'a mut Table,
    pub paths: &'a mut Paths,
    pub watch: Watch,
    pub on_visit: Option<OnVisit<'a>>,
    /// Excluded moves of the root.
    pub without: Vec<Move>,
    /// Whether a line was cut off for its length alone; then failing proves nothing.
    pub cut_off: bool,
    stack: Vec<Expansion>,
    top: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(node: Node, table: &'a mut Table, paths: &'a mut Paths, watch: Watch) -> Search<'a> {
        Search {
            node,
            table,
            paths,
            watch,
            on_visit: None,
            without: Vec::new(),
            cut_off: false,
            stack: Vec::new(),
            top: 0,
        }
    }

    /// Proof and disproof number of the root.
    pub(super) fn root_numbers(&self) -> (Count, Count) {
        self.stack.first().map_or((1, 1), Expansion::numbers)
    }

    /// Whether some moves of the current position are excluded, so that results do not hold for the position
    /// itself.
    pub(super) fn is_restricted(&self) -> bool {
        self.node.depth() == 0 && !self.without.is_empty()
    }

    /// The expansion of the current position.
    pub(super) fn current(&self) -> &Expansion {
        &self.stack[self.top - 1]
    }

    /// Expands the current position; [`leave`](Self::leave) drops the expansion.
    fn expand(&mut self, plies: Plies, first: bool, sums: u64) {
        if self.top == self.stack.len() {
            self.stack.push(Expansion::default());
        }
        let without: &[Move] = if self.node.depth() == 0 { &self.without } else { &[] };
        let task = Task { plies, first, sums, without };
        self.stack[self.top].fill(&mut self.node, self.table, self.paths, &task);
        self.top += 1;
    }

    fn leave(&mut self) {
        self.top -= 1;
    }

    /// Searches the current position for a mate within `plies` until it is decided or the search has to end,
    /// and shows the expansion to `read`.
    pub(super) fn solve<T>(&mut self, plies: Plies, read: impl FnOnce(&Expansion, &Knowledge) -> T) -> T {
        // growing thresholds keep the early search close to the best first order
        let (mut pn, mut dn) = if self.node.depth() == 0 { (0, 0) } else { (INFINITE, INFINITE) };
        self.expand(plies, true, u64::MAX);
        let result = loop {
            let mut extra = 0;
            let result = self.search(pn, dn, plies, &mut extra);
            if result.is_decided() || self.watch.ended() || result.pn >= INFINITE || result.dn >= INFINITE {
                break result;
            }
            let grown = |old: Count, number: Count| old.max(number + number / 10 * 7 + 1).min(INFINITE);
            (pn, dn) = (grown(pn, result.pn), grown(dn, result.dn));
        };
        if !self.is_restricted() {
            let mut query = self.table.query(self.node.board(), self.node.hand(), self.node.depth());
            self.table.store(&mut query, &result, None);
        }
        let read = read(&self.stack[self.top - 1], &result);
        self.leave();
        read
    }

    /// Searches the current position, which is expanded, until its numbers reach the thresholds. `extra`
    /// counts how many positions on the line are searched beyond their thresholds because of old numbers.
    fn search(&mut self, mut pn: Count, mut dn: Count, plies: Plies, extra: &mut u32) -> Knowledge {
        let (given_pn, given_dn, given_extra) = (pn, dn, *extra);
        let depth = self.node.depth();
        if self.watch.visit(depth)
            && let Some(on_visit) = self.on_visit.take()
        {
            on_visit(self);
            self.on_visit = Some(on_visit);
        }
        if depth >= MAX_DEPTH {
            self.cut_off = true;
            return Knowledge::repeats(self.node.hand(), plies, 1, 0);
        }
        self.count_once();
        let mut result = self.current().knowledge(&self.node);
        if self.current().old {
            *extra += 1;
        }
        if *extra > 0 {
            extend(&result, &mut pn, &mut dn);
        }
        while !self.watch.ended() && result.pn < pn && result.dn < dn {
            let here = self.current();
            let best = here.best();
            let (fresh, sums) = (here.best_knowledge().fresh, here.best_knowledge().sums);
            let (child_pn, child_dn) = here.thresholds(pn, dn);
            self.node.play(best);
            self.expand(one_less(plies), fresh, sums);
            let mut found = None;
            if fresh {
                *extra = extra.saturating_sub(1);
                // the expansion alone may reach the thresholds
                let child = self.current().knowledge(&self.node);
                if child.pn >= child_pn || child.dn >= child_dn {
                    found = Some(child);
                }
            }
            let child = match found {
                Some(child) => child,
                None => self.search(child_pn, child_dn, one_less(plies), extra),
            };
            self.leave();
            self.node.take_back();
            self.stack[self.top - 1].update(&child, self.table, self.paths);
            result = self.current().knowledge(&self.node);
            (pn, dn) = (given_pn, given_dn);
            if *extra > 0 {
                extend(&result, &mut pn, &mut dn);
            } else if given_extra > 0 {
                break;
            }
        }
        *extra = (*extra).min(given_extra);
        result
    }

    /// If the best child is also reached from another position of the line, its numbers are counted once.
    fn count_once(&mut self) {
        let here = self.current();
        if here.is_empty() {
            return;
        }
        let Some((at, child, attacking)) = self.other_way(here.best_position()) else { return };
        for above in self.stack[..self.top - 1].iter_mut().rev() {
            if above.merge_ways(at, child) || above.outweighs(attacking) {
                break;
            }
        }
    }

    /// Looks for a second way from the line to `position`, a child of the current position: goes from
    /// parent to parent, as the table has them, until one is on the line. Returns that position, its child
    /// on the way, and whether the attacker moves there; nothing if the parent is the current position.
    fn other_way(&self, mut position: At) -> Option<(At, At, bool)> {
        let node = &self.node;
        let mut attacking = node.attacking();
        let (mut last_pn, mut last_dn) = (INFINITE, INFINITE);
        let (mut by_pn, mut by_dn) = (true, true);
        for i in 0..node.depth() {
            let (board, hand, pn, dn) = self.table.parent(position.0, position.1)?;
            if i == 0 && (board, hand) == (node.board(), node.hand()) {
                return None;
            }
            // numbers that grew that much on the way have other sources
            by_dn &= dn <= last_dn.saturating_add(ANCESTOR_TOLERANCE);
            by_pn &= pn <= last_pn.saturating_add(ANCESTOR_TOLERANCE);
            if !by_pn && !by_dn {
                return None;
            }
            if node.passed(board, hand) {
                return (if attacking { by_dn } else { by_pn }).then_some((
                    (board, hand),
                    position,
                    attacking,
                ));
            }
            position = (board, hand);
            (last_pn, last_dn) = (pn, dn);
            attacking = !attacking;
        }
        None
    }
}

/// Raises thresholds just above the numbers reached.
fn extend(result: &Knowledge, pn: &mut Count, dn: &mut Count) {
    if !result.is_decided() {
        *pn = (*pn).max(result.pn + 1);
        *dn = (*dn).max(result.dn + 1);
    }
}
