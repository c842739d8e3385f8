//! JSON Schemas that people write: which ones are allowed, and whether a value fits one.
//!
//! A schema and a value may come from anybody with a token, so that both have limits, and a check of one against the other
//! is bounded by their product. A schema refers to parts of itself alone: nothing is fetched and no file is read. A
//! reference must not lead back to where it stands, so that the schema with all references expanded is finite, and has a
//! limit too. Patterns run in linear time. All checks of a mutation share an [`Allowance`] of processor time, and
//! happen before it begins to write.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, Validator};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::budget::thread_clock;
use crate::error::{UserError, quoted, shortened};

/// The longest schema, as JSON text, in bytes.
pub const SCHEMA: usize = 32 << 10;
/// The longest value, as JSON text, in bytes.
pub const VALUE: usize = 8 << 10;
/// The most objects of a schema, with its references expanded.
pub const SCHEMA_OBJECTS: usize = 500;
/// The most lists, objects, texts, numbers and flags of a value.
pub const VALUE_PARTS: usize = 500;
/// The most patterns of a schema, with its references expanded.
pub const PATTERNS: usize = 10;
/// The most bytes of the patterns of a schema together, with its references expanded. With `(?i:\p{L})`, six bytes take
/// half a millisecond to compile, whatever comes of them.
pub const PATTERNS_TEXT: usize = 4 << 10;
/// The most levels of a schema or a value.
pub const LEVELS: usize = 20;
/// The most faults of a value that are told.
pub const FAULTS: usize = 20;

/// The longest schema with its references expanded, in bytes.
pub const EXPANDED: usize = 2 * SCHEMA;
/// The most bytes of a compiled pattern. A text is compared with at most so many states for each of its bytes.
pub const PATTERN: usize = 32 << 10;
/// The most checks of which all faults are told: objects of a schema, times parts of a value, times one more than the
/// choices within each other. What is wrong in a choice is looked for by one more check of all that is in it. Beyond this
/// the first fault is told alone, and none of a schema with choices: all that fails in a choice is held at once.
const CHECKS: usize = 20_000;
/// The most choices (`anyOf`, `oneOf`) within each other of a schema with patterns, of which faults of long texts are
/// told. Each choice compares the texts with the patterns in it once more.
const CHOICES: usize = 2;
/// The bytes of the texts of a value from which they are long.
const LONG: usize = 512;
/// What is told of a value where telling more would cost too much.
const UNTOLD: &str = "the value does not fit its schema, which has too many choices to say where";
const PATTERN_RULE: &str =
    "; a pattern has neither look-around nor back references, and takes at most 32,768 bytes when it is compiled";
/// The most processor time that the checks of one mutation take together. A check is not interrupted, so the last one
/// may take longer. This may be more than the budget of a request: that does not end a mutation, and a refusal is
/// answered however long it took.
pub const CHECKING: Duration = Duration::from_secs(2);
/// The drafts that a schema may name.
const DRAFTS: [&str; 3] = [
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];
/// Keywords that depend on what other keywords have seen. They take more than a step for each part of a value.
const LEFT_OUT: [&str; 8] = [
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// What is wrong with a value: a sentence, and where in the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The sentence.
    pub message: String,
    /// The names and places that lead to the part, outermost first.
    pub path: Vec<String>,
}

/// Reads JSON text of at most `most` bytes, [`LEVELS`] deep. Errors are about `field`.
pub fn read(field: &'static str, text: &str, most: usize) -> Result<Value, UserError> {
    if text.len() > most {
        return Err(UserError::new(field, format!("{field} has {} bytes; at most {most} are allowed", text.len())));
    }
    let value = serde_json::from_str(text)
        .map_err(|error| UserError::new(field, format!("{field} is not valid JSON: {error}")))?;
    if levels(&value) > LEVELS {
        return Err(UserError::new(field, format!("{field} has more than {LEVELS} levels")));
    }
    Ok(value)
}

/// Reads a value that is to be checked against a schema. Errors are about `field`.
pub fn read_value(field: &'static str, text: &str) -> Result<Value, UserError> {
    let value = read(field, text, VALUE)?;
    check_parts(field, &value)?;
    Ok(value)
}

/// Returns the JSON text of a value that is to be checked against a schema. Refuses what [`read_value`] refuses.
pub fn write_value(field: &'static str, value: &Value) -> Result<String, UserError> {
    check_parts(field, value)?;
    let text = value.to_string();
    read(field, &text, VALUE)?;
    Ok(text)
}

fn check_parts(field: &'static str, value: &Value) -> Result<(), UserError> {
    if parts(value) > VALUE_PARTS {
        return Err(UserError::new(field, format!("{field} has more than {VALUE_PARTS} parts")));
    }
    Ok(())
}

/// Reads a schema, and says what is wrong with one that is not allowed. Errors are about `field`.
pub fn read_schema(field: &'static str, text: &str) -> Result<Value, UserError> {
    let schema = read(field, text, SCHEMA)?;
    let refused = |fault: String| UserError::new(field, format!("{field} {fault}"));
    allowed(&schema).map_err(refused)?;
    compile(&schema).map_err(refused)?;
    Ok(schema)
}

/// The bytes of a schema times those of a value up to which a check needs no turn: it takes a millisecond at most.
const SMALL: usize = 1 << 18;

/// One large check at a time, of all callers in the order in which they came: a check occupies a thread.
static TURN: Semaphore = Semaphore::const_new(1);

/// Waits for the turn to read a schema, or to check a value against it, if that may take long.
pub async fn turn(schema: &str, value: &str) -> Option<SemaphorePermit<'static>> {
    let is_small = schema.len().saturating_mul(value.len().max(256)) <= SMALL && !schema.contains("attern");
    if is_small { None } else { TURN.acquire().await.ok() }
}

/// The processor time that the checks of one mutation may still take, by the clock of the thread.
#[derive(Debug)]
pub struct Allowance {
    left: Duration,
}

impl Default for Allowance {
    fn default() -> Self {
        Self::new(CHECKING)
    }
}

impl Allowance {
    /// An allowance of this much.
    pub fn new(left: Duration) -> Self {
        Self { left }
    }

    /// Does a part of the work, and charges the time that it takes. `None` if nothing is left: the work is not begun.
    pub fn spend<T>(&mut self, work: impl FnOnce() -> T) -> Option<T> {
        if self.left.is_zero() {
            return None;
        }
        let began = thread_clock();
        let done = work();
        self.left = self.left.saturating_sub(Duration::from_nanos(thread_clock().saturating_sub(began)));
        Some(done)
    }
}

/// A schema that values are checked against.
pub struct JsonSchema {
    validator: Validator,
    /// Its objects, with its references expanded.
    objects: usize,
    /// Its choices within each other.
    choices: usize,
    /// Its patterns, with its references expanded.
    patterns: usize,
}

impl JsonSchema {
    /// Compiles a stored schema. The error is the rest of a sentence about it: an import does not check schemas.
    pub fn of_row(text: &str) -> Result<Self, String> {
        let schema = read("schema", text, SCHEMA).map_err(|error| error.message.into_owned())?;
        let Weight { objects, choices, patterns, .. } = allowed(&schema)?;
        Ok(Self { validator: compile(&schema)?, objects, choices, patterns })
    }

    /// Returns what is wrong with a value: nothing when it fits.
    pub fn faults(&self, value: &Value) -> Vec<Fault> {
        // A value that fits needs no memory for what might have been wrong.
        if self.validator.is_valid(value) {
            return Vec::new();
        }
        let fault = |error: jsonschema::ValidationError<'_>| Fault {
            message: shortened(&error.to_string()).to_string(),
            path: error.instance_path().as_str().split('/').skip(1).map(unescaped).collect(),
        };
        let is_large = self.objects * parts(value) * (self.choices + 1) > CHECKS;
        let is_matched_often = self.patterns > 0 && self.choices > CHOICES && texts(value) > LONG;
        if self.choices > 0 && (is_large || is_matched_often) {
            return vec![Fault { message: UNTOLD.to_owned(), path: Vec::new() }];
        }
        if is_large {
            return self.validator.validate(value).map_err(fault).err().into_iter().collect();
        }
        self.validator.iter_errors(value).take(FAULTS).map(fault).collect()
    }
}

/// A step of a JSON pointer as the name that it stands for.
fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

fn compile(schema: &Value) -> Result<Validator, String> {
    let mut schema = schema.clone();
    // The schema's own address is of no use, and could be that of another that the program knows.
    if let Value::Object(keywords) = &mut schema {
        keywords.remove("$id");
    }
    let patterns = PatternOptions::regex().size_limit(PATTERN).dfa_size_limit(4 * PATTERN);
    let options = jsonschema::draft202012::options().offline().with_pattern_options(patterns);
    let options = match draft(&schema) {
        Some(draft) if draft == DRAFTS[0] => options.with_draft(jsonschema::Draft::Draft7),
        Some(draft) if draft == DRAFTS[1] => options.with_draft(jsonschema::Draft::Draft201909),
        _ => options,
    };
    let options = options.should_validate_formats(true);
    options.build(&schema).map_err(|error| {
        let at = match error.instance_path().as_str() {
            "" => String::new(),
            path => format!(" at {}", shortened(path)),
        };
        let rule = match error.kind() {
            ValidationErrorKind::Format { format } if format == "regex" => PATTERN_RULE,
            _ => "",
        };
        format!("is not a JSON Schema{at}: {}{rule}", shortened(&error.to_string()))
    })
}

/// The draft that a schema names.
fn draft(schema: &Value) -> Option<&str> {
    Some(schema.get("$schema")?.as_str()?.trim_end_matches('#'))
}

fn levels(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(levels).max().unwrap_or_default(),
        Value::Object(fields) => fields.values().map(levels).max().unwrap_or_default(),
        _ => 0,
    }
}

/// Counts the lists, objects, texts, numbers and flags of a value.
pub fn parts(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(parts).sum(),
        Value::Object(fields) => fields.values().map(parts).sum(),
        _ => 0,
    }
}

/// The bytes of the texts of a value together, with the names of its fields.
fn texts(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(texts).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + texts(value)).sum(),
        _ => 0,
    }
}

/// Weighs a schema with its references expanded, or says why it is not allowed, as the rest of a sentence about it.
fn allowed(schema: &Value) -> Result<Weight, String> {
    let Value::Object(_) = schema else {
        return Err("must be a JSON object".to_owned());
    };
    if schema.get("$schema").is_some() && draft(schema).is_none_or(|draft| !DRAFTS.contains(&draft)) {
        return Err("names a $schema that is not draft 7, 2019-09 or 2020-12".to_owned());
    }
    let mut expansion = Expansion { root: schema, known: HashMap::new(), open: HashSet::new() };
    let weight = expansion.weigh(schema)?;
    let expanded = "with its references expanded";
    if weight.bytes > EXPANDED {
        return Err(format!("has {} bytes {expanded}; at most {EXPANDED} are allowed", weight.bytes));
    }
    if weight.objects > SCHEMA_OBJECTS {
        return Err(format!("has {} objects {expanded}; at most {SCHEMA_OBJECTS} are allowed", weight.objects));
    }
    if weight.patterns > PATTERNS {
        return Err(format!("has {} patterns {expanded}; at most {PATTERNS} are allowed", weight.patterns));
    }
    if weight.patterns_text > PATTERNS_TEXT {
        let bytes = weight.patterns_text;
        return Err(format!("has patterns of {bytes} bytes {expanded}; at most {PATTERNS_TEXT} are allowed"));
    }
    Ok(weight)
}

/// What a part of a schema amounts to.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    bytes: usize,
    objects: usize,
    patterns: usize,
    /// The bytes of its patterns together.
    patterns_text: usize,
    /// The most objects within each other that offer a choice.
    choices: usize,
}

impl Weight {
    fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.objects = self.objects.saturating_add(other.objects);
        self.patterns = self.patterns.saturating_add(other.patterns);
        self.patterns_text = self.patterns_text.saturating_add(other.patterns_text);
        self.choices = self.choices.max(other.choices);
    }
}

/// Weighs a schema with its references expanded. Every object counts as a schema: a reference may lead anywhere, and to
/// weigh too much is safe.
struct Expansion<'s> {
    root: &'s Value,
    /// Parts by their address, which is stable while the schema is borrowed.
    known: HashMap<*const Value, Weight>,
    /// The parts that hold the present one, and those that a reference led here from.
    open: HashSet<*const Value>,
}

impl<'s> Expansion<'s> {
    fn weigh(&mut self, part: &'s Value) -> Result<Weight, String> {
        let place = std::ptr::from_ref(part);
        if let Some(known) = self.known.get(&place) {
            return Ok(*known);
        }
        let mut weight = Weight { bytes: 2, ..Weight::default() };
        match part {
            Value::Object(fields) => {
                self.open.insert(place);
                weight.objects = 1;
                weight.add(self.reference(fields)?);
                let own = fields.get("pattern").and_then(Value::as_str);
                let of_names = fields.get("patternProperties").and_then(Value::as_object);
                let of_names = of_names.into_iter().flat_map(|names| names.keys().map(String::as_str));
                for pattern in own.into_iter().chain(of_names) {
                    weight.patterns += 1;
                    weight.patterns_text += pattern.len();
                }
                for (name, value) in fields {
                    weight.bytes += name.len() + 4;
                    weight.add(self.weigh(value)?);
                }
                weight.choices += usize::from(["anyOf", "oneOf"].iter().any(|choice| fields.contains_key(*choice)));
                self.open.remove(&place);
            }
            Value::Array(items) => {
                for item in items {
                    weight.bytes += 1;
                    weight.add(self.weigh(item)?);
                }
            }
            Value::String(text) => weight.bytes += text.len(),
            _ => weight.bytes += 4,
        }
        self.known.insert(place, weight);
        Ok(weight)
    }

    /// Weighs what an object refers to.
    fn reference(&mut self, fields: &'s Map<String, Value>) -> Result<Weight, String> {
        if let Some(keyword) = LEFT_OUT.iter().find(|keyword| fields.contains_key(**keyword)) {
            return Err(format!("has the keyword {keyword}, which is not supported"));
        }
        let is_root = self.root.as_object().is_some_and(|root| std::ptr::eq(root, fields));
        for keyword in ["$id", "$schema"] {
            if !is_root && fields.get(keyword).is_some_and(Value::is_string) {
                return Err(format!("has {keyword} in a part of it; only the whole schema may have one"));
            }
        }
        let Some(Value::String(reference)) = fields.get("$ref") else { return Ok(Weight::default()) };
        let target = reference.strip_prefix('#').and_then(|pointer| {
            let pointer = percent_decode_str(pointer).decode_utf8().ok()?;
            self.root.pointer(&pointer)
        });
        let Some(target) = target else {
            let rule = "a $ref must lead to a part of the same schema, such as #/$defs/name";
            return Err(format!("refers to {}: {rule}", quoted(reference)));
        };
        if self.open.contains(&std::ptr::from_ref(target)) {
            return Err(format!("refers to itself by {}, which is not supported", quoted(reference)));
        }
        self.weigh(target)
    }
}
