//! What the pages of checks, scorecards and campaigns share, and others that name a check.

use std::borrow::Cow;

use maud::{Markup, html};

use super::operations::CheckStatus;
use super::operations::types::Moment;
use super::parts::date;
use super::visit::path;
use crate::entity::Timestamp;

/// The path of a check's page.
pub fn address(id: &str) -> String {
    path(["standards", id])
}

/// Whether a check does not count, or not yet.
pub fn state(enabled: Option<bool>, from: Option<Moment>) -> Markup {
    let later = from.filter(|from| from.0 > Timestamp::now());
    html! {
        @if let Some(from) = later { span.mark.none { "from " (date(from.0)) } }
        @else if enabled != Some(true) { span.mark.none { "off" } }
    }
}

/// The name of a level.
pub fn name(name: Option<&str>) -> &str {
    name.unwrap_or_default()
}

/// Which file governs a standard: it can only be changed there.
pub fn governed(file: Option<&str>) -> Markup {
    html! {
        @if let Some(file) = file { dt { "Governed by" } dd { (file) ", where it is changed" } }
    }
}

/// A service that does not pass a check, in a list. `answer` leads to the form that answers the check, if any.
pub fn failure(
    service: Option<&str>,
    alias: Option<&str>,
    status: CheckStatus,
    message: &str,
    answer: &Markup,
) -> Markup {
    html! {
        li {
            @if let (Some(service), Some(alias)) = (service, alias) { a href=(path(["services", alias])) { (service) } }
            " " (mark(status)) " " span.soft { (told(message)) } (answer)
        }
    }
}

/// The message of a result in the words of pages, on which a tool of a service is a link.
pub fn told(message: &str) -> Cow<'_, str> {
    const OWN: [&str; 2] = ["It has no tool of the category ", "It has the tool "];
    if !OWN.iter().any(|own| message.starts_with(own)) {
        return Cow::Borrowed(message);
    }
    let message = message.replacen(" tool ", " link ", 1);
    Cow::Owned(message.replacen(". Wanted: a tool of the category ", ". Wanted: a link of the category ", 1))
}

/// What a check asks, in the same words.
pub fn with_links(description: &str) -> String {
    description.replacen("has a tool of the category ", "has a link of the category ", 1)
}

/// The result of a check as a chip.
pub fn mark(status: CheckStatus) -> Markup {
    match status {
        CheckStatus::Failed => html! { span.mark.bad { "failed" } },
        CheckStatus::Pending => html! { span.mark.warn { "pending" } },
        CheckStatus::Passed => html! { span.mark.good { "passed" } },
        CheckStatus::Upcoming => html! { span.mark.none { "upcoming" } },
    }
}
