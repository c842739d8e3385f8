//! Counts spans by result, for `/metrics`.

use std::sync::LazyLock;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// The result of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// Sent to the collector.
    Sent,
    /// The collector was unreachable or refused it.
    Failed,
    /// Dropped, because too many were waiting.
    Dropped,
    /// Never opened, because its request had too many.
    LeftOut,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
#[doc(hidden)]
pub struct Labels {
    result: &'static str,
}

static SPANS: LazyLock<Family<Labels, Counter>> = LazyLock::new(|| {
    let spans = Family::<Labels, Counter>::default();
    // A counter must exist at 0, or its first increment is invisible.
    for fate in [Fate::Sent, Fate::Failed, Fate::Dropped, Fate::LeftOut] {
        spans.get_or_create(&fate.labels()).inc_by(0);
    }
    spans
});

/// The counters of this process.
pub fn figures() -> Family<Labels, Counter> {
    SPANS.clone()
}

/// Counts spans.
pub(super) fn count(fate: Fate, spans: usize) {
    SPANS.get_or_create(&fate.labels()).inc_by(spans as u64);
}

impl Fate {
    fn labels(self) -> Labels {
        let result = match self {
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
            Self::LeftOut => "left_out",
        };
        Labels { result }
    }
}
