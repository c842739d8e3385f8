//! Entries of the audit in words: what was done, and how.

use serde_json::{Map, Value as Json};

use crate::entity::action::{self, APPLY, RELEASE, REVERT, spaced};
use crate::entity::audit::{self, Model};
use crate::graphql::field::id;

/// What was done: `changed service`, `removed tool`.
pub fn done(entry: &Model) -> String {
    let action = &*entry.action;
    match action::parts(action) {
        // Something else was deleted. What belongs to it goes along; anything else has lost a reference, or has another owner.
        Some((noun, "removed")) if is_another(entry, noun) => {
            let verb = if goes_along(entry) { "removed" } else { "changed" };
            format!("{verb} {}", spaced(entry.subject_class.as_deref().unwrap_or_default()))
        }
        Some((noun, verb)) if !noun.is_empty() => format!("{verb} {}", spaced(noun)),
        _ if action == APPLY => "applied a file to".to_owned(),
        _ if action == RELEASE => "unlocked".to_owned(),
        _ if action == REVERT => "reverted a change".to_owned(),
        _ => spaced(action),
    }
}

/// Whether the subject of an entry is of another class than the noun of its action.
fn is_another(entry: &Model, noun: &str) -> bool {
    entry.subject_class.as_deref().is_some_and(|class| !class.eq_ignore_ascii_case(noun))
}

/// Whether the subject of an entry belongs to something, and none of its fields has a value any more.
fn goes_along(entry: &Model) -> bool {
    let is_gone = |change: &Json| change.get("new").is_some_and(Json::is_null);
    entry.owner_id.is_some() && changed(entry).is_some_and(|changed| changed.values().all(is_gone))
}

/// The lists whose entries have names, and the word for an entry. Its name stays as people write it.
const ENTRIES: &[(&str, &str)] = &[("tags.", "tag "), ("properties.", "property ")];

/// The name of a field in words.
pub fn field_name(field: &str) -> String {
    for (list, word) in ENTRIES {
        if let Some(name) = field.strip_prefix(list) {
            return format!("{word}{name}");
        }
    }
    if field.contains('.') { field.to_owned() } else { spaced(field).replace('_', " ") }
}

/// The old and the new value of a field, if it has no list of entries. Two that read alike in words, such as the number 1 and
/// the text "1", stay in JSON.
pub fn sides(class: Option<&str>, field: &str, change: &Json) -> Option<[Json; 2]> {
    let of = |name: &str| change.get(name).map(|value| meant(class, field, value));
    let (old, new) = (of("old"), of("new"));
    if old.is_none() && new.is_none() {
        return None;
    }
    let sides = [old, new].map(Option::unwrap_or_default);
    let is_unclear = sides[0] != sides[1] && in_words(&sides[0]) == in_words(&sides[1]);
    Some(if is_unclear { sides.map(|side| side.to_string().into()) } else { sides })
}

/// The fields whose values are words of the API, such as `health_checks`.
const WORDS: &[(&str, &str)] = &[
    ("Tool", "category"),
    ("Contact", "type"),
    ("User", "role"),
    ("EventSubscription", "form"),
    ("EventSubscription", "digest"),
    ("PropertyDefinition", "lockedStatus"),
    ("Relationship", "type"),
];

/// The fields whose values the audit has as texts of JSON.
const JSON: &[(&str, &str)] = &[
    ("Property", "value"),
    ("PropertyDefinition", "schema"),
    ("InfrastructureResource", "data"),
    ("EventSubscription", "environments"),
    ("RelationshipDefinition", "allowedTypes"),
    ("RelationshipDefinition", "allowedCategories"),
    ("RelationshipDefinition", "managementRules"),
];

/// What a value of a field means.
pub fn meant(class: Option<&str>, field: &str, value: &Json) -> Json {
    let is_json = field.starts_with("properties.") || JSON.iter().any(|one| (Some(one.0), one.1) == (class, field));
    match value {
        Json::String(text) if is_json => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        Json::String(text) if WORDS.iter().any(|one| (Some(one.0), one.1) == (class, field)) => {
            text.replace('_', " ").into()
        }
        _ => value.clone(),
    }
}

/// The changed fields with their old and new values as plain text, a line for each.
pub fn lines(entry: &Model) -> String {
    details(entry).join("\n")
}

/// The same, each field by itself.
pub fn details(entry: &Model) -> Vec<String> {
    let changed = changed(entry).unwrap_or_default();
    let class = entry.subject_class.as_deref();
    let line = |(field, change): (&String, &Json)| format!("{}: {}", field_name(field), plain(class, field, change));
    changed.iter().map(line).collect()
}

/// The old and the new value of a field, or what was added to a list and removed from it, as plain text.
fn plain(class: Option<&str>, field: &str, change: &Json) -> String {
    let said =
        |value: Option<&Json>| value.map_or_else(|| NOTHING.to_owned(), |one| in_words(&meant(class, field, one)));
    if let Some([old, new]) = sides(class, field, change) {
        return format!("{} → {}", in_words(&old), in_words(&new));
    }
    let each = |name: &str, sign: &str| -> Vec<String> {
        let entries = change.get(name).and_then(Json::as_array).into_iter().flatten();
        entries.map(|entry| format!("{sign} {}", said(Some(entry)))).collect()
    };
    [each("added", "+"), each("removed", "−")].concat().join(" ")
}

/// A text of a field in words, as the API tells it.
pub fn text_in_words(class: Option<&str>, field: &str, text: &str) -> String {
    in_words(&meant(class, field, &text.into()))
}

/// The word for no value.
pub const NOTHING: &str = "nothing";

/// A value in words on one line: a list as its items, an object as its fields.
pub fn in_words(value: &Json) -> String {
    match value {
        Json::Null => NOTHING.to_owned(),
        Json::Bool(flag) => if *flag { "yes" } else { "no" }.to_owned(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.clone(),
        Json::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Json::Array(items) => items.iter().map(nested).collect::<Vec<_>>().join(", "),
        Json::Object(fields) if fields.is_empty() => "no fields".to_owned(),
        Json::Object(fields) => {
            fields.iter().map(|(name, value)| format!("{name}: {}", nested(value))).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A value within another: one with several parts is in parentheses.
fn nested(value: &Json) -> String {
    match value {
        Json::Array(items) if items.len() > 1 => format!("({})", in_words(value)),
        Json::Object(fields) if !fields.is_empty() => format!("({})", in_words(value)),
        _ => in_words(value),
    }
}

/// The number of the entry that an entry reverts, if it does.
pub fn reverted(entry: &Model) -> Option<i64> {
    if entry.action != REVERT {
        return None;
    }
    let detail: Json = serde_json::from_str(&entry.detail).ok()?;
    id::number::<audit::Entity>(detail.get("input")?.get("id")?.as_str()?)
}

/// The changed fields of an entry.
pub fn changed(entry: &Model) -> Option<Map<String, Json>> {
    let Ok(Json::Object(mut detail)) = serde_json::from_str(&entry.detail) else { return None };
    match detail.remove("changed") {
        Some(Json::Object(changed)) => Some(changed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::Timestamp;
    use crate::entity::audit::ActorKind;

    #[test]
    fn two_values_that_read_alike_stay_apart() {
        for (old, new, expected) in [
            ("\"1\"", "1", "\"1\" → 1"),
            ("\"yes\"", "true", "\"yes\" → true"),
            ("[\"a\",\"b\"]", "\"a, b\"", "[\"a\",\"b\"] → \"a, b\""),
            ("\"a\"", "\"b\"", "a → b"),
        ] {
            let change = serde_json::json!({ "old": old, "new": new });
            assert_eq!(plain(Some("Property"), "value", &change), expected);
        }
    }

    #[test]
    fn values_are_said_without_the_marks_of_json() {
        for (json, expected) in [
            ("null", "nothing"),
            ("true", "yes"),
            ("4.5", "4.5"),
            (r#""a \"b\"""#, "a \"b\""),
            ("[]", "an empty list"),
            ("{}", "no fields"),
            (r#"["a", "b"]"#, "a, b"),
            (
                r#"{"region": "eu", "zones": ["a", "b"], "backup": {"days": 7}}"#,
                "region: eu, zones: (a, b), backup: (days: 7)",
            ),
            (r#"[{"a": 1}, [2]]"#, "(a: 1), 2"),
        ] {
            let value = serde_json::from_str(json).expect("JSON");
            let (said, expected) = (in_words(&value), expected.to_owned());
            // The order of fields is that of the map.
            let sorted = |text: &str| text.split(", ").map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
            assert_eq!(sorted(&said), sorted(&expected), "{json}");
        }
        let change = serde_json::json!({ "old": null, "new": "\"45\"" });
        assert_eq!(plain(Some("Property"), "value", &change), "nothing → 45");
        assert_eq!(plain(Some("Service"), "properties.rto", &change), "nothing → 45");
        assert_eq!(plain(Some("Service"), "language", &change), "nothing → \"45\"", "a text is what people wrote");
    }

    #[test]
    fn an_entry_says_what_was_done_to_its_own_subject() {
        let entry = |action: &str, class: &str| Model {
            id: 1,
            action: action.to_owned(),
            subject_class: Some(class.to_owned()),
            subject_id: Some(1),
            subject_name: None,
            actor_kind: ActorKind::Token,
            actor_id: None,
            actor_name: "a token".to_owned(),
            detail: "{}".to_owned(),
            kept: None,
            owner_class: None,
            owner_id: None,
            other_owner_class: None,
            other_owner_id: None,
            at: Timestamp::now(),
        };
        for (action, class, expected) in [
            ("serviceCreate", "Service", "added service"),
            ("teamDelete", "Team", "removed team"),
            ("teamDelete", "Service", "changed service"),
            ("userDelete", "Team", "changed team"),
            ("serviceDependencyDelete", "ServiceDependency", "removed service dependency"),
            ("release", "Service", "unlocked"),
            ("apply", "Service", "applied a file to"),
            ("changeRevert", "Service", "reverted a change"),
            ("serviceSuggestionsUndo", "ServiceSuggestion", "undid service suggestions"),
        ] {
            assert_eq!(done(&entry(action, class)), expected, "{action} {class}");
        }
        // With the service that another depends on, the dependency goes, and what is left is only changed.
        for (new, expected) in [("null", "removed service dependency"), ("\"b\"", "changed service dependency")] {
            let detail = format!(r#"{{"changed":{{"source":{{"old":"a","new":{new}}}}}}}"#);
            let part = Model { owner_id: Some(1), detail, ..entry("serviceDelete", "ServiceDependency") };
            assert_eq!(done(&part), expected);
        }
    }
}
