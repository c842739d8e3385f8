//! Small plots, drawn on the server: no script, and no style of their own but the sheet's.

use maud::{Markup, html};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 48.0;

/// A bar for each value, the first to the left. `label` says to whoever does not see it what it shows.
pub fn bars(values: &[f64], label: &str) -> Markup {
    let most = values.iter().copied().fold(0.0, f64::max);
    let step = WIDTH / values.len().max(1) as f64;
    let width = (step * 0.75).min(24.0);
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(label) {
            @for (index, value) in values.iter().enumerate() {
                // A value of nothing still shows where it would be.
                @let height = if most > 0.0 { (value / most * HEIGHT).max(1.0) } else { 1.0 };
                rect.plot x=(format!("{:.1}", index as f64 * step)) y=(format!("{:.1}", HEIGHT - height))
                    width=(format!("{width:.1}")) height=(format!("{height:.1}")) {}
            }
        }
    }
}
