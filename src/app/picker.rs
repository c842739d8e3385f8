//! Form fields that name something by its alias take its name too, if only one thing has that name.

use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};

use super::visit::{Fields, Visit};
use super::{Fault, Site};
use crate::db::{Read, ReadHandle, Table};
use crate::entity::{ByAlias, domain, service, system, team, user};

/// What a field names.
#[derive(Clone, Copy)]
enum Noun {
    Team,
    Service,
    System,
    Domain,
    User,
}

/// The fields that name something. `parent.alias` is the system of a service, or the domain of a system.
const FIELDS: &[(&str, Noun)] = &[
    ("ownerInput.alias", Noun::Team),
    ("ownerId", Noun::Team),
    ("ownerAlias", Noun::Team),
    ("parentTeam.alias", Noun::Team),
    ("managerEmail", Noun::User),
    ("dependencyKey.destinationIdentifier.alias", Noun::Service),
    ("childServices.0.alias", Noun::Service),
    ("childSystems.0.alias", Noun::System),
];

/// Replaces names in the form by aliases, and names of people by email addresses. Leaves what it does not understand to
/// the API, which says what is wrong.
pub async fn understood(site: &Site, visit: &Visit) -> Result<Visit, Fault> {
    let mut form = visit.form.clone();
    for (field, noun) in FIELDS {
        form = replaced(site, form, field, *noun).await?;
    }
    let first = visit.path.iter().map(String::as_str).find(|part| *part != "new").unwrap_or_default();
    let parent = if first.starts_with("system") { Noun::Domain } else { Noun::System };
    form = replaced(site, form, "parent.alias", parent).await?;
    Ok(Visit { form, ..visit.clone() })
}

async fn replaced(site: &Site, form: Fields, field: &str, noun: Noun) -> Result<Fields, Fault> {
    let Some(text) = form.given(field) else { return Ok(form) };
    let db = site.db.read();
    let found = match noun {
        Noun::Team => alias::<team::Entity, _>(db, team::Column::Name, text).await?.map(|team| team.alias),
        Noun::Service => alias::<service::Entity, _>(db, service::Column::Name, text).await?.map(|one| one.slug),
        Noun::System => alias::<system::Entity, _>(db, system::Column::Name, text).await?.map(|one| one.slug),
        Noun::Domain => alias::<domain::Entity, _>(db, domain::Column::Name, text).await?.map(|one| one.slug),
        Noun::User if text.contains('@') => None,
        Noun::User => only::<user::Entity, _>(db, user::Column::Name, text).await?.map(|user| user.email),
    };
    Ok(match found {
        Some(alias) => form.and(field, &alias),
        None => form,
    })
}

/// The only row with this name, unless the text is an alias.
async fn alias<E: ByAlias, C: ColumnTrait>(
    db: &dyn ReadHandle,
    name: C,
    text: &str,
) -> Result<Option<E::Model>, Fault> {
    match E::by_alias(db, text).await? {
        Some(_) => Ok(None),
        None => only::<E, C>(db, name, text).await,
    }
}

/// The only row with this name.
async fn only<E: Table, C: ColumnTrait>(db: &dyn ReadHandle, name: C, text: &str) -> Result<Option<E::Model>, Fault> {
    let mut found = db.all(E::find().filter(name.eq(text)).limit(2)).await?;
    Ok(if found.len() == 1 { found.pop() } else { None })
}
