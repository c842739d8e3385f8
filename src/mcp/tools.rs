//! The tools: few, each for a question that people ask, with results that are small and linked.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value as Json, json};

use super::arguments::{ARGUMENT, Argument, Arguments, near, none_of};
use super::ask::Asker;
use super::named::{self, alias};
use super::{delivery, deploys, impact, owners, questions, schema};
use crate::entity::Timestamp;
use crate::error::quoted;

/// A tool, and what runs it.
struct Offered {
    name: &'static str,
    description: &'static str,
    arguments: &'static [Argument],
    writes: bool,
    run: for<'c> fn(&'c Asker, Arguments<'c>) -> BoxFuture<'c, Result<Json, String>>,
}

const SERVICE: Argument = ("service", "string", true, "A service, by its name or an alias");

const TOOLS: [Offered; 12] = [
    Offered {
        name: "find",
        description: "Find services, teams, systems, domains, repositories, infrastructure and people by name, alias or \
             email address; mistyped words are found too. Returns at most 20, best first.",
        arguments: &[("text", "string", true, "What to look for, such as a part of a name")],
        writes: false,
        run: |asker, given| Box::pin(find(asker, given)),
    },
    Offered {
        name: "describe_service",
        description: "Everything important about one service: owner and how to reach them, who is on call, tier and \
             lifecycle, links such as dashboards and runbooks, repositories, dependencies, last deploy, open issues, \
             standards.",
        arguments: &[SERVICE],
        writes: false,
        run: |asker, given| Box::pin(service(asker, given)),
    },
    Offered {
        name: "describe_team",
        description: "A team: its responsibilities, manager, parent and child teams, members, contacts, and up to 100 of \
             its services with tier and last deploy.",
        arguments: &[("team", "string", true, "A team, by its name or an alias")],
        writes: false,
        run: |asker, given| Box::pin(team(asker, given)),
    },
    Offered {
        name: "list_deploys",
        description: "The newest deploys, at most 50, and how many there are: of a service, of a team or of all, by environment, \
             status and time. Shows what, when, by whom, and whether it succeeded, and the present time.",
        arguments: &[
            ("service", "string", false, "Only deploys of this service, by its name or an alias"),
            ("team", "string", false, "Only deploys of the services that this team owns, by its name or an alias"),
            ("environment", "string", false, "Only deploys to this environment, such as production"),
            ("status", "string", false, "Only deploys that succeeded, failed, running, queued, cancelled or none"),
            ("hours", "integer", false, "How far to look back, 1 to 2208; default 24"),
            ("since", "string", false, "Since when, in place of hours: a date or an instant in UTC"),
            ("until", "string", false, "Until when: a date, which counts whole, or an instant in UTC; default now"),
        ],
        writes: false,
        run: |asker, given| Box::pin(deploys::deploys(asker, given)),
    },
    Offered {
        name: "impact",
        description: "What may fail with a service, or with any of the services of a system or a team: the services that \
             depend on it, directly or through others, those inside excluded. At most 50, the nearest first, with tier, \
             owner, who is on call and distance. Begins at 50 services of a group at most.",
        arguments: &impact::ARGUMENTS,
        writes: false,
        run: |asker, given| Box::pin(impact::run(asker, given)),
    },
    Offered {
        name: "what_is_missing",
        description: "The checks that a service does not pass, also of scorecards and campaigns, and what it lacks. Without a \
             service: how many services fail each check, and up to 50 services that have no owner.",
        arguments: &[("service", "string", false, "A service, by its name or an alias")],
        writes: false,
        run: |asker, given| Box::pin(missing(asker, given)),
    },
    Offered {
        name: "delivery",
        description: "How a team, a system, a domain, a service or all of them deliver to production: the last 12 weeks beside \
             the 12 weeks before. Deploy frequency, lead time, failure rate and recovery time, each with its unit and better \
             or worse.",
        arguments: &[
            ("kind", "string", false, "What is named: team, system, domain or service; default team"),
            ("name", "string", false, "Its name or an alias; leave it out for all services"),
        ],
        writes: false,
        run: |asker, given| Box::pin(delivery(asker, given)),
    },
    Offered {
        name: "history",
        description: "The newest 20 changes of a service, a team, a system or a domain and of what belongs to it: who changed \
             what and when, and the id with which the mutation changeRevert takes one back.",
        arguments: &[
            ("name", "string", true, "Its name or an alias"),
            ("kind", "string", false, "What is named: service, team, system or domain; default service"),
        ],
        writes: false,
        run: |asker, given| Box::pin(history(asker, given)),
    },
    Offered {
        name: "who_owns",
        description: "Who owns a repository or a file in it: the services whose code is there, their teams, and who is \
             on call.",
        arguments: &[
            ("repository", "string", true, "The repository: github.com:org/name, or its address as git prints it"),
            ("path", "string", false, "A file or folder in it, such as services/cart/main.go"),
        ],
        writes: false,
        run: |asker, given| Box::pin(owners::owners(asker, given)),
    },
    Offered {
        name: "search_schema",
        description: "Look up the fields and arguments of the GraphQL API, to write a document for query. Returns the \
             types and fields that have to do with the words, as SDL, each with a sentence about it.",
        arguments: &[("words", "string", true, "What to look for, such as deploys environment")],
        writes: false,
        run: |_, given| Box::pin(async move { Ok(Json::String(schema::search(given.required("words", ARGUMENT)?))) }),
    },
    Offered {
        name: "query",
        description: "Run a GraphQL query, for what no other tool answers. Page through lists with first (at most 100) and \
             after; ask only for the fields that you need.",
        arguments: &[
            ("document", "string", true, "The query, such as { account { tiers { name index } } }"),
            ("variables", "object", false, "The variables of the document"),
        ],
        writes: false,
        run: |asker, given| Box::pin(run(asker, given, false)),
    },
    Offered {
        name: "mutate",
        description: "Run a GraphQL mutation. It changes the catalogue, and is in the audit under the token's name. Look at \
             the errors of its payload: they say what was refused.",
        arguments: &[
            ("document", "string", true, "The mutation, with the field errors { message path } in its selection"),
            ("variables", "object", false, "The variables of the document"),
        ],
        writes: true,
        run: |asker, given| Box::pin(run(asker, given, true)),
    },
];

/// The tools of a caller.
pub(super) fn list(writes: bool) -> Vec<Tool> {
    TOOLS.iter().filter(|one| writes || !one.writes).map(Offered::tool).collect()
}

/// Calls a tool. `None` if there is none of this name for this caller.
pub(super) fn call<'c>(
    asker: &'c Asker,
    name: &str,
    arguments: &'c JsonObject,
) -> Option<BoxFuture<'c, Result<String, String>>> {
    let tool = TOOLS.iter().find(|one| one.name == name && (asker.writes() || !one.writes))?;
    Some(Box::pin(async move {
        let given = Arguments::read(tool.name, tool.arguments, arguments)?;
        Ok(match (tool.run)(asker, given).await? {
            Json::String(text) => text,
            found => slim(found).to_string(),
        })
    }))
}

impl Offered {
    fn tool(&self) -> Tool {
        let property = |(name, kind, _, description): &Argument| {
            ((*name).to_owned(), json!({ "type": kind, "description": description }))
        };
        let properties: serde_json::Map<String, Json> = self.arguments.iter().map(property).collect();
        let required: Vec<&str> = self.arguments.iter().filter(|one| one.2).map(|one| one.0).collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        let schema = schema.as_object().cloned().unwrap_or_default();
        Tool::new(self.name, self.description, Arc::new(schema))
            .with_annotations(ToolAnnotations::new().read_only(!self.writes).open_world(false))
    }
}

/// The sentence about a tool that a caller does not have.
pub(super) fn unknown(name: &str, writes: bool) -> String {
    let names: Vec<&str> = TOOLS.iter().filter(|one| writes || !one.writes).map(|one| one.name).collect();
    let near = near(name, names.iter().copied());
    format!("there is no tool {}{near}; the tools are {}", quoted(name), names.join(", "))
}

/// Takes out what says nothing: nulls, empty texts, lists and objects, and the wrapping of lists.
fn slim(value: Json) -> Json {
    match value {
        Json::Object(fields) => match fields.get("nodes") {
            Some(Json::Array(nodes)) => {
                let (shown, total) = (nodes.len() as u64, fields.get("totalCount").and_then(Json::as_u64));
                let nodes: Vec<Json> = nodes.iter().cloned().map(slim).collect();
                match total.filter(|total| *total > shown) {
                    Some(total) => json!({ "of": total, "first": nodes }),
                    None => nodes.into(),
                }
            }
            _ => fields.into_iter().map(|(key, value)| (key, slim(value))).filter(|(_, value)| says(value)).collect(),
        },
        Json::Array(values) => values.into_iter().map(slim).collect(),
        value => value,
    }
}

fn says(value: &Json) -> bool {
    match value {
        Json::Null => false,
        Json::String(text) => !text.is_empty(),
        Json::Array(values) => !values.is_empty(),
        Json::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

async fn find(asker: &Asker, given: Arguments<'_>) -> Result<Json, String> {
    let found = asker.ask(named::FIND, json!({ "term": given.required("text", ARGUMENT)? })).await?;
    let found = found["account"]["search"].as_array().cloned().unwrap_or_default();
    Ok(found.into_iter().take(20).collect())
}

async fn service(asker: &Asker, given: Arguments<'_>) -> Result<Json, String> {
    const DOCUMENT: &str = "query($alias: String!) { account { service(alias: $alias) {
        name alias description htmlUrl language framework product
        owner { name alias htmlUrl contacts { type displayName address } manager { name email } }
        tier { name } lifecycle { name } parent { name } type { name }
        onCalls(first: 5) { nodes { name externalEmail schedule } totalCount }
        contacts { type displayName address }
        tools(first: 20) { nodes { displayName categoryAlias environment url } totalCount }
        repositories(first: 10) { nodes { defaultAlias htmlUrl } totalCount }
        tags(first: 20) { nodes { key value } totalCount }
        dependencies(first: 20) { nodes { name alias } totalCount }
        dependents(first: 20) { nodes { name alias } totalCount }
        lastDeploy { deployedAt environment deployStatus deployNumber deployerName deployerEmail deployUrl }
        lastProductionDeploy {
            deployedAt environment deployStatus deployNumber deployerName deployerEmail deployUrl
        }
        codeIssues(first: 5) { nodes { name severity externalUrl } totalCount }
        maturityReport { overallLevel { name } } checkStats { totalChecks totalPassingChecks }
        otherCheckResults { status message check { name } home { kind name } }
    } } }";
    let alias = alias(asker, "service", given.required("service", ARGUMENT)?).await?;
    let mut found = asker.ask(DOCUMENT, json!({ "alias": alias })).await?["account"]["service"].take();
    if let Some(results) = found["otherCheckResults"].as_array_mut() {
        results.retain(|result| result["status"] != "passed");
    }
    Ok(found)
}

async fn team(asker: &Asker, given: Arguments<'_>) -> Result<Json, String> {
    const DOCUMENT: &str = "query($alias: String!) { account { team(alias: $alias) {
        name alias responsibilities htmlUrl manager { name email } parentTeam { name alias }
        children(first: 50) { nodes { name alias } totalCount }
        contacts { type displayName address }
        members(first: 50) { nodes { name email } totalCount }
        services(first: 100) { nodes { name alias tier { name } onCalls(first: 3) { nodes { name } }
            lastDeploy { deployedAt deployStatus } lastProductionDeploy { deployedAt deployStatus } } totalCount }
    } } }";
    let alias = alias(asker, "team", given.required("team", ARGUMENT)?).await?;
    Ok(asker.ask(DOCUMENT, json!({ "alias": alias })).await?["account"]["team"].take())
}

async fn missing(asker: &Asker, given: Arguments<'_>) -> Result<Json, String> {
    const OF_ALL: &str = "{ account {
        rubric { checks(first: 0) { totalCount } reports { ...Stands } }
        scorecards(first: 20) { nodes { name reports { ...Stands } } totalCount }
        campaigns(first: 20, filter: [{ key: status, arg: \"in_progress\" }]) {
            nodes { name reports { ...Stands } } totalCount
        }
        delayed: campaigns(first: 20, filter: [{ key: status, arg: \"delayed\" }]) {
            nodes { name reports { ...Stands } } totalCount
        }
        services(first: 50, filter: [{ key: owner_id, type: does_not_exist }]) { nodes { name alias htmlUrl } totalCount }
    } } fragment Stands on CheckReport { check { name level { name } } services passed failed pending }";
    let Some(name) = given.text("service", ARGUMENT)? else {
        let found = asker.ask(OF_ALL, json!({})).await?["account"].take();
        let some = |list: &str| found[list]["nodes"].as_array().is_some_and(|nodes| !nodes.is_empty());
        let has_campaigns = some("campaigns") || some("delayed");
        let note = match found["rubric"]["checks"]["totalCount"].as_u64() {
            None | Some(0) if !has_campaigns => Some(questions::NO_CHECKS),
            _ => None,
        };
        return Ok(json!({
            "note": note, "checks": found["rubric"]["reports"], "scorecards": found["scorecards"],
            "campaigns": found["campaigns"], "delayed_campaigns": found["delayed"],
            "services_without_owner": found["services"],
        }));
    };
    let alias = alias(asker, "service", name).await?;
    let mut data = asker.ask(questions::MISSING, json!({ "alias": alias })).await?;
    let note = questions::why_nothing(&data).map(str::to_owned);
    let mut results = questions::take_results(&mut data);
    let concerned = results.len();
    results.retain(|result| result["status"] != "passed");
    let passes = || results.is_empty().then(|| format!("it passes all {concerned} checks that concern it"));
    let note = note.or_else(passes);
    let mut found = data["account"]["service"].take();
    found["note"] = note.into();
    found["checks_not_passed"] = results.into();
    Ok(found)
}

async fn history(asker: &Asker, given: Arguments<'_>) -> Result<Json, String> {
    const KINDS: [&str; 4] = ["service", "team", "system", "domain"];
    let kind = given.text("kind", ARGUMENT)?.unwrap_or("service");
    if !KINDS.contains(&kind) {
        return Err(none_of("kind", kind, &KINDS));
    }
    let alias = alias(asker, kind, given.required("name", ARGUMENT)?).await?;
    let variables = json!({ "kind": kind, "subject": { "alias": alias }, "first": 20 });
    let found = asker.ask(questions::HISTORY, variables).await?["account"]["history"].take();
    Ok(json!({ "now": Timestamp::now().to_string(), "total": found["totalCount"], "changes": found["nodes"] }))
}

async fn delivery(asker: &Asker, given: Arguments<'_>) -> Result<Json, String> {
    let (kind, name) = (given.text("kind", ARGUMENT)?, given.text("name", ARGUMENT)?);
    let mut variables = delivery::variables(Timestamp::now());
    let kind = match (kind, name) {
        (None, None) => None,
        (Some(kind), _) if !delivery::KINDS.contains(&kind) => {
            return Err(none_of("kind", kind, &delivery::KINDS));
        }
        (kind, Some(name)) => {
            let kind = kind.unwrap_or("team");
            variables["alias"] = alias(asker, kind, name).await?.into();
            Some(kind)
        }
        (Some(_), None) => return Err("name is required beside kind".to_owned()),
    };
    let mut account = asker.ask(delivery::document(kind), variables.clone()).await?["account"].take();
    let found = if kind.is_some() { account["found"].take() } else { account };
    let note = delivery::is_empty(&found).then_some("nothing was deployed to production in these 24 weeks");
    Ok(json!({
        "name": found["name"], "htmlUrl": found["htmlUrl"], "note": note, "figures": delivery::figures(&found),
        "periods": { "before": [variables["start"], variables["middle"]], "now": [variables["middle"], variables["end"]] },
    }))
}

async fn run(asker: &Asker, given: Arguments<'_>, writes: bool) -> Result<Json, String> {
    let document = given.required("document", super::LONGEST_REQUEST)?;
    let variables = match given.get("variables") {
        None | Some(Json::Null) => json!({}),
        Some(variables) => variables.clone(),
    };
    // As it is: the agent has chosen its shape.
    asker.run(document, variables, writes).await.map(Json::String)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_is_left_out() {
        let found = json!({
            "name": "Cart", "note": null, "tags": { "nodes": [], "totalCount": 0 }, "owner": { "name": "", "alias": null },
            "links": { "nodes": [{ "url": "https://x" }], "totalCount": 3 }, "locked": false,
        });
        let expected =
            json!({ "name": "Cart", "links": { "of": 3, "first": [{ "url": "https://x" }] }, "locked": false });
        assert_eq!(slim(found), expected);
    }

    #[test]
    fn tools_that_write_are_shown_only_to_those_who_may() {
        let names = |writes| list(writes).iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
        assert!(!names(false).contains(&"mutate".to_owned()) && names(true).contains(&"mutate".to_owned()));
        for tool in list(true) {
            assert_eq!(tool.input_schema["type"], "object");
            assert!(tool.description.is_some_and(|text| text.len() < 300), "{}", tool.name);
        }
    }
}
