//! `toratsugumi analyse` with whole games: what it writes, that a run that was killed ends as an undisturbed one, and
//! that the page works in a browser.

use crate::support::program;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use toratsugumi::nnue::Network;
use toratsugumi::position::Position;
use toratsugumi::record::{End, Format, Record, Special, floodgate};
use toratsugumi::support::random::Rng;

const GAME: &str = "tests/data/games/gps_normal_gps_l_2010.csa";

fn analyse(args: &[&str]) -> (bool, String, String) {
    let output = command(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn command(args: &[&str]) -> Command {
    let mut command = program();
    command.arg("analyse").args(args).args(["--hash", "16"]);
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("LC_ALL").env("LANG", "C");
    command
}

/// The first moves of the sample game.
fn short_game(plies: usize) -> Record {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(GAME)).unwrap();
    let mut record = Format::Csa.read(&text).unwrap().remove(0);
    record.moves.truncate(plies);
    if record.moves.len() == plies {
        record.end = None;
    }
    record
}

struct Dir(tempfile::TempDir);

impl Dir {
    fn new() -> Dir {
        Dir(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().into()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// What `analyse --FORM` writes of a game of the directory.
    fn analysed(&self, name: &str, form: &str, args: &[&str]) -> String {
        let (game, out, flag) = (self.at(name), self.at("."), format!("--{form}"));
        let (ok, _, errors) = analyse(&[&[&game, &flag, "--out-dir", &out, "--force"][..], args].concat());
        assert!(ok, "{errors}");
        let ending = match form {
            "text" => "txt",
            "kif" => "kifu",
            other => other,
        };
        self.read(&format!("{}.analysis.{ending}", name.rsplit_once('.').unwrap().0))
    }

    fn game(&self, name: &str, plies: usize) -> String {
        let path = self.at(name);
        std::fs::write(&path, Format::of_path(Path::new(name)).unwrap().write(&short_game(plies))).unwrap();
        path
    }
}

#[test]
fn games_are_written_in_every_form() {
    let dir = Dir::new();
    let game = dir.game("g.kifu", 60);
    let out = dir.at("out");
    let all = ["--html", "--svg", "--kif", "--csa", "--json", "--text"];
    let mut args =
        vec![game.as_str(), "--nodes", "2000", "--multipv", "2", "--lang", "ja", "--out-dir", &out];
    args.extend(all);
    let (ok, said, errors) = analyse(&args);
    assert!(ok && said.is_empty(), "{said}{errors}");

    let report: Value = serde_json::from_str(&dir.read("out/g.analysis.json")).unwrap();
    let (moves, positions) = (report["moves"].as_array().unwrap(), report["positions"].as_array().unwrap());
    assert_eq!((moves.len(), positions.len()), (60, 61));
    let classes = ["best", "good", "inaccuracy", "mistake", "blunder"];
    for (i, m) in moves.iter().enumerate() {
        assert_eq!(m["ply"], i + 1);
        assert!(classes.contains(&m["class"].as_str().unwrap()), "{m}");
        let (before, loss) = (m["before"].as_f64().unwrap(), m["loss"].as_f64().unwrap());
        assert!((0.0..=1.0).contains(&before) && (0.0..=1.0).contains(&loss), "{m}");
        let line = &positions[i]["lines"][0];
        assert_eq!(m["class"] == "best", m["usi"] == line["pv"][0], "{m}");
        assert_eq!(line["pv"].as_array().unwrap().len(), line["text"].as_array().unwrap().len());
        assert!((1..=2).contains(&positions[i]["lines"].as_array().unwrap().len()));
    }
    let of = |side: usize, key: &str| report["sides"][side][key].as_f64().unwrap();
    assert_eq!(of(0, "moves") + of(1, "moves"), 60.0);
    assert!((0.0..=100.0).contains(&of(0, "accuracy")));

    // the records have the same moves, and comments of the known forms
    for (name, format) in [("out/g.analysis.kifu", Format::Kif), ("out/g.analysis.csa", Format::Csa)] {
        let back = format.read(&dir.read(name)).unwrap().remove(0);
        let mut original = short_game(60);
        if format == Format::Kif {
            // what the engines told the server is spelled out
            floodgate::spell_out(&mut original);
        }
        assert_eq!(back.moves.len(), 60);
        for (annotated, ply) in back.moves.iter().zip(&original.moves) {
            assert_eq!((annotated.mv, annotated.time), (ply.mv, ply.time));
            assert!(annotated.comments.starts_with(&ply.comments));
            let line = annotated.comments.iter().find(|c| c.starts_with("*解析 ")).unwrap();
            assert!(line.contains(" 評価値 ") && line.contains(" 深さ "), "{line}");
        }
    }

    let page = dir.read("out/g.analysis.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("lang=\"ja\"") && page.contains("最善手"));
    assert!(page.contains("default-src 'none'"));
    // 400 kB for 150 moves
    assert!(page.len() < 60 * 400_000 / 150, "{}", page.len());
    for outside in ["src=", "href=", "@import", "url(", "fetch(", "{{"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let svg = dir.read("out/g.analysis.svg");
    assert!(svg.starts_with("<svg") && svg.contains("<polyline") && svg.ends_with("</svg>\n"));
    let text = dir.read("out/g.analysis.txt");
    assert_eq!(text.lines().filter(|l| l.contains('▕')).count(), 60);
    assert!(text.contains("精度"));

    // a second run has nothing to search, and can speak another language
    let before = dir.read("out/g.analysis.json");
    let begun = Instant::now();
    let (ok, _, errors) =
        analyse(&[&game, "--nodes", "2000", "--multipv", "2", "--lang", "ja", "--out-dir", &out]);
    assert!(ok, "{errors}");
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(dir.read("out/g.analysis.json"), before);
    // neither has the terminal's text: a value that no search gave is shown
    let mut edited: Value = serde_json::from_str(&before).unwrap();
    edited["positions"][1]["lines"][0]["value"] = 1234.into();
    std::fs::write(dir.at("out/g.analysis.json"), edited.to_string()).unwrap();
    let output =
        command(&[&game, "--nodes", "2000", "--multipv", "2"]).current_dir(dir.at("out")).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("-1371"), "{output:?}");
    std::fs::write(dir.at("out/g.analysis.json"), &before).unwrap();
    // other settings are another analysis
    let (ok, _, errors) = analyse(&[&game, "--nodes", "500", "--out-dir", &out]);
    assert!(!ok && errors.contains("--force"), "{errors}");
    assert_eq!(dir.read("out/g.analysis.json"), before);
}

#[test]
fn a_game_alone_goes_to_standard_output() {
    let dir = Dir::new();
    let game = dir.game("g.csa", 20);
    let (ok, out, errors) = analyse(&[&game, "--nodes", "500", "--lang", "en"]);
    assert!(ok, "{errors}");
    assert!(out.contains("accuracy") && out.contains("P-76"), "{out}");
    assert_eq!(std::fs::read_dir(dir.0.path()).unwrap().count(), 1);
    // an error names its line, and the other games are analysed
    std::fs::write(dir.at("bad.csa"), "V2.2\nPI\n+\n+7775FU\n").unwrap();
    let (ok, out, errors) = analyse(&[&dir.at("bad.csa"), &game, "--nodes", "500", "--lang", "ja"]);
    assert!(!ok && errors.contains("bad.csa: 4行目") && out.contains("精度"), "{errors}");
    let (ok, _, errors) = analyse(&[&game, "--sfen", "4k4/9/9/9/9/9/9/9/4K4 b - 1"]);
    assert!(!ok && errors.contains("cannot be used with"), "{errors}");
}

#[test]
fn stored_readings_depend_on_the_networks_content() {
    let dir = Dir::new();
    let (game, network) = (dir.game("a.csa", 2), dir.at("nn.bin"));
    let command =
        [game.as_str(), "--depth", "1", "--json", "--out-dir", &dir.at("."), "--eval-dir", &network];
    let (ok, _, errors) = analyse(&command);
    assert!(!ok && errors.contains("nn.bin"), "{errors}");
    Network::bootstrap().unwrap().save(Path::new(&network)).unwrap();
    assert!(analyse(&command).0 && analyse(&command).0);
    Network::embedded().unwrap().save(Path::new(&network)).unwrap();
    let (ok, _, errors) = analyse(&command);
    assert!(!ok && errors.contains("--force"), "{errors}");
}

#[test]
fn foreign_files_are_not_overwritten() {
    let dir = Dir::new();
    let (game, mine) = (dir.game("a.csa", 2), dir.at("a.analysis.txt"));
    std::fs::write(&mine, "mine").unwrap();
    let command = [game.as_str(), "--depth", "1", "--text", "--out-dir", &dir.at(".")];
    let (ok, _, errors) = analyse(&command);
    assert!(!ok && errors.contains("a.analysis.txt exists; use --force"), "{errors}");
    assert_eq!(dir.read("a.analysis.txt"), "mine");
    assert!(analyse(&[&command[..], &["--force"]].concat()).0);
    // now it is its own
    assert!(analyse(&command).0 && dir.read("a.analysis.txt") != "mine");
}

/// A repetition is even, and that is its last move's doing; where a draw was agreed upon, or came by the number of moves,
/// the last move is judged by what it left.
#[test]
fn repetition_makes_the_last_position_even() {
    let dir = Dir::new();
    let mut record = short_game(30);
    let mut values = Vec::new();
    for (i, special) in [Special::Interrupted, Special::Repetition, Special::MaxMoves, Special::Impasse]
        .into_iter()
        .enumerate()
    {
        let name = format!("{i}.csa");
        record.end = Some(End::of(special));
        std::fs::write(dir.at(&name), Format::Csa.write(&record)).unwrap();
        let read: Value = serde_json::from_str(&dir.analysed(&name, "json", &["--depth", "1"])).unwrap();
        values.push(read["positions"][30]["lines"][0]["value"].as_i64().unwrap());
    }
    let open = values[0];
    assert!(open != 0 && values == [open, 0, open, open], "{values:?}");
}

/// Ends that are no search's: Black, and White, mates; Black's checks repeat; Black could have declared a win.
#[test]
fn decided_positions_have_exact_values() {
    const MATED: &str = "4k4/9/4P4/9/9/9/9/9/4K4 b 2G 1";
    const CHECKED: &str = "8k/9/9/9/7R1/9/PPPPPPP2/1B7/LNSGKGSN1 b - 1";
    const ENTERED: &str = "+P+P+PK+P+P+P+P+P/+R+B7/+P8/9/9/9/9/6+l+l+l/6skg b RB2Gg3s4nl9p 1";
    let dir = Dir::new();
    let read = |name: &str, sfen: &str, moves: &str, form: &str| {
        std::fs::write(
            dir.at(name),
            format!(
                "sfen {sfen} moves {moves}
"
            ),
        )
        .unwrap();
        dir.analysed(name, form, &["--nodes", "1000", "--lang", "ja"])
    };
    let turned = "4k4/9/9/9/9/9/4p4/9/4K4 w 2g 1";
    for (sfen, m, winner, score) in [(MATED, "G*5b", "先手", "+詰0"), (turned, "G*5h", "後手", "-詰0")]
    {
        assert!(read("m.usi", sfen, m, "text").contains(score));
        let kif = read("m.usi", sfen, m, "kif");
        let sign = if winner == "先手" { "" } else { "-" };
        assert!(kif.contains(&format!("*#詰み={winner}勝ち:0手")), "{kif}");
        assert!(kif.contains(&format!("評価値 {sign}3")) && !kif.contains("評価値 0"), "{kif}");
        let last: Value = serde_json::from_str(&read("m.usi", sfen, m, "json")).unwrap();
        let line = &last["positions"][1]["lines"][0];
        assert!(line["mate"] == 0 && (line["cp"].as_i64().unwrap() > 0) == sign.is_empty(), "{line}");
    }
    let round = "2e1e 1a2a 1e2e 2a1a";
    let text = read("p.usi", CHECKED, &[round; 3].join(" "), "json");
    let checks: Value = serde_json::from_str(&text).unwrap();
    let last = checks["positions"].as_array().unwrap().last().unwrap();
    assert!(last["win_rate"].as_f64().unwrap() < 0.01 && last["lines"][0]["mate"].is_null(), "{last}");
    for (form, said) in [("json", "入玉宣言"), ("kif", "最善は入玉宣言"), ("text", "入玉宣言")]
    {
        let text = read("d.usi", ENTERED, "9c8c", form);
        assert!(text.contains(said) && !text.contains("手詰") && !text.contains("#詰み"), "{form}: {text}");
    }
}

/// A record without moves is a position, and who made no move has no accuracy.
#[test]
fn all_games_of_a_kif_file_are_analysed() {
    let dir = Dir::new();
    let game = Format::Kif.write(&short_game(5));
    std::fs::write(dir.at("two.kifu"), game.clone() + &game).unwrap();
    let (ok, _, errors) =
        analyse(&[&dir.at("two.kifu"), "--nodes", "100", "--html", "--out-dir", &dir.at("out")]);
    assert!(ok && !errors.contains("another"), "{errors}");
    for name in ["two-1", "two-2"] {
        let report: Value = serde_json::from_str(&dir.read(&format!("out/{name}.analysis.json"))).unwrap();
        assert_eq!(report["moves"].as_array().unwrap().len(), 5, "{name}");
    }
}

#[test]
fn a_record_without_moves_is_read_as_a_position() {
    let dir = Dir::new();
    let problem = Position::from_sfen("4k4/9/4P4/9/9/9/9/9/4K4 b G 1").unwrap();
    std::fs::write(dir.at("p.bod"), Format::Bod.write(&Record::new(problem))).unwrap();
    let text = dir.analysed("p.bod", "text", &["--nodes", "500", "--lang", "en"]);
    assert!(text.contains("+M1  G*52") && text.contains("100%") && !text.contains("accuracy"), "{text}");
    let kif = dir.analysed("p.bod", "kif", &["--nodes", "500", "--lang", "ja"]);
    assert!(kif.contains("*後手: 精度 -, 平均損失 -"), "{kif}");
    let mut record = short_game(1);
    record.end = Some(End::of(Special::Resign));
    std::fs::write(dir.at("r.csa"), Format::Csa.write(&record)).unwrap();
    let text = dir.analysed("r.csa", "text", &["--nodes", "100", "--lang", "en"]);
    assert!(text.contains("     resignation\n") && !text.contains("投了"), "{text}");
    assert!(text.lines().any(|l| l.starts_with("accuracy") && l.ends_with('-')), "{text}");
}

/// CSA has no variations.
#[test]
fn lost_content_is_reported() {
    let dir = Dir::new();
    let text = "手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n\n変化：2手\n   2 ８四歩(83)\n";
    std::fs::write(dir.at("v.kifu"), text).unwrap();
    let (ok, _, said) = analyse(&[&dir.at("v.kifu"), "--nodes", "50", "--csa", "--out-dir", &dir.at(".")]);
    assert!(ok && said.contains("csa cannot store 1 variation"), "{said}");
}

/// The page holds whatever players write.
#[test]
fn comments_cannot_break_the_page() {
    let dir = Dir::new();
    let comment = "see <!-- here, <script> and </script>";
    std::fs::write(dir.at("c.kifu"), format!("手合割：平手\n   1 ７六歩(77)\n*{comment}\n")).unwrap();
    let page = dir.analysed("c.kifu", "html", &["--nodes", "100"]);
    let (_, behind) = page.split_once("id=\"game\"").unwrap();
    let (data, _) = behind.split_once('>').unwrap().1.split_once("</script>").unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["moves"][0]["comments"][0], comment);
}

#[test]
fn positions_are_analysed_in_both_languages() {
    let (ok, out, errors) = analyse(&["--nodes", "2000", "--moves", "7g7f", "3c3d"]);
    assert!(ok && out.contains("best move for Black: ") && out.contains("win rate"), "{out}{errors}");
    assert!(out.contains("depth  1") && out.chars().all(|c| c.is_ascii() || c == '×'), "one language: {out}");
    let (ok, out, errors) = analyse(&["--nodes", "2000", "--moves", "7g7f", "3c3d", "--lang", "ja"]);
    assert!(ok && out.contains("先手の最善手: ▲") && out.contains("先手の持駒"), "{out}{errors}");
    for (refused, en, ja) in [
        (
            ["--moves", "7g7g"],
            "move 1: 7g7g: the target holds a piece",
            "1手目「7g7g」: 移動先に味方の駒があります",
        ),
        (
            ["--moves", "7g"],
            "move 1: 7g: not a move in USI notation",
            "1手目「7g」: USI形式の指し手ではありません",
        ),
        (["--sfen", "9"], "bad SFEN: board: 9 ranks", "SFENが正しくありません"),
    ] {
        for (lang, expected) in [("en", en), ("ja", ja)] {
            let (ok, _, errors) = analyse(&[&refused[..], &["--lang", lang]].concat());
            assert!(!ok && errors.contains(expected), "{errors}");
        }
    }
    for options in [&["--book", "no.db"][..], &["--mate-nodes", "5"], &["--force"]] {
        let (ok, _, errors) = analyse(&[&["--nodes", "10", "--sfen", "startpos"], options].concat());
        assert!(!ok && errors.contains(options[0]) && errors.contains("no effect on a position"), "{errors}");
    }
}

/// A mate that a short search does not see; another first move mates, too.
#[test]
fn mates_are_found_by_the_solver() {
    const MATE: &str = "5p2l/1+S7/p1p3k2/1p1p1gppp/P1N3l2/S1PBP1PsP/1K1P1P2N/6+R2/LN1G5 b 2GSPrbnl2p 157";
    let dir = Dir::new();
    let read = |name: &str, played: &str, mate_nodes: &str| -> Value {
        std::fs::write(dir.at(&format!("{name}.usi")), format!("sfen {MATE} moves {played}\n")).unwrap();
        let game = dir.at(&format!("{name}.usi"));
        let (ok, _, errors) = analyse(&[
            &game,
            "--nodes",
            "300",
            "--mate-nodes",
            mate_nodes,
            "--json",
            "--out-dir",
            &dir.at(name),
        ]);
        assert!(ok, "{errors}");
        serde_json::from_str(&dir.read(&format!("{name}/{name}.analysis.json"))).unwrap()
    };
    // without the solver nobody knows of it
    assert!(read("blind", "S*2b", "0")["moves"][0]["missed_mate"].is_null());
    let missed = read("missed", "S*2b", "50000");
    let plies = missed["moves"][0]["missed_mate"].as_u64().unwrap();
    assert!(plies >= 11 && missed["sides"][0]["missed_mates"] == 1, "{missed}");
    let line = missed["positions"][0]["lines"][0]["pv"].as_array().unwrap();
    assert_eq!(line.len() as u64, plies);
    let other = read("other", "1g2e", "50000");
    let (m, after) = (&other["moves"][0], &other["positions"][1]["lines"][0]);
    assert!(m["missed_mate"].is_null() && m["loss"] == 0.0 && after["mate"].as_i64() > Some(0), "{other}");
}

/// Three games, or as many as the environment says, killed ten times.
#[test]
fn killed_batches_resume_to_the_same_files() {
    let count: usize = std::env::var("REVIEW_GAMES").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let dir = Dir::new();
    std::fs::create_dir_all(dir.at("games/deep")).unwrap();
    for i in 0..count {
        dir.game(&format!("games/{}g{i}.csa", if i % 2 == 0 { "" } else { "deep/" }), 50 + 7 * i);
    }
    let run = |out: &str| command(&[&dir.at("games"), "--nodes", "300", "--html", "--out-dir", &dir.at(out)]);
    let begun = Instant::now();
    assert!(run("whole").stderr(Stdio::null()).status().unwrap().success());
    let whole = begun.elapsed();
    let mut rng = Rng::new(5);
    for _ in 0..10 {
        let mut child = run("killed").stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(whole.mul_f64(0.05 + 0.2 * (rng.below(1000) as f64 / 1000.0)));
        // SIGKILL: nothing can be saved on the way out
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(run("killed").stderr(Stdio::null()).status().unwrap().success());
    let files = |out: &str| {
        let mut found = Vec::new();
        walk(Path::new(&dir.at(out)), &mut found);
        found.sort();
        found
    };
    let (a, b) = (files("whole"), files("killed"));
    assert_eq!((a.len(), b.len()), (2 * count, 2 * count));
    for (a, b) in a.iter().zip(&b) {
        assert!(std::fs::read(a).unwrap() == std::fs::read(b).unwrap(), "{}", b.display());
    }
}

/// The readings of a game depend on nothing but the game and the settings.
#[test]
fn threads_make_no_difference() {
    let dir = Dir::new();
    dir.game("g.csa", 60);
    let read = |threads: &str| -> Value {
        let text = dir.analysed("g.csa", "json", &["--nodes", "2000", "--threads", threads]);
        serde_json::from_str(&text).unwrap()
    };
    let (one, three) = (read("1"), read("3"));
    assert_eq!(one["positions"], three["positions"]);
    assert_eq!(one["moves"], three["moves"]);
    let again = one["positions"].as_array().unwrap().iter().filter(|p| p["again"] == true).count();
    assert!(again > 5, "{again} positions were searched again");
    // what was read is not read again with other threads
    let (ok, _, errors) = analyse(&[
        &dir.at("g.csa"),
        "--json",
        "--out-dir",
        &dir.at("."),
        "--nodes",
        "2000",
        "--threads",
        "2",
    ]);
    assert!(ok, "{errors}");
}

fn walk(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, found) } else { found.push(path) }
    }
}

/// What the browser is made to do, and to check. Runs after the page's own script.
const ACTIONS: &str = r##"
const N = JSON.parse(document.getElementById("game").textContent).moves.length;
const result = [];
const check = (name, ok) => result.push((ok ? "ok " : "FAILED ") + name);
const by = (id) => document.getElementById(id);
const ply = () => Number(by("slider").value);
const key = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const label = () => by("board").getAttribute("aria-label");
const pieces = () => by("board").querySelectorAll("g").length;
const press = (node, type, x, y, buttons = 0) => node.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, buttons, bubbles: true, pointerId: 1, pointerType: "touch" }));
const tap = (sq) => {
  const box = by("board").getBoundingClientRect(), scale = Math.min(box.width, box.height) / 430, left = box.left + (box.width - 430 * scale) / 2;
  const column = 9 - Number(sq[0]), row = sq.charCodeAt(1) - 97;
  by("board").dispatchEvent(new MouseEvent("click", { clientX: left + (12 + 44 * (column + 0.5)) * scale, clientY: box.top + (20 + 44 * (row + 0.5)) * scale, bubbles: true }));
};
const game = JSON.parse(by("game").textContent);
const flagged = game.moves.find((move) => ["inaccuracy", "mistake", "blunder"].includes(move.class));
try {
  check("begins at the start", ply() === 0 && pieces() === 40);
  const points = by("detail").querySelectorAll(".turns button");
  check("the turning points at the start", points.length > 0 && points.length === game.turning_points.length);
  points[0].click(); check("a turning point", ply() === game.turning_points[0].ply && !by("detail").querySelector(".turns")); by("first").click();
  check("times below a second", by("times").textContent.includes("0.3 s") && document.querySelector(".summary").textContent.includes("Time"));
  key("ArrowRight"); check("arrow right", ply() === 1 && by("board").querySelectorAll(".to").length === 1);
  key("ArrowLeft"); check("arrow left", ply() === 0);
  key("End"); const end = by("moves").querySelector("[aria-current=true]").getBoundingClientRect();
  check("the last move is in sight", window.innerWidth < 700 || end.bottom <= window.innerHeight);
  check("End", ply() === N && by("moves").querySelector("[aria-current=true]").dataset.ply === String(N));
  key("ArrowRight"); check("stays at the end", ply() === N);
  key("Home"); check("Home", ply() === 0);
  key("ArrowDown"); const first = ply(); key("ArrowUp"); check("mistakes by arrow", first > 0 && ply() === 0);
  by("forward").click(); by("forward").click(); by("back").click(); check("buttons", ply() === 1);
  by("last").click(); check("last", ply() === N); by("first").click(); check("first", ply() === 0);
  by("slider").value = 7; by("slider").dispatchEvent(new Event("input")); check("slider", ply() === 7 && location.hash === "#7");
  by("moves").querySelectorAll("button[data-ply]")[12].click(); check("list", ply() === 12);
  const box = by("graph").getBoundingClientRect();
  press(by("graph"), "pointerdown", box.right - 11, box.top + 20, 1); check("graph", ply() === N);
  press(by("graph"), "pointermove", box.left + box.width / 2, box.top + 20, 1);
  check("graph by dragging", Math.abs(ply() - N / 2) < N / 10);
  press(by("graph"), "pointermove", box.left + 50, box.top + 20); check("graph by hovering", by("pointed").textContent.length > 5 && ply() > N / 4);
  press(by("graph"), "pointerleave", 0, 0);
  const curve = () => by("graph").querySelector(".curve").getAttribute("points");
  const rates = curve(); by("centipawns").click(); check("centipawns", curve() !== rates); by("centipawns").click(); check("win rates", curve() === rates);
  key("End"); tap("5e"); check("the board's left half", [N, N - 1].includes(ply()));
  by("first").click();
  const before = label();
  by("lines").querySelectorAll("button")[2].click();
  check("a line is played", ply() === 0 && label() !== before && by("lines").querySelectorAll("[aria-current=true]").length === 1);
  key("ArrowLeft"); check("back within the line", by("lines").querySelectorAll("button")[1].getAttribute("aria-current") === "true");
  key("Escape"); check("back to the game", label() === before);
  check("star points", by("board").querySelectorAll(".star").length === 4);
  const arrows = () => [...by("board").querySelectorAll(".arrow")].map((a) => a.dataset.move);
  by("moves").querySelector(`button[data-ply="${flagged.ply}"]`).click();
  check("two arrows at a bad move", arrows().length === 2 && arrows()[0] === flagged.usi && arrows()[1] === game.positions[flagged.ply - 1].lines[0].pv[0]);
  const rows = by("compare").querySelectorAll(".line");
  check("two lines at a bad move", rows.length === 2);
  const place = rows[1].querySelector("button").getBoundingClientRect().top;
  rows[1].querySelector("button").click(); check("the better move on the board", label().includes(rows[1].querySelector("button").textContent) && by("board").querySelectorAll(".to").length === 1);
  check("no line has moved", by("compare").querySelectorAll(".line")[1].querySelector("button").getBoundingClientRect().top === place);
  by("compare").querySelector(".leave").click(); check("back from the line", arrows().length === 2 && !document.querySelector(".leave"));
  by("first").click();
  tap("7g"); check("a piece is picked up", by("board").querySelectorAll(".target").length === 1);
  key("Escape"); check("and put down", by("board").querySelectorAll(".target").length === 0);
  tap("9g"); tap("9f"); check("a move of one's own", ply() === 0 && label().endsWith(" P-96") && by("detail").querySelector(".answer"));
  key("Escape"); tap("9g"); tap("5e"); check("only legal moves", label() === before);
  key("t"); check("own moves by keyboard", document.activeElement === by("own-move") && by("legal").children.length === 30);
  by("own-move").value = "1g1f"; by("own").requestSubmit(); check("a typed move", label().includes("16"));
  key("Escape"); by("own-move").value = "G49-58"; by("own").requestSubmit(); check("a typed move in words", label().endsWith(" G49-58"));
  key("Escape"); by("own-move").value = "1g1e"; by("own").requestSubmit(); check("an illegal move is refused", label() === before && by("own-answer").textContent.includes("1g1e"));
  const writtenAsPlayed = game.moves.filter((move) => {
    by("moves").querySelector(`button[data-ply="${move.ply - 1}"]`).click();
    by("own-move").value = move.text; by("own").requestSubmit();
    return ply() === move.ply;
  });
  check("moves typed as they are listed", writtenAsPlayed.length === N); by("first").click();
  document.activeElement.blur();
  const side = game.moves.find((move) => ["mistake", "blunder"].includes(move.class));
  window.scrollTo(0, document.body.scrollHeight);
  by("learn-" + side.side).click();
  const asked = by("lesson").getBoundingClientRect(), play = document.querySelector(".play").getBoundingClientRect();
  check("the question is in sight", asked.bottom <= window.innerHeight && asked.top >= (asked.left < play.right ? play.bottom : 0));
  check("a question", !by("lesson").hidden && ply() === side.ply - 1 && by("lines").hidden && by("detail").hidden && by("compare").children.length === 0);
  const best = game.positions[side.ply - 1].lines[0].pv[0];
  by("own-move").value = side.usi; by("own").requestSubmit();
  check("a wrong answer", by("lines").hidden && arrows().length === 0 && by("lesson").querySelector(".answer").textContent.includes("Try another"));
  by("own-move").value = best; by("own").requestSubmit();
  check("the right answer", !by("lines").hidden && by("lesson").querySelector(".answer").textContent.includes("best"));
  check("both moves with the answer", arrows().join() === [side.usi, best].join() && by("compare").querySelectorAll(".line").length === 2 && by("detail").textContent === "");
  key("n"); check("the next question", by("lesson").hidden || by("lines").hidden);
  while (!by("lesson").hidden) key("n");
  by("learn-" + side.side).click(); by("lesson").querySelector("button").click(); check("the answer is shown", !by("lines").hidden);
  key("Escape"); check("the end of the lesson", by("lesson").hidden);
  if (by("board").getAttribute("aria-label") && ply() > 0) by("first").click();
  const rank = () => by("board").querySelectorAll(".label")[1].textContent;
  by("ranks").value = "abcdefghi"; by("ranks").dispatchEvent(new Event("change")); check("ranks", rank() === "a" || rank() === "i");
  by("pieces").value = "letters"; by("pieces").dispatchEvent(new Event("change")); check("letters", /[PLNSGBRK]/.test(by("board").querySelector(".face").textContent));
  by("pieces").value = "kanji"; by("pieces").dispatchEvent(new Event("change"));
  check("the record is in the page", game.kif.includes("手数") && /^V[23]/m.test(game.csa));
  const copied = [], saved = [];
  Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { copied.push(text); } } });
  URL.createObjectURL = (blob) => { saved.push(blob.size); return "#"; };
  HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };
  const bytes = (text) => new TextEncoder().encode(text).length;
  by("first").click(); by("copy-sfen").click(); by("copy-kif").click(); by("copy-csa").click();
  check("copied", copied.length === 3 && copied[0] === game.root && copied[1] === game.kif && copied[2] === game.csa);
  by("save-kif").click(); by("save-csa").click();
  check("saved", saved.join() === [bytes(game.kif), "game.kifu", bytes(game.csa), "game.csa"].join());
  const top = () => by("hand-top").textContent;
  const was = top(); key("f"); check("turned", top() !== was); key("f");
  by("theme").click(); const dark = getComputedStyle(document.body).backgroundColor;
  by("theme").click(); check("dark and light", dark !== getComputedStyle(document.body).backgroundColor);
  window.scrollTo(0, document.body.scrollHeight); by("moves").querySelector("button").click();
  const seen = by("board").getBoundingClientRect();
  check("the board stays in sight", seen.bottom > 0 && seen.top < window.innerHeight && seen.top >= -1);
  window.scrollTo(0, 0);
  check("every control has a name", [...document.querySelectorAll("button, input, select")].every((b) => (b.textContent || b.getAttribute("aria-label") || (b.labels && b.labels[0] && b.labels[0].textContent) || "").trim()));
  check("nothing wider than the window", document.documentElement.scrollWidth <= window.innerWidth);
  check("nothing fetched", performance.getEntriesByType("resource").length === 0);
} catch (e) { result.push("FAILED " + e); }
const pre = document.createElement("pre"); pre.id = "result"; pre.textContent = result.join("\n"); document.body.appendChild(pre);
"##;

/// A book that knows the sample game's first five moves, with another move beside the fourth, and another alone for the
/// seventh.
fn book(dir: &Dir) -> String {
    let record = short_game(7);
    let mut position = record.root.clone();
    let mut text = String::from("#YANEURAOU-DB2016 1.00\n");
    for (i, ply) in record.moves.iter().enumerate() {
        let other = position.legal_moves(true).iter().map(|m| m.mv).find(|m| *m != ply.mv).unwrap();
        let moves = match i {
            0..=2 | 4 => vec![ply.mv],
            3 => vec![other, ply.mv],
            6 => vec![other],
            _ => vec![],
        };
        if !moves.is_empty() {
            text += &format!("sfen {}\n", position.sfen());
            moves.iter().enumerate().for_each(|(rank, m)| text += &format!("{m} none 0 0 {}\n", 9 - rank));
        }
        position.do_move(ply.mv);
    }
    let path = dir.at("book.db");
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn book_moves_are_marked() {
    let dir = Dir::new();
    let (game, book, out) = (dir.game("g.kifu", 8), book(&dir), dir.at("out"));
    let forms = ["--html", "--kif", "--text"];
    let mut args = vec![game.as_str(), "--book", &book, "--nodes", "300", "--lang", "ja", "--out-dir", &out];
    args.extend(forms);
    let (ok, _, errors) = analyse(&args);
    assert!(ok, "{errors}");
    let report: Value = serde_json::from_str(&dir.read("out/g.analysis.json")).unwrap();
    let played: Vec<Option<bool>> =
        report["moves"].as_array().unwrap().iter().map(|m| m["book"]["played"].as_bool()).collect();
    let yes = Some(true);
    assert_eq!(played, [yes, yes, yes, yes, yes, None, Some(false), None]);
    assert_eq!(report["moves"][3]["book"]["moves"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&report["sides"][0]["book_moves"], &report["sides"][1]["book_moves"]),
        (&3.into(), &2.into())
    );
    let text = dir.read("out/g.analysis.txt");
    assert_eq!(text.lines().filter(|l| l.ends_with(" 定跡")).count(), 5, "{text}");
    assert!(text.contains(" 定跡は▲") && text.contains("定跡手"), "{text}");
    let kif = dir.read("out/g.analysis.kifu");
    assert_eq!((kif.matches("*【定跡】").count(), kif.matches("*定跡は▲").count()), (5, 1), "{kif}");
    assert!(dir.read("out/g.analysis.html").contains("定跡手"));

    // a book that cannot be read is one error, before anything is searched
    std::fs::write(dir.at("bad.ybb"), "YBB?").unwrap();
    for name in ["bad.ybb", "none.db"] {
        let (ok, said, errors) = analyse(&[&game, "--book", &dir.at(name)]);
        assert!(!ok && said.is_empty() && errors.contains(name) && errors.lines().count() == 1, "{errors}");
    }
}

/// The page's own rules against the engine's: the legal moves of 300 positions, and of 1,000 from games of random moves.
#[test]
#[ignore = "needs node: make page-test"]
fn the_pages_rules_are_the_engines() {
    let mut rng = Rng::new(11);
    let known = include_str!("../data/legal_moves.tsv").lines().filter(|line| !line.starts_with('#'));
    let mut positions: Vec<Position> =
        known.map(|line| Position::from_sfen(line.split('\t').next().unwrap()).unwrap()).collect();
    let mut position = Position::startpos();
    for plies in 1..=1000 {
        let moves: Vec<_> = position.legal_moves(true).iter().map(|m| m.mv).collect();
        if moves.is_empty() || plies % 150 == 0 {
            position = Position::startpos();
            continue;
        }
        position.do_move(moves[rng.below(moves.len())]);
        positions.push(Position::from_sfen(&position.sfen()).unwrap());
    }
    assert!(positions.len() > 1200);
    let mut wanted: Vec<Value> = Vec::new();
    for position in &positions {
        let mut moves: Vec<String> = position.legal_moves(true).iter().map(|m| m.mv.to_string()).collect();
        moves.sort();
        wanted.push(serde_json::json!([position.sfen(), moves.join(" ")]));
    }
    let rules =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/review/page/rules.js"));
    let script = format!(
        "{}\nfor (const [sfen, moves] of {}) {{ const position = Rules.parseSfen(sfen);\n\
         const found = Rules.legalMoves(position).sort().join(' ');\n\
         if (found !== moves) throw new Error(sfen + ': ' + found + ' instead of ' + moves);\n\
         if (Rules.toSfen(position, sfen.split(' ')[3]) !== sfen) throw new Error(sfen); }}\n",
        rules.unwrap(),
        Value::Array(wanted)
    );
    let dir = Dir::new();
    std::fs::write(dir.at("rules.js"), script).unwrap();
    let output = Command::new("node").arg(dir.at("rules.js")).output().expect("node");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// `make page-test` runs this; it needs a Chromium.
#[test]
#[ignore = "needs chromium: make page-test"]
fn the_page_works_in_chromium() {
    let dir = Dir::new();
    let mut record = short_game(90);
    record.moves.iter_mut().for_each(|ply| ply.time = Some(Duration::from_millis(300)));
    let game = dir.at("g.csa");
    std::fs::write(&game, Format::Csa.write(&record)).unwrap();
    let (ok, _, errors) = analyse(&[&game, "--nodes", "1000", "--html", "--out-dir", &dir.at("out")]);
    assert!(ok, "{errors}");
    let page = dir.read("out/g.analysis.html");
    // 400 kB for a game of 150 moves
    assert!(page.len() < 400_000 * 90 / 150, "{} bytes", page.len());
    // the errors of so short searches leave no move surely bad, but the questions need some
    let (before, data) = page.split_once(r#"id="game">"#).unwrap();
    let (data, after) = data.split_once("</script>").unwrap();
    let mut data: Value = serde_json::from_str(data).unwrap();
    for move_ in data["moves"].as_array_mut().unwrap() {
        let bad = ["mistake", "blunder"].contains(&move_["class"].as_str().unwrap());
        move_["least"] = if bad { move_["class"].clone() } else { "good".into() };
    }
    let sure = format!(r#"{before}id="game">{data}</script>{after}"#);
    let tested = sure.replace("</body>", &format!("<script>{ACTIONS}</script></body>"));
    std::fs::write(dir.at("test.html"), tested).unwrap();
    let chromium = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
    for (width, height) in [(1280, 800), (390, 844)] {
        let output = Command::new(&chromium)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"])
            .arg(format!("--window-size={width},{height}"))
            .arg(format!("--user-data-dir={}", dir.at("profile")))
            .arg(format!("file://{}", dir.at("test.html")))
            .output()
            .unwrap_or_else(|e| panic!("{chromium}: {e}"));
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        let result = dom.split("<pre id=\"result\">").nth(1).and_then(|r| r.split("</pre>").next());
        let result = result.unwrap_or_else(|| panic!("{dom}"));
        assert!(result.lines().count() > 15 && !result.contains("FAILED"), "{width}: {result}");
    }
}
