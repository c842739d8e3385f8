//! The names of attributes, which are compared in any case (RFC 7643, section 2.1), and which attributes a client wants to
//! see (RFC 7644, section 3.9).

use serde_json::{Map, Value};

use super::error::{Refusal, ScimType};
use super::schemas;

/// The attributes that a request may have, as they are written. Others are left as they are.
const KNOWN: &[&str] = &[
    "schemas",
    "id",
    "externalId",
    "meta",
    "userName",
    "displayName",
    "name",
    "formatted",
    "familyName",
    "givenName",
    "emails",
    "value",
    "type",
    "primary",
    "display",
    "active",
    "groups",
    "roles",
    "members",
    "$ref",
    "Operations",
    "op",
    "path",
];

/// Writes the names of an object's attributes, at any depth, as the schemas do.
///
/// # Errors
/// Two names differ only in case.
pub fn normalised(value: Value) -> Result<Value, Refusal> {
    match value {
        Value::Array(items) => items.into_iter().map(normalised).collect::<Result<_, _>>().map(Value::Array),
        Value::Object(members) => {
            let mut named = Map::new();
            for (name, value) in members {
                let known = KNOWN.iter().find(|known| known.eq_ignore_ascii_case(&name));
                let name = known.map_or(name, |known| (*known).to_owned());
                if named.insert(name.clone(), normalised(value)?).is_some() {
                    return Err(Refusal::new(ScimType::InvalidSyntax, format!("The attribute {name} is given twice.")));
                }
            }
            Ok(Value::Object(named))
        }
        value => Ok(value),
    }
}

/// The name of an attribute without the URN of a core schema before it.
pub fn without_urn(name: &str) -> &str {
    let urns = [schemas::USER, schemas::GROUP];
    let rest = urns.iter().find_map(|urn| {
        let (before, rest) = name.split_at_checked(urn.len())?;
        before.eq_ignore_ascii_case(urn).then_some(rest)?.strip_prefix(':')
    });
    rest.unwrap_or(name)
}

/// Which attributes a client wants to see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Shape {
    /// Those that are shown by default, which are all.
    #[default]
    All,
    /// These, and those that are always shown.
    Only(Vec<String>),
    /// All but these.
    Without(Vec<String>),
}

/// The attributes that are always shown.
const ALWAYS: [&str; 2] = ["schemas", "id"];

impl Shape {
    /// Reads the parameters `attributes` and `excludedAttributes`. The first one counts if both are given.
    pub fn new(only: Option<&str>, without: Option<&str>) -> Self {
        let names = |list: &str| {
            let names = list.split(',').map(|name| without_urn(name.trim()).to_ascii_lowercase());
            names.filter(|name| !name.is_empty()).collect::<Vec<_>>()
        };
        match (only.map(names), without.map(names)) {
            (Some(only), _) if !only.is_empty() => Self::Only(only),
            (_, Some(without)) if !without.is_empty() => Self::Without(without),
            _ => Self::All,
        }
    }

    /// Whether an attribute is shown, at least in part.
    pub fn wants(&self, name: &str) -> bool {
        let own = |given: &String| {
            let first = given.split_once('.').map_or(&**given, |(first, _)| first);
            first.eq_ignore_ascii_case(name)
        };
        match self {
            Self::All => true,
            Self::Only(names) => ALWAYS.contains(&name) || names.iter().any(own),
            Self::Without(names) => {
                ALWAYS.contains(&name) || !names.iter().any(|given| given.eq_ignore_ascii_case(name))
            }
        }
    }

    /// Leaves out of a resource what the client does not want to see.
    pub fn apply(&self, resource: Value) -> Value {
        let Value::Object(members) = resource else { return resource };
        let shown = members.into_iter().filter(|(name, _)| self.wants(name));
        shown.map(|(name, value)| (name.clone(), self.trim(&name, value))).collect::<Map<_, _>>().into()
    }

    /// Leaves out of an attribute what the client does not want to see of it.
    fn trim(&self, attribute: &str, value: Value) -> Value {
        if let Value::Array(items) = value {
            return items.into_iter().map(|item| self.trim(attribute, item)).collect();
        }
        let Value::Object(members) = value else { return value };
        let is_named = |names: &[String], sub: &str| {
            names.iter().any(|given| {
                given.split_once('.').is_some_and(|(first, rest)| {
                    first.eq_ignore_ascii_case(attribute) && rest.eq_ignore_ascii_case(sub)
                })
            })
        };
        let is_shown = |sub: &str| match self {
            Self::All => true,
            Self::Only(names) => {
                names.iter().any(|given| given.eq_ignore_ascii_case(attribute)) || is_named(names, sub)
            }
            Self::Without(names) => !is_named(names, sub),
        };
        members.into_iter().filter(|(sub, _)| is_shown(sub)).collect::<Map<_, _>>().into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_written_as_in_the_schemas_and_none_is_given_twice() {
        let given = json!({ "USERNAME": "a", "Emails": [{ "VALUE": "b" }], "x": 1 });
        let expected = json!({ "userName": "a", "emails": [{ "value": "b" }], "x": 1 });
        assert_eq!(normalised(given).expect("an object"), expected);
        normalised(json!({ "userName": "a", "username": "b" })).expect_err("twice");
    }

    #[test]
    fn a_client_sees_what_it_asks_for() {
        let resource = json!({
            "schemas": ["s"], "id": "1", "userName": "a", "name": { "givenName": "G", "familyName": "F" },
            "emails": [{ "value": "v", "type": "work" }],
        });
        for (only, without, expected) in [
            (None, None, resource.clone()),
            (Some("USERNAME"), None, json!({ "schemas": ["s"], "id": "1", "userName": "a" })),
            (
                Some("name.familyName, emails.type"),
                Some("id"),
                json!({ "schemas": ["s"], "id": "1", "name": { "familyName": "F" }, "emails": [{ "type": "work" }] }),
            ),
            (
                Some("urn:ietf:params:scim:schemas:core:2.0:User:userName"),
                None,
                json!({ "schemas": ["s"], "id": "1", "userName": "a" }),
            ),
            (
                None,
                Some("id,emails,name.givenName"),
                json!({ "schemas": ["s"], "id": "1", "userName": "a", "name": { "familyName": "F" } }),
            ),
            (Some(""), Some(","), resource.clone()),
        ] {
            assert_eq!(Shape::new(only, without).apply(resource.clone()), expected, "{only:?} {without:?}");
        }
    }
}
