//! Finds what agents name.

use serde_json::{Value as Json, json};

use super::ask::Asker;
use crate::error::quoted;

/// What is called like some words. Takes `$term`.
pub(super) const FIND: &str =
    "query($term: String!) { account { search(term: $term) { type name alias match htmlUrl } } }";

/// Finds the alias of the service, team, system or domain that is named, by an alias or by its name.
///
/// # Errors
/// There is none, or there are several: for the agent, with what is similar.
pub(super) async fn alias(asker: &Asker, kind: &str, name: &str) -> Result<String, String> {
    let document = match kind {
        "team" => "query($name: String!) { account { found: team(alias: $name) { alias } } }",
        "system" => "query($name: String!) { account { found: system(input: { alias: $name }) { aliases } } }",
        "domain" => "query($name: String!) { account { found: domain(input: { alias: $name }) { aliases } } }",
        _ => "query($name: String!) { account { found: service(alias: $name) { alias } } }",
    };
    // For some nouns, it is an error that there is none.
    let known = asker.response(document, json!({ "name": name })).await?;
    let known = &known["data"]["account"]["found"];
    if let Some(alias) = known["alias"].as_str().or(known["aliases"][0].as_str()) {
        return Ok(alias.to_owned());
    }
    let found = asker.ask(FIND, json!({ "term": name })).await?;
    let all = found["account"]["search"].as_array().cloned().unwrap_or_default();
    let found: Vec<&Json> = all.iter().filter(|one| one["type"] == kind).collect();
    let exact: Vec<&&Json> = found.iter().filter(|one| one["match"] == "exact").collect();
    // The last part of a page's address is an alias.
    let alias_of = |one: &Json| Some(one["htmlUrl"].as_str()?.rsplit('/').next()?.to_owned());
    if let [one] = &*exact
        && let Some(alias) = alias_of(one)
    {
        return Ok(alias);
    }
    let similar: Vec<String> = found.iter().take(5).filter_map(|one| alias_of(one)).collect();
    let other = all.iter().find(|one| one["type"] != kind && one["match"] == "exact");
    let other = other.and_then(|one| one["type"].as_str()).map(|other| {
        let article = if other.starts_with('i') { "an" } else { "a" };
        format!(", but {article} {} of this name", other.replace('_', " "))
    });
    let other = other.unwrap_or_default();
    Err(match (similar.is_empty(), exact.len()) {
        (true, _) => format!("there is no {kind} {}{other}; look for it with find", quoted(name)),
        (false, 2..) => format!("several are called {}: {}", quoted(name), similar.join(", ")),
        (false, _) => {
            format!("there is no {kind} {}{other}; similar are {}", quoted(name), similar.join(", "))
        }
    })
}
