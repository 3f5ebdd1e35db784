//! Writing CSA records.

use super::board::write_position;
use super::moves::move_text;
use crate::record::game::Record;
use crate::record::headings::is_csa_name;
use crate::record::text::{comment_lines, one_line};
use std::fmt::Write;
use std::time::Duration;

/// The text of a game's main line: V2.2, or V3.0 where a time has a fraction. CSA has no place for variations
/// and bookmarks; headings without a name in CSA become lines `'$heading:value`, which other programs skip.
pub fn write(record: &Record) -> String {
    let times = record.moves.iter().map(|ply| ply.time).chain(record.end.iter().map(|end| end.time));
    let fractions = times.flatten().any(|t| t.subsec_nanos() != 0);
    let mut out = String::from(if fractions { "'CSA encoding=UTF-8\nV3.0\n" } else { "V2.2\n" });
    for (sign, name) in ["+", "-"].iter().zip(&record.names) {
        if !name.is_empty() {
            let _ = writeln!(out, "N{sign}{}", one_line(name));
        }
    }
    for (name, value) in &record.headers {
        let sign = if is_csa_name(name) { "$" } else { "'$" };
        let _ = writeln!(out, "{sign}{}:{}", one_line(name), one_line(value));
    }
    out += &write_position(&record.root);
    comments(&mut out, &record.comments, &record.asides);
    for ply in &record.moves {
        statement(&mut out, &move_text(ply.mv), ply.time);
        comments(&mut out, &ply.comments, &ply.asides);
    }
    if let Some(end) = &record.end {
        statement(&mut out, end.special.csa(), end.time);
        if let Some(words) = &end.words {
            comments(&mut out, std::slice::from_ref(words), &[]);
        }
        comments(&mut out, &end.comments, &end.asides);
    }
    out
}

// writing to a string cannot fail

fn statement(out: &mut String, text: &str, time: Option<Duration>) {
    let _ = writeln!(out, "{text}");
    if let Some(time) = time {
        let _ = writeln!(out, "{}", time_text(time));
    }
}

fn comments(out: &mut String, comments: &[String], asides: &[String]) {
    for line in comment_lines(comments) {
        let _ = writeln!(out, "'*{line}");
    }
    for line in comment_lines(asides) {
        let _ = writeln!(out, "'{line}");
    }
}

/// `T12`, or `T12.345` with as many digits as needed.
fn time_text(time: Duration) -> String {
    match time.subsec_nanos() {
        0 => format!("T{}", time.as_secs()),
        nanos => format!("T{}.{nanos:09}", time.as_secs()).trim_end_matches('0').to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    #[test]
    fn what_is_written_is_what_was_read() {
        let texts = [
            "V2.2\nN+A\nN-B\n$EVENT:x\nPI\n+\n'remark\n+7776FU\nT12\n'** 30\n-3334FU\n%TORYO\n'end\n",
            "'CSA encoding=UTF-8\nV3.0\nPI\n+\n+7776FU\nT0.5\n-3334FU\nT1.025\n%TIME_UP\nT10\n",
            "V2.2\nP1 *  *  *  * -OU *  *  *  * \nP2 *  *  *  *  *  *  *  *  * \nP3 *  *  *  * +FU *  *  *  * \nP4 *  *  *  *  *  *  *  *  * \nP5 *  *  *  *  *  *  *  *  * \nP6 *  *  *  *  *  *  *  *  * \nP7 *  *  *  *  *  *  *  *  * \nP8 *  *  *  *  *  *  *  *  * \nP9 *  *  *  * +OU *  *  *  * \nP+00KI00KI\nP-00FU\n-\n-5141OU\n",
        ];
        for text in texts {
            assert_eq!(write(&read(text).unwrap()[0]), text);
        }
    }

    #[test]
    fn line_ends_in_names_and_remarks_break_nothing() {
        let mut record = read("PI\n+\n+7776FU\n").unwrap().remove(0);
        record.names[0] = "a\n+2726FU".into();
        record.moves[0].comments.push("one\ntwo\r\n%TORYO".into());
        let back = read(&write(&record)).unwrap().remove(0);
        assert_eq!(back.moves.len(), 1);
        assert_eq!((back.end, back.moves[0].comments.len()), (None, 3));
    }
}
