//! The pages of saved views: all of them, the address that opens one, and the forms that save, change and delete them.

use async_graphql::MaybeUndefined;
use maud::{Markup, html};

use crate::ask::{ask, settled, unanswered};
use crate::form::{self, Mistakes};
use crate::layout::{Head, page as framed};
use crate::operations::saved_views::SavedView;
use crate::operations::{
    ChangeView, DeleteView, OpenView, SaveView, SavedViewCreateInput, SavedViewUpdateInput, SavedViews, open_view,
};
use crate::parts::{delete_button, empty, link, short};
use crate::visit::{Fields, Method, Session, Visit};
use crate::{Answer, Fault, Site};
use catalogue::entity::saved_view;
use catalogue::entity::user::Role;
use catalogue::graphql::field::id::{self, Id};

/// The parameter of the list of services that says which view is open.
pub const VIEW: &str = "view";
/// The fields of the forms, by the paths that the API uses for mistakes about them.
const NAME: &str = "name";
/// What the list shows, as the query of its address.
pub const QUERY: &str = "query";
const SHARED: &str = "shared";

/// The path of the page of all saved views.
const HERE: &str = "/views";

/// The path that opens a view.
pub fn address(number: i64) -> String {
    format!("{HERE}/{number}")
}

/// Shows a page, or handles a form.
pub async fn answer(site: &Site, visit: &Visit, session: &Session, path: &[&str]) -> Result<Answer, Fault> {
    use Method::{Get, Post};
    match (visit.method, path) {
        (Get, ["views"]) => all(site, visit, session).await,
        (Post, ["views"]) => create(site, visit, session).await,
        (Get, ["views", number]) => open(site, visit, session, parsed(number)?).await,
        (Get, ["views", number, "edit"]) => {
            let number = parsed(number)?;
            let view = find(site, visit, number).await?;
            let form = Fields::one(NAME, &view.name).and(SHARED, if view.shared { "1" } else { "" });
            Ok(Answer::page(edit_form(visit, session, (number, &view), &form, &Mistakes::none())))
        }
        (Post, ["views", number, "edit"]) => change(site, visit, session, parsed(number)?).await,
        (Post, ["views", number, "save"]) => overwrite(site, visit, parsed(number)?).await,
        (Post, ["views", number, "delete"]) => delete(site, visit, parsed(number)?).await,
        _ => Err(Fault::NotFound),
    }
}

/// The number in a path.
fn parsed(number: &str) -> Result<i64, Fault> {
    number.parse().ok().filter(|number| *number > 0).ok_or(Fault::NotFound)
}

/// The global id of a view.
fn id_of(number: i64) -> String {
    Id::new::<saved_view::Entity>(number).text()
}

/// The list of services with what a view says.
fn list_of(number: i64, query: &str) -> String {
    link("/services", &Fields::parse(query.as_bytes()).query_with(VIEW, &number.to_string()))
}

/// The fields that name a view and share it. The query is a hidden one.
pub fn fields(form: &Fields, mistakes: &Mistakes, may_share: bool) -> Markup {
    let hint = "At most 80 characters.";
    let name = form::Text { name: NAME, label: "Name of the view", hint, kind: "text", required: true };
    html! {
        (mistakes.summary(&[NAME]))
        (name.show(form, mistakes))
        @if may_share {
            label.check {
                input type="checkbox" name=(SHARED) value="1" checked[form.given(SHARED).is_some()];
                "Share it with everybody"
            }
        }
        @if form.has(QUERY) { input type="hidden" name=(QUERY) value=(form.get(QUERY)); }
    }
}

async fn all(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let views = ask(site, visit, SavedViews {}).await?.account.saved_views;
    let main = html! {
        p { "A saved view is the " a href="/services" { "list of services" } " with its filters, its order and its columns, "
            "under a name. Send its address to show somebody the same list." }
        @if views.is_empty() {
            (empty("No saved views yet.", html! {
                p { "Filter the " a href="/services" { "list of services" } " and press " strong { "Save this view" } "." }
            }))
        } @else {
            div.scroll tabindex="0" role="region" aria-label="Saved views" {
                table {
                    thead { tr {
                        th scope="col" { "View" } th scope="col" { "Shows" } th scope="col" { "Of" }
                        th scope="col" { span.hidden { "Action" } }
                    } }
                    tbody { @for view in &views { (row(view, session)) } }
                }
            }
        }
    };
    Ok(Answer::page(framed(visit, &Head::with_parent("Saved views", "/services", "Services"), main)))
}

fn row(view: &SavedView, session: &Session) -> Markup {
    let here = address(id::number::<saved_view::Entity>(&view.id).unwrap_or_default());
    let may_delete = view.own || session.user.role == Role::Admin;
    html! {
        tr {
            th scope="row" {
                a href=(here) { bdi { (view.name) } }
                @if view.shared { " " span.mark.none { "shared" } }
                @if let Some(problem) = &view.problem { small { span.mark.warn { "does not work" } " " (short(problem)) } }
            }
            td { @match &*view.query { "" => "all services", query => code { (in_words(query)) } } }
            td { @if view.own { "you" } @else { bdi { (short(&view.owner.name)) } } }
            td.act {
                @if view.own { a.button.quiet href={ (here) "/edit" } { "Edit" span.hidden { " " (view.name) } } " " }
                @if may_delete { (delete_button(&format!("{here}/delete"), "Delete", &view.name, "Delete this view?")) }
            }
        }
    }
}

/// A query as people read it: without its encoding.
fn in_words(query: &str) -> String {
    let parts = form_urlencoded::parse(query.as_bytes()).map(|(name, value)| format!("{name}={value}"));
    parts.collect::<Vec<_>>().join(", ")
}

async fn find(site: &Site, visit: &Visit, number: i64) -> Result<open_view::SavedView, Fault> {
    let id = id_of(number);
    ask(site, visit, OpenView { id: &id }).await?.account.saved_view.ok_or(Fault::NotFound)
}

/// Opens a view: leads to the list. One that does not work any more says why.
async fn open(site: &Site, visit: &Visit, session: &Session, number: i64) -> Result<Answer, Fault> {
    let view = find(site, visit, number).await?;
    let Some(problem) = &view.problem else { return Ok(Answer::redirect(list_of(number, &view.query))) };
    let may_delete = view.own || view.shared && session.user.role == Role::Admin;
    let main = html! {
        div.notice { p { strong { "This view does not work any more." } " " (problem) } }
        p { "It shows: " code { (in_words(&view.query)) } }
        div.actions {
            a.button.quiet href=(list_of(number, &view.query)) { "Open the list, to change the view" }
            @if may_delete { (delete_button(&format!("{}/delete", address(number)), "Delete", &view.name, "Delete this view?")) }
        }
    };
    Ok(Answer::page(framed(visit, &Head::below(visit, &view.name, &[(HERE, "Saved views")]), main)))
}

async fn create(site: &Site, visit: &Visit, session: &Session) -> Result<Answer, Fault> {
    let form = &visit.form;
    let shared = form.given(SHARED).map_or(MaybeUndefined::Undefined, |_| MaybeUndefined::Value(true));
    let input = SavedViewCreateInput { name: form.get(NAME), query: form.get(QUERY), shared };
    let done = ask(site, visit, SaveView { input }).await?.saved_view_create.ok_or_else(unanswered)?;
    match settled(done.errors) {
        Ok(()) => {
            let view = done.saved_view.ok_or_else(unanswered)?;
            let number = id::number::<saved_view::Entity>(&view.id).ok_or_else(unanswered)?;
            Ok(Answer::redirect(list_of(number, &view.query)))
        }
        Err(mistakes) => {
            let main = html! {
                form method="post" action=(HERE) {
                    (fields(form, &mistakes, session.user.role >= Role::User))
                    button { "Save" }
                }
                p { a href=(link("/services", form.get(QUERY))) { "Back to the list" } }
            };
            Ok(Answer::refused(framed(visit, &Head::with_parent("Save a view", "/services", "Services"), main)))
        }
    }
}

/// The form that renames a view, shares it or deletes it.
fn edit_form(
    visit: &Visit,
    session: &Session,
    (number, view): (i64, &open_view::SavedView),
    form: &Fields,
    mistakes: &Mistakes,
) -> Markup {
    let here = address(number);
    let main = html! {
        @if view.own {
            form method="post" action={ (here) "/edit" } {
                // Who may not share can still take back what was shared.
                (fields(form, mistakes, session.user.role >= Role::User || view.shared))
                button { "Save" }
            }
        } @else {
            p { "Only its owner can change this view. Open it, change the list, and save that as a view of your own." }
        }
        @if view.own || view.shared && session.user.role == Role::Admin {
            (delete_button(&format!("{here}/delete"), "Delete", &view.name, "Delete this view?"))
        }
    };
    framed(visit, &Head::below(visit, &view.name, &[(HERE, "Saved views")]), main)
}

async fn change(site: &Site, visit: &Visit, session: &Session, number: i64) -> Result<Answer, Fault> {
    let view = find(site, visit, number).await?;
    let (id, form) = (id_of(number), &visit.form);
    let input = SavedViewUpdateInput {
        id: &id,
        name: MaybeUndefined::Value(form.get(NAME)),
        query: MaybeUndefined::Undefined,
        shared: MaybeUndefined::Value(form.given(SHARED).is_some()),
    };
    let done = ask(site, visit, ChangeView { input }).await?.saved_view_update.ok_or_else(unanswered)?;
    match settled(done.errors) {
        Ok(()) => Ok(Answer::redirect(HERE)),
        Err(mistakes) => Ok(Answer::refused(edit_form(visit, session, (number, &view), form, &mistakes))),
    }
}

/// Saves the list, as it is now, in the place of what a view showed.
async fn overwrite(site: &Site, visit: &Visit, number: i64) -> Result<Answer, Fault> {
    let id = id_of(number);
    let input = SavedViewUpdateInput {
        id: &id,
        name: MaybeUndefined::Undefined,
        query: MaybeUndefined::Value(visit.form.get(QUERY)),
        shared: MaybeUndefined::Undefined,
    };
    let done = ask(site, visit, ChangeView { input }).await?.saved_view_update.ok_or_else(unanswered)?;
    refuse(settled(done.errors))?;
    Ok(Answer::redirect(list_of(number, &done.saved_view.ok_or_else(unanswered)?.query)))
}

async fn delete(site: &Site, visit: &Visit, number: i64) -> Result<Answer, Fault> {
    let id = id_of(number);
    let done = ask(site, visit, DeleteView { id: &id }).await?.saved_view_delete.ok_or_else(unanswered)?;
    refuse(settled(done.errors))?;
    Ok(Answer::redirect(HERE))
}

/// The fault of a form that has no fields to show mistakes at.
fn refuse(done: Result<(), Mistakes>) -> Result<(), Fault> {
    done.map_err(|mistakes| Fault::BadRequest(mistakes.messages().collect::<Vec<_>>().join(" ")))
}
