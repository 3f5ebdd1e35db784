//! The subcommand `data`: look at, check, convert and combine training records.

use std::collections::HashSet;
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use rayon::prelude::*;

use crate::data::convert::{Joiner, Plies, Scored, game_to_hcpe, game_to_psv};
use crate::data::file::{GameReader, GameWriter, HEADER_LEN};
use crate::data::game::{EndReason, GameRecord, GameResult};
use crate::data::hcpe::HcpEval;
use crate::data::psv::PackedSfenValue;
use crate::data::td::TdLambda;
use crate::random::Rng;
use crate::types::Color;
use crate::whole_file::{WholeFile, beside, unfinished};

/// Look at, check, convert and combine training records (.games, .psv, .bin, .hcpe).
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    /// Count games, positions, results, reasons, scores and bytes
    Stats {
        /// .games files, or directories with such files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Check every block and play through every game; exit with an error if anything is wrong
    Verify {
        /// Files of any kind, or directories with .games files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Convert between formats, told by the files' extensions
    Convert {
        #[arg(required = true, value_name = "IN")]
        inputs: Vec<PathBuf>,
        #[arg(short, long, value_name = "OUT")]
        output: PathBuf,
        /// Also positions that are not fit for training
        #[arg(long)]
        all: bool,
        /// Instead of the search scores of .games write TD targets: each blends the score with what the game showed
        /// later, by this weight (0 to 1; see `train --td-lambda`)
        #[arg(long, value_name = "LAMBDA", value_parser = share)]
        td_lambda: Option<f64>,
    },
    /// Combine .games files of the same settings, in order of game numbers
    Merge {
        #[arg(required = true, value_name = "IN")]
        inputs: Vec<PathBuf>,
        #[arg(short, long, value_name = "OUT")]
        output: PathBuf,
        /// Combine even files made with different settings
        #[arg(long)]
        mixed: bool,
    },
    /// Keep only the first occurrence of each position: later ones are dropped (.psv, .bin, .hcpe) or marked as unfit
    /// for training (.games)
    Dedup {
        #[arg(required = true, value_name = "IN")]
        inputs: Vec<PathBuf>,
        #[arg(short, long, value_name = "OUT")]
        output: PathBuf,
    },
    /// Put the records of .psv, .bin or .hcpe files in random order
    Shuffle {
        #[arg(required = true, value_name = "IN")]
        inputs: Vec<PathBuf>,
        #[arg(short, long, value_name = "OUT")]
        output: PathBuf,
        /// MiB of memory to use; larger sets go through temporary files beside the output
        #[arg(long, default_value_t = 1024)]
        memory: usize,
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// Parses a number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let x = text.parse::<f64>().map_err(|e| e.to_string())?;
    if (0.0..=1.0).contains(&x) { Ok(x) } else { Err("must lie between 0 and 1".into()) }
}

/// Runs the subcommand.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    match args.command {
        DataCommand::Stats { files } => stats(&expand(&files)?),
        DataCommand::Verify { files } => verify(&expand(&files)?),
        DataCommand::Convert { inputs, output, all, td_lambda } => {
            convert(&expand(&inputs)?, &output, all, td_lambda.map(TdLambda::new))
        }
        DataCommand::Merge { inputs, output, mixed } => merge(&expand(&inputs)?, &output, mixed),
        DataCommand::Dedup { inputs, output } => dedup(&expand(&inputs)?, &output),
        DataCommand::Shuffle { inputs, output, memory, seed } => {
            shuffle(&expand(&inputs)?, &output, memory << 20, seed)
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Games,
    Psv,
    Hcpe,
}

impl Format {
    fn of(path: &Path) -> Result<Format, String> {
        match path.extension().and_then(|e| e.to_str()) {
            Some("games" | "part") => Ok(Format::Games),
            Some("psv" | "bin") => Ok(Format::Psv),
            Some("hcpe") => Ok(Format::Hcpe),
            _ => Err(format!("{}: the extension should be .games, .psv, .bin or .hcpe", path.display())),
        }
    }

    /// Bytes of a record of fixed size.
    fn record(self) -> Option<usize> {
        match self {
            Format::Games => None,
            Format::Psv => Some(PackedSfenValue::LEN),
            Format::Hcpe => Some(HcpEval::LEN),
        }
    }
}

/// Directories become the `.games` files in them.
fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut out = Vec::new();
    for path in paths {
        if path.is_dir() {
            let mut inside: Vec<PathBuf> = std::fs::read_dir(path)?
                .map(|e| e.map(|e| e.path()))
                .collect::<Result<_, _>>()
                .map_err(|e| format!("{}: {e}", path.display()))?;
            inside.retain(|p| p.extension().is_some_and(|e| e == "games"));
            inside.sort();
            out.extend(inside);
        } else {
            out.push(path.clone());
        }
    }
    if out.is_empty() {
        return Err("no files".into());
    }
    Ok(out)
}

fn in_file(path: &Path, e: impl std::fmt::Display) -> Box<dyn Error> {
    format!("{}: {e}", path.display()).into()
}

/// Calls `each` with every game of a file and tells of a damaged end.
fn each_game(
    path: &Path,
    mut each: impl FnMut(GameRecord) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut reader = GameReader::open(path).map_err(|e| in_file(path, e))?;
    for game in reader.by_ref() {
        each(game.map_err(|e| in_file(path, e))?)?;
    }
    if let Some(problem) = reader.problem() {
        eprintln!("warning: {}: reading ends early: {problem}", path.display());
    }
    Ok(())
}

/// Calls `each` with every record of fixed size `N`.
fn each_record<const N: usize>(
    path: &Path,
    mut each: impl FnMut(&[u8; N]) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let len = std::fs::metadata(path).map_err(|e| in_file(path, e))?.len();
    if len % N as u64 != 0 {
        eprintln!("warning: {}: an incomplete record at the end", path.display());
    }
    let mut input = BufReader::with_capacity(1 << 20, File::open(path).map_err(|e| in_file(path, e))?);
    let mut record = [0; N];
    for i in 0..len / N as u64 {
        input.read_exact(&mut record).map_err(|e| in_file(path, e))?;
        each(&record).map_err(|e| in_file(path, format_args!("record {i}: {e}")))?;
    }
    Ok(())
}

#[derive(Default, Clone)]
struct Stats {
    bytes: u64,
    games: u64,
    opening: u64,
    plies: u64,
    fit: u64,
    results: [u64; 3],
    reasons: [u64; EndReason::ALL.len()],
    /// Fit positions by size of the score, in steps of 300.
    scores: [u64; 12],
    longest: usize,
    /// Fit positions whose sign of the score names the winner, and those with a winner.
    named: u64,
    decisive: u64,
}

impl Stats {
    fn add_game(&mut self, g: &GameRecord) {
        self.games += 1;
        self.opening += g.opening.len() as u64;
        self.plies += g.plies.len() as u64;
        self.results[g.result as usize] += 1;
        self.reasons[g.reason as usize] += 1;
        self.longest = self.longest.max(g.opening.len() + g.plies.len());
        let black_first = g.first_mover() == Color::Black;
        for (i, p) in g.plies.iter().enumerate().filter(|(_, p)| p.fit) {
            self.fit += 1;
            let bin = p.score.unsigned_abs() as usize / 300;
            self.scores[bin.min(self.scores.len() - 1)] += 1;
            if g.result != GameResult::Draw {
                let black = (i + g.opening.len()).is_multiple_of(2) == black_first;
                let won = (g.result == GameResult::BlackWin) == black;
                self.decisive += 1;
                self.named += ((p.score > 0) == won) as u64;
            }
        }
    }

    fn merge(mut self, o: Stats) -> Stats {
        self.bytes += o.bytes;
        self.games += o.games;
        self.opening += o.opening;
        self.plies += o.plies;
        self.fit += o.fit;
        self.longest = self.longest.max(o.longest);
        self.named += o.named;
        self.decisive += o.decisive;
        self.results.iter_mut().zip(o.results).for_each(|(a, b)| *a += b);
        self.reasons.iter_mut().zip(o.reasons).for_each(|(a, b)| *a += b);
        self.scores.iter_mut().zip(o.scores).for_each(|(a, b)| *a += b);
        self
    }
}

fn stats(files: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let parts: Vec<Stats> = files
        .par_iter()
        .map(|path| {
            let mut s = Stats { bytes: std::fs::metadata(path).map_or(0, |m| m.len()), ..Stats::default() };
            match Format::of(path)? {
                Format::Games => each_game(path, |g| {
                    s.add_game(&g);
                    Ok(())
                })
                .map_err(|e| e.to_string())?,
                other => {
                    let n = s.bytes / other.record().unwrap_or(1) as u64;
                    s.plies = n;
                    s.fit = n;
                }
            }
            Ok(s)
        })
        .collect::<Result<_, String>>()?;
    let s = parts.into_iter().fold(Stats::default(), Stats::merge);
    let share = |n: u64, of: u64| 100.0 * n as f64 / of.max(1) as f64;
    println!("files                {}", files.len());
    println!("bytes                {}", s.bytes);
    println!("games                {}", s.games);
    println!("positions            {}", s.plies);
    println!("  fit for training   {} ({:.1} %)", s.fit, share(s.fit, s.plies));
    println!("bytes a position     {:.3}", s.bytes as f64 / s.plies.max(1) as f64);
    if s.games == 0 {
        return Ok(());
    }
    println!(
        "plies a game         {:.1} and {:.1} of opening; longest {}",
        s.plies as f64 / s.games as f64,
        s.opening as f64 / s.games as f64,
        s.longest
    );
    println!(
        "results              black {:.1} %  white {:.1} %  draw {:.1} %",
        share(s.results[1], s.games),
        share(s.results[2], s.games),
        share(s.results[0], s.games)
    );
    for reason in EndReason::ALL {
        if s.reasons[reason as usize] > 0 {
            println!(
                "  {:<18} {} ({:.1} %)",
                reason.to_string(),
                s.reasons[reason as usize],
                share(s.reasons[reason as usize], s.games)
            );
        }
    }
    println!("winner named by the sign of the score: {:.2} % of {}", share(s.named, s.decisive), s.decisive);
    println!("fit positions by size of the score:");
    for (i, &n) in s.scores.iter().enumerate() {
        let end = if i + 1 < s.scores.len() { format!("{:>5}", (i + 1) * 300 - 1) } else { "     ".into() };
        println!("  {:>5} - {end}  {:>6.2} %  {n}", i * 300, share(n, s.fit));
    }
    Ok(())
}

fn verify(files: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    let problems: usize = files
        .par_iter()
        .map(|path| match verify_file(path) {
            Ok((games, positions)) => {
                println!("{}: {games} games, {positions} positions, all in order", path.display());
                0
            }
            Err(e) => {
                println!("{}: {e}", path.display());
                1
            }
        })
        .sum();
    if problems > 0 { Err(format!("{problems} of {} files are damaged", files.len()).into()) } else { Ok(()) }
}

fn verify_file(path: &Path) -> Result<(u64, u64), Box<dyn Error>> {
    let (mut games, mut positions) = (0, 0);
    match Format::of(path)? {
        Format::Games => {
            let mut reader = GameReader::open(path)?;
            let mut ids = HashSet::new();
            for game in reader.by_ref() {
                let game = game?;
                game.replay(|_, _, _| positions += 1)?;
                games += 1;
                if !ids.insert(game.id) {
                    return Err(format!("game {} occurs twice", game.id).into());
                }
            }
            if let Some(problem) = reader.problem() {
                return Err(format!("{problem}, after {games} games in order").into());
            }
        }
        Format::Psv => each_record(path, |b: &[u8; PackedSfenValue::LEN]| {
            let s = Scored::try_from(&PackedSfenValue::from_bytes(b)?)?;
            Joiner::default().push(&s)?;
            positions += 1;
            Ok(())
        })?,
        Format::Hcpe => each_record(path, |b: &[u8; HcpEval::LEN]| {
            let s = Scored::try_from(&HcpEval::from_bytes(b)?)?;
            Joiner::default().push(&s)?;
            positions += 1;
            Ok(())
        })?,
    }
    Ok((games, positions))
}

fn convert(inputs: &[PathBuf], output: &Path, all: bool, td: Option<TdLambda>) -> Result<(), Box<dyn Error>> {
    let plies = if all { Plies::All } else { Plies::Fit };
    let to = Format::of(output)?;
    let mut count = 0u64;
    if to == Format::Games {
        let part = unfinished(output);
        let mut writer = GameWriter::create(&part, fingerprint(inputs)?)?;
        let mut joiner = Joiner::default();
        for path in inputs {
            let mut push = |s: Scored| -> Result<(), Box<dyn Error>> {
                count += 1;
                if let Some(game) = joiner.push(&s)? {
                    writer.write(&game)?;
                }
                Ok(())
            };
            if td.is_some() {
                return Err("--td-lambda is for .games to other formats".into());
            }
            match Format::of(path)? {
                Format::Games => return Err("both sides are .games; see `merge`".into()),
                Format::Psv => {
                    each_record(path, |b| push(Scored::try_from(&PackedSfenValue::from_bytes(b)?)?))?
                }
                Format::Hcpe => each_record(path, |b| push(Scored::try_from(&HcpEval::from_bytes(b)?)?))?,
            }
        }
        if let Some(game) = joiner.finish() {
            writer.write(&game)?;
        }
        writer.finish()?;
        std::fs::rename(part, output)?;
    } else {
        let mut whole = WholeFile::create(output).map_err(|e| in_file(output, e))?;
        let out = &mut whole;
        for path in inputs {
            let mut failed = None;
            let mut put = |bytes: &[u8]| {
                count += 1;
                if let Err(e) = out.write_all(bytes) {
                    failed = Some(e);
                }
            };
            let targets = |mut g: GameRecord| {
                if let Some(td) = &td {
                    td.relabel(&mut g);
                }
                g
            };
            if td.is_some() && Format::of(path)? != Format::Games {
                return Err(in_file(path, "--td-lambda needs whole games, a .games file"));
            }
            match (Format::of(path)?, to) {
                (Format::Games, Format::Psv) => each_game(path, |g| {
                    let g = targets(g);
                    game_to_psv(&g, plies, |r| put(&r.to_bytes())).map_err(|e| in_file(path, e))
                })?,
                (Format::Games, _) => each_game(path, |g| {
                    let g = targets(g);
                    game_to_hcpe(&g, plies, |r| put(&r.to_bytes())).map_err(|e| in_file(path, e))
                })?,
                (Format::Psv, Format::Hcpe) => each_record(path, |b| {
                    let s = Scored::try_from(&PackedSfenValue::from_bytes(b)?)?;
                    put(&HcpEval {
                        hcp: crate::data::hcp::HuffmanCodedPos::pack(&s.board)?,
                        eval: s.score,
                        mv: crate::data::hcp::to_apery_move(s.mv),
                        result: s.result,
                        padding: 0,
                    }
                    .to_bytes());
                    Ok(())
                })?,
                (Format::Hcpe, Format::Psv) => each_record(path, |b| {
                    let s = Scored::try_from(&HcpEval::from_bytes(b)?)?;
                    put(&PackedSfenValue {
                        sfen: crate::data::PackedSfen::pack(&s.board)?,
                        score: s.score,
                        mv: s.mv,
                        ply: s.ply,
                        result: s.result.sign(s.board.turn),
                        padding: 0,
                    }
                    .to_bytes());
                    Ok(())
                })?,
                (Format::Psv, _) => each_record(path, |b: &[u8; PackedSfenValue::LEN]| {
                    put(b);
                    Ok(())
                })?,
                (Format::Hcpe, _) => each_record(path, |b: &[u8; HcpEval::LEN]| {
                    put(b);
                    Ok(())
                })?,
            }
            if let Some(e) = failed {
                return Err(in_file(output, e));
            }
        }
        whole.finish()?;
    }
    println!("{count} positions to {}", output.display());
    Ok(())
}

/// A number for what was converted: hash of the inputs' lengths and first bytes.
fn fingerprint(inputs: &[PathBuf]) -> Result<u64, Box<dyn Error>> {
    let mut crc = crc32fast::Hasher::new();
    let mut total = 0u64;
    for path in inputs {
        let mut head = Vec::new();
        File::open(path).map_err(|e| in_file(path, e))?.take(4096).read_to_end(&mut head)?;
        crc.update(&head);
        total += std::fs::metadata(path)?.len();
    }
    Ok((crc.finalize() as u64) << 32 | total & 0xffff_ffff)
}

fn merge(inputs: &[PathBuf], output: &Path, mixed: bool) -> Result<(), Box<dyn Error>> {
    let mut readers = Vec::new();
    for path in inputs {
        if path == output {
            return Err("the output is one of the inputs".into());
        }
        readers.push(GameReader::open(path).map_err(|e| in_file(path, e))?);
    }
    let fingerprint = readers.first().map_or(0, |r| r.fingerprint());
    if let Some(i) = readers.iter().position(|r| r.fingerprint() != fingerprint)
        && !mixed
    {
        return Err(format!(
            "{} and {} were made with different settings (network, options or version); --mixed merges them all the same",
            inputs[0].display(),
            inputs[i].display()
        )
        .into());
    }
    let part = unfinished(output);
    let mut writer = GameWriter::create(&part, fingerprint)?;
    let mut heads: Vec<Option<GameRecord>> =
        readers.iter_mut().map(|r| r.next().transpose()).collect::<Result<_, _>>()?;
    let mut games = 0;
    let mut last = None;
    // each file is in order of ids, so the smallest head is next
    while let Some(i) =
        (0..heads.len()).filter(|&i| heads[i].is_some()).min_by_key(|&i| heads[i].as_ref().map(|g| g.id))
    {
        let next = readers[i].next().transpose().map_err(|e| in_file(&inputs[i], e))?;
        if let Some(game) = std::mem::replace(&mut heads[i], next) {
            if last == Some(game.id) && !mixed {
                return Err(format!("game {} occurs twice: the shards overlap", game.id).into());
            }
            last = Some(game.id);
            writer.write(&game)?;
            games += 1;
        }
    }
    for (path, reader) in inputs.iter().zip(&readers) {
        if let Some(problem) = reader.problem() {
            eprintln!("warning: {}: reading ends early: {problem}", path.display());
        }
    }
    let len = writer.finish()?;
    std::fs::rename(part, output)?;
    println!("{games} games, {} bytes to {}", len - HEADER_LEN, output.display());
    Ok(())
}

/// 64 bits of a position; two different positions of even 10^9 collide with probability below 3 %.
fn position_hash(packed: &[u8]) -> u64 {
    packed.as_chunks::<8>().0.iter().fold(0x2545_F491_4F6C_DD1D, |h: u64, c| {
        let h = (h ^ u64::from_le_bytes(*c)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        h ^ h >> 29
    })
}

fn dedup(inputs: &[PathBuf], output: &Path) -> Result<(), Box<dyn Error>> {
    let format = Format::of(output)?;
    let mut seen = HashSet::new();
    let (mut all, mut kept) = (0u64, 0u64);
    for path in inputs {
        if Format::of(path)? != format {
            return Err(in_file(path, "has another format than the output"));
        }
    }
    match format {
        Format::Games => {
            let part = unfinished(output);
            let mut writer = GameWriter::create(&part, GameReader::open(&inputs[0])?.fingerprint())?;
            for path in inputs {
                each_game(path, |mut game| {
                    let mut fresh = Vec::with_capacity(game.plies.len());
                    game.replay(|pos, ply, _| {
                        let hash = crate::data::PackedSfen::pack(&crate::data::board::Board::of(pos))
                            .map_or(pos.key(), |p| position_hash(&p.0));
                        fresh.push(ply.fit && seen.insert(hash));
                    })?;
                    for (ply, fresh) in game.plies.iter_mut().zip(fresh) {
                        all += ply.fit as u64;
                        kept += fresh as u64;
                        ply.fit = fresh;
                    }
                    Ok(writer.write(&game)?)
                })?;
            }
            writer.finish()?;
            std::fs::rename(part, output)?;
        }
        Format::Psv | Format::Hcpe => {
            let mut whole = WholeFile::create(output).map_err(|e| in_file(output, e))?;
            let mut each = |b: &[u8]| -> Result<(), Box<dyn Error>> {
                all += 1;
                if seen.insert(position_hash(&b[..32])) {
                    kept += 1;
                    whole.write_all(b)?;
                }
                Ok(())
            };
            for path in inputs {
                if format == Format::Psv {
                    each_record(path, |b: &[u8; PackedSfenValue::LEN]| each(b))?;
                } else {
                    each_record(path, |b: &[u8; HcpEval::LEN]| each(b))?;
                }
            }
            whole.finish()?;
        }
    }
    println!("{kept} of {all} positions kept in {}", output.display());
    Ok(())
}

/// Deals the records to as many buckets as fit in memory one at a time, then shuffles each bucket.
fn shuffle(inputs: &[PathBuf], output: &Path, memory: usize, seed: u64) -> Result<(), Box<dyn Error>> {
    let format = Format::of(output)?;
    let Some(size) = format.record() else {
        return Err(
            "games are not shuffled (`train` draws their positions in random order); convert them first"
                .into(),
        );
    };
    let mut total = 0u64;
    for path in inputs {
        if Format::of(path)? != format {
            return Err(in_file(path, "has another format than the output"));
        }
        total += std::fs::metadata(path).map_err(|e| in_file(path, e))?.len() / size as u64;
    }
    // buckets are of random size: leave a quarter of the memory free
    let buckets = (total as usize * size).div_ceil((memory / 4 * 3).max(size)).max(1);
    let mut rng = Rng::for_stream(seed, 0);
    let paths: Vec<PathBuf> = (0..buckets).map(|i| beside(output, &format!("bucket-{i}"))).collect();
    let mut files = paths
        .iter()
        .map(|p| File::create(p).map(|f| BufWriter::with_capacity(1 << 16, f)).map_err(|e| in_file(p, e)))
        .collect::<Result<Vec<_>, _>>()?;
    let mut record = vec![0u8; size];
    for path in inputs {
        let len = std::fs::metadata(path)?.len() / size as u64;
        let mut input = BufReader::with_capacity(1 << 20, File::open(path)?);
        for _ in 0..len {
            input.read_exact(&mut record).map_err(|e| in_file(path, e))?;
            files[rng.below(buckets)].write_all(&record)?;
        }
    }
    for file in &mut files {
        file.flush()?;
    }
    drop(files);
    let mut whole = WholeFile::create(output).map_err(|e| in_file(output, e))?;
    for (i, path) in paths.iter().enumerate() {
        let bytes = std::fs::read(path)?;
        let mut order: Vec<u32> = (0..(bytes.len() / size) as u32).collect();
        Rng::for_stream(seed, 1 + i as u64).shuffle(&mut order);
        for r in order {
            whole.write_all(&bytes[r as usize * size..][..size])?;
        }
        std::fs::remove_file(path)?;
    }
    whole.finish()?;
    println!("{total} records to {}", output.display());
    Ok(())
}
