//! `toratsugumi book pack`.

use super::files;
use crate::book::{self, BookFormat, embedded};
use crate::commands::output_files;
use crate::resume::whole_file::WholeFile;
use std::error::Error;
use std::path::PathBuf;

/// Pack a book as the file that the binary embeds (book/default.tree.zst)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The book to read
    #[arg(value_name = "BOOK")]
    input: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite it
    #[arg(long)]
    force: bool,
}

/// Runs `book pack`.
pub fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    output_files::check(&args.output, args.force)?;
    let mut ybb = Vec::new();
    let book = files::to_write(files::read(&args.input)?, BookFormat::Ybb, &args.output);
    book::write(book, BookFormat::Ybb, &mut ybb)?;
    let written = WholeFile::create(&args.output).and_then(|mut file| {
        embedded::pack(&ybb, &mut file)?;
        file.finish()
    });
    Ok(written.map_err(|e| format!("cannot write {}: {e}", args.output.display()))?)
}
