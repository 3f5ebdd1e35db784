//! The trainer: gradients, learning, determinism, speed.

use crate::support::program;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use toratsugumi::data::read::each_position;
use toratsugumi::data::{
    EndReason, GameRecord, GameResult, GameWriter, Plies, PlyRecord, PositionWriter, Start,
};
use toratsugumi::nnue::arch::ARCHITECTURES;
use toratsugumi::nnue::{Architecture, Network, evaluate_from_scratch};
use toratsugumi::position::Position;
use toratsugumi::position::material::PIECE_VALUE;
use toratsugumi::resume::Lock;
use toratsugumi::support::random::Rng;
use toratsugumi::train::average::Average;
use toratsugumi::train::batch::Batch;
use toratsugumi::train::checkpoint;
use toratsugumi::train::features::{ACTIVE, Sample};
use toratsugumi::train::kernels::{ACC_SCALE, Grid, Kernels};
use toratsugumi::train::layout::Layout;
use toratsugumi::train::loss::{Loss, Objective};
use toratsugumi::train::model::Model;
use toratsugumi::train::quantize::{OUTPUT_SUM, integer_output};
use toratsugumi::train::run::{CHECKPOINT, TrainingJob, run};
use toratsugumi::train::schedule::{RateSchedule, RateShape};
use toratsugumi::train::settings::TrainingSettings;
use toratsugumi::train::source::{DataSet, Part, Selection};
use toratsugumi::train::step::Trainer;
use toratsugumi::types::PieceType;

/// The target is the score alone, on the usual scale.
const SCORE: Objective = Objective { lambda: 1.0, scale: 600.0 };

fn unit(rng: &mut Rng) -> f32 {
    (rng.next_u64() >> 40) as f32 / (1u64 << 24) as f32
}

fn normal(rng: &mut Rng) -> f32 {
    (0..12).map(|_| unit(rng)).sum::<f32>() - 6.0
}

/// Positions with the memory access pattern of games: kings prefer few squares, pieces stay near home. The
/// score is linear in the features, so it can be learnt.
fn samples(n: usize, seed: u64) -> Vec<Sample> {
    let mut rng = Rng::for_stream(seed, 1);
    let mut homes = Vec::new();
    let bases = [(90, 18), (252, 4), (414, 4), (576, 4), (738, 4), (900, 2), (1224, 2)];
    for (base, count) in bases {
        for i in 0..count {
            homes.push((base + if i % 2 == 0 { 0 } else { 81 }, 5 + (i * 9 + 40) % 70));
        }
    }
    assert_eq!(homes.len(), ACTIVE);
    let king = |rng: &mut Rng| ((80.0 * unit(rng).powi(4)) as usize * 37 % 81) as u8;
    let worth = |p: u16| ((p as u32).wrapping_mul(2654435761) >> 16) as f32 / 32768.0 - 1.0;
    (0..n)
        .map(|_| {
            let mut pieces = [0u16; ACTIVE];
            let mut sum = 0.0;
            for (p, &(base, home)) in pieces.iter_mut().zip(&homes) {
                let moved = (normal(&mut rng) * 8.0) as i32;
                let sq = (home + if rng.below(3) == 0 { moved } else { 0 }).clamp(0, 80);
                *p = base as u16 + sq as u16;
                sum += worth(*p);
            }
            let score = (sum * 150.0) as i16;
            let result = if score > 0 { 1 } else { -1 };
            Sample { pieces, score, ply: 50, kings: [king(&mut rng), king(&mut rng)], result, progress: 0 }
        })
        .collect()
}

/// The layout of the default architecture, which most tests train.
fn layout() -> Layout {
    Layout::of(Architecture::DEFAULT)
}

fn new_model(seed: u64) -> Model {
    Model::new(Architecture::DEFAULT, seed).unwrap()
}

fn batches(n: usize, count: usize, seed: u64) -> Vec<Batch> {
    let all = samples(n * count, seed);
    all.chunks(n)
        .map(|chunk| {
            let mut b = Batch::default();
            b.fill(&chunk.iter().map(|s| (*s, false)).collect::<Vec<_>>(), &layout());
            b
        })
        .collect()
}

#[test]
#[ignore = "makes data for the measurement: OPENINGS (SFEN lines), DATA (file to write)"]
fn make_data() {
    let openings = std::fs::read_to_string(std::env::var("OPENINGS").unwrap()).unwrap();
    let openings: Vec<&str> = openings.lines().collect();
    let mut w = GameWriter::create(std::env::var("DATA").unwrap().as_ref(), 1).unwrap();
    for id in 0..20_000 {
        let mut rng = Rng::for_stream(5, id);
        let line = openings[rng.below(openings.len())];
        let mut pos = Position::startpos();
        let mut opening = Vec::new();
        for m in line.split_whitespace().skip_while(|w| *w != "moves").skip(1) {
            let m = pos.parse_move(m).unwrap();
            opening.push(m.raw16());
            pos.do_move(m);
        }
        let mut plies = Vec::new();
        for _ in 0..80 {
            let moves = pos.legal_moves(false);
            // of a few random moves, the one with the best exchange on its square
            let Some(m) = (0..5)
                .filter_map(|_| moves.get(rng.below(moves.len())).map(|m| m.mv))
                .max_by_key(|m| (pos.see_ge(*m, 1), pos.see_ge(*m, 0)))
            else {
                break;
            };
            plies.push(PlyRecord::new(m, material(&pos), !pos.in_check()));
            pos.do_move(m);
        }
        let result =
            GameResult::win(if material(&pos) > 0 { pos.side_to_move() } else { !pos.side_to_move() });
        let reason = EndReason::MaxMoves;
        w.write(&GameRecord { id, start: Start::Startpos, opening, plies, result, reason }).unwrap();
    }
    w.finish().unwrap();
}

/// Games of random moves (captures preferred), scored by material.
fn write_games(path: &std::path::Path, seed: u64, count: u64) {
    let mut w = GameWriter::create(path, seed).unwrap();
    for id in 0..count {
        let mut rng = Rng::for_stream(seed, id);
        let mut pos = Position::startpos();
        let mut plies = Vec::new();
        let mut result = GameResult::Draw;
        for _ in 0..120 {
            let moves = pos.legal_moves(false);
            if moves.is_empty() {
                result = GameResult::win(!pos.side_to_move());
                break;
            }
            let mut m = moves[rng.below(moves.len())].mv;
            for _ in 0..2 {
                if !pos.is_capture(m) {
                    m = moves[rng.below(moves.len())].mv;
                }
            }
            let score = material(&pos);
            plies.push(PlyRecord::new(m, score, !pos.in_check()));
            result = if score.abs() < 300 {
                GameResult::Draw
            } else {
                GameResult::win(if score > 0 { pos.side_to_move() } else { !pos.side_to_move() })
            };
            pos.do_move(m);
        }
        let game = GameRecord {
            id,
            start: Start::Startpos,
            opening: Vec::new(),
            plies,
            result,
            reason: EndReason::MaxMoves,
        };
        w.write(&game).unwrap();
    }
    w.finish().unwrap();
}

fn material(pos: &Position) -> i32 {
    let us = pos.side_to_move();
    let board: i32 = pos
        .board()
        .iter()
        .filter(|p| p.is_some())
        .map(|p| PIECE_VALUE[p.kind().index()] * if p.color() == us { 1 } else { -1 })
        .sum();
    let hand = |c| {
        PieceType::HAND.iter().map(|&k| PIECE_VALUE[k.index()] * pos.hand(c).count(k) as i32).sum::<i32>()
    };
    board + hand(us) - hand(!us)
}

fn job(data: &std::path::Path, out: std::path::PathBuf) -> TrainingJob {
    TrainingJob {
        settings: TrainingSettings {
            architecture: Architecture::DEFAULT,
            schedule: RateSchedule {
                shape: RateShape::Cosine,
                first_rate: 2e-3,
                last_rate: 2e-5,
                warmup: 10,
                epochs: 3,
                first_lambda: 1.0,
                last_lambda: 1.0,
            },
            batch: 1024,
            seed: 1,
            mirror: true,
            ema: None,
            validation: 0.05,
            validation_positions: 5000,
            score_limit: 10_000,
            score_clip: None,
            score_scale: Some(600.0),
            td: None,
            quantized: true,
            epsilon: 1e-6,
            row_rate: 0.5,
            memory: 1 << 30,
            threads: 2,
        },
        data: vec![data.to_owned()],
        out,
        resume: false,
        init: None,
        kernels: Kernels::best(),
        loader_threads: 1,
        max_time: None,
        fit_time: false,
        checkpoint_every: std::time::Duration::from_secs(3600),
        validate_every: 50,
        quiet: true,
    }
}

#[test]
fn without_validation_positions_no_loss_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a.games");
    write_games(&data, 7, 20);
    let mut job = job(&data, dir.path().join("out"));
    job.settings.validation = 0.0;
    job.settings.schedule.epochs = 1;
    job.settings.batch = 256;
    let outcome = run(&job).unwrap().unwrap();
    let last = outcome.log.last().unwrap();
    assert!(last.training > 0.0);
    assert_eq!((last.validation, last.rmse, last.accuracy), (None, None, None));
    let log = std::fs::read_to_string(job.out.join("log.csv")).unwrap();
    assert!(log.trim_end().ends_with(",,,"), "{log}");
}

#[test]
fn positions_beyond_the_score_limit_are_skipped() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    write_games(&at("a.games"), 7, 200);
    for name in ["a.psv", "a.hcpe"] {
        let mut out = PositionWriter::create(&at(name), 0).unwrap();
        let path = at("a.games");
        each_position(&path, Plies::Fit, &mut |w| panic!("{w}"), |_| (), |p| out.write(&p)).unwrap();
        out.finish().unwrap();
    }
    let selection = Selection { validation: 0.5, score_limit: 300, score_clip: None, td: None };
    let paths = ["a.games", "a.psv", "a.hcpe"].map(at);
    let open = |paths: &[PathBuf]| DataSet::open(paths, selection, |w| panic!("{w}")).unwrap();
    let set = open(&paths);
    for (unit, counts) in set.count().unwrap().units.into_iter().enumerate() {
        for (part, count) in [Part::Training, Part::Validation].into_iter().zip(counts) {
            let mut samples = Vec::new();
            set.read(unit, part, &mut samples).unwrap();
            assert_eq!(samples.len(), count as usize, "unit {unit}, {part:?}");
        }
    }
    let [games, psv, hcpe] = paths
        .map(|path| open(&[path]).count().unwrap().units.iter().map(|[a, b]| u64::from(a + b)).sum::<u64>());
    assert!(games > 1000 && games == psv && psv == hcpe, "{games} {psv} {hcpe}");
}

/// A killed run that has written a network can continue.
#[test]
fn the_checkpoint_is_written_before_the_network() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a.games");
    write_games(&data, 7, 20);
    for epochs in [1, 2] {
        let mut job = job(&data, dir.path().join(format!("out{epochs}")));
        job.settings.architecture = "kp_256x2-32-32".parse().unwrap();
        job.settings.schedule.epochs = epochs;
        job.settings.batch = 256;
        // the checkpoint cannot be written
        std::fs::create_dir_all(job.out.join("checkpoint.tmp")).unwrap();
        let error = run(&job).unwrap_err().to_string();
        assert!(error.contains(CHECKPOINT) && !job.out.join("nn.bin").exists(), "{error}");
    }
}

#[test]
fn a_network_learns_material_and_the_engine_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a.games");
    write_games(&data, 7, 700);
    let job = job(&data, dir.path().join("out"));
    let outcome = run(&job).unwrap().unwrap();
    let (first, last) = (outcome.log[0], outcome.log.last().unwrap());
    eprintln!("{first:?}\n{last:?}\n{:?}", outcome.quantization);
    assert!(last.validation.unwrap() < 0.5 * first.validation.unwrap());
    assert!(outcome.quantization.mean < 60.0);
    let (net, warnings) = Network::load(&job.out.join("nn.bin")).unwrap();
    assert!(warnings.is_empty());
    let (mut error, mut count) = (0.0, 0);
    let mut rng = Rng::for_stream(99, 0);
    for _ in 0..20 {
        let mut pos = Position::startpos();
        for _ in 0..80 {
            let moves = pos.legal_moves(false);
            if moves.is_empty() {
                break;
            }
            pos.do_move(moves[rng.below(moves.len())].mv);
            let raw = evaluate_from_scratch(&net, &pos);
            let sample = Sample::of(&pos, 0, 0).unwrap();
            assert_eq!(raw, integer_output(&net, &sample));
            error += (raw as f64 / 16.0 - material(&pos) as f64).abs();
            count += 1;
        }
    }
    eprintln!("mean distance from material {:.0}", error / count as f64);
    assert!(error / (count as f64) < 250.0);
}

#[test]
fn gradients_equal_finite_differences() {
    for name in Kernels::NAMES {
        let Some(kernels) = Kernels::by_name(name) else { continue };
        gradients_are_right(Architecture::DEFAULT, kernels, Objective { lambda: 0.6, scale: 600.0 });
    }
    gradients_are_right(Architecture::DEFAULT, Kernels::best(), Objective { lambda: 0.6, scale: 361.0 });
}

#[test]
fn gradients_equal_finite_differences_for_every_architecture() {
    for architecture in ARCHITECTURES.into_iter().skip(1) {
        gradients_are_right(architecture, Kernels::best(), SCORE);
    }
}

/// All feature sets but that of attacks, both activations, with and without shortcut, few and many stacks.
const OPEN_SHAPES: [&str; 7] = [
    "halfka1_256x2-32-32",
    "sfnn_halfkahm2_512_15_32_k3k3",
    "sfnn_halfkahm1_256_8_64",
    "sfnn_ka2_256_7_8_hand64_k9k9z",
    "sfnn_kp_256_15_8_progress4",
    "sfnn_halfka2_256_7_64_k29k29",
    "sfnn_halfkpvm_256_8_8_hand4_progress2",
];

#[test]
fn gradients_equal_finite_differences_for_networks_of_any_size() {
    for name in OPEN_SHAPES {
        gradients_are_right(name.parse().unwrap(), Kernels::best(), SCORE);
    }
    gradients_are_right("sfnn_halfka2_256_7_16_k3k3".parse().unwrap(), Kernels::SCALAR, SCORE);
}

fn gradients_are_right(architecture: Architecture, kernels: Kernels, objective: Objective) {
    let name = format!("{} {}", architecture.name(), kernels.name());
    let default = architecture == Architecture::DEFAULT;
    let mut samples = samples(64, 3);
    if !default {
        // a wide first layer takes hundreds of megabytes; kings on 5五 and 6五 (mirrored by some networks) are
        // enough
        samples.iter_mut().for_each(|s| s.kings = s.kings.map(|king| [40, 49][usize::from(king % 2)]));
    }
    // more pawns in hand in later samples
    for (i, s) in samples.iter_mut().enumerate() {
        (0..i % 19).for_each(|nth| s.pieces[nth] = nth as u16 + 1);
        s.progress = (4 * i) as u8;
    }
    let mut batch = Batch::default();
    batch.fill(&samples.iter().map(|s| (*s, false)).collect::<Vec<_>>(), &Layout::of(architecture));
    let fresh = || {
        let model = Model::new(architecture, 5).unwrap();
        Trainer::new(model, kernels, Grid::Fine, 2, 64).unwrap()
    };
    // the first moment after one step is a tenth of the gradient
    let mut stepped = fresh();
    stepped.step(&batch, 0.0, objective);
    let all = |m: &[f32]| -> Vec<(usize, f32)> { m.iter().map(|m| m * 10.0).enumerate().collect() };
    let m = &stepped.model;
    // only the rows that the samples use: the others are hundreds of megabytes of zeros
    let used = (0..m.last.len()).filter(|&row| m.last[row] != 0);
    let used = used.flat_map(|row| row * m.layout.l1..(row + 1) * m.layout.l1);
    let rows = used.map(|i| (i, m.rows.m[i] * 10.0)).collect();
    let gradients: [Vec<(usize, f32)>; 4] = [rows, all(&m.factor.m), all(&m.bias.m), all(&m.dense.m)];
    drop(stepped);
    let mut t = fresh();
    let here = t.evaluate(&batch, objective).mean();
    let mut rng = Rng::for_stream(4, 4);
    for (part, gradient) in gradients.iter().enumerate() {
        // parameters with gradients well above the rounding error, and some at random
        if gradient.is_empty() {
            continue;
        }
        let largest = gradient.iter().fold(0f32, |a, (_, g)| a.max(g.abs()));
        let strong: Vec<usize> =
            (0..gradient.len()).filter(|&i| gradient[i].1.abs() > 0.2 * largest).collect();
        let [mut errors, mut bends, mut others] = [const { Vec::new() }; 3];
        for n in 0..if default { 40 } else { 15 } {
            let (i, gradient) =
                gradient[if n % 5 > 0 { strong[rng.below(strong.len())] } else { rng.below(gradient.len()) }];
            let mut loss = |shift: f32| {
                let w = match part {
                    0 => &mut t.model.rows.w[i],
                    1 => &mut t.model.factor.w[i],
                    2 => &mut t.model.bias.w[i],
                    _ => &mut t.model.dense.w[i],
                };
                let before = std::mem::replace(w, *w + shift);
                let loss = t.evaluate(&batch, objective).mean();
                match part {
                    0 => t.model.rows.w[i] = before,
                    1 => t.model.factor.w[i] = before,
                    2 => t.model.bias.w[i] = before,
                    _ => t.model.dense.w[i] = before,
                }
                loss
            };
            // whole steps of the grid of the first layer
            let h = if part == 3 { 4e-3 } else { 4.0 / ACC_SCALE };
            let (above, below, twice) = (loss(h), loss(-h), 2.0 * h as f64);
            // Clipped units have kinks. If a step across a kink at distance `c` adds `J (h - c)` to the loss
            // on one side, the central difference has an error of `J (h - c) / 2h`. That is also half the sum
            // of both steps' changes, divided by the step, which is 0 without kinks. Subtracting it leaves
            // 0.0000 for the bias of 1024x2-8-32, where every other step crosses a kink and half of the errors
            // are above 0.0036. (Kinks on both sides may cancel.)
            let (difference, bend) = ((above - below) / twice, (above + below - 2.0 * here).abs() / twice);
            let error = (difference - gradient as f64).abs();
            errors.push(error / largest as f64);
            bends.push(bend / largest as f64);
            others.push((error - bend).max(0.0) / largest as f64);
        }
        // median and maximum of all errors, of the part that kinks explain, and of the rest
        let [errors, bends, others] = [errors, bends, others].map(|mut values| {
            values.sort_by(f64::total_cmp);
            [values[values.len() / 2], values[values.len() - 1]]
        });
        eprintln!(
            "{name}, part {part}: largest {largest:.2e}; of it {errors:.5?}, corners {bends:.5?}, others {others:.5?}"
        );
        // a bias changes a unit in all positions, and so crosses most kinks
        let median = if part == 2 && !default { 0.1 } else { 0.003 };
        assert!(
            others[0] < 0.001 && others[1] < 0.01 && errors[0] < median && errors[1] < 0.1,
            "{name}, part {part}: {others:?} {errors:?}"
        );
    }
}

/// Training with the values of integers computes what the engine computes from the written network.
#[test]
fn quantized_losses_are_those_of_the_written_network() {
    for name in ["kp_256x2-32-32", "psq_256x2-screlu-8b", "sfnn_ka2_256_7_8_hand4_k3k3", "sfnn_kp_512_16_32"]
    {
        let architecture: Architecture = name.parse().unwrap();
        let mut samples = samples(256, 8);
        for (i, s) in samples.iter_mut().enumerate() {
            (0..i % 19).for_each(|nth| s.pieces[nth] = nth as u16 + 1);
            s.pieces[37] = [85, 88, 1224][i % 3];
        }
        let mut batch = Batch::default();
        let all: Vec<_> = samples.iter().map(|s| (*s, false)).collect();
        batch.fill(&all, &Layout::of(architecture));
        let model = Model::new(architecture, 3).unwrap();
        let mut t = Trainer::new(model, Kernels::best(), Grid::Quantized, 2, 256).unwrap();
        (0..30).for_each(|_| {
            t.step(&batch, 5e-3, SCORE);
        });
        let loss = t.evaluate(&batch, SCORE).mean();
        let finished = t.model.finished().unwrap();
        let network = finished.quantize().unwrap();
        let [mut written, mut exact] = [Loss::default(); 2];
        for s in &samples {
            let target = SCORE.target(s.score as f32, 0.0);
            written.count(SCORE.logit(integer_output(&network, s) as f32 / OUTPUT_SUM), target, 0.0);
            exact.count(SCORE.logit(finished.output(s)), target, 0.0);
        }
        eprintln!("{name}: {loss} {} {}", written.mean(), exact.mean());
        assert!((written.mean() - loss).abs() < 1e-3 * loss, "{name}: {} {loss}", written.mean());
        // without rounding the loss is that of unrounded training
        let mut t = Trainer::new(t.model, Kernels::best(), Grid::Fine, 2, 256).unwrap();
        let loss = t.evaluate(&batch, SCORE).mean();
        assert!((exact.mean() - loss).abs() < 1e-2 * loss, "{name}: {} {loss}", exact.mean());
    }
}

/// Trains for a few steps and checks the network.
fn is_trained(architecture: Architecture) {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a.games");
    write_games(&data, 7, 120);
    let mut a = job(&data, dir.path().join("a"));
    a.settings.architecture = architecture;
    a.settings.schedule.epochs = 4;
    a.settings.batch = 256;
    let outcome = run(&a).unwrap().unwrap();
    let (first, last) = (outcome.log[0], outcome.log.last().unwrap());
    eprintln!("{first:?}\n{last:?}\n{:?}", outcome.quantization);
    // 120 games are overfitted sooner with fewer king buckets; rounding has more effect with few hidden units
    let (share, centipawns) = match architecture.name().as_str() {
        name if name.contains("kpvm") || name.contains("kahm") => (0.9, 200.0),
        "halfkp_1024x2-8-32" | "halfkp_1024x2-8-64" => (0.8, 400.0),
        _ => (0.8, 200.0),
    };
    let [begin, end] = [first, *last].map(|entry| entry.validation.unwrap());
    assert!(end < share * begin, "{architecture:?}: {first:?} {last:?}");
    // the effect of rounding in centipawns: mean and maximum
    let rounding = outcome.quantization;
    assert!(rounding.mean < 40.0 && rounding.max < centipawns, "{architecture:?}: {rounding:?}");
    let (net, warnings) = Network::load(&a.out.join("nn.bin")).unwrap();
    assert!(warnings.is_empty() && net.architecture() == architecture);
    let mut pos = Position::startpos();
    for ply in 0..40 {
        let mut sample = Sample::of(&pos, 0, 0).unwrap();
        if let Some(progress) = net.parameters().progress() {
            sample.progress = progress.level_of([0, 1].map(|p| sample.seen(p, false)));
        }
        assert_eq!(evaluate_from_scratch(&net, &pos), integer_output(&net, &sample), "{}", pos.sfen());
        let moves = pos.legal_moves(false);
        pos.do_move(moves[ply * 7 % moves.len()].mv);
    }
    // training continues from its network and checkpoint, but not as another architecture
    let other = ARCHITECTURES.into_iter().find(|other| *other != architecture).unwrap();
    for start in ["nn.bin", CHECKPOINT] {
        let mut b = TrainingJob { out: dir.path().join("b"), init: Some(a.out.join(start)), ..a.clone() };
        b.settings.schedule.epochs = 1;
        if architecture.name() == "lite_72-32" && start == "nn.bin" {
            let error = run(&b).unwrap_err().to_string();
            assert!(error.contains("Lite 72-32-1") && error.contains("checkpoint"), "{error}");
            continue;
        }
        run(&b).unwrap().unwrap();
        b.settings.architecture = other;
        let error = run(&b).unwrap_err().to_string();
        assert!(error.contains(&architecture.name()) && error.contains(&other.name()), "{error}");
    }
}

#[test]
fn other_architectures_are_trained_too() {
    let names = ["kp_256x2-32-32", "psq_256x2-screlu-8b", "lite_72-32", "sfnn_ka2_256_7_16_k3k3_progress2"];
    for name in names {
        is_trained(name.parse().unwrap());
    }
}

#[test]
#[ignore = "gigabytes of memory, minutes"]
fn all_architectures_are_trained() {
    ARCHITECTURES.into_iter().for_each(is_trained);
    OPEN_SHAPES.into_iter().for_each(|name| is_trained(name.parse().unwrap()));
}

#[test]
fn a_training_that_diverges_ends_with_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let games = dir.path().join("a.games");
    write_games(&games, 4, 300);
    let mut a = job(&games, dir.path().join("a"));
    a.settings.schedule.first_rate = 1e30;
    a.settings.schedule.warmup = 0;
    let error = run(&a).unwrap_err().to_string();
    assert!(error.contains("diverges"), "{error}");
    assert!(!a.out.join("nn.bin").exists(), "no network comes of it");
}

#[test]
fn the_same_seed_makes_the_same_network_and_resuming_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a.games");
    write_games(&data, 3, 60);
    let read = |job: &TrainingJob| std::fs::read(job.out.join("nn.bin")).unwrap();
    for memory in [1 << 30, 84 * 4096] {
        let mut a = job(&data, dir.path().join("a"));
        a.settings.memory = memory;
        a.settings.schedule.epochs = 2;
        a.settings.architecture = "kp_256x2-32-32".parse().unwrap();
        // the streamed set with all options
        if memory < 1 << 30 {
            a.settings.architecture = Architecture::DEFAULT;
            a.settings.schedule.epochs = 3;
            a.settings.ema = Some(0.95);
            a.settings.score_scale = None;
        }
        run(&a).unwrap().unwrap();
        let mut b = TrainingJob { out: dir.path().join("b"), ..a.clone() };
        run(&b).unwrap().unwrap();
        assert!(read(&a) == read(&b), "two runs differ");
        // stopped many times, about once a step
        b.out = dir.path().join(format!("c{memory}"));
        b.resume = true;
        b.max_time = Some(std::time::Duration::from_millis(200));
        let mut stops = 0;
        while run(&b).unwrap().is_none() {
            stops += 1;
            if stops == 3 {
                b.max_time = None;
            }
        }
        assert!(stops > 0);
        assert!(read(&a) == read(&b), "resuming after {stops} stops differs");
        b.settings.seed += 1;
        assert!(run(&b).is_err(), "a checkpoint of other settings is resumed");
    }
}

#[test]
fn one_process_at_a_time_trains_in_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a.games");
    write_games(&data, 3, 20);
    let mut a = job(&data, dir.path().join("a"));
    a.settings.architecture = "kp_256x2-32-32".parse().unwrap();
    std::fs::create_dir(&a.out).unwrap();
    let lock = Lock::take(&a.out.join("train")).unwrap();
    assert!(run(&a).unwrap_err().to_string().contains("train is in use by process "));
    drop(lock);
    run(&a).unwrap().unwrap();
}

#[test]
fn a_schedule_that_ends_with_the_time_counts_the_time_of_earlier_processes() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a.games");
    write_games(&data, 3, 20);
    let mut a = job(&data, dir.path().join("a"));
    a.settings.architecture = "kp_256x2-32-32".parse().unwrap();
    a.settings.batch = 256;
    a.settings.schedule.epochs = 10_000;
    a.validate_every = 1;
    a.max_time = Some(std::time::Duration::from_secs(2));
    assert!(run(&a).unwrap().is_none());
    let seconds = |log: &str| log.lines().last().unwrap().split(',').nth(3).unwrap().parse::<f64>().unwrap();
    let log = || std::fs::read_to_string(a.out.join("log.csv")).unwrap();
    let (stopped, steps) = (seconds(&log()), log().lines().count());
    // half of the time has gone, and the rest takes as long
    let mut b = TrainingJob { resume: true, fit_time: true, ..a.clone() };
    b.max_time = Some(std::time::Duration::from_secs_f64(2.0 * stopped));
    let outcome = run(&b).unwrap().unwrap();
    let rest = &outcome.log[steps - 1..];
    assert!(rest[0].rate < 0.6 * a.settings.schedule.first_rate, "{:?}", rest[0]);
    assert!(rest.last().unwrap().rate < 0.2 * a.settings.schedule.first_rate);
    assert!(rest.last().unwrap().seconds < 3.0 * stopped);
    // nothing is left
    let ended = outcome.log.len();
    assert_eq!(run(&b).unwrap().unwrap().log.len(), ended);
}

/// Otherwise the network would be that of a high learning rate.
#[cfg(unix)]
#[test]
fn a_signal_does_not_complete_a_run_that_ends_with_the_time() {
    let dir = tempfile::tempdir().unwrap();
    let (data, out) = (dir.path().join("a.games"), dir.path().join("out"));
    write_games(&data, 3, 20);
    let mut command = program();
    command.arg("train").arg(&data).arg("--out").arg(&out);
    command.args("--arch kp_256x2-32-32 --batch 256 --epochs 100000 --max-time 10m --fit-time -q".split(' '));
    let mut child = command.spawn().unwrap();
    while !out.join("log.csv").exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    crate::support::signal(&child, crate::support::Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(75));
    assert!(out.join(CHECKPOINT).exists());
}

/// All parameters of a model, for comparisons.
fn parameters(model: &Model) -> Vec<f32> {
    let finished = model.finished().unwrap();
    [&finished.rows[..], &finished.bias, &finished.dense].concat()
}

#[test]
fn a_loaded_checkpoint_continues_exactly() {
    const RUN: &str = r#"{"settings": {}}"#;
    let batches = batches(1024, 8, 2);
    let mut t = Trainer::new(new_model(1), Kernels::best(), Grid::Quantized, 2, 1024).unwrap();
    let mut average = Average::new(0.9);
    for b in &batches[..5] {
        t.step(b, 1e-3, SCORE);
        average.update(&t.model).unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state");
    checkpoint::save(&path, &t.model, Some(&average), RUN).unwrap();
    let read = checkpoint::load(&path).unwrap();
    assert_eq!(read.run, RUN);
    let mut again = Trainer::new(read.model, Kernels::best(), Grid::Quantized, 2, 1024).unwrap();
    (again.model.epsilon, again.model.row_rate) = (t.model.epsilon, t.model.row_rate);
    let mut average_again = read.average.unwrap();
    for b in &batches[5..] {
        assert_eq!(t.step(b, 1e-3, SCORE), again.step(b, 1e-3, SCORE));
        average.update(&t.model).unwrap();
        average_again.update(&again.model).unwrap();
    }
    assert!(parameters(&t.model) == parameters(&again.model));
    assert!(average.mean.unwrap().rows[..] == average_again.mean.unwrap().rows[..]);

    // any flipped bit is detected
    assert!(checkpoint::is_one(&path).unwrap());
    let mut file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let length = file.metadata().unwrap().len();
    let shares_rows = 37 + RUN.len() as u64;
    for at in [3, 12, 20, 40, shares_rows, 1000, length / 3, length / 2, length - 1] {
        let mut flip = || {
            let mut byte = [0];
            file.seek(SeekFrom::Start(at)).unwrap();
            file.read_exact(&mut byte).unwrap();
            file.seek(SeekFrom::Start(at)).unwrap();
            file.write_all(&[byte[0] ^ 4]).unwrap();
        };
        flip();
        let error = checkpoint::load(&path).err().unwrap_or_else(|| panic!("byte {at}")).to_string();
        assert_eq!(error.contains("share rows"), at == shares_rows, "{error}");
        flip();
    }
    assert!(checkpoint::load(&path).is_ok());
}

#[test]
fn runs_start_from_the_state_of_another_run() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("a.games");
    write_games(&data, 3, 100);
    let mut a = job(&data, dir.path().join("a"));
    a.settings.schedule.epochs = 1;
    run(&a).unwrap().unwrap();
    let state = a.out.join(CHECKPOINT);
    // without a learning rate the parameters stay
    let mut b = TrainingJob { out: dir.path().join("b"), init: Some(state.clone()), ..a.clone() };
    b.settings.schedule.first_rate = 1e-12;
    b.settings.schedule.last_rate = 1e-12;
    run(&b).unwrap().unwrap();
    let read = |path: &std::path::Path| {
        let mut read = checkpoint::load(path).unwrap();
        read.model.epsilon = a.settings.epsilon;
        read
    };
    let (old, new) = (read(&state), read(&b.out.join(CHECKPOINT)));
    let apart = parameters(&old.model).into_iter().zip(parameters(&new.model)).map(|(a, b)| (a - b).abs());
    let apart = apart.fold(0.0, f32::max);
    assert!(apart < 1e-6, "{apart}");
    // Adam's step count continues, while the schedule restarts
    assert_eq!(new.model.step, 2 * old.model.step);
    assert!(new.model.factor.w.iter().any(|&w| w != 0.0));
    let from_network = Model::from_network(&Network::load(&a.out.join("nn.bin")).unwrap().0).unwrap();
    assert_ne!(parameters(&from_network), parameters(&new.model), "the state is rounded");
}

#[test]
fn the_average_is_that_of_the_last_steps() {
    let batches = batches(1024, 6, 2);
    let mut t = Trainer::new(new_model(1), Kernels::best(), Grid::Quantized, 2, 1024).unwrap();
    let decay: f64 = 0.95;
    let mut average = Average::new(decay);
    assert!(average.mean.is_none());
    let kept = decay.powi(average.every() as i32);
    let mut updates: Vec<Vec<f32>> = Vec::new();
    for b in &batches {
        t.step(b, 1e-2, SCORE);
        average.update(&t.model).unwrap();
        updates.push(parameters(&t.model));
    }
    let weights: Vec<f64> = (0..updates.len()).rev().map(|age| kept.powi(age as i32)).collect();
    let all: f64 = weights.iter().sum();
    let mean = average.mean.unwrap();
    let mean = [&mean.rows[..], &mean.bias, &mean.dense].concat();
    for i in (0..mean.len()).step_by(37) {
        let expected = updates.iter().zip(&weights).map(|(l, w)| l[i] as f64 * w / all).sum::<f64>();
        assert!((mean[i] as f64 - expected).abs() < 1e-5, "{i}: {} {expected}", mean[i]);
    }
    assert!(updates[0] != updates[1]);
}

#[test]
fn all_kernels_learn_the_same() {
    let batches = batches(1024, 8, 2);
    let losses: Vec<f64> = Kernels::NAMES
        .into_iter()
        .filter_map(Kernels::by_name)
        .map(|k| {
            let mut t = Trainer::new(new_model(1), k, Grid::Fine, 2, 1024).unwrap();
            batches.iter().for_each(|b| {
                t.step(b, 1e-3, SCORE);
            });
            t.evaluate(&batches[0], SCORE).mean()
        })
        .collect();
    for loss in &losses {
        assert!((loss / losses[0] - 1.0).abs() < 0.01, "{losses:?}");
    }
}

#[test]
#[ignore = "a measurement, run alone"]
fn speed() {
    let threads = std::env::var("THREADS").map_or(2, |t| t.parse().unwrap());
    let kernels = std::env::var("KERNELS").map_or(Kernels::best(), |k| Kernels::by_name(&k).unwrap());
    // DATA: game files to measure with instead of made-up positions
    let batches = match std::env::var_os("DATA") {
        None => batches(16384, 16, 1),
        Some(path) => {
            let selection = Selection { validation: 0.0, score_limit: 10_000, score_clip: None, td: None };
            let set = DataSet::open(&[path.into()], selection, |w| panic!("{w}")).unwrap();
            let mut all = Vec::new();
            let start = std::time::Instant::now();
            (0..set.units()).for_each(|i| set.read(i, Part::Training, &mut all).unwrap());
            eprintln!(
                "{} positions read, {:.0} ns each",
                all.len(),
                start.elapsed().as_nanos() as f64 / all.len() as f64
            );
            Rng::for_stream(1, 1).shuffle(&mut all);
            let make = |c: &[Sample]| {
                let mut b = Batch::default();
                b.fill(&c.iter().enumerate().map(|(i, s)| (*s, i % 2 == 0)).collect::<Vec<_>>(), &layout());
                b
            };
            let start = std::time::Instant::now();
            let batches: Vec<Batch> = all.chunks_exact(16384).take(32).map(make).collect();
            eprintln!("{:.1} ms to make a batch", start.elapsed().as_secs_f64() * 1e3 / batches.len() as f64);
            batches
        }
    };
    let mut t = Trainer::new(new_model(1), kernels, Grid::Quantized, threads, 16384).unwrap();
    // processor time, because other processes disturb the clock
    let cpu = || {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let f: Vec<f64> = stat.split(' ').filter_map(|x| x.parse().ok()).collect();
        // pid, then without the name and the state: user and system time are fields 14 and 15
        f.get(11).zip(f.get(12)).map_or(f64::NAN, |(u, s)| (u + s) / 100.0)
    };
    for epoch in 0..4 {
        let busy = cpu();
        let start = std::time::Instant::now();
        t.seconds = [0.0; 5];
        let mut loss = Loss::default();
        batches.iter().for_each(|b| loss.add(&t.step(b, 1e-3, SCORE)));
        let s = start.elapsed().as_secs_f64();
        eprintln!(
            "{} {threads} threads, pass {epoch}: {:.0} positions/s ({:.0} per processor second), loss {:.5}, ms by phase {:?}",
            kernels.name(),
            loss.samples / s,
            loss.samples / (cpu() - busy),
            loss.mean(),
            t.seconds.map(|x| (x * 1e5 / batches.len() as f64).round() / 100.0)
        );
    }
}
