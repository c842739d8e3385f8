//! What users and groups share as resources: their ids, their bodies, and what a request asks for.

use serde_json::{Map, Value, json};

use super::MOST_RESULTS;
use super::attributes::{Shape, normalised};
use super::error::{Refusal, ScimType, absent};
use super::filter::Filter;
use crate::entity::Timestamp;

/// The results of a page if the client does not say how many it wants.
const RESULTS: u64 = 100;

/// The number of a resource, from its id.
///
/// # Errors
/// No resource has such an id.
pub fn id(text: &str) -> Result<i64, Refusal> {
    number(text).ok_or_else(|| absent(text))
}

/// The number that is meant by the text of an id. `None` if it cannot be one.
pub fn number(text: &str) -> Option<i64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|_| is_plain)
}

/// Reads a body, which must be a JSON object.
pub fn body(bytes: &[u8]) -> Result<Map<String, Value>, Refusal> {
    let read: Value = serde_json::from_slice(bytes)
        .map_err(|error| Refusal::new(ScimType::InvalidSyntax, format!("The body is not JSON: {error}.")))?;
    match normalised(read)? {
        Value::Object(members) => Ok(members),
        _ => Err(Refusal::new(ScimType::InvalidSyntax, "The body must be a JSON object.")),
    }
}

/// The text of an attribute. Null and the empty text count as absent.
///
/// # Errors
/// The value is not a text.
pub fn text(name: &str, value: &Value) -> Result<Option<String>, Refusal> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => Ok(Some(text.clone())),
        _ => Err(Refusal::value(format!("{name} must be a text."))),
    }
}

/// A truth value, which some clients send as a text.
pub fn flag(name: &str, value: &Value) -> Result<bool, Refusal> {
    match value {
        Value::Bool(is) => Ok(*is),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(Refusal::value(format!("{name} must be true or false."))),
    }
}

/// The attribute `meta`.
pub fn meta(kind: &str, created: Timestamp, changed: Timestamp, location: &str) -> Value {
    json!({
        "resourceType": kind,
        "created": created.to_string(),
        "lastModified": changed.to_string(),
        "location": location,
    })
}

/// What the query of a URL asks for.
#[derive(Debug)]
pub struct Asked {
    /// Which resources.
    pub filter: Option<Filter>,
    /// The first one, counted from 1.
    pub start: u64,
    /// How many at most.
    pub count: u64,
    /// Which of their attributes.
    pub shape: Shape,
}

impl Asked {
    /// Reads the query of a URL. Of a parameter that is given twice, the first counts.
    pub fn new(query: &str) -> Result<Self, Refusal> {
        let given: Vec<_> = form_urlencoded::parse(query.as_bytes()).collect();
        let find = |name: &str| {
            let found = given.iter().find(|(given, _)| given.eq_ignore_ascii_case(name));
            found.map(|(_, value)| &**value).filter(|value| !value.trim().is_empty())
        };
        let whole = |name: &str| {
            let wrong = || Refusal::value(format!("{name} must be a whole number."));
            find(name).map(|text| text.trim().parse::<i64>().map_err(|_| wrong())).transpose()
        };
        Ok(Self {
            filter: find("filter").map(Filter::read).transpose()?,
            start: whole("startIndex")?.map_or(1, |start| start.max(1).unsigned_abs()),
            count: whole("count")?.map_or(RESULTS, |count| count.max(0).unsigned_abs()).min(MOST_RESULTS),
            shape: Shape::new(find("attributes"), find("excludedAttributes")),
        })
    }
}
