//! Values of files that are skipped, with the reasons. When the catalogue supports one of them, remove its line.

use super::yaml::{At, Node};
use crate::error::quoted;

/// Kinds of Backstage that are skipped, and why.
const KINDS: &[(&str, &str)] = &[
    ("Resource", "infrastructure resources are not read from files"),
    ("Location", "the files that a location names are not followed; name them, or a folder, on the command line"),
    ("Template", "templates make new projects, and say nothing about existing ones"),
];

/// What a note says of a document with a placeholder for a name.
pub(super) const SKELETON: &str =
    "this is not taken: a scaffolder makes files from it, and has yet to fill in the name";

/// What a note says of a document that is none of those that a file of another catalogue has. Its content is not quoted:
/// it may have got there by mistake.
pub(super) const UNKNOWN: &str =
    "the document is not taken: it has neither an apiVersion and a kind, nor a version and one of the known kinds";

/// Keys of Backstage's `spec` that are skipped, and why.
const SPEC: &[(&str, &str)] = &[
    ("subcomponentOf", "a service is not a part of another service"),
    ("consumesApis", "the catalogue records which services a service depends on, not which APIs it uses"),
    ("dependencyOf", "a dependency is written at the service that depends"),
    ("subdomainOf", "a domain is not a part of another domain"),
    ("displayName", "users are not created from files"),
    ("picture", "the catalogue stores no pictures"),
];

/// The ends of the names of Backstage's annotations that are secrets. Any other annotation becomes a tag.
const SECRETS: &[&str] = &["integration-key", "token", "secret", "password"];

/// Returns why a kind of Backstage is skipped.
pub(super) fn kind(kind: &str) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("this kind is not known", |(_, why)| why)
}

/// What a note says of a document with an `apiVersion` and a `kind` that are not Backstage's.
pub(super) fn foreign(node: &At<Node>) -> String {
    let text = |name: &str| match &node.value {
        Node::Mapping(pairs) => pairs.iter().find_map(|(key, value)| match (&key.value, &value.value) {
            (Node::Text(key), Node::Text(value)) if key == name => Some(value.as_str()),
            _ => None,
        }),
        _ => None,
    };
    match text("kind").zip(text("apiVersion")) {
        Some(("Template", _)) => format!("the document of kind \"Template\" is not taken: {}", kind("Template")),
        Some((kind, version)) => {
            let (kind, version) = (quoted(kind), quoted(version));
            format!("the document of kind {kind} is not taken: the catalogue knows none of {version}")
        }
        None => "the document is not taken: its apiVersion or its kind is no text".to_owned(),
    }
}

/// Returns why a key of a Backstage entity's `spec` or `profile` is skipped.
pub(super) fn spec(key: &str) -> &'static str {
    SPEC.iter().find(|(known, _)| *known == key).map_or("the catalogue has no field for it", |(_, why)| why)
}

/// Whether an annotation of Backstage is a secret.
pub(super) fn is_secret(annotation: &str) -> bool {
    SECRETS.iter().any(|end| annotation.ends_with(end))
}
