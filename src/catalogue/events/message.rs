//! What is sent: an event in the form that a receiver takes.

use serde_json::json;

use super::page::Pages;
use super::told::Said;
use crate::entity::event::{Kind, Model as Event};
use crate::entity::event_subscription::Form;
use crate::entity::text;

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
pub(super) fn compose(event: &Event, kind: Kind, form: Form, pages: &Pages) -> Message {
    let said = Said::new(event, kind, pages);
    let id = format!("evt_{}", event.id);
    let body = match form {
        Form::Slack | Form::Mattermost | Form::MicrosoftTeams => {
            return for_people(id, String::new(), form, said.sentence(form));
        }
        Form::Email => return for_people(id, cut(&said.line(form), SUBJECT), form, said.text()),
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
    use serde_json::Value as Json;

    use super::*;
    use crate::entity::Timestamp;
    use crate::entity::event::What;
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

    /// When all of them happened, at the end of a message.
    const WHEN: &str = " (2023-11-14 22:13 UTC)";

    fn text(event: &Event, kind: Kind, form: Form) -> String {
        let body: Json = serde_json::from_str(&compose(event, kind, form, &pages()).body).expect("JSON");
        match form {
            Form::MicrosoftTeams => body["attachments"][0]["content"]["body"][0]["text"].clone(),
            _ => body["text"].clone(),
        }
        .as_str()
        .expect("a text")
        .to_owned()
    }

    /// The sentence of a message without its time.
    fn sentence(event: &Event, kind: Kind, form: Form) -> String {
        text(event, kind, form).strip_suffix(WHEN).expect("a time").to_owned()
    }

    #[test]
    fn programs_get_the_subject_and_what_changed() {
        let detail = json!({
            "action": "serviceUpdate", "by": { "kind": "token", "name": "ci" }, "alias": "cart",
            "changed": { "name": { "old": "Cart", "new": "Basket" } },
        });
        let message =
            compose(&event(What::Changed, "Basket", detail), Kind::ServiceChanged, Form::StandardWebhook, &pages());
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
            sentence(&moved, Kind::ServiceOwnerChanged, Form::Slack),
            "The service <https://rc.example.com/services/cart|&lt;!channel&gt; *Cart*> now belongs to Pay_ments; it had \
             no owner before."
        );
        assert_eq!(
            sentence(&moved, Kind::ServiceOwnerChanged, Form::MicrosoftTeams),
            "The service [\\<\\!channel\\> \\*Cart\\*](https://rc.example.com/services/cart) now belongs to \
             Pay\\_ments; it had no owner before."
        );
        let deploy = json!({
            "alias": "cart",
            "deploy": { "number": "12", "status": "failure", "environment": "production", "deployer": "@ada",
                "commitMessage": "Faster\n\nmuch" },
        });
        assert_eq!(
            sentence(&event(What::Deployed, "cart", deploy), Kind::DeployFailed, Form::Mattermost),
            "Deploy 12 of [cart](https://rc.example.com/services/cart/deploys) to production failed, by @\u{200b}ada: Faster."
        );
        let gone = json!({ "alias": "cart", "by": { "name": "ci" },
            "changed": { "name": { "old": "Cart", "new": null }, "owner": { "old": "orders", "new": null } } });
        assert_eq!(
            text(&event(What::Deleted, "Cart", gone), Kind::ServiceDeleted, Form::Slack),
            "The service Cart was deleted by ci. Until then: owner: orders. (2023-11-14 22:13 UTC, \
             <https://rc.example.com/services|see the page>)"
        );
    }

    #[test]
    fn people_learn_of_all_that_has_changed_and_by_whom() {
        let changed = json!({
            "description": { "old": null, "new": "Holds <goods>" },
            "language": { "old": "Go", "new": "Rust" },
            "owner": { "old": "orders", "new": "payments" },
            "parent_team": { "old": "a", "new": null },
            "tags.lane": { "old": "b", "new": "c" },
            "tools": { "removed": ["Logs"], "added": ["Runbook", "Board"] },
        });
        let detail = json!({ "alias": "cart", "by": { "name": "ada" }, "changed": changed, "changedCount": 9 });
        let moved = event(What::Changed, "Cart", detail.clone());
        assert_eq!(
            sentence(&moved, Kind::ServiceChanged, Form::Slack),
            "The service <https://rc.example.com/services/cart|Cart> was changed by ada: owner: orders \u{2192} payments; \
             description: nothing \u{2192} Holds &lt;goods&gt;; language: Go \u{2192} Rust; parent team: a \u{2192} \
             nothing; tags lane: b \u{2192} c; and 4 more."
        );
        let mail = compose(&moved, Kind::ServiceOwnerChanged, Form::Email, &pages());
        let lines = [
            "The service Cart now belongs to payments, and no longer to orders.",
            "",
            "- changed by ada",
            "- description: nothing \u{2192} Holds <goods>",
            "- language: Go \u{2192} Rust",
            "- parent team: a \u{2192} nothing",
            "- tags lane: b \u{2192} c",
            "- tools: + Runbook, + Board, \u{2212} Logs",
            "- and 3 more",
            "",
            "2023-11-14 22:13 UTC",
            "https://rc.example.com/services/cart",
        ];
        assert_eq!(mail.body.lines().collect::<Vec<_>>(), lines);
        assert!(mail.subject.starts_with(&format!("{}; changed by ada", lines[0].trim_end_matches('.'))), "{mail:?}");
        let created = json!({ "alias": "cart", "changed": {
            "name": { "old": null, "new": "Cart" }, "alias": { "old": null, "new": "cart" },
            "aliases": { "removed": [], "added": ["cart"] }, "owner": { "old": null, "new": "orders" },
        } });
        assert_eq!(
            sentence(&event(What::Created, "Cart", created), Kind::ServiceCreated, Form::Slack),
            "The service <https://rc.example.com/services/cart|Cart> was created: owner: orders."
        );
    }

    #[test]
    fn a_deploy_is_told_with_its_commit_its_time_and_where_to_read_more() {
        let deploy = |url: &str| {
            let deploy = json!({ "status": "success", "description": "Bump", "commit": "c0ffee0123456789",
                "commitMessage": "Faster", "url": url, "deployedAt": "2023-11-13T08:01:59Z" });
            event(What::Deployed, "cart", json!({ "alias": "cart", "deploy": deploy }))
        };
        let head = "Deploy of <https://rc.example.com/services/cart/deploys|cart>: success; Faster (commit c0ffee012345); \
                    Bump";
        let when = "(2023-11-13 08:01 UTC)";
        assert_eq!(
            text(&deploy("https://ci.example.com/7?a=b"), Kind::DeployRecorded, Form::Slack),
            format!("{head}; <https://ci.example.com/7?a=b|details>. {when}")
        );
        // An address with markup is a text.
        assert_eq!(
            text(&deploy("https://ci.example.com/|<!channel>"), Kind::DeployRecorded, Form::Slack),
            format!("{head}; https://ci.example.com/|&lt;!channel&gt;. {when}")
        );
        let mail = compose(&deploy("https://ci.example.com/7"), Kind::DeployRecovered, Form::Email, &pages()).body;
        assert!(mail.contains("\n- https://ci.example.com/7\n"), "{mail}");
    }

    #[test]
    fn results_and_levels_are_told_in_a_sentence() {
        let check = json!({ "alias": "cart", "cause": "tagCreate by ada", "check": {
            "name": "Has an owner", "status": "failed", "message": "It has no owner. Wanted: an owner."
        } });
        let link = "<https://rc.example.com/services/cart/standards|Cart>";
        assert_eq!(
            sentence(&event(What::Checked, "Cart", check), Kind::CheckFailed, Form::Slack),
            format!(
                "The service {link} does not pass the check Has an owner: It has no owner. Wanted: an owner; cause: \
                 tag added by ada."
            )
        );
        let level = json!({ "alias": "cart", "cause": "tagCreate by ada",
            "level": { "old": "Silver", "new": "Bronze", "hasRisen": false } });
        assert_eq!(
            sentence(&event(What::Rated, "Cart", level), Kind::LevelLost, Form::Slack),
            format!("The service {link} has fallen to the level Bronze; it was Silver; cause: tag added by ada.")
        );
    }

    #[test]
    fn mail_is_plain_text_whose_subject_is_one_short_line() {
        let name = "Cart\r\nBcc: eve@example.com\u{202e}\u{2028}<b>";
        let mail = compose(
            &event(What::Created, name, json!({ "alias": "cart" })),
            Kind::ServiceCreated,
            Form::Email,
            &pages(),
        );
        assert_eq!(mail.subject, "The service Cart  Bcc: eve@example.com  <b> was created.");
        let end = "2023-11-14 22:13 UTC\nhttps://rc.example.com/services/cart\n";
        assert_eq!(mail.body, format!("{}\n\n{end}", mail.subject));
        let long = event(What::Created, &"\u{e4}".repeat(5_000), json!({}));
        let mail = compose(&long, Kind::ServiceCreated, Form::Email, &pages());
        assert_eq!(mail.subject.chars().count(), SUBJECT + 1);
    }

    #[test]
    fn issues_and_refused_files_are_told_in_a_sentence() {
        let of_issue = |what: What, name: &str, id: i64, detail: Json| Event {
            subject_class: "CodeIssue".to_owned(),
            subject_id: Some(id),
            service_id: None,
            ..event(what, name, detail)
        };
        let issue = json!({ "codeIssue": {
            "project": "shop/cart", "services": ["cart", "mail"], "category": "Vulnerability",
            "url": "https://scan.example.com/1", "openSince": "2026-10-01T08:00:00Z"
        } });
        let link = "<https://rc.example.com/services/cart#issues|SQL injection>";
        assert_eq!(
            sentence(&of_issue(What::Overdue, "SQL injection", 1, issue), Kind::CodeIssueOverdue, Form::Slack),
            format!(
                "The critical code issue {link} of cart, mail has been open since 2026-10-01; project: shop/cart; \
                 category: Vulnerability; <https://scan.example.com/1|details>."
            )
        );
        let alone = json!({ "codeIssue": { "project": "<p>", "services": [], "openSince": "2026-10-01T08:00:00Z" } });
        assert_eq!(
            text(&of_issue(What::Overdue, "X", 2, alone), Kind::CodeIssueOverdue, Form::Slack),
            "The critical code issue X has been open since 2026-10-01; project: &lt;p&gt;. (2023-11-14 22:13 UTC, \
             <https://rc.example.com/integrations|see the page>)"
        );
        let new = json!({ "by": { "name": "scanner" }, "changed": {
            "code_issue_project": { "old": null, "new": "shop/cart" },
            "issueCategory": { "old": null, "new": "Vulnerability" },
        } });
        assert_eq!(
            sentence(&of_issue(What::Created, "SQL injection", 1, new), Kind::CriticalCodeIssueCreated, Form::Slack),
            format!(
                "There is a new critical code issue: {link} of cart, mail; reported by scanner; project: shop/cart; \
                 category: Vulnerability."
            )
        );
        let file = |count: u64| {
            json!({ "alias": "cart", "by": { "name": "ci" }, "file": {
                "path": "rollcall.yml", "repository": null, "commit": "c0ffee",
                "mistakes": ["rollcall.yml:3:5: no <team>."], "mistakeCount": count
            } })
        };
        let link = "<https://rc.example.com/services/cart|Cart>";
        for (count, more) in [(1, ""), (2, "; and 1 more mistake"), (3, "; and 2 more mistakes")] {
            assert_eq!(
                sentence(&event(What::FileRejected, "Cart", file(count)), Kind::ServiceFileRejected, Form::Slack),
                format!(
                    "A service file of {link}, applied by ci, was refused: rollcall.yml:3:5: no &lt;team&gt;{more}; \
                     file: rollcall.yml; commit: c0ffee."
                )
            );
        }
    }

    #[test]
    fn a_sentence_has_an_end() {
        let long = event(What::Created, &"x".repeat(5_000), json!({}));
        assert!(text(&long, Kind::ServiceCreated, Form::Slack).chars().count() < 1_100);
        // What there is no room for is counted, and nothing is cut in the middle.
        let longest = "\u{4e2d}*".repeat(200);
        let field = |number: u8| (format!("field{number}"), json!({ "old": longest, "new": longest }));
        let changed: serde_json::Map<String, Json> = (0..9).map(field).collect();
        let many = event(What::Changed, "Cart", json!({ "alias": "cart", "changed": changed }));
        for form in [Form::Slack, Form::MicrosoftTeams] {
            let text = sentence(&many, Kind::ServiceChanged, form);
            assert!(text.chars().count() < 1_100, "{text}");
            let told = text.matches("field").count();
            assert!(told > 1 && text.ends_with(&format!("\u{2026}; and {} more.", 9 - told)), "{text}");
        }
        let mail = compose(&many, Kind::ServiceChanged, Form::Email, &pages()).body;
        assert!(mail.matches("field").count() == 5 && mail.contains("\n- and 4 more\n"), "{mail}");
    }
}
