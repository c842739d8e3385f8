//! How every mutation refuses invalid inputs. Each field of each input is left out, nulled, emptied, made too long,
//! given the id of something else, and so on, once in a variable and once in the document. The response names the
//! field, and nothing has changed. GraphQL itself refuses what violates a `!` in the SDL, with a top-level error; the
//! mutation refuses everything else, in its payload.
//!
//! The fields and their invalid values follow from the schema: its types, and the lengths in its descriptions. Other
//! rules are tested with their noun.

use std::collections::BTreeSet;
use std::fmt::Write;

use apollo_compiler::Schema;
use apollo_compiler::ast::{InputValueDefinition, Type};
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use data_encoding::BASE64URL_NOPAD;
use rollcall::db::{AnyRow, Db};
use rollcall::entity;
use serde_json::{Value, json};

use crate::harness::tour::{Step, Tour, object, schema};

/// Fields that may be absent but not null, if the schema says so in other words than "null is an error".
const NOT_NULL: [(&str, &str); 10] = [
    ("tagUpdate", "key"),
    ("tagUpdate", "value"),
    ("userUpdate", "name"),
    ("userUpdate", "role"),
    ("tierUpdate", "name"),
    ("tierUpdate", "alias"),
    ("tierUpdate", "index"),
    ("lifecycleUpdate", "name"),
    ("lifecycleUpdate", "alias"),
    ("lifecycleUpdate", "index"),
];

/// Whether a field has no effect, so that any name in it is accepted.
fn names_what_is_ignored(schema: &Schema, field: &InputValueDefinition) -> bool {
    let description = field.description.as_deref().unwrap_or_default();
    schema.get_input_object(field.ty.inner_named_type()).is_some()
        && description.ends_with("Accepted for older clients.")
}

/// A mutation's arguments with one invalid value.
struct Case {
    what: &'static str,
    /// Its path: argument, fields and positions.
    path: Vec<String>,
    arguments: Value,
    /// Whether GraphQL itself must refuse it, because the SDL requires a value.
    by_type: bool,
}

/// The value at a path.
fn at<'v>(arguments: &'v mut Value, path: &[String]) -> &'v mut Value {
    path.iter().fold(arguments, |value, step| match step.parse::<usize>() {
        Ok(place) if value.is_array() => &mut value[place],
        _ => &mut value[step.as_str()],
    })
}

fn has(arguments: &Value, path: &[String]) -> bool {
    let mut value = Some(arguments);
    for step in path {
        value = value.and_then(|value| match step.parse::<usize>() {
            Ok(place) if value.is_array() => value.get(place),
            _ => value.get(step.as_str()),
        });
    }
    value.is_some()
}

/// The minimum and maximum number of characters that a description publishes.
fn lengths(description: &str) -> Option<(usize, usize)> {
    let words: Vec<_> = description.split([' ', '\n']).filter(|word| !word.is_empty()).collect();
    let number = |word: &str| word.parse::<usize>().ok();
    (0..words.len()).find_map(|i| {
        if words.get(i + 1).copied()?.trim_end_matches(['.', ',', ';', ':']) != "characters" {
            return None;
        }
        let most = number(words[i])?;
        let fewest = if i >= 2 && words[i - 1] == "to" { number(words[i - 2])? } else { 0 };
        Some((fewest, most))
    })
}

/// All invalid variants of a step's arguments.
struct Wrongs<'s> {
    schema: &'s Schema,
    step: &'s Step,
    cases: Vec<Case>,
    /// Valid variants: a field that may be null or empty is.
    allowed: Vec<Case>,
}

impl<'s> Wrongs<'s> {
    fn of(schema: &'s Schema, step: &'s Step) -> Self {
        let mut this = Self { schema, step, cases: Vec::new(), allowed: Vec::new() };
        for argument in &object(schema, "Mutation").fields[step.mutation].arguments {
            this.field(argument, &[]);
        }
        this
    }

    /// Adds a valid variant.
    fn allow(&mut self, what: &'static str, path: &[String], value: Option<Value>) {
        self.wrong(what, path, value);
        self.allowed.extend(self.cases.pop());
    }

    /// Adds a variant where the field at `path` has this value, or none.
    fn wrong(&mut self, what: &'static str, path: &[String], value: Option<Value>) {
        let mut arguments = self.step.arguments.clone();
        let (last, parents) = path.split_last().expect("a path");
        let parent = at(&mut arguments, parents);
        match value {
            Some(value) => *at(parent, std::slice::from_ref(last)) = value,
            None => drop(parent.as_object_mut().expect("an object").remove(last)),
        }
        self.cases.push(Case { what, path: path.to_vec(), arguments, by_type: false });
    }

    /// Adds a variant that the field's type does not allow.
    fn wrong_by_type(&mut self, what: &'static str, path: &[String], value: Option<Value>) {
        self.wrong(what, path, value);
        self.cases.last_mut().expect("the case").by_type = true;
    }

    /// Adds a variant without the field that is the alternative to this one.
    fn instead(&mut self, what: &'static str, path: &[String], other: &str, value: Option<Value>) {
        self.wrong(what, path, value);
        let (_, parents) = path.split_last().expect("a path");
        let case = self.cases.last_mut().expect("the case");
        if let Some(parent) = at(&mut case.arguments, parents).as_object_mut() {
            parent.remove(other);
        }
    }

    fn field(&mut self, field: &InputValueDefinition, parents: &[String]) {
        let path: Vec<_> = parents.iter().cloned().chain([field.name.to_string()]).collect();
        let description = field.description.as_deref().unwrap_or_default();
        let name = field.name.as_str();
        if let Some(other) = self.other_name(name, parents) {
            return self.name_of_a_thing(&path, other, field);
        }
        let given = has(&self.step.arguments, &path);
        assert!(given || path.len() > 1 || !field.ty.is_non_null(), "{}: {path:?} is not given", self.step.mutation);
        if !given {
            // A step that omits it tests it in another way. A field that no step gives is reported below.
            return;
        }
        if field.ty.is_non_null() && field.default_value.is_none() {
            self.wrong_by_type("missing", &path, None);
        } else {
            self.allow("missing", &path, None);
        }
        let not_null = description.contains("null is an error") || NOT_NULL.contains(&(self.step.mutation, name));
        if field.ty.is_non_null() {
            self.wrong_by_type("null", &path, Some(Value::Null));
        } else if not_null {
            self.wrong("null", &path, Some(Value::Null));
        } else {
            self.allow("null", &path, Some(Value::Null));
        }
        if !names_what_is_ignored(self.schema, field) {
            self.value(&field.ty, description, field.ty.is_non_null(), &path);
        }
    }

    /// The alternative field, if exactly one of two must be given.
    fn other_name(&self, name: &str, parents: &[String]) -> Option<&'static str> {
        let field = self.input_at(parents)?;
        let both = |other: &str| field.fields.contains_key("id") && field.fields.contains_key(other);
        let nullable = |name: &str| field.fields.get(name).is_some_and(|field| !field.ty.is_non_null());
        match name {
            "id" if both("alias") && nullable("id") => Some("alias"),
            "id" if both("email") && nullable("id") => Some("email"),
            "alias" if both("alias") && nullable("id") => Some("id"),
            "email" if both("email") && nullable("id") => Some("id"),
            _ => None,
        }
    }

    /// The input object at a path.
    fn input_at(&self, path: &[String]) -> Option<&'s InputObjectType> {
        let (first, rest) = path.split_first()?;
        let arguments = &object(self.schema, "Mutation").fields[self.step.mutation].arguments;
        let mut ty = &arguments.iter().find(|argument| argument.name == first.as_str())?.ty;
        for step in rest {
            if step.parse::<usize>().is_err() {
                let input = self.schema.get_input_object(ty.inner_named_type())?;
                ty = &input.fields.get(step.as_str())?.ty;
            }
        }
        self.schema.get_input_object(ty.inner_named_type()).map(|input| &**input)
    }

    fn name_of_a_thing(&mut self, path: &[String], other: &'static str, field: &InputValueDefinition) {
        let (_, parents) = path.split_last().expect("a path");
        let mut others = parents.to_vec();
        others.push(other.to_owned());
        if !has(&self.step.arguments, path) && !has(&self.step.arguments, &others) {
            // The enclosing object is absent.
            return;
        }
        self.instead("missing", path, other, None);
        self.instead("null", path, other, Some(Value::Null));
        self.instead("empty", path, other, Some(json!("")));
        self.wrong("both", path, Some(json!("x")));
        let arguments = &mut self.cases.last_mut().expect("the case").arguments;
        at(arguments, parents)[other] = json!("x");
        self.strays(path, Some(other), &field.ty);
    }

    /// Names and ids that do not exist.
    fn strays(&mut self, path: &[String], other: Option<&str>, ty: &Type) {
        let other = other.unwrap_or_default();
        if *ty.inner_named_type() == "ID" {
            for (what, plain) in [
                ("of another class", "gid://rollcall/Nothing/1"),
                ("of a class that has no ids", "gid://rollcall/CodeIssueCve/1"),
                ("gone", "gid://rollcall/Service/987654321"),
                ("of another class that has this row", "gid://rollcall/Tier/2"),
            ] {
                // For a tier's mutation, a tier's id is valid.
                if !(plain.contains("Tier") && self.step.mutation.starts_with("tier")) {
                    self.instead(what, path, other, Some(json!(BASE64URL_NOPAD.encode(plain.as_bytes()))));
                }
            }
            self.instead("malformed", path, other, Some(json!("nonsense")));
        } else {
            self.instead("unknown", path, other, Some(json!("no such thing")));
            self.instead("of another type", path, other, Some(json!(5)));
        }
        self.instead("too long", path, other, Some(json!("x".repeat(60_000))));
        self.instead("with a null character", path, other, Some(json!("a\0b")));
        self.instead("an object", path, other, Some(json!({})));
    }

    fn value(&mut self, ty: &Type, description: &str, required: bool, path: &[String]) {
        if ty.is_list() {
            return self.list(ty, description, path);
        }
        let name = ty.inner_named_type();
        match &self.schema.types[name] {
            ExtendedType::InputObject(input) => {
                for given in [json!("x"), json!(5), json!([[]])] {
                    self.wrong("not an object", path, Some(given));
                }
                let mut unknown: Vec<_> = path.to_vec();
                unknown.push("noSuchField".to_owned());
                self.wrong("unknown", &unknown, Some(json!("x")));
                for field in input.fields.values() {
                    self.field(field, path);
                }
            }
            ExtendedType::Enum(_) => {
                self.unreadable(path);
                for given in [json!("no_such_word"), json!(5), json!({})] {
                    self.wrong("not a word of the enum", path, Some(given));
                }
            }
            _ => self.scalar(name, ty, description, required, path),
        }
    }

    /// Values that are invalid for every type except text.
    fn unreadable(&mut self, path: &[String]) {
        self.wrong("empty", path, Some(json!("")));
        self.wrong("too long", path, Some(json!("9".repeat(60_000))));
    }

    fn scalar(&mut self, name: &str, ty: &Type, description: &str, required: bool, path: &[String]) {
        match name {
            "ID" => {
                self.wrong("empty", path, Some(json!("")));
                self.strays(path, None, ty);
            }
            "Float" => {
                self.unreadable(path);
                for given in [json!(-0.5), json!(1.5), json!("1")] {
                    self.wrong("not a part of a whole", path, Some(given));
                }
            }
            "Int" => {
                self.unreadable(path);
                for given in [json!(-1), json!(3_000_000_000_u64), json!(1.5), json!("1")] {
                    self.wrong("not a place in an order", path, Some(given));
                }
            }
            "ComponentTypeIconEnum" => {
                self.unreadable(path);
                self.wrong("not a name", path, Some(json!("Ph Gear")));
            }
            "JSON" => {
                self.unreadable(path);
                for given in [json!([]), json!(5), json!("5"), json!("{"), json!({})] {
                    self.wrong("not what the schema allows", path, Some(given));
                }
            }
            "JSONSchema" => {
                self.unreadable(path);
                let itself = json!("{\"$ref\": \"#\"}");
                for given in [json!([]), json!(5), json!("5"), json!("{"), json!({ "type": "no_such_type" }), itself] {
                    self.wrong("not a schema", path, Some(given));
                }
            }
            "JsonString" => {
                self.unreadable(path);
                for given in [json!({}), json!("{"), json!("a\0b"), json!("[".repeat(1_000))] {
                    self.wrong("not JSON text", path, Some(given));
                }
            }
            "Boolean" => {
                self.unreadable(path);
                for given in [json!("true"), json!(1)] {
                    self.wrong("neither true nor false", path, Some(given));
                }
            }
            "ISO8601DateTime" => {
                self.unreadable(path);
                for given in ["yesterday", "2026-13-01T00:00:00Z", "2026-01-02", "2026-01-02T25:04:05Z"] {
                    self.wrong("not a date", path, Some(json!(given)));
                }
                self.wrong("not a date", path, Some(json!(5)));
            }
            "String" | "YAML" => {
                let (fewest, most) = lengths(description).unwrap_or((0, 59_999));
                let too_long = match &*path[path.len() - 1] {
                    "url" => format!("https://example.com/{}", "x".repeat(most)),
                    "email" | "managerEmail" => format!("{}@example.com", "x".repeat(most)),
                    "key" => "k".repeat(most + 1),
                    _ => "ä".repeat(most + 1),
                };
                self.wrong("too long", path, Some(json!(too_long)));
                self.wrong("with a null character", path, Some(json!("a\0b")));
                let is_compared = self.step.mutation.starts_with("filter") && path[path.len() - 1] != "name";
                if most <= rollcall::entity::text::URL && !is_compared {
                    for text in ["a\u{1b}[31mb", "a\nb", "a\u{202e}b"] {
                        self.wrong("with a control character", path, Some(json!(text)));
                    }
                }
                self.wrong("of another type", path, Some(json!(5)));
                if description.contains("must exist") || description.contains("unknown one is an error") {
                    self.wrong("unknown", path, Some(json!("no such thing")));
                }
                if fewest > 0 || (required && !description.contains("may be empty")) {
                    self.wrong("empty", path, Some(json!("")));
                    self.wrong("blank", path, Some(json!(" ")));
                } else {
                    self.allow("empty", path, Some(json!("")));
                    self.allow("blank", path, Some(json!(" ")));
                }
            }
            other => panic!("a scalar that this test does not know: {other}"),
        }
    }

    fn list(&mut self, ty: &Type, description: &str, path: &[String]) {
        let item = ty.item_type();
        let mut first = path.to_vec();
        first.push("0".to_owned());
        if item.is_non_null() {
            self.wrong_by_type("null", &first, Some(Value::Null));
        }
        self.allow("empty", path, Some(json!([])));
        if description.contains("at most 1000") {
            let one = at(&mut self.step.arguments.clone(), &first).clone();
            self.wrong("too many", path, Some(Value::Array(vec![one; 1001])));
        }
        self.value(item, description, item.is_non_null(), &first);
    }
}

/// The tables whose rows a refusal may change: what the audit tells, what servers remember, and when a token was last used.
const CHANGING: [&str; 3] = ["audit", "remembered", "token"];

/// All rows of all other tables.
async fn dump(db: &Db) -> String {
    let mut rows = String::new();
    for table in entity::TABLES.iter().filter(|table| !CHANGING.contains(&table.name())) {
        let found = table.page(db.read(), 0, u64::from(u32::MAX)).await.expect("rows");
        let found: Vec<_> = found.iter().map(AnyRow::columns).collect();
        writeln!(rows, "{} {found:?}", table.name()).expect("a string takes all");
    }
    rows
}

/// Whether a repository that is not found is reported beside those that were changed.
fn is_reported(case: &Case, payload: &Value) -> bool {
    case.path[0] == "repositories" && payload["notUpdatedRepositories"][0].is_object()
}

/// Returns what is wrong with the response to a case, or `None` if it names the field. Paths in top-level errors begin
/// with `mark`.
fn complaint(step: &Step, case: &Case, mark: &str, answer: &Value) -> Option<String> {
    let Case { path, what, .. } = case;
    if let Some(error) = answer["errors"].as_array().and_then(|errors| errors.first()) {
        let message = error["message"].as_str().unwrap_or_default();
        let named = |path: &[String]| message.starts_with(&format!("{mark}{}: ", path.join(".")));
        // A single value stands for a list of one. Both paths name the field.
        let shorter: Vec<_> = path.iter().filter(|step| step.parse::<usize>().is_err()).cloned().collect();
        let whole = path.len() == 1 && named(path);
        let code = error["extensions"]["code"].as_str().unwrap_or_default();
        let code = code == "BAD_USER_INPUT" || (mark.is_empty() && code == "GRAPHQL_VALIDATION_FAILED");
        // An absent value has no location of its own, so the message must quote its name.
        let quoted = |name: &str| {
            [format!(".{name}`"), format!("`{name}`"), format!("({name}:)`")].iter().any(|name| message.contains(name))
        };
        if mark.is_empty() && *what == "too many" && error["extensions"]["code"] == "GRAPHQL_PARSE_FAILED" {
            // A document cannot be that long.
            return None;
        }
        let around = mark.is_empty()
            && path.split_last().is_some_and(|(name, rest)| {
                quoted(name) && (rest.is_empty() || named(rest) || rest.last().is_some_and(|step| step == "0"))
            });
        let ok = code && message.len() < 2_000 && (whole || named(path) || named(&shorter) || around);
        return (!ok).then(|| format!("a request error that does not name the field: {error}"));
    }
    if case.by_type {
        return Some("not refused by GraphQL itself".to_owned());
    }
    let payload = &answer["data"][step.mutation];
    let errors = payload["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    if errors.is_empty() && is_reported(case, payload) {
        return None;
    }
    if errors.is_empty() {
        return Some(format!("accepted: {payload}"));
    }
    let expected: Vec<_> = if ["input", "inputV2"].contains(&&*path[0]) { path[1..].to_vec() } else { path.clone() };
    let (last, parents) = expected.split_last()?;
    let named = errors.iter().any(|error| {
        let found: Vec<_> = error["path"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let message = error["message"].as_str().unwrap_or_default();
        let exactly = found == expected;
        // "exactly one of id and alias must be given" is about the enclosing object.
        let around = match found.split_last() {
            Some((&"base", before)) => before == parents,
            _ => found == parents,
        };
        let around = around && message.split(' ').any(|word| word == last);
        let of_an_item = last.parse::<usize>().is_ok() && found == parents;
        exactly || around || of_an_item
    });
    if !named {
        return Some(format!("payload errors that do not name the field: {errors:?}"));
    }
    let kept = payload.as_object().into_iter().flatten().find(|(name, value)| *name != "errors" && !value.is_null());
    kept.map(|(name, _)| format!("{name} is not null beside the errors"))
}

#[tokio::test]
async fn every_invalid_input_of_every_mutation_is_refused_at_its_field_and_changes_nothing() {
    let tour = Tour::start().await;
    let schema = schema();
    let mut before = dump(&tour.endpoint.app.db).await;
    let (mut cases, mut complaints) = (0, Vec::new());
    for step in tour.steps() {
        let mut is_in_part = false;
        let payload = object(&schema, "Mutation").fields[step.mutation].ty.inner_named_type();
        let fields = object(&schema, payload).fields.values().map(|field| {
            let leaf = schema.types[field.ty.inner_named_type()].is_scalar();
            if field.name == "errors" {
                "errors { message path }".to_owned()
            } else if leaf {
                field.name.to_string()
            } else {
                format!("{} {{ __typename }}", field.name)
            }
        });
        let selection = format!("{{ {} }}", fields.collect::<Vec<_>>().join(" "));
        let operation = step.operation(&schema, &selection);
        for case in Wrongs::of(&schema, &step).cases {
            cases += 1;
            let written = step.written(&schema, &case.arguments, &selection);
            let answers = [
                ("", "$", tour.ask(&operation, case.arguments.clone()).await),
                ("written ", "", tour.ask(&written, json!({})).await),
            ];
            let value = case.path.iter().try_fold(&case.arguments, |value, step| {
                step.parse::<usize>().ok().and_then(|place| value.get(place)).or_else(|| value.get(step.as_str()))
            });
            let value = value.map_or_else(String::new, ToString::to_string);
            let name = format!("{} {} {} {:.40}", step.mutation, case.path.join("."), case.what, value);
            for (how, mark, answer) in answers {
                is_in_part |= is_reported(&case, &answer["data"][step.mutation]);
                if let Some(complaint) = complaint(&step, &case, mark, &answer) {
                    complaints.push(format!("{how}{name}: {}", complaint.chars().take(400).collect::<String>()));
                }
            }
        }
        // Once for each mutation: checking after each case would take a minute.
        let after = dump(&tour.endpoint.app.db).await;
        if after != before {
            // What is not found among several does not keep the others from being changed.
            if is_in_part {
                before = after;
                continue;
            }
            complaints.push(format!("{}: something has changed", step.mutation));
            before = after;
        }
    }
    assert!(complaints.is_empty(), "of {cases} cases\n{}", complaints.join("\n"));
    assert!(cases > 1_500, "{cases}");
}

/// The variants that an input of this type must be tried with.
fn ways(schema: &Schema, ty: &Type) -> &'static [&'static str] {
    match &schema.types[ty.inner_named_type()] {
        _ if ty.is_list() => &["missing", "null", "empty"],
        ExtendedType::InputObject(_) => &["missing", "null"],
        named if named.name() == "ID" => &["missing", "null", "empty", "too long", "of another class", "malformed"],
        _ => &["missing", "null", "empty", "too long"],
    }
}

/// Every input of every mutation, and every variant: `mutation input.field variant`.
fn to_be_tried(schema: &Schema) -> BTreeSet<String> {
    fn below(schema: &Schema, mutation: &str, ty: &Type, path: &str, all: &mut BTreeSet<String>) {
        let is_item = path.ends_with(".0");
        let ways = ways(schema, ty).iter().filter(|way| !is_item || **way != "missing");
        // A list item cannot be missing, and null is invalid only where the type forbids it.
        let ways = ways.filter(|way| !is_item || ty.is_non_null() || **way != "null");
        all.extend(ways.map(|way| format!("{mutation} {path} {way}")));
        if ty.is_list() {
            below(schema, mutation, ty.item_type(), &format!("{path}.0"), all);
        } else if let Some(input) = schema.get_input_object(ty.inner_named_type()) {
            for field in input.fields.values().filter(|field| !names_what_is_ignored(schema, field)) {
                below(schema, mutation, &field.ty, &format!("{path}.{}", field.name), all);
            }
        }
    }
    let mut all = BTreeSet::new();
    for (mutation, field) in &object(schema, "Mutation").fields {
        for argument in &field.arguments {
            below(schema, mutation, &argument.ty, &argument.name, &mut all);
        }
    }
    all
}

#[tokio::test]
async fn every_field_of_every_input_is_tried_in_every_way() {
    let tour = Tour::start().await;
    let schema = schema();
    let mut tried = BTreeSet::new();
    for step in tour.steps() {
        let Wrongs { cases, allowed, .. } = Wrongs::of(&schema, &step);
        for Case { what, path, .. } in cases.iter().chain(&allowed) {
            tried.insert(format!("{} {} {what}", step.mutation, path.join(".")));
        }
    }
    let all = to_be_tried(&schema);
    assert!(all.len() > 700, "{}", all.len());
    let missing: Vec<_> = all.difference(&tried).cloned().collect();
    assert!(missing.is_empty(), "nobody tries these\n{}", missing.join("\n"));
}

#[tokio::test]
async fn null_or_empty_optional_inputs_are_never_top_level_errors() {
    let tour = Tour::start().await;
    let schema = schema();
    let mut cases = 0;
    for step in tour.steps() {
        let operation = step.operation(&schema, "{ errors { message path } }");
        for case in Wrongs::of(&schema, &step).allowed {
            cases += 1;
            let written = step.written(&schema, &case.arguments, "{ errors { message path } }");
            for (operation, variables) in [(&operation, case.arguments), (&written, json!({}))] {
                let answer = tour.ask(operation, variables).await;
                // Whether the mutation succeeds depends on the previous ones.
                assert_eq!(answer.get("errors"), None, "{} {} {}", step.mutation, case.path.join("."), case.what);
            }
        }
    }
    assert!(cases > 100, "{cases}");
}
