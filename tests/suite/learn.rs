//! The learning loop: a kill at any moment changes nothing, and shards may be made elsewhere.

use crate::support::program;
#[cfg(unix)]
use crate::support::{Signal, signal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use toratsugumi::nnue::{Architecture, Network};
use toratsugumi::train::model::Model;
use toratsugumi::types::Square;

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
    let mut command = program();
    command.args(["learn", "--quiet", "--dir"]).arg(dir).args(more);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn code_and_error(mut command: Command) -> (Option<i32>, String) {
    let out = command.output().unwrap();
    (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
}

/// What must not depend on kills: games, positions of their searches, networks, and the record of the generations without its times.
fn results(dir: &Path, generations: u32) -> (Vec<Vec<u8>>, Vec<serde_json::Value>) {
    let mut files = Vec::new();
    for n in 1..=generations {
        let generation = dir.join(format!("gen-{n:03}"));
        let mut games: Vec<PathBuf> = std::fs::read_dir(generation.join("games"))
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.extension().is_some_and(|e| e == "games" || e == "psv"))
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

/// The network of the first generation, if it is the mean of two runs, by `train` and `net mean`.
fn mean_of_two(dir: &Path) -> Vec<u8> {
    let generation = dir.join("gen-001");
    let run = |command: &mut Command| {
        let out = command.stdin(Stdio::null()).output().unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    };
    let engine = || program();
    let networks = [2u64, (1 << 32) + 2].map(|seed| {
        let out = dir.join(format!("run-{seed}"));
        let options = "--arch kp_256x2-32-32 --epochs 2 --batch 256 --warmup 5 --lr 0.001 --lambda-end 1 --td-lambda 0.7 --score-clip 3500 \
                       --row-rate 0.02 --ema 0.99 --memory 64 --validation-positions 50000 -j 2 -q";
        let mut train = engine();
        train.arg("train").arg(generation.join("games")).arg("--out").arg(&out);
        train.arg("--init").arg(dir.join("gen-000/network/nn.bin")).args(["--seed", &seed.to_string()]);
        run(train.args(options.split_whitespace()));
        out.join("nn.bin")
    });
    let out = dir.join("mean.bin");
    run(engine().args(["net", "mean"]).args(networks).arg("-o").arg(&out));
    std::fs::read(out).unwrap()
}

/// The bootstrap network's rows for a king on 5九, as a network of which a checkpoint takes megabytes, not
/// hundreds of them.
fn small_network() -> Network {
    let bootstrap = Model::from_network(&Network::bootstrap().unwrap()).unwrap();
    let mut model = Model::new("kp_256x2-32-32".parse().unwrap(), 1).unwrap();
    model.factor.w.fill(0.0);
    model.rows.w.fill(0.0);
    let king = Square::new(4, 8).index() * bootstrap.layout.per_bucket;
    for row in 0..bootstrap.layout.per_bucket {
        let [to, from] = [row, king + row].map(|row| row * bootstrap.layout.l1);
        model.rows.w[to..][..bootstrap.layout.l1]
            .copy_from_slice(&bootstrap.rows.w[from..][..bootstrap.layout.l1]);
    }
    model.bias.w.copy_from_slice(&bootstrap.bias.w);
    model.dense.w.copy_from_slice(&bootstrap.dense.w);
    model.finished().unwrap().quantize().unwrap()
}

#[test]
fn a_killed_loop_resumes_to_the_same_result() {
    let dir = tempfile::tempdir().unwrap();
    let [calm, killed] = ["calm", "killed"].map(|d| dir.path().join(d));
    let start = dir.path().join("start.bin");
    small_network().save(&start).unwrap();
    for dir in [&calm, &killed] {
        settings(dir, "");
        let text = SMALL.replace("\"bootstrap\"", &format!("{start:?}")).replace("SHARDS", "trees = 2");
        std::fs::write(dir.join("learn.toml"), text.replace("[train]", "[train]\nruns = 2")).unwrap();
    }
    assert_eq!(code_and_error(learn(&calm, &["--generations", "2"])), (Some(0), String::new()));
    let (mut kills, mut wait) = (0, 100);
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
        wait += 60;
    }
    assert!(kills >= 3, "the loop was too quick to be killed");
    assert!(results(&calm, 2) == results(&killed, 2));
    assert!(!killed.join("gen-001/network/runs").exists());
    let mean = std::fs::read(calm.join("gen-001/network/nn.bin")).unwrap() == mean_of_two(&calm);
    assert!(mean, "the network is not what `train` and `net mean` make");
    let page = std::fs::read_to_string(killed.join("report.html")).unwrap();
    assert!(page.contains("2 generations ended") && page.ends_with("</html>\n"));
    // nothing is done again
    assert_eq!(code_and_error(learn(&killed, &["--generations", "2"])), (Some(0), String::new()));
}

/// Two loops with two shards: one that makes them itself, one that waits for others, whose program is this build's.
fn here_and_elsewhere(dir: &Path, more: &str) -> [PathBuf; 2] {
    let [here, elsewhere] = ["here", "elsewhere"].map(|d| dir.join(d));
    settings(&here, &format!("shards = 2\n{more}"));
    settings(&elsewhere, &format!("shards = 2\nworkers = \"elsewhere\"\n{more}"));
    let program = format!("\n[cluster]\nprogram = {:?}\n", env!("CARGO_BIN_EXE_toratsugumi"));
    let file = elsewhere.join("learn.toml");
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + &program).unwrap();
    [here, elsewhere]
}

/// The script that `--print-job slurm` prints.
fn slurm_script(dir: &Path) -> String {
    let job = learn(dir, &["--print-job", "slurm"]).output().unwrap();
    let script = String::from_utf8(job.stdout).unwrap();
    assert!(script.contains("#SBATCH --array=0-1\n"), "{script}");
    script
}

#[test]
fn shards_made_elsewhere_are_used() {
    let dir = tempfile::tempdir().unwrap();
    let [here, elsewhere] = here_and_elsewhere(dir.path(), "trees = 2\nrandom_plies = [3, 5]");
    assert_eq!(code_and_error(learn(&here, &["--generations", "1"])).0, Some(0));

    // nobody makes games: the loop waits until its time is over
    assert_eq!(code_and_error(learn(&elsewhere, &["--generations", "1", "--max-time", "1"])).0, Some(75));
    let script = slurm_script(&elsewhere);
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
    let (files, record) = results(&here, 1);
    assert!(files == results(&elsewhere, 1).0);
    // the hand-written network has weights for single king squares, and training moved them
    let change = record[0]["trained"]["king_change"].as_f64().unwrap();
    assert!(change > 0.0, "{record:?}");
    assert!(record[0]["played"]["inside"].as_u64() > Some(0), "{record:?}");
}

/// A Slurm with two nodes on the loopback interface, stopped when dropped.
#[cfg(unix)]
struct Slurm {
    dir: PathBuf,
    daemons: Vec<std::process::Child>,
}

#[cfg(unix)]
impl Slurm {
    fn start(dir: PathBuf) -> Slurm {
        std::fs::create_dir_all(dir.join("state")).unwrap();
        let mut slurm = Slurm { dir, daemons: Vec::new() };
        let [user, host] = ["id -un", "hostname -s"].map(|c| slurm.said(&["sh", "-c", c]).trim().to_owned());
        let d = slurm.dir.display().to_string();
        std::fs::write(slurm.dir.join("munge.key"), [7; 1024]).unwrap();
        slurm.said(&["chmod", "400", &format!("{d}/munge.key")]);
        let settings = [
            "ClusterName=test".to_owned(),
            format!("SlurmctldHost={host}(127.0.0.1)"),
            "SlurmctldPort=16817".into(),
            format!("AuthInfo=socket={d}/munge.socket"),
            format!("SlurmUser={user}"),
            format!("SlurmdUser={user}"),
            format!("StateSaveLocation={d}/state"),
            format!("SlurmdSpoolDir={d}/spool-%n"),
            format!("SlurmctldPidFile={d}/slurmctld.pid"),
            format!("SlurmdPidFile={d}/slurmd-%n.pid"),
            "ProctrackType=proctrack/linuxproc".into(),
            "TaskPlugin=task/none".into(),
            "SelectType=select/cons_tres".into(),
            "SelectTypeParameters=CR_CPU".into(),
            "MpiDefault=none".into(),
            "ReturnToService=2".into(),
            "SlurmdParameters=config_overrides".into(),
            format!("NodeName=n[0-1] NodeHostname={host} NodeAddr=127.0.0.1 Port=[17001-17002] CPUs=2"),
            "PartitionName=all Nodes=ALL Default=YES State=UP".into(),
        ];
        std::fs::write(slurm.dir.join("slurm.conf"), settings.join("\n") + "\n").unwrap();
        let munge: Vec<String> = [
            ("key-file", "key"),
            ("socket", "socket"),
            ("pid-file", "pid"),
            ("log-file", "log"),
            ("seed-file", "seed"),
        ]
        .map(|(option, name)| format!("--{option}={d}/munge.{name}"))
        .into();
        let munge: Vec<&str> = munge.iter().map(String::as_str).collect();
        slurm.daemon("munged", &[&["--foreground", "--force"], &munge[..]].concat());
        std::thread::sleep(Duration::from_secs(1));
        slurm.daemon("slurmctld", &["-D", "-i"]);
        slurm.daemon("slurmd", &["-D", "-N", "n0"]);
        slurm.daemon("slurmd", &["-D", "-N", "n1"]);
        slurm.wait("two idle nodes", |s| s.said(&["sinfo", "-h", "-t", "idle", "-o", "%D"]).trim() == "2");
        slurm
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env("SLURM_CONF", self.dir.join("slurm.conf")).current_dir(&self.dir);
        command
    }

    fn daemon(&mut self, name: &str, args: &[&str]) {
        let mut command = self.command(&[&[name], args].concat());
        let daemon = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.daemons.push(daemon.unwrap_or_else(|e| panic!("{name}: {e}; Debian: slurm-wlm, munge")));
    }

    /// What a command prints; nothing if it fails.
    fn said(&self, words: &[&str]) -> String {
        let out = self.command(words).output().unwrap_or_else(|e| panic!("{}: {e}", words[0]));
        String::from_utf8(out.stdout).unwrap()
    }

    fn wait(&self, what: &str, mut done: impl FnMut(&Slurm) -> bool) {
        let started = std::time::Instant::now();
        while !done(self) {
            assert!(started.elapsed() < Duration::from_secs(180), "waited three minutes for {what}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

#[cfg(unix)]
impl Drop for Slurm {
    fn drop(&mut self) {
        self.said(&["scancel", "--state=RUNNING"]);
        for daemon in self.daemons.iter_mut().rev() {
            let _ = signal(daemon, Signal::SIGTERM);
            let _ = daemon.wait();
        }
    }
}

#[cfg(unix)]
#[test]
#[ignore = "starts a Slurm (slurmctld, slurmd, munged): make slurm-test"]
fn slurm_makes_the_same_generation() {
    let dir = tempfile::tempdir().unwrap();
    // large enough for a task to be caught at work
    let [here, elsewhere] = here_and_elsewhere(dir.path(), "");
    for root in [&here, &elsewhere] {
        let file = root.join("learn.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("positions = 2500", "positions = 60000")).unwrap();
    }
    assert_eq!(code_and_error(learn(&here, &["--generations", "1"])), (Some(0), String::new()));

    let slurm = Slurm::start(dir.path().join("slurm"));
    let mut waiting = learn(&elsewhere, &["--generations", "1"]).spawn().unwrap();
    slurm.wait("the plan", |_| elsewhere.join("gen-001/plan.json").exists());
    let script = slurm.dir.join("job.sh");
    std::fs::write(&script, slurm_script(&elsewhere)).unwrap();
    let job = slurm.said(&["sbatch", "--parsable", script.to_str().unwrap()]).trim().to_owned();
    let task = format!("{job}_1");
    let part = elsewhere.join("gen-001/games/shard-00001-of-00002.part");
    slurm.wait("the second task's first games", |_| part.exists());
    slurm.said(&["scontrol", "requeue", &task]);
    slurm.wait("the requeued task", |s| {
        s.said(&["scontrol", "show", "job", &task]).contains("JobState=PENDING")
    });
    // Slurm would let it rest for two minutes
    slurm.said(&["scontrol", "update", &format!("JobId={task}"), "StartTime=now"]);
    slurm.wait("the loop", |_| waiting.try_wait().unwrap().is_some());
    assert!(waiting.wait().unwrap().success());
    let shown = slurm.said(&["scontrol", "show", "job", &task]);
    assert!(shown.contains("Restarts=1"), "{shown}");
    assert!(results(&here, 1).0 == results(&elsewhere, 1).0);
    println!("task {task} was requeued; both ways gave the same games and network");
}

#[test]
fn errors_are_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("loop");
    assert_eq!(code_and_error(learn(&root, &["--init"])).0, Some(0));
    for ignored in ["--generations", "--keep", "--max-time"] {
        let (code, error) = code_and_error(learn(&dir.path().join("other"), &["--init", ignored, "2"]));
        assert!(code == Some(2) && error.contains(ignored), "{error}");
    }
    assert!(!dir.path().join("other").exists());
    let (code, error) = code_and_error(learn(&root, &["--init"]));
    assert!(code == Some(1) && error.contains("learn.toml") && error.lines().count() == 1, "{error}");
    let garbled = dir.path().join("garbled.txt");
    std::fs::write(&garbled, "startpos moves 7g7f\nnonsense\n").unwrap();
    let names_garbled = |setting: &str| setting.replace("FILE", &format!("{:?}", garbled));
    for (text, part) in [
        (&*names_garbled("[generate]\nopenings = FILE"), "garbled.txt, line 2"),
        (&*names_garbled("[judge]\nopenings = FILE"), "garbled.txt, line 2"),
        (&*names_garbled("[judge]\npositions = FILE"), "garbled.txt, line 1"),
        (&*names_garbled("[train]\ngames = [FILE]"), "garbled.txt"),
        ("[train]\nbatch = 2560000", "train.batch"),
        ("[generate]\nshards = 100000000000", "generate.shards"),
        ("[judge]\ngames = 100000000000", "judge.games"),
        ("[cluster]\nthreads = 0", "cluster.threads"),
        ("[cluster]\ntime = \"1:00\\necho\"", "cluster: "),
        ("[train]\nlamda = 1.0", "lamda"),
        ("[train]\ntd_lambda = 1.5", "train.td_lambda"),
        ("[train]\nruns = 0", "train.runs"),
        ("[train]\nepsilon = 0.0", "train.epsilon"),
        ("[generate]\nrandom_plies = [5, 4]", "generate.random_plies"),
        ("[train]\nruns = 2\nkeep_state = true", "train.keep_state"),
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

/// A loop that starts with a network of zeros of that kind.
fn loop_of(dir: &Path, kind: &str, more: &str) -> PathBuf {
    let (file, root) = (dir.join(format!("{kind}.bin")), dir.join(format!("loop-{kind}")));
    let kind: Architecture = kind.parse().unwrap();
    Network::new(kind.zeroed().unwrap(), "fv_scale=24".into()).save(&file).unwrap();
    settings(&root, "");
    let text =
        SMALL.replace("SHARDS", "").replace("2500", "1000").replace("\"bootstrap\"", &format!("{file:?}"));
    let text = text.replace("batch = 256", &format!("batch = 32\n{more}"));
    std::fs::write(root.join("learn.toml"), text).unwrap();
    root
}

#[test]
fn other_architectures_and_scales_play_and_train() {
    let dir = tempfile::tempdir().unwrap();
    let root = loop_of(dir.path(), "lite_72-32", "");
    let (code, error) = code_and_error(learn(&root, &["--generations", "1"]));
    assert!(code == Some(1) && error.contains("training cannot continue"), "{error}");
    assert!(!root.join("gen-001").exists());
    let root = loop_of(dir.path(), "kp_256x2-32-32", "");
    let job = learn(&root, &["--print-job", "slurm"]).output().unwrap();
    let script = String::from_utf8(job.stdout).unwrap();
    assert!(script.contains(" --fv-scale 24 "), "{script}");
    // where the job's own output goes, although the loop has not begun
    assert!(root.join("gen-001/games").is_dir());
    assert_eq!(code_and_error(learn(&root, &["--generations", "1"])), (Some(0), String::new()));
    let manifest = std::fs::read(root.join("gen-001/games/shard-00000-of-00001.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["identity"]["settings"]["fv_scale"], 24);
    let (network, _) = Network::load(&root.join("gen-001/network/nn.bin")).unwrap();
    assert_eq!(network.architecture().name(), "kp_256x2-32-32");
}

/// Other processors, and another `--keep`, than when the generation began.
#[test]
fn a_moved_loop_resumes_and_keeps_needed_files() {
    let dir = tempfile::tempdir().unwrap();
    let root = loop_of(dir.path(), "kp_256x2-32-32", "window = 1");
    let rewrite = |name: &str, from: &str, to: &str| {
        let text = std::fs::read_to_string(root.join(name)).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(root.join(name), text.replace(from, to)).unwrap();
    };
    rewrite(
        "learn.toml",
        "threads = 2",
        "threads = 5
keep = 1",
    );
    let goes_on = |more: &[&str]| assert_eq!(code_and_error(learn(&root, more)), (Some(0), String::new()));
    goes_on(&["--generations", "1"]);
    // as if killed at the end of training
    for name in ["generations.jsonl", "gen-001/train.json", "gen-001/judge.json"] {
        std::fs::remove_file(root.join(name)).unwrap();
    }
    rewrite("gen-001/plan.json", "threads\": 5", "threads\": 0");
    goes_on(&["--generations", "1"]);
    goes_on(&["--print-job", "slurm"]);
    goes_on(&["--generations", "2", "--keep", "5"]);
    assert!(root.join("gen-001/games").is_dir());
    goes_on(&["--generations", "3"]);
    assert!(!root.join("gen-001/games").exists());
}

#[test]
fn plan_errors_name_the_plan_file() {
    let dir = tempfile::tempdir().unwrap();
    let root = loop_of(dir.path(), "kp_256x2-32-32", "");
    assert!(learn(&root, &["--print-job", "slurm"]).status().unwrap().success());
    let path = root.join("gen-001/plan.json");
    let plan: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for (name, value, words) in [
        ("openings", "nowhere.txt".into(), ["nowhere.txt: ", "plan.json)"]),
        ("shards", 100_000_000_000u64.into(), ["plan.json: generate.shards", "10000"]),
    ] {
        let mut plan: serde_json::Value = plan.clone();
        plan["config"]["generate"][name] = value;
        std::fs::write(&path, plan.to_string()).unwrap();
        let (code, error) = code_and_error(learn(&root, &["--generations", "1"]));
        assert!(code == Some(1) && words.iter().all(|w| error.contains(w)), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}
