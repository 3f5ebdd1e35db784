//! Networks of every architecture, detected by their files: in commands, several in one process, damaged, and
//! compared with YaneuraOu's evaluations.

use crate::nnue::{Random, noise, outputs_are_those_of_the_table, read, synthetic, written};
use crate::support;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toratsugumi::engine::Engine;
use toratsugumi::nnue::arch::ARCHITECTURES;
use toratsugumi::nnue::{Architecture, HeadShape, Network, NetworkError, evaluate_from_scratch};
use toratsugumi::position::Position;
use toratsugumi::search::{Limits, SearchOptions, Searcher, Silent};

fn kp() -> Architecture {
    "kp_256x2-32-32".parse().unwrap()
}

/// Runs the program: whether it succeeded, its output and its errors.
fn program(args: &[&str]) -> (bool, String, String) {
    let out = support::program().args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.success(), text(out.stdout), text(out.stderr))
}

fn save(network: &Network, dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(name);
    network.save(&path).unwrap();
    path
}

#[test]
fn evaluations_are_those_of_yaneuraou_for_every_architecture() {
    let of = |name: &str| Arc::new(synthetic(name.parse().unwrap()));
    let table = include_str!("../data/eval_synthetic_shapes.tsv");
    let (names, positions) = outputs_are_those_of_the_table(table, of);
    // all that YaneuraOu supports, except the default one, which has a table of its own
    let known = ARCHITECTURES.iter().filter(|a| matches!(a.shape.head, HeadShape::Hidden { .. }));
    assert!(names.len() == known.count() - 1 && positions >= 20);
}

#[test]
fn commands_take_a_network_of_any_architecture() {
    let dir = tempfile::tempdir().unwrap();
    let network = noise(kp());
    let path = save(&network, dir.path(), "nn.bin");
    let (path, dir_) = (path.to_str().unwrap(), dir.path().to_str().unwrap());

    let (success, info, err) = program(&["net", "info", path]);
    assert!(success, "{err}");
    for part in ["network\tK-P 256x2-32-32-1", "1710 -> 256", "512 -> 32", "FV_SCALE\t16", "[1710->256x2]"] {
        assert!(info.contains(part), "{part} in {info}");
    }
    let (success, out, err) = program(&["net", "compare", path]);
    assert!(success && out.contains("of different shapes"), "{out}{err}");
    let direct = noise("psq_256x2-screlu-8b".parse().unwrap());
    let direct = save(&direct, dir.path(), "direct.bin");
    let (success, info, err) = program(&["net", "info", direct.to_str().unwrap()]);
    assert!(success, "{err}");
    for part in
        ["network\tK-P 256x2-SCReLU-1x8\n", "output\t512 -> 8\t", "SqrClippedReLU[512]", "PiecesInHand[8]"]
    {
        assert!(info.contains(part), "{part} in {info}");
    }

    let copy = dir.path().join("copy.bin");
    let export = ["net", "export", "--eval-dir", dir_, "--output", copy.to_str().unwrap()];
    assert!(program(&export).0);
    assert!(std::fs::read(&copy).unwrap() == written(&network));
    let packed = dir.path().join("packed");
    assert!(program(&["net", "pack", path, "--output", packed.to_str().unwrap()]).0);
    let unpacked = Network::unpack(&std::fs::read(&packed).unwrap()).unwrap();
    assert!(written(&unpacked) == written(&network));

    let mean = dir.path().join("mean.bin");
    let to_mean = ["-o", mean.to_str().unwrap()];
    assert!(program(&[&["net", "mean", path, path, path], &to_mean[..]].concat()).0);
    assert!(std::fs::read(&mean).unwrap() == written(&network));
    let others = ["net", "mean", "--force", path, direct.to_str().unwrap()];
    let (success, _, err) = program(&[&others[..], &to_mean].concat());
    assert!(!success && err.contains("have no mean") && err.lines().count() == 1, "{err}");
    assert!(std::fs::read(&mean).unwrap() == written(&network));
    let (success, out, err) = program(&["eval", "--eval-dir", dir_]);
    let raw = evaluate_from_scratch(&network, &Position::startpos());
    assert!(success && out.contains(&format!("\t{raw}\t")), "{out}{err}");

    let (success, out, err) = program(&["bench", "--depth", "2", "--eval-dir", dir_]);
    assert!(success && out.lines().last().unwrap().ends_with(" nps"), "{out}{err}");

    let datagen = ["datagen", "--quiet", "--games", "2", "--nodes", "30", "--hash", "1", "--threads", "1"];
    for (option, network) in [("--eval-file", path), ("--eval-dir", path), ("--eval-dir", dir_)] {
        let games = tempfile::tempdir().unwrap();
        let out = games.path().to_str().unwrap();
        let (success, _, err) = program(&[&datagen[..], &[option, network, "--out", out]].concat());
        assert!(success, "{err}");
    }
}

#[test]
fn an_unsupported_network_is_one_error_in_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes = written(&noise(kp()));
    bytes.truncate(bytes.len() - 1);
    let path = dir.path().join("nn.bin");
    std::fs::write(&path, bytes).unwrap();
    let path = path.to_str().unwrap();
    for args in [
        &["net", "info", path] as &[&str],
        &["net", "compare", path],
        &["eval", "--eval-dir", path],
        &["bench", "--depth", "1", "--eval-dir", path],
    ] {
        let (success, out, err) = program(args);
        assert!(!success && out.is_empty(), "{args:?}: {out}");
        assert!(err.contains(path) && err.contains("K-P 256x2-32-32") && err.lines().count() == 1, "{err}");
    }
}

#[test]
fn both_sides_of_a_match_may_have_networks_of_different_architectures() {
    let dir = tempfile::tempdir().unwrap();
    save(&noise(kp()), dir.path(), "nn.bin");
    let small = format!("cmd=self name=small EvalDir={} USI_Hash=1 Threads=1 nodes=50", dir.path().display());
    let args =
        ["match", "-e", &small, "-e", "cmd=self name=own USI_Hash=1 Threads=1 nodes=50", "--games", "2"];
    let (success, out, err) = program(&[&args[..], &["--json", "--quiet"]].concat());
    assert!(success, "{err}");
    assert!(out.contains("\"small\"") && out.contains("\"own\""), "{out}");
}

#[test]
fn networks_of_different_architectures_play_in_one_process() {
    let names =
        ["halfkp_256x2-32-32", "kp_256x2-32-32", "halfkp_512x2-16-32", "psq_256x2-screlu-8b", "lite_72-32"];
    let networks = names.map(|name| noise(name.parse().unwrap()));
    let searcher = |n: &Arc<Network>| {
        Searcher::new(n.clone(), 1, SearchOptions { pv_interval: 0, ..Default::default() })
    };
    let mut searchers: Vec<Searcher> = networks.iter().map(|n| searcher(n).unwrap()).collect();
    let mut position = Position::startpos();
    for ply in 0..24 {
        let turn = ply % searchers.len();
        searchers[turn].clear();
        let value = searchers[turn].evaluate(&position);
        assert_eq!(value, evaluate_from_scratch(&networks[turn], &position) / 16);
        let limits = Limits::nodes(300);
        let best = searchers[turn].search(&position, &limits, &Silent).best;
        // the searches are independent
        assert_eq!(searcher(&networks[turn]).unwrap().search(&position, &limits, &Silent).best, best);
        if !best.is_some() {
            break;
        }
        position.do_move(best);
    }
    assert!(position.game_ply() > 10);
}

#[test]
fn the_scale_of_a_file_is_used_unless_an_option_overrides_it() {
    let dir = tempfile::tempdir().unwrap();
    let parameters = kp().zeroed().unwrap();
    let mut network = Network::new(parameters, "fv_scale=32".into());
    assert_eq!(network.fv_scale(), 32);
    // a file keeps it
    network = read(&written(&network)).unwrap().0;
    assert_eq!((network.fv_scale(), network.architecture()), (32, kp()));
    let path = save(&noise(kp()), dir.path(), "plain.bin");
    let mut bytes = std::fs::read(path).unwrap();
    let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    bytes.splice(12 + length..12 + length, *b",fv_scale=2");
    bytes[8..12].copy_from_slice(&(length as u32 + 11).to_le_bytes());
    let path = dir.path().join("nn.bin");
    std::fs::write(&path, bytes).unwrap();
    let raw = evaluate_from_scratch(&Network::load(&path).unwrap().0, &Position::startpos());
    let centipawns = |scale: i32| format!("\t{}", 100 * i64::from(raw / scale) / 90);
    let path = path.to_str().unwrap();
    assert!(program(&["eval", "--eval-dir", path]).1.trim_end().ends_with(&centipawns(2)));
    let other = program(&["eval", "--eval-dir", path, "--fv-scale", "20"]).1;
    assert!(other.trim_end().ends_with(&centipawns(20)), "{other}");
}

/// `isready` reads the options beside a network, whether `EvalDir` names the directory or the file.
#[test]
fn options_in_the_directory_of_a_network_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("評価 関数");
    std::fs::create_dir(&dir).unwrap();
    let network = noise(kp());
    let path = save(&network, &dir, "nn.bin");
    std::fs::write(dir.join("eval_options.txt"), "FV_SCALE 24\n").unwrap();
    let wanted = evaluate_from_scratch(&network, &Position::startpos()) / 24;
    for named in [&dir, &path] {
        let mut engine = Engine::new();
        for (name, value) in [("Threads", "1"), ("USI_Hash", "1"), ("EvalDir", named.to_str().unwrap())] {
            engine.set_option(name, value).unwrap();
        }
        engine.prepare(&mut |_| ()).unwrap();
        assert_eq!(engine.evaluate(&mut |_| ()).unwrap(), wanted, "{named:?}");
        // a missing network is searched for again
        std::fs::rename(&path, dir.join("other.bin")).unwrap();
        let mut engine = Engine::new();
        engine.set_option("USI_Hash", "1").unwrap();
        engine.set_option("EvalDir", named.to_str().unwrap()).unwrap();
        engine.prepare(&mut |_| ()).unwrap();
        assert_ne!(engine.evaluate(&mut |_| ()).unwrap(), wanted);
        std::fs::rename(dir.join("other.bin"), &path).unwrap();
        engine.prepare(&mut |_| ()).unwrap();
        assert_eq!(engine.evaluate(&mut |_| ()).unwrap(), wanted);
    }
}

/// Files of all architectures with bytes changed, removed and added are read, or refused with an error.
fn damaged_files_are_read_or_refused(rounds: usize) {
    let mut random = Random(11 << 40);
    let small = written(&noise(kp()));
    let is_small = |a: Architecture| a.shape.bytes() < 1 << 20;
    for round in 0..rounds {
        // whole files of the small networks, and the beginnings of the others, with their lengths
        let a = ARCHITECTURES[round % ARCHITECTURES.len()];
        let mut bytes = if is_small(a) { written(&noise(a)) } else { small.clone() };
        if !is_small(a) {
            bytes.truncate(400);
            bytes[4..8].copy_from_slice(&a.shape.file_hash().to_le_bytes());
        }
        let header = 12 + u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as u64;
        let mut length = header + a.shape.bytes();
        match random.below(4) {
            0 => bytes.truncate(random.below(bytes.len())),
            1 => bytes.extend_from_slice(&small[..random.below(100)]),
            2 => length = length.wrapping_add(random.below(2000) as u64).wrapping_sub(1000),
            _ => {}
        }
        for _ in 0..random.below(5) {
            let within = if random.below(2) == 0 { 250 } else { bytes.len().max(1) };
            if let Some(byte) = bytes.get_mut(random.below(within)) {
                *byte = random.below(256) as u8;
            }
        }
        for length in [None, Some(length), Some(bytes.len() as u64)] {
            match Network::read(&mut &bytes[..], length) {
                Ok((network, _)) => assert!(is_small(a) && network.architecture() == a),
                Err(NetworkError::OutOfMemory(e)) => panic!("{e}"),
                Err(e) => assert!(e.to_string().lines().count() == 1 && !e.to_string().is_empty()),
            }
        }
    }
}

#[test]
fn damaged_files_of_all_architectures_are_read_or_refused() {
    damaged_files_are_read_or_refused(100);
}

#[test]
#[ignore = "2,000 files, a minute"]
fn many_damaged_files_of_all_architectures_are_read_or_refused() {
    damaged_files_are_read_or_refused(2000);
}
