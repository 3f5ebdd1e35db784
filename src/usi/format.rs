//! Information and best moves as the protocol writes them.

use crate::engine::{BookLine, Bound, Info, MateAnswer, MateProgress, UsiScore};
use crate::types::Move;
use std::fmt::Write;

/// An `info` line; `pv` is its last item.
pub fn info(info: &Info) -> String {
    let mut line = format!(
        "info depth {} seldepth {} multipv {} score {}",
        info.depth,
        info.seldepth,
        info.multipv,
        UsiScore(info.score)
    );
    line.push_str(match info.bound {
        Bound::Lower => " lowerbound",
        Bound::Upper => " upperbound",
        Bound::Exact | Bound::None => "",
    });
    // writing to a string cannot fail
    let _ = write!(
        line,
        " nodes {} nps {} hashfull {} time {}",
        info.nodes, info.nps, info.hashfull, info.time_ms
    );
    if !info.pv.is_empty() {
        line.push_str(" pv");
        for m in &info.pv {
            let _ = write!(line, " {m}");
        }
        if let Some(end) = info.pv_end {
            let _ = write!(line, " {end}");
        }
    }
    line
}

/// An `info` line of the opening book; nothing was searched, and `pv` is its last item.
pub fn book(line: &BookLine) -> String {
    let head = format!(
        "info depth {} multipv {} score cp {} nodes 0 nps 0 hashfull 0 time 0 pv",
        line.depth, line.multipv, line.centipawns
    );
    line.pv.iter().fold(head, |text, m| format!("{text} {m}"))
}

/// An `info` line of a mate search: with the mate found, or with the line it looks at.
pub fn mate_info(progress: &MateProgress) -> String {
    let ms = progress.time.as_millis();
    let nps = u128::from(progress.nodes) * 1000 / ms.max(1);
    let mut line = format!("info depth {}", progress.depth);
    // writing to a string cannot fail
    if progress.seldepth > 0 {
        let _ = write!(line, " seldepth {}", progress.seldepth);
    }
    if progress.mate {
        let _ = write!(line, " score mate {}", progress.line.len());
    }
    let _ = write!(line, " nodes {} nps {nps} hashfull {} time {ms}", progress.nodes, progress.hashfull);
    if !progress.line.is_empty() {
        line.push_str(" pv");
        progress.line.iter().for_each(|m| {
            let _ = write!(line, " {m}");
        });
    }
    line
}

/// A `checkmate` line.
pub fn checkmate(answer: &MateAnswer) -> String {
    match answer {
        MateAnswer::Mate(mate) => mate.line.iter().fold("checkmate".into(), |text, m| format!("{text} {m}")),
        MateAnswer::NoMate => "checkmate nomate".into(),
        MateAnswer::Unknown => "checkmate timeout".into(),
    }
}

/// A `bestmove` line.
pub fn best_move(best: Move, ponder: Option<Move>) -> String {
    match best {
        Move::WIN => "bestmove win".into(),
        m if !m.is_some() => "bestmove resign".into(),
        m => match ponder.filter(|p| p.is_some()) {
            Some(p) => format!("bestmove {m} ponder {p}"),
            None => format!("bestmove {m}"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Color, PieceType, Square};

    #[test]
    fn lines() {
        let rook = PieceType::ROOK.of(Color::Black);
        let m = Move::normal(Square::new(1, 7), Square::new(2, 7), rook);
        let mut i = Info {
            depth: 5,
            seldepth: 7,
            multipv: 1,
            score: 9,
            bound: Bound::Lower,
            nodes: 10,
            nps: 20,
            hashfull: 3,
            time_ms: 4,
            pv: vec![m, Move::drop(PieceType::PAWN.of(Color::White), Square::new(4, 4))],
            pv_end: None,
        };
        let head = "info depth 5 seldepth 7 multipv 1 score cp 10";
        assert_eq!(info(&i), format!("{head} lowerbound nodes 10 nps 20 hashfull 3 time 4 pv 2h3h P*5e"));
        i.bound = Bound::Exact;
        i.pv_end = Some("rep_draw");
        assert_eq!(info(&i), format!("{head} nodes 10 nps 20 hashfull 3 time 4 pv 2h3h P*5e rep_draw"));
        i.pv.clear();
        assert_eq!(info(&i), format!("{head} nodes 10 nps 20 hashfull 3 time 4"));
        assert_eq!(best_move(m, None), "bestmove 2h3h");
        assert_eq!(best_move(m, Some(m)), "bestmove 2h3h ponder 2h3h");
        assert_eq!(best_move(m, Some(Move::NONE)), "bestmove 2h3h");
        assert_eq!(best_move(Move::RESIGN, None), "bestmove resign");
        assert_eq!(best_move(Move::NONE, None), "bestmove resign");
        assert_eq!(best_move(Move::WIN, None), "bestmove win");
    }
}
