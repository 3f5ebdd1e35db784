//! `toratsugumi book` loses nothing silently: what is joined, dropped, cut off or refused is told.

use std::path::Path;
use std::process::Command;

const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";

/// A folder with files; in their texts `sfen A` is the initial position.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text.replace("sfen A", &format!("sfen {START}"))).unwrap();
    }
    dir
}

/// Whether `toratsugumi book` succeeds, its output, its errors. The arguments are words.
fn book(dir: &Path, args: &str) -> (bool, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toratsugumi"));
    let output = command.arg("book").args(args.split(' ')).current_dir(dir).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// The notes of a command that must succeed and write so many positions and moves.
fn notes(dir: &Path, args: &str, positions: usize, moves: usize) -> String {
    let (success, out, notes) = book(dir, args);
    assert!(
        success && out.contains(&format!("{positions} positions, {moves} moves")),
        "{args}: {out}{notes}"
    );
    notes
}

/// The one line of a command that must fail and write nothing to the file `o`.
fn error(dir: &Path, args: &str) -> String {
    let (success, out, error) = book(dir, args);
    assert!(!success && out.is_empty() && error.lines().count() == 1, "{args}: {out}{error}");
    assert!(!dir.join("o").exists(), "{args}");
    error
}

#[test]
fn pruning_judges_by_what_a_book_has() {
    let dir = folder(&[("a.db", "sfen A 1\n7g7f none 10 20 3\n2g2f none 5 20 3\n")]);
    for to in ["ybb", "sbk"] {
        notes(dir.path(), &format!("convert a.db -o a.{to}"), 1, 2);
    }
    notes(dir.path(), "prune a.ybb -o b.ybb --min-count 1", 1, 2);
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(read("a.ybb") == read("b.ybb"));
    let nothing = error(dir.path(), "prune a.db -o o --to db --min-count 4");
    assert!(nothing.contains("no move is left; nothing was written"), "{nothing}");
    let unnumbered = error(dir.path(), "prune a.sbk -o o --to sbk --max-ply 1");
    assert!(unnumbered.contains("--max-ply: a.sbk: 1 of 1 positions have no move number"), "{unnumbered}");
    notes(dir.path(), "prune a.ybb -o c.ybb --max-ply 1", 1, 2);
}
