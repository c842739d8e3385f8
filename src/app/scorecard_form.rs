//! The form that changes a scorecard. It has the fields of the form of a new one: both follow from the same input
//! ([`check_form`](super::check_form)).

use maud::{Markup, html};
use serde_json::{Map, Value as Json, json};

use super::ask::{ask, ask_json, settled, unanswered};
use super::check_form::{Beside, Sheet, input, mistakes_of, other_sheet, page};
use super::form::Mistakes;
use super::operations::DeleteScorecard;
use super::parts::delete_button;
use super::picker;
use super::scorecards;
use super::visit::{Fields, Method, Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::user::Role;

/// The input of its mutations.
const INPUT: &str = "ScorecardInput";

/// Shows the page of a scorecard or its form, or handles the form.
pub async fn answer(site: &Site, visit: &Visit, session: &Session, path: &[&str]) -> Result<Answer, Fault> {
    use Method::{Get, Post};
    // All others are forms.
    if path.len() > 3 {
        session.require(Role::StandardsAdmin)?;
    }
    match (visit.method, path) {
        (Get, ["standards", "scorecards", alias]) => scorecards::detail(site, visit, session, alias).await,
        (Get, ["standards", "scorecards", alias, "edit"]) => edit(site, visit, alias).await,
        (Post, ["standards", "scorecards", alias, "edit"]) => change(site, visit, alias).await,
        (Post, ["standards", "scorecards", alias, "delete"]) => delete(site, visit, alias).await,
        _ => Err(Fault::NotFound),
    }
}

/// Finds a scorecard: its form, and the fields with what it is now.
async fn find<'s>(site: &'s Site, visit: &Visit, alias: &str) -> Result<(Sheet<'s>, Fields), Fault> {
    let schema = site.catalogue.schema();
    let mut sheet = other_sheet(schema, "scorecard")?;
    let selection = schema.get_object("Scorecard").map(|object| sheet.form.selection(object)).ok_or(Fault::NotFound)?;
    let query =
        format!("query($alias: String!) {{ account {{ scorecard(input: {{ alias: $alias }}) {{ {selection} }} }} }}");
    let found = ask_json(site, visit, &query, json!({ "alias": alias })).await?;
    let scorecard = &found["account"]["scorecard"];
    if scorecard.is_null() {
        return Err(Fault::NotFound);
    }
    let fields = sheet.form.filled(scorecard);
    let name = fields.get("name").to_owned();
    sheet.title = format!("Edit {name}");
    sheet.action = path(["standards", "scorecards", alias, "edit"]);
    sheet.own = Some((path(["standards", "scorecards", alias]), name));
    Ok((sheet, fields))
}

/// What follows the form.
fn deletion(alias: &str, name: &str) -> Markup {
    let to = path(["standards", "scorecards", alias, "delete"]);
    html! {
        h2 { "Delete" }
        p { "Its category is deleted with it. A scorecard that has checks cannot be deleted: delete its checks first." }
        (delete_button(&to, "Delete", name, "Delete this scorecard, with its category?"))
    }
}

async fn edit(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let (sheet, fields) = find(site, visit, alias).await?;
    let shown = picker::spoken(site, visit, fields.clone()).await?;
    let beside = Beside { after: Some(deletion(alias, fields.get("name"))), ..Beside::default() };
    Ok(Answer::page(page(site, visit, &sheet, &shown, &beside).await?))
}

async fn change(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let (sheet, fields) = find(site, visit, alias).await?;
    let mistakes = match input(site, visit, &sheet, None).await? {
        Ok(input) => save(site, visit, alias, input).await?,
        Err(mistakes) => mistakes,
    };
    if mistakes.is_empty() {
        return Ok(Answer::redirect(path(["standards", "scorecards", alias])));
    }
    let beside = Beside { mistakes, after: Some(deletion(alias, fields.get("name"))), ..Beside::default() };
    Ok(Answer::refused(page(site, visit, &sheet, &visit.form, &beside).await?))
}

/// Changes a scorecard. Returns the mistakes in the input, none if it is done.
async fn save(site: &Site, visit: &Visit, alias: &str, mut input: Map<String, Json>) -> Result<Mistakes, Fault> {
    // That it must be given is said best by the API.
    if let Some(owner @ Json::Null) = input.get_mut("ownerId") {
        *owner = "".into();
    }
    let document = format!(
        "mutation($scorecard: IdentifierInput!, $input: {INPUT}!) {{ scorecardUpdate(scorecard: $scorecard, input: $input) \
         {{ errors {{ message path }} }} }}"
    );
    let variables = json!({ "scorecard": { "alias": alias }, "input": input });
    let data = ask_json(site, visit, &document, variables).await?;
    Ok(mistakes_of(site, INPUT, &data["scorecardUpdate"]))
}

async fn delete(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let done = ask(site, visit, DeleteScorecard { alias }).await?.scorecard_delete.ok_or_else(unanswered)?;
    let Err(mistakes) = settled(done.errors) else {
        return Ok(Answer::redirect("/standards#scorecards"));
    };
    let (sheet, fields) = find(site, visit, alias).await?;
    let shown = picker::spoken(site, visit, fields.clone()).await?;
    let beside = Beside { mistakes, after: Some(deletion(alias, fields.get("name"))), ..Beside::default() };
    Ok(Answer::refused(page(site, visit, &sheet, &shown, &beside).await?))
}
