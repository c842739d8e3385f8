//! `rollcall show` and `rollcall open`.

use serde_json::{Value as Json, json};

use super::output::{bold, has_styles, print_rows, shown, text};
use super::search::found;
use super::server;
use crate::cli::console::print;
use crate::cli::remote::Server;
use crate::config::{Named, Output, Shown};
use crate::entity::text::one_line;

/// How a kind is asked for, and what is printed of it.
pub(super) struct NounView {
    pub(super) word: &'static str,
    /// Takes `$name`. What it finds is the account's `found`.
    document: &'static str,
    /// Labels and values. A value that is a list has a line for each of its elements.
    lines: &'static [Line],
}

impl NounView {
    fn is(&self, other: &Self) -> bool {
        self.word == other.word
    }

    /// The kind in a sentence about one.
    pub(super) fn with_article(&self) -> String {
        match self.word {
            "infrastructure" => "an infrastructure resource".to_owned(),
            word => format!("a {word}"),
        }
    }
}

/// A label, where the value is, and how it is written: each `{…}` is a JSON pointer into the value, and `{}` the value.
type Line = (&'static str, &'static str, &'static str);

/// A deploy in a line.
const DEPLOY: &str = "{/deployedAt} {/environment} {/deployStatus} {/deployNumber} {/deployerName}";

const SERVICE: NounView = NounView {
    word: "service",
    document: "query($name: String!) { account { found: service(alias: $name) {
        name alias description htmlUrl owner { name alias } tier { name } lifecycle { name } parent { name }
        type { name } language framework product locked serviceFile { path repository }
        contacts { type displayName address }
        onCalls(first: 5) { nodes { name externalEmail schedule } totalCount }
        tools(first: 20) { nodes { displayName categoryAlias environment url } totalCount }
        repositories(first: 10) { nodes { defaultAlias } totalCount }
        tags(first: 20) { nodes { key value } totalCount }
        dependencies(first: 20) { nodes { name } totalCount }
        dependents(first: 20) { nodes { name } totalCount }
        lastDeploy { deployedAt environment deployStatus deployNumber deployerName deployerEmail }
        lastProductionDeploy { deployedAt environment deployStatus deployNumber deployerName deployerEmail }
        maturityReport { overallLevel { name } } checkStats { totalChecks totalPassingChecks }
        otherCheckResults { status check { name } home { kind name } }
        codeIssues { totalCount }
        configErrors { message }
    } } }",
    lines: &[
        ("description", "/description", "{}"),
        ("owner", "/owner", "{/name} ({/alias})"),
        ("tier", "/tier", "{/name}"),
        ("lifecycle", "/lifecycle", "{/name}"),
        ("level", "/maturityReport/overallLevel", "{/name}"),
        ("checks", "/checkStats", "passes {/totalPassingChecks} of {/totalChecks}"),
        ("fails", "/failing", "{/check/name}, of the {/home/kind} {/home/name}"),
        ("system", "/parent", "{/name}"),
        ("type", "/type", "{/name}"),
        ("language", "/language", "{}"),
        ("framework", "/framework", "{}"),
        ("product", "/product", "{}"),
        ("on call", "/onCalls/nodes", "{/name} {/externalEmail} {/schedule}"),
        ("contact", "/contacts", "{/type} {/displayName} {/address}"),
        ("link", "/tools/nodes", "{/displayName} ({/categoryAlias}) {/environment} {/url}"),
        ("repository", "/repositories/nodes", "{/defaultAlias}"),
        ("depends on", "/dependencies/nodes", "{/name}"),
        ("used by", "/dependents/nodes", "{/name}"),
        ("tag", "/tags/nodes", "{/key}:{/value}"),
        ("last deploy", "/lastDeploy", DEPLOY),
        ("in production", "/lastProductionDeploy", DEPLOY),
        ("open issues", "/codeIssues", "{/totalCount}"),
        ("file", "/serviceFile", "{/repository} {/path}"),
        ("not taken", "/configErrors", "{/message}"),
        ("page", "/htmlUrl", "{}"),
    ],
};

const TEAM: NounView = NounView {
    word: "team",
    document: "query($name: String!) { account { found: team(alias: $name) {
        name alias responsibilities htmlUrl manager { name email } parentTeam { name }
        children(first: 50) { nodes { name } totalCount }
        contacts { type displayName address }
        members(first: 50) { nodes { name email } totalCount }
        services(first: 50) { nodes { name onCalls(first: 3) { nodes { name externalEmail } } } totalCount }
        tags(first: 20) { nodes { key value } totalCount }
    } } }",
    lines: &[
        ("responsibilities", "/responsibilities", "{}"),
        ("manager", "/manager", "{/name} {/email}"),
        ("part of", "/parentTeam", "{/name}"),
        ("part", "/children/nodes", "{/name}"),
        ("contact", "/contacts", "{/type} {/displayName} {/address}"),
        ("on call", "/onCall", "{/name} ({/externalEmail}) for {/services}"),
        ("member", "/members/nodes", "{/name} {/email}"),
        ("service", "/services/nodes", "{/name}"),
        ("tag", "/tags/nodes", "{/key}:{/value}"),
        ("page", "/htmlUrl", "{}"),
    ],
};

const SYSTEM: NounView = NounView {
    word: "system",
    document: "query($name: String!) { account { found: system(input: { alias: $name }) {
        id name aliases description note htmlUrl owner { name } parent { name }
        childServices(first: 50) { nodes { name } totalCount }
    } } }",
    lines: &[
        ("description", "/description", "{}"),
        ("owner", "/owner", "{/name}"),
        ("domain", "/parent", "{/name}"),
        ("service", "/childServices/nodes", "{/name}"),
        ("page", "/htmlUrl", "{}"),
    ],
};

const DOMAIN: NounView = NounView {
    word: "domain",
    document: "query($name: String!) { account { found: domain(input: { alias: $name }) {
        name aliases description note htmlUrl owner { name }
        childSystems(first: 50) { nodes { name } totalCount }
    } } }",
    lines: &[
        ("description", "/description", "{}"),
        ("owner", "/owner", "{/name}"),
        ("system", "/childSystems/nodes", "{/name}"),
        ("page", "/htmlUrl", "{}"),
    ],
};

const USER: NounView = NounView {
    word: "user",
    document: "query($name: String!) { account { found: user(input: { email: $name }) {
        name email role htmlUrl teams(first: 20) { nodes { name } totalCount } contacts { type displayName address }
    } } }",
    lines: &[
        ("email", "/email", "{}"),
        ("role", "/role", "{}"),
        ("team", "/teams/nodes", "{/name}"),
        ("contact", "/contacts", "{/type} {/displayName} {/address}"),
        ("page", "/htmlUrl", "{}"),
    ],
};

const REPOSITORY: NounView = NounView {
    word: "repository",
    document: "query($name: String!) { account { found: repository(alias: $name) {
        name defaultAlias description url htmlUrl owner { name } tier { name }
        services(first: 50) { nodes { name owner { name } } totalCount }
    } } }",
    lines: &[
        ("alias", "/defaultAlias", "{}"),
        ("description", "/description", "{}"),
        ("owner", "/owner", "{/name}"),
        ("tier", "/tier", "{/name}"),
        ("service", "/services/nodes", "{/name}, of {/owner/name}"),
        ("address", "/url", "{}"),
        ("page", "/htmlUrl", "{}"),
    ],
};

const INFRASTRUCTURE: NounView = NounView {
    word: "infrastructure",
    document: "query($name: String!) { account { found: infrastructureResource(input: { alias: $name }) {
        id name aliases type providerResourceType htmlUrl: href owner { name } data
        providerData { providerName accountName externalUrl }
        tags(first: 20) { nodes { key value } totalCount }
    } } }",
    lines: &[
        ("type", "/type", "{}"),
        ("provider", "/providerData", "{/providerName} {/accountName} {/externalUrl}"),
        ("provider's type", "/providerResourceType", "{}"),
        ("owner", "/owner", "{/name}"),
        ("tag", "/tags/nodes", "{/key}:{/value}"),
        ("page", "/htmlUrl", "{}"),
    ],
};

/// All kinds, and how they are listed in a sentence.
const KINDS: [&NounView; 7] = [&SERVICE, &TEAM, &SYSTEM, &DOMAIN, &USER, &REPOSITORY, &INFRASTRUCTURE];
const ALL_KINDS: &str = "service, team, system, domain, user, repository";
const LAST_KIND: &str = "infrastructure";

fn kind(shown: Shown) -> &'static NounView {
    match shown {
        Shown::Service => &SERVICE,
        Shown::Team => &TEAM,
        Shown::System => &SYSTEM,
        Shown::Domain => &DOMAIN,
        Shown::User => &USER,
        Shown::Repository => &REPOSITORY,
        Shown::Infrastructure => &INFRASTRUCTURE,
    }
}

/// The kind of a word of the command line, or of the search.
fn kind_of(word: &str) -> Option<&'static NounView> {
    <Shown as clap::ValueEnum>::from_str(word, true).ok().map(kind)
}

pub(super) fn run(named: &Named) -> Result<(), String> {
    let (kind, mut node) = find_named(named)?;
    add_failing(&mut node);
    if kind.is(&TEAM) {
        add_on_call(&mut node);
    }
    match named.asking.output {
        Output::Json => print(&format!("{node:#}\n")),
        Output::Csv => print_rows(Output::Csv, &[("field", "/field"), ("value", "/value")], &fields(kind, &node)),
        Output::Table => print(&described(kind, &node, has_styles())),
    }
}

pub(super) fn open(named: &Named) -> Result<(), String> {
    let (kind, node) = find_named(named)?;
    match named.asking.output {
        Output::Table => print(&format!("{}\n", text(node.get("htmlUrl")))),
        form => {
            let page = json!({ "kind": kind.word, "name": node["name"], "htmlUrl": node["htmlUrl"] });
            match form {
                Output::Json => print(&format!("{page:#}\n")),
                _ => print_rows(form, &[("kind", "/kind"), ("name", "/name"), ("url", "/htmlUrl")], &[page]),
            }
        }
    }
}

/// Adds the checks of scorecards and campaigns that a service does not pass and that do not count towards its level.
fn add_failing(node: &mut Json) {
    let Some(Json::Array(results)) = node.get("otherCheckResults") else { return };
    let failing = results.iter().filter(|result| result["status"] == "failed").cloned().collect();
    node["failing"] = failing;
}

/// Adds who is on call for the services of a team, each person once.
fn add_on_call(node: &mut Json) {
    let mut people: Vec<(Json, Vec<String>)> = Vec::new();
    for service in node["services"]["nodes"].as_array().into_iter().flatten() {
        for person in service["onCalls"]["nodes"].as_array().into_iter().flatten() {
            let name = text(service.get("name"));
            match people.iter_mut().find(|(known, _)| known == person) {
                Some((_, services)) => services.push(name),
                None => people.push((person.clone(), vec![name])),
            }
        }
    }
    let told = |(mut person, services): (Json, Vec<String>)| {
        person["services"] = services.into();
        person
    };
    node["onCall"] = people.into_iter().map(told).collect();
}

fn find_named(named: &Named) -> Result<(&'static NounView, Json), String> {
    find(&server(&named.asking.remote, named.asking.deadline)?, &named.words)
}

/// Finds what is printed of a service or a team that is named where only such a one is meant.
pub(super) fn find_of(server: &Server, shown: Shown, name: &str) -> Result<Json, String> {
    find_one(server, Some(kind(shown)), name).map(|(_, node)| node)
}

/// Finds what a kind and a name, or a name alone, stand for: its kind, and what is printed of it. Several words are one
/// name.
pub(super) fn find(server: &Server, words: &[String]) -> Result<(&'static NounView, Json), String> {
    let name = words.join(" ");
    match words.split_first() {
        None => Err("what is meant? give its name".to_owned()),
        Some((word, rest)) if !rest.is_empty() && kind_of(word).is_some() => {
            let found = find_one(server, kind_of(word), &rest.join(" "));
            // Its name may begin with the word of a kind.
            found.or_else(|why| find_one(server, None, &name).map_err(|_| why))
        }
        Some(_) => find_one(server, None, &name),
    }
}

fn find_one(server: &Server, kind: Option<&'static NounView>, name: &str) -> Result<(&'static NounView, Json), String> {
    if let Some(kind) = kind {
        let node = ask(server, kind, name)?;
        if !node.is_null() {
            return Ok((kind, node));
        }
    }
    // By a name, or by what is exactly like it.
    let results = found(server, name)?;
    let is_kind =
        |one: &&Json| kind.is_none_or(|kind| one["type"].as_str().and_then(kind_of).is_some_and(|of| of.is(kind)));
    let results: Vec<&Json> = results.iter().filter(is_kind).collect();
    let exact: Vec<&&Json> = results.iter().filter(|one| one["match"] == "exact").collect();
    if let [one] = &*exact
        && let Some(kind) = one["type"].as_str().and_then(kind_of)
    {
        let node = ask_of_result(server, kind, one)?;
        if !node.is_null() {
            return Ok((kind, node));
        }
    }
    // An alias names one thing, however many have it as their name.
    if kind.is_none() && exact.len() > 1 {
        let mut named = Vec::new();
        for kind in KINDS {
            let node = ask(server, kind, name)?;
            if !node.is_null() && !is_only_called(&node, name) {
                named.push((kind, node));
            }
        }
        if named.len() == 1
            && let Some(one) = named.pop()
        {
            return Ok(one);
        }
    }
    let what = kind.map_or_else(|| format!("{ALL_KINDS} or {LAST_KIND}"), |kind| kind.word.to_owned());
    let some = if exact.is_empty() { &results } else { &exact.iter().map(|one| **one).collect::<Vec<_>>() };
    let names = some.iter().take(5).map(|one| match &*text(one.get("alias")) {
        "" => format!("{} {}", text(one.get("type")), text(one.get("name"))),
        alias => format!("{} {} ({alias})", text(one.get("type")), text(one.get("name"))),
    });
    let names: Vec<String> = names.collect();
    Err(match (names.is_empty(), exact.len()) {
        (true, _) => format!("no {what} is called {name}"),
        (false, 2..) => format!("several are called {name}: {}; name the kind and an alias", names.join(", ")),
        (false, _) => format!("no {what} is called {name}; similar: {}", names.join(", ")),
    })
}

/// Whether a name finds a node as what it is called, which others may be called too. The name of a service is an alias.
fn is_only_called(node: &Json, name: &str) -> bool {
    let is = |place: &str| node.pointer(place).is_some_and(|text| text == name);
    is("/name") && !["/alias", "/aliases/0", "/defaultAlias", "/email"].into_iter().any(is)
}

fn ask(server: &Server, kind: &NounView, name: &str) -> Result<Json, String> {
    let mut said = server.answer(kind.document, &json!({ "name": name }))?;
    // Some kinds answer with an error, for clients that want one.
    if said["errors"][0]["message"].as_str().is_some_and(|why| why.contains("does not exist on this account")) {
        return Ok(Json::Null);
    }
    Ok(Server::data(&mut said)?["account"]["found"].take())
}

/// Reads what the search found: by the last part of its page's address, which is an alias or an id.
fn ask_of_result(server: &Server, kind: &NounView, result: &Json) -> Result<Json, String> {
    let matched = text(result.get("alias"));
    let address = text(result.get("htmlUrl"));
    let last = address.rsplit('/').next().unwrap_or_default();
    for name in [&*matched, last].into_iter().filter(|name| !name.is_empty()) {
        let node = ask(server, kind, name)?;
        if !node.is_null() {
            return Ok(node);
        }
    }
    Ok(Json::Null)
}

/// The lines about a node: its name, and its values below each other.
fn described(kind: &NounView, node: &Json, has_styles: bool) -> String {
    let alias = text(node.get("alias").or_else(|| node.pointer("/aliases/0")));
    let name = text(node.get("name"));
    let title = if alias.is_empty() { name } else { format!("{name} ({alias})") };
    let mut shown = format!("{}\n", bold(&format!("{} {}", kind.word, one_line(&title)), has_styles));
    let width = kind.lines.iter().map(|(label, ..)| label.len()).max().unwrap_or_default();
    for (label, place, template) in kind.lines {
        let values = values(node, place);
        for (number, value) in values.iter().enumerate() {
            let label = if number == 0 { *label } else { "" };
            shown.push_str(&format!("  {label:width$}  {}\n", one_line(&filled(template, value))));
        }
        if let Some(more) = more(node, place, values.len()) {
            shown.push_str(&format!("  {:width$}  and {more} more\n", ""));
        }
    }
    shown
}

/// The same as rows of CSV: a field and a value, each value in a row, and times exactly.
fn fields(kind: &NounView, node: &Json) -> Vec<Json> {
    let alias = node.get("alias").or_else(|| node.pointer("/aliases/0"));
    let head = [("kind", kind.word.to_owned()), ("name", text(node.get("name"))), ("alias", text(alias))];
    let own = kind.lines.iter().flat_map(|(label, place, template)| {
        let values = values(node, place);
        values.into_iter().map(move |value| (*label, filled_by(template, value, |_, value| text(value))))
    });
    let rows = head.into_iter().filter(|(_, value)| !value.is_empty()).chain(own);
    rows.map(|(field, value)| json!({ "field": field, "value": value })).collect()
}

/// What is at a place of a node and says something: the elements of a list, or the value.
fn values<'n>(node: &'n Json, place: &str) -> Vec<&'n Json> {
    let value = node.pointer(place).unwrap_or(&Json::Null);
    let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    // Without checks, their number says nothing.
    values.iter().filter(|value| !value.is_null() && value.get("totalChecks") != Some(&json!(0))).collect()
}

/// How many elements of a list are not shown, if any.
fn more(node: &Json, place: &str, shown: usize) -> Option<u64> {
    let total = node.pointer(&format!("{}/totalCount", place.strip_suffix("/nodes")?))?.as_u64()?;
    total.checked_sub(shown as u64).filter(|more| *more > 0)
}

/// Fills in a template. Values that are missing leave no blanks.
fn filled(template: &str, value: &Json) -> String {
    filled_by(template, value, shown)
}

/// The same, with the texts that `shown` gives for the values at places.
fn filled_by(template: &str, value: &Json, shown: impl Fn(&str, Option<&Json>) -> String) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let (pointer, after) = after.split_once('}').unwrap_or((after, ""));
        filled.push_str(&shown(pointer, value.pointer(pointer)));
        rest = after;
    }
    filled.push_str(rest);
    let words: Vec<&str> = filled.split(' ').filter(|word| !word.is_empty() && *word != "()").collect();
    words.join(" ").trim_end_matches(", of").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_leaves_no_trace_in_a_line() {
        for (template, value, expected) in [
            ("{/name} ({/alias})", json!({ "name": "Payments", "alias": "payments" }), "Payments (payments)"),
            ("{/name} ({/alias}) {/url}", json!({ "name": "Runbook", "url": "https://x" }), "Runbook https://x"),
            ("{}", json!("text"), "text"),
            ("{/name}, of {/owner/name}", json!({ "name": "Cart", "owner": null }), "Cart"),
            ("{/key}:{/value}", json!({ "key": "env", "value": "prod" }), "env:prod"),
            ("{/deployedAt} {/by}", json!({ "deployedAt": "2026-11-27T22:40:28.5Z" }), "2026-11-27 22:40 UTC"),
        ] {
            assert_eq!(filled(template, &value), expected);
        }
    }

    #[test]
    fn what_is_left_out_of_a_list_is_counted() {
        let node = json!({ "name": "Core", "members": { "nodes": [{ "name": "Ada" }], "totalCount": 3 } });
        let shown = described(&TEAM, &node, false);
        assert_eq!(shown.lines().last().map(str::trim), Some("and 2 more"), "{shown}");
    }

    #[test]
    fn a_list_has_a_line_for_each_element_below_one_label() {
        let node = json!({ "name": "Core", "alias": "core", "members": { "nodes": [{ "name": "Ada" }, { "name": "Jon\n" }] } });
        let shown = described(&TEAM, &node, false);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "team Core (core)");
        assert_eq!(lines[1].trim_start(), "member            Ada");
        assert!(lines[2].trim_start().starts_with("Jon") && lines.len() == 3, "{shown}");
    }

    #[test]
    fn a_service_is_shown_with_its_level_and_its_checks_if_there_are_any() {
        let of = |level: Json, total: u64| {
            let report = json!({ "overallLevel": level });
            let stats = json!({ "totalChecks": total, "totalPassingChecks": 3 });
            described(&SERVICE, &json!({ "name": "Cart", "maturityReport": report, "checkStats": stats }), false)
        };
        let shown = of(json!({ "name": "Bronze" }), 10);
        assert!(
            shown.contains("  level          Bronze\n") && shown.contains("  checks         passes 3 of 10\n"),
            "{shown}"
        );
        assert_eq!(of(Json::Null, 0), "service Cart\n");
    }
}
