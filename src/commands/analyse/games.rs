//! The analysis of whole games.

use super::args::{Args, Form};
use crate::book::Library;
use crate::commands::{output_files, record_files, signals};
use crate::nnue::Network;
use crate::record::{Format, Record};
use crate::resume::interrupt::{self, Unfinished};
use crate::resume::{AtPath, Lock, ResumeError, whole_file};
use crate::review::store;
use crate::review::{
    Analyst, Effort, Reading, Readings, Report, Settings, annotate, book_moves, graph, page, text,
};
use crate::support::console::{self, Progress, clock, note};
use crate::support::lang::Lang;
use crate::support::messages;
use std::collections::HashMap;
use std::error::Error;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

const DEFAULT_NODES: u64 = 200_000;
const DEFAULT_HASH: u32 = 32;
const DEFAULT_MATE_NODES: u64 = 20_000;

/// A game to analyse.
struct Game {
    source: PathBuf,
    record: Record,
    /// `DIR/NAME.analysis`, to which endings are added, where an earlier run may have left its files.
    name: PathBuf,
    /// The same if this run writes files; none when all goes to standard output.
    target: Option<PathBuf>,
    /// Its positions, 0 if an earlier run has read them all.
    unread: usize,
}

impl Game {
    fn file(&self, ending: &str) -> Option<PathBuf> {
        self.target.as_deref().map(|target| whole_file::beside(target, ending))
    }

    /// Locks the files of the game.
    fn lock(&self) -> Result<Option<Lock>, ResumeError> {
        let Some(target) = &self.target else { return Ok(None) };
        if let Some(dir) = target.parent() {
            std::fs::create_dir_all(dir).at(dir)?;
        }
        Lock::take(target).map(Some)
    }
}

/// `network` is the one that reads.
pub fn run(args: &Args, network: Network) -> Result<(), Box<dyn Error>> {
    signals::watch();
    let effort = match (args.depth, args.movetime) {
        (Some(depth), _) => Effort::Depth(depth),
        (_, Some(ms)) => Effort::Movetime(ms),
        _ => Effort::Nodes(args.nodes.unwrap_or(DEFAULT_NODES)),
    };
    let settings = Settings {
        effort,
        multipv: args.multipv,
        threads: args.threads(),
        hash_mb: args.hash.unwrap_or(DEFAULT_HASH),
        mate_nodes: args.mate_nodes.unwrap_or(DEFAULT_MATE_NODES),
        eval_dir: args.eval_dir.clone(),
        network: network.sha256()?,
    };
    let engine = format!("Toratsugumi {}", env!("CARGO_PKG_VERSION"));
    let mut reader = record_files::Reader::new(args.from, args.strict);
    let (games, mut failed) = games(args, &settings, &engine, &mut reader)?;
    let book = match &args.book {
        Some(path) => Library::open(path, true, &mut |text| note!("{text}"))?,
        None => Library::default(),
    };
    let mut progress = Progress::new(args.quiet);
    let analyst = Analyst::new(settings.clone(), Arc::new(network))?;
    let begun = Instant::now();
    let all: usize = games.iter().map(|game| game.unread).sum();
    let (mut before, count) = (0, games.len());
    let mut written = Vec::new();
    for (number, game) in games.iter().enumerate() {
        let mut trouble = None;
        let part = game.file("part.json");
        // read again: another process may have had the game until now
        let opened = game.lock().map_err(|e| e.to_string());
        let opened = opened.and_then(|lock| Ok((lock, known(game, &settings, &engine, args)?)));
        let (_lock, mut readings) = match opened {
            Ok(opened) => opened,
            Err(e) => {
                failed += 1;
                progress.end();
                note!("{e}");
                continue;
            }
        };
        let mut earlier = None;
        let whole = analyst.read_game(&game.record, &mut readings, &mut |state| {
            // what an earlier run has done took no time in this one
            let earlier = *earlier.get_or_insert(state.done);
            let now = game.unread as f64 * (state.done - earlier) / (1.0 - earlier).max(0.01);
            let searched = before as f64 + now;
            let left = begun.elapsed().as_secs_f64() * (all as f64 - searched) / searched.max(1.0);
            let searched = searched as usize;
            progress.update(|| {
                let name = game.source.display();
                messages::position_read(number + 1, count, name, searched, all, clock(left))
            });
            if state.changed
                && let Some(path) = &part
            {
                trouble = store::save(path, &game.record, &settings, &engine, state.readings).err();
            }
            trouble.is_none() && interrupt::requests() == 0
        })?;
        if let Some(e) = trouble {
            progress.end();
            return Err(e.into());
        }
        if !whole {
            progress.end();
            return Err(Unfinished.into());
        }
        before += game.unread;
        let readings: Vec<Reading> = readings.first.into_iter().flatten().collect();
        let known = book_moves(&game.record, &book)?;
        let report = Report::new(&game.record, &settings, &engine, &readings, &known, Lang::of_process());
        if game.target.is_none() {
            progress.end();
        }
        written = write(args, game, &report)?;
    }
    progress.end();
    if !written.is_empty()
        && !args.quiet
        && let [Game { target: Some(target), .. }, others @ ..] = games.as_slice()
    {
        let (path, endings) = (target.display(), written.join(", ."));
        let written = match others {
            [] => messages::analysis_written(path, endings),
            _ => messages::analyses_written(path, endings),
        };
        note!("{written}");
    }
    let failed = (failed > 0).then(|| messages::games_not_analysed(failed));
    reader.finish(failed.into_iter().collect())
}

/// Reads the records and their earlier readings. Also returns the number of games that cannot be analysed;
/// they are reported on standard error.
fn games(
    args: &Args,
    settings: &Settings,
    engine: &str,
    reader: &mut record_files::Reader,
) -> Result<(Vec<Game>, usize), Box<dyn Error>> {
    let mut games = Vec::new();
    let mut failed = 0;
    let mut taken: HashMap<PathBuf, &Path> = HashMap::new();
    let dir = args.out_dir.clone().unwrap_or_default();
    let sources = record_files::sources(&args.games)?;
    for source in &sources {
        let Some(found) = reader.read(&source.path) else { continue };
        let count = found.len();
        for (i, record) in found.into_iter().enumerate() {
            let name = whole_file::beside(&dir.join(source.stem(i, count)), "analysis");
            let target = args.to_files().then(|| name.clone());
            let claimed = target.clone().map(|target| output_files::claim(&mut taken, target, &source.path));
            if let Some(Err(e)) = claimed {
                failed += 1;
                note!("{e}");
                continue;
            }
            let mut game = Game { source: source.path.clone(), record, name, target, unread: 0 };
            match known(&game, settings, engine, args) {
                Ok(readings) => {
                    game.unread = if readings.is_complete() { 0 } else { game.record.moves.len() + 1 };
                    games.push(game);
                }
                Err(e) => {
                    failed += 1;
                    note!("{e}");
                }
            }
        }
    }
    Ok((games, failed))
}

/// The readings of an earlier run, finished or not. Without one no file may be in the way.
fn known(game: &Game, settings: &Settings, engine: &str, args: &Args) -> Result<Readings, String> {
    if game.target.is_none() {
        // nothing is written, so another analysis does no harm
        let path = whole_file::beside(&game.name, "json");
        return Ok(store::load(&path, &game.record, settings, engine).ok().flatten().unwrap_or_default());
    }
    for ending in ["json", "part.json"] {
        let Some(path) = game.file(ending) else { continue };
        match store::load(&path, &game.record, settings, engine) {
            Ok(Some(readings)) => return Ok(readings),
            Ok(None) => {}
            Err(_) if args.force => {}
            Err(e) => return Err(format!("{e}; --force analyses it again")),
        }
    }
    // `analyse` did not write files that have no reading beside them
    match args.forms().filter_map(|form| game.file(form.ending())).find(|path| path.exists()) {
        Some(path) if !args.force => Err(messages::exists(path.display())),
        _ => Ok(Readings::default()),
    }
}

/// Writes the requested files; returns their endings.
fn write(args: &Args, game: &Game, report: &Report<'_>) -> Result<Vec<&'static str>, Box<dyn Error>> {
    let Some(target) = &game.target else {
        let mut out = console::output();
        let colors = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        out.write_all(text::write(report, colors).as_bytes())?;
        return Ok(Vec::new());
    };
    let mut written = Vec::new();
    let mut put = |ending: &'static str, bytes: &[u8]| {
        written.push(ending);
        let path = whole_file::beside(target, ending);
        whole_file::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))
    };
    for form in args.forms() {
        let text = match form {
            Form::Html => page::write(report)?,
            Form::Svg => graph::svg(report),
            Form::Kif => annotate::write(report, Format::Kif),
            Form::Csa => {
                let lost = Format::Csa.losses(report.record);
                if !lost.is_empty() {
                    note!("{}", messages::no_place(game.source.display(), "csa", lost));
                }
                annotate::write(report, Format::Csa)
            }
            Form::Text => text::write(report, false),
        };
        put(form.ending(), text.as_bytes())?;
    }
    // last, because it marks the game as done
    let json = whole_file::beside(target, "json");
    whole_file::write_json(&json, report).at(&json)?;
    written.push("json");
    whole_file::remove_if_exists(&whole_file::beside(target, "part.json"), |part| {
        std::fs::remove_file(part)
    })?;
    Ok(written)
}
