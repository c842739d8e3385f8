//! What many pages show: times, empty lists, the way to the next page.

use maud::{Markup, html};

use crate::entity::Timestamp;

/// A moment as people say it, with the exact one to hover over.
pub fn time(moment: Timestamp, now: Timestamp) -> Markup {
    let exact = moment.to_string();
    html! { time datetime=(exact) title=(exact) { (relative(moment, now)) } }
}

/// `3 minutes ago`, `in 2 days`, `just now`.
fn relative(moment: Timestamp, now: Timestamp) -> String {
    let seconds = (now.as_micros() - moment.as_micros()) / 1_000_000;
    let (ahead, seconds) = (seconds < 0, seconds.unsigned_abs());
    const UNITS: &[(u64, &str)] = &[
        (365 * 86_400, "year"),
        (30 * 86_400, "month"),
        (7 * 86_400, "week"),
        (86_400, "day"),
        (3_600, "hour"),
        (60, "minute"),
    ];
    let Some((size, unit)) = UNITS.iter().find(|(size, _)| seconds >= *size) else { return "just now".to_owned() };
    let count = seconds / size;
    let plural = if count == 1 { "" } else { "s" };
    if ahead { format!("in {count} {unit}{plural}") } else { format!("{count} {unit}{plural} ago") }
}
