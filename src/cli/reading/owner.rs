//! `rollcall who-owns`.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::output::print_rows;
use super::{MOST, known, nodes, server};
use crate::cli::console::say;
use crate::cli::sender::git;
use crate::config::Asking;
use crate::mcp::questions::repository_alias;

const REPOSITORY: &str = "query($name: String!) { account { repository(alias: $name) {
    defaultAlias owner { name alias } htmlUrl } } }";
const SERVICES: &str = "query($name: String!, $first: Int, $after: String) { account { repository(alias: $name) {
    services(first: $first, after: $after) { nodes { name alias owner { name alias } htmlUrl
        onCalls(first: 1) { nodes { name } } serviceRepositories(first: 100) { nodes {
            baseDirectory repository { defaultAlias } } } }
        pageInfo { hasNextPage endCursor } } } } }";

pub(super) fn run(what: &Path, asking: &Asking) -> Result<(), String> {
    let RepositoryFolder { alias, folder } = place(what)?;
    let server = server(&asking.remote, asking.deadline)?;
    let mut said = server.ask(REPOSITORY, &json!({ "name": alias }))?;
    let repository = said["account"]["repository"].take();
    if repository.is_null() {
        let name = alias.rsplit('/').next().unwrap_or(&alias);
        let similar = known::similar(&server, "repository", name);
        return Err(format!("the catalogue knows no repository {alias}{similar}"));
    }
    let (found, _) = nodes(&server, SERVICES, json!({ "name": alias }), "/account/repository/services", MOST)?;
    let of = |service: &Json| deepest(service, &alias, &folder);
    let depth = found.iter().filter_map(of).max();
    let mut rows: Vec<Json> =
        found.into_iter().filter(|service| of(service).is_some() && of(service) == depth).collect();
    if rows.is_empty() && repository["owner"].is_null() {
        say(&format!("no service has its code there, and nobody owns the repository {alias}"));
    } else if rows.is_empty() {
        rows.push(json!({ "name": null, "owner": repository["owner"], "htmlUrl": repository["htmlUrl"] }));
    }
    let columns =
        [("owner", "/owner/name"), ("service", "/name"), ("on call", "/onCalls/nodes/0/name"), ("url", "/htmlUrl")];
    print_rows(asking.output, &columns, &rows)
}

/// How deep the deepest of a service's folders is that holds `folder`. `None` if none does.
fn deepest(service: &Json, alias: &str, folder: &Path) -> Option<usize> {
    let links = service["serviceRepositories"]["nodes"].as_array()?.iter();
    let folders = links.filter(|link| link["repository"]["defaultAlias"] == alias);
    let folders = folders.map(|link| Path::new(link["baseDirectory"].as_str().unwrap_or_default()));
    folders.filter(|base| folder.starts_with(base)).map(|base| base.components().count()).max()
}

/// A folder or file of a repository.
#[derive(Debug, PartialEq, Eq)]
struct RepositoryFolder {
    alias: String,
    folder: PathBuf,
}

/// The place that is meant: a path that exists in a checkout, or a repository as a whole.
fn place(what: &Path) -> Result<RepositoryFolder, String> {
    let whole = |alias: String| RepositoryFolder { alias, folder: PathBuf::new() };
    if let Ok(path) = what.canonicalize() {
        let folder = if path.is_dir() { &*path } else { path.parent().unwrap_or(&path) };
        let checkout = git::checkout_of(folder);
        let root = checkout.root.ok_or_else(|| format!("{} is in no git checkout", what.display()))?;
        let remote = checkout.remote.ok_or_else(|| format!("the checkout {} has no remote origin", root.display()))?;
        let alias =
            repository_alias(&remote).ok_or_else(|| format!("the remote of {} is no address", root.display()))?;
        let folder = path.strip_prefix(&root).map(Path::to_owned).unwrap_or_default();
        return Ok(RepositoryFolder { alias, folder });
    }
    let text = what.to_str().unwrap_or_default();
    if let Some(alias) = repository_alias(text) {
        return Ok(whole(alias));
    }
    // An alias: a host, a colon and a path.
    match text.split_once(':') {
        Some((host, path)) if host.contains('.') && !path.is_empty() => Ok(whole(text.to_owned())),
        _ => Err(format!(
            "{} is no file or folder here, and no repository: write it like github.com:org/name",
            what.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_folder_that_holds_a_file_counts() {
        let link = |folder: &str| json!({ "baseDirectory": folder, "repository": { "defaultAlias": "a.b:c/d" } });
        let service = |folders: &[&str]| json!({ "serviceRepositories": { "nodes": folders.iter().map(|folder| link(folder)).collect::<Vec<_>>() } });
        for (folders, folder, expected) in [
            (&[""][..], "cart/src", Some(0)),
            (&["cart"], "cart/src/main.rs", Some(1)),
            (&["cart"], "carts", None),
            (&["", "cart/src"], "cart/src", Some(2)),
            (&["pay"], "cart", None),
        ] {
            assert_eq!(deepest(&service(folders), "a.b:c/d", Path::new(folder)), expected, "{folders:?} {folder}");
        }
        assert_eq!(deepest(&service(&[""]), "another:one", Path::new("")), None);
    }

    #[test]
    fn a_repository_is_named_by_its_address_or_its_alias() {
        let expected = RepositoryFolder { alias: "github.com:org/cart".to_owned(), folder: PathBuf::new() };
        for text in [
            "https://github.com/org/cart",
            "https://github.com/org/cart.git",
            "git@github.com:org/cart.git",
            "github.com:org/cart",
        ] {
            assert_eq!(place(Path::new(text)).as_ref(), Ok(&expected), "{text}");
        }
        place(Path::new("no/such/file")).expect_err("there is no such file");
    }
}
