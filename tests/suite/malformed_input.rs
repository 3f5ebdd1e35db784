//! Lines that no GUI would send. Whatever they are, nothing panics, and the last good position stays.
//!
//! A few thousand lines run with every `cargo test`. `TORATSUGUMI_FUZZ_LINES=10000000 cargo test --release --test
//! malformed_input -- --ignored --nocapture` runs as many as wanted, `TORATSUGUMI_FUZZ_SEED` others.

use crate::support::env_number;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use toratsugumi::engine::Game;
use toratsugumi::nnue::Network;
use toratsugumi::position::Position;
use toratsugumi::search::{Limits, SearchOptions, Searcher, Silent};
use toratsugumi::types::Move;
use toratsugumi::usi::{Next, Output, Session, parse};

/// SplitMix64: the same lines on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

const WORDS: &[&str] = &[
    "usi",
    "isready",
    "usinewgame",
    "position",
    "startpos",
    "sfen",
    "moves",
    "go",
    "stop",
    "ponderhit",
    "gameover",
    "win",
    "setoption",
    "name",
    "value",
    "getoption",
    "d",
    "eval",
    "flip",
    "depth",
    "nodes",
    "infinite",
    "ponder",
    "mate",
    "btime",
    "wtime",
    "byoyomi",
    "binc",
    "winc",
    "movetime",
    "rtime",
    "searchmoves",
    "perft",
    "7g7f",
    "3c3d",
    "8h2b+",
    "P*5e",
    "resign",
    "null",
    "pass",
    "0000",
    "-1",
    "0",
    "1",
    "99999999999999999999",
    "Threads",
    "MultiPV",
    "USI_Hash",
    "<empty>",
    "=",
    "bench",
    "EnteringKingRule",
    "TryRule",
    "DrawValueBlack",
    "b",
    "w",
    "-",
    "2P",
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL",
    "9/9/9/9/9/9/9/9/9",
    "4k4/9/9/9/9/9/9/9/4K4",
    "RBGSNLPrbgsnlp",
    "18P",
    "+",
    "*",
    "\u{0}",
    "駒",
    "\t",
    "",
];

const SFENS: &[&str] = &[
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "l6nl/3g1kgp1/3pp4/p1P2P1P1/1n3sP1P/Pn3r3/1G5K1/9/L7L w R2BG3S4Pn4p 130",
    "ln1gp+R2K/1psg2+N+P1/pkpp1+L+N1+B/1s1+r1P1g1/9/6g2/P7P/9/+b6NL w 3P2sl6p 160",
    "8k/8G/8G/9/9/9/9/9/K8 w - 1",
    "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1",
    "RRGS5/BB2K4/2+P+P1SG2/9/9/9/9/9/8k b 2P2g2s4n4l14p 1",
];

const SFEN_BYTES: &[u8] = b"pPlLnNsSgGbBrRkK+/123456789 bw-0";

/// Byte-wise damage: change, drop, double, cut, insert.
fn damage(random: &mut Random, text: &str, bytes: &[u8]) -> String {
    let mut text = text.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        if text.is_empty() {
            break;
        }
        let i = random.below(text.len());
        match random.below(5) {
            0 => text[i] = random.pick(bytes),
            1 => drop(text.remove(i)),
            2 => text.insert(i, text[i]),
            3 => text.truncate(i),
            _ => text.insert(i, random.pick(bytes)),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// A walk of legal moves from a position, some of them pointless or spoilt.
fn walk(random: &mut Random, sfen: &str) -> String {
    let mut line = format!("position sfen {sfen} moves");
    let Ok(mut position) = Position::from_sfen(sfen) else { return line };
    for _ in 0..random.below(12) {
        let moves = position.legal_moves(true);
        if moves.is_empty() {
            break;
        }
        let m = moves[random.below(moves.len())].mv;
        line.push_str(&format!(" {m}"));
        position.do_move(m);
    }
    if random.below(3) == 0 {
        line.push_str(&format!(" {}", damage(random, "7g7f", b"123456789abcdefghi*+PR")));
    }
    line
}

fn line(random: &mut Random) -> String {
    match random.below(8) {
        0 => {
            let n = random.below(40);
            let bytes: Vec<u8> = (0..n).map(|_| random.next() as u8).collect();
            String::from_utf8_lossy(&bytes).replace('\n', " ")
        }
        1 | 2 => (0..random.below(8)).map(|_| random.pick(WORDS)).collect::<Vec<_>>().join(" "),
        3 => {
            let sfen = random.pick(SFENS);
            format!("position sfen {}", damage(random, sfen, SFEN_BYTES))
        }
        4 => {
            // a board of random pieces, by field
            let mut text = String::from("position sfen ");
            for _ in 0..9 + random.below(90) {
                text.push(char::from(random.pick(SFEN_BYTES)));
            }
            text + random.pick(&[" b - 1", " w 2Pp 7", " b R2B", " x y z", ""])
        }
        5 | 6 => {
            let sfen = random.pick(SFENS);
            walk(random, sfen)
        }
        _ => {
            let words: Vec<&str> = (0..1 + random.below(5)).map(|_| random.pick(WORDS)).collect();
            damage(random, &format!("go {}", words.join(" ")), b" 0123456789abc-")
        }
    }
}

/// A sink that can be looked into.
#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether a line would start a search, load a network or write files, which the fast run leaves to `usi.rs`.
fn is_heavy(line: &str) -> bool {
    matches!(
        parse::parse(line),
        Ok(parse::Command::Go(_)
            | parse::Command::IsReady
            | parse::Command::NewGame
            | parse::Command::Eval
            | parse::Command::PonderHit(_))
    ) || line.contains("DebugLogFile")
}

/// Runs lines through parser and session; returns how many.
fn run(lines: u64, seed: u64) -> u64 {
    let mut random = Random(seed);
    let sink = Sink::default();
    let mut session = Session::new(Arc::new(Output::new(sink.clone())), Vec::new());
    let start = Instant::now();
    let mut said = 0;
    for n in 0..lines {
        let text = line(&mut random);
        if is_heavy(&text) {
            continue;
        }
        let before = session.engine().position().key();
        if matches!(session.handle(&text), Next::Quit) {
            assert_eq!(text.trim(), "quit");
        }
        let mut output = sink.0.lock().unwrap();
        said += output.len();
        let refused = output.starts_with(b"info string position refused");
        assert!(
            !output.starts_with(b"info string") || output.iter().filter(|b| **b == b'\n').count() == 1,
            "{text}"
        );
        output.clear();
        drop(output);
        let position = session.engine().position();
        if refused {
            assert_eq!(position.key(), before, "{text}");
        }
        // what was accepted is a position like any other: it can be written, read and moved in
        if n % 16 == 0 {
            let again = Position::from_sfen(&position.sfen()).unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!((again.key(), again.sfen()), (position.key(), position.sfen()), "{text}");
            assert_eq!(again.legal_moves(true).len(), position.legal_moves(true).len(), "{text}");
        }
        if n > 0 && n % 1_000_000 == 0 {
            println!(
                "{n} lines, {said} bytes of answers, {:.0} lines/s",
                n as f64 / start.elapsed().as_secs_f64()
            );
        }
    }
    lines
}

#[test]
fn malformed_lines_do_no_harm() {
    run(20_000, 1);
}

#[test]
#[ignore = "long: TORATSUGUMI_FUZZ_LINES of them, ten million by default"]
fn ten_million_malformed_lines_do_no_harm() {
    let seed = env_number("TORATSUGUMI_FUZZ_SEED", 1);
    let lines = run(env_number("TORATSUGUMI_FUZZ_LINES", 10_000_000), seed);
    let positions = search_odd_positions(lines as usize / 1000, seed);
    println!("{lines} lines and {positions} searches of odd positions done");
}

#[test]
fn damaged_sfens_are_refused_or_round_trip() {
    let mut random = Random(7);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let sfen = random.pick(SFENS);
        let text = damage(&mut random, sfen, SFEN_BYTES);
        match Position::from_sfen(&text) {
            Ok(position) => {
                accepted += 1;
                assert_eq!(Position::from_sfen(&position.sfen()).unwrap().key(), position.key(), "{text}");
            }
            Err(e) => {
                refused += 1;
                assert!(!e.to_string().is_empty() && !e.to_string().contains('\n'));
            }
        }
    }
    // some damage lies in the move number or swaps one piece for another
    assert!(accepted > 300 && refused > 5_000, "{accepted} accepted, {refused} refused");
}

#[test]
fn random_walks_replay_incrementally() {
    let mut random = Random(11);
    let mut game = Game::default();
    for _ in 0..2_000 {
        let sfen = random.pick(SFENS);
        let line = walk(&mut random, sfen);
        let Ok(parse::Command::Position { sfen, moves }) = parse::parse(&line) else { panic!("{line}") };
        if game.update(sfen, moves.split_whitespace()).is_err() {
            continue;
        }
        let mut fresh = Game::default();
        fresh.update(sfen, moves.split_whitespace()).unwrap();
        assert_eq!(game.position().sfen(), fresh.position().sfen(), "{line}");
        assert_eq!(game.position().key(), fresh.position().key(), "{line}");
    }
}

/// A board of random pieces in any number, kings included or not.
fn odd_board(random: &mut Random) -> String {
    let mut board = [["1"; 9]; 9];
    for _ in 0..random.below(82) {
        let piece = [
            "P", "L", "N", "S", "G", "B", "R", "+P", "+L", "+N", "+S", "+B", "+R", "p", "l", "n", "s", "g",
            "b", "r",
        ];
        let more = ["+p", "+l", "+n", "+s", "+b", "+r", "1", "1", "1"];
        let n = random.below(piece.len() + more.len());
        let text = piece.iter().chain(&more).nth(n).unwrap();
        board[random.below(9)][random.below(9)] = text;
    }
    for king in ["K", "k"] {
        if random.below(8) > 0 {
            board[random.below(9)][random.below(9)] = king;
        }
    }
    let ranks: Vec<String> = board.iter().map(|r| r.concat()).collect();
    let hand = random.pick(&["-", "RBGSNLP", "rbgsnlp", "2R2B4G4S4N4L18P", "2r2b4g4s4n4l18p", "R2B18Pg"]);
    format!("{} {} {hand} {}", ranks.join("/"), random.pick(&["b", "w"]), 1 + random.below(600))
}

/// Searches positions that no game reaches. Returns how many were accepted.
fn search_odd_positions(wanted: usize, seed: u64) -> usize {
    let mut random = Random(seed);
    let network = Arc::new(Network::embedded().unwrap());
    let mut searcher = Searcher::new(network, 1, SearchOptions::default()).unwrap();
    let mut accepted = 0;
    while accepted < wanted {
        let sfen = odd_board(&mut random);
        let Ok(position) = Position::from_sfen(&sfen) else { continue };
        accepted += 1;
        let best = searcher.search(&position, &Limits::nodes(300), &Silent).best;
        let legal = position.legal_moves(true).iter().any(|m| m.mv == best);
        assert!(legal || best == Move::WIN || best == Move::RESIGN, "{sfen}: {best}");
        assert!(!legal || position.has_legal_move(), "{sfen}");
    }
    accepted
}

#[test]
fn odd_positions_are_searched_like_others() {
    search_odd_positions(300, 3);
}
