//! Content negotiation: reads the `Accept…` headers (RFC 9110, section 12.5).

use hyper::header::{self, HeaderMap, HeaderName};

/// The preference for a media type: its weight, and how specifically `Accept` names it.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Wanted {
    /// From 0 (not acceptable) to 1.
    pub weight: f32,
    /// 2 for an exact match, 1 for `type/*`, 0 for `*/*`.
    pub closeness: u8,
}

/// Returns the preference for `main/sub`. The most specific range decides.
pub fn media(headers: &HeaderMap, main: &str, sub: &str) -> Option<Wanted> {
    let wanted = entries(headers, &header::ACCEPT).filter_map(|(range, weight)| {
        let (range_main, range_sub) = range.split_once('/')?;
        let closeness = match (range_main.eq_ignore_ascii_case(main), range_sub.eq_ignore_ascii_case(sub)) {
            (true, true) => 2,
            (true, false) if range_sub == "*" => 1,
            (false, _) if range == "*/*" => 0,
            _ => return None,
        };
        Some(Wanted { weight, closeness })
    });
    wanted.max_by_key(|wanted| wanted.closeness)
}

/// Whether the client prefers a page to JSON, as browsers do.
pub fn prefers_page(headers: &HeaderMap) -> bool {
    let page = media(headers, "text", "html").filter(|page| page.closeness == 2);
    page.is_some_and(|page| page.weight > 0.0 && Some(page) > media(headers, "application", "json"))
}

/// The entries of a list header such as `gzip;q=0.5`, with their weights.
pub fn entries<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = (&'h str, f32)> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(|entry| {
        let mut parts = entry.split(';').map(str::trim);
        let what = parts.next().unwrap_or_default();
        let weight = parts.find_map(|parameter| parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q=")));
        let weight = weight.and_then(|weight| weight.parse().ok()).filter(|weight| (0.0..=1.0).contains(weight));
        (what, weight.unwrap_or(1.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_prefers_a_page_and_a_program_does_not() {
        for (accept, page) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8", true),
            ("text/html, application/xhtml+xml, */*", true),
            ("text/html;q=0.1", true),
            ("application/json;q=0.5, TEXT/HTML", true),
            ("text/html;q=0", false),
            ("text/*", false),
            ("*/*", false),
            ("application/json", false),
            ("application/json, text/html", false),
            ("text/html;q=0.5, */*", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().expect("a header"))]);
            assert_eq!(prefers_page(&headers), page, "{accept}");
        }
        assert!(!prefers_page(&HeaderMap::new()));
    }
}
