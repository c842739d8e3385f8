//! `rollcall search`, and what other commands find by it.

use serde_json::{Value as Json, json};

use super::output::print_rows;
use super::server;
use crate::cli::console::say;
use crate::cli::remote::Server;
use crate::config::Asking;

const SEARCH: &str = "query($term: String!) { account { search(term: $term) { type name alias match htmlUrl item {
    ... on Service { service: alias } ... on Team { team: alias } ... on Repository { repository: defaultAlias }
    ... on System { system: aliases } ... on Domain { domain: aliases } ... on User { user: email }
    ... on InfrastructureResource { infrastructure: aliases }
} } } }";

/// What is said of a search without results.
pub(super) const NOTHING: &str = "nothing is called like that";

pub(super) fn run(term: &str, asking: &Asking) -> Result<(), String> {
    let found = found(&server(&asking.remote, asking.deadline)?, term)?;
    let columns = [("kind", "/type"), ("name", "/name"), ("alias", "/alias"), ("match", "/match"), ("url", "/htmlUrl")];
    if found.is_empty() {
        say(NOTHING);
    }
    print_rows(asking.output, &columns, &found)
}

/// What the search finds for a name, best first, each with the alias that matched, or else the first one.
pub(super) fn found(server: &Server, term: &str) -> Result<Vec<Json>, String> {
    let mut said = server.ask(SEARCH, &json!({ "term": term }))?;
    let Json::Array(mut results) = said["account"]["search"].take() else { return Ok(Vec::new()) };
    results.iter_mut().for_each(add_alias);
    Ok(results)
}

/// Moves an alias of the item to a result that matched by its name.
fn add_alias(result: &mut Json) {
    let Some(item) = result.as_object_mut().and_then(|result| result.remove("item")) else { return };
    let alias =
        item.as_object().and_then(|item| item.values().next()).map(|alias| alias.get(0).unwrap_or(alias).clone());
    if result["alias"].is_null()
        && let Some(alias) = alias.filter(Json::is_string)
    {
        result["alias"] = alias;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_has_an_alias_whichever_its_kind() {
        for (alias, item, expected) in [
            (json!("cart"), json!({ "service": "shopping_cart" }), json!("cart")),
            (Json::Null, json!({ "service": "shopping_cart" }), json!("shopping_cart")),
            (Json::Null, json!({ "system": ["shop", "store"] }), json!("shop")),
            (Json::Null, json!({ "domain": [] }), Json::Null),
            (Json::Null, json!({ "user": "ada@example.com" }), json!("ada@example.com")),
            (Json::Null, json!({}), Json::Null),
        ] {
            let mut result = json!({ "alias": alias, "item": item });
            add_alias(&mut result);
            assert_eq!(result, json!({ "alias": expected }), "{item}");
        }
    }
}
