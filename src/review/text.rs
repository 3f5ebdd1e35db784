//! The analysis as text: one line per move with a bar, then the figures and the turning points.

use super::judge::{Class, Judgement, percent};
use super::report::{LineReport, MoveReport, Report};
use crate::support::lang::Lang;
use crate::types::Color;
use std::fmt::Write;

/// The report's text. Colours are ANSI's, where the terminal has them.
pub fn write(report: &Report<'_>, colors: bool) -> String {
    let lang = report.words;
    let mut out = String::new();
    // writing to a string cannot fail
    let _ = writeln!(out, "{} - {}", report.player(Color::Black), report.player(Color::White));
    if let Some(event) = report.record.header("EVENT") {
        let _ = writeln!(out, "{event}");
    }
    if report.moves.is_empty() {
        position(&mut out, report);
        return out;
    }
    let _ = writeln!(
        out,
        "\n{}",
        lang.pick(
            "手数 指し手           評価値   先手の勝率              判定 (最善)",
            "move                    score   Black's win rate        class (best)"
        )
    );
    for m in &report.moves {
        let score = report.score(m.ply).map_or_else(String::new, |line| score(lang, line));
        let rate = report.positions.get(m.ply).map_or(0.5, |p| p.win_rate);
        let _ = writeln!(
            out,
            "{:4} {} {} {} {:3}% {}",
            m.ply,
            pad(&m.text, 16),
            pad_left(&score, 8),
            bar(rate, 20),
            percent(rate),
            remarks(report, m, colors)
        );
    }
    if let Some(ending) = report.ending {
        let _ = writeln!(out, "     {ending}");
    }
    out += "\n";
    figures(&mut out, report);
    if !report.turning_points.is_empty() {
        let _ = writeln!(out, "\n{}", lang.pick("勝負の分かれ目", "Turning points"));
        for point in &report.turning_points {
            let _ = writeln!(out, "  {}", point.text);
        }
    }
    out
}

fn score(lang: Lang, line: &LineReport) -> String {
    let cp = line.cp;
    if let Some(words) = &line.repetition {
        return words.clone();
    }
    match line.mate {
        Some(n) => format!("{}{}{}", if cp > 0 { '+' } else { '-' }, lang.pick("詰", "M"), n.abs()),
        None => format!("{cp:+}"),
    }
}

/// Win rate and lines of a position without moves.
fn position(out: &mut String, report: &Report<'_>) {
    let (lang, Some(found)) = (report.words, report.positions.first()) else { return };
    let _ = writeln!(
        out,
        "\n{} {} {:3}%",
        lang.pick("先手の勝率", "Black's win rate"),
        bar(found.win_rate, 20),
        percent(found.win_rate)
    );
    for line in &found.lines {
        let _ = writeln!(out, "{}  {}", pad_left(&score(lang, line), 8), line.text.join(" "));
    }
    if let Some(ending) = report.ending {
        let _ = writeln!(out, "     {ending}");
    }
}

/// What is printed after a move: its class with the better move, then the book.
fn remarks(report: &Report<'_>, m: &MoveReport, colors: bool) -> String {
    let lang = report.words;
    let mut parts = vec![remark(report, &m.judgement, m.best.as_deref(), colors)];
    parts.extend(m.book.as_ref().map(|book| match book.played {
        true => lang.pick("定跡", "book").into(),
        false => lang.book_instead(book),
    }));
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// The class, and what would have been better.
fn remark(report: &Report<'_>, j: &Judgement, best: Option<&str>, colors: bool) -> String {
    let lang = report.words;
    let word = match j.class {
        // good moves have no word, so that bad ones stand out
        Class::Best | Class::Good if j.missed_mate.is_none() && j.allowed_mate.is_none() => {
            return if j.class == Class::Best { "◎".into() } else { String::new() };
        }
        _ => lang.verdict(j),
    };
    let color = match j.class {
        Class::Blunder => "31",
        Class::Mistake => "33",
        _ => "36",
    };
    let mut text = if colors { format!("\x1b[{color}m{word}\x1b[0m") } else { word };
    let _ = write!(text, " -{:.0}%", 100.0 * j.loss);
    if let Some(best) = best.filter(|_| j.class > Class::Best) {
        let _ = write!(text, " ({best})");
    }
    if let Some(n) = j.missed_mate {
        text += &lang.pick(format!(" {n}手詰を逃す"), format!(" misses mate in {n}"));
    }
    if let Some(n) = j.allowed_mate {
        text += &lang.pick(format!(" {n}手詰が生じる"), format!(" allows mate in {n}"));
    }
    text
}

/// Both sides' figures beside each other.
fn figures(out: &mut String, report: &Report<'_>) {
    let lang = report.words;
    let mut row = |name: &str, value: &dyn Fn(usize) -> String| {
        let _ = writeln!(out, "{} {} {}", pad(name, 16), pad_left(&value(0), 10), pad_left(&value(1), 10));
    };
    let sides = &report.sides;
    row("", &|i| report.side(Color::ALL[i]).to_string());
    row(lang.pick("精度", "accuracy"), &|i| sides[i].accuracy_text());
    row(lang.pick("平均損失", "average loss"), &|i| sides[i].loss_text());
    for class in Class::ALL {
        row(lang.class(class), &|i| sides[i].classes[class as usize].to_string());
    }
    row(lang.pick("逃した詰み", "missed mates"), &|i| sides[i].missed_mates.to_string());
    row(lang.pick("許した詰み", "allowed mates"), &|i| sides[i].allowed_mates.to_string());
    if report.moves.iter().any(|m| m.book.is_some()) {
        row(lang.pick("定跡手", "book moves"), &|i| sides[i].book_moves.to_string());
    }
    if sides.iter().any(|s| s.seconds.is_some_and(|seconds| seconds > 0.0)) {
        row(lang.pick("消費時間", "time"), &|i| {
            sides[i].seconds.map_or("-".into(), |seconds| lang.clock(seconds))
        });
    }
}

/// A bar of `columns` columns, filled from Black's side in eighths of a column. The rest is shaded, not
/// blank: some terminals draw block characters two columns wide, and with shades all bars keep the same
/// length.
fn bar(rate: f64, columns: usize) -> String {
    const EIGHTHS: [char; 8] = ['░', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (rate.clamp(0.0, 1.0) * (8 * columns) as f64).round() as usize;
    let mut text = "█".repeat(eighths / 8);
    if eighths / 8 < columns {
        text.push(EIGHTHS[eighths % 8]);
        text.extend(std::iter::repeat_n('░', columns - eighths / 8 - 1));
    }
    format!("▕{text}▏")
}

/// How many columns a text takes: Japanese characters take two.
fn width(text: &str) -> usize {
    text.chars().map(|c| if c.is_ascii() || ('\u{2500}'..='\u{259f}').contains(&c) { 1 } else { 2 }).sum()
}

/// The beginning of a text that fits into `columns` columns.
pub fn cut(text: &str, columns: usize) -> String {
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if width(&cut) > columns {
            cut.pop();
            break;
        }
    }
    cut
}

fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_one_width() {
        for rate in [0.0, 0.01, 0.5, 0.513, 0.999, 1.0] {
            assert_eq!(bar(rate, 20).chars().count(), 22, "{rate}");
        }
        assert_eq!(bar(0.5, 4), "▕██░░▏");
    }

    #[test]
    fn japanese_takes_two_columns() {
        assert_eq!(pad("△同銀", 8), "△同銀  ");
        assert_eq!(pad_left("詰", 4), "  詰");
    }
}
