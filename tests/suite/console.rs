//! A reader that goes away (`| head`) ends nothing, and a full disk is told.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn command(args: &[&str], dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toratsugumi"));
    command.args(args).current_dir(dir).stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A pipe that nobody reads.
fn closed() -> io::PipeWriter {
    io::pipe().unwrap().1
}

/// Runs with a standard output that nobody reads.
fn unread(args: &[&str], dir: &Path) {
    let output = command(args, dir).stdout(closed()).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {}", message(&output));
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_goes_to_files_is_finished_when_nobody_reads_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    let mut datagen = command(
        &["datagen", "--out", "games", "--games", "3", "--nodes", "60", "--hash", "1", "--threads", "1"],
        here,
    );
    assert!(datagen.stdout(closed()).stderr(closed()).status().unwrap().success());
    let games = "games/shard-00000-of-00001.games";
    assert!(here.join(games).exists());
    for args in [
        &["data", "stats", games][..],
        &["data", "verify", games],
        &["data", "convert", games, "--output", "games.psv"],
        &["book", "stats", "<internal>"],
        &["book", "show", "<internal>"],
        &["book", "minimax", "<internal>", "--output", "book.db"],
        &["book", "verify", "book.db"],
        &["learn", "--init", "--dir", "loop"],
    ] {
        unread(args, here);
    }
    for file in ["games.psv", "book.db", "loop/learn.toml"] {
        assert!(here.join(file).metadata().unwrap().len() > 0, "{file}");
    }
}

#[test]
fn what_only_prints_ends_in_peace_when_nobody_reads() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        &["perft", "2", "--divide"][..],
        &["bench", "--depth", "1"],
        &["completions", "bash"],
        &["net", "info"],
        &["analyse", "--depth", "1"],
    ] {
        unread(args, dir.path());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn output_to_a_full_disk_is_one_error() {
    let dir = tempfile::tempdir().unwrap();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command(&["book", "stats", "<internal>"], dir.path()).stdout(full).output().unwrap();
    let message = message(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("No space left") && message.lines().count() == 1, "{message}");
}
