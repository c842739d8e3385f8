//! The paths and addresses of our own pages, for everything that leads to one.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The characters that are encoded in a segment of a path: all but the unreserved ones of RFC 3986.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Joins segments to a path and encodes them.
pub fn path<const N: usize>(parts: [&str; N]) -> String {
    written(String::new(), parts)
}

/// The address of the page with this path, where the application is reached at `app_url`.
pub fn url<const N: usize>(app_url: &str, parts: [&str; N]) -> String {
    written(app_url.to_owned(), parts)
}

fn written<const N: usize>(mut text: String, parts: [&str; N]) -> String {
    for part in parts {
        text.push('/');
        match part {
            // Browsers resolve these segments even when encoded once.
            "." | ".." => text.push_str(&part.replace('.', "%252E")),
            part => text.extend(utf8_percent_encode(part, ENCODED)),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreserved_characters_stay_as_they_are() {
        let unreserved = "azAZ09-._~";
        assert_eq!(path(["services", unreserved]), format!("/services/{unreserved}"));
        assert_eq!(path(["teams", "a b/c?d#e%f\u{e4}"]), "/teams/a%20b%2Fc%3Fd%23e%25f%C3%A4");
        assert_eq!(path(["services", ".."]), "/services/%252E%252E");
        let url = url("https://rc.example.com", ["services", "session_store", "deploys"]);
        assert_eq!(url, "https://rc.example.com/services/session_store/deploys");
    }
}
