//! The operations of a PATCH (RFC 7644, section 3.5.2), as identity providers send them: with and without a path, in any case.

use serde_json::Value;

use super::error::{Refusal, ScimType};
use super::filter::{Attribute, Path};
use super::{resource, schemas};

/// The most operations of a request, each attribute of one without a path counted alone.
pub const MOST_OPERATIONS: usize = 1_000;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Adds a value, or replaces one where there is only one.
    Add,
    /// Replaces a value.
    Replace,
    /// Removes a value.
    Remove,
}

/// An operation on an attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// What it does.
    pub op: Op,
    /// The attribute.
    pub path: Path,
    /// The value, or null.
    pub value: Value,
}

/// Reads the operations in a body.
pub fn read(bytes: &[u8]) -> Result<Vec<Operation>, Refusal> {
    let syntax = |detail: &str| Refusal::new(ScimType::InvalidSyntax, detail);
    let mut body = resource::body(bytes)?;
    let Some(Value::Array(given)) = body.remove("Operations") else {
        return Err(syntax("The body must have a list of Operations."));
    };
    let mut operations = Vec::with_capacity(given.len().min(MOST_OPERATIONS));
    for one in given {
        let Value::Object(mut one) = one else { return Err(syntax("An operation must be an object.")) };
        let op = match one.get("op").and_then(Value::as_str).map(str::to_ascii_lowercase).as_deref() {
            Some("add") => Op::Add,
            Some("replace") => Op::Replace,
            Some("remove") => Op::Remove,
            _ => return Err(syntax("The op of an operation must be add, replace or remove.")),
        };
        let value = one.remove("value").unwrap_or(Value::Null);
        match (one.get("path"), value) {
            (Some(Value::String(path)), value) if !path.trim().is_empty() => {
                operations.push(Operation { op, path: Path::read(path)?, value });
            }
            (Some(Value::String(_) | Value::Null) | None, _) if op == Op::Remove => {
                return Err(Refusal::new(ScimType::NoTarget, "An operation that removes must have a path."));
            }
            (Some(Value::String(_) | Value::Null) | None, Value::Object(values)) => {
                for (name, value) in values {
                    read_attribute(op, &name, value, &mut operations);
                }
            }
            (Some(Value::String(_) | Value::Null) | None, _) => {
                return Err(Refusal::value("The value of an operation without a path must be an object."));
            }
            (Some(_), _) => {
                return Err(Refusal::new(ScimType::InvalidPath, "The path of an operation must be a text."));
            }
        }
        if operations.len() > MOST_OPERATIONS {
            return Err(Refusal::too_large(format!("A request has at most {MOST_OPERATIONS} operations.")));
        }
    }
    Ok(operations)
}

/// Reads an attribute of an operation without a path. Its name may be a path itself, or the URN of a schema. What nobody
/// changes is left out, as in a whole resource: Okta sends the id along.
fn read_attribute(op: Op, name: &str, value: Value, operations: &mut Vec<Operation>) {
    if READ_ONLY.iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return;
    }
    let is_core = [schemas::USER, schemas::GROUP].iter().any(|urn| urn.eq_ignore_ascii_case(name));
    match value {
        Value::Object(values) if is_core => {
            for (name, value) in values {
                operations.push(Operation { op, path: named(&name), value });
            }
        }
        value => operations.push(Operation { op, path: named(name), value }),
    }
}

/// The path that is the name of an attribute. One that cannot be a path names an attribute that does not exist.
fn named(name: &str) -> Path {
    Path::read(name).unwrap_or_else(|_| {
        let name = name.chars().take(100).collect::<String>().to_ascii_lowercase();
        Path { attribute: Attribute { name, sub: None }, filter: None }
    })
}

/// The attributes of RFC 7643 that this service does not keep, in lower case. Operations on them change nothing: an identity
/// provider would otherwise fail to deactivate somebody for the sake of a telephone number.
const NOT_KEPT: &[&str] = &[
    "schemas",
    "nickname",
    "profileurl",
    "title",
    "usertype",
    "preferredlanguage",
    "locale",
    "timezone",
    "password",
    "phonenumbers",
    "ims",
    "photos",
    "addresses",
    "entitlements",
    "roles",
    "x509certificates",
];

/// The attributes that nobody changes, in lower case.
const READ_ONLY: &[&str] = &["id", "meta", "groups"];

/// Says why an operation cannot be carried out on an attribute that a resource does not have.
///
/// # Errors
/// The attribute is unknown, or nobody may change it.
pub fn check_other(attribute: &Attribute) -> Result<(), Refusal> {
    let name = &*attribute.name;
    if READ_ONLY.contains(&name) {
        return Err(Refusal::new(ScimType::Mutability, format!("The attribute {name} cannot be changed.")));
    }
    if NOT_KEPT.contains(&name) || name.starts_with("urn:") {
        return Ok(());
    }
    Err(Refusal::new(ScimType::InvalidPath, format!("The path names the attribute {name}, which does not exist.")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(operations: Value) -> Result<Vec<Operation>, Refusal> {
        super::read(json!({ "schemas": [schemas::PATCH], "operations": operations }).to_string().as_bytes())
    }

    #[test]
    fn operations_are_read_with_and_without_a_path() {
        let operations = read(json!([
            { "op": "Replace", "path": "ACTIVE", "value": "False" },
            { "op": "add", "value": { "displayName": "A", "name.familyName": "B" } },
            { "op": "replace", "value": { "urn:ietf:params:scim:schemas:core:2.0:User": { "active": false } } },
            { "op": "REMOVE", "path": "members[value eq \"7\"]" },
        ]));
        let operations = operations.expect("operations");
        let read: Vec<_> = operations.iter().map(|one| (one.op, &*one.path.attribute.name)).collect();
        let expected = [
            (Op::Replace, "active"),
            (Op::Add, "displayname"),
            (Op::Add, "name"),
            (Op::Replace, "active"),
            (Op::Remove, "members"),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_no_operation_is_refused_with_its_cause() {
        for (operations, kind) in [
            (json!(null), ScimType::InvalidSyntax),
            (json!([7]), ScimType::InvalidSyntax),
            (json!([{ "op": "move", "path": "active" }]), ScimType::InvalidSyntax),
            (json!([{ "op": "remove" }]), ScimType::NoTarget),
            (json!([{ "op": "replace", "value": "x" }]), ScimType::InvalidValue),
            (json!([{ "op": "replace", "path": 7, "value": "x" }]), ScimType::InvalidPath),
            (json!([{ "op": "replace", "path": "a b", "value": "x" }]), ScimType::InvalidPath),
            (
                json!(vec![json!({ "op": "replace", "path": "active", "value": true }); MOST_OPERATIONS + 1]),
                ScimType::TooMany,
            ),
        ] {
            assert_eq!(read(operations.clone()).expect_err("no operation").kind, Some(kind));
        }
    }
}
