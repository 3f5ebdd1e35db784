//! Matches between engines that behave well and badly, through the built binary.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toratsugumi"));
    command.arg("match").stdin(Stdio::null());
    command
}

fn openings(dir: &Path) -> String {
    let path = dir.join("openings.txt");
    let lines = ["7g7f 3c3d", "2g2f 8c8d", "7g7f 8c8d", "2g2f 3c3d", "5g5f 8c8d", "9g9f 3c3d"];
    std::fs::write(&path, lines.map(|l| format!("startpos moves {l}\n")).concat()).unwrap();
    path.to_string_lossy().into_owned()
}

/// An engine written in shell: `answer` is what it does on `go`.
#[cfg(unix)]
fn shell_engine(dir: &Path, name: &str, answer: &str) -> String {
    let path = dir.join(format!("{name}.sh"));
    let script = format!(
        "while read -r word rest; do case \"$word\" in\n\
         usi) echo id name {name}; echo usiok;;\n\
         isready) echo readyok;;\n\
         go) {answer};;\n\
         quit) exit 0;;\n\
         esac; done\n"
    );
    std::fs::write(&path, script).unwrap();
    format!("cmd=sh 'args={}' name={name}", path.display())
}

/// This engine with few nodes and little memory.
fn own(name: &str, more: &str) -> String {
    format!("cmd=self name={name} USI_Hash=1 Threads=1 {more}")
}

fn play(args: &[&str]) -> Value {
    let output = binary().args(args).args(["--json", "--quiet"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn faults_are_counted_named_and_lose() {
    let dir = tempfile::tempdir().unwrap();
    let book = openings(dir.path());
    let good = own("good", "nodes=50");
    for (name, answer, fault) in [
        ("illegal", "echo bestmove 5e5d", "illegal move"),
        ("silent-garbage", "echo bestmove", "illegal move"),
        ("liar", "echo bestmove win", "false declaration"),
        ("crashing", "exit 3", "crash"),
        ("hanging", "sleep 30", "hang"),
        ("slow", "sleep 0.3; echo bestmove 1g1f", "time loss"),
    ] {
        let bad = shell_engine(dir.path(), name, answer);
        let summary = play(&[
            "-e",
            &good,
            "-e",
            &format!("{bad} byoyomi=100"),
            "--openings",
            &book,
            "--games",
            "2",
            "--patience",
            "1s",
            "--margin",
            "50",
        ]);
        let pairing = &summary["pairings"][0];
        assert_eq!((pairing["wins"].as_u64(), pairing["losses"].as_u64()), (Some(2), Some(0)), "{name}");
        assert_eq!(summary["engines"][1]["faults"][fault], 2, "{name}: {summary}");
        assert_eq!(summary["engines"][0]["faults"].as_object().unwrap().len(), 0);
    }
    let quitter = shell_engine(dir.path(), "quitter", "echo bestmove resign");
    let summary = play(&["-e", &good, "-e", &quitter, "--nodes", "1", "--openings", &book, "--games", "2"]);
    assert_eq!(summary["reasons"]["resign"], 2);
}

#[cfg(unix)]
#[test]
fn engines_that_do_not_start_end_the_match_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let mute = shell_engine(dir.path(), "mute", "true").replace("sh ", "false ");
    for (engine, word) in [("cmd=/nonexistent/engine", "cannot start"), (mute.as_str(), "ended")] {
        let output = binary()
            .args(["-e", engine, "-e", &own("good", ""), "--nodes", "1", "--games", "2", "--quiet"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn a_killed_match_resumes_and_ends_as_an_undisturbed_one() {
    let dir = tempfile::tempdir().unwrap();
    let book = openings(dir.path());
    let (a, b) = (own("a", "nodes=300"), own("b", "nodes=100"));
    let args = |out: &str| {
        let out = dir.path().join(out).to_string_lossy().into_owned();
        let words =
            ["-e", &a, "-e", &b, "--openings", &book, "--games", "12", "-j", "2", "--out", &out, "--resume"];
        words.map(String::from)
    };
    let calm = binary().args(args("calm")).args(["--json", "--quiet", "--csa"]).output().unwrap();
    assert!(calm.status.success(), "{}", String::from_utf8_lossy(&calm.stderr));
    for i in 0..6 {
        let mut child = binary().args(args("killed")).arg("--quiet").stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(300 + 100 * i));
        child.kill().unwrap();
        child.wait().unwrap();
        // the kernel gives the lock back a moment after the process is gone
        std::thread::sleep(Duration::from_millis(50));
    }
    let killed = binary().args(args("killed")).args(["--json", "--quiet"]).output().unwrap();
    assert!(killed.status.success(), "{}", String::from_utf8_lossy(&killed.stderr));
    let [calm, killed]: [Value; 2] = [calm, killed].map(|o| serde_json::from_slice(&o.stdout).unwrap());
    assert_eq!(calm["games"], 12);
    assert_eq!(calm["pairings"], killed["pairings"]);
    let games = |name: &str| {
        let text = std::fs::read_to_string(dir.path().join(name).join("games.jsonl")).unwrap();
        let mut games: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        games.sort_by_key(|g| g["game"].as_u64());
        for g in &mut games {
            for ply in g["plies"].as_array_mut().unwrap() {
                ply.as_object_mut().unwrap().remove("t");
            }
        }
        games
    };
    assert!(games("calm") == games("killed"), "the games differ");
    let svg = std::fs::read_to_string(dir.path().join("calm/progress.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert_eq!(std::fs::read_dir(dir.path().join("calm/csa")).unwrap().count(), 12);
    // another match does not go into the same directory
    let output = binary().args(args("calm")).args(["--seed", "9", "--quiet"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("seed"));
}

#[test]
fn a_sequential_test_stops_by_itself_and_three_engines_get_ratings() {
    let dir = tempfile::tempdir().unwrap();
    let book = openings(dir.path());
    let (strong, weak) = (own("strong", "nodes=2000"), own("weak", "nodes=40"));
    let summary = play(&[
        "-e",
        &strong,
        "-e",
        &weak,
        "--openings",
        &book,
        "--games",
        "400",
        "-j",
        "2",
        "--sprt",
        "0,100",
        "--model",
        "logistic",
    ]);
    assert_eq!(summary["ending"], "decided");
    assert_eq!(summary["sprt"]["decision"], "h1");
    assert!(summary["games"].as_u64().unwrap() < 200);
    let middle = own("middle", "nodes=200");
    let summary =
        play(&["-e", &strong, "-e", &weak, "-e", &middle, "--openings", &book, "--games", "6", "-j", "2"]);
    assert_eq!(summary["games"], 18);
    let rating = |i: usize| summary["engines"][i]["rating"].as_f64().unwrap();
    assert!(rating(0) > rating(1));
}
