//! Deep searches of positions from any records: [`label`]. Their scores measure static evaluations.

use super::manifest::signature;
use crate::data::psv::PackedSfenValue;
use crate::data::{PackedSfen, RecordError};
use crate::nnue::Network;
use crate::resume::interrupt::{self, Unfinished};
use crate::resume::whole_file::{self, beside, unfinished};
use crate::resume::{AtPath, Lock, ResumeError, identity};
use crate::search::{Limits, SearchOptions, Searcher, Searchers, Silent};
use crate::support::console::{Progress, clock};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Positions per thread between two checks of the clock and two writes.
const CHUNK: usize = 32;

/// Everything that determines the labels; a run continues only if it is the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct LabelIdentity {
    /// As `datagen` has them; unknown to older versions.
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    signature: Option<u64>,
    /// SHA-256 of the network.
    network: String,
    nodes: u64,
    hash: usize,
    fv_scale: i32,
    positions: usize,
    /// CRC of the positions, in order.
    of: u32,
}

impl LabelIdentity {
    /// Refuses labels made with other settings, which are in the file `about`.
    fn check(&self, about: &Path) -> Result<(), ResumeError> {
        let mut before: LabelIdentity = serde_json::from_slice(&std::fs::read(about).at(about)?).at(about)?;
        if before.signature.is_none() {
            (before.version, before.signature) = (self.version.clone(), self.signature);
        }
        identity::check(about, &before, self)
    }
}

/// What to label.
pub struct LabelJob {
    /// Evaluates the searches.
    pub network: Arc<Network>,
    /// Positions, each searched with an empty table.
    pub positions: Vec<PackedSfenValue>,
    /// A PackedSfenValue file.
    pub out: PathBuf,
    /// Hard limit of each search.
    pub nodes: u64,
    /// MiB of each search's transposition table.
    pub hash: usize,
    /// Output units of the network in a `Value` unit.
    pub fv_scale: i32,
    /// Positions searched at once, each on one thread.
    pub threads: usize,
    /// Stop after this time.
    pub max_time: Option<Duration>,
    /// Continue after the labels in the file.
    pub resume: bool,
    /// No progress lines.
    pub quiet: bool,
}

/// Searches the positions and writes them, in order, with the scores and best moves of the searches. The file
/// appears when all are done; until then `OUT.tmp` holds the finished part. `OUT.label.json` has the
/// settings. False if there was nothing to do.
///
/// # Errors
/// Files; positions that are none; [`Unfinished`] when asked to stop, with all saved.
pub fn label(job: &LabelJob) -> Result<bool, Box<dyn Error>> {
    let mut crc = crc32fast::Hasher::new();
    job.positions.iter().for_each(|p| crc.update(&p.sfen.0));
    let identity = LabelIdentity {
        version: Some(env!("CARGO_PKG_VERSION").to_string()),
        signature: Some(signature(&job.network)?),
        network: job.network.sha256()?,
        nodes: job.nodes,
        hash: job.hash,
        fv_scale: job.fv_scale,
        positions: job.positions.len(),
        of: crc.finalize(),
    };
    let (part, about) = (unfinished(&job.out), beside(&job.out, "label.json"));
    let _lock = Lock::take(&job.out)?;
    if job.resume && !part.exists() && job.out.exists() {
        let labelled = std::fs::read(&job.out).at(&job.out)?;
        let labelled = labelled.chunks(PackedSfenValue::LEN).map(|record| record.get(..32));
        if !labelled.eq(job.positions.iter().map(|p| Some(&p.sfen.0[..]))) {
            return Err(format!("{}: holds other positions", job.out.display()).into());
        }
        // labels of older versions have no such file
        if about.exists() {
            identity.check(&about)?;
        }
        return Ok(false);
    }
    // a process killed early leaves an empty file without settings
    let begun = std::fs::metadata(&part).is_ok_and(|part| !job.resume || part.len() > 0);
    let mut file = if begun {
        if !job.resume {
            return Err(ResumeError::Exists(part).into());
        }
        identity.check(&about)?;
        OpenOptions::new().write(true).open(&part).at(&part)?
    } else {
        // from here on `about` does not describe the file of an earlier run
        let file = std::fs::File::create(&part).at(&part)?;
        whole_file::write_json(&about, &identity).at(&about)?;
        file
    };
    let length = file.metadata().at(&part)?.len();
    let mut done = ((length / PackedSfenValue::LEN as u64) as usize).min(job.positions.len());
    file.set_len((done * PackedSfenValue::LEN) as u64).at(&part)?;
    file.seek(SeekFrom::End(0)).at(&part)?;

    let options = SearchOptions::self_play(job.fv_scale);
    let searchers = Searchers::new(&job.network, job.hash, &options, job.threads)?;
    let mut progress = Progress::new(job.quiet);
    let (begin, first) = (Instant::now(), done);
    while done < job.positions.len() {
        if interrupt::requests() > 0 || job.max_time.is_some_and(|t| begin.elapsed() >= t) {
            file.sync_all().at(&part)?;
            return Err(Unfinished.into());
        }
        let end = (done + CHUNK * searchers.threads()).min(job.positions.len());
        let labelled: Vec<PackedSfenValue> = searchers
            .map(&job.positions[done..end], |searcher, p| search(searcher, p, job.nodes))
            .into_iter()
            .collect::<Result<_, _>>()?;
        let bytes: Vec<u8> = labelled.iter().flat_map(|p| p.to_bytes()).collect();
        file.write_all(&bytes).at(&part)?;
        done = end;
        progress.update(|| {
            let seconds = begin.elapsed().as_secs_f64();
            let speed = (done - first) as f64 / seconds;
            let left = clock((job.positions.len() - done) as f64 / speed);
            format!("{done}/{} positions  {speed:.1} positions/s  {left} left", job.positions.len())
        });
    }
    file.sync_all().at(&part)?;
    std::fs::rename(&part, &job.out).at(&job.out)?;
    Ok(true)
}

fn search(searcher: &mut Searcher, p: &PackedSfenValue, nodes: u64) -> Result<PackedSfenValue, RecordError> {
    let pos = PackedSfen::position(&p.sfen, u32::from(p.ply.max(1)))?;
    let found = searcher.search(&pos, &Limits::nodes(nodes), &Silent);
    let score = found.score.clamp(-32767, 32767) as i16;
    Ok(PackedSfenValue { score, mv: found.best.raw16(), ..*p })
}
