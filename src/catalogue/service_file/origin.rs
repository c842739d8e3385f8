//! Where files come from: a repository and a commit.

use crate::entity::{repository, text};
use crate::error::UserError;

/// The repository and the commit that files come from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The repository's address on the web.
    pub repository: Option<String>,
    /// The commit's hash.
    pub commit: Option<String>,
}

impl Origin {
    /// Checks an origin. Removes a user and a password from the repository's URL. Empty texts count as `None`.
    ///
    /// # Errors
    /// The repository is not a URL, or the commit is not a hash.
    pub fn new(repository: Option<&str>, commit: Option<&str>) -> Result<Self, UserError> {
        let repository = match repository.map(text::trim).filter(|text| !text.is_empty()) {
            None => None,
            Some(remote) => {
                let url = web_address(remote).filter(|url| repository::alias_of(url).is_some());
                let wrong = || UserError::new("repository", "repository must be the URL of a repository");
                Some(text::line("repository", &url.ok_or_else(wrong)?, text::URL)?)
            }
        };
        let commit = match commit.map(text::trim).filter(|text| !text.is_empty()) {
            Some(hash) if hash.len() > 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                return Err(UserError::new("commit", "commit must be the hash of a commit"));
            }
            commit => commit.map(str::to_lowercase),
        };
        Ok(Self { repository, commit })
    }
}

/// Converts a git remote to the URL of its web page, without a user, a password and `.git`.
fn web_address(remote: &str) -> Option<String> {
    let (scheme, rest) = match remote.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => ("http", rest.to_owned()),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https") => ("https", rest.to_owned()),
        // Drop the port, which is that of SSH.
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("ssh") || scheme.eq_ignore_ascii_case("git") => {
            let (authority, path) = rest.split_once('/')?;
            let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
            ("https", format!("{host}/{path}"))
        }
        Some(_) => return None,
        // git@host:owner/name
        None => {
            let (host, path) = remote.split_once(':').filter(|(host, _)| host.contains('@'))?;
            ("https", format!("{host}/{}", path.trim_start_matches('/')))
        }
    };
    let (authority, path) = rest.split_once('/')?;
    let host = authority.rsplit('@').next()?.to_lowercase();
    let path = path.split(['?', '#']).next()?.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let is_plain = |text: &str| text.chars().all(|letter| letter.is_ascii_graphic() && !"\"<>\\^`{|}".contains(letter));
    (!host.is_empty() && !path.is_empty() && is_plain(&host) && is_plain(path))
        .then(|| format!("{scheme}://{host}/{path}"))
}

/// Returns the URL of the web page of a file at a commit, in the form of the repository's host.
pub fn address_of(repository: &str, commit: &str, path: &str) -> String {
    let host = repository.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let path: String = form_urlencoded::byte_serialize(path.as_bytes()).collect();
    let path = path.replace("%2F", "/").replace('+', "%20");
    if host.contains("gitlab") {
        format!("{repository}/-/blob/{commit}/{path}")
    } else if host.contains("bitbucket") {
        format!("{repository}/src/{commit}/{path}")
    } else if host == "dev.azure.com" || host.ends_with(".visualstudio.com") {
        format!("{repository}?path=/{path}&version=GC{commit}")
    } else if ["codeberg", "forgejo", "gitea"].iter().any(|name| host.contains(name)) {
        format!("{repository}/src/commit/{commit}/{path}")
    } else {
        format!("{repository}/blob/{commit}/{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_remote_becomes_the_url_of_its_web_page() {
        for (remote, expected) in [
            ("https://github.com/org/cart.git", Some("https://github.com/org/cart")),
            (
                "https://ci-token:secret@GitLab.example.com:8443/a/b/cart.git",
                Some("https://gitlab.example.com:8443/a/b/cart"),
            ),
            ("git@github.com:org/cart.git", Some("https://github.com/org/cart")),
            ("ssh://git@git.example.com:7999/org/cart.git", Some("https://git.example.com/org/cart")),
            ("http://10.0.0.1/org/cart?token=secret", Some("http://10.0.0.1/org/cart")),
            ("file:///srv/cart.git", None),
            ("/srv/cart.git", None),
            ("javascript:alert(1)", None),
            ("https://github.com/", None),
        ] {
            let found = Origin::new(Some(remote), None).ok().and_then(|origin| origin.repository);
            assert_eq!(found.as_deref(), expected, "{remote}");
        }
    }

    #[test]
    fn the_url_of_a_file_has_the_form_of_its_host() {
        for (repository, expected) in [
            ("https://github.com/org/cart", "https://github.com/org/cart/blob/c0ffee/a%20b/%3Fcart.yml"),
            ("https://gitlab.com/org/cart", "https://gitlab.com/org/cart/-/blob/c0ffee/a%20b/%3Fcart.yml"),
            ("https://bitbucket.org/org/cart", "https://bitbucket.org/org/cart/src/c0ffee/a%20b/%3Fcart.yml"),
            ("https://codeberg.org/org/cart", "https://codeberg.org/org/cart/src/commit/c0ffee/a%20b/%3Fcart.yml"),
            (
                "https://dev.azure.com/o/p/_git/cart",
                "https://dev.azure.com/o/p/_git/cart?path=/a%20b/%3Fcart.yml&version=GCc0ffee",
            ),
        ] {
            assert_eq!(address_of(repository, "c0ffee", "a b/?cart.yml"), expected);
        }
    }

    #[test]
    fn a_commit_is_a_hash() {
        assert_eq!(Origin::new(None, Some(" C0FFEE ")).expect("a hash").commit.as_deref(), Some("c0ffee"));
        assert!(Origin::new(None, Some("main")).is_err());
    }
}
