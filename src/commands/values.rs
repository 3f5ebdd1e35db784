//! Parsers of arguments: durations, shares, memory sizes.

use jiff::{Span, SpanRelativeTo};
use std::time::Duration;

/// Parses a duration: seconds, or numbers with jiff's units (`45s`, `55m`, `1h30m`, `2 days`). A day has 24
/// hours.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let bad = || format!("`{text}` is not a duration; examples are 90, 45s, 55m and 1h30m");
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|_| bad());
    }
    let span: Span = text.parse().map_err(|_| bad())?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|_| bad())?;
    Duration::try_from(duration).map_err(|_| bad())
}

/// Reads a number from 0 to 1.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|x| (0.0..=1.0).contains(x));
    share.ok_or_else(|| format!("`{text}` is not a number from 0 to 1"))
}

/// Reads a number of MiB, as bytes.
pub fn parse_mebibytes(text: &str) -> Result<usize, String> {
    let bytes = text.parse().ok().filter(|&n| n > 0).and_then(|n: usize| n.checked_mul(1 << 20));
    bytes.ok_or_else(|| format!("`{text}` is not a number of MiB from 1 to {}", usize::MAX >> 20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory() {
        assert_eq!(parse_mebibytes("3"), Ok(3 << 20));
        let most = usize::MAX >> 20;
        assert_eq!(parse_mebibytes(&most.to_string()), Ok(most << 20));
        for text in ["", "0", "-1", "1.5", "1G", "17592186044416"] {
            assert!(parse_mebibytes(text).unwrap_err().contains(&format!("`{text}`")));
        }
    }

    #[test]
    fn shares() {
        for (text, share) in [("0", 0.0), ("0.25", 0.25), ("1", 1.0)] {
            assert_eq!(parse_share(text), Ok(share));
        }
        for text in ["", "-0.1", "1.01", "half", "NaN"] {
            assert!(parse_share(text).unwrap_err().contains(&format!("`{text}`")));
        }
    }

    #[test]
    fn durations() {
        for (text, seconds) in
            [("90", 90.0), ("0.5", 0.5), ("45s", 45.0), ("55m", 3300.0), ("1h30m", 5400.0), ("2d", 172800.0)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for text in ["", "m", "5x", "1.2.3", "-4", "-4s", "h1", "inf", "NaN", "3 years"] {
            let error = parse_duration(text).unwrap_err();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }
}
