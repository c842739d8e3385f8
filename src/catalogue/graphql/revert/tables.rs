//! What a revert says of the rows of each table, and which of them it makes only once. Which of their values the audit
//! holds is said by [`kept`](crate::entity::change::kept).

/// The tables of aliases.
pub(super) const ALIASES: [&str; 4] = ["service_alias", "team_alias", "system_alias", "domain_alias"];

/// What a revert knows of a table.
pub(super) struct Known {
    /// The word for a row.
    pub(super) noun: &'static str,
    /// What names a row.
    pub(super) name: Name,
    /// The columns in which no two rows shall be equal. Of a property and a membership, a second row would overwrite the
    /// first. Two equal links or contacts are allowed, but a revert makes none: else the same revert could be repeated.
    /// Empty for the other tables, which refuse a second row themselves.
    pub(super) place: &'static [&'static str],
}

/// The column that names a row.
pub(super) enum Name {
    /// A text.
    Text(&'static str),
    /// The key of another row, which has the name.
    Of(&'static str),
}

use Name::{Of, Text};

const fn part(noun: &'static str, name: Name, place: &'static [&'static str]) -> Known {
    Known { noun, name, place }
}

/// A table of which a revert says no names but those of its aliases.
const fn called(noun: &'static str) -> Known {
    part(noun, Text("value"), &[])
}

/// What a revert knows of a table.
pub(super) fn known(table: &str) -> Known {
    match table {
        "service" => called("service"),
        "team" => called("team"),
        "system" => called("system"),
        "domain" => called("domain"),
        "tool" => part("link", Text("display_name"), &["service_id", "category", "display_name", "url", "environment"]),
        "contact" => part(
            "contact",
            Text("address"),
            &["service_id", "team_id", "user_id", "type", "address", "display_name", "display_type", "external_id"],
        ),
        "property" => part("property", Of("definition_id"), &["definition_id", "service_id", "team_id"]),
        "service_dependency" => part("dependency", Of("destination_id"), &[]),
        "service_repository" => part("link to a repository", Of("repository_id"), &[]),
        "tag" => part("tag", Text("key"), &[]),
        "team_membership" => part("membership", Of("user_id"), &["team_id", "user_id"]),
        "user" => called("user"),
        "tier" => called("tier"),
        "lifecycle" => called("lifecycle stage"),
        "component_type" => called("component type"),
        "property_definition" => called("property definition"),
        "repository" => called("repository"),
        table if ALIASES.contains(&table) => called("alias"),
        _ => called("thing"),
    }
}
