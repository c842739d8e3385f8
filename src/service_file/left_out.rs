//! What files may say and the catalogue does not take, with the reasons. Whoever builds one of these removes its line.

/// A kind of Backstage that is not taken, and why.
const KINDS: &[(&str, &str)] = &[
    ("API", "API documents are not read from files"),
    ("Resource", "infrastructure resources are not read from files"),
    ("Location", "the files that a location names are not followed; name them, or a folder, on the command line"),
    ("Template", "templates make new projects, and say nothing about existing ones"),
];

/// Keys of Backstage's `spec` that are not taken, and why.
const SPEC: &[(&str, &str)] = &[
    ("subcomponentOf", "a service is not a part of another service"),
    ("providesApis", "API documents are not read from files"),
    ("consumesApis", "API documents are not read from files"),
    ("dependencyOf", "a dependency is written at the service that depends"),
    ("subdomainOf", "a domain is not a part of another domain"),
    ("displayName", "users are not created from files"),
    ("picture", "there are no pictures"),
];

/// How annotations of Backstage end that are secrets. Any other becomes a tag.
const SECRETS: &[&str] = &["integration-key", "token", "secret", "password"];

/// Why a kind of Backstage is not taken.
pub(super) fn kind(kind: &str) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("this kind is not known", |(_, why)| why)
}

/// Why a key of a Backstage entity's `spec` or `profile` is not taken.
pub(super) fn spec(key: &str) -> &'static str {
    SPEC.iter().find(|(known, _)| *known == key).map_or("nothing in the catalogue stands for it", |(_, why)| why)
}

/// Whether an annotation of Backstage is a secret.
pub(super) fn is_secret(annotation: &str) -> bool {
    SECRETS.iter().any(|end| annotation.ends_with(end))
}
