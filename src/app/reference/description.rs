//! Renders the SDL's Markdown descriptions as HTML.

use apollo_compiler::Schema;
use maud::Markup;
use pulldown_cmark::{Event, Tag, TagEnd};

use crate::markdown::{events, link, render};

/// The whole description. Type names in code become links.
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

fn linked<'a>(schema: &Schema, event: Event<'a>) -> Vec<Event<'a>> {
    let Event::Code(code) = &event else { return vec![event] };
    if !schema.types.contains_key(&**code) {
        return vec![event];
    }
    let link = link(format!("/reference/{code}"));
    vec![Event::Start(link), event, Event::End(TagEnd::Link)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        Schema::parse("type Query { team: Team } type Team { name: String }", "test.graphql").expect("a schema")
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
