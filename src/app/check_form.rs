//! The forms of checks of all kinds, and of what they belong to: levels, categories and scorecards. They follow from the
//! inputs of the mutations ([`schema_form`](super::schema_form)). A check of custom events can be tried before it is saved.
//!
//! The form of a check says in a sentence what it asks. A script asks for the sentence again as the form is filled in.

use apollo_compiler::schema::FieldDefinition;
use apollo_compiler::{Name, Schema};
use maud::{Markup, html};
use serde_json::{Map, Value as Json, json};

use super::ask::{ask, ask_json};
use super::check_preview::sentence_of;
use super::form::Mistakes;
use super::group_form::owner_id;
use super::layout::{below, layout};
use super::operations::{CheckChoices, check_choices::Account as Found};
use super::parts::empty;
use super::picker;
use super::schema_form::Form;
use super::schema_words::{label, message_in_words, plain};
use super::standard_parts::{address, name};
use super::visit::{Fields, Session, Visit, path};
use super::{Answer, Fault, Site, check_preview, event_check};
use catalogue::entity::user::Role;

/// The kind of check that can be tried.
const EVENT: &str = "custom-event";

/// What else has a form: the word in the address, the noun, the mutation, and where its page or list is.
const OTHERS: [(&str, &str, &str, &str); 3] = [
    ("level", "level", "levelCreate", "/standards"),
    ("category", "category", "categoryCreate", "/standards"),
    ("scorecard", "scorecard", "scorecardCreate", "/standards#scorecards"),
];

/// A kind of check.
struct CheckKind<'s> {
    /// The word in the address, such as `tag-defined`.
    word: String,
    /// The name, such as `TagDefined`.
    name: &'s str,
    /// What it asks, as a sentence.
    asks: String,
}

/// The kinds of checks, as the SDL has them.
fn kinds(schema: &Schema) -> Vec<CheckKind<'_>> {
    let mutations = schema.get_object("Mutation").map(|mutation| &mutation.fields);
    mutations.into_iter().flatten().filter_map(|(name, field)| kind_of(name, field)).collect()
}

fn kind_of<'s>(mutation: &'s Name, field: &FieldDefinition) -> Option<CheckKind<'s>> {
    let name = schema_name(mutation)?;
    let word = label(name).to_lowercase().replace(' ', "-");
    let sentences = field.description.as_deref().unwrap_or_default().split(". ");
    // What another mutation does is for programs.
    let sentences: Vec<&str> = sentences.filter(|sentence| !sentence.starts_with("`check")).collect();
    let asks = plain(&sentences.join(". ")).replacen("Creates a check. ", "", 1);
    Some(CheckKind { word, name, asks: asks.split(" There are at most").next().unwrap_or_default().to_owned() })
}

/// The name of the kind of check that a mutation creates.
fn schema_name(mutation: &Name) -> Option<&str> {
    let name = mutation.as_str().strip_prefix("check")?.strip_suffix("Create")?;
    name.starts_with(char::is_uppercase).then_some(name)
}

fn kind<'s>(schema: &'s Schema, is: impl Fn(&CheckKind<'_>) -> bool) -> Result<CheckKind<'s>, Fault> {
    kinds(schema).into_iter().find(|kind| is(kind)).ok_or(Fault::NotFound)
}

/// Lists the kinds of checks.
pub fn choose(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    session.require(Role::StandardsAdmin)?;
    let main = html! {
        p { "A check asks one question about each service. What should it ask?" }
        ul { @for kind in kinds(site.catalogue.schema()) {
            li { a href=(path(["new", "check", &kind.word])) { (label(kind.name)) } " " span.soft { (kind.asks) } }
        } }
    };
    Ok(Answer::page(layout(visit, "New check", main)))
}

/// A form: what it is for, and where it is sent.
pub struct Sheet<'s> {
    /// Its fields.
    pub form: Form<'s>,
    /// The title of its page.
    pub title: String,
    lead: String,
    /// Where it is sent.
    pub action: String,
    /// The name of the kind of check, such as `TagDefined`.
    kind: Option<String>,
    /// Whether its expressions can be tried.
    is_tried: bool,
    /// What it changes: the path of its page, and its name.
    pub own: Option<(String, String)>,
}

/// The form of a new check.
fn sheet<'s>(schema: &'s Schema, kind: &CheckKind<'_>) -> Result<Sheet<'s>, Fault> {
    let form = Form::new(schema, &format!("Check{}CreateInput", kind.name)).ok_or(Fault::NotFound)?;
    Ok(Sheet {
        form,
        title: format!("New check: {}", label(kind.name).to_lowercase()),
        lead: kind.asks.clone(),
        action: path(["new", "check", &kind.word]),
        kind: Some(kind.name.to_owned()),
        is_tried: kind.word == EVENT,
        own: None,
    })
}

/// Shows the form for a new check of a kind.
pub async fn new(site: &Site, visit: &Visit, session: &Session, word: &str) -> Result<Answer, Fault> {
    session.require(Role::StandardsAdmin)?;
    let kind = kind(site.catalogue.schema(), |kind| kind.word == word)?;
    let sheet = sheet(site.catalogue.schema(), &kind)?;
    let fields = Fields::one("integrationId", visit.query.get("integration"));
    Ok(Answer::page(page(site, visit, &sheet, &fields, &Beside::default()).await?))
}

/// Creates a check, or says something of it that is not saved.
pub async fn create(site: &Site, visit: &Visit, word: &str) -> Result<Answer, Fault> {
    let kind = kind(site.catalogue.schema(), |kind| kind.word == word)?;
    let sheet = sheet(site.catalogue.schema(), &kind)?;
    if let Some(answer) = unsaved(site, visit, &sheet).await? {
        return Ok(answer);
    }
    let mut input = match input(site, visit, &sheet, None).await? {
        Ok(input) => input,
        Err(mistakes) => return refused(site, visit, &sheet, mistakes).await,
    };
    input.retain(|_, value| !value.is_null());
    let mutation = format!("check{}Create", kind.name);
    match run(site, visit, &mutation, &format!("Check{}CreateInput", kind.name), input, "check { id }").await? {
        Ok(done) => Ok(Answer::redirect(address(done["check"]["id"].as_str().unwrap_or_default()))),
        Err(mistakes) => refused(site, visit, &sheet, mistakes).await,
    }
}

/// The input that the form has, with the owner's id: all of it, or what differs from `before` for the input `update`.
pub async fn input(
    site: &Site,
    visit: &Visit,
    sheet: &Sheet<'_>,
    before: Option<(&str, &Fields)>,
) -> Result<Result<Map<String, Json>, Mistakes>, Fault> {
    let mut mistakes = Mistakes::none();
    let mut input = match before {
        Some((update, before)) => sheet.form.differing(update, &visit.form, before, &mut mistakes),
        None => sheet.form.input(&visit.form, &mut mistakes),
    };
    if input.contains_key("ownerId") {
        match owner_id(site, visit, visit.form.given("ownerId")).await? {
            Ok(owner) => {
                input.insert("ownerId".to_owned(), owner.into());
            }
            Err(unknown) => return Ok(Err(unknown)),
        }
    }
    Ok(if mistakes.is_empty() { Ok(input) } else { Err(mistakes) })
}

/// Runs a mutation. Returns its payload, or the mistakes in its input.
async fn run(
    site: &Site,
    visit: &Visit,
    mutation: &str,
    ty: &str,
    input: Map<String, Json>,
    selected: &str,
) -> Result<Result<Json, Mistakes>, Fault> {
    let document =
        format!("mutation($input: {ty}!) {{ {mutation}(input: $input) {{ {selected} errors {{ message path }} }} }}");
    let mut data = ask_json(site, visit, &document, json!({ "input": input })).await?;
    let payload = data[mutation].take();
    let mistakes = mistakes_of(site, ty, &payload);
    Ok(if mistakes.is_empty() { Ok(payload) } else { Err(mistakes) })
}

/// The mistakes that a payload reports in an input of this type.
pub fn mistakes_of(site: &Site, ty: &str, payload: &Json) -> Mistakes {
    let mut mistakes = Mistakes::none();
    let form = Form::new(site.catalogue.schema(), ty);
    let is_field = |name: &str| form.is_some_and(|form| form.has(name));
    for error in payload["errors"].as_array().into_iter().flatten() {
        let path: Vec<&str> = error["path"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        let message = message_in_words(error["message"].as_str().unwrap_or_default(), is_field);
        mistakes.push(path.join("."), message);
    }
    mistakes
}

/// A check as it is.
struct Stored<'s> {
    kind: CheckKind<'s>,
    sheet: Sheet<'s>,
    /// The fields of its form.
    fields: Fields,
    /// What it asks, in words.
    sentence: Option<String>,
}

/// Finds a check.
async fn find<'s>(site: &'s Site, visit: &Visit, id: &str) -> Result<Stored<'s>, Fault> {
    let schema = site.catalogue.schema();
    let class = "query($id: ID!) { account { check(id: $id) { __typename } } }";
    let class = ask_json(site, visit, class, json!({ "id": id })).await?;
    let class = class["account"]["check"]["__typename"].as_str().ok_or(Fault::NotFound)?;
    let kind = kind(schema, |kind| class.strip_suffix("Check") == Some(kind.name))?;
    let new = sheet(schema, &kind)?;
    let object = schema.get_object(class).ok_or(Fault::NotFound)?;
    let selection = new.form.selection(object);
    let selection = format!("description ... on {class} {{ {selection} }}");
    let query = format!("query($id: ID!) {{ account {{ check(id: $id) {{ {selection} }} }} }}");
    let found = ask_json(site, visit, &query, json!({ "id": id })).await?;
    let check = &found["account"]["check"];
    let (fields, sentence) = (new.form.filled(check), check["description"].as_str().map(sentence_of));
    let name = fields.get("name").to_owned();
    let (title, action) = (format!("Edit {name}"), path(["standards", id, "edit"]));
    let sheet = Sheet { title, action, own: Some((address(id), name)), ..new };
    Ok(Stored { kind, sheet, fields, sentence })
}

/// Shows the form of a check.
pub async fn edit(site: &Site, visit: &Visit, session: &Session, id: &str) -> Result<Answer, Fault> {
    session.require(Role::StandardsAdmin)?;
    let Stored { sheet, fields, sentence, .. } = find(site, visit, id).await?;
    let fields = picker::spoken(site, visit, fields).await?;
    let beside = Beside { sentence, ..Beside::default() };
    Ok(Answer::page(page(site, visit, &sheet, &fields, &beside).await?))
}

/// Changes a check, switches it on or off, deletes it, or says something of it that is not saved.
pub async fn change(site: &Site, visit: &Visit, id: &str, what: &str) -> Result<Answer, Fault> {
    if what == "delete" {
        let input = Map::from_iter([("id".to_owned(), id.into())]);
        return Ok(match run(site, visit, "checkDelete", "CheckDeleteInput", input, "").await? {
            Ok(_) => Answer::redirect("/standards"),
            Err(mistakes) => Answer::refused(layout(visit, "Delete check", mistakes.summary(&[]))),
        });
    }
    let Stored { kind, sheet, fields, .. } = find(site, visit, id).await?;
    if what == "edit"
        && let Some(answer) = unsaved(site, visit, &sheet).await?
    {
        return Ok(answer);
    }
    let visit = &match what {
        "edit" => visit.clone(),
        "switch" => Visit { form: fields.clone().and("enabled", visit.form.get("enabled")), ..visit.clone() },
        _ => return Err(Fault::NotFound),
    };
    let update = format!("Check{}UpdateInput", kind.name);
    let mut input = match input(site, visit, &sheet, Some((&*update, &fields))).await? {
        Ok(input) => input,
        Err(mistakes) => return refused(site, visit, &sheet, mistakes).await,
    };
    input.insert("id".to_owned(), id.into());
    if what == "switch" {
        // From now on, whatever moment was set.
        input.insert("enableOn".to_owned(), Json::Null);
        input.insert("enabled".to_owned(), (visit.form.get("enabled") == "yes").into());
    }
    match run(site, visit, &format!("check{}Update", kind.name), &update, input, "").await? {
        Ok(_) => Ok(Answer::redirect(address(id))),
        Err(mistakes) => refused(site, visit, &sheet, mistakes).await,
    }
}

async fn refused(site: &Site, visit: &Visit, sheet: &Sheet<'_>, mistakes: Mistakes) -> Result<Answer, Fault> {
    let beside = Beside { mistakes, ..Beside::default() };
    Ok(Answer::refused(page(site, visit, sheet, &visit.form, &beside).await?))
}

/// Answers what a form is sent for beside saving it. `None` if it is to be saved.
async fn unsaved(site: &Site, visit: &Visit, sheet: &Sheet<'_>) -> Result<Option<Answer>, Fault> {
    Ok(Some(match visit.form.get("do") {
        "try" if sheet.is_tried => tried(site, visit, sheet).await?,
        "preview" => previewed(site, visit, sheet).await?,
        "sentence" => sentence(site, visit, sheet).await?,
        _ => return Ok(None),
    }))
}

/// Shows the form again, with what its expressions say of the newest event.
async fn tried(site: &Site, visit: &Visit, sheet: &Sheet<'_>) -> Result<Answer, Fault> {
    let (mistakes, preview) = event_check::tried(site, visit).await?;
    let beside = Beside { mistakes, sentence: None, after: preview.as_ref().map(event_check::shown) };
    Ok(Answer::page(page(site, visit, sheet, &visit.form, &beside).await?))
}

/// Shows the form again, with how services would stand.
async fn previewed(site: &Site, visit: &Visit, sheet: &Sheet<'_>) -> Result<Answer, Fault> {
    let mut beside = Beside::default();
    match (input(site, visit, sheet, None).await?, &sheet.kind) {
        (Ok(mut input), Some(kind)) => {
            input.retain(|_, value| !value.is_null());
            let preview = check_preview::evaluate(site, visit, kind, input, &mut beside.mistakes).await?;
            (beside.sentence, beside.after) = preview.map(|one| (one.sentence, one.result)).unzip();
        }
        (Ok(_), None) => {}
        (Err(mistakes), _) => beside.mistakes = mistakes,
    }
    Ok(Answer::page(page(site, visit, sheet, &visit.form, &beside).await?))
}

/// Answers the script: with the sentence alone, which is empty for a form with mistakes.
async fn sentence(site: &Site, visit: &Visit, sheet: &Sheet<'_>) -> Result<Answer, Fault> {
    let mut mistakes = Mistakes::none();
    let mut input = sheet.form.input(&visit.form, &mut mistakes);
    // The sentence does not say who owns it. The name may be half written.
    input.retain(|name, value| name != "ownerId" && !value.is_null());
    let sentence = match &sheet.kind {
        Some(kind) if mistakes.is_empty() => check_preview::sentence(site, visit, kind, input).await?,
        _ => None,
    };
    Ok(Answer::page(said(sentence.as_deref())))
}

/// The place of the sentence, which the script fills again.
fn said(sentence: Option<&str>) -> Markup {
    html! {
        p.asks #asks aria-live="polite" { @if let Some(sentence) = sentence { (sentence) } }
    }
}

fn other_form(what: &str) -> Result<(&'static str, &'static str, &'static str), Fault> {
    let found = OTHERS.iter().find(|(word, ..)| *word == what);
    found.map(|(_, noun, mutation, list)| (*noun, *mutation, *list)).ok_or(Fault::NotFound)
}

/// The input of a mutation.
fn input_of<'s>(schema: &'s Schema, mutation: &str) -> Option<&'s str> {
    let field = schema.get_object("Mutation")?.fields.get(mutation)?;
    Some(field.arguments.first()?.ty.inner_named_type().as_str())
}

/// The form of a new level, category or scorecard.
pub fn other_sheet<'s>(schema: &'s Schema, what: &str) -> Result<Sheet<'s>, Fault> {
    let (noun, mutation, _) = other_form(what)?;
    let form = input_of(schema, mutation).and_then(|input| Form::new(schema, input)).ok_or(Fault::NotFound)?;
    let (title, action) = (format!("New {noun}"), path(["new", what]));
    Ok(Sheet { form, title, lead: String::new(), action, kind: None, is_tried: false, own: None })
}

/// Shows the form for a new level, category or scorecard.
pub async fn new_other(site: &Site, visit: &Visit, session: &Session, what: &str) -> Result<Answer, Fault> {
    session.require(Role::StandardsAdmin)?;
    let sheet = other_sheet(site.catalogue.schema(), what)?;
    Ok(Answer::page(page(site, visit, &sheet, &Fields::default(), &Beside::default()).await?))
}

/// Creates a level, a category or a scorecard.
pub async fn create_other(site: &Site, visit: &Visit, what: &str) -> Result<Answer, Fault> {
    let schema = site.catalogue.schema();
    let (sheet, (_, mutation, list)) = (other_sheet(schema, what)?, other_form(what)?);
    let mut input = match input(site, visit, &sheet, None).await? {
        Ok(input) => input,
        Err(mistakes) => return refused(site, visit, &sheet, mistakes).await,
    };
    // That it must be given is said best by the API.
    if let Some(owner @ Json::Null) = input.get_mut("ownerId") {
        *owner = "".into();
    }
    input.retain(|_, value| !value.is_null());
    let ty = input_of(schema, mutation).unwrap_or_default();
    match run(site, visit, mutation, ty, input, "").await? {
        Ok(_) => Ok(Answer::redirect(list)),
        Err(mistakes) => refused(site, visit, &sheet, mistakes).await,
    }
}

/// What a page shows beside the fields of its form.
#[derive(Default)]
pub struct Beside {
    /// What is wrong with what was sent.
    pub mistakes: Mistakes,
    /// What the check asks, in words.
    pub sentence: Option<String>,
    /// What follows the form: how services would stand, or what else can be done.
    pub after: Option<Markup>,
}

/// The page of a form.
pub async fn page(
    site: &Site,
    visit: &Visit,
    sheet: &Sheet<'_>,
    fields: &Fields,
    beside: &Beside,
) -> Result<Markup, Fault> {
    let is_check = sheet.kind.is_some();
    let found = ask(site, visit, CheckChoices {}).await?.account;
    let offered = |field: &str| offered(&found, field);
    let is_empty = |field: &str| sheet.form.has(field) && offered(field).is_some_and(|choices| choices.is_empty());
    let main = html! {
        @if !sheet.lead.is_empty() { p { (sheet.lead) } }
        @if is_empty("levelId") || is_empty("categoryId") {
            (empty("Something is missing.", html! {
                p { "A check belongs to a level and a category: " a href="/new/level" { "create a level" } ", "
                    a href="/new/category" { "create a category" } "." }
            }))
        }
        @if is_empty("integrationId") {
            (empty("There is no integration yet.", html! {
                p { "Your tools post events to one, and the check judges them." }
                p { a.button href="/integrations/new?type=customEvent" { "Add event integration" } }
            }))
        }
        form data-asks=[is_check.then_some("asks")] method="post" action=(sheet.action) {
            (sheet.form.show(&offered, fields, &beside.mistakes))
            @if is_check { (said(beside.sentence.as_deref())) }
            div.actions {
                @if sheet.is_tried { button.quiet name="do" value="try" { "Try on the newest event" } }
                @else if is_check { button.quiet name="do" value="preview" { "Preview" } }
                button name="do" value="save" { "Save" }
            }
        }
        @if let Some(after) = &beside.after { (after) }
    };
    Ok(match &sheet.own {
        Some((address, name)) => below(visit, (address, name), &sheet.title, main),
        None => layout(visit, &sheet.title, main),
    })
}

/// What a field can name: ids and names.
fn offered(found: &Found, field: &str) -> Option<Vec<(String, String)>> {
    let rubric = found.rubric.as_ref();
    Some(match field {
        "levelId" => {
            let levels = rubric.iter().flat_map(|rubric| &rubric.levels.nodes);
            levels.map(|level| (level.id.clone(), name(level.name.as_deref()).to_owned())).collect()
        }
        "categoryId" => {
            let own = rubric.iter().flat_map(|rubric| &rubric.categories.nodes);
            let own = own.map(|category| (category.id.clone(), category.name.clone()));
            let of_scorecards = found.scorecards.nodes.iter().flat_map(|scorecard| {
                let own = scorecard.categories.nodes.iter();
                own.map(|category| (category.id.clone(), format!("{} (scorecard)", category.name)))
            });
            own.chain(of_scorecards).collect()
        }
        "ownerId" => found.teams.nodes.iter().map(|team| (team.alias.clone(), team.name.clone())).collect(),
        "filterId" => found.filters.nodes.iter().map(|filter| (filter.id.clone(), filter.name.clone())).collect(),
        "integrationId" => found.integrations.nodes.iter().map(|one| (one.id.clone(), one.name.clone())).collect(),
        "relationshipDefinitionId" => {
            found.relationship_definitions.nodes.iter().map(|one| (one.id.clone(), one.name.clone())).collect()
        }
        "componentType.id" => {
            found.component_types.nodes.iter().map(|one| (one.id.clone(), one.name.clone())).collect()
        }
        "propertyDefinition.id" => {
            found.property_definitions.nodes.iter().map(|one| (one.id.clone(), one.name.clone())).collect()
        }
        _ => return None,
    })
}
