//! `toratsugumi match`: the command line.

use super::signals;
use super::values::parse_duration;
use crate::arena::adjudication::Adjudication;
use crate::arena::journal;
use crate::arena::limits::{EngineLimits, parse_tc};
use crate::arena::schedule::{MOST_GAMES, MatchSchedule, PairingMode};
use crate::arena::spec::EngineSpec;
use crate::arena::sprt::{EloModel, Sprt};
use crate::arena::tournament::{MatchEnd, Tournament, run as play};
use crate::arena::{chart, record, report};
use crate::engine::NO_BOOK;
use crate::nnue::file::FILE_NAME;
use crate::position::EnteringKingRule;
use crate::record::openings::Opening;
use crate::resume::interrupt::Unfinished;
use crate::resume::sha256::sha256;
use crate::resume::{AtPath, whole_file};
use crate::support::console::{note, say};
use crate::support::{messages, numa};
use crate::usi_client::DialogueLog;
use serde_json::json;
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Play matches between USI engines to find out which one is stronger
///
/// Every opening is played twice with colours exchanged. Our own rules decide: an engine that plays an
/// illegal move, crashes, hangs, exceeds its time or makes a false declaration loses that game and is
/// reported. An engine that does not know an option, or cannot load its network, ends the match before the
/// first game.
///
/// Example: toratsugumi match --engine "cmd=self name=new nodes=20000" --engine "cmd=./old name=old
/// nodes=20000 Threads=1" --openings lines.txt --games 2000 -j 8 --sprt 0,5 --out results
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// An engine: `cmd=PATH [args=WORDS] [name=NAME] [dir=DIR] [nodes=N | depth=N | movetime=MS | byoyomi=MS
    /// | tc=S+S] [OPTION=VALUE ...]`, quoted as in a shell; the path `self` is this program. Give two or
    /// more. Threads is 1, and `self` has no book, unless an engine's OPTIONs set it
    #[arg(long = "engine", short, value_name = "SPEC", required_unless_present = "config")]
    engines: Vec<EngineSpec>,
    /// Settings in TOML: the names of these options, and a table `[[engine]]` for each engine with the keys of
    /// its SPEC. The command line overrides them
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Nodes per move
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Depth per move
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
    /// Milliseconds per move
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    movetime: Option<u64>,
    /// Milliseconds of byoyomi
    #[arg(long, value_name = "MS")]
    byoyomi: Option<u64>,
    /// Main time and increment in seconds, for instance 10+0.1; the first move has the increment, too
    #[arg(long, value_name = "S+S", value_parser = parse_tc_words)]
    tc: Option<Fischer>,
    /// Lines of openings: `startpos moves ...`, `sfen ...` [default: the embedded balanced openings]
    #[arg(long, value_name = "FILE")]
    openings: Option<PathBuf>,
    /// Maximum number of games of every pairing; rounded up to an even number
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=MOST_GAMES))]
    games: u64,
    /// Concurrent games
    #[arg(long, short, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Bind the engines of each concurrent game to their own share of the processors: whole cores while there
    /// are enough (Linux)
    #[arg(long)]
    affinity: bool,
    /// Which engines play each other, with more than two
    #[arg(long, value_enum, default_value = "round-robin")]
    mode: PairingMode,
    /// Seed of the order of the openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop as soon as a sequential test of "ELO0" against "ELO1" decides
    #[arg(long, value_name = "ELO0,ELO1", value_parser = parse_bounds, allow_hyphen_values = true)]
    sprt: Option<(f64, f64)>,
    /// With --sprt: probability of accepting ELO1 when ELO0 holds
    #[arg(long, default_value_t = 0.05, value_parser = parse_probability, requires = "sprt")]
    alpha: f64,
    /// With --sprt: probability of accepting ELO0 when ELO1 holds
    #[arg(long, default_value_t = 0.05, value_parser = parse_probability, requires = "sprt")]
    beta: f64,
    /// With --sprt: unit of the bounds
    #[arg(long, value_enum, default_value = "normalised", requires = "sprt")]
    model: EloModel,
    /// Centipawns: a side that scores minus this or less for --resign-moves moves loses; 0 = never
    #[arg(long, default_value_t = 3000, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..))]
    resign: i32,
    /// With --resign: number of consecutive moves [default: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    resign_moves: Option<u32>,
    /// Centipawns: draw games when both sides score at most this for --draw-plies plies after ply
    /// --draw-after [default: never]
    #[arg(long, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..))]
    draw: Option<i32>,
    /// With --draw: number of consecutive plies
    #[arg(long, default_value_t = 16, value_name = "N", requires = "draw", value_parser = clap::value_parser!(u32).range(1..))]
    draw_plies: u32,
    /// With --draw: not before this ply
    #[arg(long, default_value_t = 160, value_name = "PLY", requires = "draw")]
    draw_after: u32,
    /// Draw games after this number of plies, the opening's included
    #[arg(long, default_value_t = 320)]
    max_ply: u32,
    /// Milliseconds by which a move may exceed the clock
    #[arg(long, default_value_t = 50, value_name = "MS")]
    margin: u64,
    /// Time after the end of its clock at which an engine counts as hanging
    #[arg(long, default_value = "120s", value_parser = parse_duration, value_name = "TIME")]
    patience: Duration,
    /// Entering-king rule
    #[arg(long, default_value = "CSARule27", value_parser = parse_rule)]
    rule: String,
    /// Directory for the games (games.jsonl), summary.json and progress.svg
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Continue the match in the directory; settings, openings and the networks' files must be the same
    #[arg(long, requires = "out")]
    resume: bool,
    /// Also write every game as a CSA record with scores and lines of play to DIR/csa
    #[arg(long, requires = "out")]
    csa: bool,
    /// Append the dialogues with the engines to this file, with times and the engines' standard error
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// Main time and increment in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Fischer(Option<u64>, Option<u64>);

fn parse_tc_words(text: &str) -> Result<Fischer, String> {
    parse_tc(text).map(|(main, increment)| Fischer(main, increment))
}

fn parse_bounds(text: &str) -> Result<(f64, f64), String> {
    let parts =
        text.split_once(',').and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    match parts {
        Some((a, b)) if a < b && f64::is_finite(a) && f64::is_finite(b) => Ok((a, b)),
        _ => Err("write ELO0,ELO1, the smaller first".into()),
    }
}

fn parse_probability(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|p| (1e-6..0.5).contains(p)).ok_or_else(|| "write a number below 0.5".into())
}

fn parse_rule(text: &str) -> Result<String, String> {
    text.parse::<EnteringKingRule>().map(|_| text.to_string()).map_err(|e| e.to_string())
}

/// Runs the command; [`Unfinished`] when it was interrupted.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    signals::watch();
    let engines = prepared(args.engines)?;
    let Fischer(time, increment) = args.tc.unwrap_or(Fischer(None, None));
    let limits = EngineLimits {
        nodes: args.nodes,
        depth: args.depth,
        movetime: args.movetime,
        byoyomi: args.byoyomi,
        time,
        increment,
    };
    if limits.is_empty() && engines.iter().any(|e| e.limits.is_none()) {
        return Err(messages::no_limit().into());
    }
    if let Some(l) = engines.iter().filter_map(|e| e.limits.as_ref()).chain([&limits]).find(|l| l.is_lost()) {
        return Err(messages::no_time(l).into());
    }
    let openings = match &args.openings {
        Some(path) => Opening::read_file(path)?,
        None => Opening::embedded()?,
    };
    // or else games would be drawn before a move is played
    let longest = Opening::longest(&openings);
    if longest >= args.max_ply as usize {
        return Err(messages::opening_too_long(args.max_ply, longest).into());
    }
    if args.resign == 0 && args.resign_moves.is_some() {
        return Err(messages::resign_moves_alone().into());
    }
    let sprt = match args.sprt {
        Some(_) if engines.len() != 2 => return Err(messages::sprt_of_two().into()),
        Some((elo0, elo1)) => {
            Some(Sprt { elo0, elo1, alpha: args.alpha, beta: args.beta, model: args.model })
        }
        None => None,
    };
    let shares = if args.affinity { shares(&engines, args.jobs.into())? } else { Vec::new() };
    let adjudication = Adjudication {
        resign_score: (args.resign > 0).then_some(args.resign),
        resign_moves: args.resign_moves.unwrap_or(Adjudication::default().resign_moves),
        draw_score: args.draw,
        draw_plies: args.draw_plies,
        draw_after: args.draw_after,
        max_ply: args.max_ply,
        margin: args.margin,
        patience: args.patience.as_millis() as u64,
        rule: args.rule,
    };
    // what must be the same when the match continues; games, jobs and the test may change
    let settings = json!({
        "engines": engines,
        "networks": networks(&engines),
        "limits": limits,
        "adjudication": adjudication,
        "mode": args.mode,
        "seed": args.seed,
        "openings": openings.iter().map(|o| crc(&o.to_string())).fold(0u64, |h, c| h.rotate_left(7) ^ c),
    });
    let schedule = MatchSchedule::new(engines.len(), args.mode, args.games, openings, args.seed);
    let (journal, mut games) = match &args.out {
        Some(dir) => {
            let (journal, games) = journal::open(dir, &settings, args.resume)?;
            (Some(journal), games)
        }
        None => (None, Vec::new()),
    };
    let log = args.log.as_ref().map(|path| DialogueLog::open(path).at(path)).transpose()?;
    let t = Tournament {
        engines,
        limits,
        adjudication,
        schedule,
        sprt,
        jobs: usize::from(args.jobs),
        shares,
        keep_pv: args.csa,
        log,
        quiet: args.quiet,
    };
    if let Some(warning) = t.repetition() {
        note!("{warning}");
    }
    let (standings, ending) = play(&t, &mut games, journal)?;
    let summary = report::json(&t, &standings, ending, &settings);
    if let Some(dir) = &args.out {
        let path = dir.join("summary.json");
        whole_file::write_json(&path, &summary).at(&path)?;
        let path = dir.join("progress.svg");
        whole_file::write(&path, chart::svg(&t, &games)).at(&path)?;
        if args.csa {
            record::write_all(&dir.join("csa"), &t, &games)?;
        }
    }
    if args.json {
        say!("{summary:#}")?;
    } else {
        say!("{}", report::text(&t, &standings, ending).trim_end())?;
    }
    if ending == MatchEnd::Interrupted { Err(Unfinished.into()) } else { Ok(()) }
}

/// Resolves `self` and gives every engine a unique name.
fn prepared(mut engines: Vec<EngineSpec>) -> Result<Vec<EngineSpec>, Box<dyn Error>> {
    if engines.len() < 2 {
        return Err(messages::two_engines().into());
    }
    for i in 0..engines.len() {
        if engines[i].command[0] == "self" {
            engines[i].command[0] = std::env::current_exe()?.to_string_lossy().into_owned();
            // a match compares searches, unless told otherwise
            engines[i].options.insert(0, ("BookFile".into(), NO_BOOK.into()));
        }
        let taken = |name: &str| engines[..i].iter().any(|e| e.name == name);
        if taken(&engines[i].name) {
            let base = engines[i].name.clone();
            let name = (2..).map(|n| format!("{base}-{n}")).find(|n| !taken(n));
            engines[i].name = name.unwrap_or(base);
        }
    }
    Ok(engines)
}

/// The processors of each concurrent game. Every engine must have one for each of its threads.
fn shares(engines: &[EngineSpec], jobs: usize) -> Result<Vec<Vec<usize>>, String> {
    let shares = match numa::shares(jobs) {
        Some(shares) => shares,
        None if cfg!(target_os = "linux") => return Err(messages::few_processors(numa::processors(), jobs)),
        None => return Err(messages::no_affinity()),
    };
    let processors = shares.iter().map(Vec::len).min().unwrap_or(0);
    for engine in engines {
        let threads = engine.threads().and_then(|n| n.parse().ok()).unwrap_or(1);
        if threads > processors {
            return Err(messages::narrow_share(&engine.name, threads, processors));
        }
    }
    Ok(shares)
}

/// SHA-256 of the networks that engines load, because the file may be another one when the match continues.
/// Unreadable files are left to the engine to report.
fn networks(engines: &[EngineSpec]) -> BTreeMap<&str, Option<String>> {
    let network = |engine: &EngineSpec| {
        let names = ["EvalDir", "EvalFile"];
        let is_network =
            |option: &&(String, String)| names.iter().any(|name| option.0.eq_ignore_ascii_case(name));
        let (_, path) = engine.options.iter().rev().find(is_network)?;
        let path = engine.dir.clone().unwrap_or_default().join(path);
        Some(if path.is_dir() { path.join(FILE_NAME) } else { path })
    };
    let digest = |path: PathBuf| sha256(|to| io::copy(&mut File::open(path)?, to).map(|_| ())).ok();
    engines.iter().filter_map(|engine| Some((&*engine.name, digest(network(engine)?)))).collect()
}

fn crc(text: &str) -> u64 {
    u64::from(crc32fast::hash(text.as_bytes()))
}
