//! `toratsugumi analyse`: a reading of one position for people: the board, the score, the win rate, and the best lines
//! in Japanese notation beside USI.

use super::signals;
use crate::engine::{Bound, Diagram, Engine, Info, Limits, Observer, UsiScore, win_rate};
use crate::interrupt;
use crate::position::Position;
use crate::record::notation;
use crate::types::{Color, Move};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Think about a position and print a reading for people
#[derive(clap::Args)]
pub struct Args {
    /// The position [default: the initial position]
    #[arg(long)]
    sfen: Option<String>,
    /// Moves from there, in USI text (7g7f 3c3d ...)
    #[arg(long, num_args = 1.., value_name = "MOVE", value_delimiter = ' ')]
    moves: Vec<String>,
    /// Milliseconds to think
    #[arg(long, value_name = "MS", conflicts_with_all = ["depth", "nodes"])]
    movetime: Option<u64>,
    /// Plies to think ahead, instead of a time
    #[arg(long, conflicts_with = "nodes", value_parser = clap::value_parser!(i32).range(1..))]
    depth: Option<i32>,
    /// Positions to search, instead of a time
    #[arg(long)]
    nodes: Option<u64>,
    /// Lines to show
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=600))]
    multipv: u16,
    /// [default: the machine's cores]
    #[arg(long)]
    threads: Option<u16>,
    /// Megabytes of the transposition table
    #[arg(long, default_value_t = 256, value_name = "MB")]
    hash: u32,
    /// Directory of an nn.bin, instead of the embedded network
    #[arg(long, value_name = "DIR")]
    eval_dir: Option<PathBuf>,
}

const DEFAULT_MOVETIME: u64 = 3000;

/// Between two looks at whether the search has ended.
const LOOK: Duration = Duration::from_millis(10);

/// Shows every new best line as it comes and keeps the last of each rank.
struct Reader {
    position: Position,
    before: Option<(Position, Move)>,
    lines: Mutex<Vec<Info>>,
}

impl Reader {
    fn japanese(&self, moves: &[Move]) -> String {
        notation::line(&self.position, self.before.as_ref(), moves).join(" ")
    }
}

impl Observer for Reader {
    fn info(&self, info: &Info) {
        if !matches!(info.bound, Bound::Exact | Bound::None) || info.pv.is_empty() {
            return;
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if info.multipv == 1 {
            // a closed output is found out at the end
            let _ = writeln!(
                std::io::stdout(),
                "depth {:2}  {:>9}  {:5.1} %  {:>10} nodes  {:>6} ms  {}",
                info.depth,
                UsiScore(info.score).to_string(),
                100.0 * win_rate(info.score),
                info.nodes,
                info.time_ms,
                // one screen line
                self.japanese(&info.pv[..info.pv.len().min(6)]),
            );
        }
        lines.retain(|old| old.multipv != info.multipv);
        lines.push(info.clone());
    }

    fn message(&self, text: &str) {
        let _ = writeln!(std::io::stdout(), "{text}");
    }
}

pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut engine = Engine::new();
    engine.set_game(args.sfen.as_deref(), args.moves.iter().map(String::as_str))?;
    if let Some(threads) = args.threads {
        engine.set_option("Threads", &threads.to_string())?;
    }
    engine.set_option("USI_Hash", &args.hash.to_string())?;
    engine.set_option("MultiPV", &args.multipv.to_string())?;
    engine.set_option("PvInterval", "0")?;
    if let Some(dir) = &args.eval_dir {
        engine.set_option("EvalDir", &dir.to_string_lossy())?;
    }
    let mut out = std::io::stdout();
    let position = engine.position().clone();
    writeln!(out, "{}\nsfen {}\n", Diagram(&position), position.sfen())?;
    let reader = Arc::new(Reader {
        position: position.clone(),
        before: engine.game().before_last(),
        lines: Mutex::new(Vec::new()),
    });
    let mut say = |text: &str| drop(writeln!(std::io::stdout(), "{text}"));
    // loading is not thinking: the time begins behind it
    engine.network(&mut say)?;
    let limits = match (args.depth, args.nodes) {
        (Some(depth), _) => Limits::depth(depth),
        (_, Some(nodes)) => Limits::nodes(nodes),
        _ => Limits::movetime(args.movetime.unwrap_or(DEFAULT_MOVETIME)),
    };
    signals::watch();
    engine.go(limits, reader.clone(), &mut say)?;
    // Ctrl-C ends the search, not the program: what was found is still told. A second one ends both
    while engine.is_searching() {
        match interrupt::requests() {
            0 => {}
            1 => engine.stop(),
            _ => return Err("stopped".into()),
        }
        std::thread::sleep(LOOK);
    }
    let result = engine.wait();

    let side = match position.side_to_move() {
        Color::Black => "Black (先手)",
        Color::White => "White (後手)",
    };
    writeln!(out)?;
    match result.best {
        Move::WIN => writeln!(out, "{side} declares a win: the king has entered (入玉宣言勝ち)")?,
        m if !m.is_some() => writeln!(out, "{side} has no legal move and has lost (詰み)")?,
        m => writeln!(out, "best move for {side}: {} {m}", reader.japanese(&[m]))?,
    }
    let mut lines = reader.lines.lock().unwrap_or_else(PoisonError::into_inner);
    lines.sort_by_key(|info| info.multipv);
    for info in lines.iter() {
        writeln!(
            out,
            "\n{}. {}, win rate {:.1} %, depth {}/{}",
            info.multipv,
            UsiScore(info.score),
            100.0 * win_rate(info.score),
            info.depth,
            info.seldepth
        )?;
        let usi: Vec<String> = info.pv.iter().map(Move::to_string).collect();
        writeln!(out, "   {}\n   {}", reader.japanese(&info.pv), usi.join(" "))?;
    }
    Ok(())
}
