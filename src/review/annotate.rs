//! The analysis as comments in the record, in the forms that other programs know.

use super::judge::{Class, percent};
use super::report::{LineReport, Report, parse};
use crate::position::Position;
use crate::record::kakinoki::kif_move;
use crate::record::{Format, Record, floodgate};
use crate::types::{Color, Move};

/// What ShogiGUI writes for a mate; ShogiHome reads it as a number.
const MATE: i32 = 30_000;
/// The most moves of a line without mate; longer lines are no use to readers.
const LONGEST: usize = 24;

/// The record with a judgement of every move and the engine's reading of the position after it, as the line
/// that ShogiGUI writes for its analysis (`*解析 ... 評価値 ...`). ShogiHome reads this line, too. A mate is also
/// written in ShogiHome's form (`#詰み=先手勝ち:5手`). The record's own comments come first.
pub fn annotate(report: &Report<'_>) -> Record {
    let mut record = judged(report);
    let mut position = record.root.clone();
    record.comments.extend(reading(report, 0, &position));
    for (i, ply) in record.moves.iter_mut().enumerate() {
        position.do_move(ply.mv);
        ply.comments.extend(reading(report, i + 1, &position));
    }
    record
}

/// The record with a summary and the judgement of its moves, without the engine's lines.
pub fn judged(report: &Report<'_>) -> Record {
    let mut record = report.record.clone();
    record.comments.extend(summary(report));
    for (i, ply) in record.moves.iter_mut().enumerate() {
        ply.comments.extend(from_book(report, i));
        ply.comments.extend(verdict(report, i));
    }
    record
}

/// The annotated record's text.
pub fn write(report: &Report<'_>, format: Format) -> String {
    let mut record = annotate(report);
    if format == Format::Kif {
        floodgate::spell_out(&mut record);
    }
    format.write(&record)
}

/// One line per side, then the turning points.
fn summary(report: &Report<'_>) -> Vec<String> {
    let lang = report.words;
    let mut lines = Vec::new();
    for color in Color::ALL {
        let side = &report.sides[color.index()];
        let bad: Vec<String> = [Class::Inaccuracy, Class::Mistake, Class::Blunder]
            .into_iter()
            .map(|class| format!("{} {}", lang.class(class), side.classes[class as usize]))
            .collect();
        lines.push(lang.pick(
            format!(
                "{}: 精度 {}, 平均損失 {}, {}",
                report.side(color),
                side.accuracy_text(),
                side.loss_text(),
                bad.join(", ")
            ),
            format!(
                "{}: accuracy {}, average loss {}, {}",
                report.side(color),
                side.accuracy_text(),
                side.loss_text(),
                bad.join(", ")
            ),
        ));
    }
    lines.extend(report.turning_points.iter().map(|point| point.text.clone()));
    lines
}

/// `【定跡】`, or the book's moves where the game leaves the book.
fn from_book(report: &Report<'_>, index: usize) -> Option<String> {
    let (book, lang) = (report.moves.get(index)?.book.as_ref()?, report.words);
    Some(match book.played {
        true => lang.pick("【定跡】", "[book]").into(),
        false => lang.book_instead(book),
    })
}

/// `【悪手】 勝率 72% → 31% 最善は△３三角`, for moves that lost something.
fn verdict(report: &Report<'_>, index: usize) -> Option<String> {
    let m = report.moves.get(index)?;
    let (j, lang) = (m.judgement, report.words);
    let mate = j.missed_mate.is_some() || j.allowed_mate.is_some();
    if j.class < Class::Inaccuracy && !mate {
        return None;
    }
    let rates = format!("{}% → {}%", percent(j.before), percent(j.after));
    let best = m.best.as_deref().unwrap_or("-");
    let class = lang.verdict(&j);
    let mut text = lang.pick(
        format!("【{class}】 勝率 {rates} 最善は{best}"),
        format!("[{class}] win rate {rates}, best {best}"),
    );
    if let Some(plies) = j.missed_mate {
        text += &lang.pick(format!(" {plies}手詰を逃す"), format!(", missed a mate in {plies}"));
    }
    if let Some(plies) = j.allowed_mate {
        text += &lang.pick(format!(" {plies}手詰が生じる"), format!(", allowed a mate in {plies}"));
    }
    Some(text)
}

/// The engine's lines in the position after `ply` moves.
fn reading(report: &Report<'_>, plies: usize, position: &Position) -> Vec<String> {
    let Some(found) = report.positions.get(plies) else { return Vec::new() };
    let mut comments = Vec::new();
    if let Some((cp, mate)) = found.lines.first().and_then(|line| Some((line.cp, line.mate?))) {
        // 0 has no sign: the side to move is mated
        let winner = if cp > 0 { "先手勝ち" } else { "後手勝ち" };
        comments.push(format!("#詰み={winner}:{}手", mate.abs()));
    }
    comments.extend(found.lines.first().and_then(|line| line.repetition.clone()));
    // ShogiHome shows the score of the last line
    for (i, line) in found.lines.iter().enumerate().rev() {
        comments.push(analysis(position, line, i + 1));
    }
    comments
}

/// `*解析 0 候補1 深さ 20/31 ノード数 200000 評価値 55 読み筋 ▲７六歩(77) △３四歩(33)`
fn analysis(position: &Position, line: &LineReport, rank: usize) -> String {
    let score = match line.mate {
        Some(_) => MATE * line.cp.signum(),
        None => line.cp,
    };
    let mut text = format!(
        "*解析 0 候補{rank} 深さ {}/{} ノード数 {} 評価値 {score}",
        line.depth, line.seldepth, line.nodes
    );
    let moves = parse(position, &line.pv);
    if !moves.is_empty() {
        text += " 読み筋";
    }
    let (mut position, mut last) = (position.clone(), None);
    let shown = if line.mate.is_some() { moves.len() } else { LONGEST };
    for &m in moves.iter().take(shown) {
        text.push(' ');
        text += &spell(&position, last, m);
        position.do_move(m);
        last = Some(m);
    }
    text
}

/// A move as ShogiGUI writes it: the mark of the player, the move, its origin.
fn spell(position: &Position, last: Option<Move>, m: Move) -> String {
    let mark = if position.side_to_move() == Color::Black { '▲' } else { '△' };
    format!("{mark}{}", kif_move(m, last.map(|l| l.to())))
}
