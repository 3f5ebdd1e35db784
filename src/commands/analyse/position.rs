//! The analysis of one position: the board, the score, the win rate and the best lines, in Japanese or English. On a
//! terminal it stays within 24 lines of 80 columns; in a pipe, or with `--verbose`, it prints everything.

use super::args::Args;
use crate::commands::{positions, signals};
use crate::engine::{Bound, Engine, Info, LastLines, Limits, Observer, UsiScore, win_rate};
use crate::position::Position;
use crate::resume::interrupt;
use crate::review::text;
use crate::support::console;
use crate::support::lang::Lang;
use crate::types::{Move, Square, VALUE_SUPERIOR, Value};
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

const DEFAULT_MOVETIME: u64 = 3000;

/// The interval between two checks whether the search has ended.
const POLL: Duration = Duration::from_millis(10);

/// The assumed width of a terminal.
const COLUMNS: usize = 80;

/// Clears the line and goes back to its beginning.
const CLEAR: &str = "\r\x1b[K";

/// Shows every new best line as it comes, on a terminal each in the place of the last, and keeps the last of each rank.
struct Reader {
    position: Position,
    last: Option<Square>,
    lang: Lang,
    /// For a terminal: a line never takes more than one.
    short: bool,
    lines: LastLines,
}

impl Reader {
    fn spell(&self, moves: &[Move]) -> String {
        let moves: Vec<Move> = moves.iter().copied().take_while(|m| m.is_some()).collect();
        self.lang.spell_line(&self.position, self.last, &moves).join(" ")
    }

    /// The text as far as it fits on a line of the terminal.
    fn fit(&self, line: String) -> String {
        if self.short { text::cut(&line, COLUMNS - 1) } else { line }
    }

    fn progress(&self, info: &Info) -> String {
        let Info { depth, nodes, time_ms: ms, .. } = info;
        let (score, rate) = (score_text(self.lang, info.score), 100.0 * win_rate(info.score));
        // one screen line
        let moves = self.spell(&info.pv[..info.pv.len().min(6)]);
        self.fit(match self.lang {
            Lang::Ja => {
                let score = console::right(&score, 12);
                let seconds = *ms as f64 / 1000.0;
                format!("深さ{depth:3}  {score}  {rate:5.1} %  {nodes:>10}ノード  {seconds:>5.1}秒  {moves}")
            }
            Lang::En => {
                format!("depth {depth:2}  {score:>9}  {rate:5.1} %  {nodes:>10} nodes  {ms:>6} ms  {moves}")
            }
        })
    }
}

impl Observer for Reader {
    fn info(&self, info: &Info) {
        self.lines.info(info);
        if info.multipv == 1 && matches!(info.bound, Bound::Exact | Bound::None) {
            let mut out = console::output();
            // a closed output is detected at the end
            let _ = match self.short {
                true => write!(out, "{CLEAR}{}", self.progress(info)).and_then(|()| out.flush()),
                false => writeln!(out, "{}", self.progress(info)),
            };
        }
    }

    fn message(&self, text: &str) {
        if !self.short {
            let _ = writeln!(console::output(), "{text}");
        }
    }
}

pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let mut engine = Engine::new();
    let moves = args.moves.iter().map(String::as_str);
    engine.set_game(args.sfen.as_deref(), moves).map_err(positions::refused)?;
    if let Some(threads) = args.threads {
        engine.set_option("Threads", &threads.to_string())?;
    }
    engine.set_option("USI_Hash", &args.hash.unwrap_or(256).to_string())?;
    engine.set_option("MultiPV", &args.multipv.to_string())?;
    engine.set_option("PvInterval", "0")?;
    if let Some(dir) = &args.eval_dir {
        engine.set_option("EvalDir", &dir.to_string_lossy())?;
    }
    let mut out = console::output();
    let position = engine.position().clone();
    let lang = Lang::of_process();
    let short = std::io::stdout().is_terminal() && !args.verbose;
    writeln!(out, "{}\nsfen {}", lang.board(&position), position.sfen())?;
    let last = engine.game().before_last().map(|(_, m)| m.to());
    let reader =
        Arc::new(Reader { position: position.clone(), last, lang, short, lines: LastLines::default() });
    let observer = reader.clone();
    let mut say = move |text: &str| observer.message(text);
    // loaded first, so that loading does not count as thinking time
    engine.network(&mut say)?;
    let limits = match (args.depth, args.nodes) {
        (Some(depth), _) => Limits::depth(depth),
        (_, Some(nodes)) => Limits::nodes(nodes),
        _ => Limits::movetime(args.movetime.unwrap_or(DEFAULT_MOVETIME)),
    };
    signals::watch();
    engine.go(limits, reader.clone(), &mut say)?;
    // the first Ctrl-C ends the search, whose result is still printed; a second one ends the program
    while engine.is_searching() {
        match interrupt::requests() {
            0 => {}
            1 => engine.stop(),
            _ => return Err("stopped".into()),
        }
        std::thread::sleep(POLL);
    }
    let result = engine.wait();

    write!(out, "{}", if short { CLEAR } else { "\n" })?;
    let side = lang.side(position.side_to_move());
    let answer = match result.best {
        Move::WIN => {
            lang.pick(format!("{side}の入玉宣言勝ち"), format!("{side} declares a win: the king has entered"))
        }
        m if !m.is_some() => {
            lang.pick(format!("{side}の詰み"), format!("{side} has no legal move and has lost"))
        }
        m => {
            let text = reader.spell(&[m]);
            lang.pick(format!("{side}の最善手: {text} {m}"), format!("best move for {side}: {text} {m}"))
        }
    };
    writeln!(out, "{answer}")?;
    for info in reader.lines.take() {
        let (rank, score, rate) = (info.multipv, score_text(lang, info.score), 100.0 * win_rate(info.score));
        let depth = format!("{}/{}", info.depth, info.seldepth.max(info.depth));
        let moves = reader.spell(&info.pv);
        if short {
            writeln!(out, "{}", reader.fit(format!("{rank}. {score}  {rate:.1} %  {depth}  {moves}")))?;
            continue;
        }
        let usi: Vec<String> = info.pv.iter().map(Move::to_string).collect();
        let head = lang.pick(
            format!("{score}、{side}の勝率 {rate:.1} %、深さ {depth}"),
            format!("{score}, {side}'s win rate {rate:.1} %, depth {depth}"),
        );
        writeln!(out, "\n{rank}. {head}\n   {moves}\n   {}", usi.join(" "))?;
    }
    Ok(())
}

/// A score for people: centipawns, the moves to a mate, or what a repetition means.
fn score_text(lang: Lang, score: Value) -> String {
    match score {
        VALUE_SUPERIOR => lang.pick("優等局面", "superior position by repetition").into(),
        v if v == -VALUE_SUPERIOR => lang.pick("劣等局面", "inferior position by repetition").into(),
        v => {
            let usi = UsiScore(v).to_string();
            match (lang, usi.split_once(' ')) {
                (Lang::Ja, Some(("cp", centipawns))) => format!("評価値 {centipawns}"),
                (Lang::Ja, Some((_, plies))) => format!("詰み {plies}"),
                _ => usi,
            }
        }
    }
}
