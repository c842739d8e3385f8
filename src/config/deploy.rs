//! The settings of `rollcall deploy`, and what a pipeline's environment says about the deploy.
//!
//! Each CI system's variables are read by their documented names. [`sender`](crate::cli::sender) turns them into a deploy.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command};

use super::trimmed::{path, read_file, trimmed};
use super::value;
use crate::deploy::record;

/// The settings of `rollcall deploy`.
#[derive(Debug, Args)]
pub struct Deploy {
    /// The deploy endpoint's URL, as printed by `deploy-endpoint create`; treat it like a password
    #[arg(
        long,
        value_name = "URL",
        env = "ROLLCALL_DEPLOY_URL",
        hide_env_values = true,
        value_parser = trimmed(UrlParser)
    )]
    url: Option<SecretUrl>,
    /// A file with the URL, to keep it out of the command line and the environment
    #[arg(long, value_name = "FILE", env = "ROLLCALL_DEPLOY_URL_FILE", conflicts_with = "url", value_parser = path())]
    url_file: Option<PathBuf>,
    /// An alias of the service
    #[arg(long, value_name = "ALIAS", env = "ROLLCALL_DEPLOY_SERVICE", value_parser = value::any)]
    pub service: String,
    /// The text shown with the deploy [default: the first line of the commit message]
    #[arg(long, value_name = "TEXT", env = "ROLLCALL_DEPLOY_DESCRIPTION", value_parser = value::any)]
    pub description: Option<String>,
    /// The environment it was deployed to [default: from GitLab, Azure or Bitbucket]
    #[arg(long, value_name = "NAME", env = "ROLLCALL_DEPLOY_ENVIRONMENT", value_parser = value::any)]
    pub environment: Option<String>,
    /// The status: succeeded, failed, cancelled, queued or running
    #[arg(long, value_name = "STATUS", env = "ROLLCALL_DEPLOY_STATUS", value_parser = trimmed(status))]
    pub status: Option<String>,
    /// Identifies the deploy, so that it is recorded once however often it is sent [default: a new id for each run of
    /// this command]
    #[arg(long, value_name = "ID", env = "ROLLCALL_DEPLOY_DEDUP_ID", value_parser = value::any)]
    pub dedup_id: Option<String>,
    /// The deploy's number in the pipeline [default: the service's next number, assigned by the server]
    #[arg(long, value_name = "NUMBER", env = "ROLLCALL_DEPLOY_DEPLOY_NUMBER", value_parser = value::any)]
    pub deploy_number: Option<String>,
    /// The URL of the deploy's record [default: the page of the pipeline run]
    #[arg(long, value_name = "URL", env = "ROLLCALL_DEPLOY_DEPLOY_URL", value_parser = value::any)]
    pub deploy_url: Option<String>,
    /// The name of the deployer [default: whoever started the pipeline, or else the commit's author]
    #[arg(long, value_name = "NAME", env = "ROLLCALL_DEPLOY_DEPLOYER_NAME", value_parser = value::any)]
    pub deployer_name: Option<String>,
    /// The deployer's email address; links the deploy to the user with that address
    #[arg(long, value_name = "ADDRESS", env = "ROLLCALL_DEPLOY_DEPLOYER_EMAIL", value_parser = value::any)]
    pub deployer_email: Option<String>,
    /// The deployer's id in the pipeline
    #[arg(long, value_name = "ID", env = "ROLLCALL_DEPLOY_DEPLOYER_ID", value_parser = value::any)]
    pub deployer_id: Option<String>,
    /// When the deploy started, such as 2026-11-21T01:44:00Z; without it no duration is shown
    #[arg(long, value_name = "TIME", env = "ROLLCALL_DEPLOY_STARTED_AT", value_parser = value::any)]
    pub started_at: Option<String>,
    /// When the deploy took place [default: now]
    #[arg(long, value_name = "TIME", env = "ROLLCALL_DEPLOY_DEPLOYED_AT", value_parser = value::any)]
    pub deployed_at: Option<String>,
    /// How long to retry while the server is unreachable or busy
    #[arg(
        long,
        value_name = "DURATION",
        env = "ROLLCALL_DEPLOY_DEADLINE",
        default_value = "60s",
        value_parser = trimmed(value::duration)
    )]
    pub deadline: Duration,
}

impl Deploy {
    /// Returns the deploy endpoint's URL.
    ///
    /// # Errors
    /// There is no URL, or the file with it cannot be read, in one sentence.
    pub fn url(&self) -> Result<SecretUrl, String> {
        match (&self.url, &self.url_file) {
            (Some(url), _) => Ok(url.clone()),
            (None, Some(file)) => {
                let text = read_file("the deploy URL", "--url-file or ROLLCALL_DEPLOY_URL_FILE", file)?;
                SecretUrl::read(&text).ok_or_else(|| format!("{}: {NOT_A_URL}", file.display()))
            }
            (None, None) => Err(NO_URL.to_owned()),
        }
    }
}

/// Parses a status. The endpoint accepts any word, but metrics count only the known ones, so a misspelt status is refused
/// here. Empty means absent, because a pipeline's variable may be empty.
fn status(text: &str) -> Result<String, String> {
    if text.is_empty() || record::status(text).is_some() {
        return Ok(text.to_owned());
    }
    let word = text.to_lowercase();
    let likeness = |known: &str| strsim::jaro_winkler(&word, known);
    let words = record::STATUSES.iter().map(|(known, _)| (*known, likeness(known)));
    let (nearest, likeness) = words.max_by(|(_, one), (_, other)| one.total_cmp(other)).unwrap_or_default();
    let hint = if likeness >= SIMILAR { format!("did you mean {nearest}? ") } else { String::new() };
    Err(format!("{hint}write succeeded, failed, cancelled, queued or running"))
}

/// Minimum similarity (0 to 1) for a suggestion.
const SIMILAR: f64 = 0.8;

const NO_URL: &str = "there is no deploy URL: set ROLLCALL_DEPLOY_URL (is the secret set for this job?), or \
                      ROLLCALL_DEPLOY_URL_FILE, or --url";

const NOT_A_URL: &str =
    "the deploy URL must be what `rollcall deploy-endpoint create` printed: http:// or https://, a host and a path";

/// A URL with a secret path. It is never shown.
#[derive(Clone)]
pub struct SecretUrl(String);

impl SecretUrl {
    fn read(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
        let (host, path) = rest.split_once('/')?;
        let is_plain = rest.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
        (!host.is_empty() && !path.is_empty() && is_plain).then(|| Self(text.to_owned()))
    }

    /// The URL itself, for sending.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretUrl(…)")
    }
}

/// Parses the URL. Unlike clap's parsers, does not repeat a wrong value in the error.
#[derive(Clone)]
struct UrlParser;

impl TypedValueParser for UrlParser {
    type Value = SecretUrl;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<SecretUrl, clap::Error> {
        let text = value.to_str().unwrap_or_default();
        let sentence = if text.is_empty() { NO_URL } else { NOT_A_URL };
        let wrong = || clap::Error::raw(ErrorKind::ValueValidation, format!("{sentence}\n")).with_cmd(command);
        SecretUrl::read(text).ok_or_else(wrong)
    }
}

/// The current run, as the variables of its CI system describe it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// The page of the run.
    pub url: Option<String>,
    /// The target environment.
    pub environment: Option<String>,
    /// Who started the run.
    pub deployer_name: Option<String>,
    /// Their email address.
    pub deployer_email: Option<String>,
    /// Their id.
    pub deployer_id: Option<String>,
    /// The commit's hash.
    pub sha: Option<String>,
    /// The branch. In CI the checkout is usually detached.
    pub branch: Option<String>,
    /// The URL of the repository. It may hold a password.
    pub repository: Option<String>,
    /// The commit's message.
    pub message: Option<String>,
    /// The commit date.
    pub committed_at: Option<String>,
    /// The commit's author.
    pub author_name: Option<String>,
    /// Their email address.
    pub author_email: Option<String>,
}

impl Pipeline {
    /// Reads the pipeline's variables. Empty outside of a pipeline.
    pub(super) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let is_set = |name| variable(name).is_some();
        if is_set("GITHUB_ACTIONS") {
            Self::github(variable)
        } else if is_set("GITLAB_CI") {
            Self::gitlab(variable)
        } else if is_set("CIRCLECI") {
            Self::circle_ci(variable)
        } else if is_set("BUILDKITE") {
            Self::buildkite(variable)
        } else if is_set("TF_BUILD") {
            Self::azure(variable)
        } else if is_set("BITBUCKET_BUILD_NUMBER") {
            Self::bitbucket(variable)
        } else if is_set("JENKINS_URL") {
            Self::jenkins(variable)
        } else {
            Self::default()
        }
    }

    /// A job of GitHub Actions.
    fn github(variable: impl Fn(&str) -> Option<String>) -> Self {
        let run = || {
            let (server, repository) = (variable("GITHUB_SERVER_URL")?, variable("GITHUB_REPOSITORY")?);
            Some(format!("{server}/{repository}/actions/runs/{}", variable("GITHUB_RUN_ID")?))
        };
        let is_branch = variable("GITHUB_REF_TYPE").as_deref() == Some("branch");
        Self {
            url: run(),
            repository: variable("GITHUB_SERVER_URL")
                .zip(variable("GITHUB_REPOSITORY"))
                .map(|(server, name)| format!("{server}/{name}")),
            deployer_name: variable("GITHUB_ACTOR"),
            deployer_id: variable("GITHUB_ACTOR_ID"),
            sha: variable("GITHUB_SHA"),
            branch: variable("GITHUB_HEAD_REF").or_else(|| variable("GITHUB_REF_NAME").filter(|_| is_branch)),
            ..Self::default()
        }
    }

    /// A job of GitLab.
    fn gitlab(variable: impl Fn(&str) -> Option<String>) -> Self {
        // `Name <address>`.
        let author = variable("CI_COMMIT_AUTHOR");
        let author = author.as_deref().and_then(|author| author.strip_suffix('>')?.split_once(" <"));
        Self {
            url: variable("CI_JOB_URL"),
            repository: variable("CI_PROJECT_URL"),
            environment: variable("CI_ENVIRONMENT_NAME"),
            deployer_name: variable("GITLAB_USER_NAME"),
            deployer_email: variable("GITLAB_USER_EMAIL"),
            deployer_id: variable("GITLAB_USER_ID"),
            sha: variable("CI_COMMIT_SHA"),
            branch: variable("CI_COMMIT_BRANCH").or_else(|| variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME")),
            message: variable("CI_COMMIT_MESSAGE"),
            committed_at: variable("CI_COMMIT_TIMESTAMP"),
            author_name: author.map(|(name, _)| name.to_owned()),
            author_email: author.map(|(_, address)| address.to_owned()),
        }
    }

    /// A job of CircleCI.
    fn circle_ci(variable: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            url: variable("CIRCLE_BUILD_URL"),
            repository: variable("CIRCLE_REPOSITORY_URL"),
            deployer_name: variable("CIRCLE_USERNAME"),
            sha: variable("CIRCLE_SHA1"),
            branch: variable("CIRCLE_BRANCH"),
            ..Self::default()
        }
    }

    /// A job of Buildkite.
    fn buildkite(variable: impl Fn(&str) -> Option<String>) -> Self {
        Self {
            url: variable("BUILDKITE_BUILD_URL"),
            repository: variable("BUILDKITE_REPO"),
            deployer_name: variable("BUILDKITE_BUILD_CREATOR"),
            deployer_email: variable("BUILDKITE_BUILD_CREATOR_EMAIL"),
            deployer_id: variable("BUILDKITE_BUILD_CREATOR_ID"),
            // A build without a specific commit says HEAD.
            sha: variable("BUILDKITE_COMMIT").filter(|sha| sha != "HEAD"),
            branch: variable("BUILDKITE_BRANCH"),
            message: variable("BUILDKITE_MESSAGE"),
            author_name: variable("BUILDKITE_BUILD_AUTHOR"),
            author_email: variable("BUILDKITE_BUILD_AUTHOR_EMAIL"),
            ..Self::default()
        }
    }

    /// A job of Azure Pipelines.
    fn azure(variable: impl Fn(&str) -> Option<String>) -> Self {
        let run = || {
            // Project names may contain spaces.
            let project = variable("SYSTEM_TEAMPROJECT")?.replace(' ', "%20");
            let (server, build) = (variable("SYSTEM_COLLECTIONURI")?, variable("BUILD_BUILDID")?);
            Some(format!("{server}{project}/_build/results?buildId={build}"))
        };
        let branch = variable("BUILD_SOURCEBRANCH");
        Self {
            url: run(),
            repository: variable("BUILD_REPOSITORY_URI"),
            environment: variable("ENVIRONMENT_NAME"),
            deployer_name: variable("BUILD_REQUESTEDFOR"),
            deployer_email: variable("BUILD_REQUESTEDFOREMAIL"),
            deployer_id: variable("BUILD_REQUESTEDFORID"),
            sha: variable("BUILD_SOURCEVERSION"),
            branch: branch.and_then(|branch| branch.strip_prefix("refs/heads/").map(str::to_owned)),
            message: variable("BUILD_SOURCEVERSIONMESSAGE"),
            author_name: variable("BUILD_SOURCEVERSIONAUTHOR"),
            ..Self::default()
        }
    }

    /// A job of Bitbucket.
    fn bitbucket(variable: impl Fn(&str) -> Option<String>) -> Self {
        let run = || {
            let (origin, build) = (variable("BITBUCKET_GIT_HTTP_ORIGIN")?, variable("BITBUCKET_BUILD_NUMBER")?);
            Some(format!("{origin}/pipelines/results/{build}").replacen("http://", "https://", 1))
        };
        Self {
            url: run(),
            repository: variable("BITBUCKET_GIT_HTTP_ORIGIN"),
            environment: variable("BITBUCKET_DEPLOYMENT_ENVIRONMENT"),
            deployer_id: variable("BITBUCKET_STEP_TRIGGERER_UUID"),
            sha: variable("BITBUCKET_COMMIT"),
            branch: variable("BITBUCKET_BRANCH"),
            ..Self::default()
        }
    }

    /// A job of Jenkins.
    fn jenkins(variable: impl Fn(&str) -> Option<String>) -> Self {
        let branch = variable("GIT_BRANCH");
        let branch = branch.map(|branch| branch.strip_prefix("origin/").unwrap_or(&branch).to_owned());
        Self {
            url: variable("BUILD_URL"),
            repository: variable("GIT_URL"),
            // Set by the plugin "build user vars".
            deployer_name: variable("BUILD_USER"),
            deployer_email: variable("BUILD_USER_EMAIL"),
            deployer_id: variable("BUILD_USER_ID"),
            sha: variable("GIT_COMMIT"),
            branch: variable("BRANCH_NAME").or(branch),
            ..Self::default()
        }
    }
}
