//! `toratsugumi book verify`.

use crate::book::db::DbReader;
use crate::book::{self, Book, BookBuilder, BookError, BookFormat, edit};
use crate::support::console::say;
use crate::support::messages;
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Check a book: illegal moves, order, duplicates, unreachable positions
///
/// Exit code 1 if moves are illegal, or if positions are against the rules, out of order or duplicated.
/// Unreachable positions are reported, but are not faults.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The book to read
    #[arg(value_name = "BOOK")]
    input: PathBuf,
    /// Maximum number of faults printed of each kind
    #[arg(long, default_value_t = 10, value_name = "N")]
    show: usize,
}

/// Faults of one kind.
struct FaultKind {
    name: &'static str,
    shown: Vec<String>,
    count: usize,
    most: usize,
}

impl FaultKind {
    fn new(name: &'static str, most: usize) -> FaultKind {
        FaultKind { name, shown: Vec::new(), count: 0, most }
    }

    fn add(&mut self, where_: impl FnOnce() -> String) {
        self.count += 1;
        if self.shown.len() < self.most {
            self.shown.push(where_());
        }
    }
}

/// Runs `book verify`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let path = &args.input;
    let new = |name| FaultKind::new(name, args.show);
    let mut kinds = [
        new("out of order"),
        new("duplicates"),
        new("illegal moves"),
        new("against the rules"),
        new("unreadable"),
    ];
    let book = match BookFormat::of_file(path).map_err(|e| e.in_file(path))? {
        BookFormat::Db => of_db(path, &mut kinds).map_err(|e| e.in_file(path))?,
        format => {
            let (book, _, lost) = book::read(path)?;
            if !lost.is_empty() {
                say!("{}", messages::not_checked(lost))?;
            }
            if format == BookFormat::Ybb
                && let Some(i) = book::first_unsorted(path).map_err(|e| e.in_file(path))?
            {
                kinds[0].add(|| format!("position {i}"));
            }
            book
        }
    };
    legality(&book, &mut kinds);
    let unreached = edit::reachable(&book).into_iter().filter(|r| !r).count();
    say!("{}", messages::verified(book.len(), book.move_count()))?;
    say!("{}", messages::unreached(unreached))?;
    for kind in &kinds {
        say!("{}: {}", messages::word(kind.name), kind.count)?;
        for fault in &kind.shown {
            say!("    {fault}")?;
        }
    }
    match kinds.iter().map(|k| k.count).sum::<usize>() {
        0 => Ok(()),
        n => Err(messages::book_faults(path.display(), n).into()),
    }
}

/// Reads a text file and checks what only the file shows: order and duplicates.
fn of_db(path: &Path, kinds: &mut [FaultKind; 5]) -> Result<Book, BookError> {
    let mut reader = DbReader::new(BufReader::with_capacity(1 << 20, File::open(path)?));
    let mut builder = BookBuilder::default();
    let mut seen = HashMap::new();
    let mut last = String::new();
    loop {
        let next = reader.next_entry()?;
        reader.skipped.drain(..).for_each(|e| kinds[4].add(|| e.to_string()));
        let Some(e) = next else { break };
        if e.sfen < last {
            kinds[0].add(|| format!("line {}: {}", e.line, e.sfen));
        }
        if let Some(line) = seen.insert((e.packed, e.ply), e.line) {
            kinds[1].add(|| format!("line {}: as in line {line}", e.line));
        }
        for (i, m) in e.moves.iter().enumerate() {
            if e.moves[..i].iter().any(|other| other.mv == m.mv) {
                kinds[1].add(|| format!("line {}: {}", e.lines[i], book::usi(m.mv)));
            }
        }
        builder.push(e.packed, e.ply, &e.moves);
        last = e.sfen;
    }
    Ok(builder.finish().0)
}

fn legality(book: &Book, kinds: &mut [FaultKind; 5]) {
    for e in book.entries() {
        let pos = match e.packed.by_rules(e.ply) {
            Ok(pos) => pos,
            Err(what) => {
                kinds[3].add(|| what);
                continue;
            }
        };
        for m in e.moves.iter().filter(|m| m.on(&pos).is_none()) {
            kinds[2].add(|| format!("{} in {}", book::usi(m.mv), pos.sfen()));
        }
    }
}
