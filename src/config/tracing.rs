//! The settings of tracing. The environment variables are OpenTelemetry's.

use std::collections::HashMap;

use clap::builder::StringValueParser;
use clap::{Args, ValueEnum};
use percent_encoding::percent_decode_str;

use super::trimmed::{trimmed, word};
use super::value;
use crate::entity::text;
use crate::spans::Collector;

/// Where to send spans, and for which requests.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Tracing")]
pub struct Tracing {
    /// The collector to send spans to, by OTLP over HTTP, such as http://127.0.0.1:4318; /v1/traces is appended
    /// [default: no tracing]
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT", value_parser = trimmed(value::origin_or_none))]
    otlp_endpoint: Option<String>,
    /// Headers for the collector, such as api-key=KEY, separated by commas
    #[arg(
        long,
        value_name = "NAME=VALUE",
        env = "OTEL_EXPORTER_OTLP_HEADERS",
        hide_env_values = true,
        default_value = "",
        hide_default_value = true,
        value_parser = trimmed(StringValueParser::new())
    )]
    otlp_headers: String,
    /// The service name in spans
    #[arg(long = "trace-service", value_name = "NAME", env = "OTEL_SERVICE_NAME", default_value = "rollcall", value_parser = trimmed(value::text))]
    service: String,
    /// Which requests have spans; with parentbased, the caller's `traceparent` decides if there is one
    #[arg(
        long = "trace-sampler",
        value_name = "SAMPLER",
        env = "OTEL_TRACES_SAMPLER",
        default_value = "parentbased_always_on",
        value_parser = word::<Sampler>()
    )]
    sampler: Sampler,
    /// The share of requests that a traceidratio sampler picks, from 0 to 1
    #[arg(
        long = "trace-sampler-arg",
        value_name = "RATIO",
        env = "OTEL_TRACES_SAMPLER_ARG",
        default_value = "1",
        value_parser = trimmed(value::ratio)
    )]
    share: f64,
}

/// Which requests have spans, in OpenTelemetry's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sampler {
    /// All
    #[value(name = "always_on")]
    All,
    /// None
    #[value(name = "always_off")]
    None,
    /// A share of them
    #[value(name = "traceidratio")]
    Share,
    /// The caller decides, or else all
    #[value(name = "parentbased_always_on")]
    CallersOrAll,
    /// The caller decides, or else none
    #[value(name = "parentbased_always_off")]
    CallersOrNone,
    /// The caller decides, or else a share
    #[value(name = "parentbased_traceidratio")]
    CallersOrShare,
}

impl Tracing {
    /// Returns the collector, if one is configured.
    ///
    /// # Errors
    /// If the headers are malformed, one sentence that does not quote them, because they may hold secrets.
    pub fn collector(&self) -> Result<Option<Collector>, String> {
        let Some(url) = self.otlp_endpoint.as_deref().filter(|url| !url.is_empty()) else { return Ok(None) };
        let (follows_callers, share) = match self.sampler {
            Sampler::All => (false, 1.0),
            Sampler::None => (false, 0.0),
            Sampler::Share => (false, self.share),
            Sampler::CallersOrAll => (true, 1.0),
            Sampler::CallersOrNone => (true, 0.0),
            Sampler::CallersOrShare => (true, self.share),
        };
        let headers = headers(&self.otlp_headers).ok_or("write --otlp-headers like name=value,other=value")?;
        let (endpoint, service) = (format!("{url}/v1/traces"), self.service.clone());
        Ok(Some(Collector { endpoint, headers, service, follows_callers, share }))
    }
}

fn headers(text: &str) -> Option<HashMap<String, String>> {
    let pairs = text.split(',').map(text::trim).filter(|pair| !pair.is_empty());
    let headers = pairs.map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let value = percent_decode_str(text::trim(value)).decode_utf8().ok()?;
        Some((text::trim(name).to_owned(), value.into_owned()))
    });
    headers.collect()
}
