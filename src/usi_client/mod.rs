//! Driving other programs by USI: [`EngineProcess`] is an engine as a child process, [`UsiOption`] what it can be
//! sent, [`InfoLine`] what it reports.

mod dialogue;
mod info;
mod options;
mod process;

pub use dialogue::{DialogueLog, EngineLog};
pub use info::{InfoLine, UsiScore, parse_best_move};
pub use options::{OptionKind, UsiOption, is_complaint};
pub use process::{Answer, EngineError, EngineProcess, READY_TIMEOUT};

/// Splits a line into words as a shell would: by spaces, except within single or double quotes.
///
/// # Errors
/// A sentence for the user when a quote has no end.
pub fn split_words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(q), _) if q == c => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    if quote.is_some() { Err(format!("`{text}` has a quote without end")) } else { Ok(words) }
}
