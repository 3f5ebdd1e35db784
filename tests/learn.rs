//! The learning loop: a kill at any moment changes nothing, and shards may be made elsewhere.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A loop so small that a generation takes seconds.
const SMALL: &str = r#"
network = "bootstrap"
threads = 2
[generate]
positions = 2500
nodes = 30
SHARDS
[train]
passes = 2
batch = 256
warmup = 5
memory = 64
[judge]
games = 0
"#;

fn settings(dir: &Path, shards: &str) {
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join("learn.toml"), SMALL.replace("SHARDS", shards)).unwrap();
}

fn learn(dir: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toratsugumi"));
    command.args(["learn", "--quiet", "--dir"]).arg(dir).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn code_and_error(mut command: Command) -> (Option<i32>, String) {
    let out = command.output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// What must not depend on kills: games, networks, and the record of the generations without its times.
fn results(dir: &Path, generations: u32) -> (Vec<Vec<u8>>, Vec<serde_json::Value>) {
    let mut files = Vec::new();
    for n in 1..=generations {
        let generation = dir.join(format!("gen-{n:03}"));
        let mut games: Vec<PathBuf> = std::fs::read_dir(generation.join("games"))
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "games"))
            .collect();
        games.sort();
        games.push(generation.join("network/nn.bin"));
        files.extend(games.iter().map(|p| std::fs::read(p).unwrap()));
    }
    let text = std::fs::read_to_string(dir.join("generations.jsonl")).unwrap();
    let lines = text
        .lines()
        .map(|line| {
            let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
            for stage in ["played", "trained", "judged"] {
                value[stage].as_object_mut().unwrap().remove("seconds").unwrap();
            }
            value
        })
        .collect();
    (files, lines)
}

#[test]
fn a_killed_loop_ends_as_an_undisturbed_one() {
    let dir = tempfile::tempdir().unwrap();
    let [calm, killed] = ["calm", "killed"].map(|d| dir.path().join(d));
    settings(&calm, "");
    settings(&killed, "");
    assert_eq!(code_and_error(learn(&calm, &["--generations", "2"])), (Some(0), String::new()));
    let (mut kills, mut wait) = (0, 150);
    loop {
        let mut child = learn(&killed, &["--generations", "2"]).spawn().unwrap();
        let mut waited = 0;
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break Some(status);
            }
            if kills < 10 && waited >= wait {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            std::thread::sleep(Duration::from_millis(10));
            waited += 10;
        };
        match status {
            Some(status) => {
                assert!(status.success());
                break;
            }
            None => kills += 1,
        }
        // ever later within a run, so that every stage is hit
        wait += 130;
    }
    assert!(kills >= 3, "the loop was too quick to be killed");
    assert!(results(&calm, 2) == results(&killed, 2));
    let page = std::fs::read_to_string(killed.join("report.html")).unwrap();
    assert!(page.contains("2 generations ended") && page.ends_with("</html>\n"));
    // nothing is done again
    assert_eq!(code_and_error(learn(&killed, &["--generations", "2"])), (Some(0), String::new()));
}

#[test]
fn shards_made_elsewhere_are_taken_in() {
    let dir = tempfile::tempdir().unwrap();
    let [here, elsewhere] = ["here", "elsewhere"].map(|d| dir.path().join(d));
    settings(&here, "shards = 2");
    settings(&elsewhere, "shards = 2\nworkers = \"elsewhere\"");
    let program = format!("\n[cluster]\nprogram = {:?}\n", env!("CARGO_BIN_EXE_toratsugumi"));
    let file = elsewhere.join("learn.toml");
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + &program).unwrap();
    assert_eq!(code_and_error(learn(&here, &["--generations", "1"])).0, Some(0));

    // nobody makes games: the loop waits until its time is over
    assert_eq!(code_and_error(learn(&elsewhere, &["--generations", "1", "--max-time", "1"])).0, Some(75));
    let job = learn(&elsewhere, &["--print-job", "slurm"]).output().unwrap();
    let script = String::from_utf8(job.stdout).unwrap();
    assert!(script.contains("#SBATCH --array=0-1\n"), "{script}");
    for task in ["0", "1"] {
        let status = Command::new("bash")
            .args(["-c", &script])
            .env("SLURM_ARRAY_TASK_ID", task)
            .env("SLURM_CPUS_PER_TASK", "2")
            .status()
            .unwrap();
        assert!(status.success());
    }
    assert_eq!(code_and_error(learn(&elsewhere, &["--generations", "1"])), (Some(0), String::new()));
    assert!(results(&here, 1).0 == results(&elsewhere, 1).0);
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("loop");
    assert_eq!(code_and_error(learn(&root, &["--init"])).0, Some(0));
    let (code, error) = code_and_error(learn(&root, &["--init"]));
    assert!(code == Some(1) && error.contains("learn.toml") && error.lines().count() == 1, "{error}");
    for (text, part) in [
        ("[train]\nlamda = 1.0", "lamda"),
        ("[train]\ntd_lambda = 1.5", "train.td_lambda"),
        ("keep = 1\n[train]\nwindow = 3", "keep"),
        ("network = \"nowhere.bin\"", "nowhere.bin"),
        ("[train]\ngames = [\"gone.games\"]", "gone.games"),
    ] {
        std::fs::write(root.join("learn.toml"), text).unwrap();
        let (code, error) = code_and_error(learn(&root, &["--generations", "1"]));
        assert!(code == Some(1) && error.contains(part), "{text}: {error}");
        assert!(!root.join("gen-001").exists());
    }
    // a line of the record that is none of ours
    settings(&root, "");
    std::fs::write(root.join("generations.jsonl"), "{}\n").unwrap();
    let (code, error) = code_and_error(learn(&root, &["--generations", "1"]));
    assert!(code == Some(1) && error.contains("generations.jsonl, line 1"), "{error}");
}
