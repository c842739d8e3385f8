//! What agents and people at a terminal ask alike: the documents of the tools that are commands too.

use serde_json::Value as Json;

use crate::entity::repository;
use crate::service_file::Origin;

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

/// The alias of the repository with this address, as git prints it. `None` if it is no address.
pub fn repository_alias(address: &str) -> Option<String> {
    let origin = Origin::new(Some(address), None).ok()?;
    repository::alias_of(&origin.repository?)
}

/// What was changed of a noun, newest first. Takes `$kind`, `$subject`, `$start`, `$first` and `$after`.
pub const HISTORY: &str = "query($kind: HistorySubjectEnum!, $subject: IdentifierInput!, $start: ISO8601DateTime,
    $first: Int, $after: String) { account { history(kind: $kind, subject: $subject, start: $start, first: $first,
        after: $after) {
        nodes { id at actor action summary subjectType subjectName details reverts notRevertible }
        totalCount pageInfo { hasNextPage endCursor }
    } } }";

/// What a check says of a service, as a selection.
macro_rules! result {
    () => {
        "{ status message check { name level { name } enableOn rawNotes } home { kind name } }"
    };
}

/// What the checks say of a service. Takes `$alias`.
pub const MISSING: &str = concat!(
    "query($alias: String!) { account { rubric { checks(first: 0) { totalCount } }
    service(alias: $alias) { name htmlUrl owner { name } maturityReport { overallLevel { name }
        latestCheckResults ",
    result!(),
    " } otherCheckResults ",
    result!(),
    " } } }"
);

/// Why nothing is known to be missing, where that does not mean that all is well. Takes the data of [`MISSING`].
pub fn why_nothing(data: &Json) -> Option<&'static str> {
    let account = &data["account"];
    let report = &account["service"]["maturityReport"];
    if account["service"]["otherCheckResults"].as_array().is_some_and(|results| !results.is_empty()) {
        return None;
    }
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

/// Takes the results of a service out of the data of [`MISSING`]: those that count towards its level, then those of
/// scorecards and campaigns that do not.
pub fn take_results(data: &mut Json) -> Vec<Json> {
    let service = &mut data["account"]["service"];
    let mut all = Vec::new();
    for place in ["/maturityReport/latestCheckResults", "/otherCheckResults"] {
        if let Some(Json::Array(results)) = service.pointer_mut(place).map(Json::take) {
            all.extend(results);
        }
    }
    all
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
        let of_campaign = json!({ "account": { "rubric": { "checks": { "totalCount": 0 } }, "service": {
            "maturityReport": null, "otherCheckResults": [{ "status": "failed" }],
        } } });
        assert_eq!(why_nothing(&of_campaign), None);
        assert_eq!(take_results(&mut of_campaign.clone()), [json!({ "status": "failed" })]);
    }
}
