//! Reads standards files. An entry has the fields of the input that creates such a thing, in snake case and with names in place
//! of ids, so a field that is added to an input can be written in a file at once.

use std::collections::HashMap;

use apollo_compiler::Schema;
use apollo_compiler::ast::Type;
use apollo_compiler::collections::IndexMap;
use apollo_compiler::schema::{Component, ExtendedType, InputObjectType, InputValueDefinition};
use serde_json::{Map, Value as Json};
use spelling::nearest;

use crate::error::quoted;
use crate::service_file::report::Problems;
use crate::service_file::standards::{KEY, value_of};
use crate::service_file::yaml::{self, Allowance, At, Node, Spot};
use crate::service_file::{File, Note, Plain, STANDARDS, Standard, key};

/// An entry of a standards file.
#[derive(Debug, Clone)]
pub(super) struct Standards {
    /// What it describes.
    pub(super) standard: Standard,
    /// The name, which finds the thing the next time.
    pub(super) name: String,
    /// The fields by their names in the SDL. Those that name something have a name in place of an id.
    pub(super) fields: Map<String, Json>,
    /// The file's name.
    pub(super) path: String,
    /// The line at which it begins.
    pub(super) line: u64,
    source: usize,
    spots: Vec<(String, Spot)>,
}

impl Standards {
    /// A mistake about a field, or about all of it if there is no such field: the path is in the names of the SDL.
    pub(super) fn mistake(&self, path: &[impl AsRef<str>], message: &str) -> Note {
        let path: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
        let places = (1..=path.len()).rev().map(|many| path[..many].join("."));
        let found = places.filter_map(|place| self.spots.iter().find(|(own, _)| *own == place)).next();
        let spot = found.or(self.spots.first()).map(|(_, spot)| *spot).unwrap_or_default();
        // In the words of the file.
        let named = path.first().and_then(|first| Some((first, message.strip_prefix(first)?)));
        let message = named.map_or_else(|| message.to_owned(), |(first, rest)| key(first) + rest);
        let message = format!("the {} {}: {message}", self.standard.noun(), quoted(&self.name));
        let Spot { line, column } = spot;
        Note { file: self.source, path: self.path.clone(), line, column, message, is_failure: false }
    }

    /// Takes a field that no input has.
    pub(super) fn take(&mut self, field: &str) -> Option<Json> {
        self.fields.remove(field)
    }
}

/// The fields of an input by their names.
type Fields = IndexMap<apollo_compiler::Name, Component<InputValueDefinition>>;

/// Where the inputs are found.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'s> {
    /// The schema.
    pub(super) schema: &'s Schema,
    /// The name of the input that creates a standard; for a check, of the type that is given.
    pub(super) name: fn(Standard, Option<&str>) -> Option<&'static str>,
    /// The types of checks.
    pub(super) types: &'s [String],
}

/// Reads files. Returns their entries: those of one kind, then those of the next, which can refer to them.
///
/// # Errors
/// All mistakes.
pub(super) fn read(files: &[File], inputs: Inputs<'_>) -> Result<Vec<Standards>, Vec<Note>> {
    let mut reading = Reading { inputs, problems: Problems::default(), entries: Vec::new() };
    let mut allowance = Allowance::REQUEST;
    for File { path, content, is_found: _ } in files {
        let source = reading.problems.file(path);
        match content {
            Ok(text) => reading.file(source, path, text, &mut allowance),
            Err(Note { line, column, message, .. }) => {
                reading.problems.add(source, Spot { line: *line, column: *column }, message);
            }
        }
        if reading.problems.is_over() {
            break;
        }
    }
    reading.done()
}

struct Reading<'s> {
    inputs: Inputs<'s>,
    problems: Problems,
    entries: Vec<Standards>,
}

/// The entry that is read, and the fields that it may have.
struct EntryContext<'a> {
    source: usize,
    fields: Option<&'a Fields>,
    others: &'a [(&'static str, Plain)],
    left_out: &'a [&'static str],
    above: String,
}

impl Reading<'_> {
    fn done(self) -> Result<Vec<Standards>, Vec<Note>> {
        let Self { mut problems, mut entries, .. } = self;
        let mut known: HashMap<(Standard, String), String> = HashMap::new();
        for entry in &entries {
            let spot = entry.spots.first().map(|(_, spot)| *spot).unwrap_or_default();
            let here = problems.place(entry.source, spot);
            if let Some(other) = known.insert((entry.standard, entry.name.to_lowercase()), here) {
                let what = entry.standard.noun();
                let message = format!("the {what} {} is described twice: also at {other}", quoted(&entry.name));
                problems.add(entry.source, spot, message);
            }
        }
        if !problems.is_empty() {
            return Err(problems.notes().0);
        }
        entries.sort_by_key(|entry| entry.standard);
        Ok(entries)
    }

    fn file(&mut self, source: usize, path: &str, text: &str, allowance: &mut Allowance) {
        let nodes = yaml::documents(text, allowance);
        if nodes.is_empty() {
            self.problems.add(source, Spot { line: 1, column: 1 }, "there is no document in this file");
        }
        for node in nodes {
            match node {
                Ok(node) => self.document(source, path, &node),
                Err(unread) if unread.is_over => self.problems.end(source, unread.spot, unread.message),
                Err(unread) => self.problems.add(source, unread.spot, unread.message),
            }
            if self.problems.is_over() {
                return;
            }
        }
    }

    fn document(&mut self, source: usize, path: &str, node: &At<Node>) {
        let Node::Mapping(pairs) = &node.value else {
            let message = "a standards file is a mapping: write version: 1, and standards";
            return self.problems.add(source, node.spot, message);
        };
        let Some(lists) = value_of(pairs, KEY) else {
            let message = "standards are in files of their own: this document has no key standards";
            return self.problems.add(source, node.spot, message);
        };
        match value_of(pairs, "version").map(|version| &version.value) {
            Some(Node::Number(number, _)) if number.as_f64() == Some(1.0) => {}
            None => self.problems.add(source, node.spot, "the version is missing: write version: 1"),
            Some(_) => {
                self.problems.add(source, node.spot, "this program does not support this version: write version: 1");
            }
        }
        self.keys_are_known(source, pairs, &["version", KEY], "a standards file");
        let Node::Mapping(pairs) = &lists.value else {
            let known = Standard::ALL.map(Standard::list).join(", ");
            let message = format!("standards is {}, not a mapping of {known}", lists.value.kind());
            return self.problems.add(source, lists.spot, message);
        };
        self.keys_are_known(source, pairs, &Standard::ALL.map(Standard::list), KEY);
        for standard in Standard::ALL {
            let Some(list) = value_of(pairs, standard.list()) else { continue };
            match &list.value {
                Node::List(items) => items.iter().for_each(|item| self.entry(source, path, standard, item)),
                Node::Null => {}
                other => {
                    let message = format!("{} is {}, not a list", standard.list(), other.kind());
                    self.problems.add(source, list.spot, message);
                }
            }
        }
    }

    fn keys_are_known(&mut self, source: usize, pairs: &[(At<Node>, At<Node>)], known: &[&str], what: &str) {
        for (place, (key, _)) in pairs.iter().enumerate() {
            let name = if let Node::Text(name) = &key.value { name.as_str() } else { "" };
            if !known.contains(&name) {
                let message = format!("{what} has no key {}; it has {}", quoted(name), known.join(", "));
                self.problems.add(source, key.spot, message);
            } else if value_of(&pairs[..place], name).is_some() {
                self.problems.add(source, key.spot, format!("the key {name} is repeated"));
            }
        }
    }

    fn entry(&mut self, source: usize, path: &str, standard: Standard, node: &At<Node>) {
        if self.entries.len() >= STANDARDS {
            let message = format!("the files describe more than {STANDARDS} standards");
            return self.problems.end(source, node.spot, message);
        }
        let noun = standard.noun();
        let Node::Mapping(pairs) = &node.value else {
            let message = format!("a {noun} is a mapping, not {}", node.value.kind());
            return self.problems.add(source, node.spot, message);
        };
        let text = |name| match value_of(pairs, name).map(|value| &value.value) {
            Some(Node::Text(text)) if !text.trim().is_empty() => Some(text.trim()),
            _ => None,
        };
        let Some(name) = text("name") else {
            return self.problems.add(source, node.spot, format!("a {noun} needs a name"));
        };
        let r#type = text("type");
        if standard == Standard::Check && !r#type.is_some_and(|own| self.inputs.types.iter().any(|known| known == own))
        {
            let known = self.inputs.types.join(", ");
            let spot = value_of(pairs, "type").map_or(node.spot, |value| value.spot);
            let message = format!("the check {} needs a type, which is one of {known}", quoted(name));
            return self.problems.add(source, spot, message);
        }
        let input = (self.inputs.name)(standard, r#type).and_then(|input| self.inputs.schema.get_input_object(input));
        let place = EntryContext {
            source,
            fields: input.map(|input| &input.fields),
            others: standard.others(),
            left_out: standard.left_out(),
            above: String::new(),
        };
        let mut spots = vec![(String::new(), node.spot)];
        let fields = self.fields(&place, pairs, &mut spots);
        let (name, path, line) = (name.to_owned(), path.to_owned(), node.spot.line);
        self.entries.push(Standards { standard, name, fields, path, line, source, spots });
    }

    fn fields(
        &mut self,
        place: &EntryContext<'_>,
        pairs: &[(At<Node>, At<Node>)],
        spots: &mut Vec<(String, Spot)>,
    ) -> Map<String, Json> {
        let mut fields = Map::new();
        for (given, value) in pairs {
            let name = if let Node::Text(name) = &given.value { name.as_str() } else { "" };
            let is = |field: &str| (key(field) == name || field == name) && !place.left_out.contains(&field);
            let own = place.fields.into_iter().flatten().find(|(field, _)| is(field));
            let other = place.others.iter().find(|(field, _)| is(field));
            let field = match (own, other) {
                (Some((field, _)), _) => field.as_str(),
                (None, Some((field, _))) => field,
                (None, None) => {
                    let message = self.unknown(place, name);
                    self.problems.add(place.source, given.spot, message);
                    continue;
                }
            };
            let path = format!("{}{field}", place.above);
            spots.push((path.clone(), value.spot));
            let read = match (own, other) {
                (Some((_, definition)), _) => self.value(place.source, &definition.ty, &path, value, spots),
                (None, Some((_, plain))) => self.plain(place.source, *plain, name, value),
                (None, None) => None,
            };
            let Some(read) = read else { continue };
            if fields.insert(field.to_owned(), read).is_some() {
                self.problems.add(place.source, given.spot, format!("the key {name} is repeated"));
            }
        }
        fields
    }

    fn unknown(&self, place: &EntryContext<'_>, name: &str) -> String {
        let own = place.fields.into_iter().flatten().map(|(field, _)| field.as_str());
        let all = own.chain(place.others.iter().map(|(field, _)| *field));
        let known: Vec<String> = all.filter(|field| !place.left_out.contains(field)).map(key).collect();
        match nearest(name, known.iter().map(String::as_str)) {
            Some(meant) => format!("there is no key {}; did you mean {meant}?", quoted(name)),
            None => format!("there is no key {}; there are {}", quoted(name), known.join(", ")),
        }
    }

    /// Converts a value to what the API takes for a type of the SDL.
    fn value(
        &mut self,
        source: usize,
        ty: &Type,
        path: &str,
        node: &At<Node>,
        spots: &mut Vec<(String, Spot)>,
    ) -> Option<Json> {
        if let (true, Node::List(items)) = (ty.is_list(), &node.value) {
            let mut all = Vec::with_capacity(items.len());
            for (number, item) in items.iter().enumerate() {
                let path = format!("{path}.{number}");
                spots.push((path.clone(), item.spot));
                all.push(self.value(source, ty.item_type(), &path, item, spots)?);
            }
            return Some(all.into());
        }
        let (name, types) = (ty.inner_named_type().as_str(), &self.inputs.schema.types);
        match (types.get(name), &node.value) {
            (Some(ExtendedType::InputObject(input)), Node::Mapping(pairs)) => {
                let input: &InputObjectType = input;
                let above = format!("{path}.");
                let place = EntryContext { source, fields: Some(&input.fields), others: &[], left_out: &[], above };
                Some(self.fields(&place, pairs, spots).into())
            }
            // Whatever has an alias is named by it.
            (Some(ExtendedType::InputObject(input)), Node::Text(name)) if input.fields.contains_key("alias") => {
                Some(Map::from_iter([("alias".to_owned(), name.as_str().into())]).into())
            }
            (_, Node::Text(text)) if name == "ISO8601DateTime" => Some(moment(text).into()),
            // A text that looks like a number.
            (_, Node::Number(number, digits)) if matches!(name, "String" | "ID") => {
                Some(digits.text().map_or_else(|| number.to_string(), str::to_owned).into())
            }
            (_, Node::Flag(flag)) if name == "String" => Some(flag.to_string().into()),
            _ => self.json(source, node),
        }
    }

    fn json(&mut self, source: usize, node: &At<Node>) -> Option<Json> {
        Some(match &node.value {
            Node::Null => Json::Null,
            Node::Flag(flag) => (*flag).into(),
            Node::Number(number, _) => number.clone().into(),
            Node::Text(text) => text.as_str().into(),
            Node::List(items) => items.iter().filter_map(|item| self.json(source, item)).collect(),
            Node::Mapping(_) => {
                self.problems.add(source, node.spot, "expected a value, found a mapping");
                return None;
            }
        })
    }

    fn plain(&mut self, source: usize, plain: Plain, name: &str, node: &At<Node>) -> Option<Json> {
        let texts = |items: &[At<Node>]| {
            let text =
                |item: &At<Node>| if let Node::Text(text) = &item.value { Some(Json::from(text.trim())) } else { None };
            items.iter().map(text).collect::<Option<Vec<_>>>()
        };
        let (read, wanted) = match (plain, &node.value) {
            (Plain::Text | Plain::Moment, Node::Null) => (Some(Json::Null), ""),
            (Plain::Text, Node::Text(text)) => (Some(text.trim().into()), ""),
            (Plain::Moment, Node::Text(text)) => (Some(moment(text).into()), ""),
            (Plain::Texts, Node::Null) => (Some(Json::Array(Vec::new())), ""),
            (Plain::Texts, Node::List(items)) => (texts(items).map(Json::Array), "a list of names"),
            (Plain::Texts, _) => (None, "a list of names"),
            (Plain::Moment, _) => (None, "a date, such as \"2027-01-31\""),
            (Plain::Text, _) => (None, "a text"),
        };
        if read.is_none() {
            self.problems.add(source, node.spot, format!("{name} must be {wanted}, not {}", node.value.kind()));
        }
        read
    }
}

/// A date is the moment at which it begins.
fn moment(text: &str) -> String {
    let text = text.trim();
    let is_date = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_date { format!("{text}T00:00:00Z") } else { text.to_owned() }
}
