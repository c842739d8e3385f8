//! The explorer: GraphiQL in one of our pages, using the visitor's session.
//!
//! GraphiQL comes from npm, pinned by a lock file. It is embedded if `npm ci && npm run build` ran in this folder
//! before the program was built. Otherwise the page has a simple editor of its own.
//!
//! Invariant: the page loads nothing from another origin. Its Content-Security-Policy, in `http/reply/`, refuses that.

use maud::{Markup, html};

use super::assets::EXPLORER;
use super::layout::layout;
use super::visit::Visit;
use super::{Answer, PagePolicy};

/// The initial query.
const QUERY: &str = include_str!("default.graphql");

/// Shows the explorer.
pub fn page(visit: &Visit) -> Answer {
    let built = |end: &str| EXPLORER.iter().find(|file| file.name.starts_with("explorer-") && file.name.ends_with(end));
    match (built(".js"), built(".css")) {
        (Some(script), Some(style)) => {
            let main = html! {
                link rel="stylesheet" href=(style.path());
                div #explorer data-query=(QUERY.trim_end()) {}
                noscript { p { "The explorer needs JavaScript." } }
                script type="module" src=(script.path()) {}
            };
            Answer::special(PagePolicy::Editor, layout(visit, "Explorer", main))
        }
        _ => Answer::page(layout(visit, "Explorer", simple())),
    }
}

/// The simple editor. `script.js` runs its queries.
fn simple() -> Markup {
    html! {
        form.query data-graphql="answer" {
            div.field {
                label for="query" { "Query" }
                textarea #query name="query" rows="16" spellcheck="false" autocapitalize="off" { "\n" (QUERY) }
            }
            div.field {
                label for="variables" { "Variables" }
                p.hint #variables-hint { "A JSON object. Optional." }
                textarea #variables name="variables" rows="3" spellcheck="false" autocapitalize="off"
                    aria-describedby="variables-hint" {}
            }
            button { "Run" } " " span.soft { "or Ctrl+Enter" }
            noscript { p.warning { "Enable JavaScript to run queries here." } }
        }
        h2 #answer-title { "Response" }
        pre.answer #answer role="status" aria-labelledby="answer-title" tabindex="0" { "The response appears here." }
        p { "See the " a href="/reference" { "schema reference" } "." }
        details {
            summary { "How to get the full explorer" }
            p { "This program was built without GraphiQL. To add it, install Node.js and run in the source folder:" }
            pre tabindex="0" { code { "cd src/app/explorer && npm ci && npm run build" } }
            p { "Then build the program again." }
        }
    }
}
