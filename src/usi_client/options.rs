//! The options of another engine: what its `option` lines offer, and how it reports that it cannot comply.

/// An option that an engine offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsiOption {
    /// As the engine writes it.
    pub name: String,
    /// What it can be set to.
    pub kind: OptionKind,
}

/// What an option can be set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Check,
    /// A whole number, the ends included.
    Spin {
        /// The least one.
        min: i64,
        /// The greatest one.
        max: i64,
    },
    /// One of these.
    Combo(Vec<String>),
    /// Any text.
    Text,
    /// Nothing: setting it is all.
    Button,
}

/// A combo whose choices are only the usual file names. The engine itself reports a name that it cannot use.
const BOOK_FILE: &str = "BookFile";

/// USI gives these two to every engine, whether it lists them or not.
const ALWAYS: [&str; 2] = ["USI_Hash", "USI_Ponder"];

impl UsiOption {
    /// Reads an `option name N type T ...` line; `None` for other lines. A type that USI does not know takes any text.
    pub fn parse(line: &str) -> Option<UsiOption> {
        let (name, rest) = line.strip_prefix("option name ")?.split_once(" type ")?;
        let (kind, rest) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
        let number = |key: &str| {
            let value = rest.split_whitespace().skip_while(|word| *word != key).nth(1);
            value.and_then(|word| word.parse().ok())
        };
        let kind = match kind {
            "check" => OptionKind::Check,
            "spin" => OptionKind::Spin {
                min: number("min").unwrap_or(i64::MIN),
                max: number("max").unwrap_or(i64::MAX),
            },
            "combo" => {
                let rest = format!(" {rest}");
                let mut parts = rest.split(" var ").map(str::trim);
                let default = parts.next().and_then(|d| d.strip_prefix("default "));
                let mut choices: Vec<String> = parts.map(String::from).collect();
                // some engines do not list their default
                choices.extend(default.map(String::from).filter(|d| !choices.contains(d)));
                OptionKind::Combo(choices)
            }
            "button" => OptionKind::Button,
            _ => OptionKind::Text,
        };
        Some(UsiOption { name: name.trim().into(), kind })
    }

    /// Whether the option takes the value.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn check(&self, value: &str) -> Result<(), String> {
        let name = &self.name;
        match &self.kind {
            OptionKind::Check if !matches!(value, "true" | "false") => {
                Err(format!("{name} wants true or false, not `{value}`"))
            }
            OptionKind::Spin { min, max } => match value.parse::<i64>() {
                Ok(n) if (min..=max).contains(&&n) => Ok(()),
                _ => Err(format!("{name} wants a whole number from {min} to {max}, not `{value}`")),
            },
            OptionKind::Combo(_) if name.eq_ignore_ascii_case(BOOK_FILE) => Ok(()),
            OptionKind::Combo(choices) if !choices.iter().any(|c| c == value) => {
                Err(format!("{name} has no choice `{value}`; it has {}", choices.join(", ")))
            }
            OptionKind::Button if !value.is_empty() => Err(format!("{name} is a button and takes no value")),
            _ => Ok(()),
        }
    }
}

/// The option of that name, in any case of letters.
pub fn find<'a>(options: &'a [UsiOption], name: &str) -> Option<&'a UsiOption> {
    options.iter().find(|o| o.name.eq_ignore_ascii_case(name))
}

/// Whether an engine that offers `options` takes `name = value`.
///
/// # Errors
/// A sentence for the user.
pub fn check(options: &[UsiOption], name: &str, value: &str) -> Result<(), String> {
    match find(options, name) {
        Some(option) => option.check(value),
        None if ALWAYS.iter().any(|known| known.eq_ignore_ascii_case(name)) => Ok(()),
        None => Err(format!("there is no option {name}")),
    }
}

/// Whether a line between `setoption` and `readyok` says that the engine did not accept an option. Engines have no
/// common form for that: a line counts that begins with `Error`, that speaks of an unknown option, or that begins with
/// the name of an option that was `set` and says that something is wrong with it.
pub fn is_complaint(line: &str, set: &[(String, String)]) -> bool {
    const UNKNOWN: [&str; 4] = ["no such option", "unknown option", "invalid option", "unsupported option"];
    const WRONG: [&str; 14] = [
        "error",
        "fail",
        "cannot",
        "can't",
        "could not",
        "not found",
        "no such",
        "invalid",
        "not a ",
        "wants",
        "fixed by",
        "no effect",
        "more than",
        "more memory",
    ];
    let line = line.trim();
    let text = line.strip_prefix("info string ").unwrap_or(line).trim().to_ascii_lowercase();
    if text.starts_with("info ") {
        return false;
    }
    let is_about = |name: &str| {
        text.strip_prefix(&name.to_ascii_lowercase())
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    text.starts_with("error")
        || UNKNOWN.iter().any(|words| text.contains(words))
        || set.iter().any(|(name, _)| is_about(name)) && WRONG.iter().any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(line: &str) -> UsiOption {
        UsiOption::parse(line).unwrap()
    }

    #[test]
    fn option_lines_name_type_and_range() {
        let threads = option("option name Threads type spin default 4 min 1 max 512");
        assert_eq!(
            (threads.name.as_str(), &threads.kind),
            ("Threads", &OptionKind::Spin { min: 1, max: 512 })
        );
        let rule = option("option name Entering Rule type combo default CSA 27 var CSA 27 var Try Rule");
        assert_eq!(rule.name, "Entering Rule");
        assert_eq!(rule.kind, OptionKind::Combo(vec!["CSA 27".into(), "Try Rule".into()]));
        assert_eq!(
            option("option name A type combo default x var y").kind,
            OptionKind::Combo(vec!["y".into(), "x".into()])
        );
        assert_eq!(option("option name Clear Hash type button").kind, OptionKind::Button);
        assert_eq!(option("option name Dir type filename default <empty>").kind, OptionKind::Text);
        assert_eq!(UsiOption::parse("id name X"), None);
    }

    #[test]
    fn values_are_checked_before_they_are_sent() {
        let options = [
            option("option name Threads type spin default 1 min 1 max 8"),
            option("option name Ponder type check default false"),
            option("option name Rule type combo default A var A var B"),
            option("option name Dir type string default x"),
            option("option name Clear type button"),
            option("option name BookFile type combo default no_book var no_book var book.bin"),
        ];
        let good = [
            ("threads", "8"),
            ("Ponder", "true"),
            ("Rule", "B"),
            ("Dir", "a b"),
            ("Clear", ""),
            ("BookFile", "my book.db"),
            ("USI_Hash", "16"),
        ];
        for (name, value) in good {
            assert_eq!(check(&options, name, value), Ok(()), "{name}");
        }
        let bad = [
            ("Threads", "9", "from 1 to 8"),
            ("Threads", "many", "whole number"),
            ("Ponder", "yes", "true or false"),
            ("Rule", "C", "A, B"),
            ("Clear", "x", "button"),
            ("Thread", "1", "no option Thread"),
        ];
        for (name, value, what) in bad {
            let error = check(&options, name, value).unwrap_err();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn complaints_are_distinguished_from_remarks() {
        let set =
            ["EvalDir", "Threads", "FV_SCALE", "USI_Hash"].map(|name| (name.to_string(), "x".to_string()));
        for line in [
            "info string EvalDir: x/nn.bin: cannot be opened; the embedded network stays in use",
            "info string Error! failed to read eval/nn.bin",
            "No such option: Foo",
            "info string unknown option EvalHash",
            "info string FV_SCALE is fixed by an option file",
            "info string Threads: 9000 need more memory than this machine has free; 4 are used",
            "info string USI_Hash: 99999 MB is more than this machine has free; 4000 MB are used",
        ] {
            assert!(is_complaint(line, &set), "{line}");
        }
        for line in [
            "info string loading eval file : eval/nn.bin",
            "info string network net-12, kernel avx2",
            "info string Threads: 4",
            "info string EvalDirectory not found",
            "info string failed to get large pages, going on without",
            "info depth 1 score cp 0 string error",
            "",
        ] {
            assert!(!is_complaint(line, &set), "{line}");
        }
    }
}
