//! The URLs of repositories, as files of other catalogues name them.

/// The host of a provider in the mapping of a repository.
pub(super) fn host_of(provider: &str) -> Option<&'static str> {
    match &*provider.to_lowercase() {
        "github" => Some("github.com"),
        "gitlab" => Some("gitlab.com"),
        "bitbucket" => Some("bitbucket.org"),
        _ => None,
    }
}

/// Returns the URL of a repository that is named by its path at a host, or by its URL. `None` if the path has not two parts.
pub(super) fn url_at(host: &str, named: &str) -> Option<String> {
    let named = named.trim();
    if named.contains("://") {
        return Some(repository_url(named));
    }
    let without_host = [format!("git@{host}:"), format!("{host}/")];
    let path = without_host.iter().find_map(|before| named.strip_prefix(&**before)).unwrap_or(named);
    let path = path.trim_matches('/');
    let is_path = path.contains('/') && path.split('/').all(|part| !part.is_empty());
    is_path.then(|| format!("https://{host}/{path}"))
}

/// The same, or else the text as it is, which is no URL.
pub(super) fn url_or_text(host: &str, named: &str) -> String {
    url_at(host, named).unwrap_or_else(|| named.to_owned())
}

/// Returns the URL of a repository: the part of a URL before the branch.
pub(super) fn repository_url(url: &str) -> String {
    let url = url.trim();
    let end = ["/-/", "/tree/", "/blob/", "/raw/", "/src/", "/edit/"].iter().filter_map(|mark| url.find(mark)).min();
    let url = url[..end.unwrap_or(url.len())].trim_end_matches('/');
    url.strip_suffix(".git").unwrap_or(url).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_of_a_host_is_named_by_its_path_or_its_url() {
        for (named, expected) in [
            ("org/b", Some("https://github.com/org/b")),
            (" /org/b/ ", Some("https://github.com/org/b")),
            ("https://github.com/org/b", Some("https://github.com/org/b")),
            ("https://github.com/org/b/tree/main", Some("https://github.com/org/b")),
            ("HTTPS://git.example.com/org/b.git", Some("HTTPS://git.example.com/org/b")),
            ("git@github.com:org/b", Some("https://github.com/org/b")),
            ("github.com/org/b", Some("https://github.com/org/b")),
            ("org", None),
            ("7", None),
            ("org/", None),
            ("/b", None),
            ("org//b", None),
            ("github.com/org", None),
            ("", None),
        ] {
            assert_eq!(url_at("github.com", named).as_deref(), expected, "{named}");
        }
    }
}
