//! The tool `list_deploys`.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::arguments::{ARGUMENT, Arguments, near, none_of};
use super::ask::Asker;
use super::named::alias;
use super::questions;
use crate::entity::Timestamp;
use crate::error::quoted;

/// The most hours that the tool looks back: a quarter.
const HOURS: i64 = 24 * 92;

/// The statuses: the word that agents give, and that of the API.
const STATUSES: [(&str, &str); 6] = [
    ("succeeded", "success"),
    ("failed", "failure"),
    ("running", "running"),
    ("queued", "queued"),
    ("cancelled", "canceled"),
    ("none", "no_status"),
];

const DOCUMENT: &str = "query($start: ISO8601DateTime, $end: ISO8601DateTime, $environments: [String!],
    $service: ServiceReference, $statuses: [DeployStatusEnum!], $owner: IdentifierInput) {
    account { deploys(first: 50, start: $start, end: $end, environments: $environments, serviceId: $service,
        statuses: $statuses, owner: $owner) { nodes {
        deployedAt serviceAlias service { name } environment deployStatus deployNumber deployerName deployerEmail
        description commitSha deployUrl
    } totalCount } } }";

/// The environments of the newest deploys.
const ENVIRONMENTS: &str = "{ account { deploys(first: 100) { nodes { environment } } } }";

/// The most environments that a refusal lists.
const NAMES: usize = 20;

pub(super) async fn deploys(asker: &Asker, given: Arguments<'_>) -> Result<Json, String> {
    let now = Timestamp::now();
    let (start, end) = period(given, now)?;
    let statuses = status(given)?.map(|status| [status]);
    let service = match given.text("service", ARGUMENT)? {
        Some(name) => Some(alias(asker, "service", name).await?),
        None => None,
    };
    let owner = match given.text("team", ARGUMENT)? {
        Some(name) => Some(json!({ "alias": alias(asker, "team", name).await? })),
        None => None,
    };
    let environment = given.text("environment", ARGUMENT)?;
    let environments = environment.map(|one| [one]);
    let (start, end) = (start.to_string(), end.map(|end| end.to_string()));
    let variables = json!({
        "start": start, "end": end, "environments": environments, "service": service, "statuses": statuses,
        "owner": owner,
    });
    let mut found = asker.ask(DOCUMENT, variables).await?["account"]["deploys"].take();
    let total = found["totalCount"].take();
    if let Some(name) = environment
        && total == 0
    {
        let named = asker.ask(questions::ENVIRONMENT, json!({ "name": name })).await?;
        if named["account"]["deploys"]["nodes"].as_array().is_none_or(Vec::is_empty) {
            let newest = asker.ask(ENVIRONMENTS, json!({})).await?["account"]["deploys"]["nodes"].take();
            return Err(unknown_environment(name, newest.as_array().map_or(&[][..], Vec::as_slice)));
        }
    }
    let shown = found["nodes"].as_array().map_or(0, Vec::len);
    let note = (total.as_u64() > Some(shown as u64)).then(|| format!("the newest {shown}; ask for less with until"));
    Ok(json!({
        "now": now.to_string(), "since": start, "until": end, "total": total, "note": note, "deploys": found["nodes"],
    }))
}

/// Says that no deploy names an environment, which ones the newest deploys name, and which of them is nearest.
fn unknown_environment(name: &str, newest: &[Json]) -> String {
    let known: BTreeSet<&str> = newest.iter().filter_map(|deploy| deploy["environment"].as_str()).collect();
    let known: Vec<&str> = known.into_iter().filter(|name| !name.is_empty()).collect();
    let near = near(name, known.iter().copied());
    match known.is_empty() {
        true => format!("no deploy names the environment {}, and none of the newest names another", quoted(name)),
        false => format!(
            "no deploy names the environment {}; the newest name {}{near}",
            quoted(name),
            known[..known.len().min(NAMES)].join(", ")
        ),
    }
}

/// The status that is asked for, as a word of the API.
fn status(given: Arguments<'_>) -> Result<Option<&'static str>, String> {
    let Some(word) = given.text("status", ARGUMENT)? else { return Ok(None) };
    let known = STATUSES.iter().find(|(own, of_api)| word.eq_ignore_ascii_case(own) || word == *of_api);
    let words: Vec<&str> = STATUSES.iter().map(|(own, _)| *own).collect();
    match known {
        Some((_, of_api)) => Ok(Some(of_api)),
        None => Err(none_of("status", word, &words)),
    }
}

/// When the deploys begin and end that are asked for.
fn period(given: Arguments<'_>, now: Timestamp) -> Result<(Timestamp, Option<Timestamp>), String> {
    const HOUR: i64 = 3_600_000_000;
    let hours = match given.get("hours") {
        None | Some(Json::Null) => None,
        Some(hours) => {
            let within = hours.as_i64().filter(|hours| (1..=HOURS).contains(hours));
            Some(within.ok_or_else(|| format!("hours must be 1 to {HOURS}, not {hours}"))?)
        }
    };
    let since = moment(given, "since", 0)?;
    let until = moment(given, "until", 24 * HOUR)?;
    if hours.is_some() && since.is_some() {
        return Err("give hours or since, not both".to_owned());
    }
    let back = hours.unwrap_or(24) * HOUR;
    let start = since.unwrap_or_else(|| Timestamp::from_micros(until.unwrap_or(now).as_micros().saturating_sub(back)));
    match until {
        Some(until) if until <= start => Err("until must be after since".to_owned()),
        until => Ok((start, until)),
    }
}

/// The moment in an argument. Of a date, it is the beginning of the day in UTC, and `later`.
fn moment(given: Arguments<'_>, name: &str, later: i64) -> Result<Option<Timestamp>, String> {
    let Some(text) = given.text(name, ARGUMENT)? else { return Ok(None) };
    if let Ok(day) = Timestamp::at_start_of(text) {
        return Ok(Some(Timestamp::from_micros(day.as_micros().saturating_add(later))));
    }
    let form = "such as 2026-11-28, or an instant such as 2026-11-28T20:00:00Z";
    Timestamp::parse(text).map(Some).map_err(|_| format!("{name} must be a date {form}, not {}", quoted(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_environment_is_answered_with_those_of_the_newest_deploys() {
        let deploys = ["production", "staging", "", "production"].map(|name| json!({ "environment": name }));
        let said =
            "no deploy names the environment \"stagging\"; the newest name production, staging; the nearest is staging";
        assert_eq!(unknown_environment("stagging", &deploys), said);
        let said = "no deploy names the environment \"prod\", and none of the newest names another";
        assert_eq!(unknown_environment("prod", &[]), said);
    }
}
