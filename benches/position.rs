//! Benchmarks of the rules: move generation, perft, do and undo, exchanges, mates in one.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use toratsugumi::position::{Position, perft};
use toratsugumi::types::{Move, MoveList};

/// Opening, middle game, many drops, an endgame with entered pieces.
const POSITIONS: [&str; 5] = [
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "lnsgkgsnl/1r7/p1ppp1bpp/1p3pp2/7P1/2P6/PP1PPPP1P/1B3S1R1/LNSGKG1NL b - 9",
    "l4S2l/4g1gs1/5p1p1/pr2N1pkp/4Gn3/PP3PPPP/2GPP4/1K7/L3r+s2L w BS2N5Pb 1",
    "6n1l/2+S1k4/2lp4p/1np1B2b1/3PP4/1N1S3rP/1P2+pPP+p1/1p1G5/3KG2r1 b GSN2L4Pgs2p 1",
    "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1",
];

fn positions() -> Vec<Position> {
    POSITIONS.iter().map(|s| Position::from_sfen(s).expect("a good SFEN")).collect()
}

fn pseudo_legal(pos: &Position, list: &mut MoveList) {
    if pos.in_check() {
        pos.evasions(false, list);
    } else {
        pos.captures(false, list);
        pos.quiets(false, list);
    }
}

fn generation(c: &mut Criterion) {
    let positions = positions();
    let mut group = c.benchmark_group("movegen");
    group.throughput(Throughput::Elements(positions.len() as u64));
    group.bench_function("captures", |b| {
        b.iter(|| {
            for pos in positions.iter().filter(|p| !p.in_check()) {
                let mut list = MoveList::new();
                pos.captures(false, &mut list);
                black_box(list.len());
            }
        })
    });
    group.bench_function("pseudo_legal", |b| {
        b.iter(|| {
            for pos in &positions {
                let mut list = MoveList::new();
                pseudo_legal(pos, &mut list);
                black_box(list.len());
            }
        })
    });
    group.bench_function("legal", |b| {
        b.iter(|| positions.iter().for_each(|pos| drop(black_box(pos.legal_moves(true)))))
    });
    group.finish();
}

fn trees(c: &mut Criterion) {
    let mut group = c.benchmark_group("perft");
    for (name, sfen, depth) in [("startpos_4", POSITIONS[0], 4), ("drops_2", POSITIONS[3], 2)] {
        let mut pos = Position::from_sfen(sfen).expect("a good SFEN");
        group.throughput(Throughput::Elements(perft(&mut pos, depth)));
        group.bench_function(name, |b| b.iter(|| perft(&mut pos, black_box(depth))));
    }
    group.finish();
}

fn single_moves(c: &mut Criterion) {
    let mut positions = positions();
    let moves: Vec<Vec<Move>> =
        positions.iter().map(|p| p.legal_moves(false).iter().map(|s| s.mv).collect()).collect();
    let count = moves.iter().map(|m| m.len() as u64).sum();
    let mut group = c.benchmark_group("moves");
    group.throughput(Throughput::Elements(count));
    group.bench_function("do_undo", |b| {
        b.iter(|| {
            for (pos, moves) in positions.iter_mut().zip(&moves) {
                for &m in moves {
                    black_box(pos.do_move(m));
                    pos.undo_move();
                }
            }
        })
    });
    let mut each = |name: &str, f: &dyn Fn(&Position, Move) -> bool| {
        group.bench_function(name, |b| {
            b.iter(|| {
                for (pos, moves) in positions.iter().zip(&moves) {
                    for &m in moves {
                        black_box(f(pos, m));
                    }
                }
            })
        });
    };
    each("see", &|pos, m| pos.see_ge(m, 0));
    each("gives_check", &|pos, m| pos.gives_check(m));
    each("is_pseudo_legal", &|pos, m| pos.is_pseudo_legal(m, false));
    each("key_after", &|pos, m| pos.key_after(m) & 1 == 0);
    group.finish();
    c.bench_function("mate_in_one", |b| {
        b.iter(|| positions.iter().filter(|pos| black_box(pos.mate_in_one()).is_some()).count())
    });
}

criterion_group!(benches, generation, trees, single_moves);
criterion_main!(benches);
