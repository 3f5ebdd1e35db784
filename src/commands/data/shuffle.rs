//! `toratsugumi data shuffle`.

use super::inputs::{InOut, in_file, warn};
use crate::commands::values::parse_mebibytes;
use crate::data::Format;
use crate::data::read::count_records;
use crate::resume::whole_file::{WholeFile, beside};
use crate::support::console::say;
use crate::support::messages::Number;
use crate::support::random::Rng;
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

/// Put the records of .psv, .bin or .hcpe files in random order
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    files: InOut,
    /// MiB of memory to use; larger sets go through temporary files beside the output
    #[arg(long, value_name = "MIB", default_value = "1024", value_parser = parse_mebibytes)]
    memory: usize,
    /// Seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Temporary files, removed on drop.
struct Buckets(Vec<PathBuf>);

impl Drop for Buckets {
    fn drop(&mut self) {
        for path in &self.0 {
            // it may not exist after an error
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Deals the records to as many buckets as fit in memory one at a time, then shuffles each bucket.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let output = &args.files.output;
    let format = Format::of(output)?;
    let Some(size) = format.record_len() else {
        return Err(
            "games are not shuffled (`train` draws their positions in random order); convert them first"
                .into(),
        );
    };
    args.files.check(false)?;
    let inputs = args.files.inputs_of(format)?;
    let mut total = 0u64;
    for path in &inputs {
        total += count_records(path, size, &mut warn)?;
    }
    // buckets are of random size: leave a quarter of the memory free
    let buckets = (total as usize * size).div_ceil(args.memory / 4 * 3).max(1);
    let paths = Buckets((0..buckets).map(|i| beside(output, &format!("bucket-{i}"))).collect());
    deal(&inputs, &paths.0, size, args.seed)?;
    let mut whole = WholeFile::create(output).map_err(|e| in_file(output, e))?;
    for (i, path) in paths.0.iter().enumerate() {
        let bytes = std::fs::read(path).map_err(|e| in_file(path, e))?;
        let mut order: Vec<u32> = (0..(bytes.len() / size) as u32).collect();
        Rng::for_stream(args.seed, 1 + i as u64).shuffle(&mut order);
        for r in order {
            whole.write_all(&bytes[r as usize * size..][..size]).map_err(|e| in_file(output, e))?;
        }
        std::fs::remove_file(path).map_err(|e| in_file(path, e))?;
    }
    whole.finish().map_err(|e| in_file(output, e))?;
    say!("wrote {}: {total} position{:#}", output.display(), Number(total))?;
    Ok(())
}

fn deal(inputs: &[PathBuf], buckets: &[PathBuf], size: usize, seed: u64) -> Result<(), Box<dyn Error>> {
    let create = |path: &PathBuf| match File::create(path) {
        Ok(file) => Ok(BufWriter::with_capacity(1 << 16, file)),
        Err(e) => Err(in_file(path, e)),
    };
    let mut files = buckets.iter().map(create).collect::<Result<Vec<_>, _>>()?;
    let mut rng = Rng::for_stream(seed, 0);
    let mut record = vec![0u8; size];
    for path in inputs {
        let file = File::open(path).map_err(|e| in_file(path, e))?;
        let len = file.metadata().map_err(|e| in_file(path, e))?.len() / size as u64;
        let mut input = BufReader::with_capacity(1 << 20, file);
        for _ in 0..len {
            input.read_exact(&mut record).map_err(|e| in_file(path, e))?;
            let i = rng.below(buckets.len());
            files[i].write_all(&record).map_err(|e| in_file(&buckets[i], e))?;
        }
    }
    for (file, path) in files.iter_mut().zip(buckets) {
        file.flush().map_err(|e| in_file(path, e))?;
    }
    Ok(())
}
