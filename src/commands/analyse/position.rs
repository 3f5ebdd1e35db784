//! A reading of one position for people: the board, the score, the win rate, and the best lines
//! in Japanese notation beside USI.

use super::args::Args;
use crate::commands::signals;
use crate::engine::{Bound, Diagram, Engine, Info, LastLines, Limits, Observer, UsiScore, win_rate};
use crate::position::Position;
use crate::record::notation;
use crate::resume::interrupt;
use crate::support::console;
use crate::types::{Color, Move};
use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

const DEFAULT_MOVETIME: u64 = 3000;

/// Between two looks at whether the search has ended.
const LOOK: Duration = Duration::from_millis(10);

/// Shows every new best line as it comes and keeps the last of each rank.
struct Reader {
    position: Position,
    before: Option<(Position, Move)>,
    lines: LastLines,
}

impl Reader {
    fn japanese(&self, moves: &[Move]) -> String {
        notation::line(&self.position, self.before.as_ref(), moves).join(" ")
    }
}

impl Observer for Reader {
    fn info(&self, info: &Info) {
        self.lines.info(info);
        if info.multipv == 1 && matches!(info.bound, Bound::Exact | Bound::None) {
            // a closed output is found out at the end
            let _ = writeln!(
                console::output(),
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
    }

    fn message(&self, text: &str) {
        let _ = writeln!(console::output(), "{text}");
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
    let mut out = console::output();
    let position = engine.position().clone();
    writeln!(out, "{}\nsfen {}\n", Diagram(&position), position.sfen())?;
    let reader = Arc::new(Reader {
        position: position.clone(),
        before: engine.game().before_last(),
        lines: LastLines::default(),
    });
    let mut say = |text: &str| drop(writeln!(console::output(), "{text}"));
    // loading is not thinking: the time begins behind it
    engine.network(&mut say)?;
    let limits = match (args.depth, args.nodes) {
        (Some(depth), _) => Limits::depth(depth),
        (_, Some(nodes)) => Limits::nodes(nodes),
        _ => Limits::movetime(args.movetime.unwrap_or(DEFAULT_MOVETIME)),
    };
    signals::watch();
    engine.go(limits, reader.clone(), &mut say)?;
    // Ctrl-C ends the search, not the program: what was found is still printed. A second one ends both
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
    for info in reader.lines.take() {
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
