//! How services would stand with the check of a form, before it is saved.

use maud::{Markup, html};
use serde_json::{Map, Value as Json, json};

use super::ask::ask_json;
use super::form::Mistakes;
use super::parts::count;
use super::visit::{Visit, path};
use super::{Fault, Site};
use crate::graphql::check;

/// The name that the check has meanwhile: no other check has it.
const NAME: &str = "The check of this form";

const PREVIEW: &str = "mutation($input: StandardsApplyInput!) { standardsApply(input: $input) {
    preview { checks {
        name counts { passed failed pending } misses { message service { name aliases } }
    } }
    errors { message }
} }";

/// Evaluates the check of this kind that an input describes. Adds the mistakes that the API finds.
pub async fn of(
    site: &Site,
    visit: &Visit,
    kind: &str,
    mut input: Map<String, Json>,
    mistakes: &mut Mistakes,
) -> Result<Option<Markup>, Fault> {
    let r#type = check::type_of(&format!("Check{kind}CreateInput")).ok_or(Fault::NotFound)?;
    input.insert("type".to_owned(), r#type.into());
    input.insert("name".to_owned(), NAME.into());
    // JSON is YAML.
    let file = json!({ "version": 1, "standards": { "checks": [input] } }).to_string();
    let variables = json!({ "input": { "files": [{ "path": "form", "text": file }], "dryRun": true } });
    let mut said = ask_json(site, visit, PREVIEW, variables).await?;
    let payload = said["standardsApply"].take();
    for error in payload["errors"].as_array().into_iter().flatten() {
        let message = error["message"].as_str().unwrap_or_default();
        let of_check = format!("the check \"{NAME}\": ");
        mistakes.push("", message.split_once(&of_check).map_or(message, |(_, message)| message));
    }
    let checks = payload["preview"]["checks"].as_array();
    let own = checks.and_then(|checks| checks.iter().find(|one| one["name"] == NAME));
    Ok(own.map(shown))
}

fn shown(check: &Json) -> Markup {
    let number = |name: &str| check["counts"][name].as_i64().unwrap_or_default();
    let (passed, failed, pending) = (number("passed"), number("failed"), number("pending"));
    let misses = check["misses"].as_array().map_or(&[][..], Vec::as_slice);
    let missed = failed + pending;
    html! {
        h2 #preview { "Preview" }
        p {
            "Nothing is saved. Of " (count(passed + missed, "service")) ", " (passed) " would pass, " (failed) " would fail"
            @if pending > 0 { ", and of " (pending) " nothing would be known yet" } "."
        }
        ul { @for miss in misses {
            li {
                @let service = &miss["service"];
                a href=(path(["services", service["aliases"][0].as_str().unwrap_or_default()])) { (service["name"].as_str().unwrap_or_default()) }
                " " span.soft { (miss["message"].as_str().unwrap_or_default()) }
            }
        } }
        @if usize::try_from(missed).unwrap_or_default() > misses.len() { p.soft { "The first " (misses.len()) " of " (missed) "." } }
    }
}
