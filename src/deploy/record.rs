//! The deploy record: its attributes, which docs/deploys.md lists, and how a body is parsed.

use serde_json::Value;

use super::attributes::{Attributes, Mistake, type_of};
use crate::entity::Timestamp;
use crate::entity::deploy::Status;
use crate::entity::text::{BRANCH, MESSAGE, SHORT, URL};

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

impl Record {
    /// Parses the body of a post. Ignores unknown attributes.
    ///
    /// # Errors
    /// All its mistakes, in the order of the table in docs/deploys.md.
    pub fn read(body: &[u8]) -> Result<Self, Vec<Mistake>> {
        let of_body = |detail: String| vec![Mistake::about("body", detail)];
        let value = serde_json::from_slice(body).map_err(|error| of_body(format!("the body is not JSON: {error}")))?;
        let Value::Object(object) = value else {
            return Err(of_body(format!("the body must be a JSON object, not {}", type_of(&value))));
        };
        let mut mistakes = Vec::new();
        match read(&mut Attributes::new(&object, &mut mistakes)) {
            Some(record) if mistakes.is_empty() => Ok(record),
            _ => Err(mistakes),
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

/// Reads all attributes before failing, so that all mistakes are found.
fn read(attributes: &mut Attributes<'_>) -> Option<Record> {
    let service = attributes.required_text("service", SHORT);
    let description = attributes.required_text("description", MESSAGE);
    let deployed_at = attributes.required_moment("deployed_at");
    let deployer = attributes.required_object("deployer", &["email", "name"]);
    let deployer = deployer.map(|mut deployer| self::deployer(&mut deployer)).unwrap_or_default();
    let started_at = attributes.moment("started_at");
    let deploy_url = attributes.text("deploy_url", URL);
    let dedup_id = attributes.text("dedup_id", SHORT);
    let environment = attributes.text("environment", SHORT);
    let deploy_number = attributes.text("deploy_number", SHORT);
    let status = attributes.text("status", SHORT);
    let commit = attributes.object("commit").map(|mut commit| self::commit(&mut commit)).unwrap_or_default();
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
        commit,
    })
}

fn deployer(deployer: &mut Attributes<'_>) -> Deployer {
    Deployer {
        email: deployer.text("email", SHORT),
        name: deployer.text("name", SHORT),
        id: deployer.text("id", SHORT),
    }
}

fn commit(commit: &mut Attributes<'_>) -> Commit {
    Commit {
        sha: commit.text("sha", SHORT),
        message: commit.text("message", MESSAGE),
        branch: commit.text("branch", BRANCH),
        date: commit.moment("date"),
        committer_name: commit.text("committer_name", SHORT),
        committer_email: commit.text("committer_email", SHORT),
        author_name: commit.text("author_name", SHORT),
        author_email: commit.text("author_email", SHORT),
        authoring_date: commit.moment("authoring_date"),
    }
}
