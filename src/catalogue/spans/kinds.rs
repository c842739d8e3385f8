//! The kinds of spans and their attributes.
//!
//! Names follow the semantic conventions for HTTP, GraphQL and databases. Other names begin with `rollcall.`.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{SpanBuilder, SpanContext, SpanKind, TraceContextExt};
use opentelemetry::{Context, KeyValue};

use super::{Span, is_on};
use crate::budget::Used;

/// The longest operation name in a span, in bytes.
const NAME: usize = 64;

/// The longest path in a span, in bytes.
const PATH: usize = 256;

/// The longest statement in a span, in bytes. Longer ones insert many rows.
const STATEMENT: usize = 2048;

/// Marks a context whose code runs a single statement.
struct IsStatement;

/// The head of a request, for its span.
#[derive(Debug)]
pub struct Request<'r> {
    /// Its method.
    pub method: &'r str,
    /// Its route, named as in the log and the metrics.
    pub route: &'static str,
    /// Its path, if no part of it can be secret.
    pub path: Option<&'r str>,
    /// Whether its connection uses TLS.
    pub is_encrypted: bool,
    /// The version of HTTP.
    pub version: &'static str,
    /// The request id, in responses and in the log.
    pub id: &'r str,
}

/// Opens the span of a request, as a child of its caller's span.
pub fn request(head: &Request<'_>, caller: Option<SpanContext>) -> Span {
    let caller = caller.map_or_else(Context::new, |caller| Context::new().with_remote_span_context(caller));
    let mut attributes = vec![
        KeyValue::new("http.request.method", head.method.to_owned()),
        KeyValue::new("http.route", head.route),
        KeyValue::new("url.scheme", if head.is_encrypted { "https" } else { "http" }),
        KeyValue::new("network.protocol.version", head.version),
        KeyValue::new("rollcall.request_id", head.id.to_owned()),
    ];
    attributes.extend(head.path.map(|path| KeyValue::new("url.path", cut(path, PATH).to_owned())));
    let builder = SpanBuilder::from_name(format!("{} {}", head.method, head.route));
    Span::of_request(&caller, builder.with_kind(SpanKind::Server).with_attributes(attributes))
}

impl Span {
    /// Adds the status of the response.
    pub fn answered(&self, status: u16) {
        if !self.is_open() {
            return;
        }
        self.set("http.response.status_code", i64::from(status));
        if status >= 500 {
            self.fail(status.to_string());
        }
        let left_out = self.left_out();
        if left_out > 0 {
            self.set("rollcall.spans_left_out", saturating(left_out));
        }
    }

    /// Adds the result of an operation: its estimate, its use of the budget, the number of errors, and the code of the
    /// first.
    pub fn executed(&self, estimate: u64, used: &Used, errors: usize, class: Option<&str>) {
        if !self.is_open() {
            return;
        }
        self.set("rollcall.estimate", saturating(estimate));
        self.set("rollcall.objects", saturating(used.objects));
        self.set("rollcall.row_bytes", saturating(used.rows));
        self.set("rollcall.processor_us", saturating(used.processor.as_micros()));
        if errors > 0 {
            self.set("rollcall.errors", saturating(errors));
            self.fail(class.unwrap_or("INTERNAL").to_owned());
        }
    }

    /// Adds the number of rows that a statement returned. `None` if it failed.
    pub fn returned(&self, rows: Option<usize>) {
        match rows {
            Some(rows) => self.set("db.response.returned_rows", saturating(rows)),
            None => self.fail("database"),
        }
    }
}

/// Opens the span of a GraphQL operation.
pub fn operation(is_mutation: bool, name: Option<&str>) -> Span {
    if !is_on() {
        return Span::NONE;
    }
    Span::below_current(|| {
        let kind = if is_mutation { "mutation" } else { "query" };
        let name = name.map(|name| cut(name, NAME).to_owned());
        let builder = SpanBuilder::from_name(match &name {
            Some(name) => format!("{kind} {name}").into(),
            None => Cow::Borrowed(kind),
        });
        let name = name.map(|name| KeyValue::new("graphql.operation.name", name));
        builder.with_attributes([KeyValue::new("graphql.operation.type", kind)].into_iter().chain(name))
    })
}

/// Opens the span of a relation that is resolved for this many parents, or of a mutation's root field.
pub fn field(parent: &'static str, name: &'static str, parents: usize) -> Span {
    if !is_on() {
        return Span::NONE;
    }
    Span::below_current(|| {
        SpanBuilder::from_name(format!("{parent}.{name}")).with_attributes([
            KeyValue::new("graphql.field.name", name),
            KeyValue::new("graphql.field.parent_type", parent),
            KeyValue::new("rollcall.parents", saturating(parents)),
        ])
    })
}

/// Opens the span for recording a deploy.
pub fn deploy() -> Span {
    if !is_on() {
        return Span::NONE;
    }
    Span::below_current(|| SpanBuilder::from_name("record a deploy"))
}

/// Opens the span of the wait until a token is read, by a statement that several requests share.
pub fn read_token() -> Span {
    if !is_on() {
        return Span::NONE;
    }
    Span::below_current(|| SpanBuilder::from_name("read a token"))
}

/// Opens the span of a statement that runs once, or once for each of `keys` keys. `text` contains parameters, never
/// values.
#[inline]
pub fn statement(system: &'static str, text: &str, keys: usize) -> Span {
    if !is_on() {
        return Span::NONE;
    }
    let mut span = Span::below_current(|| of_statement(system, text));
    if keys > 1 {
        span.set("db.operation.batch.size", saturating(keys));
    }
    Span(span.0.take().map(|context| context.with_value(IsStatement)))
}

/// Records a span for a finished statement, unless it had one while it ran.
pub fn statement_done(system: &'static str, text: &str, took: Duration, failed: bool) {
    if !is_on() || Context::map_current(|here| here.get::<IsStatement>().is_some()) {
        return;
    }
    let began = SystemTime::now() - took;
    let span = Span::below_current(|| of_statement(system, text).with_start_time(began));
    if failed {
        span.returned(None);
    }
}

fn of_statement(system: &'static str, text: &str) -> SpanBuilder {
    let mut words = text.split_ascii_whitespace();
    let operation = words.clone().next().unwrap_or_default().to_owned();
    let table = words.find(|word| ["FROM", "INTO", "UPDATE"].contains(word)).and_then(|_| words.next());
    let table = table.and_then(|word| word.strip_prefix('"')?.split('"').next());
    let name = table.map_or_else(|| operation.clone(), |table| format!("{operation} {table}"));
    SpanBuilder::from_name(name.clone()).with_kind(SpanKind::Client).with_attributes([
        KeyValue::new("db.system.name", system),
        KeyValue::new("db.operation.name", operation),
        KeyValue::new("db.query.summary", name),
        KeyValue::new("db.query.text", cut(text, STATEMENT).to_owned()),
    ])
}

/// Converts a number to an attribute value.
fn saturating(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// The beginning of a text, of at most `most` bytes.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}
