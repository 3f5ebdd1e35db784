//! The trainer: gradients, learning, determinism, speed.

use toratsugumi::random::Rng;
use toratsugumi::train::batch::Batch;
use toratsugumi::train::features::{ACTIVE, Sample};
use toratsugumi::train::kernels;
use toratsugumi::train::model::Model;
use toratsugumi::train::step::{Loss, Trainer};

fn unit(rng: &mut Rng) -> f32 {
    (rng.next_u64() >> 40) as f32 / (1u64 << 24) as f32
}

fn normal(rng: &mut Rng) -> f32 {
    (0..12).map(|_| unit(rng)).sum::<f32>() - 6.0
}

/// Positions that look like games as far as the trainer's memory traffic goes: kings prefer few squares, pieces stay
/// near home. The score is linear in the features, so it can be learnt.
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
                let sq = (home as i32 + if rng.below(3) == 0 { moved } else { 0 }).clamp(0, 80);
                *p = base as u16 + sq as u16;
                sum += worth(*p);
            }
            let score = (sum * 150.0) as i16;
            let result = if score > 0 { 1 } else { -1 };
            Sample { pieces, score, ply: 50, kings: [king(&mut rng), king(&mut rng)], result, reserved: 0 }
        })
        .collect()
}

fn batches(n: usize, count: usize, seed: u64) -> Vec<Batch> {
    let all = samples(n * count, seed);
    all.chunks(n)
        .map(|chunk| {
            let mut b = Batch::default();
            b.fill(&chunk.iter().map(|s| (*s, false)).collect::<Vec<_>>());
            b
        })
        .collect()
}

#[test]
#[ignore = "a measurement, run alone"]
fn speed() {
    let threads = std::env::var("THREADS").map_or(2, |t| t.parse().unwrap());
    let kernels = std::env::var("KERNELS").map_or(kernels::best(), |k| kernels::by_name(&k).unwrap());
    let batches = batches(16384, 16, 1);
    let mut t = Trainer::new(Model::new(1).unwrap(), kernels, threads, 16384).unwrap();
    // with other work on the machine, processor time says more than the clock
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
        batches.iter().for_each(|b| loss.add(&t.step(b, 1e-3, 1.0)));
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
