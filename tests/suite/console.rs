//! The output: a closed pipe (`| head`) is not an error, a full disk is one, and messages follow the user's language.

use crate::support::program;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn command(args: &[&str], dir: &Path) -> Command {
    let mut command = program();
    command.args(args).current_dir(dir).stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

/// A pipe whose reader is closed.
fn closed() -> io::PipeWriter {
    io::pipe().unwrap().1
}

/// Runs with a closed standard output.
fn unread(args: &[&str], dir: &Path) {
    let output = command(args, dir).stdout(closed()).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {}", message(&output));
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn files_are_complete_although_stdout_is_closed() {
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
        &["book", "prune", "<internal>", "--max-ply", "4", "--output", "small.db"],
        &["book", "minimax", "small.db", "--output", "book.db"],
        &["book", "verify", "book.db"],
        &["learn", "--init", "--dir", "loop"],
    ] {
        unread(args, here);
    }
    for file in ["games.psv", "small.db", "book.db", "loop/learn.toml"] {
        assert!(here.join(file).metadata().unwrap().len() > 0, "{file}");
    }
}

#[test]
fn closed_stdout_exits_cleanly() {
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

#[test]
fn messages_follow_the_locale_and_lang() {
    let dir = tempfile::tempdir().unwrap();
    let mate = ["mate", "--sfen", "9/8k/9/8S/7R1/9/9/9/9 b Gr2b3g3s4n4l18p 1"];
    let output = |locale: &str, options: &[&str]| {
        let mut command = command(&[&mate[..], options].concat(), dir.path());
        let output = command.env("LC_ALL", locale).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for (locale, options, expected) in [
        ("C", &[][..], "mate in 1 ply (no shorter mate exists)"),
        ("ja_JP.UTF-8", &[], "1手詰（最短と証明済み）"),
        ("C", &["--lang", "ja"], "1手詰（最短と証明済み）"),
        ("ja_JP.UTF-8", &["--lang", "en"], "mate in 1 ply"),
    ] {
        let text = output(locale, options);
        assert!(text.contains(expected), "{locale} {options:?}: {text}");
    }
}

/// Names of formats and options aside, no word of these messages is English.
#[test]
fn japanese_messages_are_japanese_throughout() {
    let dir = tempfile::tempdir().unwrap();
    let game = "手合割：平手\n先手：a\n手数----指手---------消費時間--\n*comment\n   1 ７六歩(77)   ( 0:01/00:00:01)\n&x\n\
                   2 ３四歩(33)   ( 0:02/00:00:02)\n   3 投了\n\n変化：2手\n   2 ８四歩(83)\n*comment\n";
    std::fs::write(dir.path().join("a.kifu"), game).unwrap();
    let messages = |args: &[&str]| {
        let output = command(&[args, &["--lang", "ja"]].concat(), dir.path()).output().unwrap();
        let text = message(&output) + &String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && !text.is_empty(), "{args:?}: {text}");
        text
    };
    let english = |text: &str| {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        words.filter(|w| w.len() > 3 && !["kifu", "sfen", "BookDepthLimit"].contains(w)).count()
    };
    for args in [
        &["convert", "a.kifu", "--to", "sfen", "-o", "a.sfen"][..],
        &["convert", "a.kifu", "--to", "csa", "-o", "a.csa"],
        &["book", "make", "a.kifu", "a.csa", "-o", "a.db"],
        &["book", "stats", "a.db"],
        &["book", "verify", "a.db"],
        &["book", "convert", "a.db", "-o", "a.ybb"],
        &["book", "convert", "a.db", "-o", "a.bin"],
        &["book", "convert", "a.db", "-o", "a.sbk"],
        &["book", "minimax", "a.db", "-o", "b.db"],
    ] {
        let text = messages(args);
        assert_eq!(english(&text), 0, "{args:?}: {text}");
    }
}

/// What is wrong in a record, in the language of the other messages.
#[test]
fn faults_of_records_are_named_in_japanese() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text, code, expected) in [
        (
            "a.kif",
            "手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n   4 ２六歩(27)\n",
            1,
            &["a.kif: 4行目: 3手目がありません"][..],
        ),
        (
            "b.kif",
            "手合割：平手\n   1 ７六歩(77)\n   2 ８四金(33)\n   3 投了\n",
            1,
            &["3行目: 「８四金(33)」: 33にその駒はありません"],
        ),
        ("c.kif", "手合割：平手\n   1 同　歩(77)\n   2 投了\n", 1, &["2行目: 初手に「同」があります"]),
        (
            "d.ki2",
            "手合割：平手\n▲５八金 △３四歩\n",
            1,
            &["2行目: 「▲５八金」: この表記に当たる駒が2枚あります"],
        ),
        (
            "e.csa",
            "V2.2\n?\nPI\n+\n+7776FU\nTx\n-3334FU\n+7675FU\n-3435FU\n+7571FU\n%TORYO\n",
            3,
            &[
                "2行目: 「?」はこの形式の行ではありません",
                "6行目: 「Tx」は消費時間ではありません",
                "10行目: 「+7571FU」: 7e7a: 駒の動けない升です。この反則手で終局とします",
            ],
        ),
        ("f.csa", "V2.2\nP1-FU\n+\n", 1, &["2行目: 「P1-FU」は局面の行ではありません"]),
        ("g.psn", "[Sente \"a\"]\n1.P7g-7f\n3.P3c-3d\n", 1, &["3行目: 2手目がありません"]),
        (
            "h.usi",
            "startpos moves 7g7f 7f7e\n",
            3,
            &["1行目: 7f7e: 相手の駒です（同じ側が続けて指しています）。この反則手で終局とします"],
        ),
        (
            "i.jkf",
            "{\"header\":{},\n\"initial\":{\"preset\":\"XX\"},\"moves\":[{}]}",
            1,
            &["2行目: 開始局面「XX」はありません"],
        ),
    ] {
        std::fs::write(dir.path().join(name), text).unwrap();
        let output =
            command(&["convert", name, "--to", "sfen", "--lang", "ja"], dir.path()).output().unwrap();
        let said = message(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        for words in expected {
            assert!(said.contains(words), "{words}: {said}");
        }
        let english = said.split(|c: char| !c.is_ascii_alphabetic()).filter(|w| w.len() > 4);
        assert_eq!(english.collect::<Vec<_>>(), ["toratsugumi"], "{said}");
    }
}
