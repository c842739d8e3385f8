//! What a forge says of a repository: whether its default branch is protected.

use std::time::Duration;

use serde_json::Value as Json;

use crate::config::{self, Answer, Check, Forge};
use crate::outgoing::{self, authority};

/// How long a request to a forge may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: u64 = 1 << 20;

/// Whether the default branch is protected: as the arguments say, or else as the forge does, which is asked only if one of
/// `checks` asks for it.
///
/// # Errors
/// Why it is not known.
pub(super) fn is_protected(settings: &Check, checks: &Json) -> Result<bool, String> {
    if let Some(answer) = settings.branch_protected {
        return Ok(answer == Answer::Yes);
    }
    let is_asked = |one: &Json| one["check"]["__typename"] == "GitBranchProtectionCheck";
    if !checks["checks"].as_array().is_some_and(|checks| checks.iter().any(is_asked)) {
        return Err("nothing asks for it".to_owned());
    }
    let forge = config::forge().ok_or(
        "nothing says whether the default branch is protected: give --branch-protected, or the pipeline's GITHUB_TOKEN or \
         GITLAB_TOKEN",
    )?;
    let branch = match &forge.branch {
        Some(branch) => branch.clone(),
        None => {
            let said = ask(&forge, "")?;
            said["default_branch"].as_str().ok_or("the forge does not say which branch is the default one")?.to_owned()
        }
    };
    // Both GitHub and GitLab answer so, to whoever may read the repository.
    let said = ask(&forge, &format!("{}/{}", forge.branches, one_segment(&branch)))?;
    said["protected"]
        .as_bool()
        .ok_or_else(|| "the forge does not say whether the default branch is protected".to_owned())
}

/// The name of a branch as one segment of a path.
fn one_segment(branch: &str) -> String {
    form_urlencoded::byte_serialize(branch.as_bytes()).collect::<String>().replace('+', "%20")
}

/// Asks the forge about its repository. Blocks.
fn ask(forge: &Forge, path: &str) -> Result<Json, String> {
    let host = authority(&forge.url);
    let failed = |why: String| format!("{host} does not say whether the default branch is protected: {why}");
    let request = outgoing::agent().get(format!("{}{path}", forge.url));
    let request = request.config().timeout_global(Some(TIMEOUT)).build();
    let request = request.header("accept", "application/json");
    let request = request.header("authorization", format!("Bearer {}", forge.token.reveal()));
    let mut response = request.call().map_err(|error| failed(error.to_string()))?;
    let status = response.status().as_u16();
    if status != 200 {
        return Err(failed(format!("it answers {status}")));
    }
    let text = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_string();
    let text = text.map_err(|error| failed(error.to_string()))?;
    serde_json::from_str(&text).map_err(|_| failed("its answer is not JSON".to_owned()))
}
