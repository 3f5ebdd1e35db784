//! Networks whose sizes are known at run time only: all feature sets, SFNN with its stacks of layers, their files,
//! and YaneuraOu's evaluations.

use crate::nnue::{
    Random, incremental_equals_fresh, kernels, known, noise, outputs_are_those_of_the_table, read, written,
};
use crate::support::program;
use std::sync::Arc;
use toratsugumi::nnue::arch::VERSION;
use toratsugumi::nnue::{Architecture, Evaluator, Network, evaluate_from_scratch, force_kernel};
use toratsugumi::position::Position;

const FEATURES: [&str; 9] =
    ["halfkp", "kp", "ka2", "halfkpe9", "halfkpvm", "halfka1", "halfkahm1", "halfka2", "halfkahm2"];

fn network(name: &str) -> Arc<Network> {
    noise(name.parse::<Architecture>().unwrap())
}

#[test]
fn incremental_evaluation_equals_a_fresh_one_for_every_feature_set() {
    for features in FEATURES {
        for name in [format!("{features}_64x2-8-16"), format!("sfnn_{features}_64_7_8_hand16_k3k3_progress4")]
        {
            let network = network(&name);
            for k in kernels() {
                force_kernel(k).unwrap();
                incremental_equals_fresh(&network, 4, k as u64);
            }
        }
    }
}

#[test]
#[ignore = "500 games a kernel and network, minutes"]
fn incremental_evaluation_equals_a_fresh_one_in_many_games() {
    for features in FEATURES {
        for name in [
            format!("{features}_64x2-8-16"),
            format!("sfnn_{features}_128_15_32_k3k3_progress8"),
            format!("sfnn_{features}_320_7_64_hand64z_k9k9z"),
        ] {
            let network = network(&name);
            for k in kernels() {
                force_kernel(k).unwrap();
                incremental_equals_fresh(&network, 500, 200 + k as u64);
            }
        }
    }
}

#[test]
fn every_kernel_evaluates_every_size_alike() {
    for name in [
        "sfnn_ka2_64_7_8",
        "sfnn_ka2_192_8_24_hand4",
        "sfnn_ka2_1024_7_64_hand1024",
        "sfnn_kp_1536_15_32_k21k21",
        "sfnn_ka2_320_31_40_k9k9z_progress32",
        "sfnn_ka2_2048_7_64_c0_s256x8_k3k3",
        "sfnn_ka2_1088_15_128_c64_s128x8_hand64z",
        "sfnn_ka2_640_127_128_c512_s64x2",
        "ka2_576x2-48-72",
        "ka2_8192x2-8-8",
    ] {
        let network = network(name);
        let mut evaluator = Evaluator::new(network.clone());
        let mut values = std::collections::BTreeSet::new();
        for (pos, _) in known().step_by(7) {
            let value = evaluate_from_scratch(&network, &pos);
            values.insert(value);
            for k in kernels() {
                force_kernel(k).unwrap();
                evaluator.reset(&pos);
                assert_eq!(evaluator.evaluate(&pos), value, "{name} by {k}: {}", pos.sfen());
            }
        }
        assert!(values.len() > 5, "{name}: {values:?}");
    }
}

#[test]
fn evaluations_are_those_of_yaneuraou() {
    let (names, positions) = outputs_are_those_of_the_table(include_str!("../data/eval_noise.tsv"), network);
    assert!(names.len() == 4 && positions >= 20);
}

#[test]
fn files_are_named_by_their_string_and_read_back() {
    for (name, string) in [
        (
            "sfnn_ka2_128_7_64_k3k3_progress8",
            "ModelType=SFNNWithoutPsqt;Features=K+A2[1791->128x2],Network=SFNN_KA2_128_7_64_K3K3_PROGRESS8{LayerStack=72}",
        ),
        (
            "sfnn_kp_256_8_32_c128_s64x2",
            "ModelType=SFNNWithoutPsqt;Features=K+P[1710->256x2],Network=SFNN_KP_256_8_32_C128_S64X2{LayerStack=1}",
        ),
        (
            "ka2_128x2-16-32",
            "Features=K+A2[1791->128x2],Network=AffineTransform[1<-32](ClippedReLU[32](AffineTransform[32<-16]\
             (ClippedReLU[16](AffineTransform[16<-256](InputSlice[256(0:256)])))))",
        ),
    ] {
        let bytes = written(&network(name));
        assert!(bytes[12..].starts_with(string.as_bytes()), "{name}");
        // with the length of a file, and without it as from a pipe
        for length in [Some(bytes.len() as u64), None] {
            let (again, warnings) = Network::read(&mut &bytes[..], length).unwrap();
            assert_eq!((again.architecture().name().as_str(), warnings), (name, vec![]));
            assert!(written(&again) == bytes);
        }
    }
}

/// A file with another architecture string.
fn renamed(bytes: &[u8], string: &str) -> Vec<u8> {
    let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    [&bytes[..8], &(string.len() as u32).to_le_bytes(), string.as_bytes(), &bytes[12 + length..]].concat()
}

fn error(bytes: &[u8]) -> String {
    let error = read(bytes).err().expect("an error").to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

#[test]
fn files_that_cannot_be_read_say_what_they_are() {
    let bytes = written(&network("sfnn_ka2_128_7_64_k3k3"));
    // the size contradicts the name
    let expected = format!("K-A2 SFNN 128-7-64 k3k3 network with this header has {} bytes", bytes.len());
    for other in [&bytes[..bytes.len() - 1], &[&bytes[..], b"x"].concat()] {
        assert!(error(other).contains(&expected), "{}", error(other));
    }
    assert!(error(&bytes[..bytes.len() / 2]).contains("K-A2 SFNN 128-7-64 k3k3 network"));
    // a name that nobody knows
    for (name, reason) in [
        ("SFNN_KA2_128_7_64_K5K5", "unknown buckets `k5k5`"),
        ("SFNN_KX_128_7_64", "unknown feature set `kx`"),
        ("SFNN_KA2_128_6_64", "6 first hidden units"),
    ] {
        let error =
            error(&renamed(&bytes, &format!("Features=K+A2[1791->128x2],Network={name}{{LayerStack=9}}")));
        assert!(error.contains(reason) && error.contains(name), "{error}");
    }
    // another known name, of the same width and of another one
    for name in ["SFNN_KA2_128_7_64_K9K9", "SFNN_KA2_256_7_64_K3K3"] {
        assert!(
            error(&renamed(&bytes, &format!("Network={name}{{"))).contains("network with this header has")
        );
    }
    // the memory for a pipe is bounded
    let endless = renamed(&bytes, "Network=SFNN_KA2_128_7_64_HAND1024_K29K29_PROGRESS32{");
    let endless = Network::read(&mut &endless[..], None).err().expect("an error").to_string();
    assert!(endless.contains("known length"), "{endless}");
    let nameless = error(&renamed(&bytes, "x"));
    assert!(nameless.contains("128 outputs") && nameless.contains("net export --arch"), "{nameless}");
}

#[test]
fn an_older_file_is_read_as_what_it_is_told_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let network = network("sfnn_ka2_128_7_64_k3k3");
    let bytes = written(&network);
    let [old, new] = ["old.bin", "new.bin"].map(|name| dir.path().join(name));
    std::fs::write(&old, renamed(&bytes, "x")).unwrap();
    let run = |arch: &str| {
        let args = ["net", "export", "--arch", arch, "--force", "--eval-file"];
        let out = program().args(args).arg(&old).arg("--output").arg(&new).output().unwrap();
        (out.status.success(), String::from_utf8(out.stderr).unwrap())
    };
    let (success, error) = run("sfnn_ka2_128_7_64_k3k3");
    assert!(success, "{error}");
    assert!(std::fs::read(&new).unwrap() == bytes);
    let (success, error) = run("sfnn_ka2_128_7_64_k9k9");
    assert!(!success && error.contains("K-A2 SFNN 128-7-64 k9k9 network"), "{error}");
}

#[test]
fn sfnn_1536_needs_no_name() {
    let network = network("sfnn_halfkahm2_1536_15_32_k3k3");
    let bytes = written(&network);
    assert!(bytes[12..].starts_with(
        b"ModelType=SFNNWithoutPsqt;Features=HalfKA_hm2(Friend)[73305->1536x2],Network=SFNN-1536{LayerStack=9}"
    ));
    let pos = Position::startpos();
    for file in [&bytes, &renamed(&bytes, "")] {
        let (again, warnings) = read(file).unwrap();
        assert_eq!((again.architecture(), warnings), (network.architecture(), vec![]));
        assert_eq!(evaluate_from_scratch(&again, &pos), evaluate_from_scratch(&network, &pos));
    }
}

#[test]
fn damaged_files_are_errors_or_networks() {
    let mut random = Random(74);
    let (mut refused, mut files) = (0, 0);
    for name in ["sfnn_ka2_64_7_8_k3k3", "sfnn_kp_64_8_8_hand4_progress2", "ka2_64x2-8-8"] {
        let bytes = written(&network(name));
        let head = 12 + u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize + 4 + 21;
        for _ in 0..700 {
            let mut file = bytes.clone();
            match random.below(5) {
                0 => file.truncate(random.below(bytes.len())),
                1 => file.extend(vec![0; 1 + random.below(100)]),
                // the header or anything
                2 => file[random.below(head)] ^= 1 << random.below(8),
                3 => {
                    const NAMES: [&str; 8] = [
                        "KA2_64_7_8_K29K29",
                        "KA2_64_7_8_K5K5",
                        "KA2_64_7_8_K3K3_K9K9",
                        "KA2_64_7_8_PROGRESS5",
                        "KA2_65_7_8_K3K3",
                        "KA2_64_7_8_C64_S18446744073709551615X2",
                        "HALFKA2_8192_127_128_HAND1024_K29K29_PROGRESS32",
                        "KP_64_8_8",
                    ];
                    let name = NAMES[random.below(NAMES.len())];
                    file = renamed(&bytes, &format!("Network=SFNN_{name}{{"));
                }
                _ => {
                    let at = random.below(bytes.len() - 4);
                    file[at..at + 4].fill(0xFF);
                }
            }
            files += 1;
            // with the length of a file, and without it as from a pipe
            let length = Some(file.len() as u64).filter(|_| random.below(3) > 0);
            match Network::read(&mut &file[..], length) {
                Err(e) => {
                    refused += 1;
                    assert!(!e.to_string().contains('\n'), "{e}");
                }
                Ok((network, _)) => {
                    evaluate_from_scratch(&network, &Position::startpos());
                }
            }
        }
    }
    assert!(files >= 2000 && refused > files / 2, "{refused} of {files}");
    assert_eq!(VERSION, 0x7AF3_2F16);
}

#[test]
fn commands_take_sfnn_networks() {
    let dir = tempfile::tempdir().unwrap();
    let network = network("sfnn_ka2_128_7_64_k3k3_progress8");
    let path = dir.path().join("nn.bin");
    network.save(&path).unwrap();
    let positions = dir.path().join("positions.sfen");
    let sfens: Vec<String> = known().step_by(40).map(|(pos, _)| pos.sfen()).collect();
    std::fs::write(&positions, sfens.join("\n")).unwrap();
    let run = |args: &[&str]| {
        let out = program().args(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert!(out.status.success(), "{args:?}: {}", text(out.stderr));
        text(out.stdout)
    };
    let (path, positions) = (path.to_str().unwrap(), positions.to_str().unwrap());
    let info = run(&["net", "info", path, "--positions", positions]);
    for part in [
        "network\tK-A2 SFNN 128-7-64 k3k3_progress8",
        "72 of the following",
        "128 -> 8",
        "14 -> 64",
        "progress\t",
    ] {
        assert!(info.contains(part), "{part} in {info}");
    }
    let same = run(&["net", "compare", path, path, "--positions", positions]);
    assert!(same.contains("difference\t0.0 on average"), "{same}");
    let eval = run(&["eval", "--eval-dir", path, "--sfen-file", positions, "--fv-scale", "1"]);
    for (sfen, line) in sfens.iter().zip(eval.lines()) {
        let raw = evaluate_from_scratch(&network, &Position::from_sfen(sfen).unwrap());
        assert!(line.contains(&format!("\t{raw}\t")), "{line}: {raw}");
    }
    assert!(run(&["bench", "--depth", "3", "--eval-dir", path]).contains(" nps"));
}

#[test]
#[ignore = "writes the files for other engines to the directory NETWORKS"]
fn write_the_files() {
    let dir = std::path::PathBuf::from(std::env::var("NETWORKS").unwrap());
    for name in std::env::var("NAMES").unwrap().split(' ') {
        let dir = dir.join(name);
        std::fs::create_dir_all(&dir).unwrap();
        network(name).save(&dir.join("nn.bin")).unwrap();
    }
}
