//! The Atom syndication format (RFC 4287).

use maud::{PreEscaped, html};

use catalogue::entity::Timestamp;

/// A feed.
pub struct Feed {
    /// An IRI that stays the same, and that no other feed has.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// When it last changed.
    pub updated: Timestamp,
    /// Its own address, without the token.
    pub own: String,
    /// The address of the page that tells the same.
    pub page: String,
    /// Its entries, newest first.
    pub entries: Vec<Entry>,
}

/// An entry of a feed.
pub struct Entry {
    /// An IRI that stays the same, and that no other entry has.
    pub id: String,
    /// What happened, in a few words.
    pub title: String,
    /// When it happened.
    pub updated: Timestamp,
    /// The address of the page that tells more.
    pub page: String,
    /// Who did it.
    pub author: String,
    /// The details, as plain text.
    pub summary: String,
}

/// The feed as a document. Every value is a text, whatever characters it has.
pub fn written(feed: &Feed) -> String {
    let document = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" {
            id { (feed.id) }
            title { (feed.title) }
            updated { (feed.updated) }
            generator { "rollcall" }
            link rel="self" type="application/atom+xml" href=(feed.own) {}
            link rel="alternate" type="text/html" href=(feed.page) {}
            @for one in &feed.entries {
                entry {
                    id { (one.id) }
                    title { (one.title) }
                    updated { (one.updated) }
                    link rel="alternate" type="text/html" href=(one.page) {}
                    author { name { (one.author) } }
                    @if !one.summary.is_empty() { summary { (one.summary) } }
                }
            }
        }
    };
    let mut document = document.into_string();
    document.retain(is_of_xml);
    document
}

/// Whether XML 1.0 allows a character. It has no way to write the others. Of line ends, only newlines stay as they are.
fn is_of_xml(letter: char) -> bool {
    matches!(letter, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_a_text() {
        let hostile = "a<b>&\"'\u{0}\u{1b}\r\u{fffe}\u{1f980}]]>".to_owned();
        let entry = Entry {
            id: "tag:a,2026:1".to_owned(),
            title: hostile.clone(),
            updated: Timestamp::from_micros(0),
            page: "https://example.com/?a=1&b=2".to_owned(),
            author: hostile.clone(),
            summary: hostile.clone(),
        };
        let feed = Feed {
            id: "tag:a,2026:0".to_owned(),
            title: hostile,
            updated: Timestamp::from_micros(1),
            own: "https://example.com/feeds/deploys.atom".to_owned(),
            page: "https://example.com/deploys".to_owned(),
            entries: vec![entry],
        };
        let said = "a&lt;b&gt;&amp;&quot;'\u{1f980}]]&gt;";
        let expected = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\
             <id>tag:a,2026:0</id><title>{said}</title><updated>1970-01-01T00:00:00.000001Z</updated>\
             <generator>rollcall</generator>\
             <link rel=\"self\" type=\"application/atom+xml\" href=\"https://example.com/feeds/deploys.atom\"></link>\
             <link rel=\"alternate\" type=\"text/html\" href=\"https://example.com/deploys\"></link>\
             <entry><id>tag:a,2026:1</id><title>{said}</title><updated>1970-01-01T00:00:00Z</updated>\
             <link rel=\"alternate\" type=\"text/html\" href=\"https://example.com/?a=1&amp;b=2\"></link>\
             <author><name>{said}</name></author><summary>{said}</summary></entry></feed>"
        );
        assert_eq!(written(&feed), expected);
    }
}
