//! Small plots, drawn on the server: no script, and no style of their own but the sheet's.

use maud::{Markup, html};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 48.0;

/// One of the bars of a plot.
pub struct Bar {
    /// How high it is, beside the others.
    pub value: f64,
    /// What it says to whoever points at it.
    pub title: String,
}

/// The bars, the first to the left. `label` says to whoever does not see them what they show.
pub fn bars(bars: &[Bar], label: &str) -> Markup {
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    let step = WIDTH / bars.len().max(1) as f64;
    let width = (step * 0.75).min(24.0);
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (index, bar) in bars.iter().enumerate() {
                // A value of nothing still shows where it would be.
                @let height = if most > 0.0 { (bar.value / most * HEIGHT).max(1.0) } else { 1.0 };
                rect.plot x=(format!("{:.1}", index as f64 * step)) y=(format!("{:.1}", HEIGHT - height))
                    width=(format!("{width:.1}")) height=(format!("{height:.1}")) { title { (bar.title) } }
            }
        }
    }
}
