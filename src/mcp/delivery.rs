//! How services are delivered, for agents and for people at a terminal: 12 weeks beside the 12 weeks before, with units.

use serde_json::{Value as Json, json};

use crate::deploy::delivery::WEEKS;
use crate::entity::Timestamp;

/// The metrics of both periods, as a selection.
macro_rules! metrics {
    () => {
        "now: deployMetrics(start: $middle, end: $end) { ...Figures }
        before: deployMetrics(start: $start, end: $middle) { ...Figures }"
    };
}

/// A document about a field of the account.
macro_rules! document {
    ($variables:literal, $begin:literal, $end:literal) => {
        concat!(
            "query(",
            $variables,
            "$start: ISO8601DateTime!, $middle: ISO8601DateTime!, $end: ISO8601DateTime!) { account { ",
            $begin,
            metrics!(),
            $end,
            " } } fragment Figures on DeployMetrics { deployCount succeededCount failedCount changeFailureRate
                changeLeadTime { median } failedDeploymentRecoveryTime { median } }"
        )
    };
}

/// The kinds that are delivered.
pub const KINDS: [&str; 4] = ["team", "system", "domain", "service"];

/// The document about a kind, which takes `$alias`, or about all services. What it finds is the account's `found`, or the
/// account.
pub fn document(kind: Option<&str>) -> &'static str {
    match kind {
        Some("team") => document!("$alias: String!, ", "found: team(alias: $alias) { name alias htmlUrl ", " }"),
        Some("system") => {
            document!("$alias: String!, ", "found: system(input: { alias: $alias }) { name htmlUrl ", " }")
        }
        Some("domain") => {
            document!("$alias: String!, ", "found: domain(input: { alias: $alias }) { name htmlUrl ", " }")
        }
        Some(_) => document!("$alias: String!, ", "found: service(alias: $alias) { name alias htmlUrl ", " }"),
        None => document!("", "", ""),
    }
}

/// The variables of the document: the periods end now.
pub fn variables(now: Timestamp) -> Json {
    const WEEK: i64 = 7 * 86_400_000_000;
    let ago = |weeks: usize| Timestamp::from_micros(now.as_micros() - weeks as i64 * WEEK).to_string();
    json!({ "start": ago(2 * WEEKS), "middle": ago(WEEKS), "end": now.to_string() })
}

/// The figures of a node with `now` and `before`: a row for each, with its unit and whether it has become better.
pub fn figures(node: &Json) -> Vec<Json> {
    let row = |figure: &str, unit: &str, is_more_better: bool, value: &dyn Fn(&Json) -> Option<f64>| {
        let of = |period: &str| value(&node[period]).map(|value| (value * 10.0).round() / 10.0);
        let (now, before) = (of("now"), of("before"));
        let change = match (now, before) {
            (Some(now), Some(before)) if now == before => Some("same"),
            (Some(now), Some(before)) if (now > before) == is_more_better => Some("better"),
            (Some(_), Some(_)) => Some("worse"),
            _ => None,
        };
        json!({ "figure": figure, "now": now, "before": before, "unit": unit, "change": change })
    };
    let seconds = |metrics: &Json, field: &str| metrics[field]["median"].as_f64();
    vec![
        row("deploy frequency", "deploys a week", true, &|metrics| {
            Some(metrics["deployCount"].as_f64()? / WEEKS as f64)
        }),
        row("change lead time", "hours from commit to deploy, median", false, &|metrics| {
            Some(seconds(metrics, "changeLeadTime")? / 3_600.0)
        }),
        row("change failure rate", "percent of deploys that failed", false, &|metrics| {
            Some(metrics["changeFailureRate"].as_f64()? * 100.0)
        }),
        row("recovery time", "minutes from failure to success, median", false, &|metrics| {
            Some(seconds(metrics, "failedDeploymentRecoveryTime")? / 60.0)
        }),
    ]
}

/// Whether nothing was deployed in either period.
pub fn is_empty(node: &Json) -> bool {
    ["now", "before"].iter().all(|period| {
        let number = |field: &str| node[*period][field].as_i64().unwrap_or_default();
        number("deployCount") + number("failedCount") == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_its_unit_and_says_whether_it_has_become_better() {
        let period = |deploys: i64, rate: Json, lead: Json, recovery: Json| {
            json!({ "deployCount": deploys, "failedCount": 1, "changeFailureRate": rate,
                "changeLeadTime": lead, "failedDeploymentRecoveryTime": recovery })
        };
        let node = json!({
            "now": period(24, json!(0.04), json!({ "median": 72_000 }), json!({ "median": 3_600 })),
            "before": period(12, json!(0.111), json!({ "median": 72_000 }), Json::Null),
        });
        let told: Vec<Json> =
            figures(&node).iter().map(|row| json!([row["now"], row["before"], row["change"]])).collect();
        assert_eq!(
            told,
            [
                json!([2.0, 1.0, "better"]),
                json!([20.0, 20.0, "same"]),
                json!([4.0, 11.1, "better"]),
                json!([60.0, null, null]),
            ]
        );
        assert!(!is_empty(&node) && is_empty(&json!({ "now": { "deployCount": 0 }, "before": {} })));
    }
}
