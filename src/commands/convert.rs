//! `toratsugumi convert`: game records from one format into another.

use super::{output_files, record_files};
use crate::record::{Format, Record, floodgate};
use crate::resume::whole_file;
use crate::support::console::{self, note};
use crate::support::messages;
use clap::ValueEnum;
use std::collections::HashMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Convert game records between CSA, KIF, KI2, JKF, PSN, USI and SFEN lines and BOD diagrams
///
/// Reads UTF-8, UTF-16, Shift_JIS, EUC-JP and ISO-2022-JP. Every move is checked by the rules. A line that
/// cannot be understood is skipped with a warning if it does not change the moves; an illegal last move ends
/// the game as a foul. Files that cannot be read are reported, and the others are still converted. One line
/// for each file names what the format cannot store. The exit status is 0 if all files were read whole, 3 if
/// some were read in part, 1 if a file or a game could not be read.
///
/// A directory stands for all records in it; --out-dir keeps its structure. Files that exist stay as they are unless
/// --force is given.
///
/// Example: toratsugumi convert games --to kif --out-dir kif
#[derive(clap::Args, Clone, Debug)]
#[command(name = "convert")]
pub struct Args {
    /// Files and directories to read; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Format of the files: csa, kif, ki2, jkf, psn, usi, sfen, bod [default: detected by name or content]
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// Format to write, which the name of --output may not contradict [default: by that name]
    #[arg(long, value_name = "FORMAT")]
    to: Option<Format>,
    /// Write all games to one file [default: standard output]
    #[arg(long, short, value_name = "FILE", conflicts_with = "out_dir")]
    output: Option<PathBuf>,
    /// Write a file for every game to this directory
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Characters to write [default: shift-jis for `.kif` and `.ki2`, as they want it, utf-8 for all others]
    #[arg(long, value_enum)]
    encoding: Option<Encoding>,
    /// Refuse a file instead of skipping what cannot be understood
    #[arg(long)]
    strict: bool,
    /// Overwrite files that exist; only with --output or --out-dir
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "kebab-case")]
enum Encoding {
    #[value(name = "utf-8")]
    Utf8,
    ShiftJis,
    EucJp,
}

impl Encoding {
    /// The customary encoding of a file with that name.
    fn of(path: Option<&Path>) -> Encoding {
        let extension = path.and_then(Path::extension).and_then(|e| e.to_str()).unwrap_or_default();
        if ["kif", "ki2"].iter().any(|e| extension.eq_ignore_ascii_case(e)) {
            Encoding::ShiftJis
        } else {
            Encoding::Utf8
        }
    }

    fn encode(self, text: &str) -> Result<Vec<u8>, String> {
        let encoding = match self {
            Encoding::Utf8 => return Ok(text.as_bytes().to_vec()),
            Encoding::ShiftJis => encoding_rs::SHIFT_JIS,
            Encoding::EucJp => encoding_rs::EUC_JP,
        };
        let text = text.replacen(
            "'CSA encoding=UTF-8",
            &format!("'CSA encoding={}", encoding.name().to_uppercase()),
            1,
        );
        let text: String = text.chars().map(customary).collect();
        match encoding.encode(&text) {
            (bytes, _, false) => Ok(bytes.into_owned()),
            _ => {
                let missing = text.chars().find(|c| encoding.encode(c.encode_utf8(&mut [0; 4])).2);
                let missing = missing.map(String::from).unwrap_or_default();
                Err(messages::no_character(encoding.name(), missing))
            }
        }
    }
}

/// The character that Japanese encodings have in place of a similar one of Unicode.
fn customary(c: char) -> char {
    match c {
        '\u{301c}' => '\u{ff5e}',
        '\u{2016}' => '\u{2225}',
        '\u{2014}' => '\u{2015}',
        '\u{a2}' => '\u{ffe0}',
        '\u{a3}' => '\u{ffe1}',
        '\u{ac}' => '\u{ffe2}',
        c => c,
    }
}

/// A game and where it came from.
struct Game {
    source: PathBuf,
    /// What its file is called under `--out-dir`, without the ending.
    name: PathBuf,
    record: Record,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let named = args.output.as_deref().and_then(Format::of_path);
    let to = args.to.or(named).ok_or_else(messages::no_output_format)?;
    if let (Some(path), Some(named)) = (&args.output, named)
        && !named.reads(to)
    {
        return Err(messages::contradicting_format(path.display(), named.name(), to.name()).into());
    }
    if args.force && args.output.is_none() && args.out_dir.is_none() {
        return Err(messages::force_without_output().into());
    }
    if let Some(path) = &args.output {
        output_files::check(path, args.force)?;
    }
    let encoding = args.encoding.unwrap_or_else(|| Encoding::of(args.output.as_deref()));
    let mut reader = record_files::Reader::new(args.from, args.strict);
    let mut games = Vec::new();
    for source in record_files::sources(&args.files)? {
        let Some(found) = reader.read(&source.path) else { continue };
        let loss = found.iter().map(|record| to.losses(record)).find(|loss| !loss.is_empty());
        let count = found.len();
        if let Some(loss) = loss {
            let loss = if count > 1 { messages::first_of_several(loss) } else { loss };
            note!("{}", messages::no_place(source.path.display(), to.name(), loss));
        }
        games.extend(found.into_iter().enumerate().map(|(i, mut record)| {
            if matches!(to, Format::Kif | Format::Ki2) {
                floodgate::spell_out(&mut record);
            }
            Game { source: source.path.clone(), name: source.stem(i, count), record }
        }));
    }
    let kept = match &args.out_dir {
        Some(dir) => write_files(dir, &games, to, encoding, args.force)?,
        None => {
            write_one(args.output.as_deref(), &games, to, encoding)?;
            0
        }
    };
    let kept = (kept > 0).then(|| messages::games_unwritten(kept, games.len()));
    reader.finish(kept.into_iter().collect())
}

/// Writes a file for each game. Returns the number of games not written, because the file exists, another game has
/// the same name, or the encoding lacks a character.
fn write_files(
    dir: &Path,
    games: &[Game],
    to: Format,
    encoding: Encoding,
    force: bool,
) -> Result<usize, Box<dyn Error>> {
    let mut taken: HashMap<PathBuf, &Path> = HashMap::new();
    let mut kept = 0;
    for game in games {
        let mut name = game.name.clone().into_os_string();
        name.push(".");
        name.push(to.extension(encoding == Encoding::Utf8));
        let path = dir.join(name);
        let free = output_files::claim(&mut taken, path.clone(), &game.source);
        if let Err(e) = free.and_then(|()| output_files::spare(&path, force)) {
            note!("{e}");
            kept += 1;
            continue;
        }
        let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let bytes = match encoding.encode(&to.write(&game.record)) {
            Ok(bytes) => bytes,
            Err(e) => {
                note!("{}", failed(&e));
                kept += 1;
                continue;
            }
        };
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|e| failed(&e))?;
        }
        whole_file::write(&path, bytes).map_err(|e| failed(&e))?;
    }
    Ok(kept)
}

/// Writes all games to one file or to standard output.
fn write_one(
    output: Option<&Path>,
    games: &[Game],
    to: Format,
    encoding: Encoding,
) -> Result<(), Box<dyn Error>> {
    let separator = match (to.separator(), games.len()) {
        (Some(separator), _) => separator,
        (None, 0 | 1) => "",
        (None, _) => return Err(messages::one_game_only(to.name()).into()),
    };
    let texts: Vec<String> = games.iter().map(|game| to.write(&game.record)).collect();
    let bytes = encoding.encode(&texts.join(separator))?;
    match output {
        // no empty file in place of records that could not be read
        Some(path) if games.is_empty() => Err(messages::no_game(path.display()).into()),
        Some(path) => whole_file::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()).into()),
        None => Ok(console::output().write_all(&bytes)?),
    }
}
