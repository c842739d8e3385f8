//! Renders Markdown as HTML: descriptions of services and teams, and of the SDL. HTML in it is shown as text, images as
//! their alternative text, and links may lead only to the web.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream};

/// The maximum length of a rendered text, in bytes. The rest is cut off.
pub const LONGEST_TEXT: usize = 24_000;
/// The maximum length of the resulting HTML, in bytes. A text that expands beyond it, such as deeply nested quotes, is
/// shown unrendered.
const LONGEST_HTML: usize = 32_000;

/// Renders text written by users. Line breaks are kept, headings are smaller than those of the page, and bare URLs
/// become links. A very long text is cut off.
pub fn prose(text: &str) -> Markup {
    let beginning = &text[..text.floor_char_boundary(LONGEST_TEXT)];
    let written = marked_up(beginning);
    let (shown, is_whole) = match written.0.len() <= LONGEST_HTML {
        true => (written, beginning.len() == text.len()),
        false => {
            let mut left = LONGEST_HTML;
            let fits = |letter: &char| {
                // The longest HTML escape has six bytes.
                let bytes = if letter.is_ascii_punctuation() { 6 } else { letter.len_utf8() };
                left.checked_sub(bytes).inspect(|rest| left = *rest).is_some()
            };
            let plain: String = beginning.chars().take_while(fits).collect();
            let is_whole = plain.len() == text.len();
            (html! { p.plain { (plain) } }, is_whole)
        }
    };
    html! {
        div.prose { (shown) }
        @if !is_whole { p.hint { "This text is cut off. Use the API to read all of it." } }
    }
}

fn marked_up(text: &str) -> Markup {
    let mut is_literal = false;
    // Rows of a table are filled up with empty cells, so a short text can have many. A text with more events than this
    // has more HTML than is shown.
    let written = TextMergeStream::new(events(text)).take(LONGEST_HTML).flat_map(move |event| match event {
        Event::SoftBreak => vec![Event::HardBreak],
        Event::Start(Tag::Heading { id, classes, attrs, .. }) => {
            vec![Event::Start(Tag::Heading { level: HeadingLevel::H3, id, classes, attrs })]
        }
        Event::End(TagEnd::Heading(_)) => vec![Event::End(TagEnd::Heading(HeadingLevel::H3))],
        Event::Start(Tag::Link { .. } | Tag::CodeBlock(_)) => {
            is_literal = true;
            vec![event]
        }
        Event::End(TagEnd::Link | TagEnd::CodeBlock) => {
            is_literal = false;
            vec![event]
        }
        Event::Text(text) if !is_literal && text.contains("://") => with_links(&text),
        event => vec![event],
    });
    render(written)
}

/// Renders the events as HTML.
pub fn render<'a>(events: impl Iterator<Item = Event<'a>>) -> Markup {
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, events);
    PreEscaped(html)
}

/// Parses a text into events without HTML. Links may lead only to the web or the schema reference.
pub fn events(text: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new_ext(text, Options::ENABLE_TABLES).map(|event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let is_web = ["https://", "http://", "#", "/reference/"].iter().any(|start| dest_url.starts_with(start));
            let dest_url = if is_web { dest_url } else { CowStr::Borrowed("#") };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::Start(Tag::Image { .. }) => Event::Start(Tag::Emphasis),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Emphasis),
        event => event,
    })
}

/// A link to a URL.
pub fn link<'a>(address: impl Into<CowStr<'a>>) -> Tag<'a> {
    let nothing = CowStr::Borrowed("");
    Tag::Link { link_type: LinkType::Inline, dest_url: address.into(), title: nothing.clone(), id: nothing }
}

/// Splits a text into words and turns URLs into links.
fn with_links<'a>(text: &str) -> Vec<Event<'a>> {
    let mut events = Vec::new();
    let mut plain = String::new();
    for word in text.split_inclusive(char::is_whitespace) {
        let start = word.find("https://").or_else(|| word.find("http://"));
        let Some((before, rest)) = start.map(|start| word.split_at(start)) else {
            plain.push_str(word);
            continue;
        };
        let is_end = |letter: char| letter.is_whitespace() || ".,;:!?)]}>\"'".contains(letter);
        let (address, after) = rest.split_at(rest.trim_end_matches(is_end).len());
        plain.push_str(before);
        events.push(Event::Text(std::mem::take(&mut plain).into()));
        events.push(Event::Start(link(address.to_owned())));
        events.push(Event::Text(address.to_owned().into()));
        events.push(Event::End(TagEnd::Link));
        plain.push_str(after);
    }
    events.push(Event::Text(plain.into()));
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let html = prose(text).into_string();
        html.trim_start_matches("<div class=\"prose\">").trim_end_matches("</div>").trim().to_owned()
    }

    #[test]
    fn html_is_shown_as_text_and_links_lead_only_to_the_web() {
        let html = shown("<script>alert(1)</script>\n\nA <b>bold</b> [word](javascript:alert(1)) ![x](y.png)");
        for forbidden in ["<script", "<b>", "javascript:", "<img"] {
            assert!(!html.contains(forbidden), "{html}");
        }
        for kept in ["&lt;script&gt;", "&lt;b&gt;bold", ">word</a>"] {
            assert!(html.contains(kept), "{html}");
        }
    }

    #[test]
    fn a_bare_url_becomes_a_link_without_the_punctuation_after_it() {
        let address = "https://wiki.example.com/run_book_a?b=1";
        let link = format!("<a href=\"{address}\">{address}</a>");
        assert_eq!(shown(&format!("See ({address}). Or <{address}>")), format!("<p>See ({link}). Or {link}</p>"));
        assert_eq!(shown(&format!("`{address}`")), format!("<p><code>{address}</code></p>"));
        assert_eq!(shown(&format!("[{address}]({address})")), format!("<p>{link}</p>"));
    }

    #[test]
    fn the_html_of_any_text_is_bounded() {
        for letter in [">", "\"", "&", "*a* ", "- ", "# \n", "\u{1f600}", "word ", "https://a.b "] {
            let long = letter.repeat(50_000 / letter.chars().count());
            let html = prose(&long).into_string();
            assert!(html.len() < 33_000 && html.contains("Use the API"), "{letter}: {}", html.len());
        }
        assert!(!prose(&"word ".repeat(4_000)).into_string().contains("the API"));
        assert!(prose(&">".repeat(5_000)).into_string().contains("<p class=\"plain\">&gt;&gt;"));
    }

    #[test]
    fn tables_are_tables_and_their_size_is_bounded() {
        let html = shown("| Alarm | Do |\n|---|---|\n| <b>disk</b> | `df` |");
        for part in ["<table>", "<th>Alarm</th>", "<td>&lt;b&gt;disk&lt;/b&gt;</td>", "<code>df</code>"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let wide = format!("{}\n{}\n{}", "|a".repeat(4_000), "|-".repeat(4_000), "|b\n".repeat(2_500));
        assert!(prose(&wide).into_string().len() < 33_000);
    }

    #[test]
    fn line_breaks_are_kept_and_headings_are_small() {
        assert_eq!(shown("one\ntwo"), "<p>one<br />\ntwo</p>");
        assert_eq!(shown("# Title"), "<h3>Title</h3>");
    }
}
