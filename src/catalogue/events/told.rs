//! What people are told of an event: what has happened, from what to what, by whom and when.

use serde_json::{Map, Value as Json, json};

use super::message::{cut, link, plain};
use super::page::{Pages, Shown};
use crate::entity::event::{Kind, Model as Event, What};
use crate::entity::event_subscription::Form;
use crate::entity::{Timestamp, action};

/// About the longest sentence of a message in a chat, or of a line of a digest, in characters. Facts for which it has no
/// room are counted.
const SENTENCE: usize = 1_000;

/// The most changed fields that a message names. Further ones are counted.
pub const FIELDS: usize = 5;

/// The longest value that a message shows, in characters.
pub const VALUE: usize = 100;

/// The most services of a code issue that a message names.
const SERVICES: usize = 5;

/// The longest address elsewhere to which a message leads.
const ADDRESS: usize = 500;

/// An event, as it is told.
pub(super) struct Said<'a> {
    event: &'a Event,
    kind: Kind,
    detail: Map<String, Json>,
    pages: &'a Pages,
}

/// What people are told.
struct Told {
    /// What has happened, without a period.
    head: String,
    /// What joins the facts to it.
    lead: &'static str,
    facts: Vec<String>,
    /// How many fields have changed beside these.
    more: usize,
}

impl Told {
    fn new(head: String) -> Self {
        Self { head, lead: ": ", facts: Vec::new(), more: 0 }
    }

    /// With facts that go on after a semicolon.
    fn and(head: String, facts: impl IntoIterator<Item = String>) -> Self {
        Self { lead: "; ", facts: facts.into_iter().collect(), ..Self::new(head) }
    }

    fn with(self, facts: impl IntoIterator<Item = String>) -> Self {
        Self { facts: facts.into_iter().collect(), ..self }
    }

    /// With who made the change as the first fact, where the head has no place for it.
    fn made(mut self, by: &str) -> Self {
        if !by.is_empty() {
            self.facts.insert(0, format!("changed{by}"));
        }
        Self { lead: "; ", ..self }
    }

    /// All in one line, as far as there is room.
    fn line(&self) -> String {
        let mut line = cut(&self.head, SENTENCE);
        let (mut length, mut told) = (line.chars().count(), 0);
        let lead = |told: usize| if told == 0 { self.lead } else { "; " };
        for fact in &self.facts {
            length += fact.chars().count() + lead(told).len();
            if length > SENTENCE {
                break;
            }
            line.push_str(lead(told));
            line.push_str(fact);
            told += 1;
        }
        let more = self.facts.len() - told + self.more;
        if more > 0 {
            line.push_str(&format!("{}and {more} more", lead(told)));
        }
        line.push('.');
        line
    }

    /// A line for each fact.
    fn lines(&self) -> String {
        let mut text = format!("{}.\n", cut(&self.head, SENTENCE));
        if self.facts.is_empty() && self.more == 0 {
            return text;
        }
        text.push('\n');
        if let Some(heading) = self.lead.strip_prefix(". ") {
            text.push_str(&format!("{}\n", heading.trim_end()));
        }
        for fact in &self.facts {
            text.push_str(&format!("- {fact}\n"));
        }
        if self.more > 0 {
            text.push_str(&format!("- and {} more\n", self.more));
        }
        text
    }
}

impl<'a> Said<'a> {
    pub(super) fn new(event: &'a Event, kind: Kind, pages: &'a Pages) -> Self {
        let detail: Map<String, Json> = serde_json::from_str(&event.detail).unwrap_or_default();
        Self { event, kind, detail, pages }
    }

    /// A sentence, with the time in UTC, in the markup of the form.
    pub(super) fn sentence(&self, form: Form) -> String {
        let see = self.see(form).map(|see| format!(", {see}")).unwrap_or_default();
        format!("{} ({}{see})", self.told(form).line(), self.when())
    }

    /// A sentence without the time, in the markup of the form.
    pub(super) fn line(&self, form: Form) -> String {
        let see = self.see(form).map(|see| format!(" ({see})")).unwrap_or_default();
        self.told(form).line() + &see
    }

    /// The text of a mail: each fact has a line, and so have the time and the address of the page.
    pub(super) fn text(&self) -> String {
        let url = self.page().map(|url| url + "\n").unwrap_or_default();
        format!("{}\n{}\n{url}", self.told(Form::Email).lines(), self.when())
    }

    /// What a program gets.
    pub(super) fn data(&self) -> Json {
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

    /// What the subject is called.
    pub(super) fn called(&self) -> &str {
        self.at(&["alias"]).or(self.event.subject_name.as_deref()).unwrap_or("?")
    }

    /// The address of the page for people.
    pub(super) fn page(&self) -> Option<String> {
        self.pages.of_reader(self.event, self.at(&["alias"]))
    }

    /// The address of the subject's page, if it has one.
    fn url(&self) -> Option<String> {
        self.pages.of_subject(self.event, self.at(&["alias"]))
    }

    /// A link to the page, where the name of the subject is none. In mail, the address has a line of its own.
    fn see(&self, form: Form) -> Option<String> {
        let page = self.page().filter(|_| form != Form::Email && self.url().is_none());
        page.map(|url| link(form, "see the page", &url))
    }

    /// When it happened.
    fn when(&self) -> String {
        let deployed = self.at(&["deploy", "deployedAt"]).and_then(|at| Timestamp::parse(at).ok());
        format!("{} UTC", moment(deployed.unwrap_or(self.event.at)))
    }

    /// The text at a path of the details.
    fn at(&self, path: &[&str]) -> Option<&str> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.detail.get(*first)?, |value, name| value.get(name))?.as_str()
    }

    /// The same as it is shown.
    fn shown(&self, form: Form, path: &[&str]) -> Option<String> {
        self.at(path).map(|text| value(form, text))
    }

    /// A fact with its name.
    fn fact(&self, form: Form, name: &str, path: &[&str]) -> Option<String> {
        Some(format!("{name}: {}", self.shown(form, path)?))
    }

    /// A link to an address elsewhere.
    fn elsewhere(&self, form: Form, path: &[&str]) -> Option<String> {
        let url = self.at(path)?;
        let is_plain = |letter: u8| letter.is_ascii_graphic() && !b"<>|()[]{}\"'`\\".contains(&letter);
        let is_link = (url.starts_with("https://") || url.starts_with("http://")) && url.bytes().all(is_plain);
        Some(match form {
            Form::Email => plain(form)(&cut(url, ADDRESS)),
            _ if is_link && url.len() <= ADDRESS => link(form, "details", url),
            _ => value(form, url),
        })
    }

    fn told(&self, form: Form) -> Told {
        let plain = plain(form);
        let subject = self.event.subject_name.as_deref().unwrap_or("?");
        let name = &self.url().map_or_else(|| plain(subject), |url| link(form, subject, &url));
        let by = self.at(&["by", "name"]).map(|by| format!(" by {}", plain(by))).unwrap_or_default();
        let changed = |noun: &str| self.fields(form, format!("The {noun} {name} was {}{by}", word(self.event.what)));
        match self.kind {
            Kind::ServiceCreated | Kind::ServiceChanged | Kind::ServiceDeleted => changed("service"),
            Kind::ServiceOwnerChanged => self.owner(form, name, &by),
            Kind::TeamCreated | Kind::TeamChanged | Kind::TeamDeleted => changed("team"),
            Kind::UserDeleted if self.event.what == What::Changed => self.deactivated(form, name, &by),
            Kind::UserDeleted => changed("user"),
            Kind::ObjectChanged => changed(&words(&self.event.subject_class)),
            Kind::DeployRecorded => self.deploy(form, name, ""),
            Kind::DeployFailed => self.deploy(form, name, " failed"),
            Kind::DeployRecovered => self.deploy(form, name, " succeeded, after one that failed"),
            Kind::CriticalCodeIssueCreated => self.critical(form, name, &by),
            Kind::CodeIssueOverdue => self.overdue(form, name),
            Kind::SuggestionCreated => {
                Told::new(format!("Deploys name the service {name}, which the catalogue does not have"))
            }
            Kind::TokenExpiring => {
                let at = self.at(&["expiresAt"]).and_then(|at| Timestamp::parse(at).ok());
                let at = at.map(|at| format!(" on {} UTC", moment(at))).unwrap_or_default();
                Told::new(format!("The API token {name} expires{at}"))
            }
            Kind::CheckPassed => self.check(form, format!("The service {name} now passes the check")),
            Kind::CheckFailed => self.check(form, format!("The service {name} does not pass the check")),
            Kind::LevelReached => self.level(form, format!("The service {name} has reached the level")),
            Kind::LevelLost => self.level(form, format!("The service {name} has fallen to the level")),
            Kind::ServiceFileRejected => self.refused_file(form, name, &by),
            Kind::Test => Told::new(format!("This is a test of the subscription {name}")),
        }
    }

    /// A user who stays in the catalogue: only an identity provider deactivates. What else has changed of them follows.
    fn deactivated(&self, form: Form, name: &str, by: &str) -> Told {
        let head = format!("The user {name} is no longer here: deactivated by the identity provider");
        self.fields(form, head).made(by)
    }

    fn owner(&self, form: Form, name: &str, by: &str) -> Told {
        let side = |side: &str| self.shown(form, &["changed", "owner", side]);
        let head = match (side("old"), side("new")) {
            (Some(old), Some(new)) => format!("The service {name} now belongs to {new}, and no longer to {old}"),
            (None, Some(new)) => format!("The service {name} now belongs to {new}; it had no owner before"),
            (Some(old), None) => format!("The service {name} no longer has an owner; it belonged to {old}"),
            (None, None) => format!("The service {name} has another owner"),
        };
        self.fields(form, head).made(by)
    }

    fn deploy(&self, form: Form, service: &str, how: &str) -> Told {
        let of = |name: &str| self.at(&["deploy", name]);
        let with = |before: &str, name: &str| {
            of(name).map(|text| format!("{before}{}", value(form, text))).unwrap_or_default()
        };
        let (number, environment, by) = (with(" ", "number"), with(" to ", "environment"), with(", by ", "deployer"));
        let status = of("status").filter(|_| how.is_empty()).map(|status| value(form, status));
        let message = of("commitMessage").and_then(|message| message.lines().next());
        let commit = of("commit").map(|commit| format!("commit {}", value(form, commit.get(..12).unwrap_or(commit))));
        let commit = match (message.map(|message| value(form, message)), commit) {
            (Some(message), Some(commit)) => Some(format!("{message} ({commit})")),
            (message, commit) => message.or(commit),
        };
        let description = of("description").filter(|text| !text.is_empty() && Some(*text) != message);
        let description = description.map(|text| value(form, text));
        let facts = [status, commit, description, self.elsewhere(form, &["deploy", "url"])];
        Told::new(format!("Deploy{number} of {service}{environment}{how}{by}")).with(facts.into_iter().flatten())
    }

    /// The name of a check, and what it found.
    fn check(&self, form: Form, head: String) -> Told {
        let name = self.shown(form, &["check", "name"]).unwrap_or_default();
        let message = self.at(&["check", "message"]).filter(|message| !message.is_empty());
        let found = message.map(|message| plain(form)(message.trim_end_matches('.')));
        let lead = if found.is_some() { ": " } else { "; " };
        Told { lead, ..Told::new(format!("{head} {name}")).with(found.into_iter().chain(self.cause(form))) }
    }

    /// The name of the new level, and of the one before.
    fn level(&self, form: Form, head: String) -> Told {
        let side = |side: &str| self.shown(form, &["level", side]).unwrap_or_default();
        Told::and(format!("{head} {}; it was {}", side("new"), side("old")), self.cause(form))
    }

    /// What made a result or a level change.
    fn cause(&self, form: Form) -> Option<String> {
        let cause = self.at(&["cause"]).filter(|cause| !cause.is_empty())?;
        Some(format!("cause: {}", value(form, &action::causes(cause))))
    }

    fn critical(&self, form: Form, name: &str, by: &str) -> Told {
        let of = match self.event.subject_id.and_then(|id| self.pages.issues.get(&id)) {
            Some(Shown::With(services)) => of_services(form, services.iter().map(String::as_str)),
            _ => String::new(),
        };
        let new = |field: &'static str| ["changed", field, "new"];
        let reported = (!by.is_empty()).then(|| format!("reported{by}"));
        let since = self.at(&new("introducedAt")).and_then(|at| Timestamp::parse(at).ok());
        let facts = [
            reported,
            self.fact(form, "project", &new("code_issue_project")),
            self.fact(form, "category", &new("issueCategory")),
            since.map(|at| format!("in the code since {}", day(at))),
            self.elsewhere(form, &new("externalUrl")),
        ];
        Told::and(format!("There is a new critical code issue: {name}{of}"), facts.into_iter().flatten())
    }

    fn overdue(&self, form: Form, name: &str) -> Told {
        let services = self.detail.get("codeIssue").and_then(|issue| issue.get("services")?.as_array());
        let of = of_services(form, services.into_iter().flatten().filter_map(Json::as_str));
        let since = self.at(&["codeIssue", "openSince"]).and_then(|at| Timestamp::parse(at).ok());
        let since = since.map_or_else(|| "?".to_owned(), day);
        let facts = [
            self.fact(form, "project", &["codeIssue", "project"]),
            self.fact(form, "category", &["codeIssue", "category"]),
            self.elsewhere(form, &["codeIssue", "url"]),
        ];
        let head = format!("The critical code issue {name}{of} has been open since {since}");
        Told::and(head, facts.into_iter().flatten())
    }

    fn refused_file(&self, form: Form, name: &str, by: &str) -> Told {
        let file = self.detail.get("file");
        let mistakes = file.and_then(|file| file.get("mistakes")?.as_array()).into_iter().flatten();
        let mistake = |mistake: &str| plain(form)(mistake.trim_end_matches('.'));
        let mut facts: Vec<String> = mistakes.filter_map(Json::as_str).map(mistake).collect();
        let count = file.and_then(|file| file.get("mistakeCount")?.as_u64()).unwrap_or_default();
        match count.saturating_sub(facts.len() as u64) {
            0 => {}
            1 => facts.push("and 1 more mistake".to_owned()),
            more => facts.push(format!("and {more} more mistakes")),
        }
        facts.extend(self.fact(form, "file", &["file", "path"]));
        facts.extend(self.fact(form, "repository", &["file", "repository"]));
        facts.extend(self.fact(form, "commit", &["file", "commit"]));
        Told::new(format!("A service file of {name}, applied{by}, was refused")).with(facts)
    }

    /// The fields that have changed, with their old and their new value; of what is new, those that it has; of what was
    /// deleted, those that it had. What the head says is left out.
    fn fields(&self, form: Form, head: String) -> Told {
        let known = [self.event.subject_name.as_deref(), self.at(&["alias"])];
        let is_known = |side: &Json| side.as_str().is_some_and(|text| known.contains(&Some(text)));
        let is_said = |name: &str, change: &Json| match self.event.what {
            What::Changed => match self.kind {
                Kind::ServiceOwnerChanged => name == "owner",
                Kind::UserDeleted => name == "deactivatedAt",
                _ => false,
            },
            What::Deleted => change.get("old").is_some_and(is_known),
            _ => match change.get("added").and_then(Json::as_array) {
                Some(added) => added.iter().all(is_known),
                None => change.get("new").is_some_and(is_known),
            },
        };
        let changed = self.detail.get("changed").and_then(Json::as_object);
        let count = self.detail.get("changedCount").and_then(Json::as_u64);
        let count = count.and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        // Details are cut to a number of bytes.
        let left_out = count.saturating_sub(changed.map_or(0, Map::len));
        let mut fields: Vec<(&String, &Json)> =
            changed.into_iter().flatten().filter(|(name, change)| !is_said(name, change)).collect();
        // People ask first whose it is. Aliases follow from the name.
        fields.sort_by_key(|(name, _)| match name.as_str() {
            "owner" => 0,
            "alias" | "aliases" | "slug" => 2,
            _ => 1,
        });
        let more = fields.len().saturating_sub(FIELDS) + left_out;
        let facts = fields.into_iter().take(FIELDS);
        let facts = facts.map(|(name, change)| format!("{}: {}", plain(form)(&words(name)), self.change(form, change)));
        let lead = if self.event.what == What::Deleted { ". Until then: " } else { ": " };
        Told { lead, more, ..Told::new(head).with(facts) }
    }

    /// The old and the new value of a field, or what was added to a list and removed from it.
    fn change(&self, form: Form, change: &Json) -> String {
        let side = |name: &str| match change.get(name) {
            None | Some(Json::Null) => "nothing".to_owned(),
            Some(Json::String(text)) => value(form, text),
            Some(other) => value(form, &other.to_string()),
        };
        if change.get("old").is_none() && change.get("new").is_none() {
            let each = |name: &str, sign: &str| -> Vec<String> {
                let entries = change.get(name).and_then(Json::as_array).into_iter().flatten();
                entries.filter_map(Json::as_str).map(|entry| format!("{sign} {entry}")).collect()
            };
            return value(form, &[each("added", "+"), each("removed", "\u{2212}")].concat().join(", "));
        }
        match self.event.what {
            What::Created => side("new"),
            What::Deleted => side("old"),
            _ => format!("{} \u{2192} {}", side("old"), side("new")),
        }
    }
}

/// The services of a code issue.
fn of_services<'s>(form: Form, services: impl Iterator<Item = &'s str>) -> String {
    let mut services: Vec<String> = services.take(SERVICES + 1).map(|alias| value(form, alias)).collect();
    let others = if services.len() > SERVICES { " and others" } else { "" };
    services.truncate(SERVICES);
    if services.is_empty() { String::new() } else { format!(" of {}{others}", services.join(", ")) }
}

/// A text as the value of a field, in the markup of the form.
fn value(form: Form, text: &str) -> String {
    plain(form)(&cut(text, VALUE))
}

/// The words of a field or a type: `codeIssueProject` and `code_issue_project` become `code issue project`. What follows a
/// dot is a name of its own.
fn words(name: &str) -> String {
    let (name, own) = name.split_once('.').map_or((name, None), |(name, own)| (name, Some(own)));
    let name = if name == "slug" { "alias" } else { name };
    let mut words = String::with_capacity(name.len() + 8);
    for letter in name.chars() {
        match letter {
            '_' => words.push(' '),
            letter if letter.is_uppercase() => {
                words.push_str(if words.is_empty() { "" } else { " " });
                words.extend(letter.to_lowercase());
            }
            letter => words.push(letter),
        }
    }
    own.map_or(words.clone(), |own| format!("{words} {own}"))
}

/// A time to the minute, in UTC.
pub(super) fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    text.get(..16).map_or(text.clone(), |minute| minute.replace('T', " "))
}

/// A day in UTC.
fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
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
