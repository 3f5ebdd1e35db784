//! `toratsugumi convert`: game records from one format into another.

use crate::record::encoding::decode;
use crate::record::{Record, csa, kif, usi};
use clap::ValueEnum;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Convert game records between CSA, KIF and USI/SFEN text
///
/// Reads UTF-8, Shift_JIS and EUC-JP. Every move is checked by the rules; what is wrong is told with file and line, and
/// the other files are converted all the same.
///
/// Example: toratsugumi convert games/*.csa --to kif --out-dir kif
#[derive(clap::Args, Clone, Debug)]
#[command(name = "convert")]
pub struct Args {
    /// Files to read; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Format of the files [default: by their names]
    #[arg(long, value_enum)]
    from: Option<Format>,
    /// Format to write [default: by the name of --output]
    #[arg(long, value_enum)]
    to: Option<Format>,
    /// Write all games to one file [default: standard output]
    #[arg(long, short, value_name = "FILE", conflicts_with = "out_dir")]
    output: Option<PathBuf>,
    /// Write a file for every game to this directory
    #[arg(long, value_name = "DIR")]
    out_dir: Option<PathBuf>,
    /// Characters to write [default: shift-jis for `.kif`, as KIF wants it, utf-8 for `.kifu` and all others]
    #[arg(long, value_enum)]
    encoding: Option<Encoding>,
}

/// What a record is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// CSA's standard format
    Csa,
    /// Kakinoki's format
    Kif,
    /// A line a game, as in USI's `position`: `startpos moves ...` or `sfen ...`
    Usi,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "kebab-case")]
enum Encoding {
    #[value(name = "utf-8")]
    Utf8,
    ShiftJis,
    EucJp,
}

impl Format {
    fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csa" => Some(Format::Csa),
            "kif" | "kifu" => Some(Format::Kif),
            "usi" | "sfen" | "txt" => Some(Format::Usi),
            _ => None,
        }
    }

    /// KIF's says which encoding it has.
    fn extension(self, encoding: Encoding) -> &'static str {
        match self {
            Format::Csa => "csa",
            Format::Kif if encoding == Encoding::Utf8 => "kifu",
            Format::Kif => "kif",
            Format::Usi => "usi",
        }
    }

    fn read(self, text: &str) -> Result<Vec<Record>, crate::record::RecordError> {
        match self {
            Format::Csa => csa::read(text),
            Format::Kif => kif::read(text).map(|record| vec![record]),
            Format::Usi => usi::read(text),
        }
    }

    fn write(self, record: &Record) -> String {
        match self {
            Format::Csa => csa::write(record),
            Format::Kif => kif::write(record),
            Format::Usi => usi::write(record),
        }
    }
}

impl Encoding {
    /// What a file of that name is written in by custom.
    fn of(path: Option<&Path>) -> Encoding {
        let kif = path.and_then(Path::extension).is_some_and(|e| e.eq_ignore_ascii_case("kif"));
        if kif { Encoding::ShiftJis } else { Encoding::Utf8 }
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
        match encoding.encode(&text) {
            (bytes, _, false) => Ok(bytes.into_owned()),
            _ => Err(format!("{} has not all of its characters; write utf-8", encoding.name())),
        }
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let to = args.to.or_else(|| args.output.as_deref().and_then(Format::of));
    let to = to.ok_or("which format to write? give --to")?;
    let encoding = args.encoding.unwrap_or_else(|| Encoding::of(args.output.as_deref()));
    let mut games = Vec::new();
    let mut broken = 0;
    for path in &args.files {
        match read_file(path, args.from) {
            Ok(found) => {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let many = found.len() > 1;
                games.extend(found.into_iter().enumerate().map(|(i, game)| {
                    let name = if many { format!("{stem}-{}", i + 1) } else { stem.clone() };
                    (name, game)
                }));
            }
            Err(e) => {
                broken += 1;
                eprintln!("{}: {e}", path.display());
            }
        }
    }
    match &args.out_dir {
        Some(dir) => {
            std::fs::create_dir_all(dir)?;
            for (name, game) in &games {
                let path = dir.join(format!("{name}.{}", to.extension(encoding)));
                let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
                let bytes = encoding.encode(&to.write(game)).map_err(|e| failed(&e))?;
                std::fs::write(&path, bytes).map_err(|e| failed(&e))?;
            }
        }
        None => {
            if to == Format::Kif && games.len() > 1 {
                return Err("a KIF file holds one game; give --out-dir".into());
            }
            let texts: Vec<String> = games.iter().map(|(_, game)| to.write(game)).collect();
            let text = texts.join(if to == Format::Csa { "/\n" } else { "" });
            let bytes = encoding.encode(&text)?;
            match &args.output {
                Some(path) => std::fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))?,
                None => std::io::stdout().lock().write_all(&bytes)?,
            }
        }
    }
    match broken {
        0 => Ok(()),
        n => Err(format!("{n} of {} files could not be read", args.files.len()).into()),
    }
}

fn read_file(path: &Path, from: Option<Format>) -> Result<Vec<Record>, Box<dyn Error>> {
    let format = from.or_else(|| Format::of(path)).ok_or("which format is it? give --from")?;
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes)?;
    } else {
        bytes = std::fs::read(path)?;
    }
    Ok(format.read(&decode(&bytes).0)?)
}
