//! The subcommand `learn`: the loop from games to a stronger network.

use super::values::parse_duration;
use super::{signals, toml_file};
use crate::learn::{Config, LearnError, LoopOptions, System, TEMPLATE, prepare, print_job, run as learn};
use crate::support::console::{note, say};
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Improve the network in a loop of self-play, training and a match
///
/// The loop is a directory of plain files; report.html in it shows the progress. Ctrl-C stops the loop within
/// seconds, and after a stop or a kill the same command continues it. Exit code 0: the generation of
/// --generations is finished; 75: stopped earlier.
///
/// Example: toratsugumi learn --init --dir loop, then toratsugumi learn --dir loop --max-time 8h
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The loop's directory
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// Settings in TOML [default: DIR/learn.toml, if it exists]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Write all settings with their defaults and comments to DIR/learn.toml, and exit
    #[arg(long, conflicts_with_all = ["config", "generations", "max_time", "keep", "print_job"])]
    init: bool,
    /// Stop after generation N [default: never]
    #[arg(long, value_name = "N")]
    generations: Option<u32>,
    /// Stop after this time (90, 45s, 55m, 1h30m)
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    max_time: Option<Duration>,
    /// Keep games and training states of the last N generations, instead of the number in the settings; older
    /// ones are deleted after each generation. Networks are kept for ever
    #[arg(long, value_name = "N")]
    keep: Option<u32>,
    /// Print a cluster job that plays the shards of the current generation, and exit
    #[arg(long, value_enum, value_name = "SYSTEM", conflicts_with_all = ["generations", "max_time"])]
    print_job: Option<System>,
    /// No progress on standard error
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the subcommand.
pub fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let file = args.dir.join("learn.toml");
    if args.init {
        return init(&args.dir, &file);
    }
    let mut config = match &args.config {
        Some(path) => read(path)?,
        None if file.exists() => read(&file)?,
        None => {
            note!("no {}: default settings", file.display());
            Config::default()
        }
    };
    config.keep = args.keep.unwrap_or(config.keep);
    config.check()?;
    if let Some(system) = args.print_job {
        let root = std::path::absolute(&args.dir)?;
        let plan = prepare(&root, &config)?;
        say!("{}", print_job(system, &plan, &root)?.trim_end())?;
        return Ok(());
    }
    signals::watch();
    let done = learn(&LoopOptions {
        dir: args.dir,
        config,
        generations: args.generations,
        max_time: args.max_time,
        quiet: args.quiet,
    });
    done.map_err(|e| match e {
        LearnError::Unfinished(stopped) => stopped.into(),
        e => e.into(),
    })
}

fn read(path: &Path) -> Result<Config, String> {
    toml_file::read(path).map_err(|reason| format!("{}: {reason}", path.display()))
}

/// Writes the template; refuses to overwrite a file.
fn init(dir: &Path, file: &Path) -> Result<(), Box<dyn Error>> {
    let at = |e: std::io::Error| format!("{}: {e}", file.display());
    std::fs::create_dir_all(dir).map_err(at)?;
    let mut out = std::fs::File::create_new(file).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => format!("{} exists and is not overwritten", file.display()),
        _ => at(e),
    })?;
    out.write_all(TEMPLATE.as_bytes()).map_err(at)?;
    say!("{}", file.display())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_has_every_default() {
        assert_eq!(toml::from_str::<Config>(TEMPLATE).unwrap(), Config::default());
        Config::default().check().unwrap();
        // every setting is in it, those without a default as a comment
        let shown = serde_json::to_value(Config::default()).unwrap();
        for (section, values) in shown.as_object().unwrap() {
            for name in values.as_object().into_iter().flat_map(|o| o.keys()) {
                assert!(
                    TEMPLATE.contains(&format!("\n{name} =")) || TEMPLATE.contains(&format!("# {name} =")),
                    "{section}.{name}"
                );
            }
        }
        assert!(toml::from_str::<Config>("nodez = 3").is_err());
    }
}
