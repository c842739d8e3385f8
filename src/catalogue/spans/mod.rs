//! Tracing: spans that show what a request does and how long each part takes, exported to a collector. The only folder
//! that knows OpenTelemetry.
//!
//! [`kinds`] opens the spans and names them and their attributes by OpenTelemetry's semantic conventions. A span
//! becomes a child of the current one. OpenTelemetry's `Context` carries that with the future, so that functions need
//! not pass it on. [`export`] sends spans to the collector. [`parent`] reads the caller's span.
//!
//! Without a collector, a span costs one relaxed load. Only sampled requests have spans; work outside of requests has
//! none. No attribute contains text from a caller, except the name of a GraphQL operation and the path of a page.

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
pub use kinds::{Request, deploy, field, operation, read_token, request, statement, statement_done};
pub use parent::parent;

/// The maximum number of spans of a request, including its own.
pub const MOST: usize = 500;

/// Whether spans are exported. Set once, before the first request.
static ON: AtomicBool = AtomicBool::new(false);
static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// Whether spans are exported.
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

/// A span, open until dropped. [`Span::NONE`] ignores everything.
#[derive(Debug)]
pub struct Span(Option<Context>);

/// The number of spans that a request has asked for, including those beyond [`MOST`].
struct Asked(AtomicUsize);

impl Span {
    /// No span.
    pub const NONE: Self = Self(None);

    /// Opens a child of the current span. Returns `NONE` outside of a sampled request.
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

    /// Opens the span of a request as a child of its caller's span, if the sampler picks it.
    fn of_request(caller: &Context, builder: SpanBuilder) -> Self {
        let Some(tracer) = TRACER.get() else { return Self::NONE };
        let own = caller.with_span(tracer.build_with_context(builder, caller));
        let is_sampled = own.span().span_context().is_sampled();
        Self(is_sampled.then(|| own.with_value(Asked(AtomicUsize::new(1)))))
    }

    /// Whether it is a real span.
    pub fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Runs a future within the span: spans that it opens are children of this one.
    pub fn instrument<F: Future>(&self, future: F) -> Either<WithContext<F>, F> {
        instrument(self.0.as_ref(), future)
    }

    /// Sets an attribute.
    pub fn set(&self, name: &'static str, value: impl Into<Value>) {
        if let Some(context) = &self.0 {
            context.span().set_attribute(KeyValue::new(name, value));
        }
    }

    /// Marks the span as failed. `class` must be one of a few words: a message could contain text from a caller.
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

    /// The number of spans that the request asked for beyond [`MOST`].
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

/// A parent span, for work that another task does for a request.
#[derive(Debug, Clone, Default)]
pub struct SpanParent(Option<Context>);

/// The current span as a parent. Empty without a collector.
pub fn current() -> SpanParent {
    SpanParent(is_on().then(Context::current))
}

impl SpanParent {
    /// Runs a future with this parent.
    pub fn instrument<F: Future>(&self, future: F) -> Either<WithContext<F>, F> {
        instrument(self.0.as_ref(), future)
    }
}

fn instrument<F: Future>(context: Option<&Context>, future: F) -> Either<WithContext<F>, F> {
    match context {
        Some(context) => Either::Left(future.with_context(context.clone())),
        None => Either::Right(future),
    }
}
