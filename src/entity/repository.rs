//! Repositories: where the source of services is kept.

use sea_orm::entity::prelude::*;
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules, ValueRule};
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
    ];
}

/// The repository that has this alias.
pub async fn by_alias<C: Read>(db: &C, alias: &str) -> Result<Option<Model>, DbErr> {
    super::by_unique::<Entity>(db, Column::DefaultAlias, alias).await
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
    use super::alias_of;

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
