//! The password as a type that is never printed: [`Secret`].

use std::fmt;
use std::str::FromStr;

/// What stands in its place.
const MASK: &str = "***";
/// Shorter passwords occur by chance in moves and names, so only the login's line is searched for them.
const LEAST_TELLING: usize = 4;

/// A text without `Display`; `Debug` prints a mask.
#[derive(Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without the secret in it. The secret counts where it stands as a word, not within a longer one; of a
    /// `LOGIN` line, only the words behind the name are searched.
    pub fn hide_in(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.into();
        }
        let login = text.strip_prefix("LOGIN ").and_then(|rest| rest.find(' '));
        match login {
            Some(name) => {
                let (before, after) = text.split_at("LOGIN ".len() + name);
                format!("{before}{}", self.hide_words(after))
            }
            None if self.0.chars().count() < LEAST_TELLING => text.into(),
            None => self.hide_words(text),
        }
    }

    /// The same for what a server answered to a login, however short the secret is.
    pub fn hide_everywhere(&self, text: &str) -> String {
        if self.0.is_empty() { text.into() } else { text.replace(&self.0, MASK) }
    }

    fn hide_words(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(&self.0) {
            let (before, after) = (&rest[..at], &rest[at + self.0.len()..]);
            let inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            let begins_inside = inside(before.chars().next_back().or(out.chars().next_back()))
                && inside(self.0.chars().next());
            let ends_inside = inside(self.0.chars().next_back()) && inside(after.chars().next());
            out += before;
            out += if begins_inside || ends_inside { &self.0 } else { MASK };
            rest = after;
        }
        out + rest
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Secret {
        Secret(text)
    }
}

impl FromStr for Secret {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Secret, Self::Err> {
        Ok(Secret(text.into()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_printed() {
        let secret = Secret::from("hunter2".to_string());
        assert_eq!(format!("{secret:?}"), "***");
        assert_eq!(secret.hide_in("LOGIN a floodgate-300-10F,hunter2"), "LOGIN a floodgate-300-10F,***");
        assert_eq!(secret.hide_in("wrong password `hunter2`"), "wrong password `***`");
        assert_eq!(secret.hide_everywhere("xhunter2x"), "x***x");
        assert_eq!(Secret::default().hide_in("abc"), "abc");
        let odd = Secret::from("*+?".to_string());
        assert_eq!(odd.hide_in("LOGIN a g,*+?"), "LOGIN a g,***");
    }

    #[test]
    fn a_short_password_hides_nothing_but_itself() {
        let letter = Secret::from("a".to_string());
        assert_eq!(letter.hide_in("LOGIN a game-300-10F,a"), "LOGIN a game-300-10F,***");
        assert_eq!(letter.hide_in("LOGIN alice a"), "LOGIN alice ***");
        assert_eq!(letter.hide_in("LOGIN alice a reconnect:x+a+b"), "LOGIN alice *** reconnect:x+***+b");
        for text in ["START:wdoor+floodgate-300-10F+a+b+1", "Name+:a", "logged in, waiting for a game"] {
            assert_eq!(letter.hide_in(text), text);
        }
        let digits = Secret::from("2726".to_string());
        assert_eq!(digits.hide_in("+2726FU,T1"), "+2726FU,T1");
    }
}
