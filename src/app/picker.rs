//! Form fields that name something by its alias or its id take its name too, if only one thing has that name. So a list of
//! choices may end: whoever does not find a thing in it writes its name.
//!
//! What is written is looked up in one statement for each field, or each of its lines, within the budget of what pages read.

use sea_orm::sea_query::{Asterisk, Expr, ExprTrait, Query, UnionType};
use sea_orm::{ColumnTrait, EntityTrait};

use super::form::lines;
use super::visit::{Fields, Visit};
use super::{Fault, Site};
use catalogue::db::{self, Read, ReadHandle};
use catalogue::entity::alias::AliasTable;
use catalogue::entity::event_subscription::NAMED;
use catalogue::entity::{
    category, component_type, domain, domain_alias, filter, id_of, integration, level, property_definition,
    relationship_definition, repository, service, service_alias, system, system_alias, team, team_alias, user,
};
use catalogue::graphql::field::id::{self, Class, Id};

/// What a field names.
#[derive(Clone, Copy)]
pub enum Noun {
    Team,
    Service,
    System,
    Domain,
    Repository,
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
    ("teamIds", Noun::Team),
    ("serviceIds", Noun::Service),
    ("managerEmail", Noun::User),
    ("dependencyKey.destinationIdentifier.alias", Noun::Service),
    ("dependencies.0.service.alias", Noun::Service),
    ("repository.alias", Noun::Repository),
    ("repositories.0.repository.alias", Noun::Repository),
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

/// The fields that name several things, one on each line.
const LISTS: [(&str, Noun); 2] = [("teamIds.more", Noun::Team), ("serviceIds.more", Noun::Service)];

/// The same for the address of the list of services.
const OF_SERVICES: [(&str, Noun); 2] = [("type", Noun::ComponentType), ("filter", Noun::Filter)];

/// Replaces names in the address of the list of services by ids. Leaves what it does not understand to the API.
pub async fn understood_address(site: &Site, visit: &Visit) -> Result<Visit, Fault> {
    let query = replaced(site, visit, &visit.query, OF_SERVICES).await?;
    Ok(Visit { query, ..visit.clone() })
}

/// Replaces names in the form by aliases, and names of people by email addresses. Leaves what it does not understand to
/// the API, which says what is wrong.
pub async fn understood(site: &Site, visit: &Visit) -> Result<Visit, Fault> {
    let path: Vec<&str> = visit.path.iter().map(String::as_str).collect();
    let fields = FIELDS.iter().chain(of_path(&path)).copied().chain([("parent.alias", parent(visit))]);
    let form = replaced(site, visit, &visit.form, fields).await?;
    let form = replaced_lines(site, visit, form).await?;
    Ok(Visit { form, ..visit.clone() })
}

/// Replaces aliases in the values of a form by the names that people know, and email addresses by names of people, where
/// [`understood`] takes the name for the same thing.
pub async fn spoken(site: &Site, visit: &Visit, values: Fields) -> Result<Fields, Fault> {
    let fields = FIELDS.iter().copied().chain([("parent.alias", parent(visit))]);
    let fields = fields.filter(|(_, noun)| noun.has_aliases());
    let fields = fields.filter_map(|(field, noun)| Some((field, noun, values.given(field)?.to_owned())));
    let fields: Vec<_> = fields.collect();
    let mut spoken = values;
    if fields.is_empty() {
        return Ok(spoken);
    }
    let reading = site.reading(visit).await?;
    for (field, noun, alias) in &fields {
        let Some(one) = reading.required(|db| named(db, *noun, alias)).await? else { continue };
        let same = reading.required(|db| named(db, *noun, &one.name)).await?;
        if !one.name.is_empty() && same.is_some_and(|same| same.id == one.id) {
            spoken = spoken.and(field, &one.name);
        }
    }
    Ok(spoken)
}

/// What `parent.alias` names in the forms of a page.
fn parent(visit: &Visit) -> Noun {
    let first = visit.path.iter().find(|part| *part != "new");
    if first.is_some_and(|first| first.starts_with("system")) { Noun::Domain } else { Noun::System }
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

/// Replaces names in these fields, if they are given.
async fn replaced(
    site: &Site,
    visit: &Visit,
    given: &Fields,
    fields: impl IntoIterator<Item = (&'static str, Noun)>,
) -> Result<Fields, Fault> {
    let fields = fields.into_iter().filter_map(|(field, noun)| Some((field, noun, given.given(field)?)));
    let fields: Vec<_> = fields.filter(|(_, noun, text)| noun.may_be_named(text)).collect();
    let mut replaced = given.clone();
    if fields.is_empty() {
        return Ok(replaced);
    }
    let reading = site.reading(visit).await?;
    for (field, noun, text) in fields {
        // A name may be one of the thing's own aliases, too.
        if let Some(named) = reading.required(|db| named(db, noun, text)).await?
            && (named.is_by_name || noun.has_aliases() && named.alias != text)
        {
            replaced = replaced.and(field, &named.alias);
        }
    }
    Ok(replaced)
}

/// Replaces names in the fields that name several things. The API refuses a list that is too long.
async fn replaced_lines(site: &Site, visit: &Visit, mut form: Fields) -> Result<Fields, Fault> {
    for (field, noun) in LISTS {
        let given = lines(form.get(field));
        if given.is_empty() || given.len() > NAMED {
            continue;
        }
        let reading = site.reading(visit).await?;
        let mut aliases = Vec::with_capacity(given.len());
        for line in given {
            let named = reading.required(|db| named(db, noun, line)).await?.filter(|named| named.is_by_name);
            aliases.push(named.map_or_else(|| line.to_owned(), |named| named.alias));
        }
        let aliases = aliases.join("\n");
        form = form.and(field, &aliases);
    }
    Ok(form)
}

impl Noun {
    /// Whether pages show its name in the place of an alias, or of an email address.
    fn has_aliases(self) -> bool {
        matches!(self, Self::Team | Self::Service | Self::System | Self::Domain | Self::User)
    }

    /// Whether a text can be a name of one, and is not an id or an email address.
    fn may_be_named(self, text: &str) -> bool {
        match self {
            Self::Team | Self::Service | Self::System | Self::Domain | Self::Repository => true,
            Self::User => !text.contains('@'),
            Self::Level
            | Self::Category
            | Self::Filter
            | Self::Integration
            | Self::ComponentType
            | Self::PropertyDefinition
            | Self::RelationshipDefinition => id::decode(text).is_none(),
        }
    }
}

/// What a text stands for.
pub struct Named {
    /// The number of its row.
    pub id: i64,
    /// Its alias, or what else the API takes in the place of its name.
    pub alias: String,
    /// Its name.
    pub name: String,
    /// Whether the text is its name and nobody's alias.
    is_by_name: bool,
}

/// Finds, in one statement, the thing with this alias, or else the only one with this name.
pub async fn named(db: &dyn ReadHandle, noun: Noun, text: &str) -> Result<Option<Named>, db::Error> {
    macro_rules! columns {
        ($table:ident $alias:ident) => {
            [$table::Column::Id, $table::Column::$alias, $table::Column::Name]
        };
    }
    macro_rules! of_class {
        ($table:ident) => {
            of_class::<$table::Entity>(db, columns!($table Name), None, text).await
        };
        ($table:ident $alias:ident) => {
            of_class::<$table::Entity>(db, columns!($table $alias), Some($table::Column::$alias.eq(text)), text).await
        };
    }
    match noun {
        Noun::Team => of_aliases::<team_alias::Entity, _>(db, columns!(team Alias), text).await,
        Noun::Service => of_aliases::<service_alias::Entity, _>(db, columns!(service Slug), text).await,
        Noun::System => of_aliases::<system_alias::Entity, _>(db, columns!(system Slug), text).await,
        Noun::Domain => of_aliases::<domain_alias::Entity, _>(db, columns!(domain Slug), text).await,
        Noun::Repository => {
            let by_alias = repository::Column::DefaultAlias.eq(text);
            found(db, columns!(repository DefaultAlias), Some(by_alias), text).await
        }
        Noun::User => found(db, columns!(user Email), Some(user::Column::Email.eq(text)), text).await,
        Noun::Level => of_class!(level),
        Noun::Category => of_class!(category),
        Noun::Filter => of_class!(filter),
        Noun::Integration => of_class!(integration),
        Noun::ComponentType => of_class!(component_type Alias),
        Noun::PropertyDefinition => of_class!(property_definition Alias),
        Noun::RelationshipDefinition => of_class!(relationship_definition Alias),
    }
}

/// Finds something whose aliases have a table of their own.
async fn of_aliases<T: AliasTable, C: ColumnTrait>(
    db: &dyn ReadHandle,
    columns: [C; 3],
    text: &str,
) -> Result<Option<Named>, db::Error> {
    let owner = Expr::col(columns[0].as_column_ref()).eq(id_of(T::OWNER, T::VALUE, text));
    found(db, columns, Some(owner), text).await
}

/// Finds something that the API takes by its id.
async fn of_class<E: Class>(
    db: &dyn ReadHandle,
    columns: [<E as EntityTrait>::Column; 3],
    by_alias: Option<Expr>,
    text: &str,
) -> Result<Option<Named>, db::Error> {
    let found = found(db, columns, by_alias, text).await?;
    Ok(found.map(|found| Named { alias: Id::new::<E>(found.id).text(), ..found }))
}

/// Finds the row of an alias, or else the only row with this name. The columns hold its number, its alias and its name.
async fn found<C: ColumnTrait>(
    db: &dyn ReadHandle,
    columns: [C; 3],
    by_alias: Option<Expr>,
    text: &str,
) -> Result<Option<Named>, db::Error> {
    let [key, _, name] = columns;
    let rows = |condition: Expr, is_by_name: &'static str| {
        let mut rows = Query::select();
        rows.columns(columns).expr(Expr::cust(is_by_name)).from(key.entity_name()).and_where(condition);
        // A SELECT with a limit cannot be part of a UNION. A subquery can.
        Query::select().column(Asterisk).from_subquery(rows.limit(2).take(), "named").take()
    };
    let mut both = rows(name.eq(text), "1");
    if let Some(by_alias) = by_alias {
        both.union(UnionType::All, rows(by_alias, "0"));
    }
    let read = db.rows(&both, |row| {
        let is_by_name = row.get::<i32>(3)? == 1;
        Ok(Named { id: row.get(0)?, alias: row.get(1)?, name: row.get(2)?, is_by_name })
    });
    let (mut by_name, mut by_alias): (Vec<_>, Vec<_>) = read.await?.into_iter().partition(|named| named.is_by_name);
    Ok(by_alias.pop().or_else(|| if by_name.len() == 1 { by_name.pop() } else { None }))
}
