//! Writing JKF.

use super::names::{PRESETS, write_relative};
use crate::position::{Position, handicap};
use crate::record::csa::KINDS;
use crate::record::game::{End, Line, Ply, Record};
use crate::record::headings::heading_of;
use crate::record::kakinoki::relative_of;
use crate::types::{Color, Move, PieceType, Square};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// The text of a game with its variations, a line of text for each move of the main line. JKF counts whole seconds and
/// has no place for bookmarks.
pub fn write(record: &Record) -> String {
    let name = handicap::name(&record.root).filter(|_| record.root.game_ply() == 1);
    let preset = name.and_then(|name| PRESETS.iter().find(|(_, n)| *n == name));
    let mut headers: Vec<(&str, &str)> =
        record.headers.iter().map(|(n, v)| (heading_of(n), v.as_str())).collect();
    let players = match name {
        Some("平手") | None => ["先手", "後手"],
        Some(_) => ["下手", "上手"],
    };
    for (player, name) in players.into_iter().zip(&record.names) {
        if !name.is_empty() {
            headers.push((player, name));
        }
    }
    // serde_json's maps would sort them
    let headers: Vec<String> =
        headers.iter().map(|(name, value)| format!("{}:{}", json!(name), json!(value))).collect();
    let initial = match preset {
        Some((preset, _)) => json!({ "preset": preset }),
        None => json!({ "preset": "OTHER", "data": position(&record.root) }),
    };
    let mut first = Map::new();
    if !record.comments.is_empty() {
        first.insert("comments".into(), json!(record.comments));
    }
    let mut writer = Writer { position: record.root.clone() };
    let mut entries = vec![Value::Object(first)];
    entries.extend(writer.line(&record.moves, record.end.as_ref(), Path::default()));
    let entries: Vec<String> = entries.iter().map(Value::to_string).collect();
    format!(
        "{{\"header\":{{{}}},\n\"initial\":{initial},\n\"moves\":[\n{}\n]}}\n",
        headers.join(","),
        entries.join(",\n")
    )
}

fn position(root: &Position) -> Value {
    let square = |file, rank| {
        let piece = root.piece_on(Square::new(file, rank));
        match piece.is_some() {
            true => json!({ "color": piece.color().index(), "kind": KINDS[piece.kind().index()] }),
            false => json!({}),
        }
    };
    let board: Vec<Vec<Value>> = (0..9).map(|file| (0..9).map(|rank| square(file, rank)).collect()).collect();
    let hand = |color| {
        let count = |kind: PieceType| (KINDS[kind.index()].to_string(), json!(root.hand(color).count(kind)));
        Value::Object(PieceType::HAND.into_iter().map(count).collect())
    };
    let hands = Color::ALL.map(hand);
    json!({ "color": root.side_to_move().index(), "board": board, "hands": hands })
}

/// The way from the root to a move.
#[derive(Clone, Copy, Default)]
struct Path {
    plies: usize,
    last: Option<Square>,
    /// What both clocks have charged.
    totals: [Duration; 2],
}

struct Writer {
    position: Position,
}

impl Writer {
    fn line(&mut self, moves: &[Ply], end: Option<&End>, mut path: Path) -> Vec<Value> {
        let mut entries = Vec::with_capacity(moves.len() + 1);
        for ply in moves {
            let forks = self.forks(&ply.variations, path);
            let mut entry = Map::new();
            entry.insert("move".into(), self.mv(ply.mv, path.last));
            fill(&mut entry, ply.time, &ply.comments, &mut path, forks);
            entries.push(Value::Object(entry));
            self.position.do_move(ply.mv);
            path.plies += 1;
            path.last = Some(ply.mv.to());
        }
        if let Some(end) = end {
            let forks = self.forks(&end.variations, path);
            let mut entry = Map::new();
            entry.insert("special".into(), json!(end.special.csa().trim_start_matches('%')));
            let comments: Vec<String> = end.words.iter().chain(&end.comments).cloned().collect();
            fill(&mut entry, end.time, &comments, &mut path, forks);
            entries.push(Value::Object(entry));
        }
        for _ in moves {
            self.position.undo_move();
        }
        entries
    }

    fn forks(&mut self, lines: &[Line], path: Path) -> Vec<Vec<Value>> {
        lines.iter().map(|line| self.line(&line.moves, line.end.as_ref(), path)).collect()
    }

    fn mv(&self, m: Move, last: Option<Square>) -> Value {
        let place = |sq: Square| json!({ "x": sq.file() + 1, "y": sq.rank() + 1 });
        let mut text = Map::new();
        let color = self.position.side_to_move();
        let kind = m.piece_before().kind();
        text.insert("color".into(), json!(color.index()));
        if !m.is_drop() {
            text.insert("from".into(), place(m.from()));
        }
        text.insert("to".into(), place(m.to()));
        text.insert("piece".into(), json!(KINDS[kind.index()]));
        if last == Some(m.to()) {
            text.insert("same".into(), json!(true));
        }
        let in_zone = |sq: Square| match color {
            Color::Black => sq.rank() < 3,
            Color::White => sq.rank() > 5,
        };
        if !m.is_drop() && kind.can_promote() && (in_zone(m.from()) || in_zone(m.to())) {
            text.insert("promote".into(), json!(m.is_promotion()));
        }
        let captured = self.position.piece_on(m.to());
        if captured.is_some() {
            text.insert("capture".into(), json!(KINDS[captured.kind().index()]));
        }
        if let Some(relative) = write_relative(relative_of(&self.position, m)) {
            text.insert("relative".into(), json!(relative));
        }
        Value::Object(text)
    }
}

fn fill(
    entry: &mut Map<String, Value>,
    time: Option<Duration>,
    comments: &[String],
    path: &mut Path,
    forks: Vec<Vec<Value>>,
) {
    if let Some(time) = time {
        let total = &mut path.totals[path.plies % 2];
        *total = total.saturating_add(time);
        let (own, all) = (time.as_secs(), total.as_secs());
        let now = json!({ "m": own / 60, "s": own % 60 });
        let total = json!({ "h": all / 3600, "m": all / 60 % 60, "s": all % 60 });
        entry.insert("time".into(), json!({ "now": now, "total": total }));
    }
    if !comments.is_empty() {
        entry.insert("comments".into(), json!(comments));
    }
    if !forks.is_empty() {
        entry.insert("forks".into(), json!(forks));
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::record::special::Special;

    #[test]
    fn games_from_any_position_read_back() {
        for root in [
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
            "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 1",
        ] {
            let mut record = Record::new(Position::from_sfen(root).unwrap());
            record.names = ["A".into(), "\"B\"\n".into()];
            record.headers = vec![("EVENT".into(), "棋戦".into()), ("表題".into(), "x".into())];
            record.comments = vec!["two\nlines".into()];
            let mut position = record.root.clone();
            for i in 0..60usize {
                let moves = position.legal_moves(true);
                let Some(m) = moves.get(i * 5 % moves.len().max(1)) else { break };
                let other = Line {
                    moves: moves.first().map(|m| Ply::of(m.mv)).into_iter().collect(),
                    end: (i % 3 == 0).then(|| End::of(Special::Interrupted)),
                };
                position.do_move(m.mv);
                let time = Some(Duration::from_secs(i as u64 * 50));
                let variations = if i % 4 == 0 { vec![other.clone(), other] } else { Vec::new() };
                record.moves.push(Ply { time, comments: vec!["c".into()], variations, ..Ply::of(m.mv) });
            }
            record.end = Some(End::of(Special::Resign));
            let back = read(&write(&record)).unwrap();
            assert_eq!(
                (&back.names, &back.headers, &back.comments),
                (&record.names, &record.headers, &record.comments)
            );
            assert_eq!((&back.moves, &back.end), (&record.moves, &record.end));
            assert_eq!(back.root.sfen(), record.root.sfen());
        }
    }
}
