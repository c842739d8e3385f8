//! Exports spans to the collector: OTLP over HTTP, protobuf, on its own thread. Requests never wait for it.
//!
//! At most [`QUEUE`] spans are waiting or being sent. Further ones are dropped and counted.

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

/// The maximum number of spans that are waiting or being sent.
pub const QUEUE: usize = 4096;

/// How long spans wait to be sent in a batch.
const DELAY: Duration = Duration::from_secs(2);

/// The timeout of a batch, including retries.
const BATCH: Duration = Duration::from_secs(10);

/// The maximum time for sending the last spans when the program stops.
const FLUSH: Duration = Duration::from_secs(5);

/// The longest response of a collector that is read, in bytes.
const ANSWER: u64 = 64 * 1024;

/// Exports the spans of this process.
#[derive(Debug)]
pub struct Exporter(SdkTracerProvider);

/// The settings of the exporter.
#[derive(Debug, Clone)]
pub struct Collector {
    /// The URL that spans are posted to.
    pub endpoint: String,
    /// The headers of each post.
    pub headers: HashMap<String, String>,
    /// The service name.
    pub service: String,
    /// Whether a caller's `traceparent` decides if its request is sampled.
    pub follows_callers: bool,
    /// The share of other requests that are sampled, from 0 to 1.
    pub share: f64,
}

/// Starts the export. Must be called at most once per process.
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
    /// Sends the waiting spans, within a few seconds.
    pub async fn finish(self) {
        let done = tokio::task::spawn_blocking(move || self.0.shutdown_with_timeout(FLUSH)).await;
        if !matches!(done, Ok(Ok(()))) {
            warn!("the last spans were not sent: the collector does not take them");
        }
    }
}

/// Limits the waiting spans to [`QUEUE`]. The inner processor has a limit too, but does not report what it drops.
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

/// Counts the spans of each batch by result, and logs when exports start to fail.
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

/// Adapts our HTTP client to the exporter's trait.
#[derive(Debug)]
struct Client(Agent);

impl HttpClient for Client {
    /// Blocks: the exporter has its own thread.
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
