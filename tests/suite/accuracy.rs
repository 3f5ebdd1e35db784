//! `accuracy`: evaluations and searches compared with games.

use crate::support::program;
use std::path::Path;
use std::process::Output;

/// Gold to 5b mates.
const MATE: &str = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1";

fn accuracy(args: &[&str], dir: &Path) -> Output {
    program().arg("accuracy").args(args).current_dir(dir).output().unwrap()
}

fn error(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_search_is_compared_with_moves_and_winners() {
    let dir = tempfile::tempdir().unwrap();
    // found; found, but not decided (39); missed; a draw without a winner
    let file = format!(
        "# comment\n{MATE}\tG*5b\t1\t40\n{MATE}\tG*5b\t-1\t-39\n{MATE}\tG*9i\t1\t-500\n{MATE}\tG*5b\t0\t0\n"
    );
    std::fs::write(dir.path().join("p.tsv"), file).unwrap();
    let run = |threads: &str| {
        let output = accuracy(&["p.tsv", "--nodes", "200", "--hash", "1", "--threads", threads], dir.path());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run("2");
    let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    let of = |what: &str| {
        let line = lines.iter().find(|l| l.join(" ").starts_with(what)).unwrap_or_else(|| panic!("{text}"));
        (
            line.iter().find(|w| w.contains('.') && w.parse::<f64>().is_ok()).unwrap().to_string(),
            line.last().unwrap().to_string(),
        )
    };
    assert_eq!(of("move played found"), ("75.00".into(), "4".into()), "{text}");
    assert_eq!(of("if the player's score was 40 cp or more"), ("50.00".into(), "2".into()), "{text}");
    assert_eq!(of("winner predicted"), ("66.67".into(), "3".into()), "{text}");
    assert_eq!(run("1"), text);
}

#[test]
fn invalid_comparisons_are_one_error() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("p.tsv"), format!("{MATE}\tG*5a\t1\n")).unwrap();
    let told = error(&accuracy(&["p.tsv", "--nodes", "100"], dir.path()));
    assert!(told.contains("p.tsv, line 1: ") && told.contains("legal move"), "{told}");
    // without a search the move does not matter
    assert!(accuracy(&["p.tsv"], dir.path()).status.success());
    let told = error(&accuracy(&["labels.psv", "--nodes", "100"], dir.path()));
    assert!(told.contains("data label"), "{told}");
}
