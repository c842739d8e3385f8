//! Reads the documents of service files from YAML, and checks everything that needs no catalogue.

use std::collections::{HashMap, HashSet};

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Value;

use super::Problems;
use super::document::{Document, Given, RepositoryDocument, ServiceDocument, Subject};
use super::yaml::{self, At, Node, Spot};
use crate::entity::field_rule::{FieldRule, FieldRules, ValueRule};
use crate::entity::{repository, service, tag, text};
use crate::error::{UserError, quoted};

const DOCUMENT: &[&str] = &["version", "service", "repository"];
/// The keys with lists, of a service and of a repository.
const SERVICE_LISTS: &[&str] = &["aliases", "tags", "repositories"];
const REPOSITORY_LISTS: &[&str] = &["tags"];
/// The keys that identify the subject of a document.
const SERVICE_NAMES: &[&str] = &["name"];
const REPOSITORY_NAMES: &[&str] = &["name", "alias"];

/// The fields of a table that a document can set, without those that identify its subject.
fn fields<E: FieldRules>() -> impl Iterator<Item = &'static FieldRule<E::Column>> {
    let is_name = |rule: &FieldRule<E::Column>| ["name", "default_alias"].contains(&rule.key());
    E::FIELDS.iter().filter(move |rule| rule.is_in_files && !is_name(rule))
}

/// All keys of a subject, in the order of README.md.
fn keys<E: FieldRules>(names: &[&'static str], lists: &[&'static str]) -> Vec<&'static str> {
    names.iter().copied().chain(fields::<E>().map(FieldRule::key)).chain(lists.iter().copied()).collect()
}

/// Reads the documents of a file and reports mistakes. Leaves out documents without a subject.
pub(super) fn read(file: usize, text: &str, problems: &mut Problems) -> Vec<Document> {
    let nodes = yaml::documents(text);
    if nodes.is_empty() {
        problems.add(file, Spot { line: 1, column: 1 }, "there is no document in this file");
    }
    let mut documents = Vec::with_capacity(nodes.len());
    for node in nodes {
        let subject = match node {
            Ok(node) => Reader { file, problems }.document(&node),
            Err(complaint) => {
                problems.add(file, complaint.spot, complaint.value);
                None
            }
        };
        match subject {
            Some(subject) => documents.push(Document { file, subject }),
            None => problems.documents_are_missing = true,
        }
    }
    documents
}

struct Reader<'a> {
    file: usize,
    problems: &'a mut Problems,
}

type Entries<'a> = HashMap<&'a str, &'a At<Node>>;

impl Reader<'_> {
    fn wrong(&mut self, spot: Spot, message: impl Into<String>) {
        self.problems.add(self.file, spot, message);
    }

    fn take<T>(&mut self, spot: Spot, checked: Result<T, UserError>) -> Option<T> {
        checked.map_err(|error| self.wrong(spot, error.message)).ok()
    }

    /// Reads the entries of a mapping, and reports keys that are not in `known`.
    fn entries<'a>(&mut self, what: &str, node: &'a At<Node>, known: &[&str]) -> Option<Entries<'a>> {
        let mut entries = Entries::new();
        for (key, value) in self.mapping(what, node)? {
            if known.contains(&key.value) {
                entries.insert(key.value, value);
            } else {
                let known = known.join(", ");
                self.wrong(key.spot, format!("{what} has no key {}; its keys are {known}", quoted(key.value)));
            }
        }
        Some(entries)
    }

    /// Reads the entries of a mapping with any keys, and reports repeated ones.
    fn mapping<'a>(&mut self, what: &str, node: &'a At<Node>) -> Option<Vec<(At<&'a str>, &'a At<Node>)>> {
        let Node::Mapping(pairs) = &node.value else {
            self.wrong_kind(what, "a mapping", node);
            return None;
        };
        let mut entries: Vec<(At<&str>, &At<Node>)> = Vec::with_capacity(pairs.len());
        let mut seen = HashSet::with_capacity(pairs.len());
        for (key, value) in pairs {
            match &key.value {
                Node::Text(text) if !seen.insert(text) => {
                    self.wrong(key.spot, format!("the key {} occurs twice", quoted(text)));
                }
                Node::Text(text) => entries.push((key.with(text.as_str()), value)),
                _ => self.wrong_kind("a key", "a string", key),
            }
        }
        Some(entries)
    }

    fn wrong_kind(&mut self, what: &str, expected: &str, node: &At<Node>) {
        let hint = match node.value {
            Node::Flag(_) | Node::Number(_) if expected == "a string" => "; put it in quotes",
            _ => "",
        };
        self.wrong(node.spot, format!("{what} must be {expected}, not {}{hint}", node.value.kind()));
    }

    /// Reads a document. Messages quote its content only if it says that it is a service file. Any other file may have
    /// been named by mistake, and its secrets must not end up in a pipeline's log.
    fn document(&mut self, node: &At<Node>) -> Option<Subject> {
        let Node::Mapping(pairs) = &node.value else {
            self.wrong_kind("a document", "a mapping", node);
            return None;
        };
        let has = |name: &str| pairs.iter().any(|(key, _)| matches!(&key.value, Node::Text(key) if key == name));
        let (version, subject) = (has("version"), has("service") != has("repository"));
        if !DOCUMENT.iter().any(|key| has(key)) {
            self.wrong(node.spot, "this is not a service file: write version: 1, and service or repository");
            return None;
        }
        if !version {
            self.wrong(node.spot, "the version is missing: write version: 1");
        }
        if !subject {
            self.wrong(node.spot, "a document has exactly one of the keys service and repository");
        }
        if !version || !subject {
            return None;
        }
        let entries = self.entries("a document", node, DOCUMENT)?;
        match entries.get("version") {
            Some(At { value: Node::Number(1.0), .. }) | None => {}
            Some(other) => self.wrong(other.spot, "this program does not support this version: write version: 1"),
        }
        match (entries.get("service"), entries.get("repository")) {
            (Some(service), _) => self.service(service).map(|service| Subject::Service(Box::new(service))),
            (None, Some(repository)) => self.repository(repository).map(Subject::Repository),
            (None, None) => None,
        }
    }

    fn service(&mut self, node: &At<Node>) -> Option<ServiceDocument> {
        let keys = keys::<service::Entity>(SERVICE_NAMES, SERVICE_LISTS);
        let entries = self.entries("a service", node, &keys)?;
        let name = self.name("a service", node, &entries, service::Entity::rule(service::Column::Name));
        let fields = self.fields::<service::Entity>(&entries);
        let aliases = self.list(&entries, "aliases", "an alias", |alias| text::required("alias", alias, text::SHORT));
        let tags = self.tags(&entries);
        let repositories = self.list(&entries, "repositories", "a repository", |named| {
            let alias = if named.contains("://") {
                repository::check_url(named)?;
                let pathless = || UserError::new("repositories", "this is not the URL of a repository");
                repository::alias_of(named).ok_or_else(pathless)?
            } else {
                named.to_owned()
            };
            text::required("repository", &alias, text::SHORT)
        });
        Some(ServiceDocument { name: name?, fields, aliases, tags, repositories })
    }

    fn repository(&mut self, node: &At<Node>) -> Option<RepositoryDocument> {
        let keys = keys::<repository::Entity>(REPOSITORY_NAMES, REPOSITORY_LISTS);
        let entries = self.entries("a repository", node, &keys)?;
        let name = self.name("a repository", node, &entries, repository::Entity::rule(repository::Column::Name));
        let fields = self.fields::<repository::Entity>(&entries);
        let tags = self.tags(&entries);
        let given = entries.get("alias").and_then(|alias| {
            let rule = repository::Entity::rule(repository::Column::DefaultAlias);
            Some(alias.with(self.text(alias, "alias", |text| text::optional("alias", text, rule.most()))??))
        });
        let url = fields.iter().find(|given| given.rule.key() == "url").and_then(|given| match &given.said {
            At { value: Value::String(Some(address)), spot } => Some(At { value: address, spot: *spot }),
            _ => None,
        });
        let alias = match (given, url) {
            (Some(alias), _) => alias,
            (None, Some(At { value: address, spot })) => {
                let alias = repository::alias_of(address).or_else(|| Some(name.as_ref()?.value.clone()))?;
                At { value: self.take(spot, text::at_most("alias", &alias, text::SHORT))?, spot }
            }
            (None, None) => name.clone()?,
        };
        Some(RepositoryDocument { name: name?.value, alias, fields, tags })
    }

    fn name<C: ColumnTrait>(
        &mut self,
        what: &str,
        node: &At<Node>,
        entries: &Entries<'_>,
        rule: &FieldRule<C>,
    ) -> Option<At<String>> {
        let Some(name) = entries.get("name") else {
            self.wrong(node.spot, format!("{what} needs a name"));
            return None;
        };
        let Node::Text(value) = &name.value else {
            self.wrong_kind("name", "a string", name);
            return None;
        };
        self.take(name.spot, rule.required_text(value)).map(|value| name.with(value))
    }

    /// Reads the fields of a table from the entries.
    fn fields<E: FieldRules>(&mut self, entries: &Entries<'_>) -> Vec<Given<E::Column>> {
        let mut given = Vec::with_capacity(entries.len());
        for rule in fields::<E>() {
            let Some(node) = entries.get(rule.key()) else { continue };
            let value = match (rule.value, &node.value) {
                (ValueRule::Flag, Node::Flag(value)) => Some(Value::from(*value)),
                (ValueRule::Flag, _) => {
                    self.wrong_kind(rule.key(), "true or false", node);
                    None
                }
                _ => self.text(node, rule.key(), |text| rule.check_text(rule.key(), text)).map(Value::from),
            };
            given.extend(value.map(|value| Given { rule, said: node.with(value) }));
        }
        given
    }

    /// Reads a text. Null and the empty text count as none.
    fn text(
        &mut self,
        node: &At<Node>,
        key: &str,
        check: impl FnOnce(&str) -> Result<Option<String>, UserError>,
    ) -> Option<Option<String>> {
        match &node.value {
            Node::Null => Some(None),
            Node::Text(value) => self.take(node.spot, check(value)),
            _ => {
                self.wrong_kind(key, "a string", node);
                None
            }
        }
    }

    /// Reads a list of distinct texts. Null counts as the empty list.
    fn list(
        &mut self,
        entries: &Entries<'_>,
        key: &'static str,
        item: &str,
        check: impl Fn(&str) -> Result<String, UserError>,
    ) -> Option<Vec<At<String>>> {
        let node = entries.get(key)?;
        let items = match &node.value {
            Node::Null => return Some(Vec::new()),
            Node::List(items) => items,
            _ => {
                self.wrong_kind(key, "a list", node);
                return None;
            }
        };
        let mut list: Vec<At<String>> = Vec::with_capacity(items.len());
        let mut seen = HashSet::with_capacity(items.len());
        for node in items {
            let Node::Text(value) = &node.value else {
                self.wrong_kind(item, "a string", node);
                continue;
            };
            if let Some(value) = self.take(node.spot, check(value)) {
                if seen.insert(value.clone()) {
                    list.push(node.with(value));
                } else {
                    self.wrong(node.spot, format!("{} occurs twice", quoted(&value)));
                }
            }
        }
        Some(list)
    }

    fn tags(&mut self, entries: &Entries<'_>) -> Option<Vec<(String, String)>> {
        let node = entries.get("tags")?;
        if node.value == Node::Null {
            return Some(Vec::new());
        }
        let mut tags = Vec::new();
        for (key, value) in self.mapping("tags", node)? {
            let key = self.take(key.spot, tag::check_key(key.value));
            let value = match &value.value {
                Node::Text(text) => self.take(value.spot, tag::check_value(text)),
                Node::Null => Some(String::new()),
                _ => {
                    self.wrong_kind("the value of a tag", "a string", value);
                    None
                }
            };
            tags.extend(key.zip(value));
        }
        Some(tags)
    }
}
