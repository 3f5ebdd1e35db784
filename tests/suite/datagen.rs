//! Self-play data do not depend on how they came about: threads, shards, kills.

use crate::support::program;
#[cfg(unix)]
use crate::support::{Signal, signal};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use toratsugumi::data::psv::PackedSfenValue;
use toratsugumi::data::{GameReader, GameRecord};

const GAMES: u64 = 24;

/// A run of small games into `dir`.
fn datagen(dir: &Path, more: &[&str]) -> Command {
    let mut command = program();
    command.args(["datagen", "--quiet", "--seed", "7", "--nodes", "60", "--hash", "1", "--flush-every", "0"]);
    command.args(["--out"]).arg(dir).args(more).stdin(Stdio::null());
    command
}

fn run(dir: &Path, more: &[&str]) -> i32 {
    datagen(dir, more).status().unwrap().code().expect("ended by itself")
}

fn file(dir: &Path, shard: &str) -> PathBuf {
    dir.join(format!("shard-{shard}.games"))
}

fn games(path: &Path) -> Vec<GameRecord> {
    GameReader::open(path).unwrap().map(|g| g.unwrap()).collect()
}

fn all_games() -> String {
    GAMES.to_string()
}

#[test]
fn games_do_not_depend_on_threads_or_shards() {
    let dir = tempfile::tempdir().unwrap();
    let [one, three, shards] = ["one", "three", "shards"].map(|d| dir.path().join(d));
    assert_eq!(run(&one, &["--games", &all_games(), "--threads", "1"]), 0);
    assert_eq!(run(&three, &["--games", &all_games(), "--threads", "3"]), 0);
    let whole = file(&one, "00000-of-00001");
    assert_eq!(std::fs::read(&whole).unwrap(), std::fs::read(file(&three, "00000-of-00001")).unwrap());
    let mut merged = Vec::new();
    for shard in ["0/2", "1/2"] {
        assert_eq!(run(&shards, &["--games", &all_games(), "--shard", shard]), 0);
    }
    merged.extend(games(&file(&shards, "00000-of-00002")));
    merged.extend(games(&file(&shards, "00001-of-00002")));
    merged.sort_by_key(|g| g.id);
    // and the tool that merges them writes the very file
    let both = dir.path().join("both.games");
    let status =
        program().args(["data", "merge", "--output"]).args([&both, &shards]).stdout(Stdio::null()).status();
    assert!(status.unwrap().success());
    assert_eq!(std::fs::read(&whole).unwrap(), std::fs::read(both).unwrap());
    let undisturbed = games(&whole);
    assert_eq!(undisturbed.len() as u64, GAMES);
    assert_eq!(merged, undisturbed);
    for game in &undisturbed {
        let mut plies = 0;
        game.replay(|pos, ply, m| {
            plies += 1;
            if ply.fit {
                assert!(
                    !pos.in_check() && !pos.is_capture(m) && !m.is_promotion() && ply.score.abs() <= 3000
                );
            }
        })
        .unwrap();
        assert_eq!(plies, game.plies.len());
    }
}

/// Kills the run ten times, in whatever it is doing, and lets it go on every time.
fn disturbed(dir: &Path, kill: impl Fn(&mut Child)) {
    disturbed_with(dir, &["--games", &all_games(), "--threads", "2"], kill);
}

fn disturbed_with(dir: &Path, more: &[&str], kill: impl Fn(&mut Child)) {
    let limits = [more, &["--resume"]].concat();
    for i in 0..6 {
        let mut child = datagen(dir, &limits).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(150 + 70 * i));
        kill(&mut child);
        child.wait().unwrap();
    }
    assert_eq!(run(dir, &limits), 0);
}

#[test]
fn killed_runs_resume_to_the_same_games() {
    let dir = tempfile::tempdir().unwrap();
    let [calm, killed] = ["calm", "killed"].map(|d| dir.path().join(d));
    assert_eq!(run(&calm, &["--games", &all_games()]), 0);
    disturbed(&killed, |child| child.kill().unwrap());
    let name = "00000-of-00001";
    assert_eq!(std::fs::read(file(&calm, name)).unwrap(), std::fs::read(file(&killed, name)).unwrap());
    assert!(!killed.join("shard-00000-of-00001.part").exists());
}

#[test]
fn trees_do_not_change_the_games() {
    let dir = tempfile::tempdir().unwrap();
    let [plain, calm, killed] = ["plain", "calm", "killed"].map(|d| dir.path().join(d));
    let games_asked = ["--games", &all_games()];
    let with_trees = [&games_asked[..], &["--trees", "3", "--threads", "2"]].concat();
    assert_eq!(run(&plain, &games_asked), 0);
    assert_eq!(run(&calm, &with_trees), 0);
    disturbed_with(&killed, &with_trees, |child| child.kill().unwrap());
    let bytes =
        |dir: &Path, ending: &str| std::fs::read(dir.join(format!("shard-00000-of-00001.{ending}"))).unwrap();
    let name = "00000-of-00001";
    assert_eq!(games(&file(&plain, name)), games(&file(&calm, name)));
    assert!(bytes(&calm, "games") == bytes(&killed, "games"));
    let trees = bytes(&calm, "psv");
    assert!(trees == bytes(&killed, "psv"));
    assert!(!killed.join("shard-00000-of-00001.trees").exists());

    let searches: usize = games(&file(&calm, name)).iter().map(|g| g.plies.len()).sum();
    let records = trees.as_chunks::<{ PackedSfenValue::LEN }>().0;
    assert!(records.len() > 100 && records.len() <= 3 * searches, "{} of {searches}", records.len());
    for record in records {
        let record = PackedSfenValue::from_bytes(record).unwrap();
        let pos = record.sfen.position(u32::from(record.ply)).unwrap();
        assert!(!pos.in_check() && record.result.abs() <= 1);
    }
    let mut verify = program();
    let output = verify.args(["data", "verify"]).arg(&calm).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && said.contains("without a move, all in order"), "{said}");
    // a file that was lost is not complete
    std::fs::write(calm.join("shard-00000-of-00001.psv"), &trees[..40]).unwrap();
    assert_eq!(run(&calm, &with_trees), 1);
    // other trees, other files
    assert_eq!(run(&plain, &[&games_asked[..], &["--trees", "2", "--resume"]].concat()), 1);
}

/// Waits until the file has so many bytes; says how many.
#[cfg(unix)]
fn wait_for(part: &Path, bytes: u64) -> u64 {
    for _ in 0..1200 {
        match std::fs::metadata(part) {
            Ok(m) if m.len() >= bytes => return m.len(),
            _ => std::thread::sleep(Duration::from_millis(50)),
        }
    }
    panic!("{} has not become longer within a minute", part.display());
}

/// `nohup` and a script's `&` protect a run, as they do any program.
#[cfg(unix)]
#[test]
fn signals_ignored_at_start_remain_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let plain = datagen(dir.path(), &["--positions", "1000000000", "--threads", "1"]);
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' HUP INT; exec \"$0\" \"$@\""])
        .arg(plain.get_program())
        .args(plain.get_args());
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let part = dir.path().join("shard-00000-of-00001.part");
    let begun = wait_for(&part, 33);
    signal(&child, Signal::SIGHUP).unwrap();
    signal(&child, Signal::SIGINT).unwrap();
    // a run that was told to stop would write the game under way and no more
    let gone_on = wait_for(&part, begun + 1);
    wait_for(&part, gone_on + 2000);
    signal(&child, Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(75));
}

#[cfg(unix)]
#[test]
fn sigterm_saves_and_exits_75() {
    let dir = tempfile::tempdir().unwrap();
    let [calm, stopped] = ["calm", "stopped"].map(|d| dir.path().join(d));
    assert_eq!(run(&calm, &["--games", &all_games()]), 0);
    let term = |child: &mut Child| signal(child, Signal::SIGTERM).unwrap();
    disturbed(&stopped, term);
    let name = "00000-of-00001";
    assert_eq!(std::fs::read(file(&calm, name)).unwrap(), std::fs::read(file(&stopped, name)).unwrap());

    let endless = dir.path().join("endless");
    let mut child = datagen(&endless, &["--positions", "1000000000"]).spawn().unwrap();
    let part = endless.join("shard-00000-of-00001.part");
    wait_for(&part, 33);
    term(&mut child);
    assert_eq!(child.wait().unwrap().code(), Some(75));
    assert!(!games(&part).is_empty());
}

/// Games are written in order: those of the second series wait for the first to end, and a stop tells of them.
#[cfg(unix)]
#[test]
fn a_stop_reports_unwritten_games() {
    let dir = tempfile::tempdir().unwrap();
    let loud =
        datagen(dir.path(), &["--games", "2000", "--series", "1000", "--threads", "2", "--grace", "0"]);
    let mut command = Command::new(loud.get_program());
    command.args(loud.get_args().filter(|word| *word != "--quiet"));
    let child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&dir.path().join("shard-00000-of-00001.part"), 2000);
    signal(&child, Signal::SIGTERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(75), "{said}");
    assert!(said.contains("finished games that are not written, "), "{said}");
}

#[test]
fn finished_shards_are_skipped_and_other_settings_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(run(dir.path(), &["--positions", "300", "--threads", "2"]), 0);
    let path = file(dir.path(), "00000-of-00001");
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    let plies = games(&path).iter().map(|g| g.plies.len()).sum::<usize>();
    assert!(plies >= 300);
    assert_eq!(run(dir.path(), &["--positions", "300"]), 0);
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, "").unwrap();
    let output = datagen(dir.path(), &["--positions", "300"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(path.to_str().unwrap()) && message.contains("0 bytes"), "{message}");
    std::fs::write(&path, whole).unwrap();
    let output = datagen(dir.path(), &["--positions", "300", "--max-ply", "100"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("settings.max_ply was 320, now 100"), "{message}");
    assert_eq!(run(dir.path(), &["--positions", "300", "--shard", "0/2"]), 1);
    // a complete shard grows only when told to, into what a larger run makes at once
    assert_eq!(run(dir.path(), &["--positions", "900"]), 1);
    assert_eq!(run(dir.path(), &["--positions", "900", "--resume"]), 0);
    let at_once = tempfile::tempdir().unwrap();
    assert_eq!(run(at_once.path(), &["--positions", "900"]), 0);
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(file(at_once.path(), "00000-of-00001")).unwrap());
}

#[test]
fn an_opening_without_a_king_is_refused_before_the_first_game() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lines.txt");
    std::fs::write(&file, "startpos\nsfen 4k4/9/4P4/9/9/9/9/9/9 b G 1\n").unwrap();
    let out = dir.path().join("run");
    let file = file.to_str().unwrap();
    let output = datagen(&out, &["--games", "2", "--openings", file]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains(file) && message.contains("4k4/9/4P4") && message.lines().count() == 1,
        "{message}"
    );
    assert!(!out.exists());
}

#[test]
fn too_many_random_moves_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for plies in ["5000", "9-4", "4-101"] {
        assert_eq!(run(dir.path(), &["--random-plies", plies]), 2, "{plies}");
    }
    let out = dir.path().join("run");
    let positions = ["--positions", "100"];
    for more in [&["--max-ply", "8"] as &[&str], &["--max-ply", "4", "--random-plies", "4"]] {
        let output = datagen(&out, &[&positions, more].concat()).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("leaves no move to search") && message.lines().count() == 1, "{message}");
    }
    for wrong in [
        "--max-ply=0",
        "--multipv=0",
        "--multipv-margin=-500",
        "--balance=-1",
        "--decided-plies=0",
        "--decided-score=-100",
        "--fit-score=-1",
    ] {
        assert_eq!(run(&out, &[&positions[..], &[wrong]].concat()), 2, "{wrong}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

/// `/dev/full` takes a file's name and no byte.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_error_that_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let part = dir.path().join("shard-00000-of-00001.part");
    std::os::unix::fs::symlink("/dev/full", &part).unwrap();
    let output = datagen(dir.path(), &["--games", "2", "--resume"]).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains(part.to_str().unwrap()) && message.contains("No space left"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(!message.contains("panicked"));

    let data = |args: &[&str]| {
        let output = program().arg("data").args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let good = dir.path().join("good");
    assert_eq!(run(&good, &["--games", "2"]), 0);
    let full = dir.path().join("full.psv");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let message = data(&["convert", "--output", full.to_str().unwrap(), good.to_str().unwrap()]);
    assert!(message.contains("No space left") && message.lines().count() == 1, "{message}");
    assert!(message.contains("/dev/full") || message.contains("full.psv"), "{message}");
    // what is not there is named, too
    let message = data(&["stats", "no-such.games"]);
    assert!(message.contains("no-such.games") && message.lines().count() == 1, "{message}");
}

/// A directory stands for the files of finished runs; that others lie there is said, and alone they are an error.
#[test]
fn unfinished_files_in_a_directory_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(run(dir.path(), &["--games", "1"]), 0);
    let [whole, part] = ["shard-00000-of-00001.games", "other.part"].map(|name| dir.path().join(name));
    std::fs::copy(&whole, &part).unwrap();
    let program = |args: &[&str]| {
        let mut command = program();
        let output = command.args(args).arg(dir.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = program(&["data", "stats"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("other.part: left out") && said.lines().count() == 1, "{said}");
    std::fs::remove_file(&whole).unwrap();
    let out = dir.path().join("out");
    for command in [&["data", "stats"] as &[&str], &["train", "--out", out.to_str().unwrap()]] {
        let (code, said) = program(command);
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("other.part: left out") && said.contains("no training records"), "{said}");
    }
    assert!(!out.exists());
}
