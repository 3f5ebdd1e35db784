//! The mate solver: shortest mates, complete lines of checks, proofs that there is none, bounded memory, prompt
//! stops.

use crate::support::program;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use toratsugumi::mate::{Answer, Limits, Mate, Shorten, Solver};
use toratsugumi::position::Position;
use toratsugumi::record::{Format, Record};
use toratsugumi::types::{Color, Move, Piece, PieceType};

fn solve(solver: &mut Solver, position: &Position, limits: Limits) -> Answer {
    solver.solve(position, &[], &limits, &Arc::default(), &mut |_| {}).answer
}

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').collect())
}

/// Panics unless the line is legal, all checks, and ends in mate.
fn replay(sfen: &str, line: &[Move]) {
    let mut position = Position::from_sfen(sfen).unwrap();
    for (i, m) in line.iter().enumerate() {
        let m = position.parse_move(&m.to_string()).unwrap_or_else(|e| panic!("{sfen}: move {i}: {e}"));
        position.do_move(m);
        assert!(i % 2 == 1 || position.in_check(), "{sfen}: move {i}, {m}, gives no check");
    }
    assert!(position.in_check() && !position.has_legal_move(), "{sfen}: no mate at the end");
}

fn shortest(solver: &mut Solver, sfen: &str) -> Mate {
    let position = Position::from_sfen(sfen).unwrap();
    match solve(solver, &position, Limits::default()) {
        Answer::Mate(mate) => mate,
        other => panic!("{sfen}: {other:?}"),
    }
}

/// A line that is no position costs only itself.
#[test]
fn a_bad_line_is_named_and_the_others_are_solved() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/records/one_bad_line.sfen");
    let run = |more: &[&str]| {
        let mut command = program();
        let output = command.args(["mate", path, "--json"]).args(more).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, out, said) = run(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(out.lines().count() == 2 && said.contains("one_bad_line.sfen: line 2: "), "{out}{said}");
    let answers = out.lines().zip(["\"nomate\"", "\"mate\""]);
    assert!(answers.into_iter().all(|(row, answer)| row.contains(answer)), "{out}");
    let (code, out, _) = run(&["--strict"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
}

#[test]
fn mates_are_shortest_and_their_lines_complete() {
    let mut solver = Solver::new(64).unwrap();
    for row in rows(include_str!("../data/mate_problems.tsv")) {
        let mate = shortest(&mut solver, row[0]);
        assert_eq!(mate.line.len().to_string(), row[1], "{}", row[0]);
        assert!(mate.shortest && mate.bound == mate.line.len());
        replay(row[0], &mate.line);
    }
}

#[test]
fn famous_problems() {
    let mut solver = Solver::new(64).unwrap();
    for row in rows(include_str!("../data/long_mates.tsv")) {
        let mate = shortest(&mut solver, row[1]);
        assert_eq!(mate.line.len().to_string(), row[2], "{}", row[0]);
        replay(row[1], &mate.line);
    }
}

#[test]
fn a_long_mate_has_a_complete_line() {
    // "Astral", 189 plies as first found
    let sfen = "l7g/4kp1Sn/1P+R1gs3/3+p+p1s2/B1p+r1P3/L8/+n3NgB+pP/1+p3G1+p1/P1PsP4 b Lnl5p 1";
    let mut solver = Solver::new(64).unwrap();
    let limits = Limits { shorten: Shorten::Any, ..Limits::default() };
    let Answer::Mate(mate) = solve(&mut solver, &Position::from_sfen(sfen).unwrap(), limits) else {
        panic!("no mate")
    };
    assert!(mate.line.len() > 100 && mate.line.len() <= mate.bound);
    replay(sfen, &mate.line);
}

#[test]
fn mates_in_one_are_found_and_no_others() {
    let mut solver = Solver::new(64).unwrap();
    for row in rows(include_str!("../data/mate_in_1.tsv")) {
        let position = Position::from_sfen(row[0]).unwrap();
        // enough to look through all mates in one
        let limits = Limits { nodes: Some(20_000), ..Limits::default() };
        let in_one = match solve(&mut solver, &position, limits) {
            Answer::Mate(mate) => {
                replay(row[0], &mate.line);
                mate.line.len() == 1
            }
            _ => false,
        };
        assert_eq!(in_one, row[1] == "1", "{}", row[0]);
    }
}

#[test]
fn positions_without_mate_are_disproved() {
    let mut solver = Solver::new(64).unwrap();
    for row in rows(include_str!("../data/no_mate.tsv")) {
        let position = Position::from_sfen(row[0]).unwrap();
        assert_eq!(solve(&mut solver, &position, Limits::default()), Answer::NoMate, "{}", row[0]);
    }
}

#[test]
fn both_colours_get_the_same_answers() {
    let mut solver = Solver::new(64).unwrap();
    for row in rows(include_str!("../data/mate_problems.tsv")).step_by(5) {
        let turned = turn(row[0]);
        let mate = shortest(&mut solver, &turned);
        assert_eq!(mate.line.len().to_string(), row[1], "{turned}");
        replay(&turned, &mate.line);
    }
}

/// The position as the other player sees it, colours exchanged.
fn turn(sfen: &str) -> String {
    let swap = |c: char| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
    let fields: Vec<&str> = sfen.split(' ').collect();
    let mut squares: Vec<String> = Vec::new();
    let mut plus = false;
    for c in fields[0].chars() {
        match c {
            '+' => plus = true,
            c => {
                squares.push(if plus { format!("+{}", swap(c)) } else { swap(c).to_string() });
                plus = false;
            }
        }
    }
    squares.reverse();
    let side = if fields[1] == "b" { "w" } else { "b" };
    let hands: String = fields[2].chars().map(swap).collect();
    format!("{} {side} {hands} 1", squares.concat())
}

#[test]
fn a_mate_by_pawn_drop_is_no_mate() {
    let mut solver = Solver::new(16).unwrap();
    for row in rows(include_str!("../data/pawn_drop_mates.tsv")) {
        let position = Position::from_sfen(row[0]).unwrap();
        let limits = Limits { nodes: Some(100_000), ..Limits::default() };
        if let Answer::Mate(mate) = solve(&mut solver, &position, limits) {
            replay(row[0], &mate.line);
        }
    }
    // nothing but the pawn could mate
    let position = Position::from_sfen("7nk/6Gpl/8P/9/9/9/9/9/9 b P2r2b3g4s3n3l14p 1").unwrap();
    assert_ne!(solve(&mut solver, &position, Limits::default()), Answer::Unknown);
}

#[test]
fn unusual_positions_have_answers() {
    let mut solver = Solver::new(16).unwrap();
    for (sfen, expected) in [
        // nobody to mate
        ("9/9/9/9/9/9/9/9/K8 b RB 1", Answer::NoMate),
        ("9/9/9/9/4k4/9/9/9/9 b - 1", Answer::NoMate),
        ("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", Answer::NoMate),
        // in check, and no answer to it gives check
        ("4k4/9/9/9/9/9/9/4r4/4K4 b G 1", Answer::NoMate),
    ] {
        let position = Position::from_sfen(sfen).unwrap();
        assert_eq!(solve(&mut solver, &position, Limits::default()), expected, "{sfen}");
    }
    // a check answered by a check that mates
    let sfen = "6lkl/6ppp/9/9/9/9/9/7r1/R6K1 b G 1";
    let position = Position::from_sfen(sfen).unwrap();
    if let Answer::Mate(mate) = solve(&mut solver, &position, Limits::default()) {
        replay(sfen, &mate.line);
    }
}

#[test]
fn excluded_first_moves_give_other_mates() {
    let mut solver = Solver::new(16).unwrap();
    let sfen = "8k/9/8G/9/9/9/9/9/9 b G2r2b2g4s4n4l18p 1";
    let position = Position::from_sfen(sfen).unwrap();
    let mut found = Vec::new();
    loop {
        let outcome = solver.solve(&position, &found, &Limits::default(), &Arc::default(), &mut |_| {});
        match outcome.answer {
            Answer::Mate(mate) => {
                assert!(!found.contains(&mate.line[0]));
                replay(sfen, &mate.line);
                found.push(mate.line[0]);
            }
            other => {
                assert_eq!(other, Answer::NoMate);
                break;
            }
        }
    }
    let mut texts: Vec<String> = found.iter().map(|m| m.to_string()).collect();
    texts.sort();
    assert_eq!(texts, ["G*1b", "G*2b"]);
}

#[test]
fn a_full_table_gives_no_wrong_answer() {
    let mut small = Solver::new(1).unwrap();
    for row in rows(include_str!("../data/mate_problems.tsv")) {
        let position = Position::from_sfen(row[0]).unwrap();
        let limits = Limits { nodes: Some(200_000), ..Limits::default() };
        match solve(&mut small, &position, limits) {
            Answer::Mate(mate) => {
                replay(row[0], &mate.line);
                assert!(mate.line.len() >= row[1].parse().unwrap());
                assert!(!mate.shortest || mate.line.len().to_string() == row[1]);
            }
            answer => assert_eq!(answer, Answer::Unknown, "{}", row[0]),
        }
    }
    // much more than the table holds
    let position = Position::from_sfen(LONG).unwrap();
    let limits = Limits { nodes: Some(100_000), ..Limits::default() };
    assert_eq!(solve(&mut small, &position, limits), Answer::Unknown);
}

/// Any valid position: one king or two, either side to move, hands and piles of promoted
/// pieces.
#[test]
fn random_positions_do_not_panic() {
    let mut solver = Solver::new(1).unwrap();
    let mut seed = 20u64;
    let mut random = |n: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    let mut mates = 0;
    for _ in 0..4_000 {
        let mut board = [Piece::NONE; 81];
        let mut hands = [[0; 8]; 2];
        let kings = random(4);
        for color in Color::ALL.into_iter().filter(|c| kings >= 2 || kings == c.index() as u64) {
            board[random(81) as usize] = PieceType::KING.of(color);
        }
        let on_board = random(100);
        for (kind, count) in [(1, 18), (2, 4), (3, 4), (4, 4), (5, 2), (6, 2), (7, 4)] {
            for _ in 0..count {
                let color = Color::ALL[random(2) as usize];
                let square = random(81) as usize;
                if random(100) >= on_board {
                    hands[color.index()][kind] += 1;
                } else if board[square].is_none() {
                    let plain = PieceType(kind as u8);
                    let promoted = plain.can_promote() && random(3) == 0;
                    board[square] = if promoted { plain.promoted() } else { plain }.of(color);
                }
            }
        }
        let side = Color::ALL[random(2) as usize];
        let Ok(position) = Position::from_parts(board, hands, side, 1) else { continue };
        if let Answer::Mate(mate) =
            solve(&mut solver, &position, Limits { nodes: Some(60), ..Limits::default() })
        {
            replay(&position.sfen(), &mate.line);
            mates += 1;
        }
    }
    assert!(mates > 20, "{mates}");
}

/// Far beyond a second's work: "Ibara no mori".
const LONG: &str =
    "2l1p+P+p+P1/1g+P2LLs+p/2sN1P+pP+s/1P+rP2PsP/1L+P1B1+p+P+P/1k1N+B1+RN1/1g7/p1G5N/6g2 b - 1";

#[test]
fn time_limit_and_stop_end_the_search() {
    let mut solver = Solver::new(64).unwrap();
    let position = Position::from_sfen(LONG).unwrap();
    let limits = Limits { time: Some(Duration::from_millis(300)), ..Limits::default() };
    let start = Instant::now();
    assert_eq!(solve(&mut solver, &position, limits), Answer::Unknown);
    // generous, for machines under load
    assert!((300..1500).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let raised = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        flag.store(true, Ordering::Relaxed);
        Instant::now()
    });
    let outcome = solver.solve(&position, &[], &Limits::default(), &stop, &mut |_| {});
    let late = raised.join().unwrap().elapsed();
    assert_eq!(outcome.answer, Answer::Unknown);
    assert!(late < Duration::from_secs(1), "{late:?}");
}

#[test]
fn any_mate_is_found_with_less_work_than_the_shortest() {
    let sfen = "l2+R1G1k1/5b3/pNg1ppgp1/4s1p2/2p3LN1/P2PP4/1PPG1P1S1/2K3+br1/LN7 b S6Psnl 145";
    let position = Position::from_sfen(sfen).unwrap();
    let mut nodes = Vec::new();
    for shorten in [Shorten::Any, Shorten::Shortest] {
        let mut solver = Solver::new(64).unwrap();
        let limits = Limits { shorten, ..Limits::default() };
        let outcome = solver.solve(&position, &[], &limits, &Arc::default(), &mut |_| {});
        let Answer::Mate(mate) = outcome.answer else { panic!("no mate") };
        replay(sfen, &mate.line);
        assert!(shorten == Shorten::Any || mate.line.len() == 9);
        nodes.push(outcome.nodes);
    }
    assert!(nodes[0] < nodes[1], "{nodes:?}");
}

/// A problem is read from any record, and one alone is shown with its whole line; one that stands twice is
/// known twice.
#[test]
fn problems_come_from_records_of_every_format() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = program();
        let output = command.arg("mate").arg("--hash=1").args(args).current_dir(dir.path()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    const MATE: &str = "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1";
    let record = Record::new(Position::from_sfen(MATE).unwrap());
    for format in [Format::Kif, Format::Ki2, Format::Bod, Format::Csa, Format::Jkf, Format::Usi] {
        let name = format!("p.{}", format.extension(true));
        std::fs::write(dir.path().join(&name), format.write(&record)).unwrap();
        let said = run(&[&name]);
        assert!(said.contains("mate in 1 ply") && said.contains("   G*52\n   G*5b\n"), "{name}: {said}");
        let said = run(&[&name, "--lang", "ja"]);
        assert!(said.contains("1手詰") && said.contains("   ▲５二金\n   G*5b\n"), "{name}: {said}");
    }
    let defending = MATE.replace(" b ", " w ");
    for (lang, expected) in
        [("en", "White is to move, but Black has no king"), ("ja", "後手番ですが、先手の玉が")]
    {
        let output = program().args(["mate", "--sfen", &defending, "--lang", lang]).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && errors.contains(expected), "{errors}");
    }
    std::fs::write(dir.path().join("twice.txt"), format!("{MATE}\nposition sfen {MATE}\n")).unwrap();
    for _ in 0..2 {
        run(&["twice.txt", "--resume", "done.jsonl"]);
        let kept = std::fs::read_to_string(dir.path().join("done.jsonl")).unwrap();
        assert_eq!(kept.lines().count(), 2, "{kept}");
    }
}

/// A file of `--resume` after a kill in the middle of a line, and with other questions.
#[test]
fn a_file_of_problems_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let [problems, kept] = ["p.sfen", "done.jsonl"].map(|name| dir.path().join(name));
    std::fs::write(&problems, "4k4/9/4P4/9/9/9/9/9/4K4 b G 1\n4k4/9/4P4/9/9/9/9/9/4K4 b 2G 1\n").unwrap();
    let run = |more: &[&str]| {
        let mut command = program();
        command.arg("mate").arg(&problems).arg("--hash=1").arg("--resume").arg(&kept).args(more);
        let output = command.output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run(&[]), (true, String::new()));
    let whole = std::fs::read_to_string(&kept).unwrap();
    assert_eq!(whole.lines().count(), 2);
    for cut in [3, 40] {
        let first = whole.find('\n').unwrap() + 1;
        std::fs::write(&kept, &whole[..first + cut]).unwrap();
        assert_eq!(run(&[]), (true, String::new()));
        let again = std::fs::read_to_string(&kept).unwrap();
        assert_eq!((again.lines().count(), &again[..first]), (2, &whole[..first]));
        assert!(again.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{again}");
    }
    let (ok, errors) = run(&["--others"]);
    assert!(
        !ok && errors.contains("done.jsonl was made with other settings (others was false, now true)"),
        "{errors}"
    );
    // nothing of the user's is cut off
    std::fs::write(&kept, "my notes").unwrap();
    assert!(!run(&[]).0);
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "my notes");
}
