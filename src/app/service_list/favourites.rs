//! Favourites: the star on the page of a service and in the list. It is a button, so it works without a script.

use maud::{Markup, html};

use crate::ask::{ask, settled, unanswered};
use crate::operations::services::Service;
use crate::operations::{self, AddFavourite, RemoveFavourite};
use crate::parts::link;
use crate::visit::{Fields, Visit, path};
use crate::{Answer, Fault, Site};

/// The form of the stars of a list. They are inside another form, so they name theirs.
const FORM: &str = "stars";
/// The field that says what the star does.
const DOES: &str = "do";
const ADD: &str = "add";
const REMOVE: &str = "remove";
/// The field that says which page shows the star.
const FROM: &str = "from";
const LIST: &str = "list";
/// What the list shows, as the query of its address.
const QUERY: &str = "query";

/// The form that the stars of a list belong to. It stands outside the list, and keeps what that shows.
pub fn form(visit: &Visit) -> Markup {
    html! {
        form.hidden method="post" action="/services" id=(FORM) {
            input type="hidden" name=(FROM) value=(LIST);
            input type="hidden" name=(QUERY) value=(visit.query.query());
        }
    }
}

/// The id of the star of the service with this alias in the list.
fn place(alias: &str) -> String {
    format!("star-{alias}")
}

/// The star of a service in the list.
pub fn star(service: &Service) -> Markup {
    let alias = service.aliases.first().map_or("", String::as_str);
    let action = path(["services", alias, "favourite"]);
    html! {
        button.star id=(place(alias)) form=(FORM) formaction=(action) name=(DOES) value=(does(service.favourite)) {
            (mark(service.favourite)) span.hidden { (said(service.favourite)) ": " (service.name) }
        }
    }
}

/// The star on the page of a service.
pub fn button(service: &operations::service::Service) -> Markup {
    let alias = service.aliases.first().map_or("", String::as_str);
    html! {
        form method="post" action=(path(["services", alias, "favourite"])) {
            button.quiet name=(DOES) value=(does(service.favourite)) {
                (mark(service.favourite)) " " @if service.favourite { "Favourite" span.hidden { ", remove it" } } @else { "Add to favourites" }
            }
        }
    }
}

fn does(is_favourite: bool) -> &'static str {
    if is_favourite { REMOVE } else { ADD }
}

fn mark(is_favourite: bool) -> Markup {
    html! { span aria-hidden="true" { @if is_favourite { "★" } @else { "☆" } } }
}

fn said(is_favourite: bool) -> &'static str {
    if is_favourite { "Remove from favourites" } else { "Add to favourites" }
}

/// Does what a star says, and returns to the page that shows it.
pub async fn change(site: &Site, visit: &Visit, alias: &str) -> Result<Answer, Fault> {
    let errors = match visit.form.get(DOES) {
        ADD => ask(site, visit, AddFavourite { alias }).await?.service_favourite_add.ok_or_else(unanswered)?.errors,
        REMOVE => {
            let done = ask(site, visit, RemoveFavourite { alias }).await?;
            done.service_favourite_remove.ok_or_else(unanswered)?.errors
        }
        _ => return Err(Fault::BadRequest("The form does not say whether to add or to remove.".to_owned())),
    };
    if let Err(mistakes) = settled(errors) {
        return Err(Fault::BadRequest(mistakes.messages().collect::<Vec<_>>().join(" ")));
    }
    Ok(Answer::redirect(match visit.form.get(FROM) {
        // The list is the same afterwards, and the star has the focus again.
        LIST => {
            let list = link("/services", &Fields::parse(visit.form.get(QUERY).as_bytes()).query());
            list + &path([place(alias).as_str()]).replacen('/', "#", 1)
        }
        _ => path(["services", alias]),
    }))
}
