//! What the check of a form asks, and how services would stand with it, before it is saved.

use maud::{Markup, html};
use serde_json::{Map, Value as Json, json};

use super::ask::ask_json;
use super::form::Mistakes;
use super::lacks::{Asked, Has, is_there};
use super::operations::ServicePropertyTypeEnum;
use super::parts::count;
use super::schema_form::Form;
use super::schema_words::message_in_words;
use super::standard_parts::{Miss, misses, with_links};
use super::visit::Visit;
use super::{Fault, Site, manual};
use catalogue::graphql::standards::check;

/// The name that the check has meanwhile: no other check has it.
const NAME: &str = "The check of this form";

/// What is selected of a check for its sentence.
const SENTENCE: &str = "name description";

/// What is selected of a check for its sentence and its result.
const WHOLE: &str = "name description counts { passed failed pending }
    misses { message service { name aliases owner { alias name } tier { alias } } }";

/// The check of a form, as it would be.
pub struct Preview {
    /// What it asks, in words.
    pub sentence: String,
    /// How services would stand.
    pub result: Markup,
}

/// Says when a service passes a check, from the check's description.
pub fn sentence_of(description: &str) -> String {
    match description.strip_prefix("The service ") {
        Some(rest) => format!("A service passes if it {}", with_links(rest)),
        None => description.to_owned(),
    }
}

/// Evaluates the check of this kind that an input describes. Adds the mistakes that the API finds.
pub async fn evaluate(
    site: &Site,
    visit: &Visit,
    kind: &str,
    input: Map<String, Json>,
    mistakes: &mut Mistakes,
) -> Result<Option<Preview>, Fault> {
    let asked = asked(kind, &input);
    let payload = tried(site, visit, kind, input, WHOLE).await?;
    let form = Form::new(site.catalogue.schema(), &format!("Check{kind}CreateInput"));
    let is_field = |name: &str| form.is_some_and(|form| form.has(name));
    for error in payload["errors"].as_array().into_iter().flatten() {
        let message = error["message"].as_str().unwrap_or_default();
        let of_check = format!("the check \"{NAME}\": ");
        let message = message.split_once(&of_check).map_or(message, |(_, message)| message);
        mistakes.push("", message_in_words(message, is_field));
    }
    let may = manual::may_answer_all(visit);
    let preview = |check: &Json| {
        let sentence = sentence_in(check);
        Preview { result: shown(check, &sentence, asked, may), sentence }
    };
    Ok(own(&payload).map(preview))
}

/// Says what the check of this kind asks that an input describes. `None` if the API finds mistakes, or takes too long.
pub async fn sentence(
    site: &Site,
    visit: &Visit,
    kind: &str,
    input: Map<String, Json>,
) -> Result<Option<String>, Fault> {
    match tried(site, visit, kind, input, SENTENCE).await {
        Ok(payload) => Ok(own(&payload).map(sentence_in)),
        Err(Fault::TooMuch(_)) => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Has the API apply a file with the check, in a dry run. Returns the payload, with what is selected of checks.
async fn tried(
    site: &Site,
    visit: &Visit,
    kind: &str,
    mut input: Map<String, Json>,
    selected: &str,
) -> Result<Json, Fault> {
    let r#type = type_of(kind).ok_or(Fault::NotFound)?;
    input.insert("type".to_owned(), r#type.into());
    input.insert("name".to_owned(), NAME.into());
    // JSON is YAML.
    let file = json!({ "version": 1, "standards": { "checks": [input] } }).to_string();
    let variables = json!({ "input": { "files": [{ "path": "form", "text": file }], "dryRun": true } });
    let document = format!(
        "mutation($input: StandardsApplyInput!) {{ standardsApply(input: $input) {{
            preview {{ checks {{ {selected} }} }} errors {{ message }}
        }} }}"
    );
    let mut said = ask_json(site, visit, &document, variables).await?;
    Ok(said["standardsApply"].take())
}

/// The word of a kind.
fn type_of(kind: &str) -> Option<String> {
    check::type_of(&format!("Check{kind}CreateInput"))
}

/// What the check of this kind asks that an input describes.
fn asked(kind: &str, input: &Map<String, Json>) -> Asked {
    let field = input.get("serviceProperty").and_then(Json::as_str);
    let field = field.and_then(|word| word.parse::<ServicePropertyTypeEnum>().ok());
    let definition = input.get("propertyDefinition").filter(|given| !given.is_null()).map(|_| "the property");
    let is_absence = |name: &&str| input.get(*name).is_some_and(|compared| compared["type"] == "does_not_exist");
    Asked {
        kind: type_of(kind).and_then(|word| word.parse().ok()),
        field: field.filter(|field| is_there(*field, definition)),
        is_absence: ["propertyValuePredicate", "tagPredicate"].iter().any(is_absence),
    }
}

/// The check of the form, in a payload.
fn own(payload: &Json) -> Option<&Json> {
    payload["preview"]["checks"].as_array()?.iter().find(|one| one["name"] == NAME)
}

fn sentence_in(check: &Json) -> String {
    sentence_of(check["description"].as_str().unwrap_or_default())
}

fn miss(asked: Asked, one: &Json) -> Miss<'_> {
    let service = &one["service"];
    let (name, owner, tier) = (service["name"].as_str(), &service["owner"], &service["tier"]);
    let owner = owner["alias"].as_str().zip(owner["name"].as_str());
    let service = name.zip(service["aliases"][0].as_str());
    let mend = asked.mended(Has { owner: owner.is_some(), tier: !tier.is_null() });
    Miss { service, owner, status: None, message: one["message"].as_str().unwrap_or_default(), answer: html! {}, mend }
}

fn shown(check: &Json, sentence: &str, asked: Asked, may: bool) -> Markup {
    let number = |name: &str| check["counts"][name].as_i64().unwrap_or_default();
    let (passed, failed, pending) = (number("passed"), number("failed"), number("pending"));
    let missing: Vec<Miss<'_>> = check["misses"].as_array().into_iter().flatten().map(|one| miss(asked, one)).collect();
    let missed = failed + pending;
    html! {
        h2 #preview { "Preview" }
        p { (sentence) }
        p {
            "Nothing is saved. Of " (count(passed + missed, "service")) ", " (passed) " would pass, " (failed) " would fail"
            @if pending > 0 { ", and of " (pending) " nothing would be known yet" } "."
        }
        (misses(&missing, may))
        @if usize::try_from(missed).unwrap_or_default() > missing.len() { p.soft { "The first " (missing.len()) " of " (missed) "." } }
    }
}
