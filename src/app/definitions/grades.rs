//! The forms of tiers and lifecycle stages: two short lists that grade services, which differ only in their names.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use super::grade::{ALIAS, DESCRIPTION, Grade, INDEX, Kind, NAME};
use super::uses::{self, Uses};
use super::{HERE, or_absent};
use crate::ask::{ask, or_null, settled, unanswered};
use crate::form::{self, Area, Mistakes, Text};
use crate::layout::{Head, page as framed};
use crate::operations::{
    ChangeLifecycle, ChangeTier, CreateLifecycle, CreateTier, DeleteLifecycle, DeleteTier, Grades,
    LifecycleCreateInput, LifecycleUpdateInput, TierCreateInput, TierUpdateInput,
};
use crate::visit::{Fields, Visit, path};
use crate::{Answer, Fault, Site};
use catalogue::entity::text;

/// What a form says.
struct Given<'f> {
    name: &'f str,
    alias: Option<&'f str>,
    description: String,
    index: Option<i32>,
}

impl<'f> Given<'f> {
    fn read(form: &'f Fields) -> Result<Self, Mistakes> {
        let index = form.given(INDEX).map(str::parse::<i32>).transpose();
        let index = index.map_err(|_| {
            let mut mistakes = Mistakes::none();
            mistakes.push(INDEX, "must be a whole number");
            mistakes
        })?;
        let description = form::stored(form.untrimmed(DESCRIPTION));
        Ok(Self { name: form.get(NAME), alias: form.given(ALIAS), description, index })
    }

    /// The description; `None` if it is empty.
    fn described(&self) -> MaybeUndefined<&str> {
        or_null(Some(&*self.description).filter(|text| !text.is_empty()))
    }
}

/// Shows the form for a new one.
pub fn new(visit: &Visit, kind: Kind) -> Answer {
    Answer::page(new_form(visit, kind, &Mistakes::none()))
}

/// Creates one.
pub async fn create(site: &Site, visit: &Visit, kind: Kind) -> Result<Answer, Fault> {
    match save(site, visit, kind, None).await? {
        Ok(()) => Ok(Answer::redirect(HERE)),
        Err(mistakes) => Ok(Answer::refused(new_form(visit, kind, &mistakes))),
    }
}

/// Shows the form of one.
pub async fn edit(site: &Site, visit: &Visit, kind: Kind, id: &str) -> Result<Answer, Fault> {
    let grade = find(site, visit, kind, id).await?;
    Ok(Answer::page(edit_form(site, visit, kind, &grade, (&grade.fields(), &Mistakes::none())).await?))
}

/// Changes one.
pub async fn change(site: &Site, visit: &Visit, kind: Kind, id: &str) -> Result<Answer, Fault> {
    let grade = find(site, visit, kind, id).await?;
    match save(site, visit, kind, Some(id)).await? {
        Ok(()) => Ok(Answer::redirect(HERE)),
        Err(mistakes) => Ok(Answer::refused(edit_form(site, visit, kind, &grade, (&visit.form, &mistakes)).await?)),
    }
}

/// Deletes one.
pub async fn delete(site: &Site, visit: &Visit, kind: Kind, id: &str) -> Result<Answer, Fault> {
    let grade = find(site, visit, kind, id).await?;
    let errors = match kind {
        Kind::Tier => ask(site, visit, DeleteTier { id }).await?.tier_delete.map(|done| done.errors),
        Kind::Stage => ask(site, visit, DeleteLifecycle { id }).await?.lifecycle_delete.map(|done| done.errors),
    };
    match settled(errors.ok_or_else(unanswered)?) {
        Ok(()) => Ok(Answer::redirect(HERE)),
        Err(mistakes) => Ok(Answer::refused(edit_form(site, visit, kind, &grade, (&grade.fields(), &mistakes)).await?)),
    }
}

/// Finds one. The API lists them whole.
async fn find(site: &Site, visit: &Visit, kind: Kind, id: &str) -> Result<Grade, Fault> {
    let found = ask(site, visit, Grades {}).await?.account;
    let grade = match kind {
        Kind::Tier => found.tiers.into_iter().find(|one| one.id == id).map(|one| Grade {
            id: one.id,
            alias: one.alias,
            name: one.name,
            description: one.description,
            index: one.index,
        }),
        Kind::Stage => found.lifecycles.into_iter().find(|one| one.id == id).map(|one| Grade {
            id: one.id,
            alias: one.alias,
            name: one.name,
            description: one.description,
            index: one.index,
        }),
    };
    grade.ok_or(Fault::NotFound)
}

/// Creates one from the form, or changes the one with this id.
async fn save(site: &Site, visit: &Visit, kind: Kind, id: Option<&str>) -> Result<Result<(), Mistakes>, Fault> {
    let given = match Given::read(&visit.form) {
        Ok(given) => given,
        Err(mistakes) => return Ok(Err(mistakes)),
    };
    let (name, description, index) = (given.name, given.described(), or_absent(given.index));
    // A new one without an alias gets one from its name.
    let new_alias = or_absent(given.alias);
    let alias = MaybeUndefined::Value(given.alias.unwrap_or_default());
    let errors = match (kind, id) {
        (Kind::Tier, None) => {
            let input = TierCreateInput { name, alias: new_alias, description, index };
            ask(site, visit, CreateTier { input }).await?.tier_create.map(|done| done.errors)
        }
        (Kind::Stage, None) => {
            let input = LifecycleCreateInput { name, alias: new_alias, description, index };
            ask(site, visit, CreateLifecycle { input }).await?.lifecycle_create.map(|done| done.errors)
        }
        (Kind::Tier, Some(id)) => {
            let input = TierUpdateInput { id, name: MaybeUndefined::Value(name), alias, description, index };
            ask(site, visit, ChangeTier { input }).await?.tier_update.map(|done| done.errors)
        }
        (Kind::Stage, Some(id)) => {
            let input = LifecycleUpdateInput { id, name: MaybeUndefined::Value(name), alias, description, index };
            ask(site, visit, ChangeLifecycle { input }).await?.lifecycle_update.map(|done| done.errors)
        }
    };
    Ok(settled(errors.ok_or_else(unanswered)?))
}

/// The fields. A new one may leave out its alias and its position.
fn fields(kind: Kind, is_new: bool, form: &Fields, mistakes: &Mistakes) -> Markup {
    let line = |name, label, hint, kind, required| Text { name, label, hint, kind, required }.show(form, mistakes);
    let alias = match is_new {
        true => "Empty for one that is derived from the name.",
        false => "What names it by the earlier alias has to be changed, too.",
    };
    let index = match (kind, is_new) {
        (Kind::Tier, true) => "A whole number; the lowest is the most critical. Empty for the last.",
        (Kind::Tier, false) => "A whole number; the lowest is the most critical.",
        (Kind::Stage, true) => "A whole number; the lowest is the earliest. Empty for the last.",
        (Kind::Stage, false) => "A whole number; the lowest is the earliest.",
    };
    let (label, most) = ("Which services belong in it", text::DESCRIPTION);
    html! {
        (mistakes.summary(&[NAME, ALIAS, DESCRIPTION, INDEX]))
        (line(NAME, "Name", "", "text", true))
        (line(ALIAS, "Alias", alias, "text", !is_new))
        (Area { name: DESCRIPTION, label, hint: "", rows: 3, most }.show(form, mistakes))
        (line(INDEX, "Position", index, "number", !is_new))
    }
}

fn new_form(visit: &Visit, kind: Kind, mistakes: &Mistakes) -> Markup {
    let main = html! {
        form method="post" action=(path(["new", kind.word()])) {
            (fields(kind, true, &visit.form, mistakes))
            button { "Create " (kind.noun()) }
        }
    };
    framed(visit, &Head::with_parent(&format!("New {}", kind.noun()), HERE, "Definitions"), main)
}

async fn edit_form(
    site: &Site,
    visit: &Visit,
    kind: Kind,
    grade: &Grade,
    (form, mistakes): (&Fields, &Mistakes),
) -> Result<Markup, Fault> {
    let number = grade.number(kind);
    let reading = site.reading(visit).await?;
    let uses = reading.optional(|db| Uses::of_grade(db, kind, number, grade)).await?;
    let to = |what: &str| path(["definitions", kind.part(), &grade.id, what]);
    let noun = kind.noun();
    let main = html! {
        form method="post" action=(to("edit")) {
            (fields(kind, false, form, mistakes))
            button { "Save" }
        }
        (uses::section(uses.as_ref(), &to("delete"), (noun, &grade.name), &format!("Delete this {noun}?")))
    };
    Ok(framed(visit, &Head::with_parent(&format!("Edit {}", grade.name), HERE, "Definitions"), main))
}
