//! The deploy record: its attributes, which docs/deploys.md lists, and how a body is parsed.

use std::borrow::Cow;

use super::attributes::{Attributes, Heard, Mistake, Rule, is_spelt_like};
use super::json::{self, Object, Value};
use crate::entity::Timestamp;
use crate::entity::deploy::Status;
use crate::entity::text::{BRANCH, MESSAGE, SHORT, URL};
use crate::error::quoted;

/// A valid deploy record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The alias of the service.
    pub service: String,
    /// The text shown with the deploy.
    pub description: String,
    /// When it took place.
    pub deployed_at: Timestamp,
    /// The deployer.
    pub deployer: Deployer,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// The URL of its record elsewhere.
    pub deploy_url: Option<String>,
    /// The sender's unique id.
    pub dedup_id: Option<String>,
    /// The environment.
    pub environment: Option<String>,
    /// Its number in the pipeline.
    pub deploy_number: Option<String>,
    /// Its status, as sent.
    pub status: Option<String>,
    /// What was deployed.
    pub commit: Commit,
}

/// The deployer. Has an email address or a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deployer {
    /// The email address.
    pub email: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The id in the pipeline.
    pub id: Option<String>,
}

/// What was deployed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commit {
    /// The hash.
    pub sha: Option<String>,
    /// The message.
    pub message: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// The commit date.
    pub date: Option<Timestamp>,
    /// The committer's name.
    pub committer_name: Option<String>,
    /// The committer's email address.
    pub committer_email: Option<String>,
    /// The author's name.
    pub author_name: Option<String>,
    /// The author's email address.
    pub author_email: Option<String>,
    /// The author date.
    pub authoring_date: Option<Timestamp>,
}

/// A record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The record.
    pub record: Record,
    /// How it differs from what was sent: one sentence for each attribute that was converted, cut or left out.
    pub notes: Vec<String>,
    /// Whether the record is in an attribute of what was sent.
    pub is_wrapped: bool,
}

impl Record {
    /// Parses the body of a post. Ignores unknown attributes. What is only shown refuses no post: it is converted, cut or
    /// left out, and a note says so. `is_lossy` means that characters of the body were replaced, because its bytes are none.
    ///
    /// # Errors
    /// All its mistakes, in the order of the table in docs/deploys.md.
    pub fn read(body: &str, is_lossy: bool) -> Result<Reading, Vec<Mistake>> {
        let heard = Heard { is_lossy, ..Heard::default() };
        match serde_json::from_str(body) {
            Ok(object) => read_object(object, heard),
            Err(_) => read_slips(body, heard),
        }
    }

    /// The normalised status. `None` for an unknown word.
    pub fn deploy_status(&self) -> Option<Status> {
        status(self.status.as_deref()?)
    }
}

/// The known words for a status.
pub const STATUSES: &[(&str, Status)] = &[
    ("succeeded", Status::Succeeded),
    ("success", Status::Succeeded),
    ("failed", Status::Failed),
    ("failure", Status::Failed),
    ("cancelled", Status::Cancelled),
    ("canceled", Status::Cancelled),
    ("queued", Status::Queued),
    ("running", Status::Running),
];

/// The status for a word, ignoring case. `None` for an unknown word.
pub fn status(word: &str) -> Option<Status> {
    let word = word.trim().to_lowercase();
    STATUSES.iter().find(|(known, _)| *known == word).map(|(_, status)| *status)
}

/// Reads a body that is no JSON object, but stands for one: JSON with slips, a list of one object, or JSON as the text of a
/// JSON string.
fn read_slips(body: &str, mut heard: Heard) -> Result<Reading, Vec<Mistake>> {
    let of_body = |detail: String| Err(vec![Mistake::about("body", detail)]);
    let text = match json::checked(body) {
        Ok(json::Mended { text, notes }) => {
            heard.notes.extend(notes);
            text
        }
        Err(_) if json::are_several(body) => {
            return of_body("the body holds several JSON objects: post each deploy alone".to_owned());
        }
        Err(wrong) => return of_body(format!("the body is not JSON: {wrong}")),
    };
    let value = Value::from_json(&text);
    match &value {
        Value::Object(object) => return read_object(serde_json::from_str(object).unwrap_or_default(), heard),
        Value::Text(inner, _) => {
            if let Ok(object) = serde_json::from_str(inner) {
                heard.notes.push("the body is JSON in a JSON text, and is read as that".to_owned());
                return read_object(object, heard);
            }
        }
        Value::List(list) => match json::items(list, 1).as_deref() {
            Some([only]) if only.starts_with('{') => {
                heard.notes.push("the body is a list of one deploy, which is read".to_owned());
                return read_object(serde_json::from_str(only).unwrap_or_default(), heard);
            }
            Some([]) => {}
            _ => return of_body("the body must be a JSON object, not an array: post each deploy alone".to_owned()),
        },
        _ => {}
    }
    of_body(format!("the body must be a JSON object, not {}", value.kind()))
}

fn read_object(object: Object<'_>, mut heard: Heard) -> Result<Reading, Vec<Mistake>> {
    let is_known = |name: &str| ATTRIBUTES.iter().any(|known| is_spelt_like(name, known));
    let (mut object, mut is_wrapped, mut has) = (object, false, None);
    if !object.0.iter().any(|(name, _)| is_known(name)) {
        match wrapped(&object) {
            Some((name, inner)) => {
                heard.notes.push(format!("the deploy is in the attribute {}, and is read from it", quoted(&name)));
                (object, is_wrapped) = (inner, true);
            }
            None => has = named(&object),
        }
    }
    match read(&mut Attributes::new(object, ATTRIBUTES, None, &mut heard)) {
        Some(record) if heard.mistakes.is_empty() => Ok(Reading { record, notes: heard.notes, is_wrapped }),
        _ => {
            if let Some(first) = heard.mistakes.first_mut() {
                first.hint = first.hint.take().or(has.map(Cow::Owned));
            }
            Err(heard.mistakes)
        }
    }
}

/// The deploy within a body that wraps it, such as `{"data": {"service": …}}`, with the name of the attribute that holds it.
/// `None` unless exactly one attribute is an object with a service.
fn wrapped<'t>(Object(object): &Object<'t>) -> Option<(Cow<'t, str>, Object<'t>)> {
    let mut found = object.iter().filter_map(|(name, text)| {
        let Value::Object(inner) = Value::from_json(text) else { return None };
        let inner: Object<'t> = serde_json::from_str(inner).ok()?;
        let has_service = inner.0.iter().any(|(name, _)| is_spelt_like(name, "service"));
        has_service.then(|| (name.clone(), inner))
    });
    found.next().filter(|_| found.next().is_none())
}

/// Says which attributes a body has that has none of a deploy's. Names at most five.
fn named(Object(object): &Object<'_>) -> Option<String> {
    let names: Vec<String> = object.iter().take(5).map(|(name, _)| quoted(name).to_string()).collect();
    let more = if object.len() > names.len() { " and others" } else { "" };
    let of = names.join(", ");
    (!names.is_empty()).then(|| format!("The body has {of}{more}, and no attribute of a deploy at its top level."))
}

/// The attributes of a record.
const ATTRIBUTES: &[&str] = &[
    "service",
    "description",
    "deployed_at",
    "deployer",
    "started_at",
    "deploy_url",
    "dedup_id",
    "environment",
    "deploy_number",
    "status",
    "commit",
];

/// The attributes of a deployer.
const OF_DEPLOYER: &[&str] = &["email", "name", "id"];

/// The attributes of a commit.
const OF_COMMIT: &[&str] = &[
    "sha",
    "message",
    "branch",
    "date",
    "committer_name",
    "committer_email",
    "author_name",
    "author_email",
    "authoring_date",
];

/// What to send if the deployer is missing.
const WHO: &str = "Set deployer.email, deployer.name or both. In a plugin or a step of a pipeline these are the fields for \
                   the deployer's email address and name; somebody's name, or that of the pipeline, will do.";

/// Reads all attributes before failing, so that all mistakes are found.
fn read(attributes: &mut Attributes<'_, '_>) -> Option<Record> {
    let service = attributes.required_text("service", Rule::Required);
    let description = attributes.required_text("description", Rule::Lines(MESSAGE));
    let deployed_at = attributes.required_moment("deployed_at");
    let deployer = required_deployer(attributes);
    let started_at = attributes.moment("started_at");
    let deploy_url = attributes.text("deploy_url", Rule::Line(URL));
    let dedup_id = attributes.text("dedup_id", Rule::Unique);
    let environment = attributes.text("environment", Rule::Key);
    let deploy_number = attributes.text("deploy_number", Rule::Key);
    let status = attributes.text("status", Rule::Line(SHORT));
    let commit = match attributes.object("commit", OF_COMMIT, commit, commit_of_text) {
        Ok(commit) => commit,
        Err(found) => {
            attributes.left_out("commit", &found);
            None
        }
    };
    Some(Record {
        service: service?,
        description: description?,
        deployed_at: deployed_at?,
        deployer,
        started_at,
        deploy_url,
        dedup_id,
        environment,
        deploy_number,
        status,
        commit: commit.unwrap_or_default(),
    })
}

/// Reads the deployer: an object, or a name or an address alone.
fn required_deployer(attributes: &mut Attributes<'_, '_>) -> Deployer {
    let one = |text: String| {
        let (name, email) = person(text);
        let taken = if email.is_some() { "the deployer's email address" } else { "the deployer's name" };
        Some((Deployer { name, email, id: None }, taken))
    };
    match attributes.object("deployer", OF_DEPLOYER, deployer, one) {
        Ok(Some(deployer)) if deployer.email.is_some() || deployer.name.is_some() => return deployer,
        Ok(_) => attributes.missing("deployer", Some(WHO)),
        Err(found) => attributes.wrong_type("deployer", "an object", &found),
    }
    Deployer::default()
}

/// The name and the address in `Ada Lovelace <ada@example.com>`, in an address or in a name.
fn person(text: String) -> (Option<String>, Option<String>) {
    let is_address = |text: &str| text.contains('@') && !text.contains(char::is_whitespace);
    let both = text.trim().strip_suffix('>').and_then(|text| text.rsplit_once('<'));
    match both.filter(|(_, address)| is_address(address)) {
        Some((name, address)) => {
            let name = name.trim().trim_matches('"');
            (Some(name.to_owned()).filter(|name| !name.is_empty()), Some(address.to_owned()))
        }
        None if is_address(&text) => (None, Some(text)),
        None => (Some(text), None),
    }
}

fn deployer(deployer: &mut Attributes<'_, '_>) -> Deployer {
    let (email, name) = (deployer.text("email", Rule::Key), deployer.text("name", Rule::Line(SHORT)));
    // Some pipelines know only `Name <address>`.
    let (of_email, email) = match email {
        Some(email) if email.ends_with('>') => match person(email) {
            (of_email, Some(address)) => (of_email, Some(address)),
            (text, None) => (None, text),
        },
        email => (None, email),
    };
    Deployer { email, name: name.or(of_email), id: deployer.text("id", Rule::Key) }
}

fn commit(commit: &mut Attributes<'_, '_>) -> Commit {
    Commit {
        sha: commit.text("sha", Rule::Exact),
        message: commit.text("message", Rule::Lines(MESSAGE)),
        branch: commit.text("branch", Rule::Line(BRANCH)),
        date: commit.moment("date"),
        committer_name: commit.text("committer_name", Rule::Line(SHORT)),
        committer_email: commit.text("committer_email", Rule::Line(SHORT)),
        author_name: commit.text("author_name", Rule::Line(SHORT)),
        author_email: commit.text("author_email", Rule::Line(SHORT)),
        authoring_date: commit.moment("authoring_date"),
    }
}

/// A commit of which only the hash was sent.
fn commit_of_text(text: String) -> Option<(Commit, &'static str)> {
    let sha = text.trim();
    let is_hash = (7..=64).contains(&sha.len()) && sha.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| (Commit { sha: Some(sha.to_owned()), ..Commit::default() }, "the commit's hash"))
}
