//! The explorer: GraphiQL on a page of ours, where the session says whose requests they are.
//!
//! GraphiQL comes from npm, pinned by a lock file, and is part of the program when `npm ci && npm run build` was run in
//! this folder before the program was built. Without it the page has an editor of its own, which is enough to ask.

use std::sync::LazyLock;

use maud::{Markup, html};

use super::assets::Asset;
use super::layout::layout;
use super::visit::Visit;
use super::{Answer, Kind};

/// What stands in the editor at first.
const QUERY: &str = include_str!("default.graphql");

const PACKED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/explorer.rs"));

/// The files of GraphiQL; none where it was not built.
pub static FILES: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let asset = |(name, content): &(&str, &'static [u8])| Asset::packed(name, content);
    PACKED.iter().map(asset).collect()
});

/// The page.
pub fn page(visit: &Visit) -> Answer {
    let built = |end: &str| FILES.iter().find(|file| file.name.starts_with("explorer-") && file.name.ends_with(end));
    match (built(".js"), built(".css")) {
        (Some(script), Some(style)) => {
            let main = html! {
                link rel="stylesheet" href=(style.path());
                div #explorer data-query=(QUERY.trim_end()) {}
                noscript { p { "The explorer needs scripts." } }
                script type="module" src=(script.path()) {}
            };
            Answer::special(Kind::Editor, layout(visit, "Explorer", main))
        }
        _ => Answer::page(layout(visit, "Explorer", simple())),
    }
}

/// An editor of a few lines: see `script.js`.
fn simple() -> Markup {
    html! {
        form.query data-graphql="answer" {
            div.field {
                label for="query" { "Query" }
                textarea #query name="query" rows="16" spellcheck="false" autocapitalize="off" { "\n" (QUERY) }
            }
            div.field {
                label for="variables" { "Variables" }
                p.hint #variables-hint { "A JSON object; may be left empty." }
                textarea #variables name="variables" rows="3" spellcheck="false" autocapitalize="off"
                    aria-describedby="variables-hint" {}
            }
            button { "Run" } " " span.soft { "or Ctrl+Enter" }
            noscript { p.warning { "To run a query here the browser must run scripts." } }
        }
        h2 #answer-title { "Answer" }
        pre.answer #answer role="status" aria-labelledby="answer-title" tabindex="0" { "Nothing was asked yet." }
        p { "What can be asked is told in the " a href="/reference" { "schema reference" } "." }
        details {
            summary { "How to get the full explorer" }
            p { "This program was built without GraphiQL. With Node.js, in the folder of its source:" }
            pre tabindex="0" { code { "cd src/app/explorer && npm ci && npm run build" } }
            p { "Then build the program again." }
        }
    }
}
