//! Move generation counts the same trees as three independent generators.

use std::sync::atomic::AtomicBool;
use toratsugumi::position::{Position, divide, perft};

fn lines() -> impl Iterator<Item = (&'static str, u32, u64)> {
    include_str!("../data/perft.tsv").lines().filter(|l| !l.starts_with('#')).map(|line| {
        let f: Vec<&str> = line.split('\t').collect();
        (f[0], f[1].parse().expect("depth"), f[2].parse().expect("nodes"))
    })
}

#[test]
fn perft_equals_the_table() {
    let mut wrong = Vec::new();
    for (sfen, depth, nodes) in lines() {
        let mut pos = Position::from_sfen(sfen).expect(sfen);
        let got = perft(&mut pos, depth);
        if got != nodes {
            wrong.push(format!("{sfen} depth {depth}: {got} instead of {nodes}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn division_and_threads_sum_to_the_same() {
    let pos = Position::startpos();
    let go = AtomicBool::new(false);
    let divided = divide(&pos, 4, 1, &go).expect("not stopped");
    assert_eq!(divided.len(), 30);
    assert_eq!(divided.iter().map(|d| d.1).sum::<u64>(), 719_731);
    assert_eq!(divide(&pos, 4, 4, &go).expect("not stopped"), divided);
}
