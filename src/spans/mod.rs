//! Spans: what a request does and how long each part takes, for a collector of traces. The only folder that knows
//! OpenTelemetry.
//!
//! [`kinds`] opens the spans and names them and their attributes by OpenTelemetry's semantic conventions. A span opens
//! below the one that is current, which OpenTelemetry's `Context` carries along with the future: nobody hands it on.
//! [`export`] sends spans to the collector. [`parent`] reads the span of the caller.
//!
//! Without a collector a span costs one relaxed load. Outside of a request, and in a request that is not sampled, no
//! span is opened. No attribute holds what a caller wrote, except the name of a GraphQL operation and the path of a page.

use std::borrow::Cow;
use std::future::Future;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::Either;
use opentelemetry::trace::{FutureExt, SpanBuilder, Status, TraceContextExt, Tracer, WithContext};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_sdk::trace::SdkTracer;

mod export;
mod figures;
mod kinds;
mod parent;

pub use export::{Collector, Exporter, QUEUE, start};
use figures::Fate;
pub use figures::figures;
pub use kinds::{Request, deploy, field, operation, request, statement, statement_done};
pub use parent::parent;

/// The most spans of one request, the request's own included.
pub const MOST: usize = 500;

/// Whether spans are sent anywhere. Set once, before the first request.
static ON: AtomicBool = AtomicBool::new(false);
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// Whether there is a collector to send spans to.
#[inline]
pub fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Opens spans with `tracer` from now on.
fn turn_on(tracer: SdkTracer) {
    if TRACER.set(tracer).is_ok() {
        ON.store(true, Ordering::Relaxed);
    }
}

/// A span that is open until it is dropped; or none, on which everything is without effect.
#[derive(Debug)]
pub struct Span(Option<Context>);

/// How many spans a request has asked for, the ones beyond [`MOST`] included.
struct Asked(AtomicUsize);

impl Span {
    /// No span.
    pub const NONE: Self = Self(None);

    /// Opens a span below the current one. Only what is inside of a request that is sampled has one.
    #[cold]
    fn below_current(build: impl FnOnce() -> SpanBuilder) -> Self {
        let here = Context::current();
        let (Some(asked), Some(tracer)) = (here.get::<Asked>(), TRACER.get()) else { return Self::NONE };
        if asked.0.fetch_add(1, Ordering::Relaxed) >= MOST {
            figures::count(Fate::LeftOut, 1);
            return Self::NONE;
        }
        Self(Some(here.with_span(tracer.build_with_context(build(), &here))))
    }

    /// Opens the span of a request below the span of its caller, if the sampler wants it.
    fn of_request(caller: &Context, builder: SpanBuilder) -> Self {
        let Some(tracer) = TRACER.get() else { return Self::NONE };
        let own = caller.with_span(tracer.build_with_context(builder, caller));
        let is_sampled = own.span().span_context().is_sampled();
        Self(is_sampled.then(|| own.with_value(Asked(AtomicUsize::new(1)))))
    }

    /// Whether it is one.
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Runs a future inside of it: the spans that the future opens are below this one.
    pub fn around<F: Future>(&self, future: F) -> Either<WithContext<F>, F> {
        around(self.0.as_ref(), future)
    }

    /// Gives it an attribute.
    pub fn set(&self, name: &'static str, value: impl Into<Value>) {
        if let Some(context) = &self.0 {
            context.span().set_attribute(KeyValue::new(name, value));
        }
    }

    /// Marks it as failed. `class` is one of few words: a message could hold what a caller wrote.
    pub fn fail(&self, class: impl Into<Cow<'static, str>>) {
        if let Some(context) = &self.0 {
            context.span().set_attribute(KeyValue::new("error.type", class.into()));
            context.span().set_status(Status::error(""));
        }
    }

    /// The id of its trace, for the log.
    pub fn trace_id(&self) -> Option<String> {
        self.0.as_ref().map(|context| context.span().span_context().trace_id().to_string())
    }

    /// How many spans its request did without, because it asked for too many.
    fn left_out(&self) -> usize {
        let asked = self.0.as_ref().and_then(|context| context.get::<Asked>());
        asked.map_or(0, |asked| asked.0.load(Ordering::Relaxed).saturating_sub(MOST))
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(context) = &self.0 {
            context.span().end();
        }
    }
}

/// A place in the tree of spans, for work that another task does for a request.
#[derive(Debug, Clone, Default)]
pub struct Place(Option<Context>);

/// The current place; none without a collector.
pub fn here() -> Place {
    Place(is_on().then(Context::current))
}

impl Place {
    /// Runs a future there.
    pub fn around<F: Future>(&self, future: F) -> Either<WithContext<F>, F> {
        around(self.0.as_ref(), future)
    }
}

fn around<F: Future>(context: Option<&Context>, future: F) -> Either<WithContext<F>, F> {
    match context {
        Some(context) => Either::Left(future.with_context(context.clone())),
        None => Either::Right(future),
    }
}
