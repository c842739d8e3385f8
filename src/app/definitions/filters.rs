//! The forms of saved filters: a name, and conditions about services.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::uses::{self, Uses};
use super::{HERE, or_absent};
use crate::ask::{ask, settled, unanswered};
use crate::form::{self, Mistakes, Text};
use crate::layout::{Head, page as framed};
use crate::operations::filter_to_change::Filter;
use crate::operations::{
    ChangeFilter, ConnectiveEnum, CreateFilter, DeleteFilter, FilterCreateInput, FilterPredicateInput, FilterToChange,
    FilterUpdateInput, PredicateKeyEnum, PredicateTypeEnum,
};
use crate::parts::{count, local};
use crate::schema_words::option_label;
use crate::visit::{Fields, Visit, path};
use crate::{Answer, Fault, Site};
use catalogue::entity::{filter, text};
use catalogue::graphql::field::id;

/// The fields of the form, by the paths that the API uses for mistakes about them.
const NAME: &str = "name";
const CONNECTIVE: &str = "connective";
/// The fields of a condition.
const KEY: &str = "key";
const KEY_DATA: &str = "keyData";
const TYPE: &str = "type";
const VALUE: &str = "value";
const CASE: &str = "caseSensitive";
const PARTS: [&str; 5] = [KEY, KEY_DATA, TYPE, VALUE, CASE];

/// The hints of fields that not every condition needs.
const OF_KEYS: &str = "Only if one of these is compared.";
const OF_TEXTS: &str = "Only if texts are compared, such as names and tags.";

/// The words of a flag.
const YES: &str = "yes";
const NO: &str = "no";

/// The maximum number of conditions that a form shows. A filter with more is renamed and deleted here, and its conditions
/// are changed through the API.
pub const SHOWN: usize = 10;
/// The number of empty conditions in a form.
const EMPTY: usize = 3;

/// Keys that are not offered: one is refused, and the others are other words for offered ones.
const LEFT_OUT: [&str; 4] = ["group_ids", "property", "relationship", "tag"];

/// The name of a field of a condition.
fn field(row: usize, part: &str) -> String {
    format!("predicates.{row}.{part}")
}

/// The conditions of a form, each with its place in it.
type Conditions<'f> = Vec<(usize, FilterPredicateInput<'f>)>;

/// Reads the conditions of a form. Those without any text are left out. `None` if the form has none to fill in.
fn conditions(form: &Fields) -> Result<Option<Conditions<'_>>, Mistakes> {
    let (mut mistakes, mut found) = (Mistakes::none(), Vec::new());
    for row in 0..SHOWN + EMPTY {
        let given = |part: &str| form.given(&field(row, part));
        if PARTS.iter().all(|part| given(part).is_none()) {
            continue;
        }
        let key: Option<PredicateKeyEnum> = given(KEY).and_then(|word| word.parse().ok());
        let ty: Option<PredicateTypeEnum> = given(TYPE).and_then(|word| word.parse().ok());
        if key.is_none() {
            mistakes.push(field(row, KEY), "must be chosen");
        }
        if ty.is_none() {
            mistakes.push(field(row, TYPE), "must be chosen");
        }
        if let (Some(key), Some(r#type)) = (key, ty) {
            // What is compared may begin or end with a blank.
            let value = Some(form.untrimmed(&field(row, VALUE))).filter(|value| !value.is_empty());
            let case_sensitive = or_absent(given(CASE).map(|word| word == YES));
            let key_data = or_absent(given(KEY_DATA));
            found.push((row, FilterPredicateInput { case_sensitive, key, key_data, r#type, value: or_absent(value) }));
        }
    }
    match mistakes.is_empty() {
        true => Ok(form.has(&field(0, KEY)).then_some(found)),
        false => Err(mistakes),
    }
}

/// The mistakes that the API found, at the fields of the form: it does not know of the conditions that were left out.
fn placed(mistakes: &Mistakes, rows: &[usize]) -> Mistakes {
    let mut placed = Mistakes::none();
    for (path, message) in mistakes.all() {
        let at = path.strip_prefix("predicates.").and_then(|rest| rest.split_once('.'));
        let own = at.and_then(|(place, part)| Some(field(*rows.get(place.parse::<usize>().ok()?)?, part)));
        placed.push(own.unwrap_or_else(|| path.to_owned()), message);
    }
    placed
}

impl Filter {
    /// The number of its row.
    fn number(&self) -> i64 {
        id::number::<filter::Entity>(&self.id).unwrap_or_default()
    }

    /// Its values as form fields.
    fn fields(&self) -> Fields {
        let connective = self.connective.unwrap_or(ConnectiveEnum::And);
        let fields = Fields::one(NAME, &self.name).and(CONNECTIVE, &connective.to_string());
        self.predicates.iter().enumerate().take(SHOWN).fold(fields, |fields, (row, one)| {
            let case = one.case_sensitive.map_or("", |matters| if matters { YES } else { NO });
            fields
                .and(&field(row, KEY), &one.key.to_string())
                .and(&field(row, KEY_DATA), one.key_data.as_deref().unwrap_or_default())
                .and(&field(row, TYPE), &one.r#type.to_string())
                .and(&field(row, VALUE), one.value.as_deref().unwrap_or_default())
                .and(&field(row, CASE), case)
        })
    }

    /// How many conditions its form shows. `None` if it has too many for one.
    fn rows(&self) -> Option<usize> {
        (self.predicates.len() <= SHOWN).then_some(self.predicates.len() + EMPTY)
    }
}

/// Shows the form for a new one.
pub fn new(site: &Site, visit: &Visit) -> Answer {
    Answer::page(new_form(site, visit, &Mistakes::none()))
}

/// Creates one.
pub async fn create(site: &Site, visit: &Visit) -> Result<Answer, Fault> {
    match save(site, visit, None).await? {
        Ok(()) => Ok(Answer::redirect(HERE)),
        Err(mistakes) => Ok(Answer::refused(new_form(site, visit, &mistakes))),
    }
}

/// Shows the form of one.
pub async fn edit(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    let own = find(site, visit, id).await?;
    Ok(Answer::page(edit_form(site, visit, &own, &own.fields(), &Mistakes::none()).await?))
}

/// Changes one.
pub async fn change(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    let own = find(site, visit, id).await?;
    match save(site, visit, Some(&own)).await? {
        Ok(()) => Ok(Answer::redirect(HERE)),
        Err(mistakes) => Ok(Answer::refused(edit_form(site, visit, &own, &visit.form, &mistakes).await?)),
    }
}

/// Deletes one.
pub async fn delete(site: &Site, visit: &Visit, id: &str) -> Result<Answer, Fault> {
    let own = find(site, visit, id).await?;
    let done = ask(site, visit, DeleteFilter { id }).await?.filter_delete;
    match settled(done.ok_or_else(unanswered)?.errors) {
        Ok(()) => Ok(Answer::redirect(HERE)),
        Err(mistakes) => Ok(Answer::refused(edit_form(site, visit, &own, &own.fields(), &mistakes).await?)),
    }
}

async fn find(site: &Site, visit: &Visit, id: &str) -> Result<Filter, Fault> {
    ask(site, visit, FilterToChange { id }).await?.account.filter.ok_or(Fault::NotFound)
}

/// Creates a filter from the form, or changes this one.
async fn save(site: &Site, visit: &Visit, own: Option<&Filter>) -> Result<Result<(), Mistakes>, Fault> {
    let form = &visit.form;
    let mut mistakes = Mistakes::none();
    let connective = form.given(CONNECTIVE).map(str::parse::<ConnectiveEnum>).transpose().unwrap_or_else(|()| {
        mistakes.push(CONNECTIVE, "must be one of the words that are offered");
        None
    });
    let (rows, predicates): (Vec<usize>, Option<Vec<_>>) = match conditions(form) {
        // A filter with more conditions than a form shows keeps them.
        Ok(None) => (Vec::new(), None),
        Ok(Some(_)) if own.is_some_and(|own| own.rows().is_none()) => (Vec::new(), None),
        Ok(Some(found)) => {
            let (rows, predicates) = found.into_iter().unzip();
            (rows, Some(predicates))
        }
        Err(wrong) => {
            wrong.all().for_each(|(field, message)| mistakes.push(field, message));
            (Vec::new(), None)
        }
    };
    if !mistakes.is_empty() {
        return Ok(Err(mistakes));
    }
    let (name, connective, predicates) = (form.get(NAME), or_absent(connective), or_absent(predicates));
    let errors = match own {
        None => {
            let input = FilterCreateInput { connective, name, predicates };
            ask(site, visit, CreateFilter { input }).await?.filter_create.map(|done| done.errors)
        }
        Some(own) => {
            let name = MaybeUndefined::Value(name);
            let input = FilterUpdateInput { connective, id: &own.id, name, predicates };
            ask(site, visit, ChangeFilter { input }).await?.filter_update.map(|done| done.errors)
        }
    };
    Ok(settled(errors.ok_or_else(unanswered)?).map_err(|mistakes| placed(&mistakes, &rows)))
}

/// The words of an enum of the API, each with its label, that a form offers.
fn words(site: &Site, name: &str) -> Vec<(String, String)> {
    let words = site.catalogue.schema().get_enum(name).into_iter().flat_map(|ty| ty.values.keys());
    let words = words.map(|word| word.to_string()).filter(|word| !LEFT_OUT.contains(&word.as_str()));
    words.map(|word| (word.clone(), option_label(&word))).collect()
}

/// Shows a choice among words. One that is chosen, and is not offered, stays.
fn choice(name: &str, label: &str, words: &[(String, String)], form: &Fields, mistakes: &Mistakes) -> Markup {
    let own = form.given(name).filter(|own| words.iter().all(|(word, _)| word != own));
    let words = words.iter().map(|(word, label)| (&**word, &**label));
    let options: Vec<(&str, &str)> = [("", "—")].into_iter().chain(own.map(|own| (own, own))).chain(words).collect();
    form::select(name, label, "", &options, form, mistakes)
}

/// The fields, with this number of conditions.
fn fields(site: &Site, rows: Option<usize>, form: &Fields, mistakes: &Mistakes) -> Markup {
    let (keys, types) = (words(site, "PredicateKeyEnum"), words(site, "PredicateTypeEnum"));
    let names: Vec<String> =
        (0..rows.unwrap_or_default()).flat_map(|row| PARTS.iter().map(move |part| field(row, part))).collect();
    let shown: Vec<&str> = [NAME, CONNECTIVE].into_iter().chain(names.iter().map(String::as_str)).collect();
    let name = Text { name: NAME, label: "Name", hint: "", kind: "text", required: true };
    let ways = [("and", "all conditions"), ("or", "one of the conditions")];
    let cases = [("", "as usual"), (YES, "matters"), (NO, "does not matter")];
    html! {
        (mistakes.summary(&shown))
        (name.show(form, mistakes))
        (form::select(CONNECTIVE, "A service has to meet", "", &ways, form, mistakes))
        @for row in 0..rows.unwrap_or_default() {
            fieldset {
                legend { "Condition " (row + 1) }
                div.filters {
                    (choice(&field(row, KEY), "What is compared", &keys, form, mistakes))
                    (line(&field(row, KEY_DATA), "Which tag, property or relationship", OF_KEYS, text::SHORT, form, mistakes))
                    (choice(&field(row, TYPE), "How", &types, form, mistakes))
                    (line(&field(row, VALUE), "With what", "", text::TAG_VALUE, form, mistakes))
                    (form::select(&field(row, CASE), "Letter case", OF_TEXTS, &cases, form, mistakes))
                }
            }
        }
    }
}

fn line(name: &str, label: &str, hint: &str, most: usize, form: &Fields, mistakes: &Mistakes) -> Markup {
    Text { name, label, hint, kind: "text", required: false }.show_at_most(most, form, mistakes)
}

fn new_form(site: &Site, visit: &Visit, mistakes: &Mistakes) -> Markup {
    let main = html! {
        p { "A saved filter selects services, for the list of services and for checks, scorecards and campaigns. "
            "Conditions that are left empty do not count; without any, it selects every service. "
            a href="/reference/PredicateKeyEnum" { "What can be compared" } ", " a href="/reference/PredicateTypeEnum" { "and how" } "." }
        form method="post" action="/new/filter" {
            (fields(site, Some(EMPTY), &visit.form, mistakes))
            button { "Create saved filter" }
        }
    };
    framed(visit, &Head::with_parent("New saved filter", HERE, "Definitions"), main)
}

async fn edit_form(
    site: &Site,
    visit: &Visit,
    own: &Filter,
    form: &Fields,
    mistakes: &Mistakes,
) -> Result<Markup, Fault> {
    let number = own.number();
    let reading = site.reading(visit).await?;
    let uses = reading.optional(|db| Uses::of_filter(db, number)).await?;
    let (to, app_url) =
        (|what: &str| path(["definitions", "filters", &own.id, what]), &site.catalogue.settings().app_url);
    let more = i64::try_from(own.predicates.len()).unwrap_or(i64::MAX);
    let main = html! {
        p { a href=(local(&own.html_url, app_url)) { "Its services" } }
        @if let Some(file) = &own.locked_by {
            (mistakes.summary(&[]))
            div.notice { p { "The standards file " code { (file) } " governs this filter. It can only be changed there." } }
        } @else {
            form method="post" action=(to("edit")) {
                (fields(site, own.rows(), form, mistakes))
                @if own.rows().is_none() { p.soft { "Its " (count(more, "condition")) " are changed through the API." } }
                button { "Save" }
            }
            (uses::section(uses.as_ref(), &to("delete"), ("saved filter", &own.name), "Delete this saved filter?"))
        }
    };
    Ok(framed(visit, &Head::with_parent(&format!("Edit {}", own.name), HERE, "Definitions"), main))
}
