//! What stands around the list of services: the saved views, the form that saves one, and the choice of columns.

use maud::{Markup, html};

use super::table::Column;
use super::{Chosen, saved};
use crate::form::Mistakes;
use crate::operations::services::{Account, AccountSavedView, AccountSavedViews, ComponentType, Filter};
use crate::parts::{link, short};
use crate::scope::unknown;
use crate::visit::{Fields, Session, Visit};
use crate::{Fault, Site};
use catalogue::entity::user::Role;
use catalogue::entity::{ByIds, component_type, filter, saved_view};
use catalogue::graphql::field::id::{self, Id};
use catalogue::graphql::saved_view::parameters::{self, Parameters};

/// The parameter that chooses the columns.
pub const COLUMNS: &str = parameters::CHOSEN;

/// The number of chips for the visitor's own views, and for those of others. A page has all of them.
const CHIPS: usize = 8;

/// Parameters of the address as hidden fields, so that a form keeps them.
pub fn kept(query: &Fields, names: &[&str]) -> Markup {
    html! { @for name in names { @for value in query.get_all(name).filter(|value| !value.is_empty()) {
        input type="hidden" name=(name) value=(value);
    } } }
}

/// What some parameters of the address name that does not exist, each a mistake in its field. What else the list does not
/// understand is left to the API, which says so.
pub async fn gone(site: &Site, query: &Fields, names: &[&str]) -> Result<Mistakes, Fault> {
    let mut mistakes = Mistakes::none();
    for name in names {
        let Some(value) = query.given(name) else { continue };
        let message = match (Parameters::parse(&Fields::one(name, value).query()), *name) {
            (Ok(parsed), _) => parameters::missing(site.db.read(), &[&parsed]).await?.pop().flatten(),
            (Err(_), "type") => Some(unknown("component type", value)),
            (Err(_), "filter") => Some(unknown("saved filter", value)),
            (Err(_), "level") => Some("Choose one of the listed levels.".to_owned()),
            (Err(_), _) => None,
        };
        if let Some(message) = message {
            mistakes.push(*name, message);
        }
    }
    Ok(mistakes)
}

/// Adds the type and the filter of the address to those that the page offers, which may not be all.
pub async fn complete(site: &Site, visit: &Visit, found: &mut Account) -> Result<(), Fault> {
    let number = |id: &str| id::number::<component_type::Entity>(id);
    let (types, filters) = (&mut found.component_types.nodes, &mut found.filters.nodes);
    if let Some(id) = visit.query.given("type").filter(|id| types.iter().all(|kind| kind.id != *id)) {
        let row = component_type::Entity::by_ids(site.db.read(), [number(id)]).await?.pop().flatten();
        types.extend(row.map(|row| ComponentType { id: id.to_owned(), name: row.name }));
    }
    if let Some(id) = visit.query.given("filter").filter(|id| filters.iter().all(|filter| filter.id != *id)) {
        let row = filter::Entity::by_ids(site.db.read(), [id::number::<filter::Entity>(id)]).await?.pop().flatten();
        filters.extend(row.map(|row| Filter { id: id.to_owned(), name: row.name }));
    }
    Ok(())
}

/// What the address says of the list, without the page and the view.
fn said(query: &Fields) -> String {
    query.without("after").without(saved::VIEW).query()
}

/// The id of the saved view that the address says is open. The API shows it if the visitor sees it.
pub fn open_id(query: &Fields) -> Option<String> {
    let number = query.given(saved::VIEW)?.parse::<i64>().ok().filter(|number| *number > 0)?;
    Some(Id::new::<saved_view::Entity>(number).text())
}

/// What one does with the list as a whole, above it: its saved views, the form that saves it as it is, and its columns, if it
/// has rows.
pub fn tools(visit: &Visit, (found, chosen): (&Account, &Chosen), session: &Session) -> Markup {
    html! {
        div.tools {
            (views(visit, found))
            (save(&said(&visit.query), session))
            @if !found.services.nodes.is_empty() { (columns(visit, chosen)) }
        }
    }
}

/// The saved views as chips, the ready ones first.
fn views(visit: &Visit, found: &Account) -> Markup {
    let (views, open) = (&found.saved_views, found.saved_view.as_ref());
    let said = said(&visit.query);
    let number = |id: &str| id::number::<saved_view::Entity>(id).unwrap_or_default();
    let chip = |address: &str, name: &str, is_open: bool| {
        html! { li { a href=(address) aria-current=[is_open.then_some("true")] { (short(name)) } } }
    };
    // The open view has a chip, however many there are.
    let is_open = |view: &AccountSavedViews| open.is_some_and(|open| open.id == view.id);
    let some = |own: bool| {
        let of_them = views.iter().filter(move |view| view.own == own).enumerate();
        of_them.filter(move |(at, view)| *at < CHIPS || is_open(view)).map(|(_, view)| view)
    };
    html! {
        nav.views aria-label="Saved views" {
            ul.chips.ready {
                (chip("/services", "All", said.is_empty() && open.is_none()))
                (chip("/services?mine=1", "Mine", said == "mine=1" && open.is_none()))
                (chip("/services?favourites=1", "Favourites", said == "favourites=1" && open.is_none()))
                @for view in some(true).chain(some(false)) {
                    (chip(&saved::address(number(&view.id)), &view.name, is_open(view)))
                }
                @if !views.is_empty() { li { a href="/views" { "All saved views" } } }
            }
            @if let Some(view) = open.filter(|view| view.own) { (change(number(&view.id), view, &said)) }
        }
    }
}

/// What the owner of the open view can do with it.
fn change(number: i64, view: &AccountSavedView, said: &str) -> Markup {
    // The same list may be written in another way.
    let is_changed = !Parameters::parse(said).is_ok_and(|parsed| parsed.query() == view.query);
    let here = saved::address(number);
    html! {
        div.actions {
            @if is_changed {
                form method="post" action={ (here) "/save" } {
                    input type="hidden" name=(saved::QUERY) value=(said);
                    button.quiet { "Save the changes to " (short(&view.name)) }
                }
            }
            a href={ (here) "/edit" } { "Rename, share or delete " (short(&view.name)) }
        }
    }
}

/// The form that saves the list under a name.
fn save(said: &str, session: &Session) -> Markup {
    html! {
        details {
            summary { "Save this view" }
            form.filters method="post" action="/views" {
                (saved::fields(&Fields::one(saved::QUERY, said), &Mistakes::none(), session.user.role >= Role::User))
                button { "Save" }
            }
        }
    }
}

/// The choice of columns.
fn columns(visit: &Visit, chosen: &Chosen) -> Markup {
    let query = visit.query.without("after").without(COLUMNS);
    let usual = link("/services", &query.query());
    // Each name once: `kept` shows all values of a name.
    let names = ["search", "owner", "tier", "level", "type", "filter", "language", "tag", "quiet", "unowned", "mine"];
    html! {
        details {
            summary { "Columns" }
            form method="get" action="/services" {
                (kept(&query, &names)) (kept(&query, &["favourites", "sort", saved::VIEW]))
                fieldset {
                    legend { "Columns beside the name" }
                    div.filters { @for column in Column::ALL {
                        label.check {
                            input type="checkbox" name=(COLUMNS) value=(column.word()) checked[chosen.columns.contains(&column)];
                            (column.label())
                        }
                    } }
                }
                button.quiet { "Show these columns" }
                @if chosen.is_chosen { " " a href=(usual) { "The usual columns" } }
            }
        }
    }
}
