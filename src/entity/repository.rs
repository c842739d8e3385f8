//! Repositories: where the source of services is kept.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};

use super::field_rule::{FieldRule, FieldRules, Reference, ValueRule};
use super::{Timestamp, text};
use crate::db::Read;
use crate::error::UserError;

/// A row of `repository`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "repository")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The name, as `owner/name` where the host has owners.
    pub name: String,
    /// Host and name, `github.com:owner/name`; unique.
    pub default_alias: String,
    /// The branch that others start from.
    pub default_branch: Option<String>,
    /// Where the repository is on the web.
    pub url: Option<String>,
    /// Whether only invited people see it at its host.
    pub private: bool,
    /// Whether the catalogue lists it.
    pub visible: bool,
    /// When it was archived; `None`: it is in use.
    pub archived_at: Option<Timestamp>,
    /// What it holds, in a few sentences.
    pub description: Option<String>,
    /// Whether it is a copy of another.
    pub forked: Option<bool>,
    /// The languages that it is written in, as JSON: [`languages`](Model::languages) reads it.
    pub languages: Option<String>,
    /// The team that answers for it.
    pub owner_id: Option<i64>,
    /// When its owner was last changed.
    pub last_owner_changed_at: Option<Timestamp>,
    /// Whether a bill of materials is wanted: a word of the SDL's `RepositorySBOMGenerationConfigEnum`.
    pub sbom_state: Option<String>,
    /// When the row was made.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
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
}

/// A language that a repository is written in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Language {
    /// What it is called.
    pub name: String,
    /// The part of the code that is written in it, from 0 to 1.
    pub usage: f64,
}

/// The hosts that are known by name, and what clients call them.
const HOSTS: &[(&str, &str)] = &[
    ("github", "Repositories::Github"),
    ("gitlab", "Repositories::Gitlab"),
    ("bitbucket", "Repositories::Bitbucket"),
    ("azure", "Repositories::AzureDevops"),
];

impl Model {
    /// The languages that it is written in, the most used first.
    pub fn languages(&self) -> Vec<Language> {
        self.languages.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The organization that it is of at its host.
    pub fn organization(&self) -> Option<&str> {
        self.name.rsplit_once('/').map(|(organization, _)| organization).filter(|name| !name.is_empty())
    }

    /// Its path at its host.
    pub fn path(&self) -> &str {
        self.default_alias.split_once(':').map_or(&self.default_alias, |(_, path)| path)
    }

    /// What clients call the kind of its host, where that is known.
    pub fn host_type(&self) -> Option<&'static str> {
        let (host, _) = self.default_alias.split_once(':')?;
        // `dev.azure.com` and a company's `gitlab.example.com` are told by a part of the name.
        let is_named = |name: &str| host.split(['.', '-']).any(|part| part.eq_ignore_ascii_case(name));
        HOSTS.iter().find(|(name, _)| is_named(name)).map(|(_, said)| *said)
    }

    /// Address of a folder at the host; of the repository where the host's addresses of folders are not known. `None`
    /// without an address.
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

/// What does not stand in a path of an address as it is.
const PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'%').add(b'<').add(b'>').add(b'?').add(b'`');

impl super::ByAlias for Entity {
    async fn by_alias<C: Read>(db: &C, alias: &str) -> Result<Option<Model>, DbErr> {
        super::by_unique::<Entity>(db, Column::DefaultAlias, alias).await
    }
}

/// The address of a repository at its host is shown as a link: nothing but http will do.
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

/// The alias that follows from an address: `github.com:owner/name`. None without a path.
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
