//! The evaluation: every kernel equals the scalar one and another program's numbers, incremental updates equal a fresh
//! start, and network files are read and written exactly or refused politely.

use std::io::Cursor;
use std::process::Command;
use std::sync::{Arc, LazyLock};

use sha2::{Digest, Sha256};
use toratsugumi::nnue::arch::{NETWORK_HASH, TRANSFORMER_HASH, VERSION};
use toratsugumi::nnue::{Evaluator, Kernel, Network, NetworkError, evaluate_from_scratch, force_kernel};
use toratsugumi::position::Position;

/// SplitMix64.
fn mix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        (mix(self.0) >> 32) as usize % n
    }
}

/// The deterministic network whose evaluations `data/eval_synthetic.tsv` holds: every parameter is a hash of its place.
static SYNTHETIC: LazyLock<Arc<Network>> = LazyLock::new(|| {
    let draw = |section: u64, i: usize| mix((1 << 40) + (section << 36) + i as u64) >> 32;
    let ranged = |section, i, size: u64, off: i64| (draw(section, i) % size) as i64 - off;
    let mut net = Network::zeroed().unwrap();
    let width = net.input.bias.0.len();
    for (i, b) in net.input.bias.0.iter_mut().enumerate() {
        *b = ranged(0, i, 261, 100) as i16;
    }
    for (r, row) in net.input.rows.iter_mut().enumerate() {
        for (i, w) in row.0.iter_mut().enumerate() {
            let u = draw(1, r * width + i);
            *w = ((u & 255) % 23) as i16 + ((u >> 8 & 255) % 23) as i16 - 22;
        }
    }
    net.hidden1.bias.0.iter_mut().enumerate().for_each(|(i, b)| *b = ranged(2, i, 8001, 4000) as i32);
    net.hidden2.bias.0.iter_mut().enumerate().for_each(|(i, b)| *b = ranged(4, i, 6001, 2000) as i32);
    net.output.bias.0[0] = ranged(6, 0, 4001, 2000) as i32;
    for o in 0..32 {
        (0..512).for_each(|i| net.hidden1.set_weight(o, i, ranged(3, o * 512 + i, 81, 40) as i8));
        (0..32).for_each(|i| net.hidden2.set_weight(o, i, ranged(5, o * 32 + i, 255, 127) as i8));
        net.output.set_weight(0, o, ranged(7, o, 61, 30) as i8);
    }
    Arc::new(net)
});

static BOOTSTRAP: LazyLock<Arc<Network>> = LazyLock::new(|| Arc::new(Network::bootstrap().unwrap()));

fn known() -> impl Iterator<Item = (Position, i32)> {
    include_str!("../data/eval_synthetic.tsv").lines().map(|line| {
        let (sfen, raw) = line.split_once('\t').expect("two columns");
        (Position::from_sfen(sfen).unwrap(), raw.parse().unwrap())
    })
}

/// Kernels that this processor runs. Forcing one affects the other tests of this file too, which is harmless: results
/// are the same by every one of them.
fn kernels() -> impl Iterator<Item = Kernel> {
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

/// Random games with take-backs, null moves and positions that nobody evaluates.
fn incremental_equals_fresh(network: &Arc<Network>, games: usize, seed: u64) {
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

#[test]
#[ignore = "1,000 games a kernel, ten seconds"]
fn incremental_evaluation_equals_a_fresh_one_in_many_games() {
    for k in kernels() {
        force_kernel(k).unwrap();
        incremental_equals_fresh(&SYNTHETIC, 1000, 100 + k as u64);
    }
}

#[test]
fn lines_longer_than_the_stack_are_followed() {
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
    let mut evaluator = Evaluator::new(SYNTHETIC.clone());
    for sfen in [
        "lnsgkgsn1/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1",
        "4k4/9/9/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w 9p 1",
        "4k4/9/4P4/9/9/9/9/9/9 b G2r2b3g4s4n4l17p 1",
        "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    ] {
        let pos = Position::from_sfen(sfen).unwrap();
        evaluator.reset(&pos);
        assert_eq!(evaluator.evaluate(&pos), evaluate_from_scratch(&SYNTHETIC, &pos), "{sfen}");
    }
}

fn written(network: &Network) -> Vec<u8> {
    let mut bytes = Vec::new();
    network.write(&mut bytes).unwrap();
    bytes
}

/// Where things lie in a classic file.
const STRING: usize = 12;
const TRANSFORMER: usize = STRING + 178;
const LAYERS: usize = TRANSFORMER + 4 + 2 * 256 + 2 * 125_388 * 256;
const SIZE: usize = 64_217_066;

#[test]
fn files_have_the_exact_bytes_that_others_expect_and_read_back() {
    let bytes = written(&SYNTHETIC);
    assert_eq!(bytes.len(), SIZE);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!([word(0), word(4), word(8)], [0x7AF3_2F16, 0x3E5A_A6EE, 178]);
    assert!(bytes[STRING..].starts_with(b"Features=HalfKP(Friend)[125388->256x2],Network="));
    assert_eq!([word(TRANSFORMER), word(LAYERS)], [0x5D69_D7B8, 0x6333_7156]);

    let (again, warnings) = Network::read(&mut Cursor::new(&bytes)).unwrap();
    assert_eq!(warnings, [""; 0]);
    assert!(written(&again) == bytes);
}

#[test]
fn the_embedded_network_is_the_one_whose_lineage_is_told() {
    let bytes = written(&Network::embedded().unwrap());
    let hash: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
    let lineage = include_str!("../../eval/README.md");
    assert!(lineage.contains(&hash), "eval/README.md does not name the network with the SHA-256 {hash}");
}

/// A file of that structure whose parameters come from `body`.
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

const HASHES: [u32; 3] = [TRANSFORMER_HASH ^ NETWORK_HASH, TRANSFORMER_HASH, NETWORK_HASH];

#[test]
fn any_architecture_string_is_read_and_wrong_hashes_warn() {
    let strings: [&[u8]; 4] =
        [b"", b"Features=HalfKP(Friend)[41024->256x2],Network=whatever", b"\xff\x00\n", &[b'x'; 5000]];
    for string in strings {
        let (_, warnings) = Network::read(&mut &file(string, HASHES, |i| i as u8)[..]).unwrap();
        assert!(warnings.is_empty());
    }
    for wrong in 0..3 {
        let mut hashes = HASHES;
        hashes[wrong] ^= 1;
        let (_, warnings) = Network::read(&mut &file(b"", hashes, |_| 0)[..]).unwrap();
        assert_eq!(warnings.len(), 1);
    }
}

#[test]
fn broken_files_are_refused() {
    let good = file(b"classic", HASHES, |i| (i * 7) as u8);
    let read = |bytes: &[u8]| Network::read(&mut &bytes[..]).map(|_| ()).unwrap_err();
    assert!(matches!(read(b""), NetworkError::Truncated { .. }));
    assert!(matches!(read(b"PNG\r\n and so on"), NetworkError::Version { .. }));
    assert!(matches!(read(&[&good[..], b"\n"].concat()), NetworkError::TrailingBytes { .. }));
    let mut compressed = good.clone();
    compressed[12 + 7 + 4..][..17].copy_from_slice(b"COMPRESSED_LEB128");
    assert!(matches!(read(&compressed), NetworkError::Leb128));
    let mut endless = good[..1000].to_vec();
    endless[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(matches!(read(&endless), NetworkError::StringLength(u32::MAX)));

    // cut anywhere, or with a header of noise
    let mut random = Random(7 << 40);
    for i in 0..1000 {
        let cut = if i % 2 == 0 { random.below(600) } else { good.len() - 1 - random.below(20_000) };
        // most cuts near the end cost a whole reading: do a few of them
        if cut > 600 && i % 100 != 1 {
            continue;
        }
        assert!(matches!(read(&good[..cut]), NetworkError::Truncated { .. }), "cut at {cut}");
    }
    for _ in 0..1000 {
        let mut bytes = good[..800].to_vec();
        for _ in 0..=random.below(8) {
            bytes[random.below(23)] = random.below(256) as u8;
        }
        read(&bytes);
    }
}

/// The bootstrap network's opinion in values, and the same from the mirrored and the turned position.
fn opinion(sfen: &str) -> i32 {
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
fn the_bootstrap_network_has_sense() {
    let start = opinion("lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1");
    assert!((0..100).contains(&start), "{start}");
    let odds = [
        ("a pawn in hand", "lnsgkgsnl/1r5b1/pppp1pppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b P 1", 120..360),
        ("no rook", "lnsgkgsnl/7b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", 600..1100),
        ("six pieces down", "2sgkgs2/9/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL w - 1", -3600..-1800),
    ];
    for (name, sfen, range) in odds {
        let value = opinion(sfen);
        assert!(range.contains(&value), "{name}: {value}");
    }
    // being a pawn up is worth as much whichever side has it, but for the move
    for (pos, _) in known() {
        let sfen = pos.sfen();
        assert_eq!(opinion(&sfen), opinion(&mirrored(&sfen)), "{sfen} is not mirrored");
    }
}

#[test]
fn every_kernel_at_hand_visits_the_same_nodes_and_others_are_refused() {
    let bench = |kernel: &str| {
        let args = ["bench", "--depth", "5", "--kernel", kernel];
        let out = Command::new(env!("CARGO_BIN_EXE_toratsugumi")).args(args).output().unwrap();
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
