//! Two runs on the same files: the second is refused by the name of the file and of the process that has it.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A first run of each command, which takes minutes, and the file that the second run is refused for. The words are
/// separated by spaces.
const RUNS: &[(&str, &str)] = &[
    ("match -e self -e self --nodes 100000000 --games 2 --out out --resume -q", "out/games.jsonl"),
    ("book think -o a.db --grow 2 --nodes 100000000 --hash 1 --threads 1 -q", "a.db.journal"),
    ("mate start.sfen --time 100000 --hash 1 --resume done.jsonl", "done.jsonl"),
    ("analyse start.usi --nodes 100000000 --hash 1 --threads 1 --out-dir .", "start.analysis"),
    ("data label a.psv -o b.psv --nodes 100000000 --hash 1 --threads 1 -q", "b.psv"),
    ("learn --dir loop -q", "loop/generations.jsonl"),
    ("datagen --out games --games 9 --nodes 100000000 --threads 1 -q", "games/shard-00000-of-00001"),
    ("train a.psv --out net --batch 128 --epochs 100000 -q", "net/train"),
    #[cfg(feature = "tune")]
    ("tune --out tuning --threads 1 --nodes 100000000 -q", "tuning/tune.json"),
];

fn command(line: &str, dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toratsugumi"));
    command.args(line.split(' ')).current_dir(dir).stdin(Stdio::null());
    command
}

fn output(line: &str, dir: &Path) -> Output {
    command(line, dir).output().unwrap()
}

#[test]
fn a_second_run_on_the_same_files_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    // Microcosmos: 1,525 plies, which no table of a megabyte holds
    let sfen =
        "g1+P1k1+P+P+L/1p3P3/+R+p2pp1pl/1NNsg+p2+R/+b+nL+P1+p3/1P3ssP1/2P1+Ps2N/4+P1P1L/+B5G1g b - 1\n";
    std::fs::write(dir.join("start.sfen"), sfen).unwrap();
    std::fs::write(dir.join("start.usi"), "startpos moves 7g7f 3c3d\n").unwrap();
    assert!(output("datagen --out made --games 30 --nodes 1 --hash 1 -q", dir).status.success());
    assert!(output("data convert made -o a.psv", dir).status.success());
    for (line, file) in RUNS {
        let mut first = command(line, dir).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (lock, begin) = (dir.join(format!("{file}.lock")), Instant::now());
        let process = format!("process {}", first.id());
        while !std::fs::read_to_string(&lock).is_ok_and(|text| text.contains(&process)) {
            assert!(begin.elapsed() < Duration::from_secs(60), "{line}: no {file}.lock");
            assert_eq!(first.try_wait().unwrap(), None, "{line}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let second = output(line, dir);
        first.kill().unwrap();
        first.wait().unwrap();
        let error = String::from_utf8_lossy(&second.stderr);
        let expected = format!("{file} is in use by {process}");
        assert!(second.status.code() == Some(1) && error.contains(&expected), "{line}: {error}");
    }
}
