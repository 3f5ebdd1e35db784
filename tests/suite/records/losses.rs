//! What each format loses of what another one holds: measured, compared with what `convert` says, and with the table of
//! docs/formats.md.

use std::path::Path;
use std::time::Duration;
use toratsugumi::position::Position;
use toratsugumi::record::{End, Format, Line, Ply, Record, Special};

/// A game with everything that some format has a place for; only its ending differs.
fn full(ending: Special) -> Record {
    let mut record = Record::new(
        Position::from_sfen("8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 124")
            .unwrap(),
    );
    record.names = ["先手".into(), "後手".into()];
    record.headers = vec![("EVENT".into(), " 棋戦".into()), ("表題".into(), "第１局".into())];
    record.comments = vec!["before".into()];
    record.asides = vec![" by a program".into()];
    record.bookmark = Some("start".into());
    let mut position = record.root.clone();
    for i in 0..12usize {
        let moves = position.legal_moves(true);
        let m = moves[i * 7 % moves.len()].mv;
        let mut ply = Ply { time: Some(Duration::from_millis(500 * i as u64)), ..Ply::of(m) };
        if i == 5 {
            ply.variations = vec![Line { moves: vec![Ply::of(moves[0].mv)], end: None }];
        }
        position.do_move(m);
        record.moves.push(ply);
    }
    record.moves[3].comments = vec!["a comment".into(), "* 30 7g7f".into()];
    record.moves[3].asides = vec!["aside".into()];
    record.moves[4].bookmark = Some("here".into());
    record.end = Some(End::of(ending));
    record
}

/// The kinds of things that may be lost: the table's letter, the word of the warning, and what is compared.
type Kind = (char, &'static str, fn(&Record) -> String);

const KINDS: [Kind; 10] = [
    ('M', "move", |r| r.moves.iter().map(|p| p.mv.to_string()).collect()),
    ('V', "variation", |r| notes(r, |p| lines(&p.variations))),
    ('T', "time", |r| notes(r, |p| p.time.map(|t| t.as_secs().to_string()).into_iter().collect())),
    ('F', "fraction", |r| notes(r, |p| p.time.map(|t| format!("{t:?}")).into_iter().collect())),
    ('C', "comment", |r| format!("{:?}{}", r.comments, notes(r, |p| p.comments.clone()))),
    ('P', "program", |r| format!("{:?}{}", r.asides, notes(r, |p| p.asides.clone()))),
    ('B', "bookmark", |r| format!("{:?}{}", r.bookmark, notes(r, |p| p.bookmark.iter().cloned().collect()))),
    ('H', "heading", |r| format!("{:?}", (&r.names, &r.headers))),
    ('E', "the ending", |r| format!("{:?}", r.end.as_ref().map(|e| e.special))),
    ('N', "number", |r| r.root.game_ply().to_string()),
];

/// What hangs on the moves, with the numbers of those that have any of it.
fn notes(record: &Record, of: impl Fn(&Ply) -> Vec<String>) -> String {
    let all = record.moves.iter().map(of).enumerate();
    format!("{:?}", all.filter(|(_, found)| !found.is_empty()).collect::<Vec<_>>())
}

fn lines(lines: &[Line]) -> Vec<String> {
    lines.iter().flat_map(|line| line.moves.iter().map(|p| p.mv.to_string())).collect()
}

fn through(format: Format, record: &Record) -> Record {
    let text = format.write(record);
    format.read(&text).unwrap_or_else(|e| panic!("{format:?}: {e}\n{text}")).remove(0)
}

/// The letters of what is lost on the way into a format. A line of text that stays behind takes what hangs on it along.
fn lost(to: Format, record: &Record) -> Vec<char> {
    let back = through(to, record);
    let said = to.losses(record);
    let mut letters = Vec::new();
    for (letter, word, of) in KINDS {
        let gone = of(record) != of(&back);
        // where all times go nobody asks for their fractions; a position alone keeps its own number
        let implied = letter == 'F' && letters.contains(&'T') || letter == 'N' && letters.contains(&'M');
        if implied {
            continue;
        }
        // `the times' fractions` has both words
        let told = match letter {
            'T' => said.split(", ").any(|part| part.contains(word) && !part.contains("fraction")),
            'M' => said.split(", ").any(|part| part.contains(word) && !part.contains("number")),
            _ => said.contains(word),
        };
        assert_eq!(gone, told, "{to:?} {letter}: `{said}`");
        if gone {
            letters.push(letter);
        }
    }
    letters
}

fn cell(from: Format, to: Format) -> String {
    let common = [Special::Resign, Special::Repetition].map(|ending| lost(to, &through(from, &full(ending))));
    assert_eq!(common[0], common[1]);
    let mut letters: String = common[0].iter().collect();
    // endings that some formats have no word for
    let rare =
        [Special::WinByDefault, Special::Sealed, Special::IllegalAction(toratsugumi::types::Color::White)];
    if !letters.contains('E') && rare.iter().any(|e| lost(to, &through(from, &full(*e))).contains(&'E')) {
        letters.push('e');
    }
    if letters.is_empty() { "-".into() } else { letters }
}

#[test]
fn what_is_lost_is_what_is_said_and_what_the_table_shows() {
    let names: Vec<String> = Format::ALL.iter().map(|f| f.name().to_uppercase()).collect();
    let mut table = format!(" | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for (from, name) in Format::ALL.into_iter().zip(&names) {
        let cells: Vec<String> = Format::ALL.into_iter().map(|to| cell(from, to)).collect();
        table += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    for document in ["docs/formats.md", "docs/ja/formats.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(document);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&table), "{document} does not show\n{table}");
    }
}

/// What a format says about a record that has no more than one thing to lose.
fn one_loss(to: Format, record: &Record) -> String {
    let said = to.losses(record);
    assert!(!said.contains(','), "{said}");
    said
}

#[test]
fn endings_of_variations_are_told_too() {
    let moves = "手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 投了\n";
    for (ending, lost_in) in [
        ("封じ手", &[Format::Jkf] as &[Format]),
        ("不戦敗", &[Format::Jkf]),
        ("切れ負け", &[]),
        ("反則負け", &[]),
    ] {
        let record = Format::Kif.read(&format!("{moves}\n変化：2手\n   2 {ending}\n")).unwrap().remove(0);
        for to in [Format::Kif, Format::Ki2, Format::Jkf] {
            let said = if lost_in.contains(&to) { "the ending of 1 variation" } else { "" };
            assert_eq!(one_loss(to, &record), said, "{ending} {to:?}");
            let back = through(to, &record).moves[1].variations == record.moves[1].variations;
            assert_eq!(back, said.is_empty(), "{ending} {to:?}");
        }
    }
}

#[test]
fn the_side_to_move_at_the_end_of_a_variation_counts() {
    let text = r#"{"header": {}, "moves": [{}, {"move": {"color": 0, "from": {"x": 7, "y": 7}, "to": {"x": 7, "y": 6},
        "piece": "FU"}, "forks": [[{"special": "+ILLEGAL_ACTION"}]]}, {"special": "+ILLEGAL_ACTION"}]}"#;
    let record = Format::Jkf.read(text).unwrap().remove(0);
    // 反則負け is another word's, 反則勝ち is its own
    assert_eq!(one_loss(Format::Kif, &record), "the ending of 1 variation");
}

#[test]
fn what_changes_is_told_too() {
    let mut record = full(Special::Resign);
    record = through(Format::Psn, &record);
    for to in [Format::Csa, Format::Kif, Format::Ki2, Format::Jkf, Format::Psn] {
        let told = |record: &Record, what: &str| to.losses(record).contains(what);
        let mut of_lines = record.clone();
        of_lines.headers.push(("NOTE".into(), "two\nlines".into()));
        let changed = through(to, &of_lines).headers != of_lines.headers;
        assert_eq!(told(&of_lines, "1 heading's line ends"), changed, "{to:?}");
        let mut brace = record.clone();
        brace.moves[0].comments = vec!["a } b".into()];
        let changed = through(to, &brace).moves[0].comments != brace.moves[0].comments;
        assert_eq!(told(&brace, "the `}` of 1 comment"), changed, "{to:?}");
        let mut empty = record.clone();
        empty.headers.push(("NOTE".into(), String::new()));
        let changed = through(to, &empty).headers != empty.headers;
        assert_eq!(told(&empty, "1 heading without text"), changed, "{to:?}");
        // every kind of line end in a comment is one
        let mut ends = record.clone();
        ends.moves[0].comments = vec!["a\r\nb\nc".into()];
        let comments = through(to, &ends).moves[0].comments.join("\n").replace('\r', "");
        assert_eq!(comments, "a\nb\nc", "{to:?}");
    }
}

#[test]
fn a_problem_stays_one_on_the_way_through_jkf() {
    let text = "手合割：詰将棋\n".to_string() + &Format::Bod.write(&full(Special::Resign));
    let record = Format::Kif.read(&text).unwrap().remove(0);
    let back = through(Format::Kif, &through(Format::Jkf, &record));
    assert_eq!(back.header("手合割"), Some("詰将棋"));
}
