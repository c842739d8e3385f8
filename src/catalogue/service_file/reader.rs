//! Reads parts of documents from YAML: mappings, texts, lists and the fields of a table. Reports every mistake.

use std::collections::{HashMap, HashSet};

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Value;
use spelling::nearest;

use super::document::{Given, Tags};
use super::report::Problems;
use super::yaml::{At, Node, Spot};
use crate::entity::field_rule::{FieldRule, FieldRules, ValueRule};
use crate::entity::{tag, text};
use crate::error::{UserError, quoted};

/// Reads the documents of one source.
pub(super) struct Reader<'a> {
    pub(super) file: usize,
    pub(super) problems: &'a mut Problems,
}

/// The values of a mapping.
pub(super) type Entries<'a> = HashMap<&'a str, &'a At<Node>>;

/// The fields of a table that a document can set, without those that identify its subject.
pub(super) fn fields<E: FieldRules>() -> impl Iterator<Item = &'static FieldRule<E::Column>> {
    let is_name = |rule: &FieldRule<E::Column>| ["name", "default_alias"].contains(&rule.key());
    E::FIELDS.iter().filter(move |rule| rule.is_in_files && !is_name(rule))
}

/// The flag that a word of another catalogue means.
fn flag(word: &str) -> Option<bool> {
    match &*word.trim().to_ascii_lowercase() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Returns the sentence about a value of the wrong kind.
pub(super) fn not_of_kind(what: &str, expected: &str, node: &At<Node>) -> String {
    let hint = match node.value {
        Node::Flag(_) | Node::Number(..) if expected == "a string" => "; put it in quotes",
        _ => "",
    };
    format!("{what} must be {expected}, not {}{hint}", node.value.kind())
}

/// Reads the name among the entries of `node`. An error is a sentence and its location.
fn checked_name<C: ColumnTrait>(
    what: &str,
    node: &At<Node>,
    entries: &Entries<'_>,
    rule: &FieldRule<C>,
) -> Result<At<String>, At<String>> {
    let name = entries.get("name").ok_or_else(|| node.with(format!("{what} needs a name")))?;
    let Node::Text(text) = &name.value else { return Err(name.with(not_of_kind("name", "a string", name))) };
    let value = rule.required_text(text).map_err(|error| name.with(error.message.into_owned()))?;
    Ok(name.with(value))
}

impl Reader<'_> {
    /// Whether a value that cannot be used is skipped with a note, instead of being a mistake.
    pub(super) fn is_lenient(&self) -> bool {
        self.problems.is_lenient(self.file)
    }

    pub(super) fn wrong(&mut self, spot: Spot, message: impl Into<String>) {
        self.problems.add(self.file, spot, message);
    }

    /// Reports a mistake that leaves nothing of a document.
    pub(super) fn fail(&mut self, spot: Spot, message: impl Into<String>) {
        self.problems.fail(self.file, spot, message);
    }

    /// Adds a note about a value that is skipped.
    pub(super) fn leave(&mut self, spot: Spot, message: impl Into<String>) {
        self.problems.leave(self.file, spot, message);
    }

    pub(super) fn take<T>(&mut self, spot: Spot, checked: Result<T, UserError>) -> Option<T> {
        checked.map_err(|error| self.wrong(spot, error.message)).ok()
    }

    /// Reads the entries of a mapping, and reports keys that are not in `known`.
    pub(super) fn entries<'a>(&mut self, what: &str, node: &'a At<Node>, known: &[&str]) -> Option<Entries<'a>> {
        let mut entries = Entries::new();
        for (key, value) in self.mapping(what, node)? {
            if known.contains(&key.value) {
                entries.insert(key.value, value);
            } else if self.is_lenient() {
                let meant = nearest(key.value, known.iter().copied());
                let meant = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
                self.wrong(key.spot, format!("the key {} of {what} is not applied{meant}", quoted(key.value)));
            } else {
                let known = known.join(", ");
                self.wrong(key.spot, format!("{what} has no key {}; its keys are {known}", quoted(key.value)));
            }
        }
        Some(entries)
    }

    /// Reads the entries of a mapping with any keys, and reports repeated ones.
    pub(super) fn mapping<'a>(&mut self, what: &str, node: &'a At<Node>) -> Option<Vec<(At<&'a str>, &'a At<Node>)>> {
        let pairs = match &node.value {
            Node::Mapping(pairs) => pairs.as_slice(),
            Node::Null if self.is_lenient() => &[],
            _ => {
                self.wrong_kind(what, "a mapping", node);
                return None;
            }
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

    pub(super) fn wrong_kind(&mut self, what: &str, expected: &str, node: &At<Node>) {
        self.wrong(node.spot, not_of_kind(what, expected, node));
    }

    /// Reads the name of a part of a document.
    pub(super) fn name<C: ColumnTrait>(
        &mut self,
        what: &str,
        node: &At<Node>,
        entries: &Entries<'_>,
        rule: &FieldRule<C>,
    ) -> Option<At<String>> {
        checked_name(what, node, entries, rule).map_err(|why| self.wrong(why.spot, why.value)).ok()
    }

    /// Reads the name of a document, without which nothing of the document is applied.
    pub(super) fn document_name<C: ColumnTrait>(
        &mut self,
        what: &str,
        node: &At<Node>,
        entries: &Entries<'_>,
        rule: &FieldRule<C>,
    ) -> Option<At<String>> {
        checked_name(what, node, entries, rule).map_err(|why| self.fail(why.spot, why.value)).ok()
    }

    /// Reads the fields of a table from the entries.
    pub(super) fn fields<E: FieldRules>(&mut self, entries: &Entries<'_>) -> Vec<Given<E::Column>> {
        let mut given = Vec::with_capacity(entries.len());
        for rule in fields::<E>() {
            let Some(node) = entries.get(rule.key()) else { continue };
            let value = match (rule.value, &node.value) {
                (ValueRule::Flag, Node::Flag(value)) => Some(Value::from(*value)),
                (ValueRule::Flag, Node::Text(word)) if self.is_lenient() && flag(word).is_some() => {
                    flag(word).map(Value::from)
                }
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
    pub(super) fn text(
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
    pub(super) fn list(
        &mut self,
        entries: &Entries<'_>,
        key: &'static str,
        item: &str,
        check: impl Fn(&str) -> Result<String, UserError>,
    ) -> Option<Vec<At<String>>> {
        let mut seen = HashSet::new();
        self.items(entries, key, text::ENTRIES, |reader, node| {
            let text = reader.string(item, node)?;
            let value = reader.take(node.spot, check(text))?;
            if seen.insert(value.clone()) {
                return Some(node.with(value));
            }
            reader.wrong(node.spot, format!("{} occurs twice", quoted(&value)));
            None
        })
    }

    /// Reads tags: a mapping, or a list of keys and values, in which a key may occur several times. Stops at the limit.
    pub(super) fn tags(&mut self, entries: &Entries<'_>) -> Option<Tags> {
        let node = entries.get("tags")?;
        let mut tags = Tags::new();
        let number = match &node.value {
            Node::Null => 0,
            Node::Text(_) | Node::Number(..) | Node::Flag(_) => {
                self.wrong_kind("tags", "a list of keys and values, or a mapping", node);
                return None;
            }
            Node::List(items) => {
                let mut seen = HashSet::new();
                for item in items {
                    let Some(tag) = self.tag_of_list(item) else { continue };
                    if seen.insert(tag.clone()) {
                        tags.push(tag);
                    }
                    if tags.len() > text::ENTRIES {
                        break;
                    }
                }
                items.len()
            }
            _ => {
                let pairs = self.mapping("tags", node)?;
                let number = pairs.len();
                for (key, value) in pairs {
                    tags.extend(self.tag(key.value, key.spot, Some(value)));
                    if tags.len() > text::ENTRIES {
                        break;
                    }
                }
                number
            }
        };
        if tags.len() > text::ENTRIES {
            self.check_number(node.spot, "tags", number, text::ENTRIES);
            tags.truncate(text::ENTRIES);
        }
        Some(tags)
    }

    fn tag_of_list(&mut self, item: &At<Node>) -> Option<(String, String)> {
        let entries = self.entries("a tag", item, &["key", "value"])?;
        let Some(key) = entries.get("key") else {
            self.wrong(item.spot, "a tag needs a key");
            return None;
        };
        let text = self.string("the key of a tag", key)?;
        self.tag(text, key.spot, entries.get("value").copied())
    }

    /// Checks a tag. A value that is absent or null is the empty text.
    pub(super) fn tag(&mut self, key: &str, spot: Spot, value: Option<&At<Node>>) -> Option<(String, String)> {
        let key = self.tag_key(key, spot);
        let value = match value {
            None | Some(At { value: Node::Null, .. }) => Some(String::new()),
            Some(value) => {
                let text = self.string("the value of a tag", value);
                text.and_then(|text| self.take(value.spot, tag::check_value(text)))
            }
        };
        key.zip(value)
    }

    /// Checks the key of a tag. Other catalogues write some in upper case.
    pub(super) fn tag_key(&mut self, key: &str, spot: Spot) -> Option<String> {
        if !self.is_lenient() {
            return self.take(spot, tag::check_key(key));
        }
        let lower = key.trim().to_lowercase();
        let checked = tag::check_key(&lower).map_err(|error| {
            self.leave(spot, format!("{} is not taken: {}", quoted(key), error.message));
        });
        if checked.is_ok() && lower != key {
            self.leave(spot, format!("the tag {} is taken as {}: keys are in lower case", quoted(key), quoted(&lower)));
        }
        checked.ok()
    }

    /// Reads a text. Null is a mistake.
    pub(super) fn string<'n>(&mut self, what: &str, node: &'n At<Node>) -> Option<&'n str> {
        let Node::Text(text) = &node.value else {
            self.wrong_kind(what, "a string", node);
            return None;
        };
        Some(text)
    }

    /// Refuses a list of more than `most` entries.
    pub(super) fn check_number(&mut self, spot: Spot, key: &str, number: usize, most: usize) {
        if number > most {
            self.wrong(spot, format!("{key} has {number} entries; at most {most} are allowed"));
        }
    }

    /// Reads the items of a list of at most `most`, each with `read`. Null counts as the empty list.
    pub(super) fn items<T>(
        &mut self,
        entries: &Entries<'_>,
        key: &'static str,
        most: usize,
        mut read: impl FnMut(&mut Self, &At<Node>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let node = entries.get(key)?;
        match &node.value {
            Node::Null => Some(Vec::new()),
            Node::List(items) => {
                self.check_number(node.spot, key, items.len(), most);
                Some(items.iter().take(most).filter_map(|item| read(self, item)).collect())
            }
            // Other catalogues take one item for a list of one.
            Node::Text(_) | Node::Mapping(_) if self.is_lenient() => Some(read(self, node).into_iter().collect()),
            _ => {
                self.wrong_kind(key, "a list", node);
                None
            }
        }
    }

    /// Reads a field by its rule, as a text. Null, the empty text and a missing key count as none.
    pub(super) fn field<E: FieldRules>(&mut self, entries: &Entries<'_>, column: E::Column) -> Option<String> {
        let rule = E::rule(column);
        let node = entries.get(rule.key())?;
        self.text(node, rule.key(), |text| rule.check_text(rule.key(), text)).flatten()
    }

    /// The same for a field that must be there.
    pub(super) fn required<E: FieldRules>(
        &mut self,
        what: &str,
        node: &At<Node>,
        entries: &Entries<'_>,
        column: E::Column,
    ) -> Option<String> {
        let rule = E::rule(column);
        let Some(value) = entries.get(rule.key()) else {
            self.wrong(node.spot, format!("{what} has no {}", rule.key()));
            return None;
        };
        let text = self.string(rule.key(), value)?;
        self.take(value.spot, rule.check_text(rule.key(), text)).flatten()
    }

    /// Reads one of several words.
    pub(super) fn word(&mut self, key: &str, node: &At<Node>, words: &[&str]) -> Option<String> {
        let text = self.string(key, node)?;
        if !words.contains(&text) {
            self.wrong(node.spot, format!("{key} is {}, but must be one of {}", quoted(text), words.join(", ")));
            return None;
        }
        Some(text.to_owned())
    }
}
