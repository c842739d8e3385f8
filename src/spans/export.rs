//! Sends spans to the collector: OTLP over HTTP, protobuf, on a thread of its own. No request ever waits for it.
//!
//! [`QUEUE`] spans wait or are being sent at the most. Others are dropped and counted.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter as Otlp, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider, Span, SpanData, SpanExporter, SpanProcessor,
};
use tracing::warn;
use ureq::Agent;

use super::figures::{self, Fate};
use crate::outgoing;

/// The most spans that wait for the collector or are on their way to it.
pub const QUEUE: usize = 4096;

/// How long spans wait for others to be sent with.
const DELAY: Duration = Duration::from_secs(2);

/// How long the collector may take for a batch, second attempts included.
const BATCH: Duration = Duration::from_secs(10);

/// How long the end of the program waits for the last spans to be sent.
const FLUSH: Duration = Duration::from_secs(5);

/// The longest answer of a collector that is read, in bytes.
const ANSWER: u64 = 64 * 1024;

/// What sends the spans of this process.
#[derive(Debug)]
pub struct Exporter(SdkTracerProvider);

/// Where spans are sent, and of which requests.
#[derive(Debug, Clone)]
pub struct Collector {
    /// The address that spans are posted to.
    pub endpoint: String,
    /// The headers of each post.
    pub headers: HashMap<String, String>,
    /// What the collector knows this service as.
    pub service: String,
    /// Whether callers who send `traceparent` decide for their own requests.
    pub follows_callers: bool,
    /// The share of all other requests that have spans, from 0 to 1.
    pub share: f64,
}

/// Begins to send spans. Once in a process.
///
/// # Errors
/// Why it cannot, in one sentence.
pub fn start(collector: Collector) -> Result<Exporter, String> {
    let otlp = Otlp::builder()
        .with_http()
        .with_http_client(Client(outgoing::agent()))
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(collector.endpoint)
        .with_timeout(BATCH)
        .with_headers(collector.headers)
        .build()
        .map_err(|error| format!("spans cannot be sent to --otlp-endpoint: {error}"))?;
    let waiting = Arc::new(AtomicUsize::new(0));
    let config = BatchConfigBuilder::default().with_max_queue_size(QUEUE).with_scheduled_delay(DELAY).build();
    let counting = Counting { otlp, waiting: Arc::clone(&waiting), was_sent: AtomicBool::new(true) };
    let batches = BatchSpanProcessor::builder(counting).with_batch_config(config).build();
    let resource = Resource::builder()
        .with_service_name(collector.service)
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build();
    let share = Sampler::TraceIdRatioBased(collector.share);
    let provider = SdkTracerProvider::builder()
        .with_span_processor(Bounded { batches, waiting })
        .with_sampler(if collector.follows_callers { Sampler::ParentBased(Box::new(share)) } else { share })
        .with_resource(resource)
        .build();
    super::turn_on(provider.tracer("rollcall"));
    Ok(Exporter(provider))
}

impl Exporter {
    /// Sends what waits, for a few seconds at the most.
    pub async fn finish(self) {
        let done = tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(FLUSH)).await;
        if !matches!(done, Ok(Ok(()))) {
            warn!("the last spans were not sent: the collector does not take them");
        }
    }
}

/// Lets no more than [`QUEUE`] spans wait. The processor below has a bound too, but tells nobody what it drops.
#[derive(Debug)]
struct Bounded {
    batches: BatchSpanProcessor,
    waiting: Arc<AtomicUsize>,
}

impl SpanProcessor for Bounded {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.batches.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if self.waiting.fetch_add(1, Ordering::Relaxed) < QUEUE {
            return self.batches.on_end(span);
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        figures::count(Fate::Dropped, 1);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// Counts what becomes of the spans of each batch, and logs when that changes.
#[derive(Debug)]
struct Counting {
    otlp: Otlp,
    waiting: Arc<AtomicUsize>,
    /// Whether the last batch was sent.
    was_sent: AtomicBool,
}

impl SpanExporter for Counting {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        let sent = self.otlp.export(batch).await;
        self.waiting.fetch_sub(spans, Ordering::Relaxed);
        figures::count(if sent.is_ok() { Fate::Sent } else { Fate::Failed }, spans);
        let was_sent = self.was_sent.swap(sent.is_ok(), Ordering::Relaxed);
        if let (Err(error), true) = (&sent, was_sent) {
            warn!(%error, "spans cannot be sent to the collector; nothing more is said until they can");
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.otlp.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.otlp.set_resource(resource);
    }
}

/// The one way of making requests ourselves, as the exporter wants it.
#[derive(Debug)]
struct Client(Agent);

impl HttpClient for Client {
    /// Blocks: the exporter has a thread of its own.
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
    {
        Box::pin(async move {
            let (head, body) = request.into_parts();
            let request = Request::from_parts(head, &*body);
            let request = self.0.configure_request(request).timeout_global(Some(BATCH)).build();
            let (head, mut body) = self.0.run(request)?.into_parts();
            let body = body.with_config().limit(ANSWER).read_to_vec()?;
            Ok(Response::from_parts(head, body.into()))
        })
    }
}
