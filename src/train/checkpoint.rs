//! The whole state of a run in one file, so that a resumed run gives the same result as an uninterrupted one.
//!
//! ```text
//! "toratrain"  u32 version   u32 inputs, factor's rows, L1, dense parameters   u32 length + JSON of the run
//! u32 steps   u32 0 (1 in older files whose mirrored king squares share rows)   f32 shift by step
//! f32 bias, dense layers, factor (w, m, v of each)
//! i32 bias, weights of the progress, if it chooses a stack of layers
//! u32 touched rows, then for each: u32 row  u32 last step  f32 w, m, v
//! u32 updates of the average, 0 without one; then f64 decay  f32 bias, dense layers, rows
//! u32 CRC-32 of all before
//! ```
//! The JSON holds the settings of the run, the architecture among them, its progress and its log. Another run can
//! start from the part between the JSON and the checksum ([`load`], `train --init`).
//!
//! Rows that no step has touched are zero and left out, except after a start from a network: then every row
//! is written.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::average::Average;
use super::finished::Finished;
use super::layout::Layout;
use super::model::Model;
use crate::nnue::{Architecture, Progress};
use crate::resume::whole_file::WholeFile;
use crate::support::memory::HugeBuf;

const MAGIC: &[u8; 9] = b"toratrain";
const VERSION: u32 = 3;

/// What a checkpoint holds.
pub struct Checkpoint {
    /// All parameters and their moments.
    pub model: Model,
    /// The average, if the run keeps one.
    pub average: Option<Average>,
    /// The run, in JSON: an object whose `settings` have the `architecture`, if it is not the default one.
    pub run: String,
}

/// The part of a run's JSON that names the architecture.
#[derive(Deserialize)]
struct Run {
    settings: Settings,
}

#[derive(Deserialize)]
struct Settings {
    /// The oldest checkpoints do not have it.
    #[serde(default)]
    architecture: Architecture,
}

/// Whether a file starts with the magic bytes of a checkpoint.
pub fn is_one(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(MAGIC.len() as u64).read_to_end(&mut start)?;
    Ok(start == MAGIC)
}

/// Writes `model`, `average` and `run`, replacing the file atomically.
pub fn save(path: &Path, model: &Model, average: Option<&Average>, run: &str) -> io::Result<()> {
    let mut out = Summed { inner: WholeFile::create(path)?, crc: Default::default() };
    out.write_all(MAGIC)?;
    out.u32(VERSION)?;
    let l1 = model.layout.l1;
    model.layout.signature().iter().try_for_each(|&n| out.u32(n))?;
    out.u32(run.len() as u32)?;
    out.write_all(run.as_bytes())?;
    out.u32(model.step)?;
    out.u32(0)?;
    out.f32s(&model.shift)?;
    let (bias, dense, factor, rows) = (&model.bias, &model.dense, &model.factor, &model.rows);
    for values in [&bias.w, &bias.m, &bias.v, &dense.w, &dense.m, &dense.v] {
        out.f32s(values)?;
    }
    for values in [&factor.w, &factor.m, &factor.v] {
        out.f32s(values)?;
    }
    if let Some(progress) = &model.progress {
        [progress.bias].iter().chain(&progress.weights[..]).try_for_each(|&n| out.u32(n as u32))?;
    }
    let row = |i: usize| i * l1..(i + 1) * l1;
    let used: Vec<usize> = (0..model.last.len())
        .filter(|&i| model.last[i] != 0 || rows.w[row(i)].iter().any(|&w| w != 0.0))
        .collect();
    out.u32(used.len() as u32)?;
    for i in used {
        out.u32(i as u32)?;
        out.u32(model.last[i])?;
        for values in [&rows.w, &rows.m, &rows.v] {
            out.f32s(&values[row(i)])?;
        }
    }
    let average = average.and_then(|a| Some((a, a.mean.as_ref()?)));
    out.u32(average.map_or(0, |(a, _)| a.updates))?;
    if let Some((a, mean)) = average {
        out.write_all(&a.decay.to_le_bytes())?;
        for values in [&mean.bias[..], &mean.dense, &mean.rows] {
            out.f32s(values)?;
        }
    }
    let crc = out.crc.clone().finalize();
    out.u32(crc)?;
    out.inner.finish()
}

/// Reads what [`save`] wrote.
///
/// # Errors
/// The file cannot be read, is damaged, or of another version or architecture.
pub fn load(path: &Path) -> io::Result<Checkpoint> {
    let file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut from = Summed { inner: file, crc: Default::default() };
    let mut magic = [0; 9];
    from.fill(&mut magic)?;
    if &magic != MAGIC || from.read_u32()? != VERSION {
        return Err(bad("not a checkpoint of this version"));
    }
    let mut signature = [0; 4];
    for n in &mut signature {
        *n = from.read_u32()?;
    }
    let len = from.read_u32()?;
    if len > 16 << 20 {
        return Err(bad("a damaged checkpoint"));
    }
    let mut run = vec![0; len as usize];
    from.fill(&mut run)?;
    let run = String::from_utf8(run).map_err(|_| bad("a damaged checkpoint"))?;
    let Run { settings: Settings { architecture } } = serde_json::from_str(&run)?;
    let layout = Layout::new(architecture).map_err(io::Error::other)?;
    if layout.signature() != signature {
        return Err(bad("a damaged checkpoint"));
    }
    let mut model = Model::new(architecture, 0).map_err(io::Error::other)?;
    let (l1, rows) = (model.layout.l1, model.layout.rows());
    model.factor.w.fill(0.0);
    model.step = from.read_u32()?;
    if model.step > 100_000_000 {
        return Err(bad("a damaged checkpoint"));
    }
    if from.read_u32()? != 0 {
        return Err(bad(
            "its mirrored king squares share rows, which this version does not train; start from its network",
        ));
    }
    model.shift = vec![0.0; model.step as usize + 1];
    from.read_f32s(&mut model.shift)?;
    let (bias, dense, factor) = (&mut model.bias, &mut model.dense, &mut model.factor);
    for values in [&mut bias.w, &mut bias.m, &mut bias.v, &mut dense.w, &mut dense.m, &mut dense.v] {
        from.read_f32s(values)?;
    }
    for values in [&mut factor.w, &mut factor.m, &mut factor.v] {
        from.read_f32s(values)?;
    }
    if architecture.shape.head.by_progress() {
        let mut progress = Progress::zeroed().map_err(io::Error::other)?;
        for n in [&mut progress.bias].into_iter().chain(progress.weights.iter_mut()) {
            *n = from.read_u32()? as i32;
        }
        model.progress = Some(Arc::new(progress));
    }
    for _ in 0..from.read_u32()? {
        let i = from.read_u32()? as usize;
        if i >= rows {
            return Err(bad("a damaged checkpoint"));
        }
        model.last[i] = from.read_u32()?;
        if model.last[i] > model.step {
            return Err(bad("a damaged checkpoint"));
        }
        let row = i * l1..(i + 1) * l1;
        for values in [&mut model.rows.w, &mut model.rows.m, &mut model.rows.v] {
            from.read_f32s(&mut values[row.clone()])?;
        }
    }
    let updates = from.read_u32()?;
    let average = if updates == 0 {
        None
    } else {
        let mut decay = [0; 8];
        from.fill(&mut decay)?;
        let mut mean = Finished {
            layout: model.layout,
            rows: HugeBuf::zeroed(rows * l1).map_err(io::Error::other)?,
            bias: vec![0.0; l1],
            dense: vec![0.0; model.layout.dense],
            progress: model.progress.clone(),
        };
        for values in [&mut mean.bias[..], &mut mean.dense, &mut mean.rows] {
            from.read_f32s(values)?;
        }
        Some(Average { decay: f64::from_le_bytes(decay), updates, mean: Some(mean) })
    };
    let crc = from.crc.clone().finalize();
    if from.read_u32()? != crc {
        return Err(bad("a damaged checkpoint (checksum)"));
    }
    Ok(Checkpoint { model, average, run })
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// A stream with the checksum of all bytes so far.
struct Summed<T> {
    inner: T,
    crc: crc32fast::Hasher,
}

impl<T: Write> Summed<T> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.crc.update(bytes);
        self.inner.write_all(bytes)
    }

    fn u32(&mut self, x: u32) -> io::Result<()> {
        self.write_all(&x.to_le_bytes())
    }

    fn f32s(&mut self, values: &[f32]) -> io::Result<()> {
        let mut bytes = [0u8; 4 * 256];
        for chunk in values.chunks(256) {
            let (words, _) = bytes.as_chunks_mut::<4>();
            words.iter_mut().zip(chunk).for_each(|(b, x)| *b = x.to_le_bytes());
            self.write_all(&bytes[..4 * chunk.len()])?;
        }
        Ok(())
    }
}

impl<T: Read> Summed<T> {
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.crc.update(bytes);
        Ok(())
    }

    fn read_u32(&mut self) -> io::Result<u32> {
        let mut b = [0; 4];
        self.fill(&mut b)?;
        Ok(u32::from_le_bytes(b))
    }

    fn read_f32s(&mut self, values: &mut [f32]) -> io::Result<()> {
        let mut bytes = [0u8; 4 * 256];
        for chunk in values.chunks_mut(256) {
            self.fill(&mut bytes[..4 * chunk.len()])?;
            chunk.iter_mut().zip(bytes.as_chunks::<4>().0).for_each(|(x, b)| *x = f32::from_le_bytes(*b));
        }
        Ok(())
    }
}
