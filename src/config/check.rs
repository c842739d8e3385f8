//! The settings of `rollcall check`.

use std::path::PathBuf;

use clap::builder::StringValueParser;
use clap::{Args, ValueEnum};

use super::Secret;
use super::remote::Asking;
use super::trimmed::{trimmed, word};

/// The settings of `rollcall check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The checkout, or a folder in it
    #[arg(default_value = ".", value_name = "PATH")]
    pub path: PathBuf,
    /// The repository: its alias in the catalogue, such as github.com:org/name, or its URL [default: from git's remote origin]
    #[arg(long, value_name = "ALIAS", env = "ROLLCALL_CHECK_REPOSITORY", value_parser = trimmed(StringValueParser::new()))]
    pub repository: Option<String>,
    /// The commit that is looked at [default: from git]
    #[arg(long, value_name = "HASH", env = "ROLLCALL_CHECK_COMMIT", value_parser = trimmed(StringValueParser::new()))]
    pub commit: Option<String>,
    /// Whether the forge protects the default branch [default: what GitHub or GitLab says to the token in GITHUB_TOKEN or
    /// GITLAB_TOKEN]
    #[arg(long, value_name = "ANSWER", env = "ROLLCALL_CHECK_BRANCH_PROTECTED", value_parser = word::<Answer>())]
    pub branch_protected: Option<Answer>,
    /// Exit with status 1 if a check fails
    #[arg(long)]
    pub fail: bool,
    /// Report nothing: only print what would be reported
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub asking: Asking,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum Answer {
    Yes,
    No,
}

/// The API of the forge whose pipeline this process runs in.
#[derive(Debug)]
pub struct Forge {
    /// The URL of the repository in the API.
    pub url: String,
    /// The path of its branches below that.
    pub branches: &'static str,
    /// The default branch, if the pipeline says it.
    pub branch: Option<String>,
    /// A token that may read the repository.
    pub token: Secret,
}

impl Forge {
    /// Reads the variables of a pipeline of GitHub or GitLab. `None` if there is no token among them.
    pub(super) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let secret = |name: &str| Some(Secret::from(&*variable(name)?));
        if let (Some(api), Some(name), Some(token)) =
            (variable("GITHUB_API_URL"), variable("GITHUB_REPOSITORY"), secret("GITHUB_TOKEN"))
        {
            return Some(Self { url: format!("{api}/repos/{name}"), branches: "/branches", branch: None, token });
        }
        let (api, id, token) = (variable("CI_API_V4_URL")?, variable("CI_PROJECT_ID")?, secret("GITLAB_TOKEN")?);
        let branch = variable("CI_DEFAULT_BRANCH");
        Some(Self { url: format!("{api}/projects/{id}"), branches: "/repository/branches", branch, token })
    }
}
