//! `toratsugumi csa`: dialogues recorded with real servers are replayed, connections are cut, lines are broken, and the
//! whole client plays over a server of its own.

use crate::support::{RandomMover, Scripted, client, program, settings, sink};
#[cfg(unix)]
use crate::support::{Signal, signal};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use toratsugumi::csa::clock::Lag;
use toratsugumi::csa::connection::{Connection, Incoming};
#[cfg(unix)]
use toratsugumi::csa::external::External;
use toratsugumi::csa::game::{GameOutcome, ServerGame, Step};
use toratsugumi::csa::internal::Internal;
use toratsugumi::csa::link::{Context, Event, Link, LinkError, Wish};
use toratsugumi::csa::log::{Log, Screen};
use toratsugumi::csa::loopback::{Loopback, Rules};
use toratsugumi::csa::play::play;
use toratsugumi::csa::player::{Allowance, Player};
use toratsugumi::csa::protocol::{Reason, ServerLine, Verdict};
use toratsugumi::csa::secret::Secret;
use toratsugumi::csa::session::{Session, SessionError};
use toratsugumi::csa::settings::Settings;
use toratsugumi::csa::summary::SummaryReader;
use toratsugumi::csa::thinking::{Memory, Statistics};
use toratsugumi::position::Position;
use toratsugumi::record::{Special, csa};
use toratsugumi::support::random::Rng;
use toratsugumi::types::Color;

// --- dialogues recorded with real servers ---------------------------------------------------------------------------

/// What one side said and heard.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    ByClient(String),
    ByServer(String),
}

/// One side (`B` or `W`) of a recorded dialogue, without the line ends.
fn transcript(name: &str, side: char) -> Vec<Said> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/csa_transcripts").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|l| !l.starts_with('#')).filter_map(|line| {
        let mut words = line.trim_start().splitn(4, ' ');
        let (_ms, who, direction, what) = (words.next()?, words.next()?, words.next()?, words.next()?);
        if who != side.to_string() || what.starts_with("b'[") {
            return None;
        }
        let inner = &what[2..what.len() - 1];
        let inner = inner.trim_end_matches("\\n").trim_end_matches("\\r").to_string();
        match direction {
            ">" => Some(Said::ByClient(inner)),
            "<" => Some(Said::ByServer(inner)),
            _ => None,
        }
    });
    lines.collect()
}

/// How each game ended, by the table of the rules and not by the dialogue: file, Black's and White's verdict, reason,
/// what the record says, moves played.
type Ending = (&'static str, [Option<Verdict>; 2], Option<Reason>, Special, usize);

const fn won(winner: Color) -> [Option<Verdict>; 2] {
    match winner {
        Color::Black => [Some(Verdict::Win), Some(Verdict::Lose)],
        Color::White => [Some(Verdict::Lose), Some(Verdict::Win)],
    }
}

fn endings() -> Vec<Ending> {
    use Color::{Black, White};
    use {Reason as R, Special as S, Verdict as V};
    let both = |v| [Some(v); 2];
    vec![
        ("rshogi_01_resign.txt", won(Black), Some(R::Resign), S::Resign, 5),
        ("rshogi_02_illegal.txt", won(White), Some(R::IllegalMove), S::IllegalMove, 0),
        ("rshogi_03_sennichite.txt", both(V::Draw), Some(R::Sennichite), S::Repetition, 12),
        ("rshogi_04_oute_sennichite.txt", won(White), Some(R::OuteSennichite), S::IllegalAction(Black), 98),
        ("rshogi_05_illegal_kachi.txt", won(White), Some(R::IllegalMove), S::IllegalMove, 2),
        ("rshogi_06_chudan.txt", [None; 2], Some(R::Abnormal), S::Interrupted, 2),
        ("rshogi_07_uchifuzume.txt", won(Black), Some(R::IllegalMove), S::IllegalMove, 103),
        ("rshogi_08_disconnect.txt", [None, Some(V::Win)], Some(R::Abnormal), S::Interrupted, 2),
        ("rshogi_09_max_moves.txt", both(V::Censored), Some(R::MaxMoves), S::MaxMoves, 6),
        ("ruby_01_resign.txt", won(Black), Some(R::Resign), S::Resign, 5),
        ("ruby_02_illegal_drop.txt", won(White), Some(R::IllegalMove), S::IllegalMove, 2),
        ("ruby_03_illegal_move.txt", won(White), Some(R::IllegalMove), S::IllegalMove, 0),
        ("ruby_04_nifu.txt", won(White), Some(R::IllegalMove), S::IllegalMove, 8),
        ("ruby_05_sennichite.txt", both(V::Draw), Some(R::Sennichite), S::Repetition, 13),
        ("ruby_06_oute_sennichite.txt", won(White), Some(R::OuteSennichite), S::IllegalAction(Black), 110),
        ("ruby_07_illegal_kachi.txt", won(White), Some(R::IllegalMove), S::IllegalMove, 2),
        ("ruby_08_chudan.txt", won(White), Some(R::IllegalMove), S::IllegalMove, 2),
        ("ruby_09_disconnect_own_turn.txt", [None, Some(V::Win)], Some(R::Resign), S::Resign, 2),
        ("ruby_10_disconnect_opp_turn.txt", [None, Some(V::Win)], Some(R::Resign), S::Resign, 2),
        ("ruby_12_late_move_time_up.txt", won(White), Some(R::TimeUp), S::TimeUp, 2),
        ("ruby_13_out_of_turn.txt", won(White), Some(R::Resign), S::Resign, 2),
        ("ruby_14_uchifuzume.txt", won(Black), Some(R::IllegalMove), S::IllegalMove, 103),
        ("ruby_14b_not_uchifuzume.txt", won(White), Some(R::Resign), S::Resign, 114),
        ("ruby_15_leave_in_check.txt", won(Black), Some(R::IllegalMove), S::IllegalMove, 7),
        ("ruby_16_kachi_win.txt", won(White), Some(R::Jishogi), S::Declaration, 315),
        ("ruby_17_max_moves.txt", both(V::Censored), Some(R::MaxMoves), S::MaxMoves, 6),
        ("ruby_18_oute_sennichite2.txt", won(Black), Some(R::OuteSennichite), S::IllegalAction(White), 135),
        ("ruby_19_idle_time_up.txt", won(White), Some(R::TimeUp), S::TimeUp, 2),
        ("ruby_20_floodgate_pairing.txt", won(White), Some(R::Resign), S::Resign, 4),
    ]
}

/// Whether that side saw the end, or hung up before.
fn saw_the_end(name: &str, side: char) -> bool {
    !(name.contains("disconnect") && side == 'B')
}

#[test]
fn recorded_games_end_as_the_rules_say() {
    for (name, verdicts, reason, special, moves) in endings() {
        for (side, color) in [('B', Color::Black), ('W', Color::White)] {
            let mut reader = None;
            let mut game: Option<ServerGame> = None;
            let mut outcome = None;
            for said in transcript(name, side) {
                let Said::ByServer(line) = said else { continue };
                match (&mut game, &mut reader) {
                    (Some(game), _) => match game.line(&ServerLine::parse(&line)).unwrap() {
                        Step::Ended(end) => outcome = Some(end),
                        Step::Ignored(why) => {
                            // START and the answer to an empty line come in the same stream
                            assert!(
                                line.starts_with("START") || outcome.is_some(),
                                "{name} {side}: {line}: {why}"
                            );
                        }
                        _ => {}
                    },
                    (None, None) if line == "BEGIN Game_Summary" => reader = Some(SummaryReader::default()),
                    (None, None) => {
                        assert!(matches!(ServerLine::parse(&line), ServerLine::LoggedIn(_)), "{line}")
                    }
                    (None, Some(r)) => game = r.line(&line).unwrap().map(ServerGame::new),
                }
            }
            let mut game = game.unwrap();
            assert_eq!(game.our_color(), color);
            if !saw_the_end(name, side) {
                assert_eq!((outcome, game.silence()), (None, None), "{name}");
                continue;
            }
            let outcome = outcome.or_else(|| game.silence()).unwrap();
            let expected = GameOutcome { verdict: verdicts[color.index()], reason, special };
            assert_eq!(outcome, expected, "{name} {side}");
            assert_eq!(game.record.moves.len(), moves, "{name} {side}");
            // and the record reads back
            let record = csa::read(&csa::write(&game.record)).unwrap().remove(0);
            assert_eq!((record.moves, record.end), (game.record.moves, game.record.end), "{name}");
        }
    }
}

#[test]
fn recorded_logins_and_rejections_are_understood() {
    let path =
        |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/csa_transcripts").join(name);
    let heard = |name: &str| -> Vec<String> {
        let text = std::fs::read_to_string(path(name)).unwrap();
        let lines = text.lines().filter_map(|l| l.split_once("< b'"));
        lines.map(|(_, line)| line.trim_end_matches('\'').to_string()).collect()
    };
    let refused = heard("ruby_21_bad_login.txt");
    assert_eq!(refused.len(), 3);
    assert!(refused.iter().all(|l| ServerLine::parse(l) == ServerLine::LoginRefused("")));
    let extended = heard("ruby_22_x1.txt");
    let kinds: Vec<ServerLine> = extended.iter().map(|l| ServerLine::parse(l)).collect();
    assert_eq!(kinds.iter().filter(|k| matches!(k, ServerLine::Extended(_))).count(), 8, "{extended:?}");
    assert!(matches!(kinds[0], ServerLine::LoggedIn("carol")));
    assert!(kinds.contains(&ServerLine::KeepAlive) && kinds.contains(&ServerLine::LoggedOut));
    let rejected = transcript("ruby_11_reject.txt", 'W');
    let last = rejected.iter().rev().find_map(|s| match s {
        Said::ByServer(line) => Some(line.clone()),
        Said::ByClient(_) => None,
    });
    let last = last.unwrap();
    assert!(matches!(ServerLine::parse(&last), ServerLine::Reject { by: "alice", .. }), "{last}");
}

/// Plays one side of a dialogue with the whole session: the server's part is sent in small portions, each time after we
/// have said what that side said then; the player answers with its moves.
fn replay(
    name: &str,
    side: char,
    portion: usize,
) -> (Result<GameOutcome, SessionError>, ServerGame, Vec<String>) {
    let said = transcript(name, side);
    let (to_client, mut server_out) = std::io::pipe().unwrap();
    let (server_in, from_client) = std::io::pipe().unwrap();
    let (heard, hears) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(server_in).lines() {
            let Ok(line) = line else { break };
            let _ = heard.send(line);
        }
    });
    let (send, events) = channel();
    // the moves as an engine would answer; what no engine says, like `%CHUDAN`, becomes resigning
    let script: Vec<String> = said
        .iter()
        .filter_map(|s| match s {
            Said::ByClient(line) if line.starts_with(['+', '-', '%']) => Some(line.clone()),
            _ => None,
        })
        .collect();
    let mut player = Scripted::new(script, sink(&send));
    let log = Arc::new(Log::new(Secret::default(), None, Arc::new(Screen::new(true)), "").unwrap());
    let incoming = send.clone();
    let connection = Connection::over(
        to_client,
        from_client,
        || {},
        log.clone(),
        move |i| {
            let _ = incoming.send(Event::Server(1, i));
        },
    );
    let expected: Vec<Said> = said.clone();
    let server = std::thread::spawn(move || {
        let mut lines = Vec::new();
        for said in expected {
            match said {
                Said::ByServer(line) => {
                    let bytes = format!("{line}\r\n").into_bytes();
                    for part in bytes.chunks(portion) {
                        let _ = server_out.write_all(part);
                    }
                }
                // the client has nothing to say then, or says it later
                Said::ByClient(line) if line == "LOGOUT" || line.is_empty() => {}
                Said::ByClient(_) => lines.extend(hears.recv_timeout(Duration::from_millis(300))),
            }
        }
        drop(server_out);
        lines.extend(hears.try_iter());
        lines
    });
    let settings =
        Settings { id: "alice".into(), game: "test-60-5".into(), ponder: side == 'W', ..settings() };
    let mut memory = Memory::new(Lag::new(0));
    let go_on = || Wish::GoOn;
    let context = Context { settings: &settings, log: &log, events: &events, wish: &go_on };
    let mut session = Session::new(Link::new(context, 1, connection), &mut player);
    session.login(None).unwrap();
    let mut game = ServerGame::new(session.wait_for_summary(|| false).unwrap());
    session.agree().unwrap();
    let result = play(&mut session, &mut game, &mut memory, &mut Statistics::default());
    drop(session);
    (result, game, server.join().unwrap())
}

#[test]
fn recorded_games_are_played_again() {
    for (i, (name, verdicts, reason, _, moves)) in endings().into_iter().enumerate() {
        for (side, color) in [('B', Color::Black), ('W', Color::White)] {
            // whole lines, single bytes, odd pieces
            let portion = [1000, 1, 7][i % 3];
            let (result, game, lines) = replay(name, side, portion);
            if !saw_the_end(name, side) {
                assert!(
                    matches!(result, Err(SessionError::Link(LinkError::Lost(_)))),
                    "{name} {side}: {result:?}"
                );
                continue;
            }
            let outcome = result.unwrap();
            assert_eq!((outcome.verdict, outcome.reason), (verdicts[color.index()], reason), "{name} {side}");
            assert_eq!(game.record.moves.len(), moves, "{name} {side}");
            assert!(lines[0].starts_with("LOGIN alice test-60-5") && lines.contains(&"AGREE".to_string()));
            // whatever the other side did, we have played by the rules
            let mut position = Position::startpos();
            let mut played: Vec<&String> = lines.iter().filter(|l| l.starts_with(['+', '-'])).collect();
            for ply in &game.record.moves {
                let text = csa::move_text(ply.mv);
                if position.side_to_move() == color && !played.is_empty() {
                    assert!(played.remove(0).starts_with(&text), "{name} {side} {text}");
                }
                position.do_move(ply.mv);
            }
            // what was sent last may not have come back, but was legal
            for line in played {
                assert!(csa::read_move(&position, &line[..7]).is_ok(), "{name} {side} {line}");
            }
        }
    }
}

// --- faults ----------------------------------------------------------------------------------------------------------

/// Passes everything on to a port, but cuts connections after random numbers of bytes.
struct Cutter {
    port: u16,
    cuts: Arc<AtomicUsize>,
}

impl Cutter {
    /// Makes at most `cuts` cuts.
    fn start(to: u16, cuts: usize, seed: u64) -> Cutter {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let made = Arc::new(AtomicUsize::new(0));
        let count = made.clone();
        std::thread::spawn(move || {
            let mut rng = Rng::new(seed);
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", to))) else {
                    continue;
                };
                // a summary has about 900 bytes
                let budget = if count.load(Relaxed) < cuts { rng.below(1600) } else { usize::MAX };
                let budget = Arc::new(Mutex::new(budget));
                for (mut from, mut into) in
                    [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)]
                {
                    let (budget, count) = (budget.clone(), count.clone());
                    std::thread::spawn(move || {
                        let mut chunk = [0; 512];
                        while let Ok(n @ 1..) = from.read(&mut chunk) {
                            let mut left = budget.lock().unwrap();
                            let part = n.min(*left);
                            let _ = into.write_all(&chunk[..part]);
                            *left -= part;
                            if part < n {
                                if *left == 0 && part < n && count.load(Relaxed) < cuts {
                                    count.fetch_add(1, Relaxed);
                                }
                                break;
                            }
                        }
                        let _ = from.shutdown(std::net::Shutdown::Both);
                        let _ = into.shutdown(std::net::Shutdown::Both);
                    });
                }
            }
        });
        Cutter { port, cuts: made }
    }
}

#[test]
fn cut_connections_are_reported_and_the_client_comes_back() {
    const CUTS: usize = 12;
    let server = Loopback::start(Rules { max_moves: 30, ..Rules::default() }).unwrap();
    let cutter = Cutter::start(server.port(), CUTS, 5);
    let dir = tempfile::tempdir().unwrap();
    let done = AtomicBool::new(false);
    let tallies = std::thread::scope(|scope| {
        let players = [("steady", server.port()), ("cut", cutter.port)].map(|(name, port)| {
            let (dir, cutter, done) = (dir.path().join(name), &cutter, &done);
            scope.spawn(move || {
                let settings = Settings {
                    port,
                    id: name.into(),
                    game: "fault-60-5".into(),
                    out: dir.clone(),
                    ..settings()
                };
                // until all cuts are made, and then one whole game more
                let wish = || {
                    if name == "cut" && cutter.cuts.load(Relaxed) >= CUTS {
                        let games = std::fs::read_to_string(dir.join("games.jsonl")).unwrap_or_default();
                        done.fetch_or(games.lines().last().is_some_and(|l| l.contains("censored")), Relaxed);
                    }
                    if done.load(Relaxed) { Wish::Leave } else { Wish::GoOn }
                };
                client(&settings, &wish, |send| Box::new(RandomMover::new(7, sink(send))))
            })
        });
        players.map(|p| p.join().unwrap())
    });
    assert_eq!(cutter.cuts.load(Relaxed), CUTS);
    // leaving in the middle of the last game is an error that says so
    for tally in tallies {
        assert!(tally.is_ok() || tally.unwrap_err().to_string().contains("left the game"));
    }
    // every record is whole and legal, and every game that began has one line
    for name in ["steady", "cut"] {
        let (mut files, dir) = (0, dir.path().join(name));
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "csa") {
                let games = csa::read(&std::fs::read_to_string(&path).unwrap());
                assert!(games.unwrap()[0].end.is_some(), "{}", path.display());
                files += 1;
            }
        }
        let lines = std::fs::read_to_string(dir.join("games.jsonl")).unwrap();
        let lines: Vec<serde_json::Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(lines.len(), files, "{name}");
        assert!(lines.iter().any(|l| l["result"] == "censored"), "{name}: a whole game");
        if name == "cut" {
            assert!(lines.iter().any(|l| l["result"].is_null()), "a game that broke off");
        }
    }
}

/// A connection whose other end is ours: what the client says comes out of the receiver.
fn wire(send: &std::sync::mpsc::Sender<Event>) -> (Connection, std::io::PipeWriter, Receiver<String>) {
    let (to_client, server_out) = std::io::pipe().unwrap();
    let (server_in, from_client) = std::io::pipe().unwrap();
    let (heard, hears) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(server_in).lines() {
            let Ok(line) = line else { break };
            let _ = heard.send(line);
        }
    });
    let log = Arc::new(Log::new(Secret::default(), None, Arc::new(Screen::new(true)), "").unwrap());
    let incoming = send.clone();
    let connection = Connection::over(
        to_client,
        from_client,
        || {},
        log,
        move |i: Incoming| {
            let _ = incoming.send(Event::Server(1, i));
        },
    );
    (connection, server_out, hears)
}

const SUMMARY: &str = "BEGIN Game_Summary\nProtocol_Version:1.2\nGame_ID:t+g-60-5+a+b+1\nName+:a\nName-:b\nYour_Turn:+\nDeclaration:Jishogi 1.1\nTo_Move:+\nBEGIN Time\nTime_Unit:1sec\nTotal_Time:60\nByoyomi:5\nEND Time\nBEGIN Position\nPI\n+\nEND Position\nEND Game_Summary\n";

/// A line of a server with something wrong in it.
fn fuzzed(rng: &mut Rng, position: &Position) -> String {
    let moves = position.legal_moves(true);
    let legal = moves.get(rng.below(moves.len().max(1))).map_or("+7776FU".into(), |m| csa::move_text(m.mv));
    let lines = [
        format!("{legal},T1"),
        format!("{legal},T99999999999999999999"),
        format!("{legal},'* 12 -3334FU"),
        "%TORYO".into(),
        "%KACHI,T0".into(),
        "#RESIGN".into(),
        "#NONSENSE".into(),
        "BEGIN Game_Summary".into(),
        "END Game_Summary".into(),
        "BEGIN Position".into(),
        "START:t+g-60-5+a+b+1".into(),
        "REJECT:x by y".into(),
        "LOGIN:incorrect".into(),
        "LOGOUT:completed".into(),
        "##[WHO] +OK".into(),
        "Total_Time:0".into(),
        String::new(),
    ];
    let mut line = lines[rng.below(lines.len())].clone().into_bytes();
    for _ in 0..rng.below(4) {
        let at = rng.below(line.len() + 1);
        match rng.below(4) {
            0 => line.insert(at, rng.below(256) as u8),
            1 if at < line.len() => {
                line.remove(at);
            }
            2 if at < line.len() => line[at] ^= 1 << rng.below(8),
            _ => line.truncate(at),
        }
    }
    String::from_utf8_lossy(&line).replace('\n', " ")
}

#[test]
fn ten_thousand_fuzzed_lines_lead_to_no_illegal_move_and_no_hang() {
    const LINES: usize = 10_000;
    let mut rng = Rng::new(99);
    let (mut sent, mut sessions) = (0, 0);
    while sent < LINES {
        sessions += 1;
        let (send, events) = channel();
        let (connection, mut server, hears) = wire(&send);
        let mut player = RandomMover::new(sessions, sink(&send));
        let settings = settings();
        let log = Log::new(Secret::default(), None, Arc::new(Screen::new(true)), "").unwrap();
        let mut memory = Memory::new(Lag::new(0));
        let go_on = || Wish::GoOn;
        // the whole dialogue is written ahead: the client must not need to be waited for
        let mut text = format!("LOGIN:a OK\n{SUMMARY}START:t+g-60-5+a+b+1\n");
        for _ in 0..1 + rng.below(60) {
            text += &fuzzed(&mut rng, &Position::startpos());
            text.push('\n');
            sent += 1;
        }
        let writer = std::thread::spawn(move || {
            let _ = server.write_all(text.as_bytes());
        });
        let started = Instant::now();
        let context = Context { settings: &settings, log: &log, events: &events, wish: &go_on };
        let mut session = Session::new(Link::new(context, 1, connection), &mut player);
        session.login(None).unwrap();
        let mut game = ServerGame::new(session.wait_for_summary(|| false).unwrap());
        session.agree().unwrap();
        let result = play(&mut session, &mut game, &mut memory, &mut Statistics::default());
        drop(session);
        writer.join().unwrap();
        assert!(started.elapsed() < Duration::from_secs(10), "{result:?}");
        // every move that we sent was legal where we sent it
        let said: Vec<String> = hears.try_iter().collect();
        let mut position = game.summary.root.clone();
        let mut moves = said.iter().filter(|l| l.starts_with(['+', '-']));
        let mut next = moves.next();
        for ply in &game.record.moves {
            if next.is_some_and(|line| csa::read_move(&position, &line[..7]).is_ok()) {
                next = moves.next();
            }
            position.do_move(ply.mv);
        }
        if let Some(line) = next {
            assert!(csa::read_move(&position, &line[..7]).is_ok(), "{line}");
            assert_eq!(moves.next(), None);
        }
    }
}

#[test]
fn fuzzed_summaries_are_rejected_or_understood() {
    let mut rng = Rng::new(3);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..2000 {
        let mut text = SUMMARY.as_bytes().to_vec();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(text.len());
            match rng.below(3) {
                0 => text[at] = rng.below(128) as u8,
                1 => {
                    text.remove(at);
                }
                _ => text.insert(at, b"+-0 P\nFU"[rng.below(8)]),
            }
        }
        let text = format!("{}\nEND Game_Summary\n", String::from_utf8_lossy(&text));
        let mut reader = SummaryReader::default();
        let result = text.lines().skip(1).find_map(|line| reader.line(line).transpose());
        match result.unwrap() {
            Ok(summary) => {
                ServerGame::new(summary);
                good += 1;
            }
            Err(e) => {
                assert!(e.line > 1 && !e.what.is_empty());
                bad += 1;
            }
        }
    }
    assert!(good > 100 && bad > 100, "{good} {bad}");
}

/// Answers a fixed dialogue: for every connection a list of what to wait for and what to say then.
fn scripted_server(connections: Vec<Vec<(&'static str, String)>>) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (heard, hears) = channel();
    std::thread::spawn(move || {
        for script in connections {
            let Ok((stream, _)) = listener.accept() else { return };
            let mut input = BufReader::new(stream.try_clone().unwrap());
            let mut output = stream;
            for (wait_for, say) in script {
                loop {
                    let mut line = String::new();
                    if !matches!(input.read_line(&mut line), Ok(1..)) {
                        break;
                    }
                    let line = line.trim_end().to_string();
                    let found = line.starts_with(wait_for);
                    let _ = heard.send(line);
                    if found {
                        break;
                    }
                }
                let _ = output.write_all(say.as_bytes());
            }
        }
    });
    (port, hears)
}

#[test]
fn a_server_that_allows_it_lets_us_back_into_the_game() {
    let with_token = SUMMARY.replace("END Game_Summary", "Reconnect_Token:0123abcd\nEND Game_Summary");
    let later = with_token.replace("PI\n+\n", "PI\n+\n+7776FU,T2\n-3334FU,T5\n");
    let state = "BEGIN Reconnect_State\nCurrent_Turn:+\nBlack_Time_Remaining_Ms:44000\nWhite_Time_Remaining_Ms:55000\nLast_Move:-3334FU\nEND Reconnect_State\n";
    let (port, hears) = scripted_server(vec![
        vec![
            ("LOGIN", format!("LOGIN:a OK\n{with_token}")),
            ("AGREE", "START:t+g-60-5+a+b+1\n".into()),
            ("+7776FU", "+7776FU,T2\n".into()),
        ],
        vec![
            ("LOGIN", format!("LOGIN:a OK\n{later}{state}")),
            ("+2726FU", "+2726FU,T1\n%TORYO\n#RESIGN\n#WIN\n".into()),
        ],
    ]);
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { port, games: Some(1), out: dir.path().into(), ..settings() };
    let script = ["+7776FU", "+2726FU"].map(String::from).to_vec();
    let tally =
        client(&settings, &|| Wish::GoOn, |send| Box::new(Scripted::new(script, sink(send)))).unwrap();
    assert_eq!((tally.finished, tally.wins, tally.broken), (1, 1, 0));
    let logins: Vec<String> = hears.try_iter().filter(|l| l.starts_with("LOGIN")).collect();
    assert_eq!(logins.len(), 2);
    assert!(logins[1].ends_with(" reconnect:t+g-60-5+a+b+1+0123abcd"), "{logins:?}");
    let text = std::fs::read_to_string(dir.path().join("t+g-60-5+a+b+1.csa")).unwrap();
    let record = csa::read(&text).unwrap().remove(0);
    assert_eq!((record.moves.len(), record.end.unwrap().special), (3, Special::Resign));
    let line = std::fs::read_to_string(dir.path().join("games.jsonl")).unwrap();
    let line: serde_json::Value = serde_json::from_str(line.trim_end()).unwrap();
    assert_eq!((&line["result"], &line["time_left"]), (&"win".into(), &43.0.into()));
}

#[test]
fn a_turn_goes_on_over_a_broken_connection() {
    let token = "Reconnect_Token:0123abcd\nEND Game_Summary";
    let summary = SUMMARY.replace("Total_Time:60\nByoyomi:5", "Total_Time:6\nIncrement:4");
    let summary = summary.replace("END Game_Summary", token);
    // as rshogi's server: what is left holds the increment of the next move, and nothing of the present turn
    let state = "BEGIN Reconnect_State\nCurrent_Turn:+\nBlack_Time_Remaining_Ms:10000\nWhite_Time_Remaining_Ms:10000\nEND Reconnect_State\n";
    let (port, _hears) = scripted_server(vec![
        vec![
            ("LOGIN", format!("LOGIN:a OK\n{summary}")),
            ("AGREE", "START:t+g-60-5+a+b+1\n".into()),
            // the empty line after a while of silence
            ("", String::new()),
        ],
        vec![
            ("LOGIN", format!("LOGIN:a OK\n{summary}{state}")),
            ("+7776FU", "+7776FU,T1\n%TORYO\n#RESIGN\n#WIN\n".into()),
        ],
    ]);
    let dir = tempfile::tempdir().unwrap();
    let keep_alive = Duration::from_millis(500);
    let settings = Settings { port, keep_alive, games: Some(1), out: dir.path().into(), ..settings() };
    let script = ["", "+7776FU"].map(String::from).to_vec();
    let allowances = Arc::default();
    let tally = client(&settings, &|| Wish::GoOn, |send| {
        let mut player = Scripted::new(script, sink(send));
        player.allowances = Arc::clone(&allowances);
        Box::new(player)
    });
    assert_eq!(tally.unwrap().wins, 1);
    let told: Vec<u64> = allowances.lock().unwrap().iter().map(|a| a.time.unwrap()[0]).collect();
    assert!(told.len() == 2 && (9800..=10_000).contains(&told[0]), "{told:?}");
    assert!((5000..=9500).contains(&told[1]), "{told:?}");
}

#[test]
fn clocks_believe_in_no_more_time_than_the_server_gives() {
    let clock = |old: &str, new: &str| {
        let mut reader = SummaryReader::default();
        let text = SUMMARY.replace("Byoyomi:5", "Increment:10").replace(old, new);
        ServerGame::new(text.lines().skip(1).find_map(|line| reader.line(line).unwrap()).unwrap()).clock
    };
    // moves that the game begins with: the Ruby server gives the whole time after them
    let moves = "PI\n+\n+7776FU,T1\n-3334FU,T1\n";
    assert_eq!(clock("PI\n+\n", moves).budget(Color::Black), Some(70_000));
    let charged = moves.replace("FU,T1\n-", "FU,T25\n-");
    assert_eq!(clock("PI\n+\n", &charged).budget(Color::Black), Some(55_000));
    // and no limit where it says nothing but zeros
    let unlimited = clock("Total_Time:60\nIncrement:10", "Total_Time:0\nByoyomi:0\nIncrement:0");
    assert_eq!(unlimited.budget(Color::Black), None);
    assert_eq!(Allowance::of(&unlimited, Color::Black, 0).time, None);
}

/// A USI engine in shell; `start` is what it does first, `more` further cases of its lines.
#[cfg(unix)]
fn shell_engine(dir: &Path, start: &str, more: &str) -> Vec<String> {
    let path = dir.join("engine.sh");
    let script = format!(
        "cd '{}'; {start}\nwhile read -r line; do case \"$line\" in\n{more}\n\
         usi) echo id name shell; echo usiok;;\nisready) echo readyok;;\nquit) exit 0;;\nesac; done\n",
        dir.display()
    );
    std::fs::write(&path, script).unwrap();
    vec!["sh".into(), path.to_string_lossy().into_owned()]
}

#[cfg(unix)]
#[test]
fn a_dead_engine_is_started_again_before_the_next_move() {
    let play = "\"position \"*7g7f*) move=2g2f;;\n\"position \"*) move=7g7f;;\n\"go ponder \"*) ;;\n";
    let cases = [
        // while it waits for a game, after the second `isready`
        (
            "n=0",
            "isready) echo readyok; n=$((n+1)); if [ $n = 2 ] && [ ! -e died ]; then : > died; exit; fi;;\n",
            "",
        ),
        // on the opponent's time without a thought
        ("", "", "; if [ ! -e died ]; then : > died; sleep 0.2; exit; fi"),
        // while it ponders, and then it does not start at the first try
        (
            "if [ -e died ]; then mv died failed; exit 1; fi",
            "\"go ponder\"*) [ -e failed ] || { : > died; exit; };;\n",
            "",
        ),
    ];
    for (start, first, after) in cases {
        let (port, hears) = scripted_server(vec![vec![
            ("LOGIN", "LOGIN:a OK\n".into()),
            // the empty line after a while of silence
            ("", SUMMARY.into()),
            ("AGREE", "START:t+g-60-5+a+b+1\n".into()),
            ("+7776FU", "+7776FU,T1\n".into()),
            ("", "-3334FU,T1\n".into()),
            ("+2726FU", "+2726FU,T1\n%TORYO\n#RESIGN\n#WIN\n".into()),
        ]]);
        let dir = tempfile::tempdir().unwrap();
        let go = format!("{first}{play}\"go \"*) echo bestmove $move ponder 3c3d{after};;");
        let engine = shell_engine(dir.path(), start, &go);
        let keep_alive = Duration::from_millis(400);
        let ponder = first.contains("ponder");
        let out = dir.path().into();
        let settings = Settings { port, keep_alive, ponder, games: Some(1), out, ..settings() };
        let begin = Instant::now();
        let patience = || if begin.elapsed() < Duration::from_secs(10) { Wish::GoOn } else { Wish::Leave };
        let tally = client(&settings, &patience, |send| {
            Box::new(External::new(engine, &[], ponder, sink(send)).unwrap())
        });
        assert_eq!(tally.map(|t| t.wins).map_err(|e| e.to_string()), Ok(1), "{start}{first}{after}");
        assert!(hears.try_iter().any(|line| line.starts_with("+2726FU")));
        assert!(["died", "failed"].iter().any(|name| dir.path().join(name).exists()), "it did not die");
    }
}

/// Black has entered with ten pieces that count 18, and so many pawns in hand.
fn entered(rule: &str, pawns: usize) -> String {
    let pieces = "51OU41KI61KI31GI71GI21NK81NK11NY91NY22RY82UM";
    let board = format!("P+{pieces}{}\nP-59OU\nP-00AL\n+\n", "00FU".repeat(pawns));
    SUMMARY.replace("Declaration:Jishogi 1.1\n", rule).replace("PI\n+\n", &board)
}

#[test]
fn wins_are_declared_by_the_rule_that_the_server_names() {
    let cases = [
        ("Declaration:Jishogi 1.1\n", 10, "%KACHI"),
        ("Entering_King_Rule:CSARule27\n", 10, "%KACHI"),
        ("Entering_King_Rule:CSARule24\n", 13, "%KACHI"),
        ("Entering_King_Rule:CSARule24\n", 10, "+"),
        ("Declaration:Jishogi 1.1\nEntering_King_Rule:NoEnteringKing\n", 13, "+"),
        // the engine's own rule where none is named; it may well win, and resigning does not
        ("", 10, "%KACHI"),
    ];
    for (rule, pawns, expected) in cases {
        let answer = "%KACHI\n#JISHOGI\n#WIN\n".to_string();
        let (port, hears) = scripted_server(vec![vec![
            ("LOGIN", format!("LOGIN:a OK\n{}", entered(rule, pawns))),
            ("AGREE", "START:t+g-60-5+a+b+1\n".into()),
            ("", answer),
        ]]);
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings { port, games: Some(1), out: dir.path().into(), ..settings() };
        let options =
            [("NodesLimit", "50"), ("USI_Hash", "1"), ("Threads", "1"), ("MinimumThinkingTime", "1")];
        let options = options.map(|(name, value)| (name.to_string(), value.to_string()));
        let _ = client(&settings, &|| Wish::GoOn, |send| {
            Box::new(Internal::new(&options, false, sink(send)).unwrap())
        });
        let said: Vec<String> = hears.try_iter().collect();
        assert!(said.last().unwrap().starts_with(expected), "{rule}{pawns}: {said:?}");
    }
}

#[cfg(unix)]
#[test]
fn other_engines_are_told_the_rule_of_declared_wins_unless_the_user_has_chosen() {
    let combo = "usi) echo option name EnteringKingRule type combo default CSARule27 var CSARule24 var CSARule27; echo usiok;;\n\
                 setoption*) echo \"$line\" >> heard;;\n\"go \"*) echo bestmove win;;";
    for (chosen, expected) in [(None, "CSARule24"), (Some("CSARule27"), "CSARule27")] {
        let (port, hears) = scripted_server(vec![vec![
            ("LOGIN", format!("LOGIN:a OK\n{}", entered("Entering_King_Rule:CSARule24\n", 10))),
            ("AGREE", "START:t+g-60-5+a+b+1\n".into()),
            ("%", "%KACHI\n#ILLEGAL_MOVE\n#LOSE\n".into()),
        ]]);
        let dir = tempfile::tempdir().unwrap();
        let engine = shell_engine(dir.path(), "", combo);
        let settings = Settings { port, games: Some(1), out: dir.path().into(), ..settings() };
        let options: Vec<_> =
            chosen.iter().map(|rule| ("enteringkingrule".to_string(), rule.to_string())).collect();
        let tally = client(&settings, &|| Wish::GoOn, |send| {
            Box::new(External::new(engine, &options, false, sink(send)).unwrap())
        });
        assert_eq!(tally.unwrap().losses, 1);
        // resigning would lose as surely
        assert!(hears.try_iter().any(|line| line == "%KACHI"));
        let heard = std::fs::read_to_string(dir.path().join("heard")).unwrap();
        let last = heard.lines().rfind(|l| l.to_lowercase().contains("enteringkingrule"));
        assert!(last.unwrap_or_default().ends_with(expected), "{heard}");
    }
}

#[test]
fn refusals_broken_summaries_and_full_servers() {
    let dir = tempfile::tempdir().unwrap();
    let play = |script| {
        let (port, hears) = scripted_server(script);
        let settings = Settings { port, games: Some(1), out: dir.path().into(), ..settings() };
        let script = vec!["%TORYO".to_string()];
        let result = client(&settings, &|| Wish::GoOn, |send| Box::new(Scripted::new(script, sink(send))));
        (result, hears.try_iter().collect::<Vec<_>>())
    };
    // a wrong password is said at once
    let (result, _) = play(vec![vec![("LOGIN", "LOGIN:incorrect\n".into())]]);
    assert!(result.unwrap_err().to_string().contains("refused"));
    let game = || {
        vec![
            ("LOGIN", format!("LOGIN:a OK\n{SUMMARY}")),
            ("AGREE", "START:t+g-60-5+a+b+1\n".to_string()),
            ("%TORYO", "%TORYO\n#RESIGN\n#LOSE\n".to_string()),
        ]
    };
    // a summary that makes no sense is rejected, a rejected game followed by the next, and a server that is full visited
    // again
    let broken = SUMMARY.replace("Total_Time:60", "Total_Time:6O");
    let (result, said) = play(vec![
        vec![("LOGIN", format!("LOGIN:a OK\n{broken}")), ("REJECT", "REJECT:t by a\n".into())],
        vec![("LOGIN", format!("LOGIN:a OK\n{SUMMARY}")), ("AGREE", "REJECT:t+g-60-5+a+b+1 by b\n".into())],
        vec![("LOGIN", "LOGIN:incorrect rate_limited retry_after=0\n".into())],
        game(),
    ]);
    assert_eq!((result.unwrap().losses, said.iter().filter(|l| *l == "REJECT").count()), (1, 1));
}

/// A server that does something odd to the first connection once it has logged in, or instead, and then plays a game.
fn odd_server(odd: impl FnOnce(&mut TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap();
        std::thread::spawn(move || {
            odd(&mut stream);
            // it stays open
            let _ = stream.read(&mut [0; 1 << 16]);
            std::thread::sleep(Duration::from_secs(60));
        });
        let (mut stream, _) = listener.accept().unwrap();
        for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
            let answer = match line.split(' ').next().unwrap_or_default() {
                "LOGIN" => format!("LOGIN:a OK\n{SUMMARY}"),
                "AGREE" => "START:t+g-60-5+a+b+1\n".into(),
                "%TORYO" => "%TORYO\n#RESIGN\n#LOSE\n".into(),
                _ => continue,
            };
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

/// Slow, half and endless answers end in time, and the next game is played.
#[test]
fn odd_servers_are_left_in_time() {
    let endless = |stream: &mut TcpStream, text: &str| while stream.write_all(text.as_bytes()).is_ok() {};
    let say = |stream: &mut TcpStream, text: &str| drop(stream.write_all(text.as_bytes()));
    let half = &SUMMARY[..SUMMARY.len() / 2];
    type Odd = Box<dyn FnOnce(&mut TcpStream) + Send>;
    let servers: Vec<(&str, Odd)> = vec![
        ("no answer", Box::new(|_| ())),
        ("half an answer", Box::new(move |s| say(s, "LOGIN:a O"))),
        ("other answers", Box::new(move |s| endless(s, "hello\n"))),
        ("no line end", Box::new(move |s| endless(s, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))),
        ("empty lines", Box::new(move |s| endless(s, "\n"))),
        ("bytes", Box::new(move |s| endless(s, "\u{0}\u{1b}[2J\u{fffd}\n"))),
        ("half a summary", Box::new(move |s| say(s, &format!("LOGIN:a OK\n{half}")))),
        (
            "an endless summary",
            Box::new(move |s| {
                say(s, &format!("LOGIN:a OK\n{half}"));
                endless(s, "Name+:a\n");
            }),
        ),
        ("no start", Box::new(move |s| say(s, &format!("LOGIN:a OK\n{SUMMARY}")))),
        (
            "noise before the game",
            Box::new(move |s| {
                say(s, "LOGIN:a OK\n");
                endless(s, "noise\n");
            }),
        ),
        (
            "noise before the start",
            Box::new(move |s| {
                say(s, &format!("LOGIN:a OK\n{SUMMARY}"));
                endless(s, "noise\n");
            }),
        ),
        (
            "noise in the game",
            Box::new(move |s| {
                say(s, &format!("LOGIN:a OK\n{SUMMARY}START:t+g-60-5+a+b+1\n"));
                endless(s, "noise\n");
            }),
        ),
    ];
    std::thread::scope(|scope| {
        for (name, odd) in servers {
            scope.spawn(move || {
                let dir = tempfile::tempdir().unwrap();
                let settings = Settings {
                    port: odd_server(odd),
                    games: Some(1 + u32::from(name == "noise in the game")),
                    out: dir.path().into(),
                    answer: Duration::from_millis(500),
                    ..settings()
                };
                let begun = Instant::now();
                let script = vec!["%TORYO".to_string(); 2];
                let player = |send: &_| Box::new(Scripted::new(script, sink(send))) as Box<dyn Player>;
                let tally = client(&settings, &|| Wish::GoOn, player);
                assert_eq!(tally.unwrap().losses, 1, "{name}");
                assert!(begun.elapsed() < Duration::from_secs(30), "{name}: {:?}", begun.elapsed());
            });
        }
    });
}

/// A server that lets us in and closes at once is asked ever more seldom.
#[test]
fn logins_without_a_game_become_rare() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let begun = Instant::now();
    let (heard, hears) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut line = String::new();
            let _ = BufReader::new(stream.try_clone().unwrap()).read_line(&mut line);
            let _ = (&stream).write_all(b"LOGIN:a OK\n");
            let _ = heard.send(begun.elapsed());
        }
    });
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { port, max_wait: Duration::from_secs(60), out: dir.path().into(), ..settings() };
    let wish = || if begun.elapsed() > Duration::from_millis(3500) { Wish::Leave } else { Wish::GoOn };
    let player = |send: &_| Box::new(Scripted::new(Vec::new(), sink(send))) as Box<dyn Player>;
    client(&settings, &wish, player).unwrap();
    // after 0, 1 and 3 s
    assert!((2..=3).contains(&hears.try_iter().count()));
}

// --- the whole client ------------------------------------------------------------------------------------------------

fn csa_command(args: &[&str], out: &Path) -> Command {
    let mut command = program();
    command.arg("csa").args(args).arg("--out").arg(out);
    for option in
        ["NodesLimit=300", "MinimumThinkingTime=1", "RoundUpToFullSecond=false", "USI_Hash=1", "Threads=1"]
    {
        command.args(["--option", option]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn records(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    entries.filter(|p| p.extension().is_some_and(|e| e == "csa")).collect()
}

#[test]
fn a_dry_run_plays_and_keeps_records() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("dialogue");
    let log = log.to_str().unwrap();
    let args = ["--dry-run", "--games", "2", "--game", "dry-20-1F", "--log", log, "--password", "geheim"];
    let output = csa_command(&args, dir.path()).output().unwrap();
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("2 games: ") && !said.contains("TIME_UP"), "{said}");
    for name in ["first", "second"] {
        let files = records(&dir.path().join(name));
        assert_eq!(files.len(), 2);
        for file in files {
            let record = csa::read(&std::fs::read_to_string(file).unwrap()).unwrap().remove(0);
            assert!(record.moves.len() > 10 && record.end.is_some());
            // we comment on our moves
            let ours = usize::from(record.names[0] != name);
            for (i, ply) in record.moves.iter().enumerate() {
                assert!(ply.time.is_some());
                let commented = ply.comments.iter().any(|c| c.starts_with("* "));
                assert!(commented || i % 2 != ours || ply.comments.is_empty());
            }
            assert!(
                record
                    .moves
                    .iter()
                    .skip(ours)
                    .step_by(2)
                    .any(|p| p.comments.iter().any(|c| c.starts_with("* ")))
            );
        }
        let dialogue = std::fs::read_to_string(dir.path().join(format!("dialogue.{name}.log"))).unwrap();
        assert!(dialogue.contains(" > LOGIN ") && dialogue.contains("***") && !dialogue.contains("geheim"));
    }
    assert!(!said.contains("geheim"));
}

#[test]
fn any_usi_engine_can_play() {
    let dir = tempfile::tempdir().unwrap();
    let engine = format!("'{}'", env!("CARGO_BIN_EXE_toratsugumi"));
    let args = ["--dry-run", "--game", "dry-20-1F", "--engine", &engine, "--resign", "1500"];
    let output = csa_command(&args, dir.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = &records(&dir.path().join("first"))[0];
    let record = csa::read(&std::fs::read_to_string(file).unwrap()).unwrap().remove(0);
    assert!(record.moves.iter().filter(|p| p.comments.iter().any(|c| c.starts_with("* "))).count() > 5);
    // one that is none is said
    let output = csa_command(&["--dry-run", "--engine", "./no-such-engine"], dir.path()).output().unwrap();
    assert!(!output.status.success());
    // and so is an option that cannot be obeyed, by either kind of player
    for more in
        [&["--option", "EvalDir=no-such-network"][..], &["--engine", &engine, "--option", "NoSuchOption=1"]]
    {
        let output = csa_command(&[&["--dry-run"], more].concat(), dir.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{said}");
        assert!(said.contains("no-such-network") || said.contains("no option NoSuchOption"), "{said}");
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-engine"));
    for (option, said) in [
        ("Foo=1", "No such option: Foo"),
        ("USI_Hash=x", "USI_Hash wants a whole number from 1 to 33554432, not `x`"),
    ] {
        let output = csa_command(&["--dry-run", "--option", option], dir.path()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), format!("toratsugumi: {said}\n"));
    }
}

#[cfg(unix)]
#[test]
fn a_signal_ends_after_the_game_and_a_second_one_at_once() {
    let started = |dir: &Path| {
        let mut child =
            csa_command(&["--dry-run", "--games", "100000", "--game", "dry-600-0F"], dir).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|l| l.unwrap().contains("we are")));
        // the rest must not fill the pipe
        std::thread::spawn(move || lines.for_each(drop));
        child
    };
    let dir = tempfile::tempdir().unwrap();
    let mut child = started(dir.path());
    signal(&child, Signal::SIGTERM).unwrap();
    assert!(child.wait().unwrap().success());
    let games = std::fs::read_to_string(dir.path().join("first/games.jsonl")).unwrap();
    assert!(games.lines().all(|l| !l.contains("\"result\":null")), "{games}");
    let dir = tempfile::tempdir().unwrap();
    let mut child = started(dir.path());
    signal(&child, Signal::SIGTERM).unwrap();
    signal(&child, Signal::SIGTERM).unwrap();
    // two signals in a row may count as one; then the game is played to its end
    let deadline = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn illegal_answers_of_an_engine_are_not_sent() {
    let (port, hears) = scripted_server(vec![vec![
        ("LOGIN", format!("LOGIN:a OK\n{SUMMARY}")),
        ("AGREE", "START:t+g-60-5+a+b+1\n".into()),
        ("%TORYO", "%TORYO\n#RESIGN\n#LOSE\n".into()),
    ]]);
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { port, games: Some(1), out: dir.path().into(), ..settings() };
    let script = vec!["+7775FU".to_string()];
    let tally = client(&settings, &|| Wish::GoOn, |send| -> Box<dyn Player> {
        Box::new(Scripted::new(script, sink(send)))
    });
    assert_eq!(tally.unwrap().losses, 1);
    assert!(!hears.try_iter().any(|l| l.starts_with('+')));
}

/// Neither control characters nor the password of a refused login reach standard error.
#[test]
fn a_refusal_is_shown_without_password_and_control_characters() {
    let dir = tempfile::tempdir().unwrap();
    let refusal = "LOGIN:incorrect \u{1b}]0;x\u{7} wrong xhunter2x\n".to_string();
    let (port, _) = scripted_server(vec![vec![("LOGIN", refusal)]]);
    let port = port.to_string();
    let args =
        ["--host", "127.0.0.1", "--port", &port, "--id", "a", "--password", "hunter2", "--game", "g-60-5"];
    let output = csa_command(&args, dir.path()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("login refused") && said.contains("\\u{1b}]0;x\\u{7}"), "{said}");
    assert!(!said.contains("hunter2") && !said.contains('\u{1b}'), "{said}");
}
