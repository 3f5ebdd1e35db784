//! Writing KIF, KI2 and BOD.

use super::board::write_diagram;
use super::ki2_moves;
use super::kif_moves;
use super::pieces::player;
use super::read::{begins_with_move, is_heading};
use crate::position::{Position, handicap};
use crate::record::game::{End, Line, Ply, Record};
use crate::record::headings::heading_of;
use crate::record::text::{comment_lines, one_line};
use crate::types::{Color, Square};
use std::fmt::Write;
use std::time::Duration;

/// The text of a game with its variations. KIF counts whole seconds, so fractions of times are dropped.
pub fn write_kif(record: &Record) -> String {
    let mut out = about(record);
    out += "手数----指手---------消費時間--\n";
    notes(&mut out, &record.comments, &record.asides, record.bookmark.as_deref());
    let mut writer = KifWriter { out, root_side: record.root.side_to_move() };
    writer.line(
        &record.moves,
        record.end.as_ref(),
        Path { plies: 0, last: None, totals: [Duration::ZERO; 2] },
    );
    writer.out
}

/// The text of a game with its variations. KI2 has no place for times.
pub fn write_ki2(record: &Record) -> String {
    let mut out = about(record);
    notes(&mut out, &record.comments, &record.asides, record.bookmark.as_deref());
    out += "\n";
    let handicap = handicap::names(&record.root).is_some();
    let players = Color::ALL.map(|c| player(c, handicap));
    let mut writer = Ki2Writer { out, players, position: record.root.clone(), plies: 0 };
    writer.line(&record.moves, record.end.as_ref(), None);
    writer.out
}

/// The diagram of the position after the main line, and its last move.
pub fn write_bod(record: &Record) -> String {
    let position = record.position();
    let mut out = write_diagram(&position);
    if position.side_to_move() == Color::Black {
        out += "先手番\n";
    }
    let last = record.moves.last().map(|ply| kif_moves::move_text(ply.mv, None)).unwrap_or_default();
    // writing to a string cannot fail
    let _ = writeln!(out, "手数＝{}  {last}  まで", position.game_ply().saturating_sub(1));
    out
}

/// The lines before the moves.
fn about(record: &Record) -> String {
    let mut out = String::new();
    for (name, value) in record.headers.iter().filter(|(name, _)| name != "手合割") {
        let name = one_line(heading_of(name));
        // as a comment if readers would take it for something else
        let sign = if is_heading(&name) { "" } else { "*" };
        let _ = writeln!(out, "{sign}{name}：{}", one_line(value));
    }
    // 詰将棋 and the like need a diagram
    let other = record.header("手合割").is_some_and(|what| handicap::position(what).is_none());
    match handicap::name(&record.root).filter(|_| record.root.game_ply() == 1 && !other) {
        Some(name) => {
            let _ = writeln!(out, "手合割：{name}");
        }
        None => {
            if let Some(what) = record.header("手合割") {
                let _ = writeln!(out, "手合割：{}", one_line(what));
            }
            out += &write_diagram(&record.root);
            if record.root.game_ply() > 1 {
                let _ = writeln!(out, "手数＝{}  まで", record.root.game_ply() - 1);
            }
        }
    }
    let handicap = handicap::names(&record.root).is_some();
    for (color, name) in Color::ALL.into_iter().zip(&record.names) {
        if !name.is_empty() {
            let _ = writeln!(out, "{}：{}", player(color, handicap), one_line(name));
        }
    }
    out
}

/// The way from the root to a move.
#[derive(Clone, Copy)]
struct Path {
    plies: usize,
    /// The target of the last move.
    last: Option<Square>,
    /// What both clocks have charged.
    totals: [Duration; 2],
}

struct KifWriter {
    out: String,
    root_side: Color,
}

impl KifWriter {
    /// A line, then its variations from the last to the first, as every reader expects them.
    fn line(&mut self, moves: &[Ply], end: Option<&End>, mut path: Path) {
        let mut before = Vec::with_capacity(moves.len());
        for ply in moves {
            before.push(path);
            let text = kif_moves::move_text(ply.mv, path.last);
            self.statement(&text, ply.time, &mut path, !ply.variations.is_empty());
            notes(&mut self.out, &ply.comments, &ply.asides, ply.bookmark.as_deref());
            path.plies += 1;
            path.last = Some(ply.mv.to());
        }
        if let Some(end) = end {
            let turn = if path.plies.is_multiple_of(2) { self.root_side } else { !self.root_side };
            let here = path;
            // no plus behind a word: readers would take it for a part of that
            // words that begin like a move, or end before their end, are a comment
            let plain = |words: &&str| {
                !begins_with_move(&format!("1 {words}"))
                    && !words.contains([' ', '　', '\t', '\n', '\r', '('])
            };
            let words = end.words.as_deref();
            let word = words.filter(plain).unwrap_or_else(|| end.special.kif(turn));
            self.statement(word, end.time, &mut path, false);
            if let Some(words) = words.filter(|words| !plain(words)) {
                notes(&mut self.out, &[words.to_string()], &[], None);
            }
            notes(&mut self.out, &end.comments, &end.asides, end.bookmark.as_deref());
            self.variations(&end.variations, here);
        }
        for (ply, path) in moves.iter().zip(before).rev() {
            self.variations(&ply.variations, path);
        }
    }

    fn variations(&mut self, lines: &[Line], path: Path) {
        for (i, line) in lines.iter().enumerate() {
            let _ = writeln!(self.out, "\n変化：{}手", path.plies + 1);
            let first = self.out.len();
            self.line(&line.moves, line.end.as_ref(), path);
            // a move with a further alternative is marked
            if i + 1 < lines.len()
                && !line.moves.is_empty()
                && let Some(at) = self.out[first..].find('\n')
            {
                self.out.insert(first + at, '+');
            }
        }
    }

    fn statement(&mut self, text: &str, time: Option<Duration>, path: &mut Path, varied: bool) {
        let _ = write!(self.out, "{:4} {text}", path.plies + 1);
        if let Some(time) = time {
            let total = &mut path.totals[path.plies % 2];
            *total = total.saturating_add(time);
            let (own, all) = (time.as_secs(), total.as_secs());
            let _ = write!(
                self.out,
                "   ({:2}:{:02}/{:02}:{:02}:{:02})",
                own / 60,
                own % 60,
                all / 3600,
                all / 60 % 60,
                all % 60
            );
        }
        self.out += if varied { "+\n" } else { "\n" };
    }
}

struct Ki2Writer {
    out: String,
    players: [&'static str; 2],
    position: Position,
    plies: usize,
}

impl Ki2Writer {
    /// Six moves a line of text, each in a column of its own.
    const MOVES_A_LINE: usize = 6;
    const COLUMN: usize = 12;

    fn line(&mut self, moves: &[Ply], end: Option<&End>, last: Option<Square>) {
        let (mut last, mut in_line, mut pad) = (last, 0, 0);
        let mut before = Vec::with_capacity(moves.len());
        for ply in moves {
            before.push(last);
            let text = ki2_moves::move_text(&self.position, last, ply.mv);
            if in_line == Self::MOVES_A_LINE {
                self.out += "\n";
                in_line = 0;
            } else if in_line > 0 {
                self.out.extend(std::iter::repeat_n(' ', pad));
            }
            self.out += &text;
            in_line += 1;
            // every character is two columns wide
            pad = Self::COLUMN.saturating_sub(2 * text.chars().count()).max(1);
            self.position.do_move(ply.mv);
            self.plies += 1;
            last = Some(ply.mv.to());
            if !ply.comments.is_empty() || !ply.asides.is_empty() || ply.bookmark.is_some() {
                self.out += "\n";
                in_line = 0;
                notes(&mut self.out, &ply.comments, &ply.asides, ply.bookmark.as_deref());
            }
        }
        if in_line > 0 {
            self.out += "\n";
        }
        if let Some(end) = end {
            let turn = self.position.side_to_move();
            let line = match &end.words {
                Some(words) => format!("まで{}手で{}", self.plies, one_line(words)),
                None => end.special.ki2(turn, self.plies, self.players),
            };
            let _ = writeln!(self.out, "{line}");
            notes(&mut self.out, &end.comments, &end.asides, end.bookmark.as_deref());
            self.variations(&end.variations, last);
        }
        for (ply, last) in moves.iter().zip(before).rev() {
            self.position.undo_move();
            self.plies -= 1;
            self.variations(&ply.variations, last);
        }
    }

    fn variations(&mut self, lines: &[Line], last: Option<Square>) {
        for line in lines {
            let _ = writeln!(self.out, "\n変化：{}手", self.plies + 1);
            self.line(&line.moves, line.end.as_ref(), last);
        }
    }
}

fn notes(out: &mut String, comments: &[String], asides: &[String], bookmark: Option<&str>) {
    for line in comment_lines(comments) {
        let _ = writeln!(out, "*{line}");
    }
    for line in comment_lines(asides) {
        let _ = writeln!(out, "#{line}");
    }
    if let Some(bookmark) = bookmark {
        let _ = writeln!(out, "&{}", one_line(bookmark));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Notation, read_ki2, read_kif, read_with};
    use super::*;
    use crate::record::Warnings;
    use crate::record::special::Special;

    #[test]
    fn games_from_any_position_read_back() {
        let roots = [
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
            "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124",
        ];
        for root in roots {
            let mut record = Record::new(Position::from_sfen(root).unwrap());
            record.names = ["先".into(), "後".into()];
            record.headers = vec![("EVENT".into(), "棋戦".into()), ("MAX_MOVES".into(), "256".into())];
            record.comments = vec!["comment".into()];
            let mut position = record.root.clone();
            for i in 0..40usize {
                let moves = position.legal_moves(true);
                let Some(m) = moves.get(i * 7 % moves.len().max(1)) else { break };
                let other = Line {
                    moves: moves.first().map(|m| Ply::of(m.mv)).into_iter().collect(),
                    end: (i % 3 == 0).then(|| End::of(Special::Interrupted)),
                };
                position.do_move(m.mv);
                let time = Some(Duration::from_secs(i as u64 * 50));
                record.moves.push(Ply {
                    time,
                    comments: vec!["* 10 7g7f".into()],
                    asides: vec!["by program".into()],
                    bookmark: (i == 5).then(|| "here".into()),
                    variations: if i % 4 == 0 { vec![other.clone(), other] } else { Vec::new() },
                    ..Ply::of(m.mv)
                });
            }
            record.end = Some(End::of(Special::Resign));
            let back = read_kif(&write_kif(&record)).unwrap();
            assert_eq!(
                (&back.names, &back.headers, &back.comments),
                (&record.names, &record.headers, &record.comments)
            );
            assert_eq!((&back.moves, &back.end), (&record.moves, &record.end));
            assert_eq!(back.root.sfen(), record.root.sfen());
            let mut back = read_ki2(&write_ki2(&record)).unwrap();
            assert_eq!(back.headers, record.headers);
            for (ply, original) in back.moves.iter_mut().zip(&record.moves) {
                assert_eq!(ply.time, None);
                ply.time = original.time;
            }
            assert_eq!((&back.moves, &back.end), (&record.moves, &record.end));
            assert_eq!(back.root.sfen(), record.root.sfen());
            let diagram = read_kif(&write_bod(&record)).unwrap();
            assert_eq!(diagram.root.sfen(), record.position().sfen());
        }
    }

    #[test]
    fn headings_that_mean_something_else_become_comments() {
        let names = "|a +a ９a 12 *a #a &a ▲a 先手の持駒 上手 手数a まで 変化 a：b".split(' ');
        for name in names.chain(["", "　a"]) {
            let mut record = Record::new(Position::startpos());
            record.headers = vec![(name.into(), "x".into())];
            for back in [read_kif(&write_kif(&record)), read_ki2(&write_ki2(&record))] {
                let back = back.unwrap();
                assert_eq!((back.root.sfen(), &back.headers[..]), (record.root.sfen(), &[][..]), "{name}");
                assert_eq!((back.names, back.comments), (record.names.clone(), vec![format!("{name}：x")]));
            }
        }
        // the same after the moves
        let late = "手数----指手---\n   1 ７六歩(77)\n| ・：x\n先手の持駒：歩\n棋戦：y\n";
        let late = read_with(late, Notation::Kif, &mut Warnings::default()).unwrap();
        assert_eq!(late[0].headers, [("EVENT".into(), "y".into())]);
    }

    #[test]
    fn the_beginning_of_an_even_game_may_be_a_problem() {
        let mut record = Record::new(Position::startpos());
        record.headers = vec![("手合割".into(), "詰将棋".into())];
        for back in [read_kif(&write_kif(&record)), read_ki2(&write_ki2(&record))] {
            assert_eq!(back.unwrap().headers, record.headers);
        }
    }
}
