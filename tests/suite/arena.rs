//! Matches between engines that behave well and badly, through the built binary.

use crate::support::program;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use toratsugumi::nnue::{Architecture, Network};
#[cfg(unix)]
use toratsugumi::usi_client::EngineProcess;

fn binary() -> Command {
    let mut command = program();
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

/// `--log` has the lines in both directions and an engine's last words, by process.
#[cfg(unix)]
#[test]
fn dialogues_are_logged() {
    let dir = tempfile::tempdir().unwrap();
    let book = openings(dir.path());
    let bad = shell_engine(dir.path(), "bad", "echo a last word >&2; exit 3");
    let log = dir.path().join("log.txt");
    std::fs::write(&log, "before\n").unwrap();
    let args = ["-e", &own("good", "nodes=50"), "-e", &format!("{bad} nodes=50"), "--openings", &book];
    play(&[&args[..], &["--games", "2", "--log", log.to_str().unwrap()]].concat());
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.starts_with("before\n"), "{text}");
    let lines: Vec<_> = text.lines().filter_map(|line| line.split_once(' ').map(|(_, rest)| rest)).collect();
    for expected in [
        "good#1 > usi",
        "good#1 < usiok",
        "good#1 = game 1, Black",
        "bad#2 = game 1, White",
        "bad#2 > position startpos moves ",
        "bad#2 ! a last word",
        "bad#3 = game 2, Black",
    ] {
        assert!(lines.iter().any(|line| line.starts_with(expected)), "{expected}: {text}");
    }
}

/// A settings file gives what the command line does not.
#[test]
fn settings_come_from_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let (config, book, out) = (dir.path().join("m.toml"), openings(dir.path()), dir.path().join("out"));
    let out = out.to_str().unwrap();
    let text = format!(
        "games = 4\nnodes = 60\nopenings = '{book}'\nout = '{out}'\ncsa = true\nsprt = '0,5'\n\
         [[engine]]\ncmd = 'self'\nname = 'first one'\nUSI_Hash = 1\n\
         [[engine]]\ncmd = 'self'\nname = 'second'\nUSI_Hash = 1\nnodes = 20\n"
    );
    std::fs::write(&config, &text).unwrap();
    let config = config.to_str().unwrap();
    let summary = play(&["--config", config]);
    let engines = |summary: &Value| -> Vec<String> {
        let engines = summary["settings"]["engines"].as_array().unwrap();
        engines.iter().map(|e| format!("{} {}", e["name"], e["limits"]["nodes"])).collect()
    };
    assert_eq!(engines(&summary), ["\"first one\" null", "\"second\" 20"]);
    assert_eq!((&summary["games"], &summary["settings"]["limits"]["nodes"]), (&4.into(), &60.into()));
    assert_eq!(std::fs::read_dir(dir.path().join("out/csa")).unwrap().count(), 4);
    // the command line has its own engines and number of games, and `alpha` needs `sprt` of the file
    let (a, b, other) = (own("a", ""), own("b", ""), dir.path().join("other"));
    let line = ["-e", &a, "-e", &b, "--games", "2", "--alpha", "0.1", "--out", other.to_str().unwrap()];
    let summary = play(&[&["--config", config], &line[..]].concat());
    assert_eq!(engines(&summary), ["\"a\" null", "\"b\" null"]);
    assert_eq!(summary["games"], 2);
    for (wrong, code, words) in [
        ("gmaes = 2", 1, "m.toml: match has no setting `gmaes`"),
        ("games = 0", 2, "m.toml:\nerror: invalid value '0' for '--games"),
        ("games = ", 1, "m.toml: line 1: "),
        ("games = 2", 1, "[[engine]] in the file of --config"),
        ("[[engine]]\nname = 'x'", 2, "names no command"),
    ] {
        std::fs::write(config, wrong).unwrap();
        let output = binary().args(["--config", config]).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{message}");
        assert!(message.contains(words), "{wrong}: {message}");
    }
}

/// Concurrent games do not share processors.
#[cfg(target_os = "linux")]
#[test]
fn affinity_binds_every_game_to_its_own_processors() {
    let dir = tempfile::tempdir().unwrap();
    let all = std::thread::available_parallelism().unwrap().get();
    let jobs = all.min(2);
    let seen = dir.path().join("seen");
    let look = format!("grep Cpus_allowed: /proc/$$/status >> {}; echo bestmove resign", seen.display());
    let [a, b] = ["a", "b"].map(|name| shell_engine(dir.path(), name, &look));
    let args = ["-e", &a, "-e", &b, "--nodes", "1", "--games", "40", "--affinity", "-j"];
    play(&[&args[..], &[&jobs.to_string()]].concat());
    let text = std::fs::read_to_string(&seen).unwrap();
    let mask = |line: &str| line.split_once('\t').unwrap().1.replace(',', "");
    let masks: std::collections::BTreeSet<u128> =
        text.lines().map(|line| u128::from_str_radix(&mask(line), 16).unwrap()).collect();
    assert_eq!(masks.len(), jobs, "{text}");
    assert_eq!(masks.iter().fold(0, |all, mask| all ^ mask), masks.iter().fold(0, |all, mask| all | mask));
    assert!(masks.iter().all(|mask| mask.count_ones() as usize <= all / jobs));
    let message = refused(&["-e", &a, "-e", &b, "--affinity", "-j", "1024"]);
    assert!(
        message.contains("--affinity: 1024 concurrent games need as many processors; there "),
        "{message}"
    );
    let greedy = own("greedy", "").replace("Threads=1", "Threads=1024");
    let message = refused(&["-e", &a, "-e", &greedy, "--affinity"]);
    assert!(message.contains("--affinity: greedy has Threads=1024, but each game has "), "{message}");
}

#[cfg(unix)]
#[test]
fn faults_lose_and_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let book = openings(dir.path());
    let good = own("good", "nodes=50");
    for (name, answer, fault) in [
        ("illegal", "echo bestmove 5e5d", "illegal move"),
        ("silent-garbage", "echo bestmove", "illegal move"),
        ("liar", "echo bestmove win", "false declaration"),
        ("crashing", "exit 3", "crash"),
        ("hanging", "sleep 30", "hang"),
        ("flooding", "while :; do echo info depth 1 score cp 1 pv 7g7f; done", "hang"),
        ("endless", "while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "hang"),
        ("closing", "exec >&-; sleep 30", "crash"),
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

/// A request to stop does not wait for an engine's move, and blames nobody.
#[cfg(unix)]
#[test]
fn a_match_ends_at_once_when_asked_to() {
    let dir = tempfile::tempdir().unwrap();
    let book = openings(dir.path());
    let slow = shell_engine(dir.path(), "slow", "sleep 60; echo bestmove resign");
    // during a move, and while an engine starts
    for engine in [slow.replace("name=slow", "name=slower"), "cmd=sleep name=mute args=60".to_string()] {
        let out = dir.path().join(if engine.contains("mute") { "start" } else { "move" });
        let mut command = binary();
        command.args(["-e", &slow, "-e", &engine, "--tc", "600+0"]);
        command.args(["--openings", &book, "--games", "2", "--quiet", "--out"]).arg(&out);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(2));
        let asked = std::time::Instant::now();
        crate::support::signal(&child, nix::sys::signal::Signal::SIGTERM).unwrap();
        let status = child.wait().unwrap();
        assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
        assert_eq!(status.code(), Some(75), "{engine}");
        let games = std::fs::read_to_string(out.join("games.jsonl")).unwrap_or_default();
        assert!(!games.contains("\"reason\""), "{games}");
    }
}

#[cfg(unix)]
#[test]
fn engines_that_do_not_start_end_the_match() {
    let dir = tempfile::tempdir().unwrap();
    let mute = shell_engine(dir.path(), "mute", "true").replace("sh ", "false ");
    for (engine, word) in [
        ("cmd=/nonexistent/engine", "cannot start"),
        ("cmd=sh dir=/nonexistent/place", "no directory /nonexistent/place"),
        (mute.as_str(), "ended"),
    ] {
        let output = binary()
            .args(["-e", engine, "-e", &own("good", ""), "--nodes", "1", "--games", "2", "--quiet"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(word), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn children_of_a_wrapper_script_are_killed() {
    // one wrapper that waits for its engine, and one that has ended before
    for last in ["wait", "exit"] {
        let script = format!("sleep 60 & echo usiok; {last}");
        let command = ["sh".to_string(), "-c".into(), script];
        let mut process = EngineProcess::start(&command, None, None, false).unwrap();
        let (send, lines) = std::sync::mpsc::channel();
        process.listen(move |line| drop(send.send(line)));
        drop(process);
        // its output ends when nobody holds it open
        let end = lines.recv_timeout(Duration::from_secs(10));
        assert_eq!(end, Ok(None), "{last}");
    }
}

#[test]
fn a_killed_match_resumes_to_the_same_games() {
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
            g.as_object_mut().unwrap().retain(|key, _| key != "start" && key != "end");
            for ply in g["plies"].as_array_mut().unwrap() {
                // times differ, and only one of the two keeps lines of play for its records
                ply.as_object_mut().unwrap().retain(|key, _| key != "t" && key != "p");
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

/// Networks by their content: another one in the place of the first makes another match.
#[test]
fn a_match_resumes_only_with_the_same_networks() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("nn.bin");
    let save = |text: &str| {
        let kind: Architecture = "kp_256x2-32-32".parse().unwrap();
        Network::new(kind.zeroed().unwrap(), text.into()).save(&path).unwrap();
    };
    let a = own("a", &format!("'EvalDir={}'", dir.path().display()));
    let (b, book, out) = (own("b", ""), openings(dir.path()), dir.path().join("out"));
    let words =
        ["-e", &a, "-e", &b, "--openings", &book, "--nodes", "1", "--games", "2", "--resume", "--quiet"];
    let goes_on = || {
        let output = binary().args(words).arg("--out").arg(&out).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(errors)
    };
    save("fv_scale=16");
    goes_on().unwrap();
    goes_on().unwrap();
    save("fv_scale=24");
    let error = goes_on().unwrap_err();
    assert!(error.contains("match.json was made with other settings (networks.a was "), "{error}");
    // as an older version left it
    let about = out.join("match.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&about).unwrap()).unwrap();
    settings.as_object_mut().unwrap().remove("networks").unwrap();
    std::fs::write(&about, settings.to_string()).unwrap();
    goes_on().unwrap();
}

#[test]
fn sprt_stops_the_match_and_three_engines_get_ratings() {
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
        "1000000000",
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

/// A match that must not begin; what it says on standard error.
fn refused(args: &[&str]) -> String {
    let output = binary().args(args).args(["--nodes", "1", "--games", "2", "--quiet"]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(output.stdout.is_empty());
    message
}

#[test]
fn refused_options_end_the_match_before_the_first_game() {
    let dir = tempfile::tempdir().unwrap();
    let good = own("good", "");
    let empty = dir.path().display().to_string();
    for (option, words) in [
        ("Thread=2".to_string(), ["bad", "no option Thread"]),
        ("Treads=1".into(), ["bad", "no option Treads"]),
        ("Threads=many".into(), ["bad", "Threads wants a whole number"]),
        ("USI_Hash=0".into(), ["bad", "USI_Hash wants a whole number from 1 to"]),
        ("EnteringKingRule=None".into(), ["bad", "EnteringKingRule has no choice `None`"]),
        ("USI_Ponder=yes".into(), ["bad", "USI_Ponder wants true or false"]),
        (format!("EvalDir={empty}"), ["bad", "EvalDir: "]),
    ] {
        let bad = format!("cmd=self name=bad {option}");
        // first, so that it fails before the other one loads its network
        let message = refused(&["-e", &bad, "-e", &good]);
        assert!(words.iter().all(|w| message.contains(w)), "{option}: {message}");
    }
}

#[test]
fn options_out_of_range_or_without_effect_are_errors() {
    for (options, named) in [
        ("--nodes 0", "--nodes"),
        ("--depth 0", "--depth"),
        ("--movetime 0", "--movetime"),
        ("--nodes 1 --games 0", "--games"),
        ("--nodes 1 --games 100000000000", "--games"),
        ("--nodes 1 --max-ply 0", "--max-ply 0"),
        ("--nodes 1 --max-ply 16", "--max-ply 16"),
        ("--nodes 1 --draw 30000 --draw-plies 0", "--draw-plies"),
        ("--nodes 1 --draw-plies 8", "--draw <CP>"),
        ("--nodes 1 --draw-after 8", "--draw <CP>"),
        ("--nodes 1 --alpha 0.1", "--sprt"),
        ("--nodes 1 --beta 0.1", "--sprt"),
        ("--nodes 1 --model logistic", "--sprt"),
        ("--nodes 1 --resign 0 --resign-moves 2", "--resign-moves"),
        ("--byoyomi 0", "byoyomi=0"),
        ("--tc 0+0 --nodes 1", "tc=0+0 nodes=1"),
    ] {
        let out =
            binary().args(["-e", "cmd=self", "-e", "cmd=self"]).args(options.split(' ')).output().unwrap();
        let message = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && message.contains(named), "{options}: {message}");
    }
}

#[cfg(unix)]
#[test]
fn too_few_openings_give_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let quitter = shell_engine(dir.path(), "quitter", "echo bestmove resign");
    let said = |more: &str| {
        let mut command = binary();
        command.args([
            "-e",
            &own("good", ""),
            "-e",
            &quitter,
            "--openings",
            &openings(dir.path()),
            "--quiet",
        ]);
        let output = command.args(more.split(' ')).output().unwrap();
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let warning = said("--nodes 1 --games 14");
    assert!(
        warning.contains("6 different openings for 7 pairs") && warning.lines().count() == 1,
        "{warning}"
    );
    assert_eq!(said("--nodes 1 --games 12"), "");
    assert_eq!(said("--movetime 1 --games 14"), "");
}

/// A shell engine that answers `isready` so.
#[cfg(unix)]
fn complaining(dir: &Path, name: &str, ready: &str) -> String {
    let path = dir.join(format!("{name}.sh"));
    let script = format!(
        "while read -r word rest; do case \"$word\" in\n\
         usi) echo id name {name}; echo option name Hash Size type spin default 1 min 1 max 9; echo usiok;;\n\
         isready) {ready};;\n\
         go) echo bestmove resign;;\n\
         quit) exit 0;;\n\
         esac; done\n"
    );
    std::fs::write(&path, script).unwrap();
    format!("cmd=sh 'args={}' name={name}", path.display())
}

#[cfg(unix)]
#[test]
fn engine_errors_end_the_match_and_remarks_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let good = own("good", "");
    for (name, ready, words) in [
        ("file", "echo 'info string Error! failed to read nn.bin'; exit 1", "failed to read nn.bin"),
        ("option", "echo 'No such option: Hash Size'; echo readyok", "No such option: Hash Size"),
        (
            "escape",
            "printf 'No such\\toption: \\033[2JHash Size\\n'; echo readyok",
            "No such option: \\u{1b}[2JHash Size",
        ),
        ("size", "echo 'info string Hash Size cannot be had'; echo readyok", "Hash Size cannot be had"),
    ] {
        let bad = complaining(dir.path(), name, ready);
        let message = refused(&["-e", &format!("{bad} 'Hash Size=2'"), "-e", &good]);
        assert!(message.contains(name) && message.contains(words), "{message}");
    }
    let calm = complaining(dir.path(), "calm", "echo 'info string Hash Size is 2 MB'; echo readyok");
    let calm = format!("{calm} 'Hash Size=2' USI_Hash=16");
    let summary = play(&["-e", &good, "-e", &calm, "--nodes", "1", "--games", "2"]);
    assert_eq!(summary["reasons"]["resign"], 2);
}

#[test]
fn engines_get_one_thread_by_default() {
    let say = |more: &str| {
        let engines = ["a", "b"].map(|name| format!("cmd=self name={name} USI_Hash=1 nodes=1 {more}"));
        let output = binary().args(["-e", &engines[0], "-e", &engines[1], "--games", "2"]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let default = say("");
    assert!(default.contains("a: Threads=1") && default.contains("b: Threads=1"), "{default}");
    let two = say("Threads=2");
    assert!(two.contains("a: Threads=2 with a node limit") && !two.contains("Threads=1"), "{two}");
}

#[cfg(unix)]
#[test]
fn a_match_of_wins_only_has_a_one_sided_bound() {
    let dir = tempfile::tempdir().unwrap();
    let quitter = shell_engine(dir.path(), "quitter", "echo bestmove resign");
    let args = ["-e", &own("good", ""), "-e", &quitter, "--nodes", "1", "--games", "20"];
    let estimate = &play(&args)["pairings"][0]["estimate"];
    // ten pairs won: 0.05^(1/10) of the points at least
    assert!((estimate["low"].as_f64().unwrap() - 182.7).abs() < 0.1, "{estimate}");
    assert!(estimate["high"].is_null() && estimate["elo"].is_null(), "{estimate}");
    let output = binary().args(args).arg("--quiet").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("100.0 %, Elo above +182.7 (95 %, one-sided), LOS 99.95 %"), "{text}");
}

#[test]
fn csa_records_have_event_dates_limits_and_lines_of_play() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let (a, b) = (own("A", "nodes=500"), own("B", "byoyomi=20000 depth=5"));
    play(&["-e", &a, "-e", &b, "--games", "2", "--max-ply", "30", "--csa", "--out", out.to_str().unwrap()]);
    let text = std::fs::read_to_string(out.join("csa/000001.csa")).unwrap();
    for part in
        ["\n$EVENT:A - B, game 1\n", "\n$START_TIME:20", "\n$END_TIME:20", "\n$TIME-:0+20+0\n", "nodes=500"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // a score, and a line of play that begins with the reply
    let mut lines = text.lines();
    let with_line = lines.find(|l| l.starts_with("'** ") && l.split(' ').count() > 3).unwrap();
    assert!(with_line.split(' ').skip(2).all(|m| m.len() == 7 && m.starts_with(['+', '-'])), "{with_line}");
    let record = toratsugumi::record::csa::read(&text).unwrap().remove(0);
    assert_eq!(record.header("MAX_MOVES"), Some("30"));
}

#[test]
fn made_openings_are_balanced_and_deterministic() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("lines.txt");
    let make = |more: &[&str]| {
        let mut command = program();
        command.arg("openings").arg("--out").arg(&path).args([
            "--quiet",
            "--nodes",
            "500",
            "--move-nodes",
            "50",
        ]);
        command.args(["--count", "3", "--min-plies", "4", "--max-plies", "6"]).args(more);
        command.output().unwrap()
    };
    assert!(make(&[]).status.success());
    let first = std::fs::read_to_string(&path).unwrap();
    let openings = toratsugumi::record::openings::Opening::read_file(&path).unwrap();
    assert_eq!(openings.len(), 3);
    assert!(openings.iter().all(|o| [4, 6].contains(&o.moves.len()) && !o.position().in_check()));
    let refused = make(&[]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--force"), "an old file is not lost");
    assert!(make(&["--force"]).status.success());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), first);
    assert!(make(&["--force", "--seed", "2"]).status.success());
    assert_ne!(std::fs::read_to_string(&path).unwrap(), first);
}
