//! Commands in any order and at any moment, against the built binary: every `go` gets exactly one answer, legal in the
//! position that it was sent for, not before it may come, and in time.
//!
//! A few hundred sequences run with every `cargo test`; the long form is `TORATSUGUMI_INTERLEAVINGS=10000 cargo test
//! --release --test suite interleavings:: -- --ignored --nocapture`, `TORATSUGUMI_FUZZ_SEED` plays others.

use crate::support::env_number;
use crate::usi::{PATIENCE, Session, after};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use toratsugumi::engine::Game;
use toratsugumi::position::{EnteringKingRule, Position};
use toratsugumi::support::random::Rng;
use toratsugumi::types::Move;

/// How late an answer may be on a loaded machine.
const LAG: Duration = Duration::from_secs(5);

/// A `go` that has not been answered yet.
struct Asked {
    go: String,
    position: Position,
    mate: bool,
    /// The `position` before it was refused, so that it is answered without a search.
    refused: bool,
    /// When the answer may come; none while it is to be held back.
    released: Option<Instant>,
    /// When it must have come, once it is released.
    allowed: Duration,
}

/// The engine, and what it owes.
struct Driver {
    session: Session,
    random: Rng,
    game: Game,
    refused: bool,
    asked: VecDeque<Asked>,
    /// What was sent in this sequence, for the message.
    sent: Vec<String>,
    answers: u64,
}

const POSITIONS: &[&str] = &[
    "startpos",
    "startpos moves 7g7f 3c3d 2g2f",
    "startpos moves 7g7f 3c3d 8h2b+",
    // many moves, a mate, no move, a declared win
    "sfen l6nl/3g1kgp1/3pp4/p1P2P1P1/1n3sP1P/Pn3r3/1G5K1/9/L7L w R2BG3S4Pn4p 130",
    "sfen 8k/9/8G/9/9/9/9/9/4K4 b G 1",
    "sfen 8k/8G/8G/9/9/9/9/9/K8 w - 1",
    "sfen RRGS5/BB2K4/2+P+P1SG2/9/9/9/9/9/8k b 2P2g2s4n4l14p 1",
    // refused
    "startpos moves 7g7f 7g7f",
    "sfen x",
];

impl Driver {
    fn new(seed: u64) -> Driver {
        Driver {
            session: Session::ready(),
            random: Rng::new(seed),
            game: Game::default(),
            refused: false,
            asked: VecDeque::new(),
            sent: Vec::new(),
            answers: 0,
        }
    }

    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        let i = self.below(items.len());
        items[i]
    }

    fn send(&mut self, line: &str) {
        self.sent.push(line.to_string());
        self.session.send(line);
    }

    /// The answers that are held back may come now.
    fn release(&mut self) {
        let now = Instant::now();
        for asked in &mut self.asked {
            asked.released.get_or_insert(now);
        }
    }

    fn stop(&mut self, line: &str) {
        self.release();
        for asked in &mut self.asked {
            asked.allowed = Duration::ZERO;
        }
        self.send(line);
    }

    fn position(&mut self) {
        let text = self.pick(POSITIONS);
        let (board, moves) = text.split_once(" moves ").unwrap_or((text, ""));
        let sfen = board.strip_prefix("sfen ");
        self.refused = self.game.update(sfen, moves.split(' ').filter(|m| !m.is_empty())).is_err();
        self.send(&format!("position {text}"));
    }

    fn go(&mut self) {
        let (go, ms) = self.pick(&[
            ("go infinite", None),
            ("go ponder", None),
            ("go ponder btime 1000 wtime 1000 byoyomi 20", None),
            ("go ponder btime 0 wtime 0 binc 30 winc 30", None),
            ("go ponder movetime 10", None),
            ("go infinite depth 2", None),
            ("go movetime 5", Some(5)),
            ("go depth 2", Some(0)),
            ("go nodes 300", Some(0)),
            ("go btime 0 wtime 0 byoyomi 20", Some(20)),
            ("go btime 100 wtime 100", Some(100)),
            ("go btime 0 wtime 0 binc 20 winc 20", Some(20)),
            ("go btime 500 wtime 500 binc 20 winc 20", Some(520)),
            ("go rtime 5", Some(10)),
            ("go depth 1 searchmoves 7g7f 3c3d G*1b", Some(0)),
            ("go mate 10", Some(10)),
            ("go mate infinite nodes 100", Some(0)),
        ]);
        // it ends the search before it
        self.release();
        let now = Instant::now();
        self.asked.push_back(Asked {
            go: go.into(),
            position: self.game.position().clone(),
            mate: go.contains("mate"),
            refused: self.refused,
            released: ms.map(|_| now),
            allowed: Duration::from_millis(ms.unwrap_or(0)),
        });
        self.send(go);
    }

    fn ponderhit(&mut self) {
        let (line, ms) = self.pick(&[
            ("ponderhit", 1000),
            ("ponderhit btime 0 wtime 0 byoyomi 10", 10),
            ("ponderhit btime 10 wtime 10 binc 10 winc 10", 20),
            ("ponderhit movetime 5", 5),
        ]);
        let without_end = line == "ponderhit" && self.asked.back().is_some_and(|a| a.go == "go ponder");
        if let Some(asked) = self.asked.back_mut().filter(|a| a.go.starts_with("go ponder"))
            && asked.released.is_none()
        {
            // a search without end may still end by itself: by a mate, say
            asked.released = Some(Instant::now());
            asked.allowed = if without_end { Duration::MAX } else { Duration::from_millis(ms) };
        }
        self.send(line);
    }

    fn option(&mut self) {
        let line = self.pick(&[
            "MultiPV value 1",
            "MultiPV value 3",
            "Threads value 1",
            "Threads value 2",
            "USI_Hash value 16",
            "USI_Hash value 8",
            "Stochastic_Ponder value true",
            "Stochastic_Ponder value false",
            "USI_Ponder value true",
            "BookFile value <internal>",
            "BookFile value no_book",
            "SkillLevel value 3",
            "SkillLevel value 20",
            "IncrementConvention value usi",
            "IncrementConvention value auto",
            "ResignValue value 1",
            "ResignValue value 99999",
            "Nonsense value 1",
        ]);
        self.send(&format!("setoption name {line}"));
    }

    /// Plays one sequence, ends it, and waits for all that is owed.
    fn sequence(&mut self) {
        self.sent.clear();
        for _ in 0..2 + self.below(12) {
            match self.below(20) {
                0..4 => self.position(),
                4..9 => self.go(),
                9..11 => self.stop("stop"),
                11..14 => self.ponderhit(),
                14 => self.stop("usinewgame"),
                15 => self.stop("gameover draw"),
                16 => self.option(),
                17 => {
                    let line =
                        self.pick(&["isready", "d", "eval", "moves", "getoption MultiPV", "go foo", ""]);
                    self.send(line);
                }
                18 => {
                    let line = self.pick(&["go perft 1", "go perft 2", "go perft 3"]);
                    self.release();
                    self.send(line);
                }
                _ => std::thread::sleep(Duration::from_millis(self.random.below(15) as u64)),
            }
            self.take(Duration::ZERO);
        }
        // after an `isready` between, everything above has been read
        self.stop("stop");
        let deadline = Instant::now() + PATIENCE;
        while !self.asked.is_empty() {
            assert!(Instant::now() < deadline, "no answer to `{}` after {:#?}", self.asked[0].go, self.sent);
            self.take(Duration::from_millis(20));
        }
        // nothing more comes
        for line in self.session.ask("isready") {
            assert!(!is_answer(&line), "{line} for nothing after {:#?}", self.sent);
        }
    }

    /// Takes the answers that have come, and waits for the first so long.
    fn take(&mut self, patience: Duration) {
        let mut patience = patience;
        while let Some(line) = self.session.next_line(patience) {
            patience = Duration::ZERO;
            if is_answer(&line) {
                self.check(&line);
            }
        }
    }

    fn check(&mut self, line: &str) {
        self.answers += 1;
        let sent = &self.sent;
        let asked = self.asked.pop_front();
        let asked = asked.unwrap_or_else(|| panic!("`{line}` for nothing after {sent:#?}"));
        let go = &asked.go;
        let Some(released) = asked.released else { panic!("`{line}` too early for `{go}` after {sent:#?}") };
        let late = released.elapsed().saturating_sub(asked.allowed);
        assert!(late < LAG, "`{line}` for `{go}` {late:?} late after {sent:#?}");
        assert_eq!(line.starts_with("checkmate"), asked.mate, "`{line}` for `{go}` after {sent:#?}");
        let position = &asked.position;
        let legal = |position: &Position, text: &str| position.parse_move(text).ok();
        if asked.mate {
            let mut position = position.clone();
            for text in line.split(' ').skip(1).filter(|t| !["nomate", "timeout"].contains(t)) {
                let m = legal(&position, text);
                position.do_move(m.unwrap_or_else(|| panic!("`{line}` for `{go}` after {sent:#?}")));
            }
            return;
        }
        match after(line, "bestmove") {
            // the options may say so
            "resign" => {}
            "win" => {
                let declared = position.declaration_win(EnteringKingRule::CsaRule27) == Some(Move::WIN);
                assert!(declared && !asked.refused, "`{line}` for `{go}` after {sent:#?}");
            }
            text => {
                let m = legal(position, text).filter(|_| !asked.refused);
                let m = m.unwrap_or_else(|| panic!("`{line}` for `{go}` after {sent:#?}"));
                let mut next = position.clone();
                next.do_move(m);
                let ponder = after(line, "ponder");
                assert!(
                    ponder.is_empty() || legal(&next, ponder).is_some(),
                    "`{line}` for `{go}` after {sent:#?}"
                );
            }
        }
    }
}

fn is_answer(line: &str) -> bool {
    line.starts_with("bestmove") || line.starts_with("checkmate")
}

/// Plays so many sequences; how many answers they brought.
fn run(sequences: u64, seed: u64) -> u64 {
    let start = Instant::now();
    let mut driver = Driver::new(seed);
    for n in 1..=sequences {
        driver.sequence();
        if n % 1000 == 0 {
            println!("{n} sequences, {} answers, {:.0} s", driver.answers, start.elapsed().as_secs_f64());
        }
    }
    driver.answers
}

#[test]
fn every_go_gets_one_answer_whatever_comes_between() {
    let answers = run(150, 1);
    assert!(answers > 150, "{answers}");
}

#[test]
#[ignore = "long: TORATSUGUMI_INTERLEAVINGS of them, ten thousand by default"]
fn ten_thousand_interleavings() {
    let count = env_number("TORATSUGUMI_INTERLEAVINGS", 10_000);
    let answers = run(count, env_number("TORATSUGUMI_FUZZ_SEED", 1));
    println!("{answers} answers");
}
