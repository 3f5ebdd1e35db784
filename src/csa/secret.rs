//! The password: [`Secret`] never shows itself.

use std::fmt;
use std::str::FromStr;

/// A text that neither `{}` nor `{:?}` tells.
#[derive(Clone, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text itself.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// A text without the secret in it.
    pub fn hide_in(&self, text: &str) -> String {
        if self.0.is_empty() { text.into() } else { text.replace(&self.0, "***") }
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
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_not_told() {
        let secret = Secret::from("hunter2".to_string());
        assert_eq!(format!("{secret:?}"), "***");
        assert_eq!(secret.hide_in("LOGIN a floodgate-300-10F,hunter2"), "LOGIN a floodgate-300-10F,***");
        assert_eq!(Secret::default().hide_in("abc"), "abc");
    }
}
