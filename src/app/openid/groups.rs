//! The groups that a provider's claim names.

use serde_json::Value;

use super::answer::Object;
use crate::group_mapping::plain;

/// The most groups of a person that are looked at.
pub const MOST: usize = 1_000;

/// The groups that a claim names: a list of texts, one text, or the keys of an object. `claim` may be a path, such as
/// `realm_access.roles`. `None` if there is no such claim. A slash at the beginning, as Keycloak writes paths, is left out.
pub(super) fn from_claims(claims: &Object, claim: &str) -> Option<Vec<String>> {
    let value = match claims.get(claim) {
        Some(value) => value,
        None => {
            let mut steps = claim.split('.');
            let first = claims.get(steps.next()?)?;
            steps.try_fold(first, |value, step| value.get(step))?
        }
    };
    let names: Vec<&str> = match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        Value::String(name) => vec![name],
        Value::Object(names) => names.keys().map(String::as_str).collect(),
        _ => return None,
    };
    Some(names.into_iter().take(MOST).map(|name| plain(name).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn groups_are_read_from_what_providers_send() {
        let claims = json!({
            "groups": ["/platform", "dev", 7, "/org/team"],
            "realm_access": { "roles": ["admin"] },
            "urn:zitadel:iam:org:project:roles": { "admin": { "1": "x" }, "viewer": {} },
            "one": "ops", "none": null, "empty": [], "dotted.name": ["a"],
        });
        let claims = claims.as_object().expect("an object");
        for (claim, expected) in [
            ("groups", Some(vec!["platform", "dev", "org/team"])),
            ("realm_access.roles", Some(vec!["admin"])),
            ("urn:zitadel:iam:org:project:roles", Some(vec!["admin", "viewer"])),
            ("one", Some(vec!["ops"])),
            ("empty", Some(vec![])),
            ("dotted.name", Some(vec!["a"])),
            ("none", None),
            ("absent", None),
            ("realm_access.absent", None),
        ] {
            let read = from_claims(claims, claim);
            assert_eq!(read, expected.map(|names| names.into_iter().map(str::to_owned).collect()), "{claim}");
        }
    }
}
