//! How Backstage tells its entities apart: by kind, namespace and name, without regard to case.
//!
//! A reference is `[kind:][namespace/]name`. What it leaves out depends on where it stands: a field has a default kind,
//! and the namespace is that of the entity that refers. <https://backstage.io/docs/features/software-catalog/references>

use std::collections::HashSet;
use std::fmt;

use super::reader::{Entries, Reader};
use super::yaml::{At, Node};
use crate::entity::text;
use crate::error::quoted;

/// The namespace of an entity that names none.
const DEFAULT: &str = "default";

/// An entity's kind, namespace and name, in lower case. Shown as its whole reference, `component:default/cart`, which is
/// an alias of what the entity describes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct EntityRef {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

impl EntityRef {
    /// Parses a reference from a field with this default kind, in an entity of this namespace. Returns `None` for what is
    /// no reference.
    pub(super) fn parse(text: &str, kind: &str, namespace: &str) -> Option<Self> {
        let (kind, rest) = text.split_once(':').unwrap_or((kind, text));
        let (namespace, name) = rest.split_once('/').unwrap_or((namespace, rest));
        Self::new(kind, namespace, name)
    }

    /// Parses a whole reference, such as an alias of an entity.
    pub(super) fn parse_full(text: &str) -> Option<Self> {
        Self::parse(text, "", "")
    }

    pub(super) fn new(kind: &str, namespace: &str, name: &str) -> Option<Self> {
        let is_name = |text: &str| is_name(text.trim());
        let part = |text: &str| text.trim().to_lowercase();
        (is_name(kind) && is_name(namespace) && is_name(name)).then(|| Self {
            kind: part(kind),
            namespace: part(namespace),
            name: part(name),
        })
    }

    /// The short alias: the name, with the namespace if that is not the default.
    pub(super) fn short(&self) -> String {
        short(&self.namespace, &self.name)
    }

    pub(super) fn is_in_default(&self) -> bool {
        self.namespace == DEFAULT
    }
}

impl fmt::Display for EntityRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}/{}", self.kind, self.namespace, self.name)
    }
}

/// The namespace that a text means: nothing means the default.
pub(super) fn namespace(given: Option<&str>) -> &str {
    given.map(str::trim).filter(|text| !text.is_empty()).unwrap_or(DEFAULT)
}

/// The short alias of an entity, in the case in which it is written.
pub(super) fn short(namespace: &str, name: &str) -> String {
    match namespace.eq_ignore_ascii_case(DEFAULT) {
        true => name.to_owned(),
        false => format!("{namespace}/{name}"),
    }
}

/// The name that a message shows for an alias or a whole reference.
pub(super) fn shown(alias: &str) -> String {
    EntityRef::parse_full(alias).map_or_else(|| alias.to_owned(), |entity| entity.short())
}

/// Whether a text can be the name, the namespace or the kind of an entity.
pub(super) fn is_name(text: &str) -> bool {
    let has_none_of = |text: &str| !text.contains([':', '/']) && !text.chars().any(char::is_control);
    has_letters(text) && has_none_of(text) && !is_placeholder(text)
}

/// Whether a text has a letter or a digit, without which it is no name.
pub(super) fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

/// Whether a text has a part that a scaffolder fills in, such as `${{ values.name }}`, `{{ name }}`, `{% if %}` or
/// `<NAME>`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let is_angled = || {
        let inner = text.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map(|(inner, _)| inner.trim());
        inner.is_some_and(|inner| inner.starts_with(|first: char| first.is_alphabetic() || "%=-_".contains(first)))
    };
    ["{{", "{%", "${", "<%"].iter().any(|mark| text.contains(mark)) || is_angled()
}

impl Reader<'_> {
    /// Reads a reference to an entity of the kind `kind`, which is also the default, from an entity of `namespace`: as a
    /// text, or as a mapping of its parts. Returns it whole. Skips references to other kinds.
    pub(super) fn reference(&mut self, node: &At<Node>, kind: &str, namespace: &str) -> Option<At<String>> {
        let (said, found) = match &node.value {
            Node::Mapping(_) => {
                let entries = self.entries("a reference", node, &["kind", "namespace", "name"])?;
                let part = |key: &str| match entries.get(key) {
                    Some(At { value: Node::Text(text), .. }) => Some(text.as_str()),
                    _ => None,
                };
                let (of, within) = (part("kind").unwrap_or(kind), part("namespace").unwrap_or(namespace));
                let name = part("name").unwrap_or_default();
                (format!("{of}:{within}/{name}"), EntityRef::new(of, within, name))
            }
            _ => {
                let text = self.string("a reference", node)?;
                (text.to_owned(), EntityRef::parse(text, kind, namespace))
            }
        };
        let why = match found {
            Some(found) if found.kind == kind && text::fault(&found.to_string(), text::SHORT).is_none() => {
                return Some(node.with(found.to_string()));
            }
            Some(found) if found.kind != kind => format!("it is not a {kind}"),
            _ => "it is no reference".to_owned(),
        };
        self.leave(node.spot, format!("{} is not taken: {why}", quoted(&said)));
        None
    }

    /// Reads a list of references to entities of the kind `kind`. Skips references to other kinds.
    pub(super) fn references(&mut self, node: &At<Node>, kind: &str, namespace: &str) -> Option<Vec<At<String>>> {
        let entries = Entries::from([("references", node)]);
        let list =
            self.items(&entries, "references", text::ENTRIES, |reader, node| reader.reference(node, kind, namespace))?;
        let mut seen = HashSet::with_capacity(list.len());
        Some(list.into_iter().filter(|one| seen.insert(one.value.clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reference_leaves_out_is_that_of_its_place() {
        for (text, expected) in [
            ("payments", "group:quay/payments"),
            ("Payments", "group:quay/payments"),
            ("user:payments", "user:quay/payments"),
            ("Group:default/payments", "group:default/payments"),
            ("Quay/Payments", "group:quay/payments"),
            (" group:pier/payments ", "group:pier/payments"),
        ] {
            let found = EntityRef::parse(text, "group", "quay").map(|entity| entity.to_string());
            assert_eq!(found.as_deref(), Some(expected), "{text}");
        }
        for text in ["", " ", "group:", "quay/", ":x", "/x", "a/b/c", "a:b:c", "${{ values.owner }}", "<OWNER>", "--"] {
            assert_eq!(EntityRef::parse(text, "group", "quay"), None, "{text}");
        }
    }

    #[test]
    fn a_placeholder_is_what_a_scaffolder_fills_in() {
        for text in
            ["${{ values.a }}", "x-{{ a }}", "{{cookiecutter.a}}", "{% if a %}", "<NAME>", "<your team>", "${A}"]
        {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["a", "a < b", "a > b <", "{a}", "$a", "->", "<3>"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
