//! Opening books: every format into each, play from a book, malformed books, and the making of books over
//! kills.
//!
//! `TORATSUGUMI_FUZZ_BOOKS=100000 cargo test --release --test suite book:: --ignored --nocapture` mutates as
//! many books as wanted.

use crate::support::{env_number, program};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use toratsugumi::book::graph::MoveTarget;
use toratsugumi::book::{
    self, Book, BookBuilder, BookFormat, BookMove, Lookup, OpenBook, PackedPosition, Remark,
};
use toratsugumi::engine::{BookLine, Engine, Limits, Observer};
use toratsugumi::position::Position;
use toratsugumi::support::random::Rng;
use toratsugumi::types::Move;

const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";

/// A book of random lines from the initial position, every move legal, with everything that formats know.
fn random_book(seed: u64, lines: usize, plies: usize) -> Book {
    let mut rng = Rng::new(seed);
    let mut builder = BookBuilder::default();
    for _ in 0..lines {
        let mut pos = Position::startpos();
        for _ in 0..plies {
            let legal = pos.legal_moves(false);
            if legal.is_empty() {
                break;
            }
            // few moves a position, so that lines meet
            let first = legal[rng.below(4.min(legal.len()))].mv;
            let moves: Vec<BookMove> = [first, legal[rng.below(legal.len())].mv]
                .iter()
                .map(|m| {
                    BookMove::new(m.raw16())
                        .with_value(Some(rng.below(400) as i32 - 200))
                        .with_depth(Some(1 + rng.below(40) as i32))
                        .with_count(Some(1 + rng.below(500) as u64))
                })
                .collect();
            let packed = PackedPosition::of(&pos).unwrap();
            builder.push(packed, pos.game_ply() as u16, &moves);
            builder.remark(Remark {
                packed,
                ply: pos.game_ply() as u16,
                mv: 0,
                text: format!("r{}", pos.game_ply()),
            });
            pos.do_move(first);
        }
    }
    builder.finish().0.without_other_plies().0
}

fn write(book: &Book, format: BookFormat, path: &Path) {
    let mut bytes = Vec::new();
    book::write(book.clone(), format, &mut bytes).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Move, score, count.
type Known = (u16, Option<i32>, Option<u32>);

/// Positions with their moves in the order of a book, as far as the format knows.
fn contents(book: &Book, format: BookFormat) -> Vec<(PackedPosition, Vec<Known>)> {
    let entries = book.entries().map(|e| {
        let mut moves = e.moves.to_vec();
        if format == BookFormat::Ybb {
            moves.iter_mut().for_each(|m| *m = m.with_count(None));
        }
        moves.sort_by_key(BookMove::rank);
        let known = moves.iter().map(|m| match format {
            BookFormat::Db | BookFormat::Apery => (m.mv, m.value(), m.count()),
            BookFormat::Ybb => (m.mv, m.value(), None),
            BookFormat::Sbk => (m.mv, None, m.count()),
        });
        let mut known: Vec<Known> = known.collect();
        if format == BookFormat::Ybb {
            // without counts, equal scores may stand in any order
            known.sort_unstable();
        }
        (e.packed, known)
    });
    entries.collect()
}

#[test]
fn every_format_converts_to_every_other() {
    let dir = tempfile::tempdir().unwrap();
    let original = random_book(1, 60, 20);
    assert!(original.len() > 500);
    for first in BookFormat::ALL {
        let path = dir.path().join("a");
        write(&original, first, &path);
        let (one, told, lost) = book::read(&path).unwrap();
        assert_eq!((told, lost.as_str()), (first, ""));
        assert!(contents(&one, first) == contents(&original, first), "{first}");
        for second in BookFormat::ALL {
            write(&one, second, &path);
            let (two, told, lost) = book::read(&path).unwrap();
            assert_eq!((told, lost.as_str()), (second, ""));
            let places = |b: &Book| b.entries().map(|e| e.packed).collect::<Vec<_>>();
            assert!(places(&two) == places(&original), "{first} to {second}");
            if first == second {
                assert!(contents(&two, second) == contents(&original, second), "{first} twice");
            }
        }
    }
    // text keeps everything, in the bytes, too
    let path = dir.path().join("a.db");
    write(&original, BookFormat::Db, &path);
    let text = std::fs::read_to_string(&path).unwrap();
    write(&book::read(&path).unwrap().0, BookFormat::Db, &path);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    assert!(text.contains("\n#r1\n"));
}

#[test]
fn disk_and_memory_lookups_agree() {
    let dir = tempfile::tempdir().unwrap();
    let original = random_book(2, 40, 16);
    for format in BookFormat::ALL {
        let path = dir.path().join("b");
        write(&original, format, &path);
        let mut say = |text: &str| panic!("{text}");
        let memory = OpenBook::open(&path, false, &mut say).unwrap();
        let disk = OpenBook::open(&path, true, &mut say).unwrap();
        for e in original.entries() {
            for (turned, ply) in [(false, e.ply), (true, e.ply), (false, e.ply + 1)] {
                let packed = if turned { e.packed.flipped().unwrap() } else { e.packed };
                let pos = packed.position(ply).unwrap();
                for how in [(false, false), (true, false), (false, true), (true, true)] {
                    let how = Lookup { ignore_ply: how.0, flipped: how.1 };
                    let found = memory.find(&pos, how).unwrap();
                    assert_eq!(found, disk.find(&pos, how).unwrap(), "{format} {}", pos.sfen());
                    let plies = matches!(format, BookFormat::Db | BookFormat::Ybb);
                    let here = (ply == e.ply || how.ignore_ply || !plies)
                        && (!turned || how.flipped && format != BookFormat::Apery);
                    assert!(!here || found.len() == e.moves.len(), "{format} {}", pos.sfen());
                    let moves: Vec<u16> =
                        e.moves.iter().map(|m| if turned { book::flip_move(m.mv) } else { m.mv }).collect();
                    assert!(!here || found.iter().all(|m| moves.contains(&m.mv)));
                }
            }
        }
    }
}

/// Lines of the book, remarks, best moves with replies.
type Heard = (Vec<BookLine>, Vec<String>, Vec<(Move, Option<Move>)>);

/// What an engine says.
#[derive(Default)]
struct Ear(Mutex<Heard>);

impl Observer for Ear {
    fn book(&self, line: &BookLine) {
        self.0.lock().unwrap().0.push(line.clone());
    }
    fn message(&self, text: &str) {
        self.0.lock().unwrap().1.push(text.into());
    }
    fn best_move(&self, best: Move, ponder: Option<Move>) {
        self.0.lock().unwrap().2.push((best, ponder));
    }
}

/// An engine with the book of this text.
fn engine(dir: &Path, text: &[u8], options: &[(&str, &str)]) -> (Engine, Vec<String>) {
    std::fs::write(dir.join("user.db"), text).unwrap();
    let mut engine = Engine::new();
    let own = [("Threads", "1"), ("USI_Hash", "1"), ("BookFile", "user.db"), ("BookDepthLimit", "0")];
    for (name, value) in own.iter().chain(options) {
        engine.set_option(name, value).unwrap();
    }
    engine.set_option("BookDir", dir.to_str().unwrap()).unwrap();
    let mut said = Vec::new();
    engine.prepare(&mut |text| said.push(text.to_string())).unwrap();
    (engine, said)
}

/// Best move, reply, lines from the book, remarks.
type Answer = (String, Option<String>, Vec<BookLine>, Vec<String>);

fn go(engine: &mut Engine, limits: Limits) -> Answer {
    let ear = Arc::new(Ear::default());
    engine.go(limits, ear.clone(), &mut |_| ()).unwrap();
    engine.wait();
    engine.finish();
    let (lines, remarks, best) = std::mem::take(&mut *ear.0.lock().unwrap());
    assert_eq!(best.len(), 1);
    (best[0].0.to_string(), best[0].1.map(|m| m.to_string()), lines, remarks)
}

const SMALL: &str = "#YANEURAOU-DB2016 1.00
sfen START 1
7g7f 3c3d 50 20 10
2g2f none 45 20 5
9g9f none -100 20 1
1g1e none 500 20 9
sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/7P1/PPPPPPP1P/1B5R1/LNSGKGSNL w - 2
8c8d none -40 19 3
";

#[test]
fn the_engine_plays_book_moves() {
    let dir = tempfile::tempdir().unwrap();
    let text = SMALL.replace("START", START);
    let (mut e, said) = engine(dir.path(), text.as_bytes(), &[]);
    assert!(
        said.iter().any(|s| s.starts_with("BookFile: ") && s.ends_with("user.db, 2 positions")),
        "{said:?}"
    );
    let nodes = || Limits::nodes(1);
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let (best, ponder, lines, remarks) = go(&mut e, nodes());
        let reply = if best == "7g7f" { "3c3d" } else { "8c8d" };
        assert_eq!(ponder.as_deref(), Some(reply));
        // the move's own line comes first; the illegal move is told and nowhere else
        assert_eq!((lines.len(), lines[0].pv[0].to_string(), lines[0].multipv), (3, best.clone(), 1));
        assert_eq!((lines[0].centipawns, lines[0].depth), (if best == "7g7f" { 50 } else { 45 }, 20));
        assert_eq!(lines[0].pv.len(), 2);
        assert!(remarks.iter().any(|r| r.contains("1g1e is illegal")), "{remarks:?}");
        seen.insert(best);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["2g2f", "7g7f"]);
    // not against searchmoves, not in analysis, not beyond BookMoves, not when it is off
    let m = e.position().parse_move("2g2f").unwrap();
    assert_eq!(go(&mut e, Limits { search_moves: vec![m], ..nodes() }).0, "2g2f");
    let m = e.position().parse_move("4g4f").unwrap();
    assert_eq!(go(&mut e, Limits { search_moves: vec![m], ..nodes() }).2.len(), 0);
    let ear = Arc::new(Ear::default());
    e.go(Limits { infinite: true, ..Limits::default() }, ear.clone(), &mut |_| ()).unwrap();
    e.stop();
    e.wait();
    assert!(ear.0.lock().unwrap().0.is_empty());
    for (name, off, on) in [
        ("MultiPV", "2", "1"),
        ("ConsiderationMode", "true", "false"),
        ("BookMoves", "0", "16"),
        ("USI_OwnBook", "false", "true"),
        ("BookIgnoreRate", "100", "0"),
        ("BookDepthLimit", "21", "20"),
        ("BookDepthBlackLimit", "21", "-1"),
        ("BookEvalBlackLimit", "51", "50"),
    ] {
        e.set_option(name, off).unwrap();
        assert!(go(&mut e, nodes()).2.is_empty(), "{name} {off}");
        e.set_option(name, on).unwrap();
        assert_eq!(go(&mut e, nodes()).0.len(), 4, "{name} {on}");
        assert!(!go(&mut e, nodes()).2.is_empty(), "{name} {on}");
    }
    // at another ply, and with the board turned
    e.set_game(Some(&format!("{START} 3")), []).unwrap();
    assert!(go(&mut e, nodes()).2.is_empty());
    e.set_option("IgnoreBookPly", "true").unwrap();
    assert!(!go(&mut e, nodes()).2.is_empty());
    e.set_game(Some(&format!("{} 1", START.replace(" b ", " w "))), []).unwrap();
    let turned = go(&mut e, nodes());
    assert!(["3c3d", "8c8d"].contains(&turned.0.as_str()) && turned.2.len() == 3, "{turned:?}");
    e.set_option("FlippedBook", "false").unwrap();
    assert!(go(&mut e, nodes()).2.is_empty());
}

/// 12,345
fn thousands(n: usize) -> String {
    match n / 1000 {
        0 => n.to_string(),
        more => format!("{},{:03}", thousands(more), n % 1000),
    }
}

#[test]
fn the_embedded_book_is_valid_and_documented() {
    let ybb = book::embedded::unpack().unwrap();
    let hash = crate::nnue::sha256(&ybb);
    let lineage = include_str!("../../book/README.md");
    assert!(lineage.contains(&hash), "book/README.md does not name the book with the SHA-256 {hash}");
    let mut packed = Vec::new();
    book::embedded::pack(&ybb, &mut packed).unwrap();
    assert!(packed.len() < 1_500_000, "{} bytes", packed.len());
    let inside = Path::new(book::INTERNAL);
    let (all, format, lost) = book::read(inside).unwrap();
    assert!(format == BookFormat::Ybb && lost.is_empty() && book::first_unsorted(inside).unwrap().is_none());
    let size = format!("{} positions with {} moves", thousands(all.len()), thousands(all.move_count()));
    assert!(lineage.contains(&size), "book/README.md does not say {size}");
    // what is not good enough to be played is there because the opponent may play it
    let graph = book::graph::Graph::of(&all);
    for (i, e) in all.entries().enumerate() {
        let pos = e.packed.by_rules(e.ply).unwrap();
        let best = e.moves.iter().map(|m| m.value().unwrap()).max().unwrap();
        for (k, m) in e.moves.iter().enumerate() {
            let target = graph.target(all.first_move(i) + k);
            let good = best - m.value().unwrap() <= 10 && target == MoveTarget::Leaf;
            assert!(good || matches!(target, MoveTarget::Inside(_)), "{}", pos.sfen());
        }
    }
    assert!(book::edit::reachable(&all).into_iter().all(|reached| reached));
}

#[test]
fn games_from_the_embedded_book_vary() {
    let mut engine = Engine::new();
    for (name, value) in [("Threads", "1"), ("USI_Hash", "1"), ("BookFile", book::INTERNAL)] {
        engine.set_option(name, value).unwrap();
    }
    let mut said = Vec::new();
    engine.prepare(&mut |text| said.push(text.to_string())).unwrap();
    assert!(said.iter().any(|s| s.starts_with("BookFile: <internal>, ")), "{said:?}");
    let mut lines = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let mut played: Vec<String> = Vec::new();
        loop {
            engine.set_game(None, played.iter().map(String::as_str)).unwrap();
            let (best, _, told, _) = go(&mut engine, Limits::nodes(1));
            if told.is_empty() {
                break;
            }
            played.push(best);
        }
        assert!(!played.is_empty());
        lines.insert(played);
    }
    assert!(lines.len() > 5, "{lines:?}");
    // it has the common handicaps for both sides, although the one who gives them is behind
    for line in include_str!("../../book/handicaps.txt").lines() {
        let sfen = line.strip_prefix("sfen ").unwrap();
        engine.set_game(Some(sfen), []).unwrap();
        let (given, _, told, _) = go(&mut engine, Limits::nodes(1));
        assert!(!told.is_empty(), "{sfen}");
        engine.set_game(Some(sfen), [given.as_str()]).unwrap();
        assert!(!go(&mut engine, Limits::nodes(1)).2.is_empty(), "{sfen} {given}");
    }
}

#[test]
fn a_book_move_while_pondering_waits_for_ponderhit() {
    let dir = tempfile::tempdir().unwrap();
    let (mut e, _) = engine(dir.path(), SMALL.replace("START", START).as_bytes(), &[]);
    for stop in [false, true] {
        let ear = Arc::new(Ear::default());
        e.go(Limits { ponder: true, ..Limits::nodes(1) }, ear.clone(), &mut |_| ()).unwrap();
        assert!(e.is_searching() && ear.0.lock().unwrap().2.is_empty());
        if stop {
            e.stop()
        } else {
            e.ponderhit(None)
        }
        assert!(!e.is_searching() && ear.0.lock().unwrap().2.len() == 1);
        e.ponderhit(None);
        e.stop();
        assert_eq!(ear.0.lock().unwrap().2.len(), 1);
    }
}

#[test]
fn book_moves_avoid_repetition() {
    let dir = tempfile::tempdir().unwrap();
    // rooks to and fro: the book would go round for ever
    let mut pos = Position::startpos();
    let mut text = String::new();
    let cycle = ["2h3h", "8b7b", "3h2h", "7b8b"];
    for m in cycle {
        let sfen = pos.sfen();
        text += &format!("sfen {sfen}\n{m} none 0 20 1\n");
        pos.do_move(pos.parse_move(m).unwrap());
    }
    let (mut e, _) = engine(dir.path(), text.as_bytes(), &[("IgnoreBookPly", "true")]);
    let mut played = Vec::new();
    for m in cycle {
        e.set_game(None, played.iter().copied()).unwrap();
        let answer = go(&mut e, Limits::nodes(1));
        if played.len() < 3 {
            assert_eq!(answer.0, m);
            assert!(!answer.2.is_empty());
        } else {
            assert!(answer.2.is_empty() && answer.3.iter().any(|r| r.contains("repeat")), "{answer:?}");
        }
        played.push(m);
    }
}

#[test]
fn a_broken_book_is_one_error_line_and_no_crash() {
    let dir = tempfile::tempdir().unwrap();
    let bad = "#YANEURAOU-DB2016 2.00\n";
    let (mut e, said) = engine(dir.path(), bad.as_bytes(), &[]);
    let told: Vec<_> = said.iter().filter(|s| s.contains("BookFile")).collect();
    assert_eq!(told.len(), 1, "{said:?}");
    assert!(told[0].contains("user.db, line 1: this kind of book is not known"), "{told:?}");
    assert!(go(&mut e, Limits::nodes(1)).2.is_empty());
    e.set_option("BookFile", "nothing.db").unwrap();
    let mut said = Vec::new();
    e.prepare(&mut |text| said.push(text.to_string())).unwrap();
    assert_eq!(said.iter().filter(|s| s.starts_with("BookFile: cannot read")).count(), 1, "{said:?}");
    // a line that cannot be read costs only itself
    let lines = format!("sfen {START} 1\n2g2f none x\n7g7f none 1\nsfen {START}/9 1\n2g2f\n");
    for on_the_fly in ["false", "true"] {
        let (mut e, said) = engine(dir.path(), lines.as_bytes(), &[("BookOnTheFly", on_the_fly)]);
        assert_eq!(go(&mut e, Limits::nodes(1)).0, "7g7f", "{on_the_fly} {said:?}");
        let told = said.iter().any(|s| s.contains("user.db: unreadable positions and moves: 2"));
        assert_eq!(told, on_the_fly == "false", "{said:?}");
    }
}

/// `isready` takes a book that was replaced under its name, and one without move numbers is played at any.
#[test]
fn a_replaced_book_is_reloaded() {
    let dir = tempfile::tempdir().unwrap();
    let text = |m: &str, ply: &str| format!("#YANEURAOU-DB2016 1.00\nsfen {START}{ply}\n{m}\n");
    for on_the_fly in ["false", "true"] {
        let (mut e, _) = engine(dir.path(), text("7g7f", " 1").as_bytes(), &[("BookOnTheFly", on_the_fly)]);
        assert_eq!(go(&mut e, Limits::nodes(1)).0, "7g7f");
        std::fs::write(dir.path().join("user.db"), text("9g9f none 3 4", "")).unwrap();
        e.prepare(&mut |_| ()).unwrap();
        for ply in [1, 3] {
            e.set_game(Some(&format!("{START} {ply}")), []).unwrap();
            let (best, _, lines, _) = go(&mut e, Limits::nodes(1));
            assert_eq!((best.as_str(), lines.len()), ("9g9f", 1), "{on_the_fly} {ply}");
        }
        let mut said = Vec::new();
        e.prepare(&mut |text| said.push(text.to_string())).unwrap();
        assert!(!said.iter().any(|s| s.starts_with("BookFile")), "{said:?}");
    }
}

fn toratsugumi(args: &[&str], dir: &Path) -> Command {
    let mut command = program();
    command.arg("book").args(args).current_dir(dir).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Standard output; the command must succeed.
fn run(args: &[&str], dir: &Path) -> String {
    let output = toratsugumi(args, dir).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn killed_think_runs_make_the_same_book() {
    let dir = tempfile::tempdir().unwrap();
    let think = |out: &'static str, threads: &'static str| {
        let size = ["think", "-o", out, "--threads", threads, "--grow", "60", "--nodes", "500"];
        [&size[..], &["--hash", "1", "--quiet", "--multipv", "3"]].concat()
    };
    run(&think("whole.db", "2"), dir.path());
    let (mut kills, journal) = (0, dir.path().join("killed.db.journal"));
    let mut rng = Rng::new(7);
    let size = || std::fs::metadata(&journal).map_or(0, |m| m.len());
    while kills < 10 {
        // after every kill a few searches more, so that the last comes before the end
        let until = size() + 100 + rng.below(300) as u64;
        let mut child = toratsugumi(&think("killed.db", "1"), dir.path()).spawn().unwrap();
        let begin = Instant::now();
        while size() < until && begin.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_micros(300));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!dir.path().join("killed.db").exists(), "the kill came too late");
        kills += 1;
    }
    run(&think("killed.db", "1"), dir.path());
    let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
    assert_eq!(read("killed.db"), read("whole.db"));
    assert!(read("whole.db").lines().filter(|l| l.starts_with("sfen ")).count() == 60);
    assert!(!journal.exists());
    // what was made is a good book, and shards of a search put together are the whole
    run(&["verify", "whole.db"], dir.path());
    run(&["minimax", "whole.db", "-o", "up.ybb"], dir.path());
    run(&["verify", "up.ybb"], dir.path());
    // the board and the moves are in the language of the messages
    for (lang, board, japanese) in [("en", "Black in hand: none", false), ("ja", "先手の持駒：なし", true)]
    {
        let shown = run(&["show", "up.ybb", "--lang", lang], dir.path());
        assert!(shown.contains(board) && shown.contains('▲') == japanese, "{shown}");
    }
    std::fs::write(dir.path().join("some.txt"), "startpos\nstartpos moves 7g7f\nstartpos moves 2g2f\n")
        .unwrap();
    let search =
        ["think", "--positions", "some.txt", "--nodes", "200", "--hash", "1", "--threads", "1", "--quiet"];
    run(&[&search[..], &["-o", "all.db"]].concat(), dir.path());
    for (shard, out) in [("0/2", "0.db"), ("1/2", "1.db")] {
        run(&[&search[..], &["-o", out, "--shard", shard]].concat(), dir.path());
    }
    run(&["merge", "0.db", "1.db", "-o", "both.db"], dir.path());
    assert_eq!(read("both.db"), read("all.db"));
}

#[test]
fn commands_make_prune_and_verify_books() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write(
        "games.usi",
        "startpos moves 7g7f 3c3d 2g2f\nstartpos moves 7g7f 8c8d\nstartpos moves 2g2f 3c3d 7g7f\n",
    );
    let out = run(&["make", "games.usi", "-o", "a.db"], dir.path());
    assert!(out.contains("3 games read, 3 used") && out.contains("5 positions, 7 moves"), "{out}");
    let text = std::fs::read_to_string(dir.path().join("a.db")).unwrap();
    assert!(
        text.contains(&format!("sfen {START} 1\n7g7f 3c3d none none 2\n2g2f 3c3d none none 1\n")),
        "{text}"
    );
    for to in ["ybb", "bin", "sbk"] {
        run(&["convert", "a.db", "-o", &format!("a.{to}")], dir.path());
        let stats = run(&["stats", &format!("a.{to}")], dir.path());
        assert!(stats.contains("positions   5") && stats.contains("moves       7"), "{stats}");
    }
    run(&["prune", "a.db", "-o", "b.db", "--min-count", "2", "--reachable"], dir.path());
    assert!(run(&["stats", "b.db"], dir.path()).contains("positions   1 "));
    let elsewhere = run(&["show", "a.db", "--moves", "1g1f"], dir.path());
    assert!(elsewhere.contains("has only the starting position"), "{elsewhere}");
    let stats = run(&["stats", "a.db"], dir.path());
    assert!(stats.contains("scores      none"), "{stats}");
    // the format of a file without a known extension
    write("letter", "This is a letter.\n");
    let output = toratsugumi(&["make", "letter", "-o", "m.db"], dir.path()).output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("--from"));
    write("moves", "   1 ７六歩(77)\n");
    let out = run(&["make", "moves", "-o", "m.db", "--from", "kif"], dir.path());
    assert!(out.contains("1 game read, 1 used\nwrote m.db: 1 position, 1 move\n"), "{out}");
    // nothing is overwritten, and nothing appears by halves
    let output = toratsugumi(&["convert", "a.db", "-o", "b.db"], dir.path()).output().unwrap();
    assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains("b.db exists"));
    write(
        "bad.db",
        &format!(
            "sfen {START} 1\n1g1e none\n7g7f none\n7g7f none\nsfen {START} 1\n2g2f none\nsfen 4k4/9/9/9/9/9/9/9/4K4 b - 1\n5i5h none\n"
        ),
    );
    let output = toratsugumi(&["verify", "bad.db"], dir.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success());
    for line in [
        "out of order: 1",
        "duplicates: 2",
        "illegal moves: 1",
        "line 4: 7g7f",
        "line 5: as in line 1",
        "1g1e in ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    write("worse.db", &format!("sfen {START} 1\n7g7f none\nnonsense\n"));
    let output = toratsugumi(&["convert", "worse.db", "-o", "c.ybb"], dir.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && error.contains("unreadable positions or moves: 1"), "{error}");
    let output = toratsugumi(&["verify", "worse.db"], dir.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && text.contains("line 3: \"nonsense\" is no move"), "{text}");
    // a real book of YaneuraOu's has an entry with an empty board
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/records/empty_board_entry.db");
    let output = toratsugumi(&["verify", path], dir.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("1 position, 1 move") && text.contains("line 4: ") && !text.contains("packed"),
        "{text}"
    );
    // a text is no book
    write("text.db", &"This is no book.\n".repeat(16));
    let output = toratsugumi(&["verify", "text.db"], dir.path()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("not a book in a known format"), "{error}");
}

/// Mutates real books; whatever comes of them, nothing panics and no illegal move is played.
fn mutate(count: usize, seed: u64) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("user.db");
    let books = [random_book(3, 6, 8), random_book(4, 1, 2)];
    let mut originals: Vec<Vec<u8>> = vec![SMALL.replace("START", START).into_bytes()];
    for (book, format) in books.iter().flat_map(|b| BookFormat::ALL.map(|f| (b, f))) {
        write(book, format, &path);
        originals.push(std::fs::read(&path).unwrap());
    }
    let mut positions: Vec<Position> = vec![Position::startpos()];
    for moves in [&["7g7f"][..], &["2g2f", "8c8d"], &["9g9f"]] {
        let mut pos = Position::startpos();
        for m in moves {
            pos.do_move(pos.parse_move(m).unwrap());
        }
        positions.push(pos);
    }
    let (mut e, _) = engine(
        dir.path(),
        b"",
        &[("IgnoreBookPly", "true"), ("BookEvalWhiteLimit", "-99999"), ("BookEvalBlackLimit", "-99999")],
    );
    let mut rng = Rng::new(seed);
    let (mut hits, mut opened, mut slowest) = (0, 0, Duration::ZERO);
    for i in 0..count {
        let mut bytes = originals[rng.below(originals.len())].clone();
        for _ in 0..rng.below(4) {
            let at = rng.below(bytes.len().max(1));
            match rng.below(6) {
                0 if !bytes.is_empty() => bytes[at] = rng.next_u64() as u8,
                1 if !bytes.is_empty() => bytes[at] ^= 1 << rng.below(8),
                2 => bytes.truncate(at),
                3 => bytes.insert(at.min(bytes.len()), rng.next_u64() as u8),
                4 if !bytes.is_empty() => drop(bytes.drain(at..(at + 1 + rng.below(40)).min(bytes.len()))),
                _ => {
                    let from = rng.below(bytes.len().max(1));
                    let piece =
                        bytes[from.min(bytes.len())..(from + rng.below(60)).min(bytes.len())].to_vec();
                    let at = at.min(bytes.len());
                    bytes.splice(at..at, piece);
                }
            }
        }
        std::fs::write(&path, &bytes).unwrap();
        let begin = Instant::now();
        if let Ok((book, _, _)) = book::read(&path) {
            // what can be read can be backed up
            toratsugumi::book::minimax::minimax(book, 0);
        }
        e.set_option("BookOnTheFly", if i % 2 == 0 { "true" } else { "false" }).unwrap();
        // another name, or the book would not be read again
        e.set_option("BookFile", "no_book").unwrap();
        e.prepare(&mut |_| ()).unwrap();
        e.set_option("BookFile", "user.db").unwrap();
        let mut said = Vec::new();
        e.prepare(&mut |text| said.push(text.to_string())).unwrap();
        opened += usize::from(!said.iter().any(|s| s.contains("error")));
        for pos in &positions {
            e.set_position(pos.clone());
            let (best, ponder, lines, _) = go(&mut e, Limits::depth(1));
            hits += usize::from(!lines.is_empty());
            let m = pos.parse_move(&best).unwrap();
            let mut next = pos.clone();
            next.do_move(m);
            assert!(ponder.is_none_or(|p| next.parse_move(&p).is_ok()));
            for line in lines {
                let mut pos = pos.clone();
                for m in line.pv {
                    pos.do_move(pos.parse_move(&m.to_string()).unwrap());
                }
            }
        }
        slowest = slowest.max(begin.elapsed());
    }
    println!("{count} books: {opened} opened, {hits} answers from them, the slowest {slowest:?}");
    assert!(opened > count / 10 && hits > count / 10 && slowest < Duration::from_secs(20));
}

#[test]
fn malformed_books_give_errors() {
    mutate(200, 1);
}

#[test]
#[ignore = "long"]
fn many_malformed_books_give_errors() {
    let count = env_number("TORATSUGUMI_FUZZ_BOOKS", 100_000);
    mutate(count as usize, env_number("TORATSUGUMI_FUZZ_SEED", 2));
}

/// Megabytes of this process in memory, where the system says so.
fn resident_mb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("VmRSS:"));
    line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// Makes a large book, and tells how long it takes to open and to ask, and what it costs to back it up.
///
/// `TORATSUGUMI_BOOK_DIR` keeps the files, for other programs to read.
#[test]
#[ignore = "long, and gigabytes"]
fn a_large_book() {
    let count = env_number("TORATSUGUMI_BOOK_POSITIONS", 200_000) as usize;
    let kept = std::env::var("TORATSUGUMI_BOOK_DIR").ok();
    let temporary = tempfile::tempdir().unwrap();
    let dir = kept.as_ref().map_or(temporary.path(), |d| Path::new(d));
    let begin = Instant::now();
    let mut rng = Rng::new(5);
    let mut seen = std::collections::HashSet::new();
    let mut builder = BookBuilder::default();
    while seen.len() < count {
        let mut pos = Position::startpos();
        for ply in 0..60 {
            let legal = pos.legal_moves(false);
            if legal.is_empty() || seen.len() == count {
                break;
            }
            let packed = PackedPosition::of(&pos).unwrap();
            let mut next = legal[rng.below(legal.len())].mv;
            if seen.insert(packed) {
                let mut moves = Vec::new();
                for _ in 0..3 {
                    next = legal[rng.below(legal.len())].mv;
                    let value = rng.below(600) as i32 - 300;
                    moves.push(
                        BookMove::new(next.raw16())
                            .with_value(Some(value))
                            .with_depth(Some(20))
                            .with_count(Some(0)),
                    );
                }
                builder.push(packed, ply + 1, &moves);
            }
            pos.do_move(next);
        }
    }
    drop(seen);
    let book = builder.finish().0;
    println!("{} positions, {} moves made in {:.1?}", book.len(), book.move_count(), begin.elapsed());
    let begin = Instant::now();
    for (format, name) in [(BookFormat::Ybb, "large.ybb"), (BookFormat::Db, "large.db")] {
        let mut out = std::io::BufWriter::new(std::fs::File::create(dir.join(name)).unwrap());
        book::write(book.clone(), format, &mut out).unwrap();
    }
    println!("written in {:.1?}", begin.elapsed());
    let step = (book.len() / 2000).max(1);
    let asked: Vec<Position> = (0..book.len())
        .step_by(step)
        .map(|i| book.entry(i).packed.position(book.entry(i).ply).unwrap())
        .collect();
    drop(book);
    for (name, on_the_fly) in
        [("large.db", true), ("large.ybb", true), ("large.ybb", false), ("large.db", false)]
    {
        let before = resident_mb();
        let begin = Instant::now();
        let book = OpenBook::open(&dir.join(name), on_the_fly, &mut |text| panic!("{text}")).unwrap();
        let opened = begin.elapsed();
        let begin = Instant::now();
        let mut probes = 0;
        while begin.elapsed() < Duration::from_secs(2) {
            for pos in &asked {
                let how = Lookup { ignore_ply: false, flipped: false };
                assert!(!book.find(pos, how).unwrap().is_empty(), "{name} {}", pos.sfen());
                probes += 1;
            }
        }
        let speed = probes as f64 / begin.elapsed().as_secs_f64();
        let memory = resident_mb() - before;
        println!(
            "{name}, on the fly {on_the_fly}: opened in {opened:.1?}, {memory:.0} MB more, {speed:.0} probes/s"
        );
    }
    let (book, _, _) = book::read(&dir.join("large.ybb")).unwrap();
    let begin = Instant::now();
    let (_, report) = toratsugumi::book::minimax::minimax(book, 0);
    println!("backed up in {:.1?}, {} MB in the process: {report:?}", begin.elapsed(), resident_mb());
}
