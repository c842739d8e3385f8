//! The fields of a form or of a query: named texts, as people send them.

use catalogue::entity::text;

/// Named texts, in order.
#[derive(Debug, Clone, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses `a=1&b=2`.
    pub fn parse(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).map(|(name, text)| (name.into_owned(), printable(&text))).collect())
    }

    /// A single field.
    pub fn one(name: &str, text: &str) -> Self {
        Self(vec![(name.to_owned(), text.to_owned())])
    }

    /// Sets a field, replacing any of the same name.
    pub fn and(mut self, name: &str, text: &str) -> Self {
        self.0.retain(|(known, _)| known != name);
        self.0.push((name.to_owned(), text.to_owned()));
        self
    }

    /// Adds a field beside any of the same name.
    pub fn append(mut self, name: &str, text: &str) -> Self {
        self.0.push((name.to_owned(), text.to_owned()));
        self
    }

    /// The first text of this name, trimmed. Empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text::trim(text))
    }

    /// All texts of this name, in order.
    pub fn get_all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, text)| text::trim(text))
    }

    /// The same with its blanks, for a long text. Empty if it is nothing else.
    pub fn untrimmed(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, text)| known == name && !text::is_nothing(text));
        found.map_or("", |(_, text)| text.as_str())
    }

    /// The same text, or `None` if it is empty.
    pub fn given(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|text| !text.is_empty())
    }

    /// Whether there is a field of this name, even an empty one.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    /// Whether any text is not blank.
    pub fn has_text(&self) -> bool {
        self.0.iter().any(|(_, text)| !text::is_nothing(text))
    }

    /// The fields as a query string, without empty ones.
    pub fn query(&self) -> String {
        let given = self.0.iter().filter(|(_, text)| !text.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
    }

    /// The query string with one field replaced.
    pub fn query_with(&self, name: &str, text: &str) -> String {
        let mut fields = self.without(name);
        fields.0.push((name.to_owned(), text.to_owned()));
        fields.query()
    }

    /// The fields but for one.
    pub fn without(&self, name: &str) -> Self {
        Self(self.0.iter().filter(|(known, _)| known != name).cloned().collect())
    }
}

/// Replaces NUL, the one character that no database text may contain.
pub fn printable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
