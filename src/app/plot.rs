//! Small charts as SVG, rendered on the server without scripts or inline styles.

use maud::{Markup, html};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 48.0;

/// A bar of a chart.
pub struct Bar {
    /// Its height, relative to the other bars. `None` where nothing is known: there is no bar, but its tooltip.
    pub value: Option<f64>,
    /// Its tooltip.
    pub title: String,
    /// Whether it stands for something that failed.
    pub is_bad: bool,
}

/// Draws the bars from left to right. `label` describes the chart to screen readers. `ends` are the texts below the first
/// and the last bar. `scale` says what the full height stands for, which is that of the highest bar.
pub fn bars(bars: &[Bar], label: &str, ends: [&str; 2], scale: impl Fn(f64) -> String) -> Markup {
    let most = bars.iter().filter_map(|bar| bar.value).fold(0.0, f64::max);
    drawn(bars, most, label, ends, &scale(most))
}

/// Like [`bars`], for shares: a bar of 1 has the full height.
pub fn shares(bars: &[Bar], label: &str, ends: [&str; 2]) -> Markup {
    drawn(bars, 1.0, label, ends, "100 %")
}

fn drawn(bars: &[Bar], most: f64, label: &str, ends: [&str; 2], scale: &str) -> Markup {
    let step = WIDTH / bars.len().max(1) as f64;
    let width = (step * 0.75).min(24.0);
    html! {
        // Bars without height have no scale.
        @if most > 0.0 { div.axis.most { span { (scale) } } }
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (index, bar) in bars.iter().enumerate() {
                // A bar of zero is still visible. That of nothing is not: it has the room in which its tooltip is found.
                @let height = match bar.value {
                    Some(value) if most > 0.0 => (value / most * HEIGHT).max(1.0),
                    Some(_) => 1.0,
                    None => HEIGHT,
                };
                rect.plot.bad[bar.is_bad].gap[bar.value.is_none()] x=(format!("{:.1}", index as f64 * step)) y=(format!("{:.1}", HEIGHT - height))
                    width=(format!("{width:.1}")) height=(format!("{height:.1}")) { title { (bar.title) } }
            }
        }
        // One bar is its own first and last.
        div.axis { span { (ends[0]) } @if ends[0] != ends[1] { span { (ends[1]) } } }
    }
}
