//! The evaluation: every kernel equals the scalar one and YaneuraOu's values, incremental updates equal a fresh
//! computation, and network files are read and written exactly or refused with an error.

use crate::support::program;
use std::io::{Cursor, Read};
use std::sync::{Arc, LazyLock};

use sha2::{Digest, Sha256};
use toratsugumi::nnue::arch::{ARCHITECTURES, VERSION};
use toratsugumi::nnue::{
    Architecture, Evaluator, Kernel, Network, NetworkError, evaluate_from_scratch, force_kernel,
};
use toratsugumi::position::Position;

/// SplitMix64.
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

pub(crate) struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        (mix(self.0) >> 32) as usize % n
    }
}

/// The deterministic network of an architecture, for which YaneuraOu's evaluations are known: every parameter
/// is a hash of its index.
pub(crate) fn synthetic(architecture: Architecture) -> Network {
    let draw = |section: u64, i: usize| mix((1 << 40) + (section << 36) + i as u64) >> 32;
    let ranged = |section, i, size: u64, off: i64| (draw(section, i) % size) as i64 - off;
    let shape = architecture.shape;
    let mut net = architecture.zeroed().unwrap();
    for (i, b) in net.bias_mut().iter_mut().enumerate() {
        *b = ranged(0, i, 261, 100) as i16;
    }
    for input in 0..shape.inputs.count() {
        for (i, w) in net.row_mut(input).iter_mut().enumerate() {
            let u = draw(1, input * shape.l1 + i);
            *w = ((u & 255) % 23) as i16 + ((u >> 8 & 255) % 23) as i16 - 22;
        }
    }
    // bias and weights of each layer: section, size of the range, what is subtracted
    let ranges = [(2, 8001, 4000), (4, 6001, 2000), (6, 4001, 2000)].into_iter();
    let ranges = ranges.zip([(3, 81, 40), (5, 255, 127), (7, 61, 30)]);
    for (layer, (bias, weight)) in net.layers_mut().into_iter().zip(ranges) {
        let inputs = layer.inputs();
        for (o, b) in layer.bias_mut().iter_mut().enumerate() {
            *b = ranged(bias.0, o, bias.1, bias.2) as i32;
        }
        for (o, i) in (0..layer.bias().len()).flat_map(|o| (0..inputs).map(move |i| (o, i))) {
            layer.set_weight(o, i, ranged(weight.0, o * inputs + i, weight.1, weight.2) as i16);
        }
    }
    Network::new(net, "synthetic".into())
}

/// Positions with evaluations of the default architecture's network, from `data/eval_synthetic.tsv`.
static SYNTHETIC: LazyLock<Arc<Network>> = LazyLock::new(|| Arc::new(synthetic(Architecture::DEFAULT)));

static BOOTSTRAP: LazyLock<Arc<Network>> = LazyLock::new(|| Arc::new(Network::bootstrap().unwrap()));

pub(crate) fn known() -> impl Iterator<Item = (Position, i32)> {
    include_str!("../data/eval_synthetic.tsv").lines().map(|line| {
        let (sfen, raw) = line.split_once('\t').expect("two columns");
        (Position::from_sfen(sfen).unwrap(), raw.parse().unwrap())
    })
}

/// Kernels that this processor runs. Forcing one affects other tests too, which is harmless: all give the same
/// results.
/// Checks a table with a line of names, then lines of an SFEN and the raw output of each named network. Returns the
/// names and the number of positions.
pub(crate) fn outputs_are_those_of_the_table(
    table: &str,
    network: impl Fn(&str) -> Arc<Network>,
) -> (Vec<&str>, usize) {
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').skip(1).collect();
    let rows: Vec<(Position, Vec<i32>)> = lines
        .map(|line| {
            let mut columns = line.split('\t');
            let position = Position::from_sfen(columns.next().unwrap()).unwrap();
            (position, columns.map(|raw| raw.parse().unwrap()).collect())
        })
        .collect();
    for (column, name) in names.iter().enumerate() {
        let network = network(name);
        let mut evaluator = Evaluator::new(network.clone());
        for (position, raws) in &rows {
            let (raw, sfen) = (raws[column], position.sfen());
            assert_eq!(evaluate_from_scratch(&network, position), raw, "{name}: {sfen}");
            for k in kernels() {
                force_kernel(k).unwrap();
                evaluator.reset(position);
                assert_eq!(evaluator.evaluate(position), raw, "{name} by {k}: {sfen}");
            }
        }
    }
    (names, rows.len())
}

pub(crate) fn kernels() -> impl Iterator<Item = Kernel> {
    Kernel::ALL.into_iter().filter(|&k| force_kernel(k).is_ok())
}

#[test]
fn evaluations_are_those_of_yaneuraou_by_every_kernel() {
    let mut evaluator = Evaluator::new(SYNTHETIC.clone());
    for k in kernels() {
        force_kernel(k).unwrap();
        for (pos, raw) in known() {
            evaluator.reset(&pos);
            assert_eq!(evaluator.evaluate(&pos), raw, "{} by {k}", pos.sfen());
        }
    }
    for (pos, raw) in known() {
        assert_eq!(evaluate_from_scratch(&SYNTHETIC, &pos), raw, "{}", pos.sfen());
    }
}

/// Random games with moves taken back, null moves and positions that are not evaluated.
pub(crate) fn incremental_equals_fresh(network: &Arc<Network>, games: usize, seed: u64) {
    let mut random = Random(seed << 32);
    let mut evaluator = Evaluator::new(network.clone());
    let known: Vec<Position> = known().map(|(pos, _)| pos).collect();
    for game in 0..games {
        let mut pos =
            if game % 4 == 0 { known[random.below(known.len())].clone() } else { Position::startpos() };
        evaluator.reset(&pos);
        // null moves and moves, to be taken back in order
        let mut line = Vec::new();
        for _ply in 0..160 {
            let moves = pos.legal_moves(true);
            let turn = random.below(20);
            if turn == 0 && !pos.in_check() && line.last() != Some(&true) {
                pos.do_null_move();
                evaluator.push_null();
                line.push(true);
            } else if turn < 3 || moves.is_empty() {
                for _ in 0..=random.below(6) {
                    match line.pop() {
                        Some(true) => pos.undo_null_move(),
                        Some(false) => pos.undo_move(),
                        None => break,
                    }
                    evaluator.pop();
                }
            } else {
                evaluator.push(pos.do_move(moves[random.below(moves.len())].mv));
                line.push(false);
            }
            if random.below(3) > 0 {
                let fresh = evaluate_from_scratch(network, &pos);
                assert_eq!(evaluator.evaluate(&pos), fresh, "{} after {} plies", pos.sfen(), line.len());
            }
        }
    }
}

#[test]
fn incremental_evaluation_equals_a_fresh_one() {
    for k in kernels() {
        force_kernel(k).unwrap();
        incremental_equals_fresh(&SYNTHETIC, 100, k as u64);
    }
}

/// A random network that is quick to make.
pub(crate) fn noise(architecture: Architecture) -> Arc<Network> {
    let mut random = Random(architecture.shape.bytes());
    let mut net = architecture.zeroed().unwrap();
    let table: Vec<i16> =
        (0..1 << 14).map(|_| random.below(23) as i16 + random.below(23) as i16 - 22).collect();
    let l1 = architecture.shape.l1;
    net.bias_mut().copy_from_slice(&table[..l1]);
    for input in 0..architecture.shape.inputs.count() {
        let start = input.wrapping_mul(2_654_435_761) % (table.len() - l1);
        net.row_mut(input).copy_from_slice(&table[start..start + l1]);
    }
    if let Some(progress) = net.progress_mut() {
        progress.bias = -4000;
        progress.weights.iter_mut().for_each(|w| *w = random.below(40_001) as i32 - 20_000);
    }
    for layer in net.layers_mut() {
        let inputs = layer.inputs();
        layer.bias_mut().iter_mut().for_each(|b| *b = random.below(8001) as i32 - 4000);
        for (o, i) in (0..layer.bias().len()).flat_map(|o| (0..inputs).map(move |i| (o, i))) {
            layer.set_weight(o, i, random.below(161) as i16 - 80);
        }
    }
    Arc::new(Network::new(net, "noise".into()))
}

#[test]
fn incremental_evaluation_equals_a_fresh_one_for_every_architecture() {
    for a in ARCHITECTURES {
        let network = noise(a);
        for k in kernels() {
            force_kernel(k).unwrap();
            incremental_equals_fresh(&network, 5, k as u64);
        }
    }
}

#[test]
#[ignore = "500 games a kernel and architecture, a minute"]
fn incremental_evaluation_equals_a_fresh_one_in_many_games() {
    for a in ARCHITECTURES {
        let network = noise(a);
        for k in kernels() {
            force_kernel(k).unwrap();
            incremental_equals_fresh(&network, 500, 100 + k as u64);
        }
    }
}

#[test]
fn a_mirrored_network_evaluates_mirror_images_alike_and_updates_across_the_middle() {
    let network = noise("halfkpvm_256x2-32-32".parse().unwrap());
    let default = noise(Architecture::DEFAULT);
    let mut evaluator = Evaluator::new(network.clone());
    // both kings walk from file 5 to both sides and back while pieces move, are taken and are dropped
    let start = "4k4/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/4K4 b - 1";
    let walk = "5i6h 3c3d 6h7h 5a4b 7g7f 4b3b 8h2b+ 3b2b B*5e 2b3b 7h6h 3b4b 6h5h 4b5b 5h4h 5b6b 4h3h 6b7b 5e2b+ 7b6b";
    for k in kernels() {
        force_kernel(k).unwrap();
        let mut pos = Position::from_sfen(start).unwrap();
        evaluator.reset(&pos);
        let mut values = std::collections::BTreeSet::new();
        for text in walk.split(' ') {
            evaluator.push(pos.do_move(pos.parse_move(text).unwrap()));
            let value = evaluate_from_scratch(&network, &pos);
            assert_eq!(evaluator.evaluate(&pos), value, "{k}: {}", pos.sfen());
            values.insert(value);
            let mirror = Position::from_sfen(&mirrored(&pos.sfen())).unwrap();
            let in_the_middle =
                toratsugumi::types::Color::ALL.iter().any(|c| pos.king_square(*c).file() == 4);
            let alike = evaluate_from_scratch(&network, &mirror) == value;
            // kings on file 5 are not mirrored
            assert!(alike != in_the_middle, "{}", pos.sfen());
            assert_ne!(evaluate_from_scratch(&default, &mirror), evaluate_from_scratch(&default, &pos));
        }
        assert!(values.len() > 15);
    }
}

#[test]
fn lines_longer_than_the_stack_are_evaluated() {
    let mut pos = Position::startpos();
    let mut evaluator = Evaluator::new(SYNTHETIC.clone());
    evaluator.reset(&pos);
    for _ in 0..300 {
        for text in ["5i5h", "5a5b", "5h5i", "5b5a"] {
            evaluator.push(pos.do_move(pos.parse_move(text).unwrap()));
        }
    }
    assert_eq!(evaluator.evaluate(&pos), evaluate_from_scratch(&SYNTHETIC, &pos));
}

#[test]
fn handicaps_and_missing_kings_are_evaluated() {
    let others = ["halfkpvm_256x2-32-32", "kp_256x2-32-32", "psq_256x2-screlu-8b", "lite_72-32"];
    let others = others.map(|name| noise(name.parse().unwrap()));
    let cases = [
        "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w 9p 1",
        "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    ];
    for network in others.iter().chain([&*SYNTHETIC]) {
        let mut evaluator = Evaluator::new(network.clone());
        for sfen in cases {
            let pos = Position::from_sfen(sfen).unwrap();
            evaluator.reset(&pos);
            assert_eq!(evaluator.evaluate(&pos), evaluate_from_scratch(network, &pos), "{sfen}");
        }
    }
}

pub(crate) fn written(network: &Network) -> Vec<u8> {
    let mut bytes = Vec::new();
    network.write(&mut bytes).unwrap();
    bytes
}

pub(crate) fn read(bytes: &[u8]) -> Result<(Network, Vec<String>), NetworkError> {
    Network::read(&mut &bytes[..], Some(bytes.len() as u64))
}

/// Offsets in a classic file of the default architecture.
const STRING: usize = 12;
const TRANSFORMER: usize = STRING + 178;
const LAYERS: usize = TRANSFORMER + 4 + 2 * 256 + 2 * 125_388 * 256;
const SIZE: usize = 64_217_066;

#[test]
fn files_have_the_standard_bytes_and_read_back() {
    let bytes = written(&SYNTHETIC);
    assert_eq!(bytes.len(), SIZE);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!([word(0), word(4), word(8)], [0x7AF3_2F16, 0x3E5A_A6EE, 178]);
    assert!(bytes[STRING..].starts_with(b"Features=HalfKP(Friend)[125388->256x2],Network="));
    assert_eq!([word(TRANSFORMER), word(LAYERS)], [0x5D69_D7B8, 0x6333_7156]);

    // with the length of a file, and without it as from a pipe
    for length in [Some(SIZE as u64), None] {
        let (again, warnings) = Network::read(&mut Cursor::new(&bytes), length).unwrap();
        assert_eq!(warnings, [""; 0]);
        assert!(written(&again) == bytes);
    }
}

/// In the format of `sha256sum`.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

#[test]
fn the_embedded_network_is_the_documented_one() {
    let bytes = written(&Network::embedded().unwrap());
    let hash = sha256(&bytes);
    let lineage = include_str!("../../eval/README.md");
    assert!(lineage.contains(&hash), "eval/README.md does not name the network with the SHA-256 {hash}");
}

/// A file with this header and parameters from `body`.
fn file(string: &[u8], hashes: [u32; 3], body: impl Fn(usize) -> u8) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(SIZE);
    for word in [VERSION, hashes[0], string.len() as u32] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(string);
    bytes.extend(hashes[1].to_le_bytes());
    bytes.extend((0..LAYERS - TRANSFORMER - 4).map(&body));
    bytes.extend(hashes[2].to_le_bytes());
    bytes.extend((0..SIZE - LAYERS - 4).map(&body));
    bytes
}

const HASHES: [u32; 3] = [0x3E5A_A6EE, 0x5D69_D7B8, 0x6333_7156];

#[test]
fn any_architecture_string_is_read_and_wrong_hashes_warn() {
    let strings: [&[u8]; 4] =
        [b"", b"Features=HalfKP(Friend)[41024->256x2],Network=whatever", b"\xff\x00\n", &[b'x'; 5000]];
    for string in strings {
        let (_, warnings) = read(&file(string, HASHES, |i| i as u8)).unwrap();
        assert!(warnings.is_empty());
    }
    for wrong in 0..3 {
        let mut hashes = HASHES;
        hashes[wrong] ^= 1;
        let (_, warnings) = read(&file(b"", hashes, |_| 0)).unwrap();
        assert_eq!(warnings.len(), 1);
    }
}

#[test]
fn broken_files_are_refused() {
    let good = file(b"classic", HASHES, |i| (i * 7) as u8);
    let read = |bytes: &[u8]| read(bytes).map(|_| ()).unwrap_err();
    // as from a pipe, with unknown length
    let piped = |bytes: &[u8]| Network::read(&mut &bytes[..], None).map(|_| ()).unwrap_err();
    assert!(matches!(read(b""), NetworkError::Truncated { .. }));
    assert!(matches!(read(b"PNG\r\n and so on"), NetworkError::Version { .. }));
    let longer = [&good[..], b"\n"].concat();
    assert!(matches!(read(&longer), NetworkError::Length { .. }));
    assert!(matches!(piped(&longer), NetworkError::TrailingBytes));
    let mut compressed = good.clone();
    compressed[12 + 7 + 4..][..17].copy_from_slice(b"COMPRESSED_LEB128");
    assert!(matches!(read(&compressed), NetworkError::Packed { .. }));
    let mut endless = good[..1000].to_vec();
    endless[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(read(&endless), NetworkError::StringLength(u32::MAX)));

    // cut anywhere, or with a header of noise
    let mut random = Random(7 << 40);
    for i in 0..1000 {
        let cut = if i % 2 == 0 { random.below(600) } else { good.len() - 1 - random.below(20_000) };
        let error = read(&good[..cut]);
        let truncated = matches!(error, NetworkError::Truncated { .. } | NetworkError::Length { .. });
        assert!(truncated, "cut at {cut}: {error}");
        // a cut near the end needs a whole reading, so only a few of them
        if cut <= 600 || i % 100 == 1 {
            assert!(matches!(piped(&good[..cut]), NetworkError::Truncated { .. }), "cut at {cut}");
        }
    }
    for _ in 0..1000 {
        let mut bytes = good[..800].to_vec();
        for _ in 0..=random.below(8) {
            bytes[random.below(23)] = random.below(256) as u8;
        }
        read(&bytes);
        piped(&bytes);
    }
}

/// The header of a file of an architecture, with a meaningless string.
fn header(architecture: Architecture) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [VERSION, architecture.shape.file_hash(), 5] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend(b"x2-32");
    bytes.extend(architecture.shape.transformer_hash().to_le_bytes());
    bytes
}

/// Reads a file that begins with `start` and continues with zeros, with a known length of `length` bytes.
fn read_padded(start: &[u8], length: u64) -> Result<(Network, Vec<String>), NetworkError> {
    let zeros = std::io::repeat(0).take(length.saturating_sub(start.len() as u64));
    Network::read(&mut start.chain(zeros), Some(length))
}

#[test]
fn files_are_detected_by_their_length_or_else_by_their_hashes() {
    for a in ARCHITECTURES {
        let length = 12 + 5 + a.shape.bytes();
        // regardless of the header; an unexpected hash is a warning
        for (other, expected) in [(a, 1), (ARCHITECTURES[2], 3)] {
            let (network, warnings) = read_padded(&header(other), length).unwrap();
            assert_eq!(network.architecture(), a);
            // the layers' hash is zero
            let expected = if other == a { 1 } else { expected };
            assert!(warnings.len() <= expected && !warnings.is_empty(), "{a:?}: {warnings:?}");
        }
        // a wrong length: the hashes still identify the architecture
        for wrong in [length - 1, length + 1, 2 * length] {
            let error = read_padded(&header(a), wrong).err().unwrap().to_string();
            assert!(error.contains(&a.shape.to_string()) && error.contains(&length.to_string()), "{error}");
            assert!(error.contains(&wrong.to_string()) && error.contains("\"x2-32\""), "{error}");
        }
    }
}

#[test]
fn a_network_of_an_unknown_shape_is_an_error_that_lists_the_supported_ones() {
    let mut start = header(Architecture::DEFAULT);
    start[4..8].copy_from_slice(&0x3E5A_1234u32.to_le_bytes());
    start[17..21].copy_from_slice(&0x5D69_4321u32.to_le_bytes());
    let error = read_padded(&start, 192_624_724).err().unwrap();
    assert!(matches!(error, NetworkError::Unknown { .. }));
    let text = error.to_string();
    for part in
        ["\"x2-32\"", "0x3e5a1234", "0x5d694321", "192624724", "HalfKP 1024x2-8-64", "K-P 256x2-32-32"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// The bootstrap network's evaluation, which must be the same for the mirrored and the turned position.
fn bootstrap_value(sfen: &str) -> i32 {
    evaluate_from_scratch(&BOOTSTRAP, &Position::from_sfen(sfen).unwrap()) / 16
}

fn mirrored(sfen: &str) -> String {
    let (board, rest) = sfen.split_once(' ').unwrap();
    let flip = |rank: &str| -> String {
        let mut pieces: Vec<String> = Vec::new();
        let mut plus = false;
        for c in rank.chars() {
            if c == '+' {
                plus = true;
                continue;
            }
            pieces.push(format!("{}{c}", if plus { "+" } else { "" }));
            plus = false;
        }
        pieces.reverse();
        pieces.concat()
    };
    let ranks: Vec<String> = board.split('/').map(flip).collect();
    format!("{} {rest}", ranks.join("/"))
}

#[test]
fn the_bootstrap_network_evaluates_sensibly() {
    let start = bootstrap_value("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
    assert!((0..100).contains(&start), "{start}");
    let odds = [
        ("a pawn in hand", "lnsgkgsnl/1r5b1/pppp1pppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b P 1", 120..360),
        ("no rook", "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", 600..1100),
        ("six pieces down", "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", -3600..-1800),
    ];
    for (name, sfen, range) in odds {
        let value = bootstrap_value(sfen);
        assert!(range.contains(&value), "{name}: {value}");
    }
    // a pawn up is worth the same for both sides, except for the move
    for (pos, _) in known() {
        let sfen = pos.sfen();
        assert_eq!(bootstrap_value(&sfen), bootstrap_value(&mirrored(&sfen)), "{sfen} is not mirrored");
    }
}

#[test]
fn every_available_kernel_visits_the_same_nodes_and_others_are_refused() {
    let bench = |kernel: &str| {
        let args = ["bench", "--depth", "5", "--kernel", kernel];
        let out = program().args(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (out.status.success(), text(out.stdout), text(out.stderr))
    };
    let mut nodes: Option<String> = None;
    for kernel in Kernel::ALL {
        let (success, out, err) = bench(kernel.name());
        if let Err(refusal) = force_kernel(kernel) {
            assert!(!success && err.contains(&refusal.to_string()), "{kernel}: {out} {err}");
            continue;
        }
        assert!(success, "{kernel}: {err}");
        let last = out.lines().last().unwrap().split(' ').next().unwrap().to_owned();
        assert!(last.parse::<u64>().is_ok_and(|n| n > 1000), "{kernel}: {out}");
        assert_eq!(*nodes.get_or_insert(last.clone()), last, "{kernel}");
    }
    assert!(nodes.is_some());
    let (success, _, err) = bench("mmx");
    assert!(!success && err.contains("mmx") && err.contains("avx512"), "{err}");
}
