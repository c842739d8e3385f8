//! Descriptions of the SDL as HTML. They are Markdown; HTML in them is text.

use apollo_compiler::Schema;
use maud::{Markup, PreEscaped};
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// A description in full, where type names in code lead to their pages.
pub(super) fn full(schema: &Schema, text: &str) -> Markup {
    render(events(text).flat_map(|event| linked(schema, event)))
}

/// The first sentence, on one line and without links, for lists.
pub(super) fn summary(text: &str) -> Markup {
    let ends = text.match_indices(['.', '\n']);
    let mut sentences = ends.filter(|(at, _)| text[at + 1..].starts_with(char::is_whitespace));
    let text = sentences.next().map_or(text, |(at, _)| text[..=at].trim_end());
    let is_inline = |event: &Event<'_>| {
        !matches!(event, Event::Start(Tag::Paragraph | Tag::Link { .. }) | Event::End(TagEnd::Paragraph | TagEnd::Link))
    };
    render(events(text).filter(is_inline))
}

fn render<'a>(events: impl Iterator<Item = Event<'a>>) -> Markup {
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, events);
    PreEscaped(html)
}

/// What is no HTML and leads nowhere but to the web.
fn events(text: &str) -> impl Iterator<Item = Event<'_>> {
    Parser::new_ext(text, Options::empty()).map(|event| match event {
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

fn linked<'a>(schema: &Schema, event: Event<'a>) -> Vec<Event<'a>> {
    let Event::Code(code) = &event else { return vec![event] };
    if !schema.types.contains_key(&**code) {
        return vec![event];
    }
    let link = Tag::Link {
        link_type: LinkType::Inline,
        dest_url: format!("/reference/{code}").into(),
        title: CowStr::Borrowed(""),
        id: CowStr::Borrowed(""),
    };
    vec![Event::Start(link), event, Event::End(TagEnd::Link)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        Schema::parse("type Query { team: Team } type Team { name: String }", "test.graphql").expect("a schema")
    }

    #[test]
    fn html_in_a_description_is_text() {
        let html =
            full(&schema(), "<script>alert(1)</script>\n\nA <b>bold</b> [word](javascript:alert(1)) ![x](y.png)");
        for forbidden in ["<script", "<b>", "javascript:", "<img"] {
            assert!(!html.0.contains(forbidden), "{}", html.0);
        }
        for kept in ["&lt;script&gt;", "&lt;b&gt;bold", ">word</a>"] {
            assert!(html.0.contains(kept), "{}", html.0);
        }
    }

    #[test]
    fn a_type_name_in_code_leads_to_its_page() {
        let html = full(&schema(), "A `Team`, no `Crew`.");
        assert_eq!(html.0, "<p>A <a href=\"/reference/Team\"><code>Team</code></a>, no <code>Crew</code>.</p>\n");
    }

    #[test]
    fn a_summary_is_the_first_sentence() {
        assert_eq!(summary("Such as `github.com:x/y`. Another.").0, "Such as <code>github.com:x/y</code>.");
        assert_eq!(summary("On two\nlines. Another.").0, "On two\nlines.");
    }
}
