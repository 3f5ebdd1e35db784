//! Settings in TOML files: [`read`] parses them, [`words`] makes them words of the command line.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::de::DeserializeOwned;
use std::path::Path;
use toml::{Table, Value};

/// Reads a file. The error is the reason, without the path.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    toml::from_str(&text).map_err(|e| {
        // the full message would quote the line, which may hold a password
        let line = e.span().map_or(0, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        format!("line {line}: {}", e.message())
    })
}

/// The settings of a file as options of `command`. Keys are the options' long names, and a table is one text
/// of words `KEY=VALUE`. Options that the command line has, which is `given`, are left out.
pub fn words(path: &Path, command: &Command, given: &ArgMatches) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for (key, value) in read::<Table>(path)? {
        let is_named = |arg: &&Arg| arg.get_long() == Some(&key) && arg.get_id() != "config";
        let arg = command.get_arguments().find(is_named);
        let arg = arg.ok_or_else(|| format!("{} has no setting `{key}`", command.get_name()))?;
        if given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine) {
            continue;
        }
        let (values, kind) = match (arg.get_action(), value) {
            (ArgAction::SetTrue, Value::Boolean(set)) => {
                words.extend(set.then(|| format!("--{key}")));
                continue;
            }
            (ArgAction::SetTrue, _) => return Err(format!("`{key}` is true or false")),
            (ArgAction::Append, value) => {
                let tables = value.as_array().and_then(|tables| tables.iter().map(table_text).collect());
                (tables, format!("tables [[{key}]] of texts, numbers, true and false"))
            }
            (_, value) => (simple(&value).map(|text| vec![text]), "a text or a number".into()),
        };
        let values: Vec<String> = values.ok_or_else(|| format!("`{key}` must be {kind}"))?;
        words.extend(values.iter().map(|text| format!("--{key}={text}")));
    }
    Ok(words)
}

/// The words `KEY=VALUE` of a table, in quotes.
fn table_text(value: &Value) -> Option<String> {
    let word = |(key, value)| {
        // a quote stands between quotes of the other kind
        Some(format!("'{}'", format!("{key}={}", simple(value)?).replace('\'', r#"'"'"'"#)))
    };
    let words: Option<Vec<String>> = value.as_table()?.iter().map(word).collect();
    Some(words?.join(" "))
}

fn simple(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Some(value.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usi_client::split_words;

    #[test]
    fn files_become_words_of_the_command_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("m.toml");
        let command = || {
            Command::new("match").args([
                Arg::new("engines").long("engine").action(ArgAction::Append),
                Arg::new("games").long("games"),
                Arg::new("json").long("json").action(ArgAction::SetTrue),
                Arg::new("config").long("config"),
            ])
        };
        let made = |text: &str, line: &[&str]| {
            std::fs::write(&path, text).unwrap();
            let given = command().get_matches_from([&["match"], line].concat());
            words(&path, &command(), &given)
        };
        let text = "games = 10\njson = true\n[[engine]]\ncmd = \"it's\"\nThreads = 2\n'Own Book' = false\n\
                    [[engine]]\ncmd = 'b \"c\"'";
        let made_words = made(text, &[]).unwrap();
        let [first, second, rest @ ..] = &made_words[..] else { panic!("{made_words:?}") };
        let engine = |word: &str| split_words(word.strip_prefix("--engine=").unwrap()).unwrap();
        assert_eq!(engine(first), ["Own Book=false", "Threads=2", "cmd=it's"]);
        assert_eq!(engine(second), ["cmd=b \"c\""]);
        assert_eq!(rest, ["--games=10", "--json"]);
        let line = ["--games", "4", "--engine", "a", "--json"];
        assert_eq!(made(text, &line), Ok(Vec::new()));
        assert_eq!(made("json = false", &[]), Ok(Vec::new()));
        for (text, error) in [
            ("gmaes = 1", "match has no setting `gmaes`"),
            ("config = 'x'", "match has no setting `config`"),
            ("json = 1", "`json` is true or false"),
            ("games = [1]", "`games` must be a text or a number"),
            ("[engine]\ncmd = 'a'", "`engine` must be tables [[engine]] of texts, numbers, true and false"),
            (
                "[[engine]]\ncmd = ['a']",
                "`engine` must be tables [[engine]] of texts, numbers, true and false",
            ),
            ("games = 1\ngames = 2", "line 2: duplicate key"),
        ] {
            assert_eq!(made(text, &[]), Err(error.into()));
        }
    }
}
