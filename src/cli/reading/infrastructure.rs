//! `rollcall list infrastructure`.
//!
//! The API lists all resources. What conditions ask for is looked for here, among as many as a list may have.

use serde_json::{Value as Json, json};

use super::list::{Condition, tell_of_more};
use super::output::{Column, print_rows};
use super::search::NOTHING;
use super::show::find_of;
use super::{MOST, known, nodes, server};
use crate::cli::console::say;
use crate::cli::remote::Server;
use crate::config::{List, Shown};

const RESOURCES: &str = "query($first: Int, $after: String) { account {
    infrastructureResources(first: $first, after: $after) { nodes {
        id name aliases type owner { name alias } providerData { providerName accountName externalUrl } htmlUrl: href
    } pageInfo { hasNextPage endCursor } } } }";

const TYPES: &str = "query($first: Int, $after: String) { account {
    infrastructureResourceSchemas(first: $first, after: $after) { nodes { type } pageInfo { hasNextPage endCursor } } } }";

/// The alias is the id where there is none: each of both finds the resource.
const COLUMNS: [Column; 5] = [
    ("name", "/name"),
    ("alias", "/namedBy"),
    ("type", "/type"),
    ("owner", "/owner/name"),
    ("provider", "/providerData/providerName"),
];

/// What a resource must fulfil.
type Test = Box<dyn Fn(&Json) -> bool>;

pub(super) fn run(settings: &List) -> Result<(), String> {
    let List { filter, owner, search, limit, asking, .. } = settings;
    let server = server(&asking.remote, asking.deadline)?;
    let mut conditions: Vec<Condition<'_>> = filter.iter().map(|text| Condition::parse(text)).collect();
    let of = owner.as_deref().map(|team| Condition { key: "owner", how: "equals", value: Some(team) });
    conditions.extend(of);
    let mut tests: Vec<Test> = conditions.iter().map(|one| test(&server, one)).collect::<Result<_, _>>()?;
    if let Some(text) = search {
        let text = text.to_lowercase();
        tests.push(Box::new(move |resource: &Json| is_called(resource, &text)));
    }
    let limit = (*limit).min(MOST);
    let read = if tests.is_empty() { limit } else { MOST };
    let (mut rows, has_more) = nodes(&server, RESOURCES, json!({}), "/account/infrastructureResources", read)?;
    rows.retain(|resource| tests.iter().all(|test| test(resource)));
    let is_cut = rows.len() > limit;
    rows.truncate(limit);
    for row in &mut rows {
        let alias = row.pointer("/aliases/0").unwrap_or(&row["id"]).clone();
        row["namedBy"] = alias;
    }
    print_rows(asking.output, &COLUMNS, &rows)?;
    tell_of_more(is_cut || (has_more && tests.is_empty()), rows.len());
    if has_more && !tests.is_empty() {
        say(&format!("only the first {MOST} infrastructure resources were looked at"));
    }
    if rows.is_empty() && limit > 0 {
        say(match (search.is_some(), conditions.is_empty()) {
            (true, true) => NOTHING,
            (true, false) => "no infrastructure resource is called like that and fulfils all conditions",
            (false, false) => "no infrastructure resource fulfils all conditions",
            (false, true) => "there are no infrastructure resources yet",
        });
    }
    Ok(())
}

/// Whether a text, in lower case, is in the name or an alias.
fn is_called(resource: &Json, text: &str) -> bool {
    let aliases = resource["aliases"].as_array().into_iter().flatten();
    let mut names = aliases.chain([&resource["name"]]).filter_map(Json::as_str);
    names.any(|name| name.to_lowercase().contains(text))
}

/// What a condition asks for. What it names must be there.
fn test(server: &Server, condition: &Condition<'_>) -> Result<Test, String> {
    let is_equal = condition.how == "equals";
    match (condition.key, condition.how, condition.value) {
        ("owner", "exists", None) => Ok(Box::new(|resource: &Json| !resource["owner"].is_null())),
        ("owner", "does_not_exist", None) => Ok(Box::new(|resource: &Json| resource["owner"].is_null())),
        ("owner", "equals" | "does_not_equal", Some(name)) => {
            let alias = find_of(server, Shown::Team, name)?["alias"].take();
            Ok(Box::new(move |resource: &Json| (resource["owner"]["alias"] == alias) == is_equal))
        }
        ("type", "equals" | "does_not_equal", Some(name)) => {
            let (types, _) = nodes(server, TYPES, json!({}), "/account/infrastructureResourceSchemas", MOST)?;
            let types: Vec<&str> = types.iter().filter_map(|one| one["type"].as_str()).collect();
            let found = types.iter().find(|one| one.eq_ignore_ascii_case(name));
            let found = found.ok_or_else(|| known::unknown("type of infrastructure", name, &types))?;
            let found = (*found).to_owned();
            Ok(Box::new(move |resource: &Json| (resource["type"] == found.as_str()) == is_equal))
        }
        _ => {
            let takes = "owner=TEAM, owner!=TEAM, owner, !owner, type=TYPE or type!=TYPE";
            Err(format!("--filter of infrastructure takes {takes}, not {}", condition.written()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_called_by_its_name_and_its_aliases() {
        let resource = json!({ "name": "Orders DB", "aliases": ["orders", "pg_1"] });
        for (text, expected) in [("orders d", true), ("pg", true), ("", true), ("queue", false)] {
            assert_eq!(is_called(&resource, text), expected, "{text}");
        }
    }
}
