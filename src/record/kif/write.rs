//! Writing KIF.

use super::board::write_diagram;
use super::moves::move_text;
use super::{HEADINGS, handicap, player};
use crate::record::{Record, one_line, remark_lines};
use crate::types::Color;
use std::fmt::Write;
use std::time::Duration;

/// The text of a game. KIF counts whole seconds, so fractions of times are dropped.
pub fn write(record: &Record) -> String {
    let mut out = String::new();
    for (name, value) in &record.headers {
        let heading = HEADINGS.iter().find(|(_, csa)| csa == name).map_or(name.as_str(), |(kif, _)| kif);
        // writing to a string cannot fail
        let _ = writeln!(out, "{heading}：{}", one_line(value));
    }
    let name = handicap::name(&record.root);
    let handicap = name.is_some_and(|n| n != "平手");
    match name {
        Some(name) => {
            let _ = writeln!(out, "手合割：{name}");
        }
        None => out += &write_diagram(&record.root),
    }
    for (color, name) in Color::ALL.into_iter().zip(&record.names) {
        if !name.is_empty() {
            let _ = writeln!(out, "{}：{}", player(color, handicap), one_line(name));
        }
    }
    out += "手数----指手---------消費時間--\n";
    comments(&mut out, &record.comments);
    let mut totals = [Duration::ZERO; 2];
    let mut last = None;
    for (i, ply) in record.moves.iter().enumerate() {
        let text = move_text(ply.mv, last);
        last = Some(ply.mv.to());
        statement(&mut out, i, &text, ply.time, &mut totals);
        comments(&mut out, &ply.comments);
    }
    if let Some(end) = &record.end {
        let turn = record.mover(record.moves.len());
        statement(&mut out, record.moves.len(), end.special.kif(turn), end.time, &mut totals);
        comments(&mut out, &end.comments);
    }
    out
}

fn statement(out: &mut String, index: usize, text: &str, time: Option<Duration>, totals: &mut [Duration; 2]) {
    let _ = write!(out, "{:4} {text}", index + 1);
    if let Some(time) = time {
        let total = &mut totals[index % 2];
        *total = total.saturating_add(time);
        let (own, all) = (time.as_secs(), total.as_secs());
        let _ = write!(
            out,
            "   ({:2}:{:02}/{:02}:{:02}:{:02})",
            own / 60,
            own % 60,
            all / 3600,
            all / 60 % 60,
            all % 60
        );
    }
    *out += "\n";
}

fn comments(out: &mut String, remarks: &[String]) {
    for line in remark_lines(remarks) {
        let _ = writeln!(out, "*{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use crate::position::Position;
    use crate::record::{End, Ply, Special};

    #[test]
    fn games_from_any_position_read_back() {
        let roots = [
            "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
            "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
            "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 1",
        ];
        for root in roots {
            let mut record = Record::new(Position::from_sfen(root).unwrap());
            record.names = ["先".into(), "後".into()];
            record.headers = vec![("EVENT".into(), "棋戦".into()), ("MAX_MOVES".into(), "256".into())];
            record.comments = vec!["remark".into()];
            let mut position = record.root.clone();
            for i in 0..40usize {
                let moves = position.legal_moves(true);
                let Some(m) = moves.get(i * 7 % moves.len().max(1)) else { break };
                position.do_move(m.mv);
                let time = Some(Duration::from_secs(i as u64 * 50));
                record.moves.push(Ply { time, comments: vec!["* 10 7g7f".into()], ..Ply::of(m.mv) });
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
