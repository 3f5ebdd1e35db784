//! The built binary as a GUI sees it: lines in, lines out, within a time.

use crate::support::program;
#[cfg(unix)]
use crate::support::{Signal, signal};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Long enough for a loaded machine, short enough to notice a hang.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A conversation with the engine. Dropping it ends the process.
pub struct Session {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Session {
    fn start_in(dir: &Path) -> Session {
        let mut child = program()
            .current_dir(dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        thread::spawn(move || output.lines().map_while(Result::ok).all(|line| send.send(line).is_ok()));
        Session { input: child.stdin.take(), child, lines }
    }

    fn start() -> Session {
        Session::start_in(&std::env::temp_dir())
    }

    /// A session that is ready to play, quick on a small machine.
    pub fn ready() -> Session {
        let mut s = Session::start();
        s.send("setoption name Threads value 1");
        s.send("setoption name USI_Hash value 16");
        s.send("setoption name PvInterval value 0");
        s.send("setoption name BookFile value no_book");
        s.send("isready");
        s.until("readyok");
        s
    }

    /// What the engine does not read any more is no failure of the test.
    pub fn send(&mut self, line: &str) {
        let _ = writeln!(self.input.as_mut().unwrap(), "{line}");
    }

    /// All lines up to and including the first that begins with `word`.
    fn until(&mut self, word: &str) -> Vec<String> {
        self.until_within(word, PATIENCE)
    }

    fn until_within(&mut self, word: &str, patience: Duration) -> Vec<String> {
        let deadline = Instant::now() + patience;
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let found = line.split(' ').next() == Some(word);
                    seen.push(line);
                    if found {
                        return seen;
                    }
                }
                Err(e) => panic!("no `{word}` ({e}) after {seen:#?}"),
            }
        }
    }

    /// The next `info` line with a score.
    fn scored_info(&mut self) -> String {
        loop {
            let info = self.until("info").pop().unwrap();
            if info.contains(" score ") {
                return info;
            }
        }
    }

    /// The next line, if one comes within so long.
    pub fn next_line(&mut self, patience: Duration) -> Option<String> {
        self.lines.recv_timeout(patience).ok()
    }

    /// Sends a line and returns everything up to the answer of a `isready` behind it.
    pub fn ask(&mut self, line: &str) -> Vec<String> {
        self.send(line);
        self.send("getoption name USI_Ponder");
        let mut seen = self.until("Options[USI_Ponder]");
        seen.pop();
        seen
    }

    /// Nothing but empty and `info` lines for a while.
    fn expect_silence(&mut self, time: Duration) {
        let deadline = Instant::now() + time;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => assert!(line.is_empty() || line.starts_with("info "), "{line}"),
                Err(RecvTimeoutError::Timeout) => return,
                Err(e) => panic!("{e}"),
            }
        }
    }

    /// Searches and returns the `info` lines with a score and the best move.
    fn go(&mut self, position: &str, go: &str) -> (Vec<String>, String) {
        self.send(position);
        self.send(go);
        let mut lines = self.until("bestmove");
        let best = lines.pop().unwrap();
        lines.retain(|l| l.contains(" score "));
        (lines, best)
    }

    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait().unwrap() {
                Some(status) => return status,
                None if Instant::now() > deadline => panic!("the process does not end"),
                None => thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The word behind a key in an `info` or `bestmove` line.
pub fn after<'a>(line: &'a str, key: &str) -> &'a str {
    let mut words = line.split(' ');
    words.find(|w| *w == key).and_then(|_| words.next()).unwrap_or_default()
}

const MATE_IN_1: &str = "position sfen 8k/9/8G/9/9/9/9/9/4K4 b G 1";
const MATED: &str = "position sfen 8k/8G/8G/9/9/9/9/9/K8 w - 1";
const DECLARED: &str = "position sfen RRGS5/BB2K4/2+P+P1SG2/9/9/9/9/9/8k b 2P2g2s4n4l14p 1";

#[test]
fn the_handshake_is_instant_and_complete() {
    let start = Instant::now();
    let mut s = Session::start();
    s.send("usi");
    let lines = s.until("usiok");
    // nothing is loaded; the bound leaves room for a loaded machine
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(lines[0].starts_with("id name Toratsugumi"), "{lines:?}");
    assert!(lines[1].starts_with("id author "));
    for option in [
        "option name USI_Hash type spin default 1024 min 1 max 33554432",
        "option name USI_Ponder type check default false",
        "option name MultiPV type spin default 1 min 1 max 600",
        "option name EnteringKingRule type combo default CSARule27 var NoEnteringKing var CSARule24 var CSARule24H var CSARule27 var CSARule27H var TryRule",
        "option name DebugLogFile type string default <empty>",
        "option name NetworkDelay2 type spin default 1120 min 0 max 10000",
        "option name FV_SCALE type spin default 16 min 1 max 128",
        "option name IncrementConvention type combo default auto var auto var usi var included",
    ] {
        assert!(lines.iter().any(|l| l == option), "{option}\nin {lines:#?}");
    }
    s.send("isready");
    s.until("readyok");
    s.send("usinewgame");
    s.send("quit");
    assert!(s.wait().success());
}

#[test]
fn depth_nodes_and_times_end_a_search() {
    let mut s = Session::ready();
    let (lines, best) = s.go("position startpos", "go depth 4");
    assert_eq!(lines.iter().map(|l| after(l, "depth")).next_back(), Some("4"), "{lines:?}");
    assert_eq!(after(&best, "bestmove").len(), 4, "{best}");
    for line in &lines {
        let pv = line.find(" pv ").expect("a pv");
        for key in ["depth", "seldepth", "multipv", "score", "nodes", "nps", "hashfull", "time"] {
            assert!(line.find(&format!(" {key} ")).is_some_and(|i| i < pv), "{key} in {line}");
        }
    }
    let (lines, _) = s.go("position startpos moves 7g7f", "go nodes 3000");
    let nodes: u64 = after(lines.last().unwrap(), "nodes").parse().unwrap();
    assert!(nodes <= 3000, "{nodes}");
    for go in ["go movetime 100", "go byoyomi 100", "go btime 0 wtime 0 byoyomi 100", "go rtime 50"] {
        let start = Instant::now();
        s.go("position startpos moves 7g7f 3c3d", go);
        assert!(start.elapsed() < Duration::from_secs(3), "{go}: {:?}", start.elapsed());
    }
    // a second with an increment, the sort of clock that rounding to whole seconds would lose on
    s.send("setoption name RoundUpToFullSecond value false");
    s.send("setoption name MinimumThinkingTime value 1");
    s.send("setoption name NetworkDelay2 value 50");
    let start = Instant::now();
    s.go("position startpos", "go btime 300 wtime 300 binc 100 winc 100");
    assert!(start.elapsed() < Duration::from_millis(1000), "{:?}", start.elapsed());
}

/// Every kind of clock as GUIs of both conventions send it: what is allowed is not exceeded, and where the increment or the
/// byoyomi is all there is, at least half of it is used.
#[test]
fn clocks_of_both_conventions_are_used_and_kept() {
    // other tests run at the same time, so some lag is theirs
    const LAG: u64 = 200;
    // in a middle game whose best move does not stand out at once
    const POSITION: &str = "position startpos moves 7g7f 8c8d 2g2f 3c3d 2f2e 4a3b 6i7h 8d8e 8h2b+ 3a2b 7i8h";
    let mut s = Session::ready();
    for (convention, clock, allowed, least) in [
        ("usi", "btime 400 wtime 400", 400, 0),
        ("usi", "btime 0 wtime 0 byoyomi 1000", 1000, 600),
        ("usi", "btime 60000 wtime 60000 binc 1000 winc 1000", 61_000, 0),
        ("usi", "btime 200 wtime 200 binc 1000 winc 1000", 1200, 0),
        ("usi", "btime 0 wtime 0 binc 1000 winc 1000", 1000, 500),
        ("included", "btime 400 wtime 400", 400, 0),
        ("included", "btime 0 wtime 0 byoyomi 1000", 1000, 600),
        ("included", "btime 61000 wtime 61000 binc 1000 winc 1000", 61_000, 0),
        ("included", "btime 1200 wtime 1200 binc 1000 winc 1000", 1200, 0),
        ("included", "btime 1000 wtime 1000 binc 1000 winc 1000", 1000, 500),
    ] {
        for choice in [convention, "auto"] {
            s.send(&format!("setoption name IncrementConvention value {choice}"));
            s.send("usinewgame");
            s.send(POSITION);
            let start = Instant::now();
            s.send(&format!("go {clock}"));
            s.until("bestmove");
            let used = start.elapsed().as_millis() as u64;
            assert!(
                (least..=allowed + LAG).contains(&used),
                "{convention} as {choice}: {used} ms of `{clock}`"
            );
        }
    }
    // the proof holds for the game: a clock above its increment, which would else be all there is
    s.send("usinewgame");
    let said = s.ask("go btime 0 wtime 0 binc 300 winc 300");
    assert!(said.iter().any(|line| line.contains("IncrementConvention is usi")), "{said:?}");
    s.until("bestmove");
    s.send("go btime 0 wtime 0 binc 300 winc 300");
    let lines = s.until("bestmove");
    assert!(lines.iter().all(|line| !line.contains("IncrementConvention")), "{lines:?}");
}

/// The clock at `go ponder` is a guess; the one in `ponderhit` replaces it.
#[test]
fn ponderhit_brings_its_own_clock() {
    let mut s = Session::ready();
    for stochastic in ["false", "true"] {
        s.send(&format!("setoption name Stochastic_Ponder value {stochastic}"));
        for (ponder, hit, least, most) in [
            ("go ponder", "ponderhit btime 0 wtime 0 byoyomi 1000", 600, 1200),
            ("go ponder btime 0 wtime 0 byoyomi 60000", "ponderhit btime 0 wtime 0 byoyomi 500", 200, 700),
            ("go ponder btime 0 wtime 0 byoyomi 200", "ponderhit btime 0 wtime 0 byoyomi 1000", 600, 1200),
            ("go ponder btime 0 wtime 0 byoyomi 1000", "ponderhit", 600, 1200),
            ("go ponder movetime 500", "ponderhit", 490, 700),
            ("go ponder", "ponderhit movetime 300", 290, 500),
        ] {
            s.send("position startpos moves 7g7f 3c3d 2g2f");
            s.send(ponder);
            s.expect_silence(Duration::from_millis(600));
            let start = Instant::now();
            s.send(hit);
            s.until("bestmove");
            let used = start.elapsed().as_millis();
            assert!((least..=most + 200).contains(&used), "{stochastic} {ponder}; {hit}: {used} ms");
        }
    }
}

#[test]
fn a_move_without_alternative_takes_little_time() {
    let mut s = Session::ready();
    let start = Instant::now();
    // in check, and one square to go to
    s.go("position sfen 8k/9/9/9/9/9/9/1r7/K1r6 b 2B4G4S4N4L18P 1", "go btime 0 wtime 0 byoyomi 10000");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}

/// A GUI may send the next position before it ends the ponder search: the answer is for the position pondered on.
#[test]
fn a_ponder_search_answers_for_its_own_position() {
    let mut s = Session::ready();
    for stochastic in ["false", "true"] {
        s.send(&format!("setoption name Stochastic_Ponder value {stochastic}"));
        for end in ["ponderhit btime 0 wtime 0 byoyomi 200", "stop"] {
            s.send("position startpos moves 7g7f 3c3d");
            s.send("go ponder btime 0 wtime 0 byoyomi 200");
            s.expect_silence(Duration::from_millis(100));
            s.send("position startpos moves 7g7f");
            s.send(end);
            let best = s.until("bestmove").pop().unwrap();
            s.send("position startpos moves 7g7f 3c3d");
            let legal = s.ask("moves").join(" ");
            let m = after(&best, "bestmove");
            assert!(legal.split(' ').any(|l| l == m), "{stochastic}, {end}: {m} of {legal}");
        }
    }
}

#[test]
fn infinite_and_ponder_hold_the_best_move_back() {
    let mut s = Session::ready();
    for position in ["position startpos", MATE_IN_1, MATED, DECLARED] {
        for go in ["go infinite", "go ponder btime 1000 wtime 1000 byoyomi 100"] {
            s.send(position);
            s.send(go);
            s.expect_silence(Duration::from_millis(300));
            s.send("stop");
            s.until("bestmove");
        }
        s.send("go ponder btime 1000 wtime 1000 byoyomi 100");
        s.expect_silence(Duration::from_millis(200));
        s.send("ponderhit");
        s.until("bestmove");
    }
}

/// A limit ends such a search, but only the user the waiting for its answer.
#[test]
fn infinite_holds_the_best_move_back_whatever_the_limits() {
    let mut s = Session::ready();
    s.send("position startpos");
    for limit in ["movetime 50", "nodes 500", "depth 2", "rtime 20", "btime 0 wtime 0 byoyomi 60"] {
        s.send(&format!("go infinite {limit}"));
        s.expect_silence(Duration::from_millis(300));
        s.send("stop");
        s.until("bestmove");
    }
}

/// Drawn after move 10, but a mate with move 10 is a mate.
#[test]
fn a_mate_with_the_last_move_counts() {
    let mut s = Session::ready();
    s.send("setoption name MaxMovesToDraw value 10");
    let (lines, best) = s.go("position sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 10", "go depth 5");
    assert!(best.starts_with("bestmove G*5b"), "{best}");
    assert!(lines.last().is_some_and(|l| l.contains("score mate 1 ")), "{lines:?}");
}

#[test]
fn stochastic_ponder_answers_for_the_position_given() {
    let mut s = Session::ready();
    s.send("setoption name USI_Ponder value true");
    s.send("setoption name Stochastic_Ponder value true");
    let position = "position startpos moves 7g7f 3c3d 8h2b+";
    for end in ["ponderhit", "stop"] {
        s.send(position);
        s.send("go ponder btime 0 wtime 0 byoyomi 300");
        s.expect_silence(Duration::from_millis(300));
        s.send(end);
        let best = s.until("bestmove").pop().unwrap();
        let m = after(&best, "bestmove").to_string();
        let legal = s.ask("moves").join(" ");
        assert!(legal.split(' ').any(|l| l == m), "{end}: {m} of {legal}");
        assert_eq!(s.ask("d").iter().filter(|l| l.starts_with("bestmove")).count(), 0);
    }
}

#[test]
fn several_lines_and_chosen_moves() {
    let mut s = Session::ready();
    s.send("setoption name MultiPV value 3");
    let (lines, _) = s.go("position startpos", "go depth 3");
    let last: Vec<&String> = lines.iter().filter(|l| after(l, "depth") == "3").collect();
    let mut firsts: Vec<&str> = last.iter().rev().take(3).map(|l| after(l, "pv")).collect();
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 3, "{lines:#?}");
    s.send("setoption name MultiPV value 1");
    for _ in 0..2 {
        let (_, best) = s.go("position startpos", "go depth 3 searchmoves 9g9f 1g1f");
        assert!(["9g9f", "1g1f"].contains(&after(&best, "bestmove")), "{best}");
    }
}

#[test]
fn mates_declarations_and_resignation() {
    let mut s = Session::ready();
    let (lines, best) = s.go(MATE_IN_1, "go depth 3");
    assert!(["G*1b", "G*2b", "1c1b"].contains(&after(&best, "bestmove")), "{best}");
    assert!(lines.iter().any(|l| l.contains("score mate 1 ")), "{lines:?}");
    let (lines, best) = s.go(MATED, "go depth 3");
    assert_eq!(best, "bestmove resign");
    assert!(lines.iter().all(|l| !l.contains("mate -0") && !l.contains("mate 0")), "{lines:?}");
    assert_eq!(s.go(DECLARED, "go movetime 100").1, "bestmove win");
    s.send("setoption name EnteringKingRule value NoEnteringKing");
    assert_ne!(s.go(DECLARED, "go movetime 100").1, "bestmove win");
    s.send("setoption name EnteringKingRule value CSARule27");
    // behind by everything: 1 cp of patience is not enough
    s.send("setoption name ResignValue value 1");
    let bare = "position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/9/9/4K4 b - 1";
    assert_eq!(s.go(bare, "go depth 3").1, "bestmove resign");
}

#[test]
fn a_mate_is_looked_for_before_the_search() {
    // a mate in 11 and more, which no search of 300 nodes sees
    const FAR: &str =
        "position sfen 5p2l/1+S7/p1p3k2/1p1p1gppp/P1N3l2/S1PBP1PsP/1K1P1P2N/6+R2/LN1G5 b 2GSPrbnl2p 157";
    let mut s = Session::ready();
    let (lines, _) = s.go(FAR, "go nodes 300");
    assert!(lines.iter().all(|l| !l.contains("score mate")), "nodes are nodes: {lines:?}");
    s.send("setoption name RootMatePercent value 0");
    let (lines, _) = s.go(FAR, "go movetime 20");
    assert!(lines.iter().all(|l| !l.contains(" nodes 0 ")), "{lines:?}");
    s.send("setoption name RootMatePercent value 50");
    let (lines, best) = s.go(FAR, "go movetime 2000");
    let (moves, mate) = (after(&best, "bestmove"), lines.last().unwrap());
    assert!(["6f4d", "1g2e"].contains(&moves) && mate.contains(" nodes 0 "), "{best}, {mate}");
    let plies: usize = after(mate, "mate").parse().unwrap();
    let pv = mate.split(" pv ").nth(1).unwrap();
    assert!(plies >= 11 && pv.split(' ').count() == plies && pv.starts_with(moves), "{mate}");
    // analysis goes on
    let (lines, _) = s.go(FAR, "go depth 2");
    assert!(lines.iter().any(|l| l.contains("depth 2 ")), "{lines:?}");
}

#[test]
fn go_mate_is_answered_in_its_own_words() {
    let mut s = Session::ready();
    s.send(MATE_IN_1);
    s.send("go mate 20000");
    let answer = s.until("checkmate").pop().unwrap();
    assert!(["checkmate G*1b", "checkmate G*2b", "checkmate 1c1b"].contains(&answer.as_str()), "{answer}");
    s.send(MATED);
    s.send("go mate 1000");
    assert_eq!(s.until("checkmate").pop().unwrap(), "checkmate nomate");
    // no check at all
    s.send("position startpos");
    s.send("go mate infinite");
    assert_eq!(s.until("checkmate").pop().unwrap(), "checkmate nomate");
    // "Ibara no mori", far beyond a moment's work
    s.send(
        "position sfen \
         2l1p+P+p+P1/1g+P2LLs+p/2sN1P+pP+s/1P+rP2PsP/1L+P1B1+p+P+P/1k1N+B1+RN1/1g7/p1G5N/6g2 b - 1",
    );
    for go in ["go mate 200", "go mate movetime 200"] {
        s.send(go);
        assert_eq!(s.until("checkmate").pop().unwrap(), "checkmate timeout");
    }
    // once answered it is no search any more
    s.send(MATED);
    for _ in 0..20 {
        s.send("go mate 1000");
        assert!(s.until("checkmate").iter().all(|line| !line.contains("stopped first")));
    }
    s.send("position sfen 2l1p+P+p+P1/1g+P2LLs+p/2sN1P+pP+s/1P+rP2PsP/1L+P1B1+p+P+P/1k1N+B1+RN1/1g7/p1G5N/6g2 b - 1");
    s.send("go mate infinite");
    s.expect_silence(Duration::from_millis(200));
    s.send("stop");
    assert_eq!(s.until("checkmate").pop().unwrap(), "checkmate timeout");
}

/// Weak levels draw among many moves, name a reply that fits, and leave analysis alone.
#[test]
fn skill_levels_vary_and_analysis_does_not_obey_them() {
    let mut s = Session::ready();
    s.send("setoption name SkillLevel value 2");
    let mut seen = std::collections::HashSet::new();
    for _ in 0..8 {
        let (lines, best) = s.go("position startpos", "go btime 0 wtime 0 byoyomi 1000");
        assert!(lines.iter().all(|l| after(l, "multipv") == "1"), "{lines:?}");
        assert_eq!(after(lines.last().unwrap(), "pv"), after(&best, "bestmove"), "{lines:?}");
        seen.insert(after(&best, "bestmove").to_string());
    }
    assert!(seen.len() >= 3, "{seen:?}");
    // a limit would end it
    s.send("go infinite");
    let mut lines = s.until("info");
    while !lines.iter().any(|line| line.starts_with("info depth 6 ")) {
        lines.extend(s.until("info"));
    }
    s.send("stop");
    s.until("bestmove");
    // as other engines have it
    s.send("setoption name UCI_LimitStrength value true");
    s.send("setoption name UCI_Elo value 0");
    let (lines, _) = s.go("position startpos", "go btime 0 wtime 0 byoyomi 10000");
    let nodes: u64 = after(lines.last().unwrap(), "nodes").parse().unwrap();
    assert!(nodes < 20_000, "{lines:?}");
}

#[test]
fn perft_and_the_other_questions() {
    let mut s = Session::ready();
    let lines = s.ask("go perft 3");
    assert_eq!(lines.last().unwrap(), "Nodes searched: 25470", "{lines:?}");
    assert_eq!(lines.iter().filter(|l| l.contains(": ") && !l.starts_with("Nodes")).count(), 30);
    assert_eq!(s.ask("moves")[0].split(' ').count(), 30);
    let board = s.ask("d");
    assert!(board.iter().any(|l| l.starts_with("sfen lnsgkgsnl/")), "{board:?}");
    assert!(s.ask("eval")[0].starts_with("eval = "));
    assert_eq!(s.ask("getoption multipv"), ["Options[MultiPV] = 1 (1 to 600, default 1)"]);
    assert_eq!(s.ask("multipv 4"), ["Options[MultiPV] = 4 (1 to 600, default 1)"]);
    assert_eq!(s.ask("multipv = 2"), ["Options[MultiPV] = 2 (1 to 600, default 1)"]);
    s.send("getoption");
    assert!(s.until("Options[FV_SCALE]").len() > 20);
    assert!(s.ask("bench depth 1").last().unwrap().ends_with(" nps"));
    assert_eq!(s.ask("bench depth x").len(), 1);
    // a perft that would outlast us all is stopped
    s.send("go perft 12");
    s.send("stop");
    assert_eq!(s.until("info"), ["info string perft stopped"]);
    // a `stop` is for the search before it, also where that waits for a perft
    for _ in 0..5 {
        s.send("go perft 4\ngo infinite\nstop");
        let lines = s.until("bestmove");
        assert!(lines.iter().any(|line| line == "Nodes searched: 719731"), "{lines:?}");
        assert_eq!(s.ask("stop"), [""; 0]);
    }
}

#[test]
fn hostile_lines_cost_one_line_each_and_nothing_else() {
    let mut s = Session::ready();
    s.ask("position startpos moves 7g7f");
    let before = s.ask("d");
    for line in [
        "nonsense",
        "position",
        "position startpos moves 7g7f 7g7f",
        "position startpos moves 7g7",
        "position startpos 7g7f",
        "position sfen",
        "position sfen x",
        "position sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSN b - 1",
        "position sfen 9/9/9/9/9/9/9/9/9/9 b - 1",
        "position sfen 4k4/9/9/9/9/9/9/9/4K4 b 99P 1",
        "position sfen 4k4/9/9/9/9/9/9/9/4K4 x - 1",
        "position sfen 4k4/9/9/9/9/9/9/9/4K4 b - x",
        "position sfen 4k4/9/9/9/9/9/9/9/4K4 b - 1 moves \u{1F600}",
        "go depth x",
        "go nonsense",
        "setoption",
        "setoption name",
        "setoption name Threads value 0",
        "setoption name Threads value 99999999999999999999",
        "setoption name USI_Ponder value maybe",
        "setoption name EnteringKingRule value Chess",
        "setoption name Nonsense value 1",
        "setoption name EvalHash value 128",
        "getoption nonsense",
        "\u{0}\u{1}\u{2}",
        "将棋",
    ] {
        let answer = s.ask(line);
        assert_eq!(answer.len(), 1, "{line}: {answer:?}");
        assert!(answer[0].starts_with("info string "), "{line}: {answer:?}");
    }
    for line in ["", "   ", "stop", "ponderhit", "gameover win", "gameover", "usinewgame"] {
        assert_eq!(s.ask(line), [""; 0], "{line}");
    }
    assert_eq!(s.ask("d"), before);
    let endless = "x".repeat(20 << 20);
    assert_eq!(s.ask(&endless).len(), 1);
    s.go("position startpos", "go depth 2");
}

#[test]
fn no_go_is_answered_from_the_position_before_a_refused_one() {
    let mut s = Session::ready();
    s.ask("position startpos moves 7g7f");
    for refused in
        ["position startpos moves 7g7f 7g7f", "position sfen x", "position", "position startpos 7g7f"]
    {
        let said = s.ask(refused);
        assert!(
            said.len() == 1 && said[0].starts_with("info string position refused"),
            "{refused}: {said:?}"
        );
        for (go, answer) in [
            ("go movetime 100", "bestmove resign"),
            ("go btime 0 wtime 0 byoyomi 100", "bestmove resign"),
            ("go mate 100", "checkmate timeout"),
        ] {
            let said = s.ask(go);
            assert_eq!(said.len(), 2, "{go}: {said:?}");
            assert!(said[0].starts_with("info string go: "), "{said:?}");
            assert_eq!(said[1], answer);
        }
        // these are answered when the GUI says so, as ever
        for (go, end) in [("go infinite", "stop"), ("go ponder btime 0 wtime 0 byoyomi 100", "ponderhit")] {
            assert_eq!(s.ask(go).len(), 1);
            assert_eq!(s.ask(end), ["bestmove resign"]);
            assert_eq!(s.ask(end), [""; 0]);
        }
        assert_eq!(s.ask("go perft 2").len(), 1);
    }
    let (_, best) = s.go("position startpos moves 7g7f", "go depth 2");
    assert_ne!(best, "bestmove resign");
}

/// `gameover`, `usinewgame` and the next `go` give the answer that was held back; the next game hears nothing of it.
#[test]
fn an_answer_held_back_comes_once() {
    let mut s = Session::ready();
    for release in ["gameover lose", "usinewgame", "go movetime 10"] {
        s.ask("position startpos moves 7g7f 7g7f");
        assert_eq!(s.ask("go ponder btime 0 wtime 0 byoyomi 100").len(), 1);
        let said = s.ask(release);
        assert!(said.iter().any(|line| line == "bestmove resign"), "{release}: {said:?}");
        s.send("position startpos");
        s.send("go ponder btime 0 wtime 0 byoyomi 100");
        s.send("ponderhit");
        assert_ne!(s.until("bestmove").pop().unwrap(), "bestmove resign");
        assert_eq!(s.ask("stop"), [""; 0]);
    }
}

/// A mate that was announced is played to its end on the opponent's time, too, and analysis shows the shortest.
#[test]
fn mates_are_looked_for_while_pondering_and_shortest_in_analysis() {
    let mut s = Session::ready();
    s.send("setoption name BookFile value no_book");
    // a loaded machine is slow
    s.send("setoption name RootMatePercent value 50");
    s.send("isready");
    s.until("readyok");
    s.send("position sfen 8k/9/6Pl1/9/6p2/4+b4/4P4/3K5/8G b RS2NL4Pbg2s2n6p 1 moves L*1d B*1c");
    s.send("go ponder btime 100000 wtime 100000 binc 2000 winc 2000");
    let info = s.scored_info();
    assert!(info.contains(" score mate 15 ") && info.contains(" pv P*1b "), "{info}");
    s.expect_silence(Duration::from_millis(100));
    s.send("ponderhit");
    assert!(s.until("bestmove").pop().unwrap().starts_with("bestmove P*1b"));
    for (sfen, plies) in [
        ("1+Rsk2+Bnl/4g4/2pp1p1pp/6p2/1g1n3P1/1p2+b1P2/2PP4P/1R2s4/1K3+l2L b 2GS2NL5Psp 87", 3),
        ("3gk1p2/4B1G2/6R2/4G4/9/9/9/9/9 b rbg4s4n4l17p 1", 7),
    ] {
        s.send(&format!("position sfen {sfen}"));
        s.send("go infinite");
        let info = s.scored_info();
        assert!(info.contains(&format!(" score mate {plies} ")), "{info}");
        s.send("stop");
        s.until("bestmove");
    }
}

/// A GUI that does not wait for the best move of the last game still gets a new game.
#[test]
fn ready_at_once_after_a_stop() {
    let mut s = Session::ready();
    for end in ["gameover win", "stop"] {
        s.send("setoption name BookFile value no_book");
        s.send("isready");
        s.until("readyok");
        s.send("position startpos");
        s.send("go infinite");
        s.until("info");
        s.send("setoption name BookFile value <internal>");
        s.send(end);
        s.send("isready");
        let lines = s.until("readyok");
        assert!(lines.iter().any(|line| line.starts_with("bestmove ")), "{end}: {lines:?}");
        assert!(lines.iter().any(|line| line.contains("BookFile: <internal>")), "{end}: {lines:?}");
    }
}

#[test]
fn the_last_info_of_a_search_that_is_stopped_has_a_score_and_a_line() {
    let mut s = Session::ready();
    for (position, time) in [("position startpos", 150), ("position startpos moves 7g7f 3c3d", 250)] {
        s.send(position);
        s.send("go infinite");
        // a loaded machine takes a while to see three plies ahead
        let mut lines = s.until("info");
        while !lines.iter().any(|line| line.starts_with("info depth 6 ")) {
            lines.extend(s.until("info"));
        }
        thread::sleep(Duration::from_millis(time));
        s.send("stop");
        lines.extend(s.until("bestmove"));
        let best = lines.pop().unwrap();
        let last = lines.iter().rfind(|l| l.contains(" score ")).unwrap();
        assert!(!last.contains("bound"), "{last}");
        assert_eq!(after(last, "pv"), after(&best, "bestmove"), "{last}");
        let moves = last.split(" pv ").nth(1).unwrap().split(' ').count();
        assert!(moves >= 3, "{last}");
    }
}

#[test]
fn people_and_windows_are_understood() {
    let mut s = Session::ready();
    let help = s.ask("help");
    for command in ["position startpos", "go movetime", "d ", "bench", "quit"] {
        assert!(help.iter().any(|l| l.trim_start().starts_with(command)), "{command}: {help:#?}");
    }
    assert_eq!(s.ask("go perft 99999"), ["info string perft: depth 99999 is beyond 32"]);
    s.input.as_mut().unwrap().write_all(b"\xef\xbb\xbfposition\xa0startpos\xa0moves 7g7f\r\n").unwrap();
    assert!(s.ask("d").iter().any(|l| l.starts_with("sfen ") && l.ends_with(" w - 2")));
    // a path as a Japanese Windows GUI sends it: CP932
    let dir = tempfile::tempdir().unwrap();
    let nets = dir.path().join("将棋の表");
    std::fs::create_dir(&nets).unwrap();
    std::fs::write(nets.join("nn.bin"), b"this is no network").unwrap();
    let mut line = format!("setoption name EvalDir value {}/", dir.path().display()).into_bytes();
    line.extend_from_slice(b"\x8f\xab\x8a\xfb\x82\xcc\x95\\\n");
    s.input.as_mut().unwrap().write_all(&line).unwrap();
    s.send("isready");
    let lines = s.until("readyok");
    let found = |l: &String| l.contains("将棋の表") && l.contains("nn.bin");
    assert!(lines.iter().any(found), "{lines:#?}");
}

#[test]
#[cfg(unix)]
fn an_interrupted_analysis_prints_its_summary() {
    let mut child = program()
        .args(["analyse", "--movetime", "600000", "--hash", "16", "--threads", "1"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    // it thinks
    assert!(lines.any(|l| l.starts_with("depth ")));
    // as Ctrl-C, which a shell lets its jobs in the background ignore
    signal(&child, Signal::SIGTERM).unwrap();
    let rest: Vec<String> = lines.collect();
    assert!(rest.iter().any(|l| l.starts_with("best move for Black")), "{rest:#?}");
    assert!(rest.iter().any(|l| l.starts_with("1. ") && l.contains("win rate")), "{rest:#?}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn go_during_go_gets_both_their_answers() {
    let mut s = Session::ready();
    s.send("position startpos");
    s.send("go infinite");
    s.send("position startpos moves 7g7f");
    s.send("go depth 2");
    s.until("bestmove");
    s.until("bestmove");
    assert_eq!(s.ask("stop"), [""; 0]);
    s.send("go infinite");
    // a question during a search is answered, and the search goes on
    s.send("usi");
    s.until("usiok");
    s.send("isready");
    s.until("readyok");
    s.send("setoption name USI_Hash value 32");
    s.send("setoption name Threads value 2");
    s.expect_silence(Duration::from_millis(100));
    s.send("gameover lose");
    s.until("bestmove");
    s.go("position startpos", "go depth 2");
}

#[test]
fn a_game_of_ten_thousand_plies_stays_fast() {
    let mut s = Session::ready();
    let mut line = String::from("position startpos moves");
    let start = Instant::now();
    for ply in 0..10_000 {
        line.push(' ');
        line.push_str(["2h3h", "8b7b", "3h2h", "7b8b"][ply % 4]);
        // GUIs send the whole game every time
        if ply % 100 == 0 || ply > 9_990 {
            s.send(&line);
        }
    }
    assert_eq!(s.ask("position startpos moves 2h3h 8b7b 3h3g").len(), 1);
    s.send(&line);
    assert!(s.ask("d").iter().any(|l| l.ends_with(" b - 10001")));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    s.send("go depth 2");
    s.until("bestmove");
}

#[test]
fn a_missing_network_is_reported_and_the_embedded_one_plays() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("nn.bin"), b"this is no network").unwrap();
    for (value, said) in
        [("no/such/directory", "no/such/directory"), (dir.path().to_str().unwrap(), "nn.bin")]
    {
        let mut s = Session::ready();
        let first = s.ask("eval");
        s.send(&format!("setoption name EvalDir value {value}"));
        s.send("isready");
        let lines = s.until("readyok");
        let reports: Vec<&String> = lines.iter().filter(|l| l.starts_with("info string EvalDir")).collect();
        assert_eq!(reports.len(), 1, "{lines:?}");
        assert!(reports[0].contains(said), "{lines:?}");
        assert_eq!(s.ask("eval"), first);
        // for GUIs that show nothing before the first search
        s.send("setoption name Threads value 0");
        s.ask("position startpos");
        for times in [1, 0] {
            s.send("go depth 2");
            let lines = s.until("bestmove");
            for start in ["info string EvalDir", "info string Threads"] {
                let said = lines.iter().filter(|l| l.starts_with(start)).count();
                assert_eq!(said, times, "{lines:?}");
            }
        }
    }
}

#[test]
fn option_files_fix_their_values() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("engine_options.txt"),
        "# ours\nMultiPV = 2\nNonsense 1\nThreads 1\nUSI_Hash 8\n",
    )
    .unwrap();
    std::fs::write(dir.path().join("engine_name.txt"), "Hibari\nA. Uthor\n").unwrap();
    let mut s = Session::start_in(dir.path());
    s.send("usi");
    assert_eq!(s.until("usiok")[..2], ["id name Hibari", "id author A. Uthor"]);
    s.send("setoption name DebugLogFile value log.txt");
    s.send("isready");
    let lines = s.until("readyok");
    assert!(lines.iter().any(|l| l.contains("engine_options.txt, line 3")), "{lines:?}");
    assert_eq!(s.ask("setoption name MultiPV value 5").len(), 1);
    assert_eq!(s.ask("getoption MultiPV"), ["Options[MultiPV] = 2 (1 to 600, default 1)"]);
    s.send("quit");
    assert!(s.wait().success());
    let log = std::fs::read_to_string(dir.path().join("log.txt")).unwrap();
    assert!(log.contains("< isready") && log.contains("> readyok"), "{log}");
}

#[test]
fn the_end_of_the_input_ends_the_engine() {
    for go in ["", "go infinite", "go depth 60", "go perft 2", "isready"] {
        let mut s = Session::start();
        s.send("setoption name USI_Hash value 16");
        s.send(go);
        drop(s.input.take());
        assert!(s.wait().success(), "{go}");
    }
    // without a line end
    let mut s = Session::start();
    write!(s.input.as_mut().unwrap(), "usi").unwrap();
    drop(s.input.take());
    s.until("usiok");
    assert!(s.wait().success());
}

#[test]
fn a_closed_output_ends_the_engine_quietly() {
    let mut child = program()
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    let _ = writeln!(input, "setoption name USI_Hash value 16\nisready\ngo infinite");
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "the process does not end");
        thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn ponderhit_does_not_release_the_held_answer_of_go_infinite() {
    let mut s = Session::ready();
    s.send("position sfen x");
    s.send("go infinite");
    s.send("ponderhit");
    let lines = s.ask("isready");
    assert!(!lines.iter().any(|line| line.starts_with("bestmove")), "{lines:?}");
    s.send("stop");
    assert_eq!(s.until("bestmove").last().unwrap(), "bestmove resign");
    s.send("go ponder");
    s.send("ponderhit");
    assert_eq!(s.until("bestmove").last().unwrap(), "bestmove resign");
}

#[test]
fn subcommands_answer_and_fail_in_one_line() {
    let run = |args: &[&str]| {
        let output = program().args(args).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, out, _) = run(&["perft", "3"]);
    assert!(code == Some(0) && out.starts_with("25470 nodes"), "{out}");
    let (code, out, _) = run(&["bench", "--depth", "2", "--hash", "8"]);
    assert!(code == Some(0) && out.lines().last().is_some_and(|l| l.ends_with(" nps")), "{out}");
    let (_, again, _) = run(&["bench", "--depth", "2", "--hash", "8"]);
    let signature =
        |out: &str| out.lines().last().map(|l| l.split(' ').next().unwrap_or_default().to_string());
    assert_eq!(signature(&out), signature(&again));
    let (_, bound, _) = run(&["bench", "--depth", "2", "--hash", "8", "--numa-policy", "system"]);
    assert_eq!(signature(&out), signature(&bound));
    let (_, table, _) = run(&["bench", "--depth", "1", "--hash", "8", "--threads", "1,2"]);
    let rows: Vec<Vec<&str>> =
        table.lines().rev().take(3).map(|line| line.split_whitespace().collect()).collect();
    assert!(
        matches!(&rows[..], [two, one, head] if two[0] == "2" && one[2] == "1.00" && head[0] == "threads"),
        "{table}"
    );
    for (lang, expected) in
        [("en", ["Black in hand: none", "win rate", "best move"]), ("ja", ["|一", "勝率", "▲"])]
    {
        let (code, out, err) = run(&[
            "analyse",
            "--moves",
            "7g7f",
            "3c3d",
            "--depth",
            "3",
            "--hash",
            "8",
            "--multipv",
            "2",
            "--lang",
            lang,
        ]);
        assert!(code == Some(0) && expected.iter().all(|text| out.contains(text)), "{out}{err}");
    }
    let nothing = tempfile::tempdir().unwrap();
    let empty = nothing.path().to_str().unwrap();
    // what `analyse` left is no record, and a network stays
    std::fs::write(nothing.path().join("game.analysis.json"), "{}").unwrap();
    let trained = tempfile::tempdir().unwrap();
    let network = trained.path().join("nn.bin");
    std::fs::write(&network, "").unwrap();
    let (trained, network) = (trained.path().to_str().unwrap(), network.to_str().unwrap());
    for args in [
        &["perft", "2", "--sfen", "x"][..],
        &["analyse", "--moves", "7g7e"],
        &["bench", "--eval-dir", "/no/such"],
        &["analyse", empty],
        &["convert", empty, "--to", "csa"],
        &["analyse", "--html"],
        &["train", "no-such.games", "--out", empty],
        &["train", "no-such.games", "--out", trained],
        &["net", "export", "--output", network],
    ] {
        let (code, _, err) = run(args);
        assert!(code == Some(1) && err.lines().count() == 1, "{args:?}: {code:?} {err}");
    }
    let (code, _, err) = run(&["perft", "99999"]);
    assert!(code == Some(2) && err.contains("99999 is not in 0..=32"), "{err}");
    assert_eq!(run(&["nonsense"]).0, Some(2));
}
