//! Mates by checks alone, found by the solver beside every search.

use super::reading::PvLine;
use crate::engine::{MateAnswer, MateLimits, MateSolver, Shorten};
use crate::position::Position;
use crate::support::memory::OutOfMemory;
use crate::types::{MAX_PLY, Move, Value, is_win, mate_in, mated_in};

/// Megabytes, enough for some ten thousand positions.
const MEMORY: usize = 16;

/// A solver with its limits. Its table is cleared before every search, so results do not depend on earlier
/// searches.
pub(super) struct Mates {
    solver: MateSolver,
    limits: MateLimits,
}

impl Mates {
    /// A solver that visits at most `nodes` positions per search; none for 0.
    pub(super) fn new(nodes: u64) -> Result<Option<Mates>, OutOfMemory> {
        let limits = MateLimits { nodes: Some(nodes), shorten: Shorten::UpperBound, ..MateLimits::default() };
        Ok(if nodes > 0 { Some(Mates { solver: MateSolver::new(MEMORY)?, limits }) } else { None })
    }

    /// A mate by the side to move.
    pub(super) fn own(&mut self, position: &Position) -> Result<Option<PvLine>, OutOfMemory> {
        self.without(position, &[])
    }

    /// A mate by the side to move that begins with this move.
    pub(super) fn beginning(
        &mut self,
        position: &Position,
        first: Move,
    ) -> Result<Option<PvLine>, OutOfMemory> {
        let mut others: Vec<Move> = position.legal_moves(true).iter().map(|m| m.mv).collect();
        others.retain(|m| *m != first);
        self.without(position, &others)
    }

    /// The mate that the opponent has after this move.
    pub(super) fn after(&mut self, position: &Position, m: Move) -> Result<Option<PvLine>, OutOfMemory> {
        let mut position = position.clone();
        position.do_move(m);
        self.own(&position)
    }

    /// Lengthens a mating line that the search cut short to the mating move, if the solver finds the rest.
    pub(super) fn carry_through(
        &mut self,
        position: &Position,
        line: &mut PvLine,
    ) -> Result<(), OutOfMemory> {
        let mut end = position.clone();
        for text in &line.pv {
            let Ok(m) = end.parse_move(text) else { return Ok(()) };
            end.do_move(m);
        }
        if !end.has_legal_move() {
            return Ok(());
        }
        // after an even number of moves the attacker is to move
        let attacks = is_win(line.value) == line.pv.len().is_multiple_of(2);
        let rest = if attacks { self.own(&end)?.map(|mate| mate.pv) } else { self.longest_defence(&end)? };
        let Some(rest) = rest.filter(|rest| line.pv.len() + rest.len() < MAX_PLY) else { return Ok(()) };
        line.pv.extend(rest);
        let plies = line.pv.len();
        line.value = if is_win(line.value) { mate_in(plies) } else { mated_in(plies) };
        Ok(())
    }

    /// The reply with the longest mate, and that mate, if every reply is mated.
    fn longest_defence(&mut self, position: &Position) -> Result<Option<Vec<String>>, OutOfMemory> {
        let mut longest: Option<Vec<String>> = None;
        for reply in position.legal_moves(false) {
            let Some(mate) = self.after(position, reply.mv)? else { return Ok(None) };
            let line = refuted(reply.mv, mate).pv;
            if longest.as_ref().is_none_or(|known| known.len() < line.len()) {
                longest = Some(line);
            }
        }
        Ok(longest)
    }

    fn without(&mut self, position: &Position, others: &[Move]) -> Result<Option<PvLine>, OutOfMemory> {
        self.solver.clear();
        let outcome = self.solver.solve_apart(position, others, &self.limits)?;
        let MateAnswer::Mate(mate) = outcome.answer else { return Ok(None) };
        let plies = mate.line.len();
        Ok((plies < MAX_PLY).then(|| PvLine {
            value: mate_in(plies),
            depth: plies as i32,
            seldepth: plies as i32,
            nodes: outcome.nodes,
            pv: mate.line.iter().map(Move::to_string).collect(),
        }))
    }
}

/// A line with a mate as the other side sees it after its first move.
pub(super) fn answered(line: &PvLine) -> PvLine {
    // one ply of the mate has been played
    let value = -line.value - line.value.signum();
    PvLine { value, pv: line.pv[1..].to_vec(), ..line.clone() }
}

/// A move and the mate that follows it.
pub(super) fn refuted(m: Move, mate: PvLine) -> PvLine {
    let value: Value = mated_in((mate.pv.len() + 1).min(MAX_PLY));
    PvLine { value, pv: std::iter::once(m.to_string()).chain(mate.pv).collect(), ..mate }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::lang::Lang;
    use crate::types::{Color, VALUE_SUPERIOR};

    #[test]
    fn mating_lines_go_on_to_the_mating_move() {
        let position = Position::from_sfen("8S/8k/8l/6R2/9/9/9/9/9 b Sr2b4g2s4n3l18p 1").unwrap();
        let mut mates = Mates::new(10_000).unwrap().unwrap();
        for cut in ["", "3d3b+", "3d3b+ 1b1a", "3d3b+ 1b1a S*1b"] {
            let pv = cut.split_whitespace().map(String::from).collect();
            let mut line = PvLine { value: mate_in(3), depth: 9, seldepth: 9, nodes: 1, pv };
            mates.carry_through(&position, &mut line).unwrap();
            assert!(
                line.value == mate_in(3) && line.pv.len() == 3 && line.pv.join(" ").starts_with(cut),
                "{line:?}"
            );
            let end = line.pv.iter().fold(position.clone(), |mut position, text| {
                position.do_move(position.parse_move(text).unwrap());
                position
            });
            assert!(end.in_check() && !end.has_legal_move(), "{line:?}");
        }
    }

    #[test]
    fn repetitions_are_words() {
        let line = |value, pv: &[&str]| PvLine {
            value,
            depth: 1,
            seldepth: 1,
            nodes: 1,
            pv: pv.iter().map(|m| m.to_string()).collect(),
        };
        for (value, pv, words) in [
            (VALUE_SUPERIOR, &["7g7f"] as &[&str], Some("先手の優等局面")),
            (-VALUE_SUPERIOR, &["7g7f"], Some("後手の優等局面")),
            (-VALUE_SUPERIOR, &[], Some("連続王手の千日手（後手の勝ち）")),
            (0, &["7g7f"], None),
        ] {
            let told = Lang::Ja.repetition(&line(value, pv), Color::Black);
            assert_eq!(told.as_deref(), words);
        }
    }
}
