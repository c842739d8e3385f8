//! A YAML tree in which every value has its line and column.
//!
//! Deserialising into structs would stop at the first mistake, but all mistakes are reported. [`read`](super::read)
//! interprets the tree.
//!
//! An alias repeats the value that it refers to: a file of 300 bytes can hold millions of values. So values are counted
//! with aliases expanded, over all documents of a run, while they are read.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_saphyr::budget::{BudgetBreach, BudgetReport};
use serde_saphyr::options::DuplicateKeyPolicy;
use serde_saphyr::{Location, Options, Spanned};

use super::digits::Digits;

/// The maximum number of keys and values in all files of a request, with aliases expanded. A value takes about 100
/// bytes of memory. A service has 20 to 60 of them, and each entry of its lists one to eleven.
pub const YAML_VALUES: usize = 250_000;
/// The maximum size of these keys and values, in bytes of text.
pub const YAML_TEXT: usize = 8 << 20;
/// The maximum number of YAML documents of a file.
pub const YAML_DOCUMENTS: usize = 20_000;
/// The maximum number of anchors of a file. The parser passes over all of them at the end of each document.
pub const YAML_ANCHORS: usize = 5_000;
/// The maximum number of keys, values and ends of lists and mappings that anchors of a file hold. The parser keeps them
/// for aliases. Those inside of several anchors count for each.
pub const YAML_ANCHORED: usize = 100_000;

/// The keys and values that the files of a run may hold, and how many of them are left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowance {
    most: Size,
    left: Size,
}

/// A number of keys and values, and their bytes of text.
#[derive(Debug, Clone, Copy)]
struct Size {
    values: usize,
    text: usize,
}

impl Allowance {
    /// For the files of a request.
    pub(crate) const REQUEST: Self = Self::new(YAML_VALUES, YAML_TEXT);
    /// For files of this machine: 200 values for each of the files that a run may name, and all their text.
    pub(crate) const LOCAL: Self = Self::new(2_000_000, 64 << 20);

    const fn new(values: usize, text: usize) -> Self {
        Self { most: Size { values, text }, left: Size { values, text } }
    }

    fn spend(&mut self, report: &BudgetReport) {
        self.left.values = self.left.values.saturating_sub(report.nodes);
        self.left.text = self.left.text.saturating_sub(report.total_scalar_bytes);
    }

    /// Returns a sentence about a limit that was exceeded, and whether it is a limit of the whole run. Returns `None`
    /// if the breach is about the form of a single document.
    fn exceeded(&self, breach: &BudgetBreach) -> Option<(String, bool)> {
        let Size { values, text } = self.most;
        let fewer = "apply fewer files at a time";
        Some(match breach {
            BudgetBreach::Nodes { .. } => {
                (format!("the files have more than {values} keys and values, aliases expanded; {fewer}"), true)
            }
            BudgetBreach::ScalarBytes { .. } => {
                let message = format!("the keys and values have more than {text} bytes, aliases expanded; {fewer}");
                (message, true)
            }
            BudgetBreach::Documents { .. } => {
                (format!("the file has more than {YAML_DOCUMENTS} YAML documents; split it"), false)
            }
            BudgetBreach::Anchors { .. } => (format!("the file has more than {YAML_ANCHORS} anchors"), false),
            BudgetBreach::RecordedAnchorEvents { .. } => {
                (format!("the anchors of the file hold more than {YAML_ANCHORED} keys and values"), false)
            }
            BudgetBreach::RecordedAnchorBytes { .. } => {
                (format!("the anchors of the file hold more than {YAML_TEXT} bytes of text"), false)
            }
            _ => return None,
        })
    }
}

/// Why the rest of a file is not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) spot: Spot,
    pub(crate) message: String,
    /// Whether no further file is read either: a limit of the run is exceeded.
    pub(crate) is_over: bool,
    /// The text that could not be read.
    pub(crate) text: String,
}

/// A line and a column, both from 1, in characters. Line 0 means the whole file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Spot {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

impl From<Location> for Spot {
    fn from(location: Location) -> Self {
        Self { line: location.line(), column: location.column() }
    }
}

/// A value and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) spot: Spot,
}

impl At<Node> {
    /// Turns numbers and booleans into texts: other catalogues take `42` for a name. `but` are the paths of keys whose values
    /// stay as they are.
    pub(crate) fn be_text(&mut self, but: &[&[&str]]) {
        match &mut self.value {
            Node::Flag(flag) => self.value = Node::Text(flag.to_string()),
            Node::Number(number, digits) => {
                self.value = Node::Text(digits.text().map_or_else(|| number.to_string(), str::to_owned));
            }
            Node::List(items) => items.iter_mut().for_each(|item| item.be_text(but)),
            Node::Mapping(pairs) => {
                for (key, value) in pairs {
                    key.be_text(&[]);
                    let key = if let Node::Text(key) = &key.value { key.as_str() } else { "" };
                    let below = but.iter().filter_map(|path| path.split_first().filter(|(first, _)| **first == key));
                    let below: Vec<&[&str]> = below.map(|(_, rest)| rest).collect();
                    if !below.contains(&&[][..]) {
                        value.be_text(&below);
                    }
                }
            }
            Node::Null | Node::Text(_) => {}
        }
    }

    /// Moves all places down by a number of lines.
    fn shift(&mut self, lines: u64) {
        self.spot.line += lines;
        match &mut self.value {
            Node::List(items) => items.iter_mut().for_each(|item| item.shift(lines)),
            Node::Mapping(pairs) => pairs.iter_mut().for_each(|(key, value)| {
                key.shift(lines);
                value.shift(lines);
            }),
            Node::Null | Node::Flag(_) | Node::Number(..) | Node::Text(_) => {}
        }
    }
}

impl<T> At<T> {
    /// Another value at the same location.
    pub(crate) fn with<U>(&self, value: U) -> At<U> {
        At { value, spot: self.spot }
    }
}

/// A YAML value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Null,
    Flag(bool),
    Number(Number, Digits),
    Text(String),
    List(Vec<At<Node>>),
    /// Keeps repeated keys.
    Mapping(Vec<(At<Node>, At<Node>)>),
}

impl Node {
    /// The name of this kind of value in messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Flag(_) => "a boolean",
            Self::Number(..) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Mapping(_) => "a mapping",
        }
    }
}

/// Parses the documents of a text, and takes their values from the allowance. An error is the last item: nothing after
/// it is read.
pub(crate) fn documents(text: &str, allowance: &mut Allowance) -> Vec<Result<At<Node>, Unread>> {
    // Columns do not count a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let before = *allowance;
    let report = Rc::new(RefCell::new(BudgetReport::default()));
    let kept = Rc::clone(&report);
    let options = options(&before).with_budget_report(move |report| *kept.borrow_mut() = report);
    let read = serde_saphyr::from_multiple_with_options::<At<Node>>(text, options);
    let report = report.take();
    allowance.spend(&report);
    let error = match read {
        Ok(mut documents) => {
            documents.iter_mut().for_each(|document| document.find_digits(text));
            return documents.into_iter().map(Ok).collect();
        }
        Err(error) => complaint(&error),
    };
    match report.breached.as_ref().and_then(|breach| before.exceeded(breach)) {
        Some((message, is_over)) => vec![Err(Unread { message, is_over, ..error })],
        None => documents_before(text, &before, Unread { text: text.to_owned(), ..error }),
    }
}

/// The same, but each document for itself if one of them has an error: those after it are read, too.
pub(crate) fn documents_each(text: &str, allowance: &mut Allowance) -> Vec<Result<At<Node>, Unread>> {
    let before = *allowance;
    let mut whole = documents(text, allowance);
    if whole.last().is_none_or(|last| !matches!(last, Err(error) if !error.is_over)) {
        return whole;
    }
    let parts = parts(text);
    if parts.len() > YAML_DOCUMENTS {
        return whole.pop().into_iter().collect();
    }
    *allowance = before;
    let mut all = Vec::with_capacity(parts.len());
    for (line, part) in parts {
        for mut document in documents(part, allowance) {
            match &mut document {
                Ok(node) => node.shift(line),
                Err(error) => error.spot.line += if error.spot.line == 0 { line + 1 } else { line },
            }
            let is_over = document.as_ref().is_err_and(|error| error.is_over);
            all.push(document);
            if is_over {
                return all;
            }
        }
    }
    all
}

/// The documents of a text as they are written, each with the number of lines before it. Within a document, no line
/// begins with `---` and a blank.
pub(crate) fn parts(text: &str) -> Vec<(u64, &str)> {
    let (mut parts, mut begin, mut begin_line, mut place) = (Vec::new(), 0, 0, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_separator =
            line.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        if is_separator && place > begin {
            parts.push((begin_line, &text[begin..place]));
            (begin, begin_line) = (place, number as u64);
        }
        place += line.len();
    }
    parts.push((begin_line, &text[begin..]));
    parts
}

/// Returns the documents before the one with an error, and the error. Their mistakes are reported, too. They have been
/// counted.
fn documents_before(text: &str, allowance: &Allowance, error: Unread) -> Vec<Result<At<Node>, Unread>> {
    let mut bytes = text.as_bytes();
    let documents = serde_saphyr::read_with_options::<_, At<Node>>(&mut bytes, options(allowance));
    let mut read: Vec<Result<At<Node>, Unread>> = documents.map_while(Result::ok).map(Ok).collect();
    read.push(Err(error));
    read
}

fn options(Allowance { most: _, left }: &Allowance) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: left.values,
            max_total_scalar_bytes: left.text,
            max_documents: YAML_DOCUMENTS,
            max_anchors: YAML_ANCHORS,
            max_recorded_anchor_events: YAML_ANCHORED,
            max_recorded_anchor_bytes: YAML_TEXT,
            // Each of these is a value, too, or is bounded by values and documents.
            max_events: usize::MAX,
            max_aliases: usize::MAX,
            max_merge_keys: usize::MAX,
            // Many services may share one list of tags.
            enforce_alias_anchor_ratio: false,
        },
        // Keep all entries, so that a repeated key can be reported.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        // As in YAML 1.2, `no` and `on` are strings.
        strict_booleans: true,
        with_snippet: false,
    }
}

fn complaint(error: &serde_saphyr::Error) -> Unread {
    let spot = error.location().map(Spot::from).unwrap_or_default();
    let message = error.without_snippet().to_string();
    // The caller adds the location.
    let message = message.lines().next().unwrap_or_default();
    let message = message.split(" at line ").next().unwrap_or_default();
    let message = format!("the YAML cannot be read: {}", without_content(message));
    Unread { spot, message, is_over: false, text: String::new() }
}

/// Removes the text that a message quotes, except single characters. After a syntax error it is unknown what the file
/// is, and whether it holds secrets.
fn without_content(message: &str) -> String {
    let Some(start) = message.find(['\'', '"', '`']) else { return message.to_owned() };
    let (before, quoted) = message.split_at(start);
    let mut letters = quoted.chars();
    let (mark, inner, end) = (letters.next(), letters.next(), letters.next());
    let mark = mark.unwrap_or_default();
    let kept = match (inner, end) {
        (Some(inner), Some(end)) if end == mark => 2 * mark.len_utf8() + inner.len_utf8(),
        // An apostrophe.
        _ if quoted.matches(mark).count() == 1 => mark.len_utf8(),
        // Up to the last quotation mark of its kind, because the quoted text may contain some.
        _ => {
            let rest = quoted.rsplit_once(mark).map_or("", |(_, rest)| rest);
            return format!("{before}{mark}…{mark}{rest}");
        }
    };
    let (kept, rest) = quoted.split_at(kept);
    format!("{before}{kept}{}", without_content(rest))
}

impl<'de> Deserialize<'de> for At<Node> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { mut value, referenced, defined, .. } = Spanned::<Node>::deserialize(deserializer)?;
        if let Node::Number(_, digits) = &mut value {
            *digits = defined.into();
        }
        Ok(Self { value, spot: referenced.into() })
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Tree)
    }
}

struct Tree;

impl<'de> Visitor<'de> for Tree {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Flag(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(value.into(), Digits::NONE))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(value.into(), Digits::NONE))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Node, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number must be finite"))?;
        Ok(Node::Number(number, Digits::NONE))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Node, E> {
        Ok(Node::Text(value))
    }

    fn visit_bytes<E: serde::de::Error>(self, _: &[u8]) -> Result<Node, E> {
        Err(E::custom("binary values are not supported"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut mapping = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            mapping.push(entry);
        }
        Ok(Node::Mapping(mapping))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text, and returns the number of documents and the error after them.
    fn read(text: &str, allowance: &mut Allowance) -> (usize, Option<(u64, String)>) {
        let mut documents = documents(text, allowance);
        let error = documents.pop_if(|last| last.is_err()).and_then(Result::err);
        assert!(documents.iter().all(Result::is_ok));
        (documents.len(), error.map(|error| (error.spot.line, error.message)))
    }

    #[test]
    fn values_are_counted_over_documents_and_files_with_their_aliases() {
        // 2 keys and 14 values.
        let text = "a: &a [1, 2, 3]\nb: [*a, *a]\n";
        let mut allowance = Allowance::new(16 * 3, 1_000);
        assert_eq!(read(&format!("---\n{text}---\n{text}"), &mut allowance), (2, None));
        assert_eq!(allowance.left.values, 16);
        let message = "the files have more than 48 keys and values, aliases expanded; apply fewer files at a time";
        let mut less = allowance;
        assert_eq!(read(&format!("{text}---\n1\n"), &mut less), (0, Some((4, message.to_owned()))));
        assert_eq!(read("1", &mut less), (0, Some((1, message.to_owned()))));
        assert_eq!(read(text, &mut allowance), (1, None));
        assert_eq!(allowance.left.values, 0);
    }

    #[test]
    fn text_is_counted_with_its_aliases() {
        let mut allowance = Allowance::new(1_000, 30);
        assert_eq!(read("- &a 0123456789\n- *a\n", &mut allowance), (1, None));
        assert_eq!(allowance.left.text, 10);
        let message = "the keys and values have more than 30 bytes, aliases expanded; apply fewer files at a time";
        let error = Some((2, message.to_owned()));
        assert_eq!(read("- &a 01234\n- [*a, *a]\n", &mut allowance), (0, error));
    }

    #[test]
    fn merged_keys_and_documents_with_an_error_are_counted() {
        let mut allowance = Allowance::new(1_000, 1_000);
        // What is merged counts, although each key is kept only once.
        assert_eq!(read("a: &a { k: 1 }\nb: { <<: [*a, *a, *a] }\n", &mut allowance), (1, None));
        assert_eq!(allowance.left.values, 1_000 - 18);
        let (documents, error) = read("1\n---\n2\n---\n[1, 2, *none]\n---\n4\n", &mut allowance);
        assert_eq!((documents, error.map(|(line, _)| line)), (2, Some(5)));
        assert!((1_000 - 23..1_000 - 18).contains(&allowance.left.values), "{allowance:?}");
    }

    #[test]
    fn documents_and_anchors_of_a_file_are_bounded() {
        let anchors: String = (0..=YAML_ANCHORS).map(|number| format!("- &a{number} 1\n")).collect();
        // Each anchor holds the anchors in it.
        let nested = format!("[{}]", "1, ".repeat(YAML_ANCHORED / 20));
        let nested = (0..20).fold(nested, |inner, number| format!("&a{number} [{inner}]"));
        for (text, message) in [
            ("--- 1\n".repeat(YAML_DOCUMENTS + 1), "the file has more than 20000 YAML documents; split it"),
            (anchors, "the file has more than 5000 anchors"),
            (nested, "the anchors of the file hold more than 100000 keys and values"),
        ] {
            let mut allowance = Allowance::REQUEST;
            let (documents, error) = read(&text, &mut allowance);
            assert_eq!((documents, error.map(|(_, message)| message).as_deref()), (0, Some(message)));
            assert_eq!(read("1", &mut allowance), (1, None), "the next file is read");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_column() {
        let mut allowance = Allowance::REQUEST;
        let documents = documents("\u{feff}[1]", &mut allowance);
        let [Ok(At { spot, .. })] = &*documents else { panic!("{documents:?}") };
        assert_eq!(*spot, Spot { line: 1, column: 1 });
    }

    #[test]
    fn a_syntax_error_quotes_only_single_characters() {
        for (message, shown) in [
            ("unclosed bracket '{'", "unclosed bracket '{'"),
            ("expected ',' or ']', found 'geheim'", "expected ',' or ']', found '…'"),
            ("invalid value: string \"ge\\\"heim\", expected a value", "invalid value: string \"…\", expected a value"),
            ("the tag wasn't known", "the tag wasn't known"),
            ("unsupported tag `!geheim`", "unsupported tag `…`"),
        ] {
            assert_eq!(without_content(message), shown);
        }
    }
}
