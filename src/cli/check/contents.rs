//! How a check compares the contents of a file, or a version.

use regex::Regex;
use serde_json::Value as Json;

use crate::entity::text;
use crate::graphql::filter::predicate::regex;

/// A comparison.
pub(super) struct Comparison {
    /// Whether it asks that something is not so.
    pub(super) is_negative: bool,
    test: Test,
    /// What it compares with.
    value: String,
}

/// What must be so, or must not.
enum Test {
    Exists,
    Equals,
    Contains,
    StartsWith,
    EndsWith,
    Fits(Regex),
    IsIn(semver::VersionReq),
}

impl Comparison {
    /// Reads a comparison as the API answers it. `None` for null.
    ///
    /// # Errors
    /// This program does not know it.
    pub(super) fn from_json(given: &Json) -> Result<Option<Self>, String> {
        let Some(word) = given["type"].as_str() else { return Ok(None) };
        let value = given["value"].as_str().unwrap_or_default().to_owned();
        let unknown = || format!("this program does not know the comparison {word}: update it");
        let test = match word.trim_start_matches("does_not_") {
            "exists" | "exist" => Test::Exists,
            "equals" | "equal" | "belongs_to" => Test::Equals,
            "contains" | "contain" => Test::Contains,
            "starts_with" => Test::StartsWith,
            "ends_with" => Test::EndsWith,
            "matches_regex" | "match_regex" => Test::Fits(regex(&value, true).map_err(|error| error.to_string())?),
            "satisfies_version_constraint" => {
                Test::IsIn(semver::VersionReq::parse(&value).map_err(|error| error.to_string())?)
            }
            _ => return Err(unknown()),
        };
        Ok(Some(Self { is_negative: word.starts_with("does_not_"), test, value }))
    }

    /// Whether it asks only whether something is there.
    pub(super) fn is_of_existence(&self) -> bool {
        matches!(self.test, Test::Exists)
    }

    /// Where in a text is what must be there, or must not: a byte. `None` if it is nowhere.
    pub(super) fn find(&self, text: &str) -> Option<usize> {
        // Most files end with a line break that nobody means.
        let whole = text.trim_end_matches(['\n', '\r']);
        let at_start = |is_so: bool| is_so.then_some(0);
        match &self.test {
            Test::Exists => Some(0),
            Test::Equals => at_start(text == self.value || whole == self.value),
            Test::Contains => text.find(&self.value),
            Test::StartsWith => at_start(text.starts_with(&self.value)),
            Test::EndsWith if text.ends_with(&self.value) => Some(text.len() - self.value.len()),
            Test::EndsWith => whole.ends_with(&self.value).then(|| whole.len() - self.value.len()),
            Test::Fits(regex) => regex.find(text).map(|found| found.start()),
            Test::IsIn(range) => at_start(version(text).is_some_and(|version| range.matches(&version))),
        }
    }
}

/// Reads a version. Of Go, Ruby and Python there are versions with fewer or more than three numbers: the first three
/// count, and those that lack are 0.
fn version(given: &str) -> Option<semver::Version> {
    let given = text::trim(given).trim_start_matches('v');
    if let Ok(version) = semver::Version::parse(given) {
        return Some(version);
    }
    let numbers: Vec<u64> = given.split('.').map_while(|part| part.parse().ok()).chain([0, 0]).take(3).collect();
    let has_number = given.starts_with(|first: char| first.is_ascii_digit());
    match *numbers {
        [major, minor, patch] if has_number => Some(semver::Version::new(major, minor, patch)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_comparison_finds_what_must_be_or_must_not() {
        for (kind, value, text, expected) in [
            ("contains", "b", "ab\nb", Some(1)),
            ("does_not_contain", "b", "ab", Some(1)),
            ("equals", "ab", "ab\n", Some(0)),
            ("does_not_equal", "ab", "abc", None),
            ("starts_with", "a", "ab", Some(0)),
            ("ends_with", "b", "ab\r\n", Some(1)),
            ("matches_regex", "(?m)^b$", "a\nb\n", Some(2)),
            ("does_not_match_regex", "c", "ab", None),
            ("exists", "", "", Some(0)),
            ("satisfies_version_constraint", ">=1.2, <2", "v1.2.3", Some(0)),
            ("satisfies_version_constraint", ">=1.2", "1.2", Some(0)),
            ("satisfies_version_constraint", ">=1.2", "7.1.3.2", Some(0)),
            ("satisfies_version_constraint", ">=1.2", "1.1.9", None),
            ("satisfies_version_constraint", ">=1.2", "latest", None),
        ] {
            let comparison =
                Comparison::from_json(&json!({ "type": kind, "value": value })).expect("known").expect("one");
            assert_eq!(comparison.find(text), expected, "{kind} {value} {text}");
            assert_eq!(comparison.is_negative, kind.starts_with("does_not"));
        }
        assert!(Comparison::from_json(&json!({ "type": "glows" })).is_err());
        assert!(Comparison::from_json(&Json::Null).expect("known").is_none());
    }
}
