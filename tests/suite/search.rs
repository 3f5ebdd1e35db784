//! The search: determinism, limits, prompt stops, forced mates, endings by the rules.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};
use toratsugumi::nnue::Network;
use toratsugumi::position::{EnteringKingRule, Position};
use toratsugumi::search::{Info, Limits, Observer, SearchOptions, Searcher, Silent, ThreadPool};
use toratsugumi::support::numa::Policy;
use toratsugumi::types::*;

static NETWORK: LazyLock<Arc<Network>> =
    LazyLock::new(|| Arc::new(Network::embedded().expect("the embedded network unpacks")));

fn searcher() -> Searcher {
    Searcher::new(NETWORK.clone(), 16, SearchOptions::default()).expect("memory")
}

fn position(sfen: &str) -> Position {
    Position::from_sfen(sfen).expect("a test's own SFEN")
}

const MIDDLE: &str = "l6nl/5+P1gk/2np1S3/p1p4Pp/3P2Sp1/1PPb2P1P/P5GS1/R8/LN4bKL w RGgsn5p 1";

/// Collects everything.
#[derive(Default)]
struct Log {
    infos: Mutex<Vec<Info>>,
    best: Mutex<Option<(Move, Option<Move>)>>,
    calls: AtomicUsize,
}

impl Observer for Log {
    fn info(&self, info: &Info) {
        self.infos.lock().unwrap().push(info.clone());
    }
    fn best_move(&self, best: Move, ponder: Option<Move>) {
        *self.best.lock().unwrap() = Some((best, ponder));
        self.calls.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn one_thread_is_deterministic() {
    let mut s = searcher();
    let mut runs = Vec::new();
    for _ in 0..2 {
        s.clear();
        let first = s.search(&position(MIDDLE), &Limits::depth(9), &Silent);
        let second = s.search(&Position::startpos(), &Limits::depth(9), &Silent);
        runs.push((first.nodes, first.best, first.score, second.nodes, second.best, second.score));
    }
    assert_eq!(runs[0], runs[1]);
    assert!(runs[0].0 > 1000);
}

#[test]
fn a_node_limit_is_reached() {
    let mut s = searcher();
    for n in [1000, 5000, 20_000] {
        s.clear();
        let r = s.search(&position(MIDDLE), &Limits::nodes(n), &Silent);
        assert!(r.nodes >= n && r.nodes < n + 500, "{} nodes for a limit of {n}", r.nodes);
    }
}

/// A step that is stopped plays no further move.
#[test]
fn node_limits_are_exact() {
    let mut s = searcher();
    let pos = position("l2g1gs1l/1rs3k2/ppnp1pnpp/2p3p2/3Pp4/P2b5/1PP2PPPP/LB2R1KS1/1NSG1G1NL b p 23");
    for n in [1000, 1126, 1210, 1581] {
        s.clear();
        assert!(s.search(&pos, &Limits::nodes(n), &Silent).nodes <= n, "{n}");
    }
    // the stop falls into the verification of a null move
    for (sfen, n) in [(MIDDLE, 200_000), ("4k4/9/4p4/9/9/9/4P4/9/4K4 b - 1", 299_764)] {
        s.clear();
        assert_eq!(s.search(&position(sfen), &Limits::nodes(n), &Silent).nodes, n, "{sfen}");
    }
}

/// Moves that the search skips otherwise are searched if the user names them.
#[test]
fn searchmoves_may_name_pointless_moves() {
    let mut s = searcher();
    let pos = position("4k4/9/7P1/9/9/9/9/9/L3K4 b - 1");
    let named = pos.parse_move("2c2b").unwrap();
    let result = s.search(&pos, &Limits { search_moves: vec![named], ..Limits::depth(3) }, &Silent);
    assert!(result.best == named && result.nodes > 1 && result.score.abs() < 5_000, "{result:?}");
}

/// Plays every line through, from `pos`.
fn assert_lines_legal(pos: &Position, log: &Log) {
    for info in log.infos.lock().unwrap().drain(..) {
        assert!(!info.pv.is_empty());
        let mut p = pos.clone();
        for m in info.pv {
            assert!(p.is_pseudo_legal(m, true) && p.is_legal(m), "{m} in {}, from {}", p.sfen(), pos.sfen());
            p.do_move(m);
        }
    }
}

#[test]
fn every_line_reported_is_legal() {
    let log = Log::default();
    let mut s = searcher();
    s.options_mut().pv_interval = 0;
    s.options_mut().multi_pv = 3;
    for sfen in [MIDDLE, &Position::startpos().sfen()] {
        let pos = position(sfen);
        s.search(&pos, &Limits::depth(8), &log);
        assert_lines_legal(&pos, &log);
    }
}

/// A move that wins a tie without a full search once kept the line of an earlier one: a matter of chance, so
/// many positions.
#[test]
fn lines_are_legal_after_ties() {
    let log = Log::default();
    let mut s = searcher();
    s.options_mut().pv_interval = 0;
    for line in include_str!("../data/legal_moves.tsv").lines().filter(|l| !l.starts_with('#')).take(60) {
        let pos = position(line.split('\t').next().unwrap());
        s.search(&pos, &Limits::nodes(30_000), &log);
        assert_lines_legal(&pos, &log);
    }
}

#[test]
fn the_last_line_is_exact_and_whole_after_any_stop() {
    let mut s = searcher();
    let (mut cut, mut short) = (0, 0);
    for line in include_str!("../data/legal_moves.tsv").lines().filter(|l| !l.starts_with('#')).take(40) {
        let pos = position(line.split('\t').next().unwrap());
        for nodes in [700, 3_000, 12_000] {
            let log = Log::default();
            let result = s.search(&pos, &Limits::nodes(nodes), &log);
            let infos = log.infos.lock().unwrap();
            let last = infos.last().expect("a line");
            assert_eq!(last.bound, Bound::Exact, "{line} {nodes}: {last:?}");
            assert_eq!(last.pv[0], result.best, "{line} {nodes}");
            assert_eq!((last.score, &last.pv), (result.score, &result.pv));
            cut += usize::from(result.nodes >= nodes);
            // the first iterations have no more moves, and a line may end early where the game does
            short += usize::from(last.pv.len() < last.depth.min(4) as usize && !is_decisive(last.score));
        }
    }
    assert!(cut > 100, "only {cut} searches ended in the middle of an iteration");
    assert!(short * 10 <= cut, "{short} of {cut} last lines are shorter than their depth");
}

#[test]
fn multipv_lines_differ_and_are_ordered() {
    let log = Log::default();
    let mut s = searcher();
    s.options_mut().multi_pv = 4;
    s.options_mut().pv_interval = 0;
    s.search(&position(MIDDLE), &Limits::depth(7), &log);
    let infos = log.infos.lock().unwrap();
    let last: Vec<_> = infos[infos.len() - 4..].to_vec();
    assert_eq!(last.iter().map(|i| i.multipv).collect::<Vec<_>>(), [1, 2, 3, 4]);
    for w in last.windows(2) {
        assert!(w[0].score >= w[1].score);
        assert_ne!(w[0].pv[0], w[1].pv[0]);
    }
}

/// Lines that are not finished at the stop are those of the iteration before.
#[test]
fn multipv_lines_are_ordered_after_any_stop() {
    let mut s = searcher();
    s.options_mut().multi_pv = 4;
    let mut unfinished = 0;
    for line in include_str!("../data/legal_moves.tsv").lines().filter(|l| !l.starts_with('#')).take(20) {
        let pos = position(line.split('\t').next().unwrap());
        for nodes in [5_000, 8_000, 12_000] {
            let log = Log::default();
            let result = s.search(&pos, &Limits::nodes(nodes), &log);
            let infos = log.infos.lock().unwrap();
            let ranks = pos.legal_moves(false).len().min(4);
            let last = &infos[infos.len() - ranks..];
            assert!(last.iter().map(|i| i.multipv).eq(1..=ranks), "{line} {nodes}: {last:?}");
            assert!(last.iter().all(|i| i.bound == Bound::Exact));
            assert!(last.is_sorted_by(|a, b| a.score >= b.score), "{line} {nodes}: {last:?}");
            assert_eq!(last[0].pv[0], result.best);
            let moves: std::collections::HashSet<_> = last.iter().map(|i| i.pv[0]).collect();
            assert_eq!(moves.len(), ranks, "{line} {nodes}");
            unfinished += usize::from(last.iter().any(|i| i.depth != last[0].depth));
        }
    }
    assert!(unfinished > 10, "only {unfinished} searches ended between two lines");
}

#[test]
fn searchmoves_restricts_the_root() {
    let pos = Position::startpos();
    let only = pos.parse_move("9g9f").unwrap();
    let limits = Limits { search_moves: vec![only], ..Limits::depth(6) };
    assert_eq!(searcher().search(&pos, &limits, &Silent).best, only);
    // also where another move wins at once by the try rule
    let mut s = searcher();
    s.options_mut().entering_king_rule = EnteringKingRule::TryRule;
    let pos = position("9/4K4/9/9/9/9/9/k8/9 b G 1");
    let [wins, only] = ["5b5a", "G*5e"].map(|m| pos.parse_move(m).unwrap());
    assert_eq!(s.search(&pos, &Limits::nodes(500), &Silent).best, wins);
    for named in [only, wins] {
        let limits = Limits { search_moves: vec![named], ..Limits::nodes(500) };
        assert_eq!(s.search(&pos, &limits, &Silent).best, named);
    }
}

#[test]
fn mates_are_found_and_measured() {
    let mut s = searcher();
    let mut solved = 0;
    let mut tried = 0;
    for line in include_str!("../data/mate_problems.tsv").lines().filter(|l| !l.starts_with('#')) {
        let f: Vec<_> = line.split('\t').collect();
        let plies: usize = f[1].parse().unwrap();
        let pos = position(f[0]);
        s.clear();
        let r = s.search(&pos, &Limits::nodes(100_000), &Silent);
        tried += 1;
        // the file's lengths count mates by checks alone: a quiet move may mate sooner, so only length 1 is
        // exact
        if r.score >= VALUE_MATE_IN_MAX_PLY {
            solved += 1;
        }
        if plies == 1 {
            assert_eq!(r.score, mate_in(1), "{line}");
        }
    }
    assert!(solved * 100 >= tried * 90, "only {solved} of {tried} mates within 100,000 nodes each");
}

#[test]
fn a_mated_side_resigns_and_a_declaration_is_made() {
    let mut s = searcher();
    let mated = position("8k/8G/8G/9/9/9/9/9/K8 w - 1");
    assert_eq!(s.search(&mated, &Limits::depth(5), &Silent).best, Move::RESIGN);
    let entered = position("RRGS5/BB2K4/2+P+P1SG2/9/9/9/9/9/8k b 2P2g2s4n4l14p 1");
    assert_eq!(s.search(&entered, &Limits::depth(5), &Silent).best, Move::WIN);
    s.options_mut().entering_king_rule = EnteringKingRule::None;
    assert!(s.search(&entered, &Limits::depth(5), &Silent).best.is_some());
}

#[test]
fn the_move_limit_makes_a_draw() {
    let mut s = searcher();
    s.options_mut().max_moves_to_draw = 101;
    let pos = position("4k4/9/9/9/9/9/9/1B5R1/4K4 b RB4G4S4N4L18P 101");
    let r = s.search(&pos, &Limits::depth(8), &Silent);
    assert!(r.score.abs() < 10, "everything is won, but no ply is left: {}", r.score);
}

/// Every thread watches the limit, so that a first one that gets no processor does not matter.
#[test]
fn many_threads_keep_a_node_limit() {
    let mut pool = ThreadPool::new(NETWORK.clone(), 8, 16, &Policy::None).unwrap();
    let limit = 20_000;
    let nodes = (0..5).map(|_| {
        pool.go(&position(MIDDLE), Limits::nodes(limit), &SearchOptions::default(), Arc::new(Log::default()));
        pool.wait().nodes
    });
    // other programs may delay the first move of some of them
    let least = nodes.min().unwrap();
    assert!((limit..limit + 500).contains(&least), "{least}");
}

/// Asserts that one of five attempts takes at most `most`: other programs may delay some of them.
fn assert_in_time(most: Duration, mut attempt: impl FnMut() -> Duration) {
    let mut times = Vec::new();
    while times.last().is_none_or(|t| *t > most) {
        assert!(times.len() < 5, "{times:?} instead of {most:?}");
        times.push(attempt());
    }
}

#[test]
fn stop_is_prompt_and_gives_one_best_move() {
    for threads in [1, 2] {
        let mut pool = ThreadPool::new(NETWORK.clone(), threads, 16, &Policy::Auto).unwrap();
        assert_in_time(Duration::from_millis(100), || {
            let log = Arc::new(Log::default());
            let limits = Limits { infinite: true, ..Limits::default() };
            pool.go(&position(MIDDLE), limits, &SearchOptions::default(), log.clone());
            std::thread::sleep(Duration::from_millis(150));
            assert_eq!(log.calls.load(Ordering::SeqCst), 0);
            let t = Instant::now();
            pool.stop();
            let r = pool.wait();
            let elapsed = t.elapsed();
            assert_eq!(log.calls.load(Ordering::SeqCst), 1);
            assert_eq!(log.best.lock().unwrap().unwrap().0, r.best);
            assert!(r.best.is_some());
            elapsed
        });
    }
}

#[test]
fn an_infinite_search_of_a_finished_game_waits_for_stop() {
    let mut pool = ThreadPool::new(NETWORK.clone(), 1, 16, &Policy::Auto).unwrap();
    let log = Arc::new(Log::default());
    let limits = Limits { infinite: true, ..Limits::default() };
    pool.go(&position("8k/8G/8G/9/9/9/9/9/K8 w - 1"), limits, &SearchOptions::default(), log.clone());
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(log.calls.load(Ordering::SeqCst), 0);
    pool.stop();
    assert_eq!(pool.wait().best, Move::RESIGN);
    assert_eq!(log.calls.load(Ordering::SeqCst), 1);
}

#[test]
fn pondering_ends_only_after_ponderhit() {
    let mut pool = ThreadPool::new(NETWORK.clone(), 1, 16, &Policy::Auto).unwrap();
    let log = Arc::new(Log::default());
    let options = SearchOptions {
        minimum_thinking_time: 1,
        network_delay: 0,
        network_delay2: 0,
        round_up_to_full_second: false,
        ..SearchOptions::default()
    };
    let limits =
        Limits { ponder: true, has_clock: true, time: [200; 2], byoyomi: [50; 2], ..Limits::default() };
    pool.go(&Position::startpos(), limits, &options, log.clone());
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(log.calls.load(Ordering::SeqCst), 0, "the opponent's time is not ours");
    let t = Instant::now();
    pool.ponderhit(None);
    pool.wait();
    assert_eq!(log.calls.load(Ordering::SeqCst), 1);
    assert!(t.elapsed() < Duration::from_millis(300), "{:?}", t.elapsed());
}

#[test]
fn byoyomi_is_kept() {
    const LAG: u64 = 200;
    let mut pool = ThreadPool::new(NETWORK.clone(), 1, 16, &Policy::Auto).unwrap();
    for byoyomi in [50, 100, 300] {
        assert_in_time(Duration::from_millis(byoyomi + LAG), || {
            let t = Instant::now();
            let limits = Limits { has_clock: true, byoyomi: [byoyomi; 2], ..Limits::default() };
            pool.go(&position(MIDDLE), limits, &SearchOptions::default(), Arc::new(Silent));
            pool.wait();
            t.elapsed()
        });
    }
}
