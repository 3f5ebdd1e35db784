//! Which of a position's moves to play: [`choose`], by the rules and in the order of YaneuraOu.

use super::moves::BookMove;
use crate::support::random::Rng;

/// The options that choose a book move, for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoiceOptions {
    /// `NarrowBook`: drop moves played less than once in ten.
    pub narrow: bool,
    /// `BookDepthLimit`: no book move if the first move's depth is less; 0 for any.
    pub depth_limit: i32,
    /// Moves of less depth are left out. The book inside the program has such moves as replies of the opponent.
    pub least_depth: i32,
    /// `BookEvalDiff`: centipawns by which a move may be worse than the first.
    pub eval_diff: i32,
    /// `BookEvalBlackLimit` or `BookEvalWhiteLimit`: the least score.
    pub eval_limit: i32,
    /// `ConsiderBookMoveCount`: choose in proportion to the counts.
    pub by_count: bool,
}

fn value(m: &BookMove) -> i32 {
    m.value().unwrap_or(0)
}

fn count(m: &BookMove) -> u64 {
    m.count().unwrap_or(1).into()
}

/// The moves that may be played, from legal moves in book order. Removed moves are reported to `say`.
pub fn candidates(
    moves: &[BookMove],
    choice_options: ChoiceOptions,
    say: &mut dyn FnMut(&str),
) -> Vec<BookMove> {
    let mut left = moves.to_vec();
    // without counts no move is rare
    let counted = left.iter().any(|m| m.count().is_some());
    let total: u64 = left.iter().map(count).sum();
    if choice_options.narrow && counted && total > 0 {
        left.retain(|m| count(m) * 10 >= total);
        if left.len() < moves.len() {
            say(&format!("NarrowBook: {} of {} book moves are left", left.len(), moves.len()));
        }
    }
    let Some(first) = left.first().copied() else { return left };
    let depth = first.depth().unwrap_or(0);
    if choice_options.depth_limit != 0 && depth < choice_options.depth_limit {
        say(&format!(
            "book not used: its depth here is {depth}, BookDepthLimit is {}",
            choice_options.depth_limit
        ));
        return Vec::new();
    }
    let near = value(&first).saturating_sub(choice_options.eval_diff);
    let least = near.max(choice_options.eval_limit);
    let before = left.len();
    left.retain(|m| value(m) >= least);
    if left.len() < before {
        let option = if least == near { "BookEvalDiff" } else { "the score limit of this side" };
        say(&format!("{option}: {} of {before} book moves are left, from {least} cp on", left.len()));
    }
    // last, so that no worse move takes the place of a good one
    left.retain(|m| m.depth().unwrap_or(0) >= choice_options.least_depth);
    left
}

/// One of the candidates, if there are any.
pub fn choose(candidates: &[BookMove], by_count: bool, rng: &mut Rng) -> Option<BookMove> {
    let total: u64 = candidates.iter().map(count).sum();
    if !by_count || total == 0 {
        return candidates.get(rng.below(candidates.len())).copied();
    }
    let mut draw = rng.below(total as usize) as u64;
    for m in candidates {
        match draw.checked_sub(count(m)) {
            Some(rest) => draw = rest,
            None => return Some(*m),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANY: ChoiceOptions = ChoiceOptions {
        narrow: false,
        depth_limit: 0,
        least_depth: 0,
        eval_diff: 30,
        eval_limit: -140,
        by_count: false,
    };

    fn moves(list: &[(i32, u64)]) -> Vec<BookMove> {
        let a_move = |(i, (value, count)): (usize, &(i32, u64))| {
            BookMove::new(i as u16 + 1).with_value(Some(*value)).with_depth(Some(20)).with_count(Some(*count))
        };
        list.iter().enumerate().map(a_move).collect()
    }

    fn left(list: &[(i32, u64)], choice_options: ChoiceOptions) -> Vec<u16> {
        candidates(&moves(list), choice_options, &mut |_| ()).iter().map(|m| m.mv).collect()
    }

    #[test]
    fn each_option_drops_moves() {
        let list = [(50, 80), (30, 11), (10, 9), (60, 0)];
        assert_eq!(left(&list, ANY), [1, 2, 4]);
        assert_eq!(left(&list, ChoiceOptions { narrow: true, ..ANY }), [1, 2]);
        assert_eq!(left(&list, ChoiceOptions { eval_diff: 0, ..ANY }), [1, 4]);
        assert_eq!(left(&list, ChoiceOptions { eval_limit: 40, ..ANY }), [1, 4]);
        assert!(left(&list, ChoiceOptions { eval_limit: 70, ..ANY }).is_empty());
        assert_eq!(left(&list, ChoiceOptions { depth_limit: 20, ..ANY }), [1, 2, 4]);
        assert!(left(&list, ChoiceOptions { depth_limit: 21, ..ANY }).is_empty());
        // each move for itself
        let searched =
            |(value, depth)| BookMove::new(depth).with_value(Some(value)).with_depth(Some(depth.into()));
        let depths = [(90, 1), (80, 3), (70, 2), (0, 9)].map(searched);
        let deep = |least_depth| {
            let options = ChoiceOptions { least_depth, ..ANY };
            candidates(&depths, options, &mut |_| ()).iter().map(|m| m.mv).collect::<Vec<_>>()
        };
        assert_eq!([1, 2, 3, 4].map(deep), [vec![1, 3, 2], vec![3, 2], vec![3], vec![]]);
        // without counts nothing is rare
        assert_eq!(left(&[(5, 0), (5, 0)], ChoiceOptions { narrow: true, ..ANY }), [1, 2]);
        let unknown: Vec<BookMove> = (1..=11).map(BookMove::new).collect();
        assert_eq!(candidates(&unknown, ChoiceOptions { narrow: true, ..ANY }, &mut |_| ()).len(), 11);
        assert!(left(&[], ANY).is_empty());
    }

    #[test]
    fn choices_are_uniform_or_by_count() {
        let list = moves(&[(0, 900), (0, 100), (0, 0)]);
        let mut rng = Rng::new(3);
        let mut tally = |list: &[BookMove], by_count| {
            let mut n = [0; 3];
            (0..3000).for_each(|_| n[usize::from(choose(list, by_count, &mut rng).unwrap().mv) - 1] += 1);
            n
        };
        let even = tally(&list, false);
        assert!(even.iter().all(|n| (900..1100).contains(n)), "{even:?}");
        let by_count = tally(&list, true);
        assert!((2600..2800).contains(&by_count[0]) && by_count[2] == 0, "{by_count:?}");
        let zero = tally(&moves(&[(0, 0), (0, 0), (0, 0)]), true);
        assert!(zero.iter().all(|n| (900..1100).contains(n)), "{zero:?}");
        assert_eq!(choose(&[], true, &mut rng), None);
    }
}
