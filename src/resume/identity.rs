//! Settings that must be the same when a run continues: [`check`], [`differences`].

use super::error::ResumeError;
use serde::Serialize;
use serde_json::Value as Json;
use std::path::Path;

/// Refuses to continue a run that has begun with other settings; `path` holds them.
///
/// # Errors
/// [`ResumeError::OtherSettings`] names every difference.
pub fn check(path: &Path, before: &impl Serialize, now: &impl Serialize) -> Result<(), ResumeError> {
    let differences = differences(before, now);
    if differences.is_empty() {
        return Ok(());
    }
    Err(ResumeError::OtherSettings { path: path.to_owned(), differences: differences.join("; ") })
}

/// Every difference between two settings: `limits.nodes was 100, now 200`.
pub fn differences(before: &impl Serialize, now: &impl Serialize) -> Vec<String> {
    let [before, now] =
        [serde_json::to_value(before), serde_json::to_value(now)].map(Result::unwrap_or_default);
    let mut found = Vec::new();
    compare(String::new(), &before, &now, &mut found);
    found
}

fn compare(name: String, before: &Json, now: &Json, found: &mut Vec<String>) {
    match (before, now) {
        (Json::Object(x), Json::Object(y)) => {
            let dot = if name.is_empty() { "" } else { "." };
            for key in x.keys().chain(y.keys().filter(|key| !x.contains_key(*key))) {
                let [x, y] = [x, y].map(|side| side.get(key).unwrap_or(&Json::Null));
                compare(format!("{name}{dot}{key}"), x, y, found);
            }
        }
        (Json::Array(x), Json::Array(y)) if x.len() == y.len() => {
            for (i, (x, y)) in x.iter().zip(y).enumerate() {
                compare(format!("{name}[{i}]"), x, y, found);
            }
        }
        _ if before != now => found.push(format!("{name} was {before}, now {now}")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_difference_is_named() {
        let before = json!({"limits": {"nodes": 100, "depth": null}, "engines": [{"name": "a"}, {"name": "b"}], "x": 1});
        let now = json!({"limits": {"nodes": 200, "depth": null}, "engines": [{"name": "a"}, {"name": "c"}], "y": [1]});
        assert!(check(Path::new("run.json"), &before, &before).is_ok());
        let error = check(Path::new("run.json"), &before, &now).unwrap_err().to_string();
        let expected = "run.json was made with other settings (engines[1].name was \"b\", now \"c\"; \
                        limits.nodes was 100, now 200; x was 1, now null; y was null, now [1])";
        assert!(error.starts_with(expected), "{error}");
    }
}
