//! An engine of a match and its settings: [`EngineSpec`].

use super::limits::EngineLimits;
use crate::usi_client::split_words;
use std::path::PathBuf;
use std::str::FromStr;

/// An engine and its settings, as the command line names them: `cmd=PATH [args=WORDS] [name=NAME] [dir=DIR]
/// [nodes=N ...] [OPTION=VALUE ...]`, words quoted as in a shell.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EngineSpec {
    /// The name in reports.
    pub name: String,
    /// Program and arguments.
    pub command: Vec<String>,
    /// Its working directory.
    pub dir: Option<PathBuf>,
    /// USI options in the order in which they are sent.
    pub options: Vec<(String, String)>,
    /// Limits that replace those of the match.
    pub limits: Option<EngineLimits>,
}

/// The option that every engine gets with the value 1 unless its spec sets it, because concurrent games share
/// the processor.
pub const THREADS: &str = "Threads";

impl EngineSpec {
    /// The value of [`THREADS`] that it sets.
    pub fn threads(&self) -> Option<&str> {
        let last = self.options.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case(THREADS));
        last.map(|(_, value)| &**value)
    }
}

impl FromStr for EngineSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<EngineSpec, String> {
        let mut spec = EngineSpec {
            name: String::new(),
            command: Vec::new(),
            dir: None,
            options: Vec::new(),
            limits: None,
        };
        let mut limits = EngineLimits::default();
        for word in split_words(text)? {
            let Some((key, value)) = word.split_once('=') else {
                // the first bare words are the command
                spec.command.push(word);
                continue;
            };
            match key {
                "cmd" => spec.command.insert(0, value.to_string()),
                "args" => spec.command.extend(split_words(value)?),
                "name" => spec.name = value.to_string(),
                "dir" => spec.dir = Some(value.into()),
                _ if limits.set(key, value)? => {}
                _ => spec.options.push((key.to_string(), value.to_string())),
            }
        }
        let Some(program) = spec.command.first() else {
            return Err(format!(
                "`{text}` names no command; write for instance `cmd=./engine name=new Threads=1`"
            ));
        };
        if spec.name.is_empty() {
            let file = PathBuf::from(program);
            spec.name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        spec.limits = (limits != EngineLimits::default()).then_some(limits);
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_specs_are_parsed() {
        let spec: EngineSpec =
            "cmd='./my engine' args='--usi -x' name=new nodes=2000 Threads=2 'Book File=no book' EvalDir=\"a b\"".parse().unwrap();
        assert_eq!(spec.command, ["./my engine", "--usi", "-x"].map(String::from));
        assert_eq!(spec.name, "new");
        assert_eq!(spec.limits.unwrap().nodes, Some(2000));
        let options = [("Threads", "2"), ("Book File", "no book"), ("EvalDir", "a b")];
        assert_eq!(spec.options, options.map(|(a, b)| (a.to_string(), b.to_string())));
        let spec: EngineSpec = "/bin/engine.exe usi".parse().unwrap();
        assert_eq!((spec.name.as_str(), spec.command.len(), spec.limits), ("engine", 2, None));
        assert!("name=x".parse::<EngineSpec>().is_err());
        assert!("cmd='x".parse::<EngineSpec>().is_err());
        assert!("x nodes=many".parse::<EngineSpec>().is_err());
    }
}
