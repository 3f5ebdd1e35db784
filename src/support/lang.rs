//! The language of messages: [`Lang`].

use std::str::FromStr;
use std::sync::OnceLock;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lang {
    /// Japanese.
    Ja,
    /// English.
    En,
}

impl FromStr for Lang {
    type Err = String;

    fn from_str(text: &str) -> Result<Lang, String> {
        match text {
            "ja" => Ok(Lang::Ja),
            "en" => Ok(Lang::En),
            _ => Err(format!("`{text}` is neither ja nor en")),
        }
    }
}

static OF_PROCESS: OnceLock<Lang> = OnceLock::new();

impl Lang {
    /// The language of the user's locale: of `LC_ALL`, `LC_MESSAGES` or `LANG`, and on Windows, where these
    /// are seldom set, of the system.
    pub fn of_locale() -> Lang {
        let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set);
        #[cfg(windows)]
        let locale = locale.or_else(sys_locale::get_locale);
        if locale.is_some_and(|l| l.starts_with("ja")) { Lang::Ja } else { Lang::En }
    }

    /// The language in which this process writes messages: English, until [`Lang::choose`] is called.
    pub fn of_process() -> Lang {
        OF_PROCESS.get().copied().unwrap_or(Lang::En)
    }

    /// Makes this the language of the process. Only the first call has an effect.
    pub fn choose(self) {
        OF_PROCESS.get_or_init(|| self);
    }

    /// The tag of HTML's `lang`.
    pub fn code(self) -> &'static str {
        self.pick("ja", "en")
    }

    /// The one of two texts that is in this language.
    pub fn pick<T>(self, ja: T, en: T) -> T {
        match self {
            Lang::Ja => ja,
            Lang::En => en,
        }
    }
}
