//! What standards files describe: levels, categories, filters, scorecards, checks and campaigns. The API reads the files, because
//! an entry has the fields of an input.

use serde_json::Value as Json;

use super::written::{Written, write_entry};
use super::yaml::{self, Allowance, At, Node};

/// The key of a document that describes standards.
pub(crate) const KEY: &str = "standards";

/// The maximum number of entries in the files of a run.
pub const STANDARDS: usize = 1_000;

/// What an entry describes, in the order in which one can refer to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Standard {
    /// A level of the rubric.
    Level,
    /// A category of the rubric.
    Category,
    /// A saved filter of services.
    Filter,
    /// A scorecard.
    Scorecard,
    /// A check.
    Check,
    /// A campaign.
    Campaign,
}

impl Standard {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Level, Self::Category, Self::Filter, Self::Scorecard, Self::Check, Self::Campaign];

    /// Its noun.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Level => "level",
            Self::Category => "category",
            Self::Filter => "filter",
            Self::Scorecard => "scorecard",
            Self::Check => "check",
            Self::Campaign => "campaign",
        }
    }

    /// The key of the list of them.
    pub fn list(self) -> &'static str {
        match self {
            Self::Level => "levels",
            Self::Category => "categories",
            Self::Filter => "filters",
            Self::Scorecard => "scorecards",
            Self::Check => "checks",
            Self::Campaign => "campaigns",
        }
    }

    /// The fields that the input lacks, with the types of their values.
    pub fn others(self) -> &'static [(&'static str, Plain)] {
        match self {
            Self::Check => &[("type", Plain::Text), ("scorecard", Plain::Text)],
            Self::Campaign => &[("startDate", Plain::Moment), ("targetDate", Plain::Moment), ("checks", Plain::Texts)],
            _ => &[],
        }
    }

    /// The fields of the input that a file does not have.
    pub fn left_out(self) -> &'static [&'static str] {
        match self {
            // The order of the list says it.
            Self::Level => &["index"],
            _ => &[],
        }
    }
}

/// The type of a field that no input has.
#[derive(Debug, Clone, Copy)]
pub enum Plain {
    /// A text.
    Text,
    /// A moment, or the date at which it is.
    Moment,
    /// A list of texts.
    Texts,
}

/// The key of a field in a file: `tag_key` for `tagKey`, `level` for `levelId`.
pub fn key(field: &str) -> String {
    let field = field.strip_suffix("Id").unwrap_or(field);
    let mut key = String::with_capacity(field.len() + 4);
    for letter in field.chars() {
        if letter.is_uppercase() {
            key.push('_');
        }
        key.extend(letter.to_lowercase());
    }
    key
}

/// Whether a file describes standards. A text that is no YAML does not.
pub fn has_standards(text: &str) -> bool {
    if !text.contains(KEY) {
        return false;
    }
    let documents = yaml::documents(text, &mut { Allowance::LOCAL });
    let is_own = |node: &At<Node>| matches!(&node.value, Node::Mapping(pairs) if value_of(pairs, KEY).is_some());
    documents.iter().flatten().any(is_own)
}

/// The keys and values of an entry of a standards file.
pub type StandardsEntry = Vec<(String, Json)>;

/// Writes a standards file: its lists, and the entries of each.
pub fn write_standards(lists: Vec<(&str, Vec<StandardsEntry>)>) -> String {
    let value = |value: Json| match value {
        Json::Array(items) if items.iter().any(Json::is_object) => {
            Written::List(items.into_iter().map(Written::Value).collect())
        }
        value => Written::Value(value),
    };
    let entry =
        |fields: StandardsEntry| Written::Entries(fields.into_iter().map(|(key, own)| (key, value(own))).collect());
    let list =
        |(key, entries): (&str, Vec<_>)| (key.to_owned(), Written::List(entries.into_iter().map(entry).collect()));
    let lists = lists.into_iter().filter(|(_, entries)| !entries.is_empty()).map(list);
    let mut text = "version: 1\n".to_owned();
    write_entry(&mut text, 0, KEY, &Written::Entries(lists.collect()));
    text
}

/// The value of a key.
pub(crate) fn value_of<'n>(pairs: &'n [(At<Node>, At<Node>)], name: &str) -> Option<&'n At<Node>> {
    pairs.iter().find(|(key, _)| matches!(&key.value, Node::Text(key) if key == name)).map(|(_, value)| value)
}
