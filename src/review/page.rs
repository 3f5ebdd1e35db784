//! The reading as one page for a browser: everything is inside, nothing is fetched.

use super::graph;
use super::judge::Class;
use super::report::Report;
use crate::support::lang::Lang;
use crate::types::Color;
use serde_json::{Value, json};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// The page.
///
/// # Errors
/// When the report cannot be written as JSON, which does not happen with numbers that are numbers.
pub fn write(report: &Report<'_>) -> Result<String, serde_json::Error> {
    let lang = report.words;
    let title = format!("{} - {}", report.player(Color::Black), report.player(Color::White));
    let about: Vec<&str> =
        ["EVENT", "START_TIME", "SITE"].into_iter().filter_map(|name| report.record.header(name)).collect();
    let mut data = serde_json::to_value(report)?;
    if let Value::Object(map) = &mut data {
        map.insert("words".into(), words(lang));
        map.insert("names".into(), json!(Color::ALL.map(|color| report.player(color))));
        let ends = [graph::LEFT, graph::RIGHT, graph::WIDTH, graph::TOP, graph::BOTTOM];
        map.insert("graph".into(), json!(ends));
    }
    // nothing within a script element may look like its end
    let data = data.to_string().replace('<', "\\u003c");
    let graph = format!(
        "<svg id=\"graph\" viewBox=\"0 0 {} {}\" role=\"img\" aria-labelledby=\"graph-name\">{}</svg>",
        graph::WIDTH,
        graph::HEIGHT,
        graph::inner(report)
    );
    let parts = [
        ("{{lang}}", lang.code().to_string()),
        ("{{title}}", escape(&title)),
        ("{{about}}", escape(&about.join(" · "))),
        ("{{engine}}", escape(&report.engine)),
        ("{{graph-name}}", lang.pick("先手の勝率の推移", "Black's win rate over the game").into()),
        ("{{summary}}", summary(report)),
        ("{{first}}", lang.pick("最初へ", "To the start").into()),
        ("{{back}}", lang.pick("一手戻る", "One move back").into()),
        ("{{forward}}", lang.pick("一手進む", "One move on").into()),
        ("{{last}}", lang.pick("最後へ", "To the end").into()),
        ("{{previous-mistake}}", lang.pick("前の悪手・疑問手", "Mistake before").into()),
        ("{{next-mistake}}", lang.pick("次の悪手・疑問手", "Next mistake").into()),
        ("{{flip}}", lang.pick("盤を反転", "Turn the board").into()),
        ("{{theme}}", lang.pick("明暗を切り替え", "Light or dark").into()),
        ("{{slider}}", lang.pick("手数", "Move").into()),
        ("{{board}}", lang.pick("盤面", "Board").into()),
        ("{{moves}}", lang.pick("指し手", "Moves").into()),
        ("{{lines}}", lang.pick("読み筋", "Best lines").into()),
        (
            "{{help}}",
            lang.pick(
                "←→ 一手　↑↓ 悪手・疑問手　Home End 最初・最後　F 反転　Esc 本譜へ",
                "←→ move, ↑↓ mistake, Home End ends, F turn, Esc back to the game",
            )
            .into(),
        ),
        ("{{graph}}", graph),
        ("{{style}}", STYLE.to_string()),
        // last, for names and comments may hold anything
        ("{{script}}", SCRIPT.to_string()),
        ("{{data}}", data),
    ];
    Ok(parts.iter().fold(PAGE.to_string(), |page, (name, text)| page.replacen(name, text, 2)))
}

/// The words that the script shows.
fn words(lang: Lang) -> Value {
    let class = |class: Class| json!({ "name": lang.class(class), "color": graph::color(class) });
    json!({
        "classes": { "best": class(Class::Best), "good": class(Class::Good), "inaccuracy": class(Class::Inaccuracy),
            "mistake": class(Class::Mistake), "blunder": class(Class::Blunder) },
        "start": lang.pick("開始局面", "Start"),
        "rate": lang.pick("先手の勝率", "Black's win rate"),
        "best": lang.pick("最善", "best"),
        "book": lang.pick("定跡", "book"),
        "inBook": lang.pick("定", "book"),
        "time": lang.pick("消費", "time"),
        "missed": lang.pick("手詰を逃す", " plies: mate missed"),
        "allowed": lang.pick("手詰が生じる", " plies: mate allowed"),
        "mate": lang.pick("手詰", " plies to mate"),
        "depth": lang.pick("深さ", "depth"),
        "hand": lang.pick("持駒", "in hand"),
        "none": lang.pick("なし", "none"),
        "variation": lang.pick("読み筋", "line"),
        "sides": [lang.side(Color::Black), lang.side(Color::White)],
    })
}

/// The figures of both sides and the turning points.
fn summary(report: &Report<'_>) -> String {
    let lang = report.words;
    let mut rows = String::new();
    let mut row = |name: &str, color: Option<&str>, value: &dyn Fn(usize) -> String| {
        let mark = color.map_or(String::new(), |c| format!("<i class=\"dot\" style=\"background:{c}\"></i>"));
        rows += &format!(
            "<tr><th scope=\"row\">{mark}{name}</th><td>{}</td><td>{}</td></tr>",
            escape(&value(0)),
            escape(&value(1))
        );
    };
    let sides = &report.sides;
    row(lang.pick("精度", "Accuracy"), None, &|i| sides[i].accuracy_text());
    row(lang.pick("平均損失", "Average loss"), None, &|i| sides[i].loss_text());
    for class in Class::ALL {
        row(lang.class(class), Some(graph::color(class)), &|i| sides[i].classes[class as usize].to_string());
    }
    row(lang.pick("逃した詰み", "Missed mates"), None, &|i| sides[i].missed_mates.to_string());
    row(lang.pick("許した詰み", "Allowed mates"), None, &|i| sides[i].allowed_mates.to_string());
    if report.moves.iter().any(|m| m.book.is_some()) {
        row(lang.pick("定跡手", "Book moves"), None, &|i| sides[i].book_moves.to_string());
    }
    if sides.iter().any(|s| s.seconds.is_some()) {
        row(lang.pick("消費時間", "Time"), None, &|i| {
            sides[i].seconds.map_or("-".into(), crate::support::console::clock)
        });
    }
    let points: String = report
        .turning_points
        .iter()
        .map(|p| {
            format!("<li><button type=\"button\" data-ply=\"{}\">{}</button></li>", p.ply, escape(&p.text))
        })
        .collect();
    let points = match points.as_str() {
        "" => String::new(),
        list => format!(
            "<h2>{}</h2><ol class=\"turns\">{list}</ol>",
            lang.pick("勝負の分かれ目", "Turning points")
        ),
    };
    let percent = |class: Class| format!("{:.0}", 100.0 * class.threshold());
    let explained = lang.pick(
        format!(
            "勝率の損失が {}% 以上で緩手、{}% 以上で疑問手、{}% 以上で悪手。精度は 100·e^(-4×損失) の平均。",
            percent(Class::Inaccuracy), percent(Class::Mistake), percent(Class::Blunder)
        ),
        format!(
            "A move that loses {}% of win rate is an inaccuracy, {}% a mistake, {}% a blunder. Accuracy is the mean of 100·e^(-4·loss).",
            percent(Class::Inaccuracy), percent(Class::Mistake), percent(Class::Blunder)
        ),
    );
    format!(
        "<table><thead><tr><td></td><th scope=\"col\">{}</th><th scope=\"col\">{}</th></tr></thead><tbody>{rows}</tbody></table>{points}<p class=\"small\">{explained}</p>",
        lang.side(Color::Black),
        lang.side(Color::White)
    )
}

/// A text within HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('{', "&#123;")
}
