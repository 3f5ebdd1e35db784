//! Game records: real files, games of our own, and broken ones, in every format.

mod losses;

use crate::support::program;
use encoding_rs::{EUC_JP, SHIFT_JIS};
use std::path::{Path, PathBuf};
use std::time::Duration;
use toratsugumi::position::Position;
use toratsugumi::record::{End, Format, Line, Ply, Record, RecordError, Special, Warnings, csa, usi};
use toratsugumi::support::random::Rng;

fn sample(name: &str) -> (PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/games").join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

const SAMPLES: [(&str, usize, &str); 2] = [
    ("floodgate_header_sample.csa", 2, "AobaZero_w4738_n_p800"),
    ("gps_normal_gps_l_2010.csa", 158, "gps_normal"),
];

#[test]
fn games_of_floodgate_go_through_every_format() {
    for (name, moves, black) in SAMPLES {
        let record = csa::read(&sample(name).1).unwrap().remove(0);
        assert_eq!((record.moves.len(), record.names[0].as_str()), (moves, black));
        assert_eq!(record.end.as_ref().unwrap().special, Special::Resign);
        assert!(record.moves.iter().all(|p| p.time.is_some()));
        assert!(record.header("EVENT").unwrap().contains("floodgate"));
        assert_same(&csa::read(&csa::write(&record)).unwrap()[0], &record);
        assert_same(&through(Format::Kif, &record), &record);
        let bare = usi::read(&usi::write(&record)).unwrap().remove(0);
        assert_eq!(bare.position().sfen(), record.position().sfen());
    }
}

/// Written and read back.
fn through(format: Format, record: &Record) -> Record {
    let text = format.write(record);
    match format.read(&text) {
        Ok(mut games) => games.remove(0),
        Err(e) => panic!("{format:?}: {e}\n{text}"),
    }
}

fn assert_same(a: &Record, b: &Record) {
    assert_eq!((&a.names, &a.headers, &a.comments), (&b.names, &b.headers, &b.comments));
    assert_eq!((&a.asides, &a.bookmark), (&b.asides, &b.bookmark));
    assert_eq!((a.root.sfen(), &a.moves, &a.end), (b.root.sfen(), &b.moves, &b.end));
}

/// A game of random moves with times, comments and an ending.
fn random_game(rng: &mut Rng) -> Record {
    let roots = [
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
        "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "8l/1l+R2P3/p2pBG1pp/kps1p4/Nn1P2G2/P1P1P2PP/1PS6/1KSG3+r1/LN2+p3L w Sbgn3p 1",
    ];
    let mut record = Record::new(Position::from_sfen(roots[rng.below(roots.len())]).unwrap());
    record.names = ["先手の名前".into(), "Gote".into()];
    record.headers.push(("START_TIME".into(), "2026/07/17 16:30:00".into()));
    record.headers.push(("表題".into(), "第１局".into()));
    record.asides.push(" a program's line".into());
    let length = rng.below(200);
    let mut position = record.root.clone();
    record.moves = random_moves(rng, &mut position, length);
    let endings =
        [Special::Resign, Special::TimeUp, Special::Repetition, Special::Declaration, Special::MaxMoves];
    record.end = Some(End::of(endings[rng.below(endings.len())]));
    record
}

fn random_moves(rng: &mut Rng, position: &mut Position, length: usize) -> Vec<Ply> {
    let mut plies = Vec::new();
    for _ in 0..length {
        let moves = position.legal_moves(true);
        if moves.is_empty() {
            break;
        }
        let mv = moves[rng.below(moves.len())].mv;
        position.do_move(mv);
        let time = Some(Duration::from_secs(rng.below(4000) as u64));
        let comments =
            if rng.chance(0.3) { vec![format!("* {} メモ", rng.below(3000))] } else { Vec::new() };
        plies.push(Ply { time, comments, ..Ply::of(mv) });
    }
    plies
}

/// How deep variations stand within each other.
const DEPTH: usize = 3;

/// Hangs variations, variations of variations, and bookmarks on a game.
fn vary(rng: &mut Rng, root: &Position, plies: &mut [Ply], depth: usize) {
    let mut position = root.clone();
    for (i, ply) in plies.iter_mut().enumerate() {
        // what replaces the first move of a variation is another variation of the line that it leaves
        if (i > 0 || depth == DEPTH) && rng.chance(0.05) {
            for _ in 0..1 + rng.below(2) {
                let length = 1 + rng.below(12);
                let mut line = Line { moves: random_moves(rng, &mut position.clone(), length), end: None };
                if depth > 0 {
                    vary(rng, &position, &mut line.moves, depth - 1);
                }
                if rng.chance(0.3) {
                    line.end = Some(End::of(Special::Interrupted));
                }
                ply.variations.push(line);
            }
        }
        if rng.chance(0.05) {
            ply.bookmark = Some("しおり".into());
        }
        position.do_move(ply.mv);
    }
}

#[test]
fn games_of_our_own_read_back() {
    let mut rng = Rng::new(17);
    for _ in 0..100 {
        let record = random_game(&mut rng);
        assert_same(&through(Format::Csa, &record), &record);
        assert_same(&through(Format::Kif, &record), &record);
        assert_eq!(Format::Csa.losses(&record) + &Format::Kif.losses(&record), "");
    }
}

/// Everything of a game that KI2 and JKF have a place for.
fn without_times(mut record: Record) -> Record {
    fn clear(plies: &mut [Ply], end: &mut Option<End>) {
        for ply in plies {
            ply.time = None;
            for line in &mut ply.variations {
                clear(&mut line.moves, &mut line.end);
            }
        }
        if let Some(end) = end {
            end.time = None;
        }
    }
    clear(&mut record.moves, &mut record.end);
    record
}

fn without_bookmarks(mut record: Record) -> Record {
    fn clear(plies: &mut [Ply]) {
        for ply in plies {
            ply.bookmark = None;
            ply.variations.iter_mut().for_each(|line| clear(&mut line.moves));
        }
    }
    clear(&mut record.moves);
    record.asides.clear();
    record
}

fn without_variations(mut record: Record) -> Record {
    for ply in &mut record.moves {
        ply.variations.clear();
        ply.bookmark = None;
    }
    record
}

#[test]
fn variations_and_bookmarks_stay_where_there_is_a_place() {
    let mut rng = Rng::new(19);
    for _ in 0..40 {
        let mut record = random_game(&mut rng);
        let root = record.root.clone();
        vary(&mut rng, &root, &mut record.moves, DEPTH);
        assert_same(&through(Format::Kif, &record), &record);
        assert_same(&through(Format::Ki2, &record), &without_times(record.clone()));
        assert_same(&through(Format::Jkf, &record), &without_bookmarks(record.clone()));
        assert_same(&through(Format::Csa, &record), &without_variations(record.clone()));
        let end = Record::new(record.position());
        for format in [Format::Sfen, Format::Bod] {
            assert_eq!(through(format, &record).root.sfen(), end.root.sfen());
        }
    }
}

#[test]
fn what_is_lost_is_said() {
    let mut rng = Rng::new(37);
    let mut record = random_game(&mut rng);
    let root = record.root.clone();
    while record.moves.len() < 50 {
        record = random_game(&mut rng);
    }
    vary(&mut rng, &root, &mut record.moves, DEPTH);
    record.moves[1].time = Some(Duration::from_millis(1500));
    record.moves[1].bookmark = Some("b".into());
    let said = |format: Format| format.losses(&record);
    assert!(said(Format::Kif).contains("the fraction of 1 time"), "{}", said(Format::Kif));
    for (format, words) in [
        (Format::Csa, &["variation", "bookmark"] as &[&str]),
        (Format::Ki2, &["times"]),
        (Format::Jkf, &["bookmark", "program", "fraction"]),
        (Format::Psn, &["variation", "times", "ending"]),
        (Format::Usi, &["variation", "times", "comment", "heading", "ending"]),
        (Format::Sfen, &["moves", "ending"]),
        (Format::Bod, &["moves"]),
    ] {
        for word in words {
            assert!(said(format).contains(word), "{format:?}: {}", said(format));
        }
    }
}

#[test]
fn games_go_round_all_formats() {
    go_round(60);
}

#[test]
#[ignore = "the same at length"]
fn five_hundred_games_go_round_all_formats() {
    go_round(500);
}

fn go_round(games: usize) {
    let mut rng = Rng::new(41);
    for _ in 0..games {
        let record = random_game(&mut rng);
        let mut now = record.clone();
        for format in
            [Format::Kif, Format::Ki2, Format::Jkf, Format::Csa, Format::Kif, Format::Psn, Format::Usi]
        {
            now = through(format, &now);
            let moves = |r: &Record| r.moves.iter().map(|p| p.mv).collect::<Vec<_>>();
            assert_eq!(moves(&now), moves(&record), "{format:?}");
            if format != Format::Usi {
                assert_eq!((&now.names, &now.headers), (&record.names, &record.headers), "{format:?}");
            }
            if !matches!(format, Format::Psn | Format::Usi) {
                assert_eq!(now.end, record.end, "{format:?}");
            }
        }
    }
}

/// Breaks a line of the moves so that it cannot be right, and says where the error must be found (1-based).
fn corrupt(lines: &mut Vec<String>, rng: &mut Rng, is_move: fn(&str) -> bool, forbidden: &[&str]) -> usize {
    let moves: Vec<usize> = (0..lines.len()).filter(|i| is_move(&lines[*i])).collect();
    // a later move is there to show that one is missing
    let which = rng.below(moves.len() - 1);
    let at = moves[which];
    match rng.below(5) {
        0 => {
            lines.remove(at);
            // CSA has the move's time left, KIF notices at the next move
            if lines[at].starts_with('T') { at + 1 } else { moves[which + 1] }
        }
        1 => {
            let line = lines[at].clone();
            lines.insert(at + 1, line);
            at + 2
        }
        2 => {
            lines.insert(at + 1, forbidden[rng.below(forbidden.len())].into());
            at + 2
        }
        3 => {
            // a letter that no notation has
            let mut chars: Vec<char> = lines[at].chars().collect();
            let from = chars.iter().position(|c| !c.is_whitespace() && !c.is_ascii_digit()).unwrap();
            chars[from + rng.below(3)] = '§';
            lines[at] = chars.into_iter().collect();
            at + 1
        }
        _ => {
            let mut chars: Vec<char> = lines[at].chars().collect();
            let from = chars.iter().position(|c| !c.is_whitespace() && !c.is_ascii_digit()).unwrap();
            chars.truncate(from + 1 + rng.below(2));
            lines[at] = chars.into_iter().collect();
            at + 1
        }
    }
}

#[test]
fn broken_records_give_errors_that_name_the_line() {
    break_records(60);
}

#[test]
#[ignore = "the same at length"]
fn two_thousand_broken_records_give_errors_that_name_the_line() {
    break_records(500);
}

/// Breaks games of CSA, KIF, KI2 and JKF, one of each at a time.
fn break_records(games: usize) {
    let mut rng = Rng::new(23);
    let csa_move = |l: &str| l.len() == 7 && l.starts_with(['+', '-']);
    let kif_move = |l: &str| l.trim_start().starts_with(|c: char| c.is_ascii_digit()) && l.contains('(');
    for _ in 0..games {
        let mut record = random_game(&mut rng);
        while record.moves.len() < 10 {
            record = random_game(&mut rng);
        }
        let csa_lines = &["hello", "%TORY0", "N+late", "PI", "T1.x", "+", "V2.2"];
        let kif_lines = &["hello", "9999 ７六歩(77)", "先手：late", "手合割：平手"];
        let broken = [
            (Format::Csa, csa_move as fn(&str) -> bool, csa_lines as &[&str]),
            (Format::Kif, kif_move, kif_lines),
        ];
        for (format, is_move, forbidden) in broken {
            let mut lines: Vec<String> = format.write(&record).lines().map(String::from).collect();
            let line = corrupt(&mut lines, &mut rng, is_move, forbidden);
            let text = lines.join("\n");
            let error = format.read(&text).err().unwrap_or_else(|| panic!("{text}"));
            assert_eq!(error.line, line, "{error}\n{text}");
        }
        // a move of KI2 or JKF that no piece can make
        let ki2_move = |l: &str| l.starts_with(['▲', '△']);
        let mut lines: Vec<String> = Format::Ki2.write(&record).lines().map(String::from).collect();
        let moves: Vec<usize> = (0..lines.len()).filter(|i| ki2_move(&lines[*i])).collect();
        let at = moves[rng.below(moves.len())];
        let wrong = ["▲", "▲５五", "△５五玉玉", "▲５五歩§", "x"][rng.below(5)];
        lines[at] = if wrong == "x" { "x".to_string() + &lines[at] } else { lines[at].clone() + wrong };
        let error = Format::Ki2.read(&lines.join("\n")).err().unwrap();
        assert_eq!(error.line, at + 1, "{error}\n{}", lines[at]);

        let mut lines: Vec<String> = Format::Jkf.write(&record).lines().map(String::from).collect();
        let moves: Vec<usize> = (0..lines.len()).filter(|i| lines[*i].contains("\"move\"")).collect();
        let at = moves[rng.below(moves.len())];
        let (old, new) = [
            ("\"to\":{\"x\":", "\"to\":{\"x\":0"),
            ("\"piece\":\"", "\"piece\":\"X"),
            ("\"color\":", "\"color\":1"),
            ("\"move\":{", "\"move\":{{"),
            ("\"y\":", "\"y\":1"),
        ][rng.below(5)];
        lines[at] = lines[at].replacen(old, new, 1);
        let error = Format::Jkf.read(&lines.join("\n")).err().unwrap();
        assert_eq!(error.line, at + 1, "{error}\n{}", lines[at]);
    }
}

#[test]
fn no_bytes_make_the_readers_panic() {
    let mut rng = Rng::new(29);
    let mut game = random_game(&mut rng);
    let root = game.root.clone();
    vary(&mut rng, &root, &mut game.moves, DEPTH);
    let mut texts = vec![sample(SAMPLES[1].0).1];
    texts.extend(Format::ALL.into_iter().map(|format| format.write(&game)));
    for i in 0..4000 {
        let mut bytes = texts[i % texts.len()].clone().into_bytes();
        for _ in 0..1 + rng.below(8) {
            let at = rng.below(bytes.len());
            match rng.below(3) {
                0 => bytes[at] = rng.below(256) as u8,
                1 => {
                    bytes.remove(at);
                }
                _ => bytes.insert(at, rng.below(256) as u8),
            }
        }
        let text = toratsugumi::record::encoding::decode(&bytes).text;
        let lines = text.lines().count();
        let moves = |record: &Record| record.moves.iter().map(|ply| ply.mv).collect::<Vec<_>>();
        for format in Format::ALL {
            let is_somewhere = |e: &RecordError| (1..=lines.max(1)).contains(&e.line) && !e.what.is_empty();
            if let Err(e) = format.read(&text) {
                assert!(is_somewhere(&e), "{e}");
            }
            let mut warnings = Warnings::default();
            let games =
                format.read_with(&text, &mut warnings).inspect_err(|e| assert!(is_somewhere(e), "{e}"));
            assert!(warnings.list().iter().all(is_somewhere), "{:?}", warnings.list());
            // what was read with warnings is a record like any other
            for game in games.iter().flatten().filter(|_| !warnings.list().is_empty()) {
                for to in [Format::Kif, Format::Ki2, Format::Jkf, Format::Csa] {
                    let written = to.write(game);
                    let again = to.read_with(&written, &mut Warnings::default());
                    let again = again.unwrap_or_else(|e| panic!("{to:?}: {e}\n{written}"));
                    assert_eq!(moves(&again[0]), moves(game), "{to:?}\n{written}");
                }
            }
        }
        let _ = Format::of_text(&text);
    }
}

#[test]
fn hostile_nesting_is_an_error() {
    let mut kif = String::from("手数----\n   1 ７六歩(77)\n");
    let turn = ["８二飛(72)", "２八飛(38)", "７二飛(82)", "３八飛(28)"];
    kif.push_str("   2 ８四歩(83)\n");
    for n in 2..2000usize {
        kif.push_str(&format!("変化：{n}手\n{n:4} {}\n{:4} {}\n", turn[n % 4], n + 1, turn[(n + 1) % 4]));
    }
    let error = Format::Kif.read(&kif).err().unwrap();
    assert!(error.line > 900 && error.what.contains("variations within each other"), "{error}");
    // as deep as a record may be, on a test's small stack
    let allowed = kif.lines().take(3 + 3 * 290).map(|line| format!("{line}\n")).collect::<String>();
    let record = Format::Kif.read(&allowed).unwrap().remove(0);
    assert_same(&through(Format::Jkf, &record), &record);
    for closed in [false, true] {
        let end = if closed { "]]}".repeat(20_000) + "]}" } else { String::new() };
        let forks = ",\n{\"forks\":[[{}".repeat(20_000);
        let error =
            Format::Jkf.read(&format!("{{\"header\":{{}},\"moves\":[{{}}{forks}{end}")).err().unwrap();
        assert!(error.line > 300 && error.what.contains("variations within each other"), "{error}");
    }
}

fn convert(args: &[&str]) -> (bool, Vec<u8>, String) {
    let output = program().arg("convert").args(args).output().unwrap();
    (output.status.success(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn convert_reads_and_writes_every_format_and_encoding() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let record = random_game(&mut Rng::new(31));
    let text = csa::write(&record);
    for encoding in [SHIFT_JIS, EUC_JP] {
        std::fs::write(at("a.csa"), encoding.encode(&text).0).unwrap();
        let (ok, out, said) = convert(&[&at("a.csa"), "--to", "kif"]);
        assert!(ok, "{said}");
        assert_same(&Format::Kif.read(std::str::from_utf8(&out).unwrap()).unwrap()[0], &record);
    }
    // there and back again, in the encoding of old programs
    assert!(convert(&[&at("a.csa"), "-o", &at("b.kif")]).0);
    assert!(std::str::from_utf8(&std::fs::read(at("b.kif")).unwrap()).is_err());
    assert!(convert(&[&at("b.kif"), "-o", &at("c.csa")]).0);
    assert_eq!(std::fs::read_to_string(at("c.csa")).unwrap(), text);
    // many games in one file, a file each
    let (a, b) = (sample(SAMPLES[0].0).0, sample(SAMPLES[1].0).0);
    let (a, b) = (a.to_str().unwrap(), b.to_str().unwrap());
    assert!(convert(&[a, b, "-o", &at("both.csa")]).0);
    assert!(convert(&[&at("both.csa"), "--to", "usi", "-o", &at("lines.usi")]).0);
    assert_eq!(std::fs::read_to_string(at("lines.usi")).unwrap().lines().count(), 2);
    assert!(convert(&[&at("lines.usi"), "--to", "kif", "--out-dir", &at("out")]).0);
    assert!(Path::new(&at("out/lines-2.kifu")).exists());
    // what is broken is named, and the rest is done all the same
    std::fs::write(at("bad.csa"), "V2.2\nPI\n+\n+7775FU\n-3334FU\n").unwrap();
    let (ok, out, said) = convert(&[&at("bad.csa"), a, "--to", "usi"]);
    assert!(
        !ok && said.contains("bad.csa: line 4") && said.contains("1 whole, 0 partly, 1 refused"),
        "{said}"
    );
    assert!(String::from_utf8_lossy(&out).starts_with("startpos moves 7g7f"));
    for wrong in [&[a] as &[&str], &["nothing", "--to", "csa"], &[a, b, "--to", "kif"]] {
        assert!(!convert(wrong).0, "{wrong:?}");
    }
    // what would have no effect, and what contradicts itself
    let (ok, out, said) = convert(&[a, "--to", "usi", "--force"]);
    assert!(!ok && out.is_empty() && said.contains("--force") && said.lines().count() == 1, "{said}");
    let (ok, _, said) = convert(&[a, "-o", &at("x.csa"), "--to", "kif"]);
    assert!(!ok && said.contains("the extension means csa") && said.lines().count() == 1, "{said}");
    assert!(!Path::new(&at("x.csa")).exists());
    // a name that is read as what stands in it is none
    assert!(convert(&[a, "-o", &at("x.sfen"), "--to", "usi"]).0);
    assert!(convert(&[a, "-o", &at("x.kif"), "--to", "bod"]).0);
}

/// A game that an encoding cannot hold is named with the character, and the others are written.
#[test]
fn convert_names_the_character_that_an_encoding_lacks() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    std::fs::create_dir(at("in")).unwrap();
    for (name, player) in [("a", "太郎〜"), ("b", "𠮷田"), ("c", "花子")] {
        let text = format!("手合割：平手\n先手：{player}\n   1 ７六歩(77)\n");
        std::fs::write(at(&format!("in/{name}.kifu")), text).unwrap();
    }
    let (ok, _, said) =
        convert(&[&at("in"), "--to", "kif", "--encoding", "shift-jis", "--out-dir", &at("out")]);
    assert!(
        !ok && said.contains("Shift_JIS cannot encode `𠮷`") && said.contains("games not written: 1 of 3"),
        "{said}"
    );
    let text = |name: &str| SHIFT_JIS.decode(&std::fs::read(at(name)).unwrap()).0.into_owned();
    assert!(text("out/a.kif").contains("先手：太郎～") && text("out/c.kif").contains("花子"));
    assert!(!Path::new(&at("out/b.kif")).exists());
}

#[test]
fn convert_takes_directories_and_keeps_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_string();
    let record = random_game(&mut Rng::new(43));
    std::fs::create_dir_all(at("in/sub/deep")).unwrap();
    for name in ["in/a.csa", "in/sub/a.csa", "in/sub/deep/b.csa"] {
        std::fs::write(at(name), csa::write(&record)).unwrap();
    }
    std::fs::write(at("in/sub/readme.txt"), "not a record").unwrap();
    let (ok, _, said) = convert(&[&at("in"), "--to", "kif", "--encoding", "utf-8", "--out-dir", &at("out")]);
    assert!(ok && said.contains("readme.txt: skipped"), "{said}");
    for name in ["out/a.kifu", "out/sub/a.kifu", "out/sub/deep/b.kifu"] {
        let text = std::fs::read_to_string(at(name)).unwrap();
        assert_same(&Format::Kif.read(&text).unwrap()[0], &record);
    }
    // nothing is overwritten unasked
    std::fs::write(at("out/a.kifu"), "mine").unwrap();
    let (ok, _, said) =
        convert(&[&at("in/a.csa"), "--to", "kif", "--encoding", "utf-8", "--out-dir", &at("out")]);
    assert!(!ok && said.contains("a.kifu exists;") && said.contains("games not written: 1 of 1"), "{said}");
    let (ok, _, said) = convert(&[&at("in/a.csa"), "-o", &at("out/a.kifu")]);
    assert!(!ok && said.contains("exists; use --force"), "{said}");
    assert_eq!(std::fs::read_to_string(at("out/a.kifu")).unwrap(), "mine");
    assert!(convert(&[&at("in/a.csa"), "-o", &at("out/a.kifu"), "--force"]).0);
    assert_ne!(std::fs::read_to_string(at("out/a.kifu")).unwrap(), "mine");
    // two inputs never become one output, and the others are written
    let three = [&at("in/a.csa"), &at("in/sub/a.csa"), &at("in/sub/deep/b.csa")];
    let (ok, _, said) = convert(&[three[0], three[1], three[2], "--to", "ki2", "--out-dir", &at("two")]);
    assert!(
        !ok && said.contains("would both become") && said.contains("games not written: 1 of 3"),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(at("two")).unwrap().count(), 2);
    // what is lost is said in one line, and a format is known by its text
    let (ok, out, said) = convert(&[&at("in/a.csa"), "--to", "ki2"]);
    assert!(ok && said.lines().count() == 1 && said.contains("ki2 cannot store"), "{said}");
    std::fs::write(at("noname"), &out).unwrap();
    let (ok, out, said) = convert(&[&at("noname"), "--to", "usi"]);
    assert!(ok, "{said}");
    assert_eq!(String::from_utf8(out).unwrap(), usi::write(&record));
}

/// Files as people have them: what they are called, their games as USI lines, the exit status, words of the warnings (a
/// line each), and what KIF says of their ending.
#[test]
fn files_of_people_are_read_as_far_as_they_can_be_understood() {
    let ten = "startpos moves 7g7f 3c3d 8h2b+ 3a2b 6g6f 3d3e 6f6e 3e3f 3g3f 5a4b\n";
    let two = "startpos moves 7g7f 3c3d\n";
    let five = "startpos moves 7g7f 3c3d 8h2b+ 3a2b B*4e\n";
    let cases: [(&str, &str, i32, &[&str], &str); 8] = [
        ("board_rotated.kif", two, 0, &[], ""),
        ("drop_from_00.kif", five, 0, &[], ""),
        ("unknown_end.kif", two, 3, &["line 5: `時間切れ`"], "   3 時間切れ   ( 0:00/00:00:01)\n"),
        ("comment_after_comma.csa", two, 0, &[], "   3 投了   ( 0:10/00:00:11)\n* -5000 win\n"),
        ("ends_with_two_pawns.ki2", ten, 3, &["(nifu)"], "  11 反則負け\n*反則手：▲６七歩\n"),
        ("ends_with_two_pawns.kif", ten, 3, &["line 13", "(nifu)"], "  11 反則負け\n*反則手：６七歩打\n"),
        ("ends_with_resign.usi", two, 0, &[], "   3 投了\n"),
        ("odd_times.csa", two, 3, &["line 5: `T-600` is not a time"], "   1 ７六歩(77)   (10:00/00:10:00)\n"),
    ];
    for (name, usi, status, warnings, kif) in cases {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/records").join(name);
        let run = |to: &[&str]| {
            let mut command = program();
            let output = command.arg("convert").arg(&path).arg("--to").args(to).output().unwrap();
            let (out, said) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
            (output.status.code(), out.unwrap(), said.unwrap())
        };
        let (code, out, said) = run(&["usi"]);
        assert_eq!((code, out.as_str()), (Some(status), usi), "{name}: {said}");
        let found: Vec<&str> = said.lines().filter(|line| line.contains(": line ")).collect();
        assert_eq!(found.len(), usize::from(!warnings.is_empty()), "{name}: {said}");
        assert!(warnings.iter().all(|words| found[0].contains(words)), "{name}: {said}");
        assert!(run(&["kif"]).1.contains(kif), "{name}: {}", run(&["kif"]).1);
        assert_eq!(run(&["usi", "--strict"]).0, Some(1), "{name}");
    }
}

/// What other programs write, in small: a beginning of a file, its ending, the warnings.
#[test]
fn what_other_programs_write_is_understood_or_skipped() {
    let kif = "手合割：平手\n   1 ７六歩(77)\n";
    let csa = "V2.2\nPI\n+\n+7776FU\n";
    let ki2 = "手合割：平手\n▲７六歩\n";
    let end = |game: &Record| game.end.clone().map(|end| (end.special, end.words));
    let named = |special, words: &str| Some((special, Some(words.to_string())));
    let plain = |special| Some((special, None));
    let black = toratsugumi::types::Color::Black;
    let other = Special::Other;
    let cases = [
        (Format::Kif, kif, "   2 投了打(00)\n", 1, plain(Special::Resign)),
        (Format::Kif, kif, "   2 反則手\n", 1, named(other, "反則手")),
        (Format::Kif, kif, "   2 トライ\n", 1, named(other, "トライ")),
        (Format::Kif, kif, "   2 連続王手の千日手\n", 1, named(other, "連続王手の千日手")),
        (Format::Kif, kif, "   2 入玉宣言勝ち\n", 1, named(Special::Declaration, "入玉宣言勝ち")),
        (Format::Kif, kif, "   9 投了\n", 1, plain(Special::Resign)),
        (Format::Kif, kif, "まで99手で後手の勝ち\n", 1, None),
        (Format::Kif, kif, "終了日時：2026/11/28\n備考：x\n", 0, None),
        (Format::Kif, kif, "-----\n後手：b\n", 2, None),
        (Format::Kif, kif, "   2 投了 (00:01.5/00:00:01)\n", 0, plain(Special::Resign)),
        (Format::Kif, kif, "   2 投了 （ 0:01/ ）\n", 0, plain(Special::Resign)),
        (Format::Kif, kif, "   2 投了 (one)\n", 1, plain(Special::Resign)),
        // two moves in a row, with and without what the file says of it
        (Format::Kif, kif, "   2 ２六歩(27)\n", 1, plain(Special::IllegalAction(black))),
        (Format::Kif, kif, "   2 ２六歩(27)\n   3 反則勝ち\n", 1, plain(Special::IllegalAction(black))),
        (Format::Kif, kif, "   2 ３四飛打\n", 1, plain(Special::IllegalMove)),
        (Format::Kif, kif, "△３四歩\n", 0, None),
        (Format::Ki2, ki2, "△３四飛打\nまで2手で先手の反則勝ち\n", 1, plain(Special::IllegalMove)),
        (Format::Ki2, ki2, "まで1手で引き揚げ\n", 1, named(other, "引き揚げ")),
        (Format::Csa, csa, "-3334FU T12 ,'a,b\n%TORYO , T 3\n", 0, plain(Special::Resign)),
        (Format::Csa, csa, "T1.\nT\nT99999999999\n", 2, None),
        (Format::Csa, csa, "%TORY0\n", 1, named(other, "TORY0")),
        (Format::Csa, csa, "hello\nN+late\n%TORYO\n%CHUDAN\n", 3, plain(Special::Resign)),
        (Format::Csa, csa, "+2726FU\n%-ILLEGAL_ACTION\n", 1, plain(Special::IllegalAction(black))),
        (Format::Csa, csa, "-0055FU\n%ILLEGAL_MOVE\n", 1, plain(Special::IllegalMove)),
        (Format::Usi, "startpos moves 7g7f", " win\n", 0, plain(Special::Declaration)),
        (Format::Usi, "startpos moves 7g7f", " draw\n", 0, plain(Special::DrawDeclaration)),
        (Format::Usi, "startpos moves 7g7f", " timeup\n", 0, plain(Special::TimeUp)),
        (Format::Usi, "startpos moves 7g7f", " abort\n", 1, named(other, "abort")),
        (Format::Usi, "startpos moves 7g7f", " P*5e\n", 1, plain(Special::IllegalMove)),
    ];
    for (format, begin, rest, warnings, expected) in cases {
        let text = format!("{begin}{rest}");
        let mut found = Warnings::default();
        let games = format.read_with(&text, &mut found).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!((end(&games[0]), found.list().len()), (expected, warnings), "{text}\n{:?}", found.list());
        assert_eq!(games[0].moves[0].mv.to_string(), "7g7f", "{text}");
    }
    // what would change the moves is refused, at the line where it goes wrong
    for (format, text, line, what) in [
        (Format::Kif, format!("{kif}   2 ２六歩(27)\n   3 ３四歩(33)\n"), 3, "two moves in a row"),
        (Format::Kif, format!("{kif}   3 ３四歩(33)\n"), 3, "move 2 is missing"),
        (Format::Kif, format!("{kif}   2 時間切れ\n   3 ３四歩(33)\n"), 4, "a move after"),
        (Format::Kif, format!("{kif}３四歩x(33)\n"), 3, "neither a move"),
        (Format::Kif, format!("{kif}   2 パス\n   3 ２六歩(27)\n"), 4, "after `パス`"),
        (Format::Kif, format!("{kif}   2 ３四歩(33)\n   2 ２六歩(27)\n"), 4, "two moves in a row"),
        (Format::Kif, format!("{kif}   2 ３四\n"), 3, "not a move"),
        (Format::Ki2, format!("{ki2}△３四金(33)\n"), 3, "does not stand"),
        (Format::Ki2, format!("{ki2}△３四飛打\n▲２六歩\n"), 3, "no such piece in hand"),
        (Format::Ki2, format!("{ki2}△３四金\n"), 3, "no piece can move so"),
        (Format::Csa, format!("{csa}-3334KI\n"), 5, "does not stand"),
        (Format::Csa, format!("{csa}P1\n"), 5, "before the moves"),
        (Format::Usi, "startpos moves 7g7f P*5e 2g2f\n".into(), 1, "no such piece in hand"),
        (
            Format::Jkf,
            JKF.replace("\"y\":4", "\"y\":6") + "{\"move\":{\"piece\":\"FU\",\"to\":{\"x\":2,\"y\":6}}}]}",
            4,
            "does not move there",
        ),
    ] {
        let error =
            format.read_with(&text, &mut Warnings::default()).err().unwrap_or_else(|| panic!("{text}"));
        assert!(error.line == line && error.what.contains(what), "{text}: {error}");
    }
    // of several games only the broken one is skipped
    let mut found = Warnings::default();
    let games = Format::Csa.read_with(&format!("{csa}-3334KI\n/\n{csa}%TORYO\n/\n"), &mut found).unwrap();
    assert_eq!((games.len(), found.games()), (1, 1));
}

/// The same three moves as people and programs write them, with the number of warnings and of variations.
#[test]
fn moves_are_read_in_any_spelling() {
    let kif = "手合割：平手\n手数----指手---------消費時間--\n";
    let line =
        |i: usize| ["   1 ７六歩(77)   ( 0:01/00:00:01)\n", "   2 ３四歩(33)\n", "   3 ２六歩(27)\n"][i];
    let game = [kif, line(0), line(1), line(2)].concat();
    let ki2 = "手合割：平手\n▲７六歩 △３四歩 ▲２六歩\n";
    let csa = "V2.2\nPI\n+\n+7776FU\n-3334FU\n+2726FU\n";
    let wide = |text: &str| text.replace('(', "（").replace(')', "）").replace("77", "７７");
    let cases = [
        // copied from elsewhere
        (Format::Kif, game.replace('\n', "\r"), 0, 0),
        (Format::Kif, game.replace(' ', "\u{a0}").replace('歩', "歩\u{200b}"), 0, 0),
        (Format::Kif, game.lines().map(|l| format!("> 　{l}\n")).collect(), 0, 0),
        (Format::Kif, game.clone() + "\u{1a}\0\0", 0, 0),
        (Format::Kif, game.replace("   2", "  ＊note\n   2"), 0, 0),
        // numbers, brackets, times
        (Format::Kif, wide(&game), 0, 0),
        (Format::Kif, game.replace("   1", "１").replace("   2", "２"), 0, 0),
        (Format::Kif, game.replace("   1 ", "1. ").replace("   2 ", "2手目："), 0, 0),
        (Format::Kif, game.replace("   1 ", "").replace("   2 ", "\t2\t"), 0, 0),
        (Format::Kif, game.replace(")   (", ")("), 0, 0),
        (Format::Kif, game.replace("   ( 0:01/00:00:01)", "  0:01/00:00:01"), 0, 0),
        (
            Format::Kif,
            format!("{kif}1 ７六歩(77) 2 ３四歩 3 ２六歩打打(00)(0:1)\n").replace("打打", ""),
            0,
            0,
        ),
        (Format::Kif, format!("{kif}７六歩 ３四歩\n２六歩\n投了\n"), 0, 0),
        (Format::Kif, format!("{kif}   0 開始局面\n{}", &game[kif.len()..]), 1, 0),
        (Format::Kif, game.clone() + "3手目が悪い。\n2026年\n   4 先手の勝ち\n", 3, 0),
        (Format::Ki2, ki2.replace([' ', '▲', '△'], " "), 0, 0),
        (Format::Ki2, ki2.replace(' ', "、→").replace("\n", "まで。\n").replace("平手まで。", "なし"), 0, 0),
        (Format::Ki2, ki2.replace('▲', "1▲").replace('△', "2△").replace("1▲２", "3▲２"), 0, 0),
        (Format::Ki2, format!("{ki2}まで３手で中断\n"), 0, 0),
        (Format::Csa, csa.replace("PI\n+\n", "PI,+,").replace("\n-", ",-"), 0, 0),
        (Format::Usi, "7g7f 3c3d 2g2f\n".into(), 0, 0),
        (Format::Usi, "10:41 > 1:position startpos moves 7g7f 3c3d 2g2f\n".into(), 0, 0),
        // truncated
        (Format::Kif, format!("{game}   4 ８四歩(8"), 1, 0),
        (Format::Kif, format!("{game}   4"), 1, 0),
        (Format::Ki2, format!("{}△８", ki2.replace("２六歩\n", "２六歩 ")), 1, 0),
        (Format::Csa, format!("{csa}-83"), 1, 0),
        // variations that cannot be read, or without a heading; headings after the moves
        (Format::Kif, format!("{game}変化：２手\n   2 ８四歩(83)\n"), 0, 1),
        (Format::Kif, format!("{game}変化2手\n   2 ８四歩(83)\n"), 0, 1),
        (Format::Kif, format!("{game}   4 投了\n   2 ８四歩(83)\n"), 1, 1),
        (Format::Kif, format!("{game}変化：9手\n   9 ８四歩(83)\n変化：2手\n   2 ８四歩(83)\n"), 1, 1),
        (
            Format::Kif,
            format!(
                "{game}変化：2手\n   2 ８四金(83)\n変化：3手\n   3 ９六歩(97)\n変化：1手\n   1 ９六歩(97)\n"
            ),
            1,
            1,
        ),
        (Format::Kif, format!("{game}   4 投了\n開始日時：2026/11/29\n"), 0, 0),
    ];
    for (format, text, warnings, variations) in cases {
        let mut found = Warnings::default();
        let games = format.read_with(&text, &mut found).unwrap_or_else(|e| panic!("{text}: {e}"));
        let [game] = &games[..] else { panic!("{text}: {} games", games.len()) };
        let moves: Vec<String> = game.moves.iter().map(|ply| ply.mv.to_string()).collect();
        assert_eq!(moves, ["7g7f", "3c3d", "2g2f"], "{text}");
        assert_eq!(found.list().len(), warnings, "{text}: {:?}", found.list());
        assert_eq!(game.moves.iter().map(|ply| ply.variations.len()).sum::<usize>(), variations, "{text}");
        let mut moves = Vec::new();
        let position = game.position();
        game.visit(&mut |ply| moves.push(ply.mv), &mut |_, _| ());
        assert_eq!((moves.len(), position.game_ply()), (3 + variations, 4), "{text}");
    }
    // diagrams and handicaps
    let two = "手合割：2枚落\n   1 ４二玉(51)\n   2 ７六歩(77)\n";
    let diagram = "後手の持駒：歩１２\n＋－－－＋\n｜ ・ ・ ・ ・v玉 ・ ・ ・ ・｜一\n".to_string()
        + &"｜ ・ ・ ・ ・ ・ ・ ・ ・ ・｜\n".repeat(7)
        + "｜ ・ ・ ・ ・ 玉 ・ ・ ・ ・｜九\n先手の持駒：飛2\n   1 ５二飛打\n";
    for (text, sfen) in [
        (two.to_string(), "lnsgkgsnl/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1"),
        (diagram, "4k4/9/9/9/9/9/9/9/4K4 b 2R12p 1"),
    ] {
        let mut found = Warnings::default();
        let games = Format::Kif.read_with(&text, &mut found).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!((games[0].root.sfen().as_str(), found.list().len()), (sfen, 0), "{text}");
    }
}

/// Several games in a KIF or KI2 file: each with its own headings, comments and variations.
#[test]
fn all_games_of_a_file_are_read() {
    let kif = "# program\n棋戦：A\n開始日時：2026/11/29\n手合割：平手\n先手：a\n後手：b\n手数----指手---------消費時間--\n\
               1 ７六歩(77)\n2 ３四歩(33)\n3 投了\nまで2手で後手の勝ち\n*終局：投了\n\n変化：2手\n2 ８四歩(83)\n";
    let ki2 = "開始日時：2026/11/29\n先手：a\n後手：b\n\n▲７六歩 △３四歩\nまで2手で後手の勝ち\n";
    let bare = "先手：c\n後手：d\n▲２六歩 △８四歩 ▲２五歩\n";
    let diagram = "後手の持駒：なし\n  ９ ８ ７ ６ ５ ４ ３ ２ １\n+---------------------------+\n| ・ ・ ・ ・v玉 ・ ・ ・ ・|一\n"
        .to_string()
        + &"| ・ ・ ・ ・ ・ ・ ・ ・ ・|\n".repeat(8)
        + "+---------------------------+\n先手の持駒：金二\n手数----指手---------消費時間--\n1 ６二金打\n2 中断\n";
    let read = |format: Format, text: &str| {
        let mut found = Warnings::default();
        let games = format.read_with(text, &mut found).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert!(found.list().is_empty(), "{text}: {:?}", found.list());
        games
    };
    let games = read(Format::Kif, &[kif, kif, &diagram, &diagram].concat());
    assert_eq!(games.len(), 4);
    for game in &games[..2] {
        assert_eq!((game.header("EVENT"), &game.names[0]), (Some("A"), &"a".to_string()));
        assert_eq!((game.moves.len(), game.moves[1].variations.len(), game.asides.len()), (2, 1, 1));
        assert_eq!(game.end.as_ref().unwrap().comments, ["終局：投了"]);
    }
    assert!(
        games[2..]
            .iter()
            .all(|game| game.moves.len() == 1 && game.root.sfen() == "4k4/9/9/9/9/9/9/9/9 b 2G 1")
    );
    let games = read(Format::Ki2, &[ki2, bare, ki2].concat());
    let names: Vec<&str> = games.iter().map(|game| game.names[1].as_str()).collect();
    assert_eq!(names, ["b", "d", "b"]);
    assert_eq!(games[1].moves.len(), 3);
    // only the broken one is skipped, and the line is the file's
    let mut found = Warnings::default();
    let broken = kif.replace("2 ３四歩(33)", "2 ３四金(33)");
    let games = Format::Kif.read_with(&[kif, &broken, kif].concat(), &mut found).unwrap();
    assert_eq!((games.len(), found.games(), found.list()[0].line), (2, 1, kif.lines().count() + 9));
    assert!(Format::Kif.read_with(&[kif, kif].concat(), &mut Warnings::strict()).is_err());
}

/// In JKF a bad heading, time or fork costs only itself.
#[test]
fn what_does_not_change_the_moves_of_jkf_is_skipped() {
    let fork =
        "{\"forks\":[[{\"move\":{\"piece\":\"KI\",\"to\":{\"x\":2,\"y\":6}}}]],\"special\":\"TORYO\"}]}";
    let text = JKF.replace("\"header\":{}", "\"header\":{\"先手\":null,\"n\":1}") + fork;
    let text = text.replacen("\"FU\"}}", "\"FU\"},\"time\":{\"now\":{\"s\":3}}}", 1);
    let text = text.replace("\"y\":4},\"piece\":\"FU\"}", "\"y\":4},\"piece\":\"FU\"},\"time\":7");
    let mut found = Warnings::default();
    let game = Format::Jkf.read_with(&text, &mut found).unwrap().remove(0);
    let lines: Vec<usize> = found.list().iter().map(|warning| warning.line).collect();
    assert_eq!((game.moves.len(), game.moves[0].time), (2, Some(std::time::Duration::from_secs(3))));
    assert_eq!(
        (lines, game.end.map(|end| end.variations.len())),
        (vec![1, 1, 4, 5], Some(0)),
        "{:?}",
        found.list()
    );
    assert!(Format::Jkf.read(&text).is_err());
}

/// A name may promise what the file is not.
#[test]
fn a_file_under_a_wrong_name_is_read_by_its_text() {
    let dir = tempfile::tempdir().unwrap();
    let game = random_game(&mut Rng::new(71));
    for (name, format) in
        [("a.kif", Format::Csa), ("a.csa", Format::Kif), ("b.kif", Format::Jkf), ("c.json", Format::Usi)]
    {
        let path = dir.path().join(name).to_str().unwrap().to_string();
        std::fs::write(&path, format.write(&game)).unwrap();
        let (ok, out, said) = convert(&[&path, "--to", "usi"]);
        assert!(ok && said.contains(&format!("read as {}", format.name())), "{name}: {said}");
        assert_eq!(String::from_utf8(out).unwrap(), usi::write(&game), "{name}");
        assert!(!convert(&[&path, "--to", "usi", "--strict"]).0 || name == "b.kif");
    }
}

/// Two moves; without its end.
const JKF: &str = "{\"header\":{},\"moves\":[{},
{\"move\":{\"from\":{\"x\":7,\"y\":7},\"to\":{\"x\":7,\"y\":6},\"piece\":\"FU\"}},

{\"move\":{\"from\":{\"x\":3,\"y\":3},\"to\":{\"x\":3,\"y\":4},\"piece\":\"FU\"}},
";
