//! What this service can do, for clients that ask before they send anything (RFC 7644, section 4).

use serde_json::{Value, json};

use super::error::{Refusal, absent};
use super::{Answer, MOST_RESULTS};

/// The schema of users.
pub const USER: &str = "urn:ietf:params:scim:schemas:core:2.0:User";
/// The schema of groups.
pub const GROUP: &str = "urn:ietf:params:scim:schemas:core:2.0:Group";
/// The schema of pages.
pub const LIST: &str = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
/// The schema of errors.
pub const ERROR: &str = "urn:ietf:params:scim:api:messages:2.0:Error";
/// The schema of the body of a PATCH.
#[cfg(test)]
pub const PATCH: &str = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

/// Answers a request for one of the three resources that describe the service.
pub fn answer(base: &str, query: &str, parts: &[&str]) -> Result<Answer, Refusal> {
    // They are few, and cannot be searched (RFC 7644, section 4).
    if form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name.eq_ignore_ascii_case("filter")) {
        return Err(Refusal::forbidden("This resource cannot be filtered."));
    }
    let all = match parts.first() {
        Some(&"ServiceProviderConfig") if parts.len() == 1 => return Ok(Answer::new(200, config(base))),
        Some(&"ResourceTypes") => vec![kind(base, "User", USER), kind(base, "Group", GROUP)],
        Some(&"Schemas") => vec![user(base), group(base)],
        _ => return Err(Refusal::not_found("There is nothing at this address.")),
    };
    match parts {
        [_] => Ok(Answer { status: 200, body: Some(listed(all)), location: None }),
        [_, id] => {
            let found = all.into_iter().find(|one| one["id"].as_str().is_some_and(|own| own.eq_ignore_ascii_case(id)));
            found.map(|one| Answer::new(200, one)).ok_or_else(|| absent(id))
        }
        _ => Err(Refusal::not_found("There is nothing at this address.")),
    }
}

fn listed(all: Vec<Value>) -> Value {
    json!({
        "schemas": [LIST],
        "totalResults": all.len(),
        "startIndex": 1,
        "itemsPerPage": all.len(),
        "Resources": all,
    })
}

fn config(base: &str) -> Value {
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
        "patch": { "supported": true },
        "bulk": { "supported": false, "maxOperations": 0, "maxPayloadSize": 0 },
        "filter": { "supported": true, "maxResults": MOST_RESULTS },
        "changePassword": { "supported": false },
        "sort": { "supported": false },
        "etag": { "supported": false },
        "authenticationSchemes": [{
            "type": "oauthbearertoken",
            "name": "Bearer token",
            "description": "A token with the scope scim, in the header Authorization.",
            "specUri": "https://www.rfc-editor.org/rfc/rfc6750",
            "primary": true,
        }],
        "meta": { "resourceType": "ServiceProviderConfig", "location": format!("{base}/ServiceProviderConfig") },
    })
}

fn kind(base: &str, name: &str, schema: &str) -> Value {
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
        "id": name,
        "name": name,
        "endpoint": format!("/{name}s"),
        "schema": schema,
        "meta": { "resourceType": "ResourceType", "location": format!("{base}/ResourceTypes/{name}") },
    })
}

/// An attribute with one value.
fn attribute(name: &str, kind: &str, description: &str) -> Value {
    json!({
        "name": name,
        "type": kind,
        "multiValued": false,
        "description": description,
        "required": false,
        "caseExact": false,
        "mutability": "readWrite",
        "returned": "default",
        "uniqueness": "none",
    })
}

/// An attribute with these characteristics beside those of [`attribute`].
fn characterized(mut attribute: Value, others: &[(&str, Value)]) -> Value {
    for (name, value) in others {
        attribute[*name] = value.clone();
    }
    attribute
}

/// An attribute with parts.
fn complex(name: &str, is_list: bool, description: &str, parts: Vec<Value>) -> Value {
    characterized(
        attribute(name, "complex", description),
        &[("multiValued", is_list.into()), ("subAttributes", parts.into())],
    )
}

fn external_id() -> Value {
    let attribute = attribute("externalId", "string", "The id that the identity provider gave.");
    characterized(attribute, &[("caseExact", true.into()), ("uniqueness", "server".into())])
}

fn schema(base: &str, id: &str, name: &str, description: &str, attributes: Vec<Value>) -> Value {
    json!({
        "schemas": ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
        "id": id,
        "name": name,
        "description": description,
        "attributes": attributes,
        "meta": { "resourceType": "Schema", "location": format!("{base}/Schemas/{id}") },
    })
}

fn user(base: &str) -> Value {
    let read_only = [("mutability", json!("readOnly"))];
    let unique = [("required", json!(true)), ("uniqueness", json!("server"))];
    let emails = vec![
        characterized(attribute("value", "string", "The address."), &unique[1..]),
        characterized(attribute("type", "string", "Always work."), &[("canonicalValues", json!(["work"]))]),
        attribute("primary", "boolean", "Always true."),
    ];
    let groups = vec![
        characterized(attribute("value", "string", "The id of the group."), &read_only),
        characterized(
            attribute("$ref", "reference", "The group."),
            &[&read_only[..], &[("referenceTypes", json!(["Group"]))]].concat(),
        ),
        characterized(attribute("display", "string", "The name of the group."), &read_only),
        characterized(attribute("type", "string", "Always direct."), &read_only),
    ];
    let name = vec![
        attribute("formatted", "string", "The whole name."),
        attribute("givenName", "string", "The given name."),
        attribute("familyName", "string", "The family name."),
    ];
    let attributes = vec![
        characterized(attribute("userName", "string", "By which the identity provider knows the person."), &unique),
        external_id(),
        attribute("displayName", "string", "The name that is shown."),
        complex("name", false, "The name, in parts.", name),
        complex(
            "emails",
            true,
            "The email address, of which a user has one. Without it, userName must be one.",
            emails,
        ),
        attribute(
            "active",
            "boolean",
            "Whether the person may sign in. All their sessions end when this becomes false.",
        ),
        characterized(complex("groups", true, "The groups that the user is in.", groups), &read_only),
    ];
    schema(base, USER, "User", "A user", attributes)
}

fn group(base: &str) -> Value {
    let fixed = [("mutability", json!("immutable"))];
    let members = vec![
        characterized(attribute("value", "string", "The id of the user."), &fixed),
        characterized(
            attribute("$ref", "reference", "The user."),
            &[&fixed[..], &[("referenceTypes", json!(["User"]))]].concat(),
        ),
        characterized(attribute("display", "string", "The name of the user."), &[("mutability", json!("readOnly"))]),
        characterized(
            attribute("type", "string", "Always User."),
            &[&fixed[..], &[("canonicalValues", json!(["User"]))]].concat(),
        ),
    ];
    let unique = [("required", json!(true)), ("uniqueness", json!("server"))];
    let attributes = vec![
        characterized(attribute("displayName", "string", "The name, by which the settings name the group."), &unique),
        external_id(),
        complex("members", true, "The members of the group, which are users.", members),
    ];
    schema(base, GROUP, "Group", "A group, which gives its members what the settings say", attributes)
}
