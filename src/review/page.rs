//! The analysis as one page for a browser: everything is inside, nothing is fetched.

use super::annotate;
use super::graph;
use super::judge::Class;
use super::report::Report;
use crate::position::Position;
use crate::record::{Format, Ply};
use crate::support::chart::PALETTE;
use crate::support::lang::Lang;
use crate::types::{Color, Square};
use serde_json::{Map, Value, json};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const RULES: &str = include_str!("page/rules.js");
const SCRIPT: &str = include_str!("page/page.js");

/// The page.
///
/// # Errors
/// When the report has a number that JSON cannot express (NaN, infinity).
pub fn write(report: &Report<'_>) -> Result<String, serde_json::Error> {
    let lang = report.words;
    let title = format!("{} - {}", report.player(Color::Black), report.player(Color::White));
    let headers = ["EVENT", "START_TIME", "SITE"].into_iter().filter_map(|name| report.record.header(name));
    let handicap = report.handicap().map(|name| lang.pick(name.to_string(), format!("handicap: {name}")));
    let about: Vec<String> = headers.map(String::from).chain(handicap).collect();
    let mut data = serde_json::to_value(report)?;
    if let Value::Object(map) = &mut data {
        map.insert("words".into(), words(report));
        map.insert("names".into(), json!(Color::ALL.map(|color| report.player(color))));
        map.insert("comments".into(), json!(report.record.comments));
        map.insert("variations".into(), variations(report).into());
        let judged = annotate::judged(report);
        map.insert("kif".into(), Format::Kif.write(&judged).into());
        map.insert("csa".into(), Format::Csa.write(&judged).into());
    }
    // the text of a script element must not contain `</script>`
    let data = data.to_string().replace('<', "\\u003c");
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
        ("{{previous-mistake}}", lang.pick("前の悪手・疑問手・緩手", "Bad move before").into()),
        ("{{next-mistake}}", lang.pick("次の悪手・疑問手・緩手", "Next bad move").into()),
        ("{{flip}}", lang.pick("盤を反転", "Turn the board").into()),
        ("{{theme}}", lang.pick("明暗を切り替え", "Light or dark").into()),
        ("{{slider}}", lang.pick("手数", "Move").into()),
        ("{{board}}", lang.pick("盤面", "Board").into()),
        ("{{moves}}", lang.pick("指し手", "Moves").into()),
        ("{{promotion}}", lang.pick("成りますか", "Promote?").into()),
        ("{{centipawns}}", lang.pick("評価値で表示", "Centipawns").into()),
        ("{{times}}", lang.pick("一手ごとの消費時間", "Time used for each move").into()),
        ("{{learn}}", lang.pick("間違いから学ぶ", "Learn from the mistakes of").into()),
        ("{{example}}", lang.pick("７六歩", "P-76").into()),
        ("{{own}}", lang.pick("自分の手（盤上でも指せます）", "Your own move (or play it on the board)").into()),
        ("{{try}}", lang.pick("指す", "Play").into()),
        ("{{copy}}", lang.pick("コピー", "Copy").into()),
        ("{{save}}", lang.pick("保存", "Save").into()),
        ("{{pieces}}", lang.pick("駒", "Pieces").into()),
        ("{{ranks}}", lang.pick("段", "Ranks").into()),
        (
            "{{help}}",
            lang.pick(
                "←→ 一手　↑↓ 悪手・疑問手・緩手　Home End 最初・最後　F 反転　T 自分の手　N 次の問題　Esc 本譜へ",
                "←→ move, ↑↓ bad move, Home End ends, F turn, T your own move, N next question, Esc back to the game",
            )
            .into(),
        ),
        ("{{style}}", [PALETTE, STYLE].concat()),
        // last, because names and comments may contain placeholders
        ("{{rules}}", RULES.to_string()),
        ("{{script}}", SCRIPT.to_string()),
        ("{{data}}", data),
    ];
    Ok(parts.iter().fold(PAGE.to_string(), |page, (name, text)| page.replacen(name, text, 2)))
}

/// A move of a variation: in USI, as text, its comments.
type Step<'a> = (String, String, &'a [String]);

/// The record's variations as lines, with their moves in USI and as text, and their comments. `base` is the
/// number of the game's plies before the line. A variation of a variation repeats the moves of its parent;
/// `own` is their number.
fn variations(report: &Report<'_>) -> Vec<Value> {
    let mut found = Vec::new();
    branches(&report.record.moves, None, (report.record.root.clone(), None), report.words, &mut found);
    found
}

/// Collects the variations beside these moves. `branch`: for a variation, the plies before it in the game and
/// its moves before these.
fn branches<'a>(
    moves: &'a [Ply],
    branch: Option<(usize, Vec<Step<'a>>)>,
    (mut position, mut last): (Position, Option<Square>),
    words: Lang,
    found: &mut Vec<Value>,
) {
    let mut played: Vec<Step<'a>> = Vec::new();
    let first = found.len();
    for (i, ply) in moves.iter().enumerate() {
        for line in &ply.variations {
            let before = match &branch {
                None => (i, Vec::new()),
                Some((base, before)) => (*base, [&before[..], &played[..]].concat()),
            };
            branches(&line.moves, Some(before), (position.clone(), last), words, found);
        }
        played.push((ply.mv.to_string(), words.spell(&position, last, ply.mv), &ply.comments));
        position.do_move(ply.mv);
        last = Some(ply.mv.to());
    }
    if let Some((base, before)) = branch
        && !played.is_empty()
    {
        let own = before.len();
        let line = [before, played].concat();
        let moves: Vec<&String> = line.iter().map(|step| &step.0).collect();
        let text: Vec<&String> = line.iter().map(|step| &step.1).collect();
        let comments: Vec<&[String]> = line.iter().map(|step| step.2).collect();
        found.insert(
            first,
            json!({ "base": base, "own": own, "moves": moves, "text": text, "comments": comments }),
        );
    }
}

/// The texts that the script shows, in Japanese and English. The script replaces `{}`.
const WORDS: [(&str, &str, &str); 46] = [
    ("doubt", "？", "?"),
    ("between", "{}から{}まで", "between {} and {}"),
    ("start", "開始局面", "Start"),
    ("axisTime", "消費時間（最長 {}）", "Time used (longest {})"),
    ("seconds", "{}秒", "{} s"),
    ("turns", "勝負の分かれ目", "Turning points"),
    ("best", "最善", "best"),
    ("book", "定跡", "book"),
    ("inBook", "定", "book"),
    ("time", "消費", "time"),
    ("missed", "{}手詰を逃す", "missed: {}-ply mate"),
    ("allowed", "{}手詰が生じる", "allowed: {}-ply mate"),
    ("mate", "{} {}手詰", "{}: {}-ply mate"),
    ("depth", "深さ", "depth"),
    ("hand", "持駒", "in hand"),
    ("none", "なし", "none"),
    ("variation", "読み筋", "line"),
    ("linesAfter", "読み筋（{} の後）", "Best lines after {}"),
    ("linesAtStart", "読み筋（開始局面）", "Best lines at the start"),
    ("playedLine", "本譜の手からの読み筋", "From the move played"),
    ("bestLine", "最善手からの読み筋", "From the best move"),
    ("leaves", "{}（{}の勝率 {}）", "{} ({}'s win rate {})"),
    ("leave", "本譜へ戻る", "back to the game"),
    ("branch", "棋譜の変化", "variation of the record"),
    ("sideLine", "変化 {}", "variation {}"),
    ("comment", "コメント", "comment"),
    ("own", "自分の手", "your move"),
    ("promote", "成る", "promote"),
    ("keep", "成らない", "do not promote"),
    ("illegal", "{} は指せません（例: ７六歩、7g7f）", "{} is not a legal move here (examples: P-76, 7g7f)"),
    ("again", "別の手を試すか、答えを見てください。", " Try another move, or show the answer."),
    ("isBest", "エンジンの最善手です。", "The engine's best move."),
    ("loses", "勝率の損失 {}", "loses {} of win rate"),
    ("wasPlayed", "本譜の手です（{}）。", "The move of the game; it {}."),
    ("inLines", "エンジンの候補手です（{}）。", "Among the engine's lines; it {}."),
    (
        "inGame",
        "本譜の{}手目の局面になります（{}）。",
        "It leads to the game's position after move {} and {}.",
    ),
    (
        "reached",
        "本譜の{}手目と同じ局面です（先手の勝率 {}）。",
        "The game's position after move {}: Black's win rate {}.",
    ),
    ("unknown", "この手はエンジンの読みにありません。", "The engine's lines do not have this move."),
    ("question", "問題 {}/{}　{}手目 {} よりよい手は？", "Question {} of {}: a better move than {}. {}?"),
    ("howTo", "駒を選び、移動先を選んでください。", "Pick a piece, then its target."),
    ("showAnswer", "答えを見る", "Show the answer"),
    ("answer", "最善は {}", "Best was {}"),
    ("nextLesson", "次の問題", "Next question"),
    ("endLesson", "終わる", "End"),
    ("copied", "コピーしました", "copied"),
    ("notCopied", "コピーできません", "this browser does not let the page copy"),
];

/// [`WORDS`] in the report's language, with those that depend on the game.
fn words(report: &Report<'_>) -> Value {
    let lang = report.words;
    let mut words: Map<String, Value> =
        WORDS.iter().map(|&(name, ja, en)| (name.into(), lang.pick(ja, en).into())).collect();
    let class = |class: Class| json!({ "name": lang.class(class), "color": graph::color(class) });
    let classes = Class::ALL.map(|of| (json_name(of), class(of)));
    words.insert("classes".into(), Value::Object(classes.into_iter().collect()));
    words.insert("sides".into(), json!(Color::ALL.map(|color| report.side(color))));
    let black = report.side(Color::Black);
    for (name, ja, en) in [
        ("rate", "の勝率", "'s win rate"),
        ("axisRate", "の勝率 (%)", "'s win rate, %"),
        ("axisCp", "から見た評価値", "'s score, centipawns"),
    ] {
        words.insert(name.into(), format!("{black}{}", lang.pick(ja, en)).into());
    }
    Value::Object(words)
}

/// A class as the JSON spells it.
fn json_name(class: Class) -> String {
    format!("{class:?}").to_lowercase()
}

/// What the record says about the game: headings, the handicap and the result.
fn facts(report: &Report<'_>) -> String {
    let lang = report.words;
    let label = |name: &str| -> Option<String> {
        let known = match name {
            "EVENT" => lang.pick("棋戦", "Event"),
            "SITE" => lang.pick("場所", "Place"),
            "START_TIME" => lang.pick("開始", "Start"),
            "END_TIME" => lang.pick("終了", "End"),
            "TIME" | "TIME_LIMIT" | "持ち時間" => lang.pick("持ち時間", "Time control"),
            "OPENING" => lang.pick("戦型", "Opening"),
            _ => return lang.pick(Some(name.to_string()), None),
        };
        Some(known.to_string())
    };
    let mut rows: Vec<(String, String)> = report
        .headers
        .iter()
        .filter_map(|(name, value)| {
            Some((label(name)?, value.clone())).filter(|(_, value)| !value.is_empty())
        })
        .collect();
    if let Some(handicap) = report.handicap() {
        rows.push((lang.pick("手合割", "Handicap").into(), handicap.into()));
    }
    if let Some(ending) = report.ending {
        let count = report.moves.len();
        let how = lang.pick(format!("（{count}手、{ending}）"), format!(" ({ending}, moves: {count})"));
        let winner = match report.winner {
            Some("black") => Some(Color::Black),
            Some("white") => Some(Color::White),
            _ => None,
        };
        let result = match winner.map(|color| report.player(color)) {
            Some(name) => lang.pick(format!("{name}の勝ち{how}"), format!("{name} wins{how}")),
            None => lang.pick(format!("{ending}（{count}手）"), format!("{ending} (moves: {count})")),
        };
        rows.push((lang.pick("結果", "Result").into(), result));
    }
    let rows: String = rows
        .iter()
        .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value)))
        .collect();
    format!("<dl class=\"facts\">{rows}</dl>")
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
    if sides.iter().any(|s| s.seconds.is_some_and(|seconds| seconds > 0.0)) {
        row(lang.pick("消費時間", "Time"), None, &|i| {
            sides[i].seconds.map_or("-".into(), |seconds| lang.clock(seconds))
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
    let [slight, mistake, blunder] =
        [Class::Inaccuracy, Class::Mistake, Class::Blunder].map(|c| 100.0 * c.threshold());
    let black = report.side(Color::Black);
    let explained = lang.pick(
        format!(
            "指し手の損失は指した側の勝率、グラフと評価値は{black}側から見た値。損失が {slight:.0}% 以上で緩手、{mistake:.0}% 以上で疑問手、{blunder:.0}% 以上で悪手。±は損失の誤差で、「？」は悪い手ではないかもしれない手（損失から誤差を引くと {slight:.0}% 未満）。精度は 100·e^(-4×損失) を、その前後で勝率がどれだけ動いたかで重みづけた平均。"
        ),
        format!(
            "A move's loss is in the win rate of its player; graph and scores are {black}'s. A loss of {slight:.0}% is an inaccuracy, {mistake:.0}% a mistake, {blunder:.0}% a blunder; ± is the error of a loss, and ? marks a bad move that may be a good one: its loss minus the error is under {slight:.0}%. Accuracy is the mean of 100·e^(-4·loss), weighted by how much the win rate moved around each move."
        ),
    );
    format!(
        "{}<table><thead><tr><td></td><th scope=\"col\">{}</th><th scope=\"col\">{}</th></tr></thead><tbody>{rows}</tbody></table>{points}<p class=\"small\">{explained}</p>",
        facts(report),
        report.side(Color::Black),
        report.side(Color::White)
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
