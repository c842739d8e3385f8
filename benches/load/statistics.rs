//! Medians, quartiles and percentiles.

use serde_json::{Value, json};

/// The quartiles of a few figures.
#[derive(Debug, Clone, Copy)]
pub struct Quartiles {
    pub low: f64,
    pub median: f64,
    pub high: f64,
}

impl Quartiles {
    /// Returns `None` if there is no figure.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = figures.into_iter().filter(|figure| figure.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let between = |share: f64| {
            let place = (sorted.len() - 1) as f64 * share;
            let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        (!sorted.is_empty()).then(|| Self { low: between(0.25), median: between(0.5), high: between(0.75) })
    }

    pub fn json(quartiles: Option<Self>) -> Value {
        quartiles.map_or(Value::Null, |it| json!({ "low": it.low, "median": it.median, "high": it.high }))
    }
}

/// The percentile of the sorted values, of which there must be one.
pub fn percentile<T: Copy>(sorted: &[T], share: f64) -> T {
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
