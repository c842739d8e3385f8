//! In which form a document is written: that of service files, or that of another catalogue.
//!
//! Files of our own form are applied all or nothing. In those of other catalogues, what cannot be taken is only a note.

use super::catalog_info;
use super::yaml::{At, Node};

/// The kinds of documents. `component` is another word for a service.
pub(super) const KINDS: &[&str] = &["service", "component", "repository", "team", "system", "domain"];

/// The keys of a service that only our own form has.
const OWN_KEYS: &[&str] = &["contacts", "relationships", "api_document_url"];
/// The keys of a service that only the form of `opslevel.yml` has.
const OTHER_KEYS: &[&str] = &["alert_sources", "alert sources"];

/// The form of a YAML document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Our own: it has a version, or one of the [`KINDS`].
    Own,
    /// That of `opslevel.yml`, which looks like our own.
    OpsLevel,
    /// An entity of Backstage.
    Backstage,
    /// Anything else with an `apiVersion` and a `kind`, such as a template of a scaffolder.
    Foreign,
    /// Nothing at all.
    Empty,
    /// Anything else.
    Unknown,
}

impl Form {
    pub(super) fn detect(node: &At<Node>) -> Self {
        let pairs = match &node.value {
            Node::Null => return Self::Empty,
            Node::Mapping(pairs) => pairs,
            _ => return Self::Unknown,
        };
        let has = |wanted: &str| pairs.iter().any(|(key, _)| matches!(&key.value, Node::Text(key) if key == wanted));
        match has("apiVersion") && has("kind") {
            true if catalog_info::is_entity(node) => Self::Backstage,
            true => Self::Foreign,
            false if has("version") || KINDS.iter().any(|kind| has(kind)) => Self::Own,
            false => Self::Unknown,
        }
    }

    /// The same in a file in which documents with a version are another catalogue's, or not.
    pub(super) fn within(node: &At<Node>, is_opslevel: bool) -> Self {
        match Self::detect(node) {
            Self::Own if is_opslevel => Self::OpsLevel,
            form => form,
        }
    }

    /// Whether it is that of another catalogue.
    pub(super) fn is_lenient(self) -> bool {
        matches!(self, Self::OpsLevel | Self::Backstage | Self::Foreign)
    }
}

/// Whether a file's name is one that another catalogue looks for.
pub(super) fn is_named_by_another(path: &str) -> bool {
    ["catalog-info", "opslevel"].contains(&&*stem(path))
}

/// The file's name without its ending, in lower case.
fn stem(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.strip_suffix(".yml").or(name.strip_suffix(".yaml")).unwrap_or(name);
    stem.to_lowercase()
}

/// Whether the documents of a file with a `version` are those of another catalogue. Its name says so, else what only one
/// of both forms has, else a first line `---`, with which that form is written.
pub(super) fn is_opslevel<'n>(path: &str, text: &str, nodes: impl Iterator<Item = &'n At<Node>>) -> bool {
    match &*stem(path) {
        "opslevel" => return true,
        "rollcall" => return false,
        _ => {}
    }
    let marks = nodes.filter(|node| Form::detect(node) == Form::Own).map(Marks::read);
    let marks = marks.fold(Marks::default(), |one, two| Marks {
        is_own: one.is_own || two.is_own,
        is_other: one.is_other || two.is_other,
    });
    marks.is_other || !marks.is_own && begins_with_a_separator(text)
}

/// Which of both forms a document can only be in.
#[derive(Default)]
struct Marks {
    is_own: bool,
    is_other: bool,
}

impl Marks {
    fn read(node: &At<Node>) -> Self {
        let Node::Mapping(pairs) = &node.value else { return Self::default() };
        let mut marks = Self::default();
        for (key, value) in pairs {
            match (&key.value, &value.value) {
                (Node::Text(kind), Node::Mapping(entries)) if ["service", "component"].contains(&&**kind) => {
                    entries.iter().for_each(|(key, value)| marks.add(key, value));
                }
                // That of the file itself.
                (Node::Text(kind), Node::Mapping(entries)) if kind == "repository" && !has_name(entries) => {
                    marks.is_other = true;
                }
                (Node::Text(key), _) if KINDS.contains(&&**key) => marks.is_own = true,
                _ => {}
            }
        }
        marks
    }

    /// Adds what a key of a service says.
    fn add(&mut self, key: &At<Node>, value: &At<Node>) {
        let Node::Text(key) = &key.value else { return };
        let has = |is_meant: fn(&Node) -> bool| match &value.value {
            Node::List(items) => items.iter().any(|item| is_meant(&item.value)),
            _ => false,
        };
        let is_text = |node: &Node| matches!(node, Node::Text(_));
        let is_mapping = |node: &Node| matches!(node, Node::Mapping(_));
        self.is_other |= OTHER_KEYS.contains(&&**key) || key == "repositories" && has(is_mapping);
        self.is_own |= OWN_KEYS.contains(&&**key)
            || ["repositories", "dependencies"].contains(&&**key) && has(is_text)
            || key == "tags" && is_mapping(&value.value);
    }
}

fn has_name(entries: &[(At<Node>, At<Node>)]) -> bool {
    let names = ["name", "alias", "url"];
    entries.is_empty()
        || entries.iter().any(|(key, _)| matches!(&key.value, Node::Text(key) if names.contains(&&**key)))
}

fn begins_with_a_separator(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next() == Some("---")
}

/// Whether a text that is no YAML would be an entity of Backstage, or the like.
pub(super) fn looks_like_an_entity(text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    has("apiVersion:") && has("kind:")
}
