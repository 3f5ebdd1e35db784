//! Our client against the Ruby shogi-server. The tests are ignored because they need it: set `TORATSUGUMI_SHOGI_SERVER`
//! to its folder (it needs `ruby` with WEBrick) and run `cargo test --test suite csa_server:: -- --ignored`.

use crate::support::{RandomMover, Scripted, client, settings, sink};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use toratsugumi::csa::client::Tally;
use toratsugumi::csa::link::Wish;
use toratsugumi::csa::player::Player;
use toratsugumi::csa::settings::Settings;
use toratsugumi::record::csa;

/// A server on 127.0.0.1, in a directory of its own.
struct Server {
    dir: tempfile::TempDir,
    port: u16,
    child: Child,
}

impl Server {
    fn start() -> Server {
        let folder = std::env::var_os("TORATSUGUMI_SHOGI_SERVER")
            .expect("TORATSUGUMI_SHOGI_SERVER is the folder of a shogi-server");
        let dir = tempfile::tempdir().unwrap();
        copy(Path::new(&folder), dir.path());
        // nobody else is to reach it
        let script = dir.path().join("shogi-server");
        let text = fs::read_to_string(&script).unwrap();
        assert!(text.contains("\"0.0.0.0\""), "this version binds elsewhere");
        fs::write(&script, text.replace("\"0.0.0.0\"", "\"127.0.0.1\"")).unwrap();
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let child = run(dir.path(), port);
        Server { dir, port, child }
    }

    fn restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = run(self.dir.path(), self.port);
    }

    /// The record that the server keeps of the only game between two players.
    fn record(&self, black: &str, white: &str) -> String {
        let mut found = Vec::new();
        files(self.dir.path(), &mut found);
        let part = format!("+{black}+{white}+");
        let file = found
            .iter()
            .find(|p| p.to_string_lossy().contains(&part) && p.extension().is_some_and(|e| e == "csa"));
        // the last lines are written after the clients are told
        let file = file.unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let text = fs::read_to_string(file).unwrap();
            if text.contains("$END_TIME") || Instant::now() > deadline {
                return text;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(dir: &Path, port: u16) -> Child {
    let log = fs::File::create(dir.join("log")).unwrap();
    let child = Command::new("ruby")
        .args(["-I.", "./shogi-server", "--max-moves", "512", "test", &port.to_string()])
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < deadline, "{}", fs::read_to_string(dir.join("log")).unwrap());
        std::thread::sleep(Duration::from_millis(50));
    }
    child
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_name() == ".git" {
        } else if entry.file_type().unwrap().is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&entry.path(), &target);
        } else if entry.file_type().unwrap().is_file() {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// What one side said in a recorded dialogue.
fn script(name: &str, side: char) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/csa_transcripts").join(name);
    let text = fs::read_to_string(path).unwrap();
    let mark = format!(" {side} > b");
    let said = text.lines().filter_map(|l| l.split_once(&mark)).map(|(_, line)| line);
    let said = said.map(|line| line.trim_matches(['"', '\'']).trim_end_matches("\\n").to_string());
    said.filter(|line| line.starts_with(['+', '-', '%'])).collect()
}

type Make<'a> =
    Box<dyn FnOnce(&std::sync::mpsc::Sender<toratsugumi::csa::link::Event>) -> Box<dyn Player> + Send + 'a>;

/// One game of two clients; what both make of it.
fn game(
    server: &Server,
    names: [&str; 2],
    clock: &str,
    players: [Make<'_>; 2],
) -> [(Tally, serde_json::Value); 2] {
    let out = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for ((name, color), make) in names.into_iter().zip(["B", "W"]).zip(players) {
            let settings = Settings {
                port: server.port,
                id: name.into(),
                game: format!("test-{clock}-{color}"),
                games: Some(1),
                out: out.path().join(name),
                ..settings()
            };
            threads.push(scope.spawn(move || {
                let tally = client(&settings, &|| Wish::GoOn, make).unwrap();
                let line = fs::read_to_string(settings.out.join("games.jsonl")).unwrap();
                (tally, serde_json::from_str(line.trim_end()).unwrap())
            }));
        }
        let results: Vec<_> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        results.try_into().unwrap()
    })
}

fn scripted<'a>(script: Vec<String>, delay: Duration) -> Make<'a> {
    Box::new(move |send| {
        let mut player = Scripted::new(script, sink(send));
        player.delay = delay;
        Box::new(player)
    })
}

#[test]
#[ignore = "needs a shogi-server: TORATSUGUMI_SHOGI_SERVER"]
fn the_rules_beyond_the_single_move() {
    let server = Server::start();
    // dialogue, Black's and White's result, reason, what the server's summary says
    let cases = [
        ("ruby_06_oute_sennichite.txt", ["lose", "win"], "OUTE_SENNICHITE", "oute_sennichite"),
        ("ruby_18_oute_sennichite2.txt", ["win", "lose"], "OUTE_SENNICHITE", "oute_sennichite"),
        ("ruby_05_sennichite.txt", ["draw", "draw"], "SENNICHITE", "sennichite"),
        ("ruby_16_kachi_win.txt", ["lose", "win"], "JISHOGI", "kachi"),
        ("ruby_01_resign.txt", ["win", "lose"], "RESIGN", "toryo"),
    ];
    for (i, (name, results, reason, summary)) in cases.into_iter().enumerate() {
        let names = [format!("black{i}"), format!("white{i}")];
        let names = names.each_ref().map(String::as_str);
        let players = ['B', 'W'].map(|side| scripted(script(name, side), Duration::ZERO));
        let [(_, black), (_, white)] = game(&server, names, "60-5", players);
        assert_eq!([&black["result"], &white["result"]], results, "{name}");
        assert_eq!([&black["reason"], &white["reason"]], [reason; 2], "{name}");
        let record = server.record(names[0], names[1]);
        assert!(record.contains(&format!("'summary:{summary}")), "{name}: {record}");
        // the server's record reads, and has the moves that we have
        let read = csa::read(&record).unwrap().remove(0);
        assert_eq!(black["plies"], read.moves.len(), "{name}");
    }
}

#[test]
#[ignore = "needs a shogi-server: TORATSUGUMI_SHOGI_SERVER"]
fn a_fallen_flag() {
    let server = Server::start();
    let late = scripted(vec!["+7776FU".into(), "+2726FU".into()], Duration::from_millis(3500));
    let quick = scripted(vec!["-3334FU".into()], Duration::ZERO);
    // the first move costs three of four seconds, the second is too late
    let [(_, black), (_, white)] = game(&server, ["late", "quick"], "4-0", [late, quick]);
    assert_eq!((&black["result"], &white["result"]), (&"lose".into(), &"win".into()));
    assert_eq!([&black["reason"], &white["reason"]], ["TIME_UP"; 2]);
    assert!(server.record("late", "quick").contains("'summary:time up"));
}

/// An opponent that plays one legal move and then says what no client of ours would.
fn foul(port: u16, line: &str) {
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut output = stream.try_clone().unwrap();
    writeln!(output, "LOGIN foul test-60-5-B").unwrap();
    let mut moves = ["+7776FU", line].into_iter();
    for heard in BufReader::new(stream).lines().map_while(Result::ok) {
        if heard == "END Game_Summary" {
            writeln!(output, "AGREE").unwrap();
        }
        if heard.starts_with("START") || heard.starts_with('-') && heard.contains(",T") {
            writeln!(output, "{}", moves.next().unwrap_or("%TORYO")).unwrap();
        }
        if heard.starts_with("#LOSE") || heard.starts_with("#WIN") {
            return;
        }
    }
}

#[test]
#[ignore = "needs a shogi-server: TORATSUGUMI_SHOGI_SERVER"]
fn illegal_moves_of_the_opponent_win() {
    let server = Server::start();
    for line in ["+0055FU", "+8899KA", "%KACHI", "%CHUDAN"] {
        let out = tempfile::tempdir().unwrap();
        let settings = Settings {
            port: server.port,
            id: "fair".into(),
            game: "test-60-5-W".into(),
            games: Some(1),
            out: out.path().into(),
            ..settings()
        };
        let tally = std::thread::scope(|scope| {
            scope.spawn(|| foul(server.port, line));
            client(&settings, &|| Wish::GoOn, |send| Box::new(RandomMover::new(1, sink(send)))).unwrap()
        });
        assert_eq!((tally.wins, tally.finished), (1, 1), "{line}");
        let game = fs::read_to_string(out.path().join("games.jsonl")).unwrap();
        assert!(game.contains("\"reason\":\"ILLEGAL_MOVE\""), "{line}: {game}");
    }
}

#[test]
#[ignore = "needs a shogi-server: TORATSUGUMI_SHOGI_SERVER"]
fn a_server_that_dies_and_comes_back() {
    let mut server = Server::start();
    let out = tempfile::tempdir().unwrap();
    let port = server.port;
    let tallies = std::thread::scope(|scope| {
        let threads = [("alice", "B"), ("bob", "W")].map(|(name, color)| {
            let settings = Settings {
                port,
                id: name.into(),
                game: format!("test-600-5-{color}"),
                games: Some(2),
                out: out.path().join(name),
                ..settings()
            };
            // the server dies before White's first reply; then comes a whole game
            let moves: &[&str] = match name {
                "alice" => &["+7776FU", "+7776FU", "%TORYO"],
                _ => &["-3334FU", "-3334FU"],
            };
            let moves: Vec<String> = moves.iter().map(|m| m.to_string()).collect();
            scope.spawn(move || {
                client(&settings, &|| Wish::GoOn, |send| {
                    let mut player = Scripted::new(moves, sink(send));
                    player.delay = Duration::from_millis(if name == "alice" { 100 } else { 2000 });
                    Box::new(player)
                })
            })
        });
        std::thread::sleep(Duration::from_millis(1500));
        server.restart();
        threads.map(|t| t.join().unwrap().unwrap())
    });
    for tally in tallies {
        assert_eq!((tally.broken, tally.finished), (1, 1), "{tally:?}");
    }
}
