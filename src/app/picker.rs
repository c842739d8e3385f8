//! Form fields that name something by its alias or its id take its name too, if only one thing has that name. So a list of
//! choices may end: whoever does not find a thing in it writes its name.

use sea_orm::{ColumnTrait, QueryFilter, QuerySelect};

use super::visit::{Fields, Visit};
use super::{Fault, Site};
use crate::db::{Read, ReadHandle, Table};
use crate::entity::{
    ByAlias, category, component_type, domain, filter, integration, level, property_definition,
    relationship_definition, service, system, team, user,
};
use crate::graphql::field::id::{self, Class, Id};

/// What a field names.
#[derive(Clone, Copy)]
enum Noun {
    Team,
    Service,
    System,
    Domain,
    User,
    Level,
    Category,
    Filter,
    Integration,
    ComponentType,
    PropertyDefinition,
    RelationshipDefinition,
}

/// The fields that name something. `parent.alias` is the system of a service, or the domain of a system.
const FIELDS: &[(&str, Noun)] = &[
    ("ownerInput.alias", Noun::Team),
    ("ownerId", Noun::Team),
    ("ownerAlias", Noun::Team),
    ("parentTeam.alias", Noun::Team),
    ("teamId", Noun::Team),
    ("serviceId", Noun::Service),
    ("managerEmail", Noun::User),
    ("dependencyKey.destinationIdentifier.alias", Noun::Service),
    ("childServices.0.alias", Noun::Service),
    ("childSystems.0.alias", Noun::System),
    ("type.alias", Noun::ComponentType),
    ("levelId", Noun::Level),
    ("categoryId", Noun::Category),
    ("filterId", Noun::Filter),
    ("integrationId", Noun::Integration),
    ("componentType.id", Noun::ComponentType),
    ("propertyDefinition.id", Noun::PropertyDefinition),
    ("relationshipDefinitionId", Noun::RelationshipDefinition),
];

/// The same for the address of the list of services.
const OF_SERVICES: [(&str, Noun); 2] = [("type", Noun::ComponentType), ("filter", Noun::Filter)];

/// The same for the addresses of lists about the things of others.
const OF_LISTS: [(&str, Noun); 4] =
    [("service", Noun::Service), ("team", Noun::Team), ("system", Noun::System), ("domain", Noun::Domain)];

/// Replaces names in the address of a list by aliases. Leaves what it does not understand as it is.
pub async fn understood_query(site: &Site, query: &Fields) -> Result<Fields, Fault> {
    let mut query = query.clone();
    for (name, noun) in OF_LISTS {
        query = replaced(site, query, name, noun).await?;
    }
    Ok(query)
}

/// Replaces names in the address of the list of services by ids. Leaves what it does not understand to the API.
pub async fn understood_address(site: &Site, visit: &Visit) -> Result<Visit, Fault> {
    let mut query = visit.query.clone();
    for (name, noun) in OF_SERVICES {
        query = replaced(site, query, name, noun).await?;
    }
    Ok(Visit { query, ..visit.clone() })
}

/// Replaces names in the form by aliases, and names of people by email addresses. Leaves what it does not understand to
/// the API, which says what is wrong.
pub async fn understood(site: &Site, visit: &Visit) -> Result<Visit, Fault> {
    let mut form = visit.form.clone();
    for (field, noun) in FIELDS {
        form = replaced(site, form, field, *noun).await?;
    }
    let path: Vec<&str> = visit.path.iter().map(String::as_str).collect();
    for (field, noun) in of_path(&path) {
        form = replaced(site, form, field, *noun).await?;
    }
    let first = path.iter().find(|part| **part != "new").copied().unwrap_or_default();
    let parent = if first.starts_with("system") { Noun::Domain } else { Noun::System };
    form = replaced(site, form, "parent.alias", parent).await?;
    Ok(Visit { form, ..visit.clone() })
}

/// The fields that name something in the forms with this path, and something else, or a new thing, in others.
fn of_path(path: &[&str]) -> &'static [(&'static str, Noun)] {
    match path {
        ["teams", _, "member"] => &[("email", Noun::User)],
        ["teams", _, "delete"] => &[("successor", Noun::Team)],
        ["users", _, "delete"] => &[("successor", Noun::User)],
        ["suggestions", _, "map"] => &[("alias", Noun::Service)],
        _ => &[],
    }
}

async fn replaced(site: &Site, form: Fields, field: &str, noun: Noun) -> Result<Fields, Fault> {
    let Some(text) = form.given(field) else { return Ok(form) };
    let db = site.db.read();
    let found = match noun {
        Noun::Team => alias::<team::Entity, _>(db, team::Column::Name, text).await?.map(|team| team.alias),
        Noun::Service => alias::<service::Entity, _>(db, service::Column::Name, text).await?.map(|one| one.slug),
        Noun::System => alias::<system::Entity, _>(db, system::Column::Name, text).await?.map(|one| one.slug),
        Noun::Domain => alias::<domain::Entity, _>(db, domain::Column::Name, text).await?.map(|one| one.slug),
        Noun::Level => of_id::<level::Entity, _>(db, level::Column::Name, text).await?,
        Noun::Category => of_id::<category::Entity, _>(db, category::Column::Name, text).await?,
        Noun::Filter => of_id::<filter::Entity, _>(db, filter::Column::Name, text).await?,
        Noun::Integration => of_id::<integration::Entity, _>(db, integration::Column::Name, text).await?,
        Noun::ComponentType => of_id::<component_type::Entity, _>(db, component_type::Column::Name, text).await?,
        Noun::PropertyDefinition => {
            of_id::<property_definition::Entity, _>(db, property_definition::Column::Name, text).await?
        }
        Noun::RelationshipDefinition => {
            of_id::<relationship_definition::Entity, _>(db, relationship_definition::Column::Name, text).await?
        }
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

/// The global id of the only row with this name, unless the text is an id, or an alias of one.
async fn of_id<E, C>(db: &dyn ReadHandle, name: C, text: &str) -> Result<Option<String>, Fault>
where
    E: Class<Model: HasId>,
    C: ColumnTrait,
{
    if id::decode(text).is_some() || E::called(db, text).await?.is_some() {
        return Ok(None);
    }
    Ok(only::<E, C>(db, name, text).await?.map(|row| Id::new::<E>(row.id()).text()))
}

/// A row with a number.
trait HasId {
    fn id(&self) -> i64;
}

macro_rules! has_id {
    ($($table:ident)*) => {$(impl HasId for $table::Model { fn id(&self) -> i64 { self.id } })*};
}

has_id!(level category filter integration component_type property_definition relationship_definition);

/// The only row with this name.
async fn only<E: Table, C: ColumnTrait>(db: &dyn ReadHandle, name: C, text: &str) -> Result<Option<E::Model>, Fault> {
    let mut found = db.all(E::find().filter(name.eq(text)).limit(2)).await?;
    Ok(if found.len() == 1 { found.pop() } else { None })
}
