//! Game records: real files, games of our own, and broken ones, in every format.

use encoding_rs::{EUC_JP, SHIFT_JIS};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use toratsugumi::position::Position;
use toratsugumi::random::Rng;
use toratsugumi::record::{End, Ply, Record, Special, csa, kif, usi};

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
        assert_same(&kif::read(&kif::write(&record)).unwrap(), &record);
        let bare = usi::read(&usi::write(&record)).unwrap().remove(0);
        assert_eq!(bare.position().sfen(), record.position().sfen());
    }
}

fn assert_same(a: &Record, b: &Record) {
    assert_eq!((&a.names, &a.headers, &a.comments), (&b.names, &b.headers, &b.comments));
    assert_eq!((a.root.sfen(), &a.moves, &a.end), (b.root.sfen(), &b.moves, &b.end));
}

/// A game of random moves with times, remarks and an ending.
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
    let mut position = record.root.clone();
    for _ in 0..rng.below(200) {
        let moves = position.legal_moves(true);
        if moves.is_empty() {
            break;
        }
        let mv = moves[rng.below(moves.len())].mv;
        position.do_move(mv);
        let time = Some(Duration::from_secs(rng.below(4000) as u64));
        let comments =
            if rng.chance(0.3) { vec![format!("** {} メモ", rng.below(3000))] } else { Vec::new() };
        record.moves.push(Ply { mv, time, comments });
    }
    let endings =
        [Special::Resign, Special::TimeUp, Special::Repetition, Special::Declaration, Special::MaxMoves];
    record.end = Some(End::of(endings[rng.below(endings.len())]));
    record
}

#[test]
fn games_of_our_own_read_back() {
    let mut rng = Rng::new(17);
    for _ in 0..100 {
        let record = random_game(&mut rng);
        assert_same(&csa::read(&csa::write(&record)).unwrap()[0], &record);
        assert_same(&kif::read(&kif::write(&record)).unwrap(), &record);
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
fn a_thousand_broken_records_give_errors_that_name_the_line() {
    let mut rng = Rng::new(23);
    for _ in 0..500 {
        let mut record = random_game(&mut rng);
        while record.moves.len() < 10 {
            record = random_game(&mut rng);
        }
        let csa_move = |l: &str| l.len() == 7 && l.starts_with(['+', '-']);
        let mut lines: Vec<String> = csa::write(&record).lines().map(String::from).collect();
        let line = corrupt(
            &mut lines,
            &mut rng,
            csa_move,
            &["hello", "%TORY0", "N+late", "PI", "T1.x", "+", "V2.2"],
        );
        let error = csa::read(&lines.join("\n")).err().unwrap_or_else(|| panic!("{}", lines.join("\n")));
        assert_eq!(error.line, line, "{error}\n{}", lines.join("\n"));

        let kif_move = |l: &str| l.trim_start().starts_with(|c: char| c.is_ascii_digit()) && l.contains('(');
        let mut lines: Vec<String> = kif::write(&record).lines().map(String::from).collect();
        let line = corrupt(
            &mut lines,
            &mut rng,
            kif_move,
            &["hello", "9999 ７六歩(77)", "先手：late", "手合割：平手"],
        );
        let error = kif::read(&lines.join("\n")).err().unwrap_or_else(|| panic!("{}", lines.join("\n")));
        assert_eq!(error.line, line, "{error}\n{}", lines.join("\n"));
    }
}

#[test]
fn no_bytes_make_the_readers_panic() {
    let mut rng = Rng::new(29);
    let texts =
        [sample(SAMPLES[1].0).1, kif::write(&random_game(&mut rng)), csa::write(&random_game(&mut rng))];
    for i in 0..2000 {
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
        let (text, _) = toratsugumi::record::encoding::decode(&bytes);
        let lines = text.lines().count();
        let errors = [csa::read(&text).err(), kif::read(&text).err(), usi::read(&text).err()];
        for e in errors.into_iter().flatten() {
            assert!((1..=lines.max(1)).contains(&e.line) && !e.what.is_empty(), "{e}");
        }
    }
}

fn convert(args: &[&str]) -> (bool, Vec<u8>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_toratsugumi")).arg("convert").args(args).output().unwrap();
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
        assert_same(&kif::read(std::str::from_utf8(&out).unwrap()).unwrap(), &record);
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
    std::fs::write(at("bad.csa"), "V2.2\nPI\n+\n+7775FU\n").unwrap();
    let (ok, out, said) = convert(&[&at("bad.csa"), a, "--to", "usi"]);
    assert!(!ok && said.contains("bad.csa: line 4") && said.contains("1 of 2"), "{said}");
    assert!(String::from_utf8_lossy(&out).starts_with("startpos moves 7g7f"));
    for wrong in [&[a] as &[&str], &["nothing", "--to", "csa"], &[a, b, "--to", "kif"]] {
        assert!(!convert(wrong).0, "{wrong:?}");
    }
}
