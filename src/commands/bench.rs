//! The bench: fixed positions, searched to a fixed depth. On one thread its node count is the signature of
//! the search; it is the same on every machine and instruction set, and changes only when the search or the
//! network does.

use crate::engine::{UsiScore, load_network};
use crate::nnue::{Kernel, Network, force_kernel};
use crate::position::Position;
use crate::search::{Info, Limits, Observer, SearchOptions, ThreadPool};
use crate::support::console;
use crate::support::memory::OutOfMemory;
use crate::support::numa::Policy;
use crate::types::Move;
use clap::Parser;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Search fixed positions and print the nodes (the signature of the search) and the speed
#[derive(clap::Args, Clone)]
pub struct Args {
    /// Plies, the same for every position
    #[arg(long, default_value_t = DEFAULT_DEPTH, conflicts_with_all = ["nodes", "movetime"], value_parser = clap::value_parser!(i32).range(1..))]
    depth: i32,
    /// Nodes per position, instead of a depth
    #[arg(long, conflicts_with = "movetime")]
    nodes: Option<u64>,
    /// Milliseconds per position, instead of a depth
    #[arg(long, value_name = "MS")]
    movetime: Option<u64>,
    /// Threads; the node count is deterministic only with one. A list such as 1,8,64 gives a table of the speeds
    #[arg(long, default_value = "1", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Vec<u16>,
    /// How threads are bound to processors, as the USI option NumaPolicy
    #[arg(long, default_value = "auto")]
    numa_policy: Policy,
    /// MiB of the transposition table
    #[arg(long, default_value_t = 64, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    hash: u32,
    /// A network file or the directory of an nn.bin, instead of the embedded network
    #[arg(long, visible_alias = "eval-file", value_name = "PATH")]
    eval_dir: Option<PathBuf>,
    /// Evaluate with this kernel instead of the best that the processor runs: scalar, avx2, avxvnni, avx512
    /// or neon
    #[arg(long)]
    kernel: Option<Kernel>,
}

/// A few seconds on one thread.
const DEFAULT_DEPTH: i32 = 13;

/// The positions: from the first move to bare endings, with kings on the run and hands full of pieces.
pub const POSITIONS: &[&str] = &[
    // openings
    "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
    "lnsgk1snl/1r4gb1/p1pppp1pp/6p2/1p7/P5P2/1PPPPP1PP/1B1K2SR1/LNSG1G1NL b - 9",
    "ln1g2snl/1r1s1kg2/p1ppp1bpp/5pp2/7P1/1PP6/PGNPPPP1P/1B2K1SR1/L1S2G1NL b P 19",
    "ln5nl/1r1s2gk1/p2p1gsp1/2p1p3p/1p3pp2/2PPP3P/PPNSSPPP1/3G1GK2/LR5NL w Bb 40",
    "lr6l/3g1kg2/2n1ppnp1/ppppssp1p/5N3/P1P2PP1P/1PSPPS3/2GK1G3/LN5RL b BPb 55",
    // middle games
    "lr5nl/2gk2g2/3spsbpp/p1p2pp2/3nP2P1/P1PP1SP1P/1P1S1GN2/1BG1K2R1/L7L w n3p 60",
    "ln1g3nl/1r3gks1/p3pp1pp/1pBps1P2/9/2P2P3/PPSPP1N1P/3K2S2/LN1G1G2L w B3Pr 48",
    "l7l/1rgks4/p1nsp1+Np1/3S1+Bp1p/7r1/4NGP1P/PP1PPp1+b1/1G2KS3/LN4G1L b 3P3p 77",
    "lng4nl/5kRs1/p+Pp1pg2p/3n1p1P1/1s4R1P/3P1P3/P1P+nP1P2/1S7/LK1g1S2L w B4Pbg 84",
    // many pieces to drop
    "8l/2s2l3/p1ns3p1/6R1p/PpP2Ppn1/3GG1k2/1PN6/1K4P2/L1B1r4 w B2GS3Psnl5p 120",
    "l6nl/3g1kgp1/3pp4/p1P2P1P1/1n3sP1P/Pn3r3/1G5K1/9/L7L w R2BG3S4Pn4p 130",
    "5+Rpn1/2+N3g2/4pp3/P1s3ks1/g3L3p/4+b2s1/1P3PPp1/5GK1R/7LS b BGNL8Pnlp 141",
    // the king is hunted
    "1g2k1snl/1p1g1g1p1/2pppp2p/+R5p2/4K4/6S2/6P1P/5+n3/2L1r2+sL b 2BGSNL3Pn5p 96",
    "l1kg4l/2s3+R2/p2pp4/1r7/2P1bbP1p/P2P5/1S3P2P/1PGKG4/LN5NL b GS5Ps2n2p 91",
    // entering kings
    "ln1gp+R2K/1psg2+N+P1/pkpp1+L+N1+B/1s1+r1P1g1/9/6g2/P7P/9/+b6NL w 3P2sl6p 160",
    "l7l/7s1/p2+BP2gp/n+R3Np2/2P2p1+r1/P2Pp4/KP1S+b1PPk/2G3G1g/LNS6 b SN3Pl3p 151",
];

/// `toratsugumi bench`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    if let Some(kernel) = args.kernel {
        force_kernel(kernel)?;
    }
    let mut out = console::output();
    let mut failed = None;
    let mut say = |line: &str| {
        if let Err(e) = writeln!(out, "{line}") {
            failed.get_or_insert(e);
        }
    };
    let network = Arc::new(load_network(args.eval_dir.as_deref(), &mut say)?);
    bench_all(args, network, &AtomicBool::new(false), &mut say)?;
    failed.map_or(Ok(()), |e| Err(e.into()))
}

/// The USI command, with the same words, with or without dashes (`bench depth 8`).
pub fn usi(
    network: Arc<Network>,
    words: &[String],
    stop: &AtomicBool,
    say: &mut dyn FnMut(&str),
) -> Result<(), Box<dyn Error>> {
    #[derive(Parser)]
    #[command(name = "bench", disable_help_flag = true)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }
    const NAMES: &[&str] =
        &["depth", "nodes", "movetime", "threads", "numa-policy", "hash", "eval-dir", "eval-file"];
    let dashed = |w: &String| if NAMES.contains(&w.as_str()) { format!("--{w}") } else { w.clone() };
    let words = std::iter::once("bench".to_string()).chain(words.iter().map(dashed));
    let args = Line::try_parse_from(words)
        // the first line is the error, the rest is usage
        .map_err(|e| {
            e.to_string().lines().next().unwrap_or_default().trim_start_matches("error: ").to_string()
        })?
        .args;
    let network = match &args.eval_dir {
        Some(dir) => Arc::new(load_network(Some(dir), say)?),
        None => network,
    };
    bench_all(&args, network, stop, say)?;
    Ok(())
}

/// Keeps the last line and signals the end of the search.
struct Watch {
    last: Mutex<Option<Info>>,
    done: Mutex<Sender<Move>>,
}

impl Observer for Watch {
    fn info(&self, info: &Info) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(info.clone());
    }

    fn best_move(&self, best: Move, _ponder: Option<Move>) {
        // the receiver waits for this message
        let _ = self.done.lock().unwrap_or_else(PoisonError::into_inner).send(best);
    }
}

/// What all positions took together.
struct Total {
    nodes: u64,
    depths: i32,
    spent: Duration,
}

impl Total {
    fn nps(&self) -> f64 {
        self.nodes as f64 / self.spent.as_secs_f64().max(1e-9)
    }
}

/// The bench with every number of threads, and a table if there are several.
fn bench_all(
    args: &Args,
    network: Arc<Network>,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&str),
) -> Result<(), OutOfMemory> {
    let mut totals = Vec::new();
    for &threads in &args.threads {
        totals.push((threads, bench(args, threads.into(), network.clone(), stop, say)?));
    }
    let [(_, first), _, ..] = &totals[..] else { return Ok(()) };
    say("threads      nodes/s  ratio  mean depth");
    for (threads, total) in &totals {
        let (ratio, depth) = (total.nps() / first.nps(), f64::from(total.depths) / POSITIONS.len() as f64);
        say(&format!("{threads:7} {:12.0} {ratio:6.2} {depth:11.1}", total.nps()));
    }
    Ok(())
}

/// Searches every position and reports a line each, then the total.
fn bench(
    args: &Args,
    threads: usize,
    network: Arc<Network>,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&str),
) -> Result<Total, OutOfMemory> {
    const LOOK: Duration = Duration::from_millis(20);
    let options = SearchOptions { fv_scale: network.fv_scale(), pv_interval: 0, ..SearchOptions::default() };
    let mut pool = ThreadPool::new(network, threads, args.hash as usize, &args.numa_policy)?;
    if threads > 1 {
        say(&pool.description());
    }
    let mut total = Total { nodes: 0, depths: 0, spent: Duration::ZERO };
    for (i, sfen) in POSITIONS.iter().enumerate() {
        if stop.load(Ordering::Relaxed) {
            say("info string bench stopped");
            break;
        }
        let position = match Position::from_sfen(sfen) {
            Ok(position) => position,
            Err(e) => {
                say(&format!("{sfen}: {e}"));
                continue;
            }
        };
        let limits = match (args.nodes, args.movetime) {
            (Some(n), _) => Limits::nodes(n),
            (_, Some(ms)) => Limits::movetime(ms),
            _ => Limits::depth(args.depth),
        };
        let (send, done) = channel();
        let watch = Arc::new(Watch { last: Mutex::new(None), done: Mutex::new(send) });
        // every search starts from empty tables, so the order of the positions does not matter
        pool.clear();
        let start = Instant::now();
        pool.go(&position, limits, &options, watch.clone());
        let best = loop {
            match done.recv_timeout(LOOK) {
                Ok(best) => break best,
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => pool.stop(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Move::NONE,
            }
        };
        let time = start.elapsed();
        let result = pool.wait();
        total.nodes += result.nodes;
        total.depths += result.depth;
        total.spent += time;
        let last = watch.last.lock().unwrap_or_else(PoisonError::into_inner);
        let score = last.as_ref().map_or_else(|| "-".into(), |i| UsiScore(i.score).to_string());
        say(&format!(
            "{:2}/{} depth {:2} nodes {:9} ms {:6} best {best:5} score {score:9} {sfen}",
            i + 1,
            POSITIONS.len(),
            result.depth,
            result.nodes,
            time.as_millis(),
        ));
    }
    crate::search::event_counts().iter().for_each(|line| say(line));
    say(&format!("{} nodes {:.0} nps", total.nodes, total.nps()));
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_positions_are_legal_and_all_different() {
        let mut keys: Vec<_> = POSITIONS.iter().map(|s| Position::from_sfen(s).unwrap().key()).collect();
        keys.sort_unstable();
        keys.dedup();
        assert!(keys.len() == POSITIONS.len() && keys.len() >= 12);
        assert!(POSITIONS.iter().all(|s| Position::from_sfen(s).unwrap().has_legal_move()));
    }
}
