//! Repositories: where the source code of services is kept.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;

use super::prelude::*;

super::table! {
    "repository", Alone("Repository"), |row| Owner::team(row.owner_id);

    /// The name, as `owner/name` where the host has owners.
    pub name: String,
    /// Host and name, `github.com:owner/name`; unique.
    pub default_alias: String,
    /// The default branch.
    pub default_branch: Option<String>,
    /// The URL of the repository at its host.
    pub url: Option<String>,
    /// Whether only invited people see it at its host.
    pub private: bool,
    /// Whether the catalogue lists it.
    pub visible: bool,
    /// When the repository was archived; `None` if it is in use.
    pub archived_at: Option<Timestamp>,
    /// A short description of its contents.
    pub description: Option<String>,
    /// Whether the repository is a fork.
    pub forked: Option<bool>,
    /// The programming languages, as JSON. [`languages`](Model::languages) parses them.
    pub languages: Option<String>,
    /// The team that owns it.
    pub owner_id: Option<i64>,
    /// When its owner was last changed.
    pub last_owner_changed_at: Option<Timestamp>,
    /// Whether to generate a software bill of materials: a value of the SDL's `RepositorySBOMGenerationConfigEnum`.
    pub sbom_state: Option<String>,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("defaultAlias", Column::DefaultAlias, text::SHORT).required(),
    FieldRule::text("url", Column::Url, text::URL).checked(check_url),
    FieldRule::text("defaultBranch", Column::DefaultBranch, text::SHORT),
    FieldRule::new("private", Column::Private, ValueRule::Flag).required(),
    FieldRule::new("visible", Column::Visible, ValueRule::Flag).required(),
    FieldRule::new("archivedAt", Column::ArchivedAt, ValueRule::Moment).not_in_files(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION),
    FieldRule::new("forked", Column::Forked, ValueRule::Flag),
    FieldRule::new("ownerId", Column::OwnerId, ValueRule::Id(Reference::Team)),
];

/// A programming language of a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Language {
    /// The name of the language.
    pub name: String,
    /// Its share of the code, from 0 to 1.
    pub usage: f64,
}

/// The hosts that are recognised by name, and their types in the API.
const HOSTS: &[(&str, &str)] = &[
    ("github", "Repositories::Github"),
    ("gitlab", "Repositories::Gitlab"),
    ("bitbucket", "Repositories::Bitbucket"),
    ("azure", "Repositories::AzureDevops"),
];

impl Model {
    /// The programming languages, most used first.
    pub fn languages(&self) -> Vec<Language> {
        self.languages.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The organisation at the host: the name without its last part.
    pub fn organization(&self) -> Option<&str> {
        self.name.rsplit_once('/').map(|(organization, _)| organization).filter(|name| !name.is_empty())
    }

    /// The path at the host.
    pub fn path(&self) -> &str {
        self.default_alias.split_once(':').map_or(&self.default_alias, |(_, path)| path)
    }

    /// The host's type in the API; `None` if the host is not recognised.
    pub fn host_type(&self) -> Option<&'static str> {
        let (host, _) = self.default_alias.split_once(':')?;
        // Any part of the host's name may match, as in `dev.azure.com` and a company's `gitlab.example.com`.
        let is_named = |name: &str| host.split(['.', '-']).any(|part| part.eq_ignore_ascii_case(name));
        HOSTS.iter().find(|(name, _)| is_named(name)).map(|(_, said)| *said)
    }

    /// Returns the URL of a folder at the host. Returns the URL of the repository if the folder is empty, or if the
    /// host's URLs of folders are unknown. Returns `None` if the repository has no URL.
    pub fn address_of(&self, folder: &str) -> Option<String> {
        let url = self.url.as_deref()?.trim_end_matches('/');
        let url = url.strip_suffix(".git").unwrap_or(url);
        let branch = self.default_branch.as_deref().unwrap_or("HEAD");
        let between = match self.host_type() {
            _ if folder.is_empty() => return Some(url.to_owned()),
            Some("Repositories::Github") => "/tree/",
            Some("Repositories::Gitlab") => "/-/tree/",
            Some("Repositories::Bitbucket") => "/src/",
            _ => return Some(url.to_owned()),
        };
        let plain = |text: &str| utf8_percent_encode(text, PATH).to_string();
        Some(format!("{url}{between}{}/{}", plain(branch), plain(folder)))
    }
}

/// The characters to percent-encode in the path of a URL.
const PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`');

super::by_alias!(DefaultAlias);

/// Refuses URLs other than http and https. Pages show these URLs as links.
pub fn check_url(url: &str) -> Result<(), UserError> {
    match without_scheme(url) {
        Some(_) => Ok(()),
        None => Err(UserError::new("url", "url must begin with http:// or https:// and name a host")),
    }
}

fn without_scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let known = ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    (known && rest.starts_with(|first: char| first.is_alphanumeric() || first == '[')).then_some(rest)
}

/// Derives an alias from a URL: `github.com:owner/name`. `None` if the URL has no path.
pub fn alias_of(url: &str) -> Option<String> {
    let rest = without_scheme(url)?.split(['?', '#']).next()?;
    let (authority, path) = rest.split_once('/')?;
    let host = authority.rsplit('@').next()?;
    let host = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => host,
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    (!path.is_empty()).then(|| format!("{}:{path}", host.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::{Model, alias_of};
    use crate::entity::Timestamp;

    #[test]
    fn what_follows_from_its_name_its_alias_and_its_address() {
        let repository = |default_alias: &str, name: &str, url: &str| Model {
            id: 1,
            name: name.to_owned(),
            default_alias: default_alias.to_owned(),
            default_branch: Some("main".to_owned()),
            url: Some(url.to_owned()),
            private: false,
            visible: true,
            archived_at: None,
            description: None,
            forked: None,
            languages: None,
            owner_id: None,
            last_owner_changed_at: None,
            sbom_state: None,
            created_at: Timestamp::now(),
            updated_at: Timestamp::now(),
        };
        let github = repository("github.com:org/cart", "org/cart", "https://github.com/org/cart.git");
        assert_eq!((github.organization(), github.path()), (Some("org"), "org/cart"));
        assert_eq!(github.host_type(), Some("Repositories::Github"));
        let address = github.address_of("a b/c").expect("an address");
        assert_eq!(address, "https://github.com/org/cart/tree/main/a%20b/c");
        let gitlab = repository("gitlab.example.com:a/b/c", "a/b/c", "https://gitlab.example.com/a/b/c/");
        assert_eq!((gitlab.organization(), gitlab.host_type()), (Some("a/b"), Some("Repositories::Gitlab")));
        assert_eq!(gitlab.address_of("x").as_deref(), Some("https://gitlab.example.com/a/b/c/-/tree/main/x"));
        let other = repository("tools", "tools", "https://example.com/tools");
        assert_eq!((other.organization(), other.path(), other.host_type()), (None, "tools", None));
        assert_eq!(other.address_of("x").as_deref(), Some("https://example.com/tools"));
    }

    #[test]
    fn an_address_gives_an_alias_of_its_host_and_path() {
        for (url, expected) in [
            ("https://github.com/owner/name", Some("github.com:owner/name")),
            ("HTTP://GitHub.com/Owner/Name.git", Some("github.com:Owner/Name")),
            ("https://user:secret@gitlab.example.com:8443/group/sub/name/", Some("gitlab.example.com:group/sub/name")),
            ("https://[2001:db8::1]:80/a/b?tab=readme#top", Some("[2001:db8::1]:a/b")),
            ("https://github.com/", None),
            ("https://github.com", None),
            ("https:///owner/name", None),
            ("git@github.com:owner/name", None),
        ] {
            assert_eq!(alias_of(url).as_deref(), expected, "{url}");
        }
    }
}
