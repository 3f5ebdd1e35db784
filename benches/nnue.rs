//! Benchmarks of the evaluation: refresh, differential update, dense layers and the whole evaluation.
//!
//! They use the bootstrap network, whose first hidden layer has few non-zero inputs, and random networks of
//! every architecture, which have few zero inputs. Trained networks lie in between.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use toratsugumi::nnue::arch::ARCHITECTURES;
use toratsugumi::nnue::{Evaluator, Kernel, Network, force_kernel};
use toratsugumi::position::{DirtyPieces, Position};

/// The operations of a search on an evaluator.
enum Step {
    Push(DirtyPieces),
    /// Evaluate the position.
    Evaluate(usize),
    Pop,
}

/// Walks through the tree below a position and evaluates every node, with `width` moves per node.
struct Walk {
    steps: Vec<Step>,
    positions: Vec<Position>,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

impl Walk {
    fn new(sfen: &str, depth: u32, width: usize, random: &mut Random) -> Walk {
        let mut walk = Walk { steps: Vec::new(), positions: Vec::new() };
        walk.visit(&mut Position::from_sfen(sfen).unwrap(), depth, width, random);
        walk
    }

    fn visit(&mut self, pos: &mut Position, depth: u32, width: usize, random: &mut Random) {
        self.steps.push(Step::Evaluate(self.positions.len()));
        // without the history, so that the walk stays small in the cache
        self.positions.push(Position::from_sfen(&pos.sfen()).unwrap());
        let moves = pos.legal_moves(false);
        if depth == 0 || moves.is_empty() {
            return;
        }
        for _ in 0..width {
            self.steps.push(Step::Push(pos.do_move(moves[random.below(moves.len())].mv)));
            self.visit(pos, depth - 1, width, random);
            self.steps.push(Step::Pop);
            pos.undo_move();
        }
    }

    fn run(&self, evaluator: &mut Evaluator) -> i32 {
        evaluator.reset(&self.positions[0]);
        let mut sum = 0;
        for step in &self.steps {
            match step {
                Step::Push(changes) => evaluator.push(*changes),
                Step::Evaluate(at) => sum += evaluator.evaluate(&self.positions[*at]),
                Step::Pop => evaluator.pop(),
            }
        }
        sum
    }
}

const MIDDLE_GAME: &str = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1";

fn networks() -> Vec<(String, Arc<Network>)> {
    let mut random = Random(1);
    let mut all = vec![("bootstrap".to_owned(), Arc::new(Network::bootstrap().unwrap()))];
    for architecture in ARCHITECTURES {
        let mut noise = architecture.zeroed().unwrap();
        for input in 0..architecture.shape.inputs.count() {
            let row = noise.row_mut(input);
            row.iter_mut().for_each(|w| *w = random.below(23) as i16 + random.below(23) as i16 - 22);
        }
        noise.bias_mut().iter_mut().for_each(|b| *b = random.below(261) as i16 - 100);
        for layer in noise.layers_mut() {
            let inputs = layer.inputs();
            for output in 0..layer.bias().len() {
                (0..inputs).for_each(|input| layer.set_weight(output, input, random.below(81) as i16 - 40));
            }
        }
        all.push((format!("noise {}", architecture.name()), Arc::new(Network::new(noise, "noise".into()))));
    }
    // any other network, for measurements
    if let Some(dir) = std::env::var_os("EVAL_DIR") {
        all.push(("eval_dir".to_owned(), Arc::new(Network::load(Path::new(&dir)).unwrap().0)));
    }
    all
}

fn evaluation(c: &mut Criterion) {
    let random = &mut Random(5);
    let walk = Walk::new(MIDDLE_GAME, 6, 4, random);
    let pos = Position::from_sfen(MIDDLE_GAME).unwrap();
    let mut moved = pos.clone();
    let quiet = moved.parse_move("7c6e").unwrap();
    let changes = moved.do_move(quiet);
    // the king moves between two squares, whose table entries differ by a few pieces
    let king = {
        let mut pos = pos.clone();
        let mv = pos.parse_move("1b1c").unwrap();
        (pos.do_move(mv), pos)
    };

    for (name, network) in networks() {
        let mut group = c.benchmark_group(format!("nnue/{name}"));
        for kernel in Kernel::ALL {
            if force_kernel(kernel).is_err() {
                continue;
            }
            let mut evaluator = Evaluator::new(network.clone());
            group.throughput(Throughput::Elements(walk.positions.len() as u64));
            group.bench_function(BenchmarkId::new("evaluate along a tree", kernel), |b| {
                b.iter(|| walk.run(&mut evaluator))
            });
            group.throughput(Throughput::Elements(1));
            evaluator.reset(&pos);
            evaluator.evaluate(&pos);
            group.bench_function(BenchmarkId::new("dense layers", kernel), |b| {
                b.iter(|| evaluator.evaluate(black_box(&pos)))
            });
            group.bench_function(BenchmarkId::new("update both sides", kernel), |b| {
                b.iter(|| {
                    evaluator.push(black_box(changes));
                    evaluator.update(&moved);
                    evaluator.pop();
                })
            });
            group.bench_function(BenchmarkId::new("refresh one side", kernel), |b| {
                b.iter(|| {
                    evaluator.push(black_box(king.0));
                    evaluator.update(&king.1);
                    evaluator.pop();
                })
            });
        }
        group.finish();
    }
}

criterion_group!(benches, evaluation);
criterion_main!(benches);
