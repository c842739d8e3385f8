//! Whether what a filter names is there. The API answers a filter by something that is not there with an empty list, which
//! people take for an answer.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};
use spelling::nearest;

use super::{nodes, search};
use crate::cli::remote::Server;
use crate::error::quoted;
use crate::mcp::questions::ENVIRONMENT;

/// The number of deploys whose environments are named to somebody who named another one.
pub const NEWEST: usize = 500;

/// The most names that a refusal lists.
const NAMES: usize = 20;

const ENVIRONMENTS: &str = "query($first: Int, $after: String) { account {
    deploys(first: $first, after: $after) { nodes { environment } pageInfo { hasNextPage endCursor } } } }";
const FILTER: &str = "query($id: ID!) { account { filter(id: $id) { id } } }";

/// The tiers, lifecycle stages and levels, for [`level`].
pub(super) const LEVELS: &str = "{ account { tiers { id alias name index } lifecycles { id alias name index }
    rubric { levels(first: 100) { nodes { id alias name index } } } } }";

/// Finds the index of a tier, a lifecycle stage or a level by its index, alias, name or id, in the answer to [`LEVELS`].
pub(super) fn level(levels: &Json, kind: &str, value: &str) -> Result<String, String> {
    let list = match kind {
        "tier" => "/account/tiers",
        "lifecycle" => "/account/lifecycles",
        _ => "/account/rubric/levels/nodes",
    };
    let all = levels.pointer(list).and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let is_it = |level: &&Json| {
        let same = |field: &str| level[field].as_str().is_some_and(|text| text.eq_ignore_ascii_case(value));
        same("alias")
            || same("name")
            || level["id"] == value
            || level["index"].as_i64().is_some_and(|index| value.parse() == Ok(index))
    };
    let found = all.iter().find(is_it).map(|level| level["index"].to_string());
    found.ok_or_else(|| {
        let known: Vec<&str> = all.iter().filter_map(|level| level["alias"].as_str()).collect();
        unknown(kind, value, &known)
    })
}

/// Says that nothing is called so, what there is, and what is nearest.
pub(super) fn unknown(what: &str, value: &str, known: &[&str]) -> String {
    format!("no {what} is called {value}; there {}{}", are(known), near(value, known))
}

/// Names the nearest of some names at the end of a sentence, if one is near.
fn near(value: &str, known: &[&str]) -> String {
    nearest(value, known.iter().copied()).map(|near| format!("; the nearest is {near}")).unwrap_or_default()
}

/// What there is, in a sentence that begins with "there".
fn are(known: &[&str]) -> String {
    match known {
        [] => "are none".to_owned(),
        known if known.len() > NAMES => format!("are {} and {} more", known[..NAMES].join(", "), known.len() - NAMES),
        known => format!("are {}", known.join(", ")),
    }
}

/// Refuses a value that is none of a few words.
pub(super) fn one_of(what: &str, value: &str, words: &[&str]) -> Result<(), String> {
    match words.contains(&value) {
        true => Ok(()),
        false => Err(unknown(what, value, words)),
    }
}

/// The most names that are called alike in a refusal.
const ALIKE: usize = 5;

/// Adds what is called alike to a refusal of the API. `named` is what was named, each by its kind and its name.
pub(super) fn with_similar<'n>(
    server: &Server,
    why: String,
    mut named: impl Iterator<Item = (&'static str, &'n str)>,
) -> String {
    let refused = named.find(|(_, name)| why.contains(&quoted(name).to_string()) && why.contains("does not exist"));
    let Some((kind, name)) = refused else { return why };
    match &*similar(server, kind, name) {
        "" => why,
        alike => format!("{}{alike}", why.trim_end_matches('.')),
    }
}

/// Names, at the end of a sentence, what is of a kind and called like this.
pub(super) fn similar(server: &Server, kind: &str, name: &str) -> String {
    // Without an answer, the sentence is enough.
    let found = search::found(server, name).unwrap_or_default();
    let alike = found.iter().filter(|one| one["type"] == kind).filter_map(|one| one["alias"].as_str());
    let alike: Vec<&str> = alike.take(ALIKE).collect();
    if alike.is_empty() { String::new() } else { format!("; similar: {}", alike.join(", ")) }
}

/// Refuses a saved filter that is not there.
pub(super) fn filter(server: &Server, id: &str) -> Result<(), String> {
    let said = server.ask(FILTER, &json!({ "id": id }))?;
    match said["account"]["filter"].is_null() {
        true => Err(format!("no saved filter has the id {id}")),
        false => Ok(()),
    }
}

/// Refuses an environment that no deploy names.
pub(super) fn environment(server: &Server, name: &str) -> Result<(), String> {
    let said = server.ask(ENVIRONMENT, &json!({ "name": name }))?;
    if said["account"]["deploys"]["nodes"].as_array().is_some_and(|nodes| !nodes.is_empty()) {
        return Ok(());
    }
    let (newest, has_more) = nodes(server, ENVIRONMENTS, json!({}), "/account/deploys", NEWEST)?;
    Err(unknown_environment(name, &newest, has_more))
}

/// Says which environments the newest deploys name.
fn unknown_environment(name: &str, newest: &[Json], has_more: bool) -> String {
    let known: BTreeSet<&str> = newest.iter().filter_map(|deploy| deploy["environment"].as_str()).collect();
    let known: Vec<&str> = known.into_iter().filter(|name| !name.is_empty()).collect();
    let near = near(name, &known);
    let among = if has_more { format!(" among the newest {NEWEST} deploys") } else { String::new() };
    format!("no deploy names the environment {name}; there {}{among}{near}", are(&known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_named_by_its_index_alias_name_or_id_and_no_other_way() {
        let levels = json!({ "account": {
            "tiers": [{ "id": "x1", "alias": "tier_1", "name": "Tier 1", "index": 1 }],
            "rubric": { "levels": { "nodes": [{ "id": "x2", "alias": "gold", "name": "Gold", "index": 3 }] } },
        } });
        for value in ["1", "tier_1", "TIER 1", "x1"] {
            assert_eq!(level(&levels, "tier", value), Ok("1".to_owned()), "{value}");
        }
        assert_eq!(level(&levels, "level", "gold"), Ok("3".to_owned()));
        for value in ["9", "gold", ""] {
            assert_eq!(level(&levels, "tier", value), Err(format!("no tier is called {value}; there are tier_1")));
        }
        assert_eq!(level(&levels, "lifecycle", "beta"), Err("no lifecycle is called beta; there are none".to_owned()));
    }

    #[test]
    fn an_unknown_environment_is_answered_with_those_that_deploys_name() {
        let deploys: Vec<Json> =
            ["production", "staging", "", "production"].map(|name| json!({ "environment": name })).to_vec();
        for (name, has_more, expected) in [
            ("prod", false, "no deploy names the environment prod; there are production, staging"),
            (
                "stagging",
                true,
                "no deploy names the environment stagging; there are production, staging among the newest 500 deploys; \
                 the nearest is staging",
            ),
        ] {
            assert_eq!(unknown_environment(name, &deploys, has_more), expected);
        }
        assert_eq!(unknown_environment("prod", &[], false), "no deploy names the environment prod; there are none");
        let many: Vec<String> = (0..25).map(|number| format!("e{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(are(&many).ends_with(" and 5 more"), "{}", are(&many));
    }
}
