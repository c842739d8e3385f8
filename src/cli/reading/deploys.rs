//! `rollcall deploys`.

use serde_json::{Value as Json, json};

use super::output::{Column, print_rows};
use super::show::find_of;
use super::{MOST, known, nodes, server};
use crate::cli::console::say;
use crate::cli::remote::Server;
use crate::config::{Deploys, Outcome, Shown};

const DEPLOYS: &str = "query($first: Int, $after: String, $start: ISO8601DateTime, $end: ISO8601DateTime,
        $environments: [String!], $service: ServiceReference, $statuses: [DeployStatusEnum!], $owner: IdentifierInput) {
    account { deploys(first: $first, after: $after, start: $start, end: $end, environments: $environments,
        serviceId: $service, statuses: $statuses, owner: $owner) { nodes {
        deployedAt serviceAlias service { name } environment deployStatus deployNumber deployerName deployerEmail
        commitSha description deployUrl
    } pageInfo { hasNextPage endCursor } } } }";

/// How many there are. Asked for only if some are left out.
const COUNT: &str = "query($start: ISO8601DateTime, $end: ISO8601DateTime, $environments: [String!],
        $service: ServiceReference, $statuses: [DeployStatusEnum!], $owner: IdentifierInput) {
    account { deploys(first: 0, start: $start, end: $end, environments: $environments, serviceId: $service,
        statuses: $statuses, owner: $owner) { totalCount } } }";

const COLUMNS: [Column; 8] = [
    ("deployed at", "/deployedAt"),
    ("service", "/serviceAlias"),
    ("environment", "/environment"),
    ("status", "/deployStatus"),
    ("number", "/deployNumber"),
    ("by", "/deployerName"),
    ("email", "/deployerEmail"),
    ("description", "/description"),
];

pub(super) fn run(settings: &Deploys) -> Result<(), String> {
    let Deploys { service, environment, status, team, since, until, limit, asking } = settings;
    let server = server(&asking.remote, asking.deadline)?;
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        return Err("--since must be before --until".to_owned());
    }
    let of = |kind: Shown, name: &Option<String>| match name {
        Some(name) => Ok::<_, String>(find_of(&server, kind, name)?["alias"].take()),
        None => Ok(Json::Null),
    };
    let (service, team) = (of(Shown::Service, service)?, of(Shown::Team, team)?);
    let owner = if team.is_null() { Json::Null } else { json!({ "alias": team }) };
    environment.iter().try_for_each(|name| known::environment(&server, name))?;
    let statuses: Vec<&str> = status.iter().map(|status| word(*status)).collect();
    let moment = |moment: &Option<_>| moment.as_ref().map(ToString::to_string);
    let variables = json!({
        "start": moment(since), "end": moment(until), "environments": environment, "service": service,
        "statuses": statuses, "owner": owner,
    });
    let (nodes, has_more) = nodes(&server, DEPLOYS, variables.clone(), "/account/deploys", *limit)?;
    if nodes.is_empty() && *limit > 0 {
        say("no deploy fits");
    }
    print_rows(asking.output, &COLUMNS, &nodes)?;
    if has_more {
        tell_of_all(&server, &variables, nodes.len())?;
    }
    Ok(())
}

/// Says how many there are beside those that are shown.
fn tell_of_all(server: &Server, variables: &Json, shown: usize) -> Result<(), String> {
    let said = server.ask(COUNT, variables)?;
    let total = said["account"]["deploys"]["totalCount"].as_u64().unwrap_or_default();
    let more = if shown < MOST { "; --limit shows more" } else { ", which is the most" };
    say(&format!("the first {shown} of {total}{more}"));
    Ok(())
}

/// The word of the API.
fn word(status: Outcome) -> &'static str {
    match status {
        Outcome::Succeeded => "success",
        Outcome::Failed => "failure",
        Outcome::Running => "running",
        Outcome::Queued => "queued",
        Outcome::Cancelled => "canceled",
        Outcome::None => "no_status",
    }
}
