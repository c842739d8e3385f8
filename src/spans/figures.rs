//! What became of the spans, for `/metrics`.

use std::sync::LazyLock;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// What became of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The collector has it.
    Sent,
    /// The collector is away, or refused it.
    Failed,
    /// Too many waited for the collector.
    Dropped,
    /// Its request had too many, so it was never opened.
    LeftOut,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
#[doc(hidden)]
pub struct Labels {
    result: &'static str,
}

static SPANS: LazyLock<Family<Labels, Counter>> = LazyLock::new(|| {
    let spans = Family::<Labels, Counter>::default();
    // A counter that begins at 0 shows its first event.
    for fate in [Fate::Sent, Fate::Failed, Fate::Dropped, Fate::LeftOut] {
        spans.get_or_create(&fate.labels()).inc_by(0);
    }
    spans
});

/// The figures of this process. They go on counting.
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
