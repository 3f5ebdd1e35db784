//! The subcommands of `data`: they and `train` refuse options that would lose data or have no effect.

use crate::support::program;
use std::path::{Path, PathBuf};
use toratsugumi::data::file::MIXED;
use toratsugumi::data::psv::PackedSfenValue;
use toratsugumi::data::{EndReason, GameReader, GameRecord, GameResult, GameWriter, PlyRecord, Start};
use toratsugumi::nnue::{Architecture, Network};
use toratsugumi::position::Position;
use toratsugumi::support::random::Rng;

/// Writes small games of random moves, numbered from 0. The fingerprint also seeds the moves.
fn write_games(path: &Path, fingerprint: u64, games: u64) {
    let mut writer = GameWriter::create(path, fingerprint).unwrap();
    for id in 0..games {
        let mut rng = Rng::for_stream(fingerprint, id);
        let mut pos = Position::startpos();
        let mut plies = Vec::new();
        for ply in 0..20 {
            let moves = pos.legal_moves(false);
            let m = moves[rng.below(moves.len())].mv;
            plies.push(PlyRecord::new(m, 10 * ply, ply % 4 > 0));
            pos.do_move(m);
        }
        let (start, opening) = (Start::Startpos, Vec::new());
        let (result, reason) = (GameResult::Draw, EndReason::MaxMoves);
        writer.write(&GameRecord { id, start, opening, plies, result, reason }).unwrap();
    }
    writer.finish().unwrap();
}

/// A directory for runs of the program. `a.games` and `b.games` have different settings; `a.psv` has the 15
/// fit positions of each of the 5 games of `a.games`.
struct Workspace(tempfile::TempDir);

impl Workspace {
    fn new() -> Workspace {
        let dir = Workspace(tempfile::tempdir().unwrap());
        write_games(&dir.at("a.games"), 1, 5);
        write_games(&dir.at("b.games"), 2, 3);
        dir.does("data convert a.games -o a.psv");
        dir
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.at(name)).unwrap()
    }

    /// Exit code, standard output, standard error.
    fn run(&self, line: &str) -> (i32, String, String) {
        let mut command = program();
        let out = command.args(line.split(' ')).current_dir(self.0.path()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
    }

    /// Runs a command that must succeed; returns its output.
    fn does(&self, line: &str) -> String {
        let (code, said, errors) = self.run(line);
        assert!(code == 0 && !errors.contains("warning"), "{line}: {said}{errors}");
        said
    }

    /// Runs a command that must fail with one error line that contains these words.
    fn refuses(&self, line: &str, words: &str) {
        let (code, _, errors) = self.run(line);
        assert!(code == 1 && errors.contains(words), "{line}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{line}: {errors}");
    }
}

#[test]
fn useless_options_are_errors() {
    let dir = Workspace::new();
    for line in [
        "train a.games --out n -j 0",
        "train a.games --out n --loader-threads 0",
        "train a.games --out n --memory 17592186044416",
        "data shuffle a.psv -o b.psv --memory 17592186044416",
        "data shuffle a.psv -o b.psv --memory 0",
        "data label a.psv -o b.psv --positions 0",
        "data label a.psv -o b.psv --seed 2",
        "data label a.psv -o b.psv --resume --force",
        "openings --out lines.txt --count 0",
    ] {
        let (code, _, errors) = dir.run(line);
        assert_eq!(code, 2, "{line}: {errors}");
    }
    dir.refuses("train a.games --out n --schedule constant --lr-end 1e-4", "--lr-end has no effect");
    dir.refuses(
        "train a.games --out n --validation 0 --validation-positions 5",
        "--validation-positions has no",
    );
    dir.refuses("train a.psv --out n --td-lambda 0.7", "--td-lambda needs whole games");
    dir.refuses("data convert a.psv -o b.hcpe --all", "--all is for .games");
    dir.refuses("data merge a.games -o b.psv", "written as .games");
    assert!(!dir.at("n").exists() && !dir.at("b.psv").exists() && !dir.at("lines.txt").exists());
}

/// Positions record the winner, but not how and when the game ended: TD targets of games made from positions
/// end with the last score.
#[test]
fn the_end_of_a_fragment_is_not_the_end_of_the_game() {
    let dir = Workspace::new();
    dir.does("data convert a.games -o all.psv --all");
    dir.does("data convert all.psv -o back.games");
    let told = |line: &str| {
        let (code, _, errors) = dir.run(line);
        assert_eq!(code, 0, "{errors}");
        errors.lines().filter(|l| l.starts_with("note: games ")).collect::<Vec<_>>().join("|")
    };
    assert_eq!(told("data convert a.games -o whole.psv --td-lambda 1"), "");
    let note = told("data convert back.games -o td.psv --td-lambda 1 --all");
    assert!(note.starts_with("note: games whose end is not known: 5 of 5;"), "{note}");
    let record = |name: &str, i: usize| {
        PackedSfenValue::from_bytes(&dir.read(name).as_chunks::<{ PackedSfenValue::LEN }>().0[i]).unwrap()
    };
    assert_eq!((record("td.psv", 19).ply, record("td.psv", 19).score), (20, 190));
    let train = "train back.games --out n --arch kp_256x2-32-32 --batch 32 --epochs 1 --validation 0 -j 1";
    assert_eq!(told(&format!("{train} --td-lambda 0.7")), note);
    assert!(told(&train.replace("--out n", "--out m")).is_empty());
}

#[test]
fn a_network_without_a_checkpoint_is_not_overwritten() {
    let dir = Workspace::new();
    std::fs::create_dir(dir.at("n")).unwrap();
    std::fs::write(dir.at("n/nn.bin"), "mine").unwrap();
    for more in ["", " --resume"] {
        let line = format!("train a.games --out n --arch kp_256x2-32-32 --batch 32 --epochs 1{more}");
        dir.refuses(&line, "holds a network, which is not overwritten");
    }
    assert_eq!(dir.read("n/nn.bin"), b"mine");
}

/// Also on a machine with another number of processors.
#[test]
fn a_resumed_training_keeps_its_number_of_threads() {
    let dir = Workspace::new();
    let train = "train a.games --out n --arch kp_256x2-32-32 --batch 32 --epochs 2 --validation 0 --quiet";
    let (code, _, errors) = dir.run(&format!("{train} -j 5 --max-time 0"));
    assert_eq!(code, 75, "{errors}");
    dir.refuses(
        &format!("{train} -j 4 --lr 0.001 --resume"),
        "schedule.first_rate was 0.003, now 0.001; threads was 5, now 4",
    );
    dir.does(&format!("{train} --resume"));
}

/// Not even with the same number of positions.
#[test]
fn a_training_is_resumed_only_with_the_same_files() {
    let dir = Workspace::new();
    let kind: Architecture = "kp_256x2-32-32".parse().unwrap();
    for (name, text) in [("x.bin", "fv_scale=16"), ("y.bin", "fv_scale=24")] {
        Network::new(kind.zeroed().unwrap(), text.into()).save(&dir.at(name)).unwrap();
    }
    let train =
        "train a.games --out n --arch kp_256x2-32-32 --batch 32 --epochs 2 --validation 0 -j 1 --quiet";
    let (code, _, errors) = dir.run(&format!("{train} --init x.bin --max-time 0"));
    assert_eq!(code, 75, "{errors}");
    dir.refuses(&format!("{train} --init y.bin --resume"), "other settings or data (init ");
    let games = dir.read("a.games");
    write_games(&dir.at("a.games"), 3, 5);
    dir.refuses(&format!("{train} --init x.bin --resume"), "other settings or data (data ");
    std::fs::write(dir.at("a.games"), games).unwrap();
    let (code, _, errors) = dir.run(&format!("{train} --init x.bin --resume --max-time 0"));
    assert_eq!(code, 75, "{errors}");
    dir.does(&format!("{train} --resume"));
}

#[test]
fn outputs_overwrite_nothing_without_force() {
    let dir = Workspace::new();
    std::fs::create_dir(dir.at("other")).unwrap();
    for (line, out) in [
        ("data convert a.games", "other/c.psv"),
        ("data shuffle a.psv", "other/s.psv"),
        ("data dedup a.psv", "other/d.psv"),
        ("data merge a.games", "other/m.games"),
        ("data label a.psv --nodes 1 --hash 1 --quiet", "other/l.psv"),
    ] {
        std::fs::write(dir.at(out), "mine").unwrap();
        dir.refuses(&format!("{line} -o {out}"), "use --force to overwrite it");
        assert_eq!(dir.read(out), b"mine");
        dir.does(&format!("{line} -o {out} --force"));
        assert_ne!(dir.read(out), b"mine");
    }
}

/// A command that writes a file finds out before its work that it cannot.
#[test]
fn outputs_in_missing_directories_are_refused_before_the_work() {
    let dir = Workspace::new();
    std::fs::write(dir.at("a.csa"), "V2.2\nPI\n+\n+7776FU\n%TORYO\n").unwrap();
    std::fs::create_dir(dir.at("d.psv")).unwrap();
    for line in [
        "data convert a.games -o no/x.psv",
        "data shuffle a.psv -o no/x.psv",
        "data dedup a.psv -o no/x.psv",
        "data merge a.games -o no/x.games",
        "data label a.psv -o no/x.psv --nodes 100000000",
        "data label a.psv -o no/x.psv --nodes 100000000 --resume",
        "openings --out no/x.txt --nodes 100000000 --quiet",
        "convert a.csa missing.csa -o no/x.kif",
        "book make a.csa missing.csa -o no/x.db",
        "book minimax <internal> -o no/x.db",
        "book think <internal> -o no/x.db",
        "book think <internal> -o no/x.txt --frontier 5",
        "book pack missing.db -o no/x.zst",
        "net bootstrap -o no/x.bin",
        "net export -o no/x.bin",
        "net pack missing.bin -o no/x.bin",
        "net mean missing.bin missing.bin -o no/x.bin",
        "csa --dry-run --quiet --log no/x.log",
        "csa --dry-run --quiet --out a.psv/no/x.",
        "match -e cmd=self -e cmd=self --nodes 100000000 --quiet --log no/x.log",
    ] {
        dir.refuses(line, if line.contains("--quiet --") { "no/x." } else { ": no directory no" });
    }
    for (line, words) in [
        ("data convert a.games -o d.psv", "d.psv exists"),
        ("data convert a.games -o d.psv --force", "d.psv is a directory"),
    ] {
        dir.refuses(line, words);
    }
    assert!(!dir.at("no").exists());
}

#[test]
fn a_finished_labelling_is_recognized_by_positions_and_settings() {
    let dir = Workspace::new();
    let label = "data label a.psv -o l.psv --nodes 1 --hash 1 --quiet";
    dir.does(&format!("{label} --positions 9"));
    let labelled = dir.read("l.psv");
    assert!(dir.does(&format!("{label} --positions 9 --resume")).contains("l.psv is complete"));
    dir.refuses(&format!("{label} --positions 9 --seed 2 --resume"), "l.psv: holds other positions");
    dir.refuses(&format!("{label} --resume"), "l.psv: holds other positions");
    let deeper = format!("{} --positions 9 --resume", label.replace("--nodes 1", "--nodes 2"));
    dir.refuses(&deeper, "l.psv.label.json was made with other settings (nodes was 1, now 2)");
    assert!(dir.read("l.psv") == labelled);
    // older versions did not record it
    std::fs::remove_file(dir.at("l.psv.label.json")).unwrap();
    assert!(dir.does(&deeper).contains("l.psv is complete"));
}

#[test]
fn inputs_exclude_the_output_and_duplicates() {
    let dir = Workspace::new();
    std::fs::create_dir(dir.at("dd")).unwrap();
    std::fs::copy(dir.at("a.psv"), dir.at("dd/a.psv")).unwrap();
    dir.does("data shuffle dd -o dd/out.psv");
    for line in ["data shuffle dd -o dd/out.psv", "data dedup dd -o dd/../dd/out.psv"] {
        dir.refuses(&format!("{line} --force"), "the output is one of the inputs");
    }
    dir.refuses("data merge a.games -o ./a.games --force", "the output is one of the inputs");
    dir.refuses("data label a.psv -o a.psv --force", "the output is one of the inputs");
    for line in
        ["data merge a.games ./a.games -o m.games --mixed", "data stats . a.psv", "train a.psv a.psv --out n"]
    {
        dir.refuses(line, "given twice");
    }
    assert_eq!(dir.read("dd/out.psv").len(), dir.read("a.psv").len());
    assert!(!dir.at("m.games").exists() && !dir.at("n").exists());
}

#[test]
fn mixed_games_are_renumbered() {
    let dir = Workspace::new();
    dir.refuses("data merge a.games b.games -o m.games", "--mixed");
    dir.does("data merge a.games b.games -o m.games --mixed");
    dir.does("data dedup a.games b.games -o d.games");
    dir.does("data dedup a.games -o one.games");
    for name in ["m.games", "d.games"] {
        assert!(dir.does(&format!("data verify {name}")).contains("8 games"));
        let reader = GameReader::open(&dir.at(name)).unwrap();
        assert_eq!(reader.fingerprint(), MIXED);
        assert!(reader.map(|game| game.unwrap().id).eq(0..8));
    }
    // and again
    dir.refuses("data merge m.games d.games -o n.games", "--mixed");
    dir.does("data merge m.games d.games -o n.games --mixed");
    assert!(dir.does("data verify n.games").contains("16 games"));
    assert_eq!(GameReader::open(&dir.at("one.games")).unwrap().fingerprint(), 1);
}

#[test]
fn games_and_records_are_counted_separately() {
    let dir = Workspace::new();
    std::fs::create_dir(dir.at("both")).unwrap();
    for name in ["a.games", "a.psv"] {
        std::fs::copy(dir.at(name), dir.at(&format!("both/{name}"))).unwrap();
    }
    let (games, both) = (dir.does("data stats a.games"), dir.does("data stats both"));
    let of = |said: &str, line: &str| said.lines().find(|l| l.starts_with(line)).unwrap().to_string();
    assert!(of(&both, "positions ").ends_with(" 175") && of(&both, "  fit").contains(" 150 "), "{both}");
    let means = |said: &str| said[said.find("plies a game").unwrap()..].to_string();
    assert!(
        means(&games).contains("20.0 after 0.0 of the opening; longest 20")
            && means(&games).contains("100.00 %")
    );
    assert_eq!(means(&both), means(&games));
}

#[test]
fn torn_records_are_reported_and_missing_moves_are_valid() {
    let dir = Workspace::new();
    let whole = dir.read("a.psv");
    std::fs::write(dir.at("torn.psv"), &whole[..whole.len() - 7]).unwrap();
    for line in ["data stats torn.psv", "data shuffle torn.psv -o s.psv", "data dedup torn.psv -o d.psv"] {
        let (code, _, errors) = dir.run(line);
        assert!(
            code == 3 && errors.contains("torn.psv: an incomplete record at the end"),
            "{line}: {errors}"
        );
        assert!(errors.ends_with("toratsugumi: damaged files, read in part: 1\n"), "{errors}");
    }
    let games = dir.read("a.games");
    std::fs::write(dir.at("torn.games"), &games[..games.len() - 1]).unwrap();
    for line in
        ["data stats torn.games", "data convert torn.games -o t.psv", "data merge torn.games -o t.games"]
    {
        let (code, _, errors) = dir.run(line);
        assert!(code == 3 && errors.contains("torn.games: reading ends early"), "{line}: {errors}");
    }
    let (code, said, _) = dir.run("data verify torn.psv a.psv");
    assert!(
        code == 1
            && said.contains("torn.psv: an incomplete record at the end; positions in order before it: 74"),
        "{said}"
    );
    assert!(said.contains("a.psv: 75 positions, all in order"), "{said}");

    let (records, _) = whole.as_chunks::<{ PackedSfenValue::LEN }>();
    let moveless = records.iter().enumerate().flat_map(|(i, record)| {
        let record = PackedSfenValue::from_bytes(record).unwrap();
        let mv = if i % 5 == 0 { 0 } else { record.mv };
        PackedSfenValue { mv, ..record }.to_bytes()
    });
    std::fs::write(dir.at("inside.psv"), moveless.collect::<Vec<u8>>()).unwrap();
    let said = dir.does("data verify inside.psv");
    assert!(said.contains("75 positions, 15 of them without a move, all in order"), "{said}");
}
