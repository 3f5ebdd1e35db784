//! `toratsugumi book` loses nothing silently: what is joined, dropped, cut off or refused is told.

use crate::support::program;
use std::path::Path;

const START: &str = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b -";
const HEADER: &str = "#YANEURAOU-DB2016 1.00\n";

/// A folder with files; in their texts `sfen A` is the initial position.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text.replace("sfen A", &format!("sfen {START}"))).unwrap();
    }
    dir
}

/// A file of the folder, the initial position turned back into `A`.
fn text(dir: &Path, name: &str) -> String {
    let text = std::fs::read_to_string(dir.join(name)).unwrap();
    text.replace(START, "A").replace(HEADER, "")
}

/// Whether `toratsugumi book` succeeds, its output, its errors. The arguments are words.
fn book(dir: &Path, args: &str) -> (bool, String, String) {
    let mut command = program();
    let output = command.arg("book").args(args.split(' ')).current_dir(dir).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

/// The notes of a command that must succeed and write so many positions and moves.
fn notes(dir: &Path, args: &str, positions: usize, moves: usize) -> String {
    let (success, out, notes) = book(dir, args);
    let several = |count: usize| if count == 1 { "" } else { "s" };
    let (p, m) = (several(positions), several(moves));
    assert!(
        success && out.contains(&format!("{positions} position{p}, {moves} move{m}")),
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
fn joined_positions_are_reported() {
    let dir = folder(&[
        ("plies.db", "sfen A 1\n7g7f none 10 20 3\nsfen A 3\n7g7f none 50 30 4\n2g2f none 5 6 7\n"),
        ("twice.db", "sfen A 1\n7g7f none 1 2 3\n7g7f none 4 5 6\nsfen A 1\n7g7f none 7 8 9\nsfen A 5\n#x\n"),
        ("one.db", "sfen A 1\n7g7f none 10 20 3\n"),
    ]);
    for to in ["db", "ybb", "bin", "sbk"] {
        let told = notes(dir.path(), &format!("convert plies.db -o o --force --to {to}"), 1, 2);
        let joined = "o: each position stands once, at its smallest move number; dropped: \
                      duplicate positions (merged): 1, \
                      duplicate moves (the first entry was kept): 1\n";
        assert!(told.starts_with(joined), "{told}");
    }
    assert!(book(dir.path(), "pack plies.db -o p").2.contains("duplicate positions (merged): 1"));
    assert!(notes(dir.path(), "minimax plies.db -o m.db", 1, 2).contains("duplicate positions (merged): 1"));
    assert_eq!(notes(dir.path(), "convert one.db -o one2.db", 1, 1), "");
    // what a file has twice is told where it is read
    let told = notes(dir.path(), "convert twice.db -o twice2.db", 1, 1);
    let expect = "twice.db (db): dropped: positions without moves: 1, \
                  duplicate positions (merged): 1, \
                  duplicate moves (the first entry was kept): 2, \
                  remarks on missing positions or moves: 1\n";
    assert_eq!(
        (told.as_str(), text(dir.path(), "twice2.db")),
        (expect, text(dir.path(), "one.db").replace("10 20", "1 2"))
    );
    // the same of the formats without text: the entry of the .bin stands twice
    notes(dir.path(), "convert one.db -o one.bin", 1, 1);
    let bin = std::fs::read(dir.path().join("one.bin")).unwrap();
    std::fs::write(dir.path().join("two.bin"), [&bin[..], &bin].concat()).unwrap();
    assert!(
        notes(dir.path(), "convert two.bin -o two.db", 1, 1)
            .contains("duplicate moves (the first entry was kept): 1")
    );
    // merging adds counts up, and tells nothing, for nothing is lost
    assert_eq!(notes(dir.path(), "merge plies.db one.db -o sum.db", 1, 2), "");
    assert_eq!(text(dir.path(), "sum.db"), "sfen A 1\n7g7f none 50 30 10\n2g2f none 5 6 7\n");
    // moves that are not written are not counted
    let illegal = folder(&[("a.db", "sfen A 1\n7g7f none\n1g1e none\n")]);
    let told = notes(illegal.path(), "convert a.db -o a.sbk", 1, 1);
    assert_eq!(told, "a.sbk: sbk cannot store illegal moves\n");
}

#[test]
fn remarks_survive_conversion_and_merging() {
    let one = "# of the book\n#\n# more\n# NOE:1\nsfen A 1\n#aaa\n7g7f none 10 20 3\n#m1\n";
    let dir = folder(&[("1.db", one), ("2.db", "sfen A 1\n#bbb\n7g7f none 10 20 3 #m2\n")]);
    notes(dir.path(), "convert 1.db -o o.db", 1, 1);
    assert_eq!(text(dir.path(), "o.db"), one.replace("# NOE:1\n", ""));
    notes(dir.path(), "merge 1.db 2.db -o m.db", 1, 1);
    let merged = "# of the book\n#\n# more\nsfen A 1\n#aaa\n#bbb\n7g7f none 10 20 6\n#m1\n#m2\n";
    assert_eq!(text(dir.path(), "m.db"), merged);
    let comment = "remarks, the comment on the whole book\n";
    assert_eq!(
        notes(dir.path(), "convert 1.db -o o.ybb", 1, 1),
        format!("o.ybb: ybb cannot store counts, {comment}")
    );
    assert!(notes(dir.path(), "convert 1.db -o o.bin", 1, 1).ends_with(comment));
    // ShogiGUI's has a description
    assert!(
        notes(dir.path(), "convert 1.db -o o.sbk", 1, 1)
            .ends_with("store scores, depths, remarks on moves\n")
    );
    notes(dir.path(), "convert o.sbk -o back.db", 1, 1);
    assert_eq!(
        text(dir.path(), "back.db"),
        "# of the book\n#\n# more\nsfen A 1\n#aaa\n7g7f none none none 3\n"
    );
}

#[test]
fn changed_numbers_are_reported() {
    let dir = folder(&[
        ("a.db", "sfen A 1\n7g7f none none 99999 70000\n2g2f none 99999 -3 2147483648\n3g3f none 1\n"),
        ("b.db", "sfen A 1\n7g7f none 1 1 1\n"),
    ]);
    for (to, what) in [
        (
            "ybb",
            "counts, unknown scores (0 is written), scores beyond 32767 (cut off there), \
             unknown depths (0 is written), depths below 0 (0 is written), depths beyond 65535 (cut off there)",
        ),
        (
            "bin",
            "depths, unknown scores (0 is written), unknown counts (1 is written), \
             counts beyond 65535 (cut off there)",
        ),
        ("sbk", "scores, depths, counts beyond 2147483647 (cut off there)"),
    ] {
        let told = notes(dir.path(), &format!("convert a.db -o a.{to}"), 1, 3);
        assert_eq!(told, format!("a.{to}: {to} cannot store {what}\n"));
    }
    assert_eq!(notes(dir.path(), "convert a.db -o o.db", 1, 3), "");
    assert_eq!(notes(dir.path(), "convert b.db -o b.ybb", 1, 1), "");
    for line in ["3000000000 1 1", "1 3000000000 1", "1 1 9999999999", "1 1 -5"] {
        std::fs::write(dir.path().join("c.db"), format!("sfen {START} 1\n7g7f none {line}\n")).unwrap();
        let told = notes(dir.path(), "convert c.db -o o --to ybb --force", 0, 0);
        assert!(told.contains("unreadable positions or moves: 1"), "{told}");
    }
}

/// `.sbk` has no move numbers: the ways from the initial position give them back; where there is none, none
/// is known.
#[test]
fn move_numbers_are_restored_where_known() {
    let second = "sfen lnsgkgsnl/1r5b1/ppppppppp/9/9/2P6/PP1PPPPPP/1B5R1/LNSGKGSNL w - 2\n3c3d none 1 2 3\n";
    let far = "sfen 4k4/9/9/9/9/9/9/9/4K4 b G 31\nG*5b none 1 2 3\n";
    let dir = folder(&[("a.db", &format!("{far}{second}sfen A 1\n7g7f none 1 2 3\n"))]);
    let told = notes(dir.path(), "convert a.db -o a.sbk", 3, 3);
    assert!(told.contains("move numbers"), "{told}");
    let told = notes(dir.path(), "convert a.sbk -o b.db", 3, 3);
    assert!(told.contains("db cannot store unknown move numbers (1 is written)"), "{told}");
    let plies = |name: &str| {
        let text = std::fs::read_to_string(dir.path().join(name)).unwrap();
        text.lines().filter(|l| l.starts_with("sfen ")).map(String::from).collect::<Vec<_>>()
    };
    let (before, after) = (plies("a.db"), plies("b.db"));
    assert!(
        before.iter().filter(|l| l.ends_with(" b - 1") || l.ends_with(" w - 2")).all(|l| after.contains(l))
    );
    assert!(after.iter().any(|l| l == "sfen 4k4/9/9/9/9/9/9/9/4K4 b G 1"), "{after:?}");
    // lines that a book grows from keep theirs
    std::fs::write(dir.path().join("roots.txt"), "startpos moves 2g2f 8c8d 2f2e 8d8e\n").unwrap();
    let (done, out, _) =
        book(dir.path(), "think -o g.db --roots roots.txt --grow 2 --nodes 50 --hash 1 --threads 1 -q");
    assert!(done, "{out}");
    let lines = plies("g.db");
    let mut numbers: Vec<&str> = lines.iter().map(|l| l.rsplit(' ').next().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, ["5", "6"]);
    // and leaves are written where nothing is lost
    let (done, _, error) = book(dir.path(), "think g.db -o a.db --roots roots.txt --frontier 2");
    assert!(!done && error.contains("a.db exists; use --force to overwrite it"), "{error}");
    assert_eq!(plies("a.db"), before);
    let (done, ..) = book(dir.path(), "think g.db -o leaves.txt --roots roots.txt --frontier 1");
    assert!(done && plies("leaves.txt").iter().all(|l| l.ends_with(" 6") || l.ends_with(" 7")));
}

#[test]
fn pruning_handles_missing_counts_and_plies() {
    let dir = folder(&[("a.db", "sfen A 1\n7g7f none 10 20 3\n2g2f none 5 20 3\n")]);
    for to in ["ybb", "sbk"] {
        notes(dir.path(), &format!("convert a.db -o a.{to}"), 1, 2);
    }
    notes(dir.path(), "prune a.ybb -o b.ybb --min-count 1", 1, 2);
    let read = |name: &str| std::fs::read(dir.path().join(name)).unwrap();
    assert!(read("a.ybb") == read("b.ybb"));
    let nothing = error(dir.path(), "prune a.db -o o --to db --min-count 4");
    assert!(nothing.contains("no move is left; nothing was written"), "{nothing}");
    std::fs::write(dir.path().join("n.db"), format!("sfen {START}\n7g7f\n")).unwrap();
    let unnumbered = error(dir.path(), "prune n.db -o o --to db --max-ply 1");
    assert!(unnumbered.contains("--max-ply: n.db: positions without a move number: 1 of 1"), "{unnumbered}");
    notes(dir.path(), "prune a.ybb -o c.ybb --max-ply 1", 1, 2);
}
