//! The tuner as people run it.

use crate::support::program;

fn tune(args: &[&str], out: &std::path::Path) -> (i32, String) {
    let output = program().args(["tune", "--quiet", "--out"]).arg(out).args(args).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[cfg(not(feature = "tune"))]
#[test]
fn a_build_without_tune_says_what_is_needed() {
    let dir = tempfile::tempdir().unwrap();
    let (code, message) = tune(&[], &dir.path().join("run"));
    assert_eq!(code, 1);
    assert!(message.contains("--features tune") && message.lines().count() == 1, "{message}");
    assert!(!dir.path().join("run").exists());
    let bench = ["--numbers", "params.txt", "bench", "--depth", "1"];
    let output = program().args(bench).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(1), message));
}

#[cfg(feature = "tune")]
#[test]
fn a_stopped_tuning_resumes() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| tune(args, dir.path());
    let names = ["--only", "lmr_base,razor"];
    let games = |n| [&["--games", n, "--nodes", "50", "--max-ply", "60"][..], &names].concat();
    // on a busy machine, two seconds were too short for a game
    let time = "10s";
    assert_eq!(run(&[&games("100000")[..], &["--max-time", time]].concat()).0, 75);
    let json = || -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(dir.path().join("tune.json")).unwrap()).unwrap()
    };
    let done = || json()["spsa"]["done"].as_u64().unwrap();
    let before = done();
    assert!(before > 0 && json()["spsa"]["numbers"].as_array().unwrap().len() == 3);
    assert_eq!(run(&games("100000")).0, 1, "a run that is there is not written over");
    assert_eq!(run(&["--resume", "--max-time", time]).0, 75);
    assert!(done() > before);
    let (after, openings) = (done(), dir.path().join("openings.txt"));
    std::fs::write(&openings, "startpos\n").unwrap();
    let refused = |args: &[&str], fault: &str| {
        let (code, message) = run(&[&["--resume"][..], args].concat());
        assert!(
            code == 1 && message.contains(&format!("tune.json was made with other settings ({fault} was ")),
            "{message}"
        );
        assert_eq!(done(), after);
    };
    refused(&["--openings", openings.to_str().unwrap()], "openings");
    let network = dir.path().join("nn.bin");
    let made = program().args(["net", "bootstrap", "-o"]).arg(&network).output();
    assert!(made.unwrap().status.success());
    refused(&["--eval-dir", network.to_str().unwrap()], "network");
    let numbers = std::fs::read_to_string(dir.path().join("params.txt")).unwrap();
    assert!(numbers.lines().count() == 3 && numbers.contains("razor_base = "), "{numbers}");
    assert!(std::fs::read_to_string(dir.path().join("tune.svg")).unwrap().ends_with("</svg>\n"));
    assert_eq!(run(&["--only", "nothing", "--out", "elsewhere"]).0, 2, "two directories");
}

#[cfg(feature = "tune")]
#[test]
fn numbers_apply_to_any_command() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("params.txt");
    let nodes = |numbers: &str| {
        std::fs::write(&file, numbers).unwrap();
        let output = program().arg("--numbers").arg(&file).args(["bench", "--depth", "6"]).output().unwrap();
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        let nodes = out.lines().last().unwrap_or("").split(' ').next().unwrap_or("").parse::<u64>();
        nodes.map_err(|_| err)
    };
    let usual = nodes("").unwrap();
    assert_eq!(nodes("razor_base = 502;\n"), Ok(usual), "its default");
    assert_ne!(nodes("lmr_base = 2000\nreduction_base = 1600"), Ok(usual));
    let error = nodes("\nlmr_base = 2501").unwrap_err();
    assert!(
        error.ends_with("line 2: lmr_base must be a whole number from -1000 to 2500, not `2501`\n"),
        "{error}"
    );
}
