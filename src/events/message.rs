//! What is sent: an event in the form that a receiver takes.

use serde_json::{Map, Value as Json, json};

use super::page::Pages;
use crate::entity::event::{Kind, Model as Event, What};
use crate::entity::event_subscription::Form;
use crate::entity::text;

/// The longest sentence of a message for people, in characters.
const SENTENCE: usize = 1_000;

/// The longest subject of a mail, in characters.
pub const SUBJECT: usize = 120;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    /// The id, the same each time that it is sent.
    pub(super) id: String,
    /// What it is about, in one short line, for mail.
    pub(super) subject: String,
    /// The media type of the body.
    pub(super) content_type: &'static str,
    /// The body.
    pub(super) body: String,
}

/// The message about an event.
pub(super) fn of(event: &Event, kind: Kind, form: Form, pages: &Pages) -> Message {
    let detail: Map<String, Json> = serde_json::from_str(&event.detail).unwrap_or_default();
    let said = Said { event, kind, detail: &detail, pages };
    let id = format!("evt_{}", event.id);
    let body = match form {
        Form::Slack | Form::Mattermost | Form::MicrosoftTeams => {
            return for_people(id, String::new(), form, said.line(form));
        }
        Form::Email => {
            let sentence = said.line(form);
            let link = said.page().map(|url| format!("\n{url}\n")).unwrap_or_default();
            return for_people(id, cut(&sentence, SUBJECT), form, format!("{sentence}\n{link}"));
        }
        Form::StandardWebhook => {
            json!({ "type": kind.message_type(), "timestamp": event.at.to_string(), "data": said.data() })
        }
        Form::CloudEvent => json!({
            "specversion": "1.0",
            "id": id,
            "source": &*pages.app_url,
            "type": format!("rollcall.{}", kind.message_type()),
            "subject": format!("{}/{}", event.subject_class, said.called()),
            "time": event.at.to_string(),
            "datacontenttype": "application/json",
            "data": said.data(),
        }),
    };
    let content_type = match form {
        Form::CloudEvent => "application/cloudevents+json",
        _ => "application/json",
    };
    Message { id, subject: String::new(), content_type, body: body.to_string() }
}

/// A message of this text, which is in the markup of the form.
pub(super) fn for_people(id: String, subject: String, form: Form, text: String) -> Message {
    let (content_type, body) = match form {
        Form::Email => ("text/plain", text),
        Form::MicrosoftTeams => {
            let card = json!({
                "type": "message",
                "attachments": [{
                    "contentType": "application/vnd.microsoft.card.adaptive",
                    "content": {
                        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                        "type": "AdaptiveCard",
                        "version": "1.4",
                        "body": [{ "type": "TextBlock", "wrap": true, "text": text }],
                    },
                }],
            });
            ("application/json", card.to_string())
        }
        Form::Slack | Form::Mattermost | Form::StandardWebhook | Form::CloudEvent => {
            ("application/json", json!({ "text": text }).to_string())
        }
    };
    Message { id, subject, content_type, body }
}

/// A sentence about an event in the markup of the form, and the address of the page of what it is about.
pub(super) fn sentence(event: &Event, kind: Kind, form: Form, pages: &Pages) -> (String, Option<String>) {
    let detail: Map<String, Json> = serde_json::from_str(&event.detail).unwrap_or_default();
    let said = Said { event, kind, detail: &detail, pages };
    (said.line(form), said.page())
}

/// A name in the markup of the form.
pub(super) fn plain(form: Form) -> fn(&str) -> String {
    match form {
        Form::Slack => slack,
        Form::Mattermost | Form::MicrosoftTeams => markdown,
        Form::Email | Form::StandardWebhook | Form::CloudEvent => one_line,
    }
}

/// A link in the markup of the form. Mail has none: there, addresses have lines of their own.
pub(super) fn link(form: Form, name: &str, url: &str) -> String {
    let name = plain(form)(name);
    match form {
        Form::Slack => format!("<{url}|{name}>"),
        Form::Mattermost | Form::MicrosoftTeams => format!("[{name}]({url})"),
        Form::Email | Form::StandardWebhook | Form::CloudEvent => name,
    }
}

/// The beginning of a text of more than `most` characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// An event, as it is told.
struct Said<'a> {
    event: &'a Event,
    kind: Kind,
    detail: &'a Map<String, Json>,
    pages: &'a Pages,
}

impl Said<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.detail.get(name)?.as_str()
    }

    /// A text of the deploy.
    fn of_deploy(&self, name: &str) -> Option<&str> {
        self.detail.get("deploy")?.get(name)?.as_str()
    }

    /// What the subject is called.
    fn called(&self) -> &str {
        self.text("alias").or(self.event.subject_name.as_deref()).unwrap_or("?")
    }

    /// The address of the subject's page, if it has one.
    fn url(&self) -> Option<String> {
        self.pages.of_subject(self.event, self.text("alias"))
    }

    /// The address of the page for people.
    fn page(&self) -> Option<String> {
        self.pages.of_reader(self.event, self.text("alias"))
    }

    /// What programs get.
    fn data(&self) -> Json {
        let mut data = self.detail.clone();
        data.insert("what".to_owned(), word(self.event.what).into());
        let subject = json!({
            "type": self.event.subject_class,
            "name": self.event.subject_name,
            "alias": data.remove("alias"),
            "url": self.url(),
        });
        data.insert("subject".to_owned(), subject);
        Json::Object(data)
    }

    fn line(&self, form: Form) -> String {
        self.sentence(|name, url| link(form, name, url), plain(form))
    }

    /// A sentence for people. `link` and `plain` write names in the markup of the receiver.
    fn sentence(&self, link: impl Fn(&str, &str) -> String, plain: fn(&str) -> String) -> String {
        let subject = self.event.subject_name.as_deref().unwrap_or("?");
        let name = self.url().map_or_else(|| plain(subject), |url| link(subject, &url));
        let by = self.detail.get("by").and_then(|by| by.get("name")?.as_str());
        let by = by.map(|by| format!(" by {}", plain(by))).unwrap_or_default();
        let side = |side: &str| {
            let owner = self.detail.get("changed")?.get("owner")?.get(side)?.as_str()?;
            Some(plain(owner))
        };
        let sentence = match self.kind {
            Kind::ServiceCreated => format!("The service {name} was created{by}."),
            Kind::ServiceChanged => format!("The service {name} was changed{by}{}.", self.fields(plain)),
            Kind::ServiceOwnerChanged => match (side("old"), side("new")) {
                (Some(old), Some(new)) => format!("The service {name} now belongs to {new}, and no longer to {old}."),
                (_, Some(new)) => format!("The service {name} now belongs to {new}."),
                _ => format!("The service {name} no longer has an owner."),
            },
            Kind::ServiceDeleted => format!("The service {name} was deleted{by}."),
            Kind::TeamCreated => format!("The team {name} was created{by}."),
            Kind::TeamChanged => format!("The team {name} was changed{by}{}.", self.fields(plain)),
            Kind::TeamDeleted => format!("The team {name} was deleted{by}."),
            Kind::UserDeleted => format!("{name} is no longer here."),
            Kind::DeployRecorded => self.deploy(&name, "", plain),
            Kind::DeployFailed => self.deploy(&name, " failed", plain),
            Kind::DeployRecovered => self.deploy(&name, " succeeded, after one that failed", plain),
            Kind::CriticalCodeIssueCreated => format!("There is a new critical code issue: {name}."),
            Kind::CodeIssueOverdue => self.overdue(&name, plain),
            Kind::SuggestionCreated => format!("Deploys name the service {name}, which the catalogue does not have."),
            Kind::TokenExpiring => {
                let at = self.text("expiresAt").map(|at| format!(" on {}", plain(at.get(..10).unwrap_or(at))));
                format!("The API token {name} expires{}.", at.unwrap_or_default())
            }
            Kind::ObjectChanged => {
                let what = word(self.event.what);
                format!("{} {name} was {what}{by}{}.", self.event.subject_class, self.fields(plain))
            }
            Kind::CheckPassed => format!("The service {name} now passes the check {}.", self.check(plain)),
            Kind::CheckFailed => format!("The service {name} does not pass the check {}.", self.check(plain)),
            Kind::LevelReached => format!("The service {name} has reached the level {}.", self.levels(plain)),
            Kind::LevelLost => format!("The service {name} has fallen to the level {}.", self.levels(plain)),
            Kind::ServiceFileRejected => self.refused_file(&name, &by, plain),
            Kind::Test => format!("This is a test of the subscription {name}."),
        };
        cut(&sentence, SENTENCE)
    }

    fn deploy(&self, service: &str, how: &str, plain: fn(&str) -> String) -> String {
        let with = |before: &str, name: &str| {
            self.of_deploy(name).map(|text| format!("{before}{}", plain(text))).unwrap_or_default()
        };
        let (number, environment, by) = (with(" ", "number"), with(" to ", "environment"), with(", by ", "deployer"));
        let status = if how.is_empty() { with(": ", "status") } else { String::new() };
        let message = self.of_deploy("commitMessage").and_then(|message| message.lines().next());
        let message = message.filter(|_| status.is_empty()).map(|line| format!(": {}", plain(line)));
        let message = message.unwrap_or_default();
        format!("Deploy{number} of {service}{environment}{how}{by}{status}{message}.")
    }

    /// The name of a check, and what it found.
    fn check(&self, plain: fn(&str) -> String) -> String {
        let text = |name: &str| self.detail.get("check").and_then(|check| check.get(name)?.as_str());
        let found = text("message").map(|message| format!(": {}", plain(message.trim_end_matches('.'))));
        format!("{}{}", text("name").map(plain).unwrap_or_default(), found.unwrap_or_default())
    }

    fn overdue(&self, name: &str, plain: fn(&str) -> String) -> String {
        let issue = self.detail.get("codeIssue");
        let text = |name: &str| issue.and_then(|issue| issue.get(name)?.as_str()).map(plain);
        let services = issue.and_then(|issue| issue.get("services")?.as_array()).into_iter().flatten();
        let services: Vec<String> = services.filter_map(Json::as_str).map(plain).collect();
        let of = match (&*services, text("project")) {
            ([], Some(project)) => format!(" in {project}"),
            ([], None) => String::new(),
            (services, _) => format!(" of {}", services.join(", ")),
        };
        // The day, in which nothing is markup.
        let since = issue.and_then(|issue| issue.get("openSince")?.as_str()?.get(..10)).unwrap_or("?");
        format!("The critical code issue {name}{of} has been open since {since}.")
    }

    fn refused_file(&self, name: &str, by: &str, plain: fn(&str) -> String) -> String {
        let file = self.detail.get("file");
        let first = file.and_then(|file| file.get("mistakes")?.get(0)?.as_str()).unwrap_or_default();
        let first = plain(first.trim_end_matches('.'));
        let more = file.and_then(|file| file.get("mistakeCount")?.as_u64()).unwrap_or(1).saturating_sub(1);
        let more = match more {
            0 => String::new(),
            1 => "; and 1 more mistake".to_owned(),
            more => format!("; and {more} more mistakes"),
        };
        format!("A service file of {name}, applied{by}, was refused: {first}{more}.")
    }

    /// The name of the new level, and of the one before.
    fn levels(&self, plain: fn(&str) -> String) -> String {
        let name = |side: &str| self.detail.get("level").and_then(|level| level.get(side)?.as_str()).map(plain);
        format!("{}; it was {}", name("new").unwrap_or_default(), name("old").unwrap_or_default())
    }

    /// The names of the fields that have changed.
    fn fields(&self, plain: fn(&str) -> String) -> String {
        let changed = self.detail.get("changed").and_then(Json::as_object).filter(|changed| !changed.is_empty());
        if self.event.what != What::Changed {
            return String::new();
        }
        changed.map_or(String::new(), |changed| {
            let names: Vec<String> = changed.keys().map(|name| plain(name)).collect();
            format!(": {}", names.join(", "))
        })
    }
}

fn word(what: What) -> &'static str {
    match what {
        What::Created => "created",
        What::Changed => "changed",
        What::Deleted => "deleted",
        What::Deployed => "deployed",
        What::Expiring => "expiring",
        What::Checked => "checked",
        What::Rated => "rated",
        What::Overdue => "overdue",
        What::FileRejected => "file_rejected",
        What::Tested => "tested",
    }
}

/// A text without markup, in one line, whose letters stay in their order.
fn one_line(text: &str) -> String {
    text.chars().map(|letter| if text::is_control(letter) { ' ' } else { letter }).collect()
}

/// A text in Slack's markup, which has three special characters. Without them, nobody is mentioned either.
fn slack(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A text in Markdown, in which nobody is mentioned.
fn markdown(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => plain.push(' '),
            // The invisible character keeps programs from taking the word for a name.
            '@' => plain.push_str("@\u{200b}"),
            _ if letter.is_ascii_punctuation() => plain.extend(['\\', letter]),
            _ => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::Timestamp;
    use crate::events::page::Shown;

    fn pages() -> Pages {
        let mut pages = Pages::at(&"https://rc.example.com".into());
        pages.services.insert(1, "cart".to_owned());
        pages.issues.insert(1, Shown::With(vec!["cart".to_owned(), "mail".to_owned()]));
        pages
    }

    fn event(what: What, name: &str, detail: Json) -> Event {
        Event {
            id: 7,
            at: Timestamp::from_micros(1_700_000_000_000_000),
            waits_since: None,
            what,
            subject_class: "Service".to_owned(),
            subject_id: Some(1),
            subject_name: Some(name.to_owned()),
            service_id: Some(1),
            team_id: None,
            earlier_team_id: None,
            tier_id: None,
            environment: None,
            detail: detail.to_string(),
        }
    }

    fn text(event: &Event, kind: Kind, form: Form) -> String {
        let body: Json = serde_json::from_str(&of(event, kind, form, &pages()).body).expect("JSON");
        match form {
            Form::MicrosoftTeams => body["attachments"][0]["content"]["body"][0]["text"].clone(),
            _ => body["text"].clone(),
        }
        .as_str()
        .expect("a text")
        .to_owned()
    }

    #[test]
    fn programs_get_the_subject_and_what_changed() {
        let detail = json!({
            "action": "serviceUpdate", "by": { "kind": "token", "name": "ci" }, "alias": "cart",
            "changed": { "name": { "old": "Cart", "new": "Basket" } },
        });
        let message =
            of(&event(What::Changed, "Basket", detail), Kind::ServiceChanged, Form::StandardWebhook, &pages());
        assert_eq!((&*message.id, message.content_type), ("evt_7", "application/json"));
        let body: Json = serde_json::from_str(&message.body).expect("JSON");
        let expected = json!({
            "type": "service.changed",
            "timestamp": "2023-11-14T22:13:20Z",
            "data": {
                "action": "serviceUpdate",
                "by": { "kind": "token", "name": "ci" },
                "changed": { "name": { "old": "Cart", "new": "Basket" } },
                "subject": {
                    "type": "Service", "name": "Basket", "alias": "cart", "url": "https://rc.example.com/services/cart"
                },
                "what": "changed",
            },
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn people_get_a_sentence_in_which_names_are_only_names() {
        let owner = json!({ "alias": "cart", "changed": { "owner": { "old": null, "new": "Pay_ments" } } });
        let moved = event(What::Changed, "<!channel> *Cart*", owner);
        assert_eq!(
            text(&moved, Kind::ServiceOwnerChanged, Form::Slack),
            "The service <https://rc.example.com/services/cart|&lt;!channel&gt; *Cart*> now belongs to Pay_ments."
        );
        assert_eq!(
            text(&moved, Kind::ServiceOwnerChanged, Form::MicrosoftTeams),
            "The service [\\<\\!channel\\> \\*Cart\\*](https://rc.example.com/services/cart) now belongs to Pay\\_ments."
        );
        let deploy = json!({
            "alias": "cart",
            "deploy": { "number": "12", "status": "failure", "environment": "production", "deployer": "@ada",
                "commitMessage": "Faster\n\nmuch" },
        });
        assert_eq!(
            text(&event(What::Deployed, "cart", deploy), Kind::DeployFailed, Form::Mattermost),
            "Deploy 12 of [cart](https://rc.example.com/services/cart/deploys) to production failed, by @\u{200b}ada: Faster."
        );
        let gone = event(What::Deleted, "Cart", json!({ "alias": "cart", "by": { "name": "ci" } }));
        assert_eq!(text(&gone, Kind::ServiceDeleted, Form::Slack), "The service Cart was deleted by ci.");
    }

    #[test]
    fn results_and_levels_are_told_in_a_sentence() {
        let check = json!({ "alias": "cart", "check": {
            "name": "Has an owner", "status": "failed", "message": "It has no owner. Wanted: an owner."
        } });
        let link = "<https://rc.example.com/services/cart/standards|Cart>";
        assert_eq!(
            text(&event(What::Checked, "Cart", check), Kind::CheckFailed, Form::Slack),
            format!("The service {link} does not pass the check Has an owner: It has no owner. Wanted: an owner.")
        );
        let level = json!({ "alias": "cart", "level": { "old": "Silver", "new": "Bronze", "hasRisen": false } });
        assert_eq!(
            text(&event(What::Rated, "Cart", level), Kind::LevelLost, Form::Slack),
            format!("The service {link} has fallen to the level Bronze; it was Silver.")
        );
    }

    #[test]
    fn mail_is_plain_text_whose_subject_is_one_short_line() {
        let name = "Cart\r\nBcc: eve@example.com\u{202e}\u{2028}<b>";
        let mail =
            of(&event(What::Created, name, json!({ "alias": "cart" })), Kind::ServiceCreated, Form::Email, &pages());
        assert_eq!(mail.subject, "The service Cart  Bcc: eve@example.com  <b> was created.");
        assert_eq!(mail.body, format!("{}\n\nhttps://rc.example.com/services/cart\n", mail.subject));
        let long = event(What::Created, &"\u{e4}".repeat(5_000), json!({}));
        let mail = of(&long, Kind::ServiceCreated, Form::Email, &pages());
        assert_eq!(mail.subject.chars().count(), SUBJECT + 1);
    }

    #[test]
    fn overdue_issues_and_refused_files_are_told_in_a_sentence() {
        let issue = json!({ "codeIssue": {
            "project": "shop/cart", "services": ["cart", "mail"], "openSince": "2026-10-01T08:00:00Z"
        } });
        let of_issue = |name: &str, id: i64, detail: Json| Event {
            subject_class: "CodeIssue".to_owned(),
            subject_id: Some(id),
            service_id: None,
            ..event(What::Overdue, name, detail)
        };
        assert_eq!(
            text(&of_issue("SQL injection", 1, issue), Kind::CodeIssueOverdue, Form::Slack),
            "The critical code issue <https://rc.example.com/services/cart#issues|SQL injection> of cart, mail has been \
             open since 2026-10-01."
        );
        let alone = json!({ "codeIssue": { "project": "<p>", "services": [], "openSince": "2026-10-01T08:00:00Z" } });
        assert_eq!(
            text(&of_issue("X", 2, alone), Kind::CodeIssueOverdue, Form::Slack),
            "The critical code issue X in &lt;p&gt; has been open since 2026-10-01."
        );
        let file = |count: u64| {
            json!({ "alias": "cart", "by": { "name": "ci" }, "file": {
                "path": "rollcall.yml", "mistakes": ["rollcall.yml:3:5: no <team>."], "mistakeCount": count
            } })
        };
        let link = "<https://rc.example.com/services/cart|Cart>";
        for (count, more) in [(1, ""), (2, "; and 1 more mistake"), (3, "; and 2 more mistakes")] {
            assert_eq!(
                text(&event(What::FileRejected, "Cart", file(count)), Kind::ServiceFileRejected, Form::Slack),
                format!(
                    "A service file of {link}, applied by ci, was refused: rollcall.yml:3:5: no &lt;team&gt;{more}."
                )
            );
        }
    }

    #[test]
    fn a_sentence_has_an_end() {
        let long = event(What::Created, &"x".repeat(5_000), json!({}));
        assert_eq!(text(&long, Kind::ServiceCreated, Form::Slack).chars().count(), SENTENCE + 1);
    }
}
