//! The form that answers a manual check for a service, and the links to it.

use maud::{Markup, html};

use super::ask::{ask, by_alias, or_null, settled, unanswered};
use super::form::{self, Area, Mistakes};
use super::layout::{Head, page as framed};
use super::markdown::prose;
use super::operations::manual_check::{Check, Service};
use super::operations::{AnswerCheck, CheckManualAnswerInput, CheckType, ManualCheck};
use super::rights::{Rights, Thing};
use super::service_name::address;
use super::visit::{Session, Visit, path};
use super::{Answer, Fault, Site};
use catalogue::entity::text::DESCRIPTION;
use catalogue::entity::user::Role;

/// The fields, named as the API names them in mistakes.
const PASSED: &str = "passed";
const COMMENT: &str = "comment";

/// Whether the visitor may answer the checks of every service. A team member finds the link on the pages of their own.
pub fn may_answer_all(visit: &Visit) -> bool {
    visit.session.as_ref().is_some_and(|session| session.user.role >= Role::User)
}

/// A link to the form, for a manual check and whoever may answer it.
pub fn link(may: bool, kind: Option<CheckType>, check: &str, alias: Option<&str>) -> Markup {
    html! {
        @if let (true, Some(CheckType::Manual), Some(alias)) = (may, kind, alias) {
            " " a href=(path(["services", alias, "answer", check])) { "Answer" }
        }
    }
}

/// Shows the form.
pub async fn page(site: &Site, visit: &Visit, session: &Session, alias: &str, id: &str) -> Result<Answer, Fault> {
    session.require(Role::TeamMember)?;
    let (service, check) = find(site, visit, alias, id).await?;
    if !Rights::read(site, visit, service.thing()).await?.may_change() {
        return Ok(Answer::redirect(address(&service.aliases)));
    }
    Ok(Answer::page(shown(visit, &service, &check, &Mistakes::none())))
}

/// Records the answer.
pub async fn answer(site: &Site, visit: &Visit, alias: &str, id: &str) -> Result<Answer, Fault> {
    let (service, check) = find(site, visit, alias, id).await?;
    Rights::read(site, visit, service.thing()).await?.to_change()?;
    let passed = match visit.form.get(PASSED) {
        "yes" => true,
        "no" => false,
        _ => return Err(Fault::BadRequest("Say whether the service passes.".to_owned())),
    };
    let comment = form::stored(visit.form.untrimmed(COMMENT));
    let comment = or_null(Some(&*comment).filter(|comment| !comment.is_empty()));
    let input = CheckManualAnswerInput { check_id: id, comment, passed, service: by_alias(alias) };
    let done = ask(site, visit, AnswerCheck { input }).await?.check_manual_answer.ok_or_else(unanswered)?;
    match settled(done.errors) {
        Ok(()) => Ok(Answer::redirect(address(&service.aliases))),
        Err(mistakes) => Ok(Answer::refused(shown(visit, &service, &check, &mistakes))),
    }
}

impl Service {
    fn thing(&self) -> Thing<'_> {
        Thing { noun: "service", page: address(&self.aliases), owner: self.owner.as_ref().map(Into::into) }
    }
}

async fn find(site: &Site, visit: &Visit, alias: &str, id: &str) -> Result<(Service, Check), Fault> {
    let found = ask(site, visit, ManualCheck { alias, id }).await?.account;
    let service = found.service.ok_or_else(|| Fault::unknown("service", alias))?;
    let check = found.check.filter(|check| check.r#type == Some(CheckType::Manual)).ok_or(Fault::NotFound)?;
    Ok((service, check))
}

fn shown(visit: &Visit, service: &Service, check: &Check, mistakes: &Mistakes) -> Markup {
    let comment = Area { name: COMMENT, label: "Why", hint: "Some checks need it.", rows: 4, most: DESCRIPTION };
    let options = [("yes", "Yes, it passes"), ("no", "No")];
    let main = html! {
        @if let Some(description) = &check.description { p { (description) } }
        @if let Some(notes) = &check.raw_notes { (prose(notes)) }
        (mistakes.summary(&[PASSED, COMMENT]))
        form method="post" {
            (form::select(PASSED, &format!("Does {} pass?", service.name), "", &options, &visit.form, mistakes))
            (comment.show(&visit.form, mistakes))
            button { "Answer" }
        }
    };
    framed(visit, &Head::below(visit, &check.name, &[(&*address(&service.aliases), &*service.name)]), main)
}
