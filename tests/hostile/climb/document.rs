//! A mutable request: a document with its variables, as a tree.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use graphql_parser::query::{self, Definition, OperationDefinition, parse_query};
use serde_json::{Map, json};

use super::schema::Schema;

/// The Boolean variables of a request.
pub const FLAGS: usize = 16;

/// A request.
#[derive(Debug, Clone)]
pub struct Document {
    pub is_mutation: bool,
    /// The operations. The first is executed.
    pub operations: Vec<Vec<Selection>>,
    /// The fragments. Each spreads only later ones.
    pub fragments: Vec<Fragment>,
    /// The values of the variables of `@skip` and `@include`.
    pub flags: [bool; FLAGS],
    /// The number of commas before the first operation.
    pub padding: usize,
}

#[derive(Debug, Clone)]
pub struct Fragment {
    pub on: String,
    pub selections: Vec<Selection>,
}

#[derive(Debug, Clone)]
pub enum Selection {
    Field(Field),
    Spread(usize, Vec<Condition>),
    Inline(String, Vec<Condition>, Vec<Selection>),
}

#[derive(Debug, Clone)]
pub struct Field {
    pub alias: Option<String>,
    pub name: String,
    pub arguments: Vec<(String, Value)>,
    pub conditions: Vec<Condition>,
    pub selections: Vec<Selection>,
}

/// `@include` or `@skip`.
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    pub includes: bool,
    /// The variable. Without one, the condition is always true.
    pub flag: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Flag(bool),
    Number(i64),
    Text(String),
    /// An enum value.
    Name(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
    /// A new, unique text of this length.
    Fresh(usize),
    /// A variable with this type and value.
    Variable(String, Box<Value>),
}

/// The written form of a request.
pub struct Written {
    pub body: String,
    pub text: String,
}

/// The location of a selection set.
#[derive(Debug, Clone)]
pub struct Place {
    /// The type it selects on.
    pub of: String,
    /// The fragment that contains it.
    pub fragment: Option<usize>,
}

impl Document {
    /// A request with one operation.
    pub fn new(is_mutation: bool, selections: Vec<Selection>) -> Self {
        Self { is_mutation, operations: vec![selections], fragments: Vec::new(), flags: [true; FLAGS], padding: 0 }
    }

    /// The root type of the operations.
    pub fn root(&self) -> &'static str {
        if self.is_mutation { "Mutation" } else { "Query" }
    }

    /// Visits every selection set.
    pub fn visit(&mut self, schema: &Schema, visitor: &mut dyn FnMut(&Place, &mut Vec<Selection>)) {
        let root = self.root().to_owned();
        for operation in &mut self.operations {
            walk(schema, &Place { of: root.clone(), fragment: None }, operation, visitor);
        }
        for (number, fragment) in self.fragments.iter_mut().enumerate() {
            let place = Place { of: fragment.on.clone(), fragment: Some(number) };
            walk(schema, &place, &mut fragment.selections, visitor);
        }
    }

    /// Changes one selection set.
    pub fn change<R>(
        &mut self,
        schema: &Schema,
        random: &mut fastrand::Rng,
        change: impl FnOnce(&Place, &mut Vec<Selection>, &mut fastrand::Rng) -> R,
    ) -> Option<R> {
        let mut count = 0;
        self.visit(schema, &mut |_, _| count += 1);
        let chosen = random.usize(..count.max(1));
        let (mut at, mut change, mut made) = (0, Some(change), None);
        self.visit(schema, &mut |place, set| {
            if at == chosen
                && let Some(change) = change.take()
            {
                made = Some(change(place, set, random));
            }
            at += 1;
        });
        made
    }

    /// The number of selections.
    pub fn size(&mut self, schema: &Schema) -> usize {
        let mut size = 0;
        self.visit(schema, &mut |_, set| size += set.len());
        size
    }

    /// Writes the request. `fresh` numbers the unique texts.
    pub fn write(&self, fresh: &mut u64) -> Written {
        let mut writer = Writer { fresh, variables: HashMap::new(), values: Map::new(), used: BTreeSet::new() };
        let mut fragments = Vec::new();
        for (number, fragment) in self.fragments.iter().enumerate() {
            let mut text = format!("fragment f{number} on {} ", fragment.on);
            writer.used.clear();
            writer.selections(&mut text, &fragment.selections);
            fragments.push((text, std::mem::take(&mut writer.used)));
        }
        // Fragments spread only later ones, so one pass finds all that are needed.
        for number in (0..fragments.len()).rev() {
            let mut needed = fragments[number].1.clone();
            for inner in spread(&self.fragments[number].selections) {
                needed.extend(fragments[inner].1.iter().cloned());
            }
            fragments[number].1 = needed;
        }
        let mut text = ",".repeat(self.padding);
        for (number, operation) in self.operations.iter().enumerate() {
            let mut body = String::new();
            writer.used.clear();
            writer.selections(&mut body, operation);
            for inner in spread(operation) {
                writer.used.extend(fragments[inner].1.iter().cloned());
            }
            let kind = if self.is_mutation { "mutation" } else { "query" };
            let _ = write!(text, "{kind} q{number}");
            if !writer.used.is_empty() {
                let _ = write!(text, "({})", writer.used.iter().cloned().collect::<Vec<_>>().join(","));
            }
            text += &body;
        }
        let used: BTreeSet<usize> = self.operations.iter().flat_map(|operation| reach(self, operation)).collect();
        text.extend(used.iter().map(|number| fragments[*number].0.as_str()));
        let mut values = writer.values;
        for (number, flag) in self.flags.iter().enumerate() {
            if text.contains(&format!("$b{number}:")) {
                values.insert(format!("b{number}"), json!(flag));
            }
        }
        let mut request = json!({ "query": text, "variables": values });
        if self.operations.len() > 1 {
            request["operationName"] = json!("q0");
        }
        Written { body: request.to_string(), text }
    }

    /// Parses a request.
    pub fn read(request: &serde_json::Value) -> Result<Self, String> {
        let text = request["query"].as_str().ok_or("there is no query")?;
        let document = parse_query::<String>(text).map_err(|error| error.to_string())?.into_static();
        let names: Vec<String> = document
            .definitions
            .iter()
            .filter_map(|definition| match definition {
                Definition::Fragment(fragment) => Some(fragment.name.clone()),
                Definition::Operation(_) => None,
            })
            .collect();
        let mut read = Self::new(false, Vec::new());
        read.operations.clear();
        let mut types = HashMap::new();
        for definition in &document.definitions {
            let variables = match definition {
                Definition::Operation(OperationDefinition::Query(query)) => &query.variable_definitions,
                Definition::Operation(OperationDefinition::Mutation(mutation)) => &mutation.variable_definitions,
                _ => continue,
            };
            types.extend(variables.iter().map(|variable| (variable.name.clone(), variable.var_type.to_string())));
        }
        let mut reader =
            Reader { names, types, values: &request["variables"], flags: [true; FLAGS], named: Vec::new() };
        for definition in document.definitions {
            match definition {
                Definition::Operation(OperationDefinition::SelectionSet(set)) => {
                    read.operations.push(reader.selections(set)?);
                }
                Definition::Operation(OperationDefinition::Query(query)) => {
                    read.operations.push(reader.selections(query.selection_set)?);
                }
                Definition::Operation(OperationDefinition::Mutation(mutation)) => {
                    read.is_mutation = true;
                    read.operations.push(reader.selections(mutation.selection_set)?);
                }
                Definition::Operation(OperationDefinition::Subscription(_)) => return Err("a subscription".to_owned()),
                Definition::Fragment(fragment) => {
                    let query::TypeCondition::On(on) = fragment.type_condition;
                    read.fragments.push(Fragment { on, selections: reader.selections(fragment.selection_set)? });
                }
            }
        }
        read.flags = reader.flags;
        Ok(read)
    }
}

fn walk(
    schema: &Schema,
    place: &Place,
    set: &mut Vec<Selection>,
    visitor: &mut dyn FnMut(&Place, &mut Vec<Selection>),
) {
    visitor(place, set);
    for selection in set {
        let (of, inner) = match selection {
            Selection::Field(field) if !field.selections.is_empty() => {
                let Some(known) = schema.field(&place.of, &field.name) else { continue };
                (known.of.clone(), &mut field.selections)
            }
            Selection::Inline(on, _, inner) => (on.clone(), inner),
            _ => continue,
        };
        walk(schema, &Place { of, fragment: place.fragment }, inner, visitor);
    }
}

/// The fragments that selections spread directly.
fn spread(selections: &[Selection]) -> BTreeSet<usize> {
    let inner = |selection: &Selection| match selection {
        Selection::Field(field) => spread(&field.selections),
        Selection::Spread(number, _) => BTreeSet::from([*number]),
        Selection::Inline(_, _, selections) => spread(selections),
    };
    selections.iter().flat_map(inner).collect()
}

/// The fragments that selections spread directly or indirectly.
fn reach(document: &Document, selections: &[Selection]) -> BTreeSet<usize> {
    let mut found = spread(selections);
    let mut next: Vec<usize> = found.iter().copied().collect();
    while let Some(number) = next.pop() {
        for inner in spread(&document.fragments[number].selections) {
            if found.insert(inner) {
                next.push(inner);
            }
        }
    }
    found
}

struct Writer<'w> {
    fresh: &'w mut u64,
    /// Variables, by type and value.
    variables: HashMap<String, String>,
    values: Map<String, serde_json::Value>,
    /// The definitions of the variables that are used.
    used: BTreeSet<String>,
}

impl Writer<'_> {
    fn selections(&mut self, text: &mut String, selections: &[Selection]) {
        text.push('{');
        for selection in selections {
            match selection {
                Selection::Field(field) => {
                    if let Some(alias) = &field.alias {
                        let _ = write!(text, "{alias}:");
                    }
                    *text += &field.name;
                    if !field.arguments.is_empty() {
                        text.push('(');
                        for (name, value) in &field.arguments {
                            let _ = write!(text, "{name}:");
                            self.value(text, value);
                            text.push(' ');
                        }
                        text.push(')');
                    }
                    self.conditions(text, &field.conditions);
                    if !field.selections.is_empty() {
                        self.selections(text, &field.selections);
                    }
                }
                Selection::Spread(number, conditions) => {
                    let _ = write!(text, "...f{number}");
                    self.conditions(text, conditions);
                }
                Selection::Inline(on, conditions, selections) => {
                    let _ = write!(text, "...on {on}");
                    self.conditions(text, conditions);
                    self.selections(text, selections);
                }
            }
            text.push(' ');
        }
        text.push('}');
    }

    fn conditions(&mut self, text: &mut String, conditions: &[Condition]) {
        for condition in conditions {
            let name = if condition.includes { "include" } else { "skip" };
            match condition.flag {
                Some(flag) => {
                    self.used.insert(format!("$b{flag}:Boolean!"));
                    let _ = write!(text, "@{name}(if:$b{flag})");
                }
                None => {
                    let _ = write!(text, "@{name}(if:{})", condition.includes);
                }
            }
        }
    }

    fn value(&mut self, text: &mut String, value: &Value) {
        match value {
            Value::Null => *text += "null",
            Value::Flag(flag) => *text += if *flag { "true" } else { "false" },
            Value::Number(number) => {
                let _ = write!(text, "{number}");
            }
            // GraphQL and JSON have the same escapes.
            Value::Text(value) => *text += &json!(value).to_string(),
            Value::Name(name) => *text += name,
            Value::List(values) => {
                text.push('[');
                for value in values {
                    self.value(text, value);
                    text.push(' ');
                }
                text.push(']');
            }
            Value::Object(entries) => {
                text.push('{');
                for (name, value) in entries {
                    let _ = write!(text, "{name}:");
                    self.value(text, value);
                    text.push(' ');
                }
                text.push('}');
            }
            Value::Fresh(length) => *text += &json!(self.fresh(*length)).to_string(),
            Value::Variable(of, value) => {
                let json = self.json(value);
                let key = format!("{of} {json}");
                let next = self.variables.len();
                let name = self.variables.entry(key).or_insert_with(|| format!("v{next}")).clone();
                self.used.insert(format!("${name}:{of}"));
                let _ = write!(text, "${name}");
                self.values.insert(name, json);
            }
        }
    }

    fn fresh(&mut self, length: usize) -> String {
        *self.fresh += 1;
        let number = self.fresh.to_string();
        format!("new-{number}{}", "x".repeat(length.saturating_sub(4 + number.len())))
    }

    fn json(&mut self, value: &Value) -> serde_json::Value {
        match value {
            Value::Null => json!(null),
            Value::Flag(flag) => json!(flag),
            Value::Number(number) => json!(number),
            Value::Text(text) | Value::Name(text) => json!(text),
            Value::List(values) => values.iter().map(|value| self.json(value)).collect(),
            Value::Object(entries) => serde_json::Value::Object(
                entries.iter().map(|(name, value)| (name.clone(), self.json(value))).collect(),
            ),
            Value::Fresh(length) => json!(self.fresh(*length)),
            Value::Variable(_, value) => self.json(value),
        }
    }
}

struct Reader<'r> {
    names: Vec<String>,
    types: HashMap<String, String>,
    values: &'r serde_json::Value,
    flags: [bool; FLAGS],
    /// The Boolean variables, by number.
    named: Vec<String>,
}

impl Reader<'_> {
    fn selections(&mut self, set: query::SelectionSet<'static, String>) -> Result<Vec<Selection>, String> {
        let mut read = Vec::new();
        for item in set.items {
            read.push(match item {
                query::Selection::Field(field) => Selection::Field(Field {
                    alias: field.alias,
                    name: field.name,
                    arguments: field
                        .arguments
                        .into_iter()
                        .map(|(name, value)| Ok((name, self.value(value)?)))
                        .collect::<Result<_, String>>()?,
                    conditions: self.conditions(field.directives),
                    selections: self.selections(field.selection_set)?,
                }),
                query::Selection::FragmentSpread(spread) => {
                    let number = self.names.iter().position(|name| *name == spread.fragment_name);
                    Selection::Spread(number.ok_or("an unknown fragment")?, self.conditions(spread.directives))
                }
                query::Selection::InlineFragment(inline) => {
                    let Some(query::TypeCondition::On(on)) = inline.type_condition else {
                        return Err("an inline fragment without a type".to_owned());
                    };
                    Selection::Inline(on, self.conditions(inline.directives), self.selections(inline.selection_set)?)
                }
            });
        }
        Ok(read)
    }

    fn conditions(&mut self, directives: Vec<query::Directive<'static, String>>) -> Vec<Condition> {
        let mut conditions = Vec::new();
        for directive in directives {
            let flag = match directive.arguments.into_iter().next() {
                Some((_, query::Value::Variable(name))) => {
                    let known = self.named.iter().position(|known| *known == name);
                    let number = known.unwrap_or_else(|| {
                        self.named.push(name.clone());
                        self.named.len() - 1
                    }) % FLAGS;
                    self.flags[number] = self.values[&name].as_bool().unwrap_or(true);
                    Some(number)
                }
                _ => None,
            };
            conditions.push(Condition { includes: directive.name == "include", flag });
        }
        conditions
    }

    fn value(&self, value: query::Value<'static, String>) -> Result<Value, String> {
        Ok(match value {
            query::Value::Variable(name) => {
                let of = self.types.get(&name).ok_or("an unknown variable")?.clone();
                Value::Variable(of, Box::new(Value::from(&self.values[&name])))
            }
            query::Value::Int(number) => Value::Number(number.as_i64().unwrap_or_default()),
            query::Value::Float(_) => return Err("no argument is a float".to_owned()),
            query::Value::String(text) => Value::Text(text),
            query::Value::Boolean(flag) => Value::Flag(flag),
            query::Value::Null => Value::Null,
            query::Value::Enum(name) => Value::Name(name),
            query::Value::List(values) => {
                Value::List(values.into_iter().map(|value| self.value(value)).collect::<Result<_, _>>()?)
            }
            query::Value::Object(entries) => Value::Object(
                entries
                    .into_iter()
                    .map(|(name, value)| Ok((name, self.value(value)?)))
                    .collect::<Result<_, String>>()?,
            ),
        })
    }
}

impl From<&serde_json::Value> for Value {
    fn from(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(flag) => Self::Flag(*flag),
            serde_json::Value::Number(number) => Self::Number(number.as_i64().unwrap_or_default()),
            serde_json::Value::String(text) => Self::Text(text.clone()),
            serde_json::Value::Array(values) => Self::List(values.iter().map(Self::from).collect()),
            serde_json::Value::Object(entries) => {
                Self::Object(entries.iter().map(|(name, value)| (name.clone(), Self::from(value))).collect())
            }
        }
    }
}
