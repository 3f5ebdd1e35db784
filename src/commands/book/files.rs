//! Reading and writing book files.

use crate::book::{self, Book, BookFormat, Dropped};
use crate::commands::output_files;
use crate::resume::whole_file::WholeFile;
use crate::support::console::{note, say};
use crate::support::messages;
use std::error::Error;
use std::path::{Path, PathBuf};

/// The output arguments of a command.
#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// The book to write; its extension is the format: db, ybb, bin, sbk
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The format to write, instead of that of the extension
    #[arg(long, value_name = "FORMAT")]
    to: Option<BookFormat>,
    /// Overwrite the file
    #[arg(long)]
    force: bool,
}

impl OutputArgs {
    pub fn path(&self) -> &Path {
        &self.output
    }

    /// # Errors
    /// If the file exists or cannot be written.
    pub fn check_file(&self) -> Result<(), String> {
        output_files::check(&self.output, self.force)
    }

    /// The format, found before any work is done; also that nothing is in the way.
    pub fn check(&self) -> Result<BookFormat, Box<dyn Error>> {
        let path = self.output.display();
        self.check_file()?;
        let format = self.to.or_else(|| BookFormat::of_path(&self.output));
        Ok(format.ok_or_else(|| messages::no_book_format(path))?)
    }

    /// Writes the book, whole or not at all, and reports what is not written.
    pub fn write(&self, book: Book, format: BookFormat) -> Result<(), Box<dyn Error>> {
        let at = |e: &dyn std::fmt::Display| format!("{}: {e}", self.output.display());
        let book = to_write(book, format, &self.output);
        let mut file = WholeFile::create(&self.output).map_err(|e| at(&e))?;
        let (positions, moves) = book::write(book, format, &mut file).map_err(|e| at(&e))?;
        file.finish().map_err(|e| at(&e))?;
        say!("{}", messages::book_written(positions, moves, self.output.display()))?;
        Ok(())
    }
}

/// The book as the format can hold it. Reports what is lost or changed.
pub fn to_write(book: Book, format: BookFormat, path: &Path) -> Book {
    let book = each_once(book, path);
    let lost = format.losses(&book);
    if !lost.is_empty() {
        note!("{}", messages::no_place(path.display(), format, lost));
    }
    book
}

/// The book with each position once. Reports what is dropped.
pub fn each_once(book: Book, path: &Path) -> Book {
    let (book, dropped) = book.without_other_plies();
    if dropped != Dropped::default() {
        note!("{}", messages::positions_once(path.display(), dropped));
    }
    book
}

/// Reads a book and reports what is dropped.
pub fn read(path: &Path) -> Result<Book, Box<dyn Error>> {
    let (book, format, lost) = book::read(path)?;
    if !lost.is_empty() {
        note!("{}", messages::not_taken_over(path.display(), format, lost));
    }
    Ok(book)
}
