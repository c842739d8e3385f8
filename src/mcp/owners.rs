//! The tool `who_owns`: whose code is in a repository, or at a path of it.

use serde_json::{Value as Json, json};

use super::arguments::Arguments;
use super::ask::Asker;
use super::questions::repository_alias;
use crate::error::quoted;

/// The longest address of a repository, in bytes.
const LONGEST_ADDRESS: usize = 2_000;

pub(super) async fn owners(asker: &Asker, given: Arguments<'_>) -> Result<Json, String> {
    const DOCUMENT: &str = "query($name: String!) { account { repository(alias: $name) {
        defaultAlias htmlUrl owner { name alias }
        services(first: 100) { nodes { name alias htmlUrl owner { name alias htmlUrl } onCalls(first: 3) { nodes { name } }
            serviceRepositories(first: 20) { nodes { baseDirectory repository { defaultAlias } } } } totalCount }
    } } }";
    let name = given.required("repository", LONGEST_ADDRESS)?;
    let alias = repository_alias(name);
    let asked = json!({ "name": alias.as_deref().unwrap_or(name) });
    let mut found = asker.ask(DOCUMENT, asked).await?["account"]["repository"].take();
    if found.is_null() {
        let form = "write it like github.com:org/name, or as git remote get-url prints it";
        let similar = similar(asker, alias.as_deref().unwrap_or(name)).await?;
        return Err(format!("the catalogue knows no repository {}; {form}{similar}", quoted(name)));
    }
    let alias = found["defaultAlias"].clone();
    let path = given.text("path", 4096)?.unwrap_or_default();
    if let Some(services) = found.pointer_mut("/services/nodes").and_then(Json::as_array_mut) {
        for service in services.iter_mut() {
            let links = service["serviceRepositories"].take();
            let links = links["nodes"].as_array().cloned().unwrap_or_default();
            let folders = links.iter().filter(|link| link["repository"]["defaultAlias"] == alias);
            let folder = |link: &Json| link["baseDirectory"].as_str().unwrap_or_default().trim_matches('/').to_owned();
            service["folders"] = folders.map(folder).collect();
        }
        if !path.is_empty() {
            let depth = |service: &Json| {
                let folders = service["folders"].as_array()?.iter().filter_map(Json::as_str);
                let path = std::path::Path::new(path.trim_start_matches('/'));
                folders.filter(|folder| path.starts_with(folder)).map(str::len).max()
            };
            let deepest = services.iter().filter_map(depth).max();
            services.retain(|service| depth(service).is_some() && depth(service) == deepest);
        }
    }
    if !path.is_empty() {
        // It counts the services of the whole repository.
        found["services"]["totalCount"] = Json::Null;
    }
    Ok(found)
}

/// Names the repositories that are called like one, at the end of a sentence.
async fn similar(asker: &Asker, alias: &str) -> Result<String, String> {
    const DOCUMENT: &str = "query($term: String!) { account { search(term: $term) { item {
        ... on Repository { defaultAlias } } } } }";
    let name = alias.rsplit('/').next().unwrap_or(alias);
    let found = asker.ask(DOCUMENT, json!({ "term": name })).await?;
    let found = found["account"]["search"].as_array().map_or(&[][..], Vec::as_slice);
    let found: Vec<&str> = found.iter().filter_map(|one| one["item"]["defaultAlias"].as_str()).take(5).collect();
    Ok(if found.is_empty() { String::new() } else { format!("; similar are {}", found.join(", ")) })
}
