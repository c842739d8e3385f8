//! What the pages of checks, scorecards and campaigns share, and others that name a check.

use std::borrow::Cow;

use maud::{Markup, html};

use super::lacks::Mend;
use super::operations::CheckStatus;
use super::operations::types::Moment;
use super::parts::date;
use super::schema_words::spoken;
use super::visit::path;
use catalogue::entity::Timestamp;

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

/// A service that does not pass a check.
pub struct Miss<'m> {
    /// Its name and its alias, if it is still there.
    pub service: Option<(&'m str, &'m str)>,
    /// The alias and the name of the team that owns it.
    pub owner: Option<(&'m str, &'m str)>,
    /// The result, if the check is stored.
    pub status: Option<CheckStatus>,
    /// Why it does not pass.
    pub message: &'m str,
    /// A link to the form that answers the check, or nothing.
    pub answer: Markup,
    /// The form that mends the service, if there is one.
    pub mend: Option<Mend>,
}

/// Lists services that do not pass a check, each with its owner. A reason that several of them have is said once, with these
/// below it. `may` says whether the visitor may change every service: then there are links to the forms that mend them.
pub fn misses(all: &[Miss<'_>], may: bool) -> Markup {
    let mut reasons: Vec<Vec<&Miss<'_>>> = Vec::new();
    for one in all {
        let same = |own: &&mut Vec<&Miss<'_>>| {
            own.first().is_some_and(|own| (own.status, own.message) == (one.status, one.message))
        };
        match reasons.iter_mut().find(same) {
            Some(own) => own.push(one),
            None => reasons.push(vec![one]),
        }
    }
    let name = |miss: &Miss<'_>| {
        html! {
            @if let Some((name, alias)) = miss.service { a href=(path(["services", alias])) { (name) } }
            @if let Some((alias, name)) = miss.owner { " " span.soft { "of " a href=(path(["teams", alias])) { (name) } } }
        }
    };
    let mend = |miss: &Miss<'_>| {
        html! {
            @if let (true, Some((name, alias)), Some(Mend { label, part })) = (may, miss.service, miss.mend) {
                " " a.button.quiet href={ (path(["services", alias])) "/" (part) } { (label) span.hidden { " of " (name) } }
            }
        }
    };
    let why = |miss: &Miss<'_>| {
        html! { @if let Some(status) = miss.status { (mark(status)) " " } span.soft { (told(miss.message)) } }
    };
    html! {
        @if !reasons.is_empty() {
            ul.misses { @for own in &reasons {
                li { @match &**own {
                    [one] => { (name(one)) " " (why(one)) (one.answer) (mend(one)) },
                    several => {
                        @if let Some(first) = several.first() { (why(first)) }
                        ul.near { @for one in several { li { (name(one)) (one.answer) (mend(one)) } } }
                    },
                } }
            } }
        }
    }
}

/// The message of a result in the words of pages. What is wanted is left out where what is missing says it.
pub fn told(message: &str) -> Cow<'_, str> {
    match in_words(message) {
        Cow::Borrowed(text) => Cow::Borrowed(once(text)),
        Cow::Owned(text) => Cow::Owned(once(&text).to_owned()),
    }
}

/// A message without its second sentence, if that says the first one again.
fn once(text: &str) -> &str {
    let Some((found, wanted)) = text.split_once(". Wanted: ") else { return text };
    let wanted = wanted.strip_suffix('.').unwrap_or(wanted);
    let wanted = ["a ", "an "].into_iter().find_map(|article| wanted.strip_prefix(article)).unwrap_or(wanted);
    if found.strip_prefix("It has no ") == Some(wanted) { &text[..=found.len()] } else { text }
}

/// A message in which a tool of a service is a link.
fn in_words(message: &str) -> Cow<'_, str> {
    const OWN: [&str; 2] = ["It has no tool of the category ", "It has the tool "];
    if !OWN.iter().any(|own| message.starts_with(own)) {
        return Cow::Borrowed(message);
    }
    let message = message.replacen(" tool ", " link ", 1);
    Cow::Owned(with_category(&message.replacen(
        ". Wanted: a tool of the category ",
        ". Wanted: a link of the category ",
        1,
    )))
}

/// What a check asks, in the same words.
pub fn with_links(description: &str) -> String {
    with_category(&description.replacen("has a tool of the category ", "has a link of the category ", 1))
}

/// A text with the categories of links as people write them: `health_checks` is `health checks`.
fn with_category(text: &str) -> String {
    const OF: &str = " link of the category ";
    let mut parts = text.split(OF);
    let mut said = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_').unwrap_or(part.len());
        let (word, rest) = part.split_at(end);
        said.push_str(OF);
        said.push_str(&spoken(word));
        said.push_str(rest);
    }
    said
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_category_of_links_is_said_as_people_do() {
        let message = "It has no tool of the category health_checks. Wanted: a tool of the category health_checks whose \
                       name equals \"a_b\".";
        let expected = "It has no link of the category health checks. Wanted: a link of the category health checks whose \
                        name equals \"a_b\".";
        assert_eq!(told(message), expected);
        let asks = with_links("The service has a tool of the category status_page");
        assert_eq!(asks, "The service has a link of the category status page");
        assert_eq!(told("It has a_b."), "It has a_b.");
    }

    #[test]
    fn what_is_wanted_is_left_out_if_what_is_missing_says_it() {
        for (message, expected) in [
            ("It has no owner. Wanted: an owner.", "It has no owner."),
            ("It has no tag \"env\". Wanted: a tag \"env\".", "It has no tag \"env\"."),
            (
                "It has no tool of the category runbooks. Wanted: a tool of the category runbooks.",
                "It has no link of the category runbooks.",
            ),
        ] {
            assert_eq!(told(message), expected);
        }
        let more = "It has no owner. Wanted: an owner with a contact.";
        assert_eq!(told(more), more);
    }

    #[test]
    fn whoever_may_change_a_service_finds_the_form_that_mends_it() {
        let miss = |mend| Miss {
            service: Some(("Cart", "cart")),
            owner: Some(("core", "Core")),
            status: None,
            message: "It is not as it should be.",
            answer: html! {},
            mend,
        };
        let lacks = [miss(Some(Mend { label: "Add link", part: "tools" }))];
        let shown = misses(&lacks, true).into_string();
        assert!(shown.contains("href=\"/services/cart/tools\"") && shown.contains("Add link"), "{shown}");
        assert!(shown.contains("<a href=\"/teams/core\">Core</a>"), "{shown}");
        for (all, may) in [(lacks, false), ([miss(None)], true)] {
            let shown = misses(&all, may).into_string();
            assert!(!shown.contains("button"), "{shown}");
        }
    }

    #[test]
    fn a_reason_that_several_services_have_is_said_once() {
        let miss = |service, message| Miss {
            service: Some(service),
            owner: None,
            status: Some(CheckStatus::Failed),
            message,
            answer: html! {},
            mend: None,
        };
        let (cart, shop, mail) = (("Cart", "cart"), ("Shop", "shop"), ("Mail", "mail"));
        let shown =
            misses(&[miss(cart, "No owner."), miss(shop, "No tier."), miss(mail, "No owner.")], true).into_string();
        assert_eq!((shown.matches("No owner.").count(), shown.matches("No tier.").count()), (1, 1), "{shown}");
        let place = |text: &str| shown.find(text).expect(text);
        let order = ["No owner.", "/services/cart", "/services/mail", "/services/shop", "No tier."].map(place);
        assert!(order.is_sorted(), "{shown}");
        assert_eq!(shown.matches("failed").count(), 2, "{shown}");
    }
}
