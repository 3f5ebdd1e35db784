//! Reading `info` and `bestmove` lines.

use std::fmt;

/// A score from the engine's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsiScore {
    /// Centipawns.
    Cp(i32),
    /// Plies to the mate, negative when the engine is mated; a mate of unknown length has the length 1.
    Mate(i32),
}

impl UsiScore {
    /// What a mate counts in centipawns.
    pub const MATE: i32 = 30_000;

    /// A mate counts [`MATE`](Self::MATE).
    pub fn centipawns(self) -> i32 {
        match self {
            UsiScore::Cp(cp) => cp,
            UsiScore::Mate(plies) if plies < 0 => -UsiScore::MATE,
            UsiScore::Mate(_) => UsiScore::MATE,
        }
    }
}

impl fmt::Display for UsiScore {
    /// As USI writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UsiScore::Cp(cp) => write!(f, "cp {cp}"),
            UsiScore::Mate(plies) => write!(f, "mate {plies}"),
        }
    }
}

/// An `info` line, without `info string`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InfoLine<'a> {
    /// In plies.
    pub depth: Option<u32>,
    /// Searched so far.
    pub nodes: Option<u64>,
    /// A bound (`lowerbound`, `upperbound`) counts as the score that it bounds: an engine that is stopped within an iteration, or
    /// that shows few lines, often says nothing else about the move it plays.
    pub score: Option<UsiScore>,
    /// 1-based rank of the line of play.
    pub rank: u32,
    /// Moves, separated by blanks.
    pub pv: &'a str,
}

impl<'a> InfoLine<'a> {
    /// `None` for other lines.
    pub fn parse(line: &'a str) -> Option<InfoLine<'a>> {
        let mut words = line.split_whitespace();
        if words.next() != Some("info") {
            return None;
        }
        let mut info = InfoLine { rank: 1, ..InfoLine::default() };
        while let Some(word) = words.next() {
            match word {
                "string" => break,
                "pv" => {
                    info.pv = line.split_once(" pv ").map_or("", |(_, pv)| pv);
                    break;
                }
                "multipv" => info.rank = words.next().and_then(|w| w.parse().ok()).unwrap_or(1),
                "depth" => info.depth = words.next().and_then(|w| w.parse().ok()),
                "nodes" => info.nodes = words.next().and_then(|w| w.parse().ok()),
                "score" => {
                    info.score = match (words.next(), words.next()) {
                        (Some("cp"), Some(v)) => v.parse().ok().map(UsiScore::Cp),
                        // `mate +` and `mate -` have no number
                        (Some("mate"), Some(v)) => {
                            let sign = if v.starts_with('-') { -1 } else { 1 };
                            Some(UsiScore::Mate(v.parse().ok().filter(|n| *n != 0).unwrap_or(sign)))
                        }
                        _ => None,
                    }
                }
                _ => {}
            }
        }
        Some(info)
    }
}

/// The move of a `bestmove` line, which may be `resign` or `win`, and the one to ponder on.
pub fn parse_best_move(line: &str) -> Option<(&str, Option<&str>)> {
    let mut words = line.split_whitespace();
    if words.next() != Some("bestmove") {
        return None;
    }
    let best = words.next().unwrap_or_default();
    let ponder = if words.next() == Some("ponder") { words.next() } else { None };
    Some((best, ponder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_lines_hold_score_depth_nodes_and_line() {
        let i = InfoLine::parse("info depth 3 score cp 25 multipv 2 nodes 100 pv 7g7f 3c3d").unwrap();
        assert_eq!((i.depth, i.score, i.rank, i.nodes), (Some(3), Some(UsiScore::Cp(25)), 2, Some(100)));
        assert_eq!(i.pv, "7g7f 3c3d");
        let score = |line| InfoLine::parse(line).and_then(|i| i.score);
        assert_eq!(score("info depth 4 score cp 99 lowerbound nodes 250 pv 2g2f"), Some(UsiScore::Cp(99)));
        assert_eq!(score("info string score cp 1000"), None);
        assert_eq!(score("score cp 1"), None);
        assert_eq!(score("info depth 5 score mate -4"), Some(UsiScore::Mate(-4)));
        assert_eq!(score("info score mate +"), Some(UsiScore::Mate(1)));
        assert_eq!(score("info score mate -"), Some(UsiScore::Mate(-1)));
        assert_eq!(score("info score mate -0"), Some(UsiScore::Mate(-1)));
        assert_eq!((UsiScore::Mate(-3).centipawns(), UsiScore::Cp(7).centipawns()), (-30_000, 7));
    }

    #[test]
    fn best_moves() {
        assert_eq!(parse_best_move("bestmove 7g7f ponder 3c3d"), Some(("7g7f", Some("3c3d"))));
        assert_eq!(parse_best_move("bestmove resign"), Some(("resign", None)));
        assert_eq!(parse_best_move("bestmove"), Some(("", None)));
        assert_eq!(parse_best_move("info"), None);
    }
}
