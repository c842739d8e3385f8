//! What agents and people at a terminal ask alike: the documents of the tools that are commands too.

use serde_json::Value as Json;

/// The fields of a service that a failure reaches, as a selection.
macro_rules! reached {
    () => {
        "name alias htmlUrl tier { name } owner { name } onCalls(first: 3) { nodes { name } }"
    };
}

pub(crate) use reached;

/// What depends on a service, the nearest first. Takes `$alias`, `$first` and `$after`.
pub const IMPACT: &str = concat!(
    "query($alias: String!, $first: Int, $after: String) { account { service(alias: $alias) {
    impact(first: $first, after: $after) {
        edges { distance node { ",
    reached!(),
    " } } totalCount isComplete pageInfo { hasNextPage endCursor }
    } } } }"
);

/// Whether a deploy names an environment. Takes `$name`.
pub const ENVIRONMENT: &str = "query($name: String!) { account {
    deploys(first: 1, environments: [$name]) { nodes { environment } } } }";

/// What the checks say of a service. Takes `$alias`.
pub const MISSING: &str = "query($alias: String!) { account { rubric { checks(first: 0) { totalCount } }
    service(alias: $alias) { name htmlUrl owner { name } maturityReport { overallLevel { name }
        latestCheckResults { status message check { name level { name } enableOn rawNotes } } } } } }";

/// Why nothing is known to be missing, where that does not mean that all is well. Takes the data of [`MISSING`].
pub fn why_nothing(data: &Json) -> Option<&'static str> {
    let account = &data["account"];
    let report = &account["service"]["maturityReport"];
    match account["rubric"]["checks"]["totalCount"].as_u64() {
        None | Some(0) => Some(NO_CHECKS),
        Some(_) if report.is_null() => {
            Some("no check counts yet, so nothing says what a service lacks: enable the checks that are there")
        }
        Some(_) => match report["latestCheckResults"].as_array() {
            Some(results) if !results.is_empty() => None,
            _ => Some("no check that counts concerns this service, so nothing says what it lacks"),
        },
    }
}

/// What is said of a catalogue without checks.
pub const NO_CHECKS: &str = "there are no checks yet, so nothing says what a service lacks; the starter set has ten \
     (rollcall standards starter)";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_checks_are_not_taken_for_all_is_well() {
        let why = |checks: u64, report: Json| {
            why_nothing(&json!({ "account": {
                "rubric": { "checks": { "totalCount": checks } }, "service": { "maturityReport": report },
            } }))
        };
        assert_eq!(why(0, Json::Null), Some(NO_CHECKS));
        assert!(why(1, Json::Null).is_some_and(|why| why.starts_with("no check counts yet")));
        let none = why(1, json!({ "latestCheckResults": [] }));
        assert!(none.is_some_and(|why| why.starts_with("no check that counts concerns")));
        assert_eq!(why(1, json!({ "latestCheckResults": [{ "status": "passed" }] })), None);
    }
}
