//! Aliases of services, teams, systems, domains, infrastructure and scorecards, and the error for a name that is taken.

use sea_orm::sea_query::{Expr, ExprTrait, LockType, SelectStatement};
use sea_orm::{
    ActiveEnum, ColumnTrait, IdenStatic, Iterable, PrimaryKeyToColumn, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
};

use super::id::{self, Id};
use super::identifier::{self, Identifier};
use crate::db::{self, OfKeys, Read, ReadHandle, Shape, Transaction, Write};
use crate::entity::alias::{AliasKind, AliasTable};
use crate::entity::{
    self, domain_alias, infrastructure_resource_alias, relationship_rule, scorecard_alias, service_alias, system_alias,
    team_alias, text,
};
use crate::error::{Error, Result, UserError, quoted};
use crate::graphql::list::relation::lists;
use crate::graphql::request::context::MutationCtx;
use crate::graphql::schema::*;
use crate::graphql::service;
use crate::graphql::types::{Domain, InfrastructureResource, Scorecard, System, Team};

/// All aliases of each owner, the oldest first.
pub(in crate::graphql) async fn all<T: AliasTable>(
    db: &dyn ReadHandle,
    owners: impl IntoIterator<Item = i64>,
) -> Result<Vec<Vec<String>>> {
    of_owners::<T>(db, owners.into_iter().collect(), None).await
}

/// The aliases of each owner that were added to it, oldest first. Those derived from its names are left out.
pub(in crate::graphql) async fn managed<T: AliasTable>(
    db: &dyn ReadHandle,
    owners: impl IntoIterator<Item = i64>,
) -> Result<Vec<Vec<String>>> {
    of_owners::<T>(db, owners.into_iter().collect(), Some(AliasKind::Managed)).await
}

/// Selects aliases: those that satisfy a condition, and those of a kind.
fn select<T: AliasTable>(condition: Option<Expr>, kind: Option<AliasKind>) -> SelectStatement {
    let mut aliases = T::find().select_only().column(T::VALUE);
    if let Some(condition) = condition {
        aliases = aliases.filter(condition);
    }
    if let Some(kind) = kind {
        aliases = aliases.filter(T::KIND.eq(kind));
    }
    for key in T::PrimaryKey::iter() {
        aliases = aliases.order_by_asc(key.into_column());
    }
    aliases.into_query()
}

/// The flag of a statement that selects the aliases of one kind.
const OF_KIND: u8 = 1;

async fn of_owners<T: AliasTable>(
    db: &dyn ReadHandle,
    owners: Vec<i64>,
    kind: Option<AliasKind>,
) -> Result<Vec<Vec<String>>> {
    fn shaped<T: AliasTable>(shape: &Shape, condition: Option<Expr>) -> SelectStatement {
        select::<T>(condition, (shape.flags == OF_KIND).then_some(AliasKind::Managed))
    }
    let build = |condition: Expr| select::<T>(Some(condition), kind);
    let mut columns = [("", ""); 7];
    columns[0] = (T::default().table_name(), T::OWNER.as_str());
    let flags = if kind.is_some() { OF_KIND } else { 0 };
    let query = OfKeys {
        shape: Some(Shape { build: shaped::<T>, columns, flags, tail: "" }),
        build: &build,
        values: kind.map(|kind| kind.to_value().into()).into_iter().collect(),
        key: Expr::col(T::OWNER.as_column_ref()),
        selected: Expr::col(T::OWNER.as_column_ref()),
        keys: owners.clone(),
        is_limited: false,
    };
    let aliases = db.rows_of(query, |row| row.get::<String>(0)).await?;
    lists(db, &owners, aliases, String::len)
}

/// Converts the error of a write: to `taken` if a unique index rejected the write.
pub(in crate::graphql) fn or_taken(error: db::Error, taken: UserError) -> Error {
    match error.violation() {
        Some(db::Constraint::Unique(_)) => taken.into(),
        _ => error.into(),
    }
}

/// What has aliases of its own, for messages.
const OWNERS: &str = "service, team, system, domain, infrastructure resource or scorecard";

impl AliasCreateMutation for Mutation {
    async fn alias_create(ctx: &MutationCtx<'_>, input: AliasCreateInput) -> Result<AliasCreatePayload> {
        let AliasCreateInput { owner_id, alias } = input;
        let db = ctx.db();
        let locking = &db.locking(LockType::Update);
        let owner_id = match id::decode(&owner_id) {
            Some(_) => owner_id,
            // An alias where the id belongs.
            None => match relationship_rule::end(db, None, &owner_id).await? {
                Some(end) => {
                    let (class, number) = end.named();
                    Id { class, number }.text()
                }
                None => return Err(id::absent_name("ownerId", OWNERS, &owner_id).into()),
            },
        };
        let class = id::decode(&owner_id).map(|(class, _)| class);
        let (owner_id, aliases) = match class.as_deref() {
            Some("Team") => {
                let team = id::require::<entity::team::Entity>(locking, &owner_id, "ownerId").await?;
                (TeamResolver::id(&team), add_alias::<team_alias::Entity>(db, &team.id, &alias).await?)
            }
            Some("System") => {
                let system = id::require::<entity::system::Entity>(locking, &owner_id, "ownerId").await?;
                (SystemResolver::id(&system), add_alias::<system_alias::Entity>(db, &system.id, &alias).await?)
            }
            Some("Domain") => {
                let domain = id::require::<entity::domain::Entity>(locking, &owner_id, "ownerId").await?;
                (DomainResolver::id(&domain), add_alias::<domain_alias::Entity>(db, &domain.id, &alias).await?)
            }
            Some("InfrastructureResource") => {
                let resource =
                    id::require::<entity::infrastructure_resource::Entity>(locking, &owner_id, "ownerId").await?;
                let aliases = add_alias::<infrastructure_resource_alias::Entity>(db, &resource.id, &alias).await?;
                (InfrastructureResourceResolver::id(&resource), aliases)
            }
            Some("Scorecard") => {
                ctx.require_role_of("scorecardUpdate")?;
                let scorecard = id::require::<entity::scorecard::Entity>(locking, &owner_id, "ownerId").await?;
                let aliases = add_alias::<scorecard_alias::Entity>(db, &scorecard.id, &alias).await?;
                (ScorecardResolver::id(&scorecard), aliases)
            }
            Some("Service") => {
                let service = id::require::<entity::service::Entity>(locking, &owner_id, "ownerId").await?;
                let service = entity::service::writable(service)?;
                let aliases = add_alias::<service_alias::Entity>(db, &service, &alias).await?;
                (Id::new::<entity::service::Entity>(service.id), aliases)
            }
            _ => {
                return Err(UserError::new("ownerId", id::stray(&owner_id, OWNERS)).not_found().into());
            }
        };
        Ok(AliasCreatePayload { owner_id: Some(owner_id), aliases, ..Default::default() })
    }
}

/// Gives the owner an alias, and returns all its aliases. Their number is limited, because whenever one changes, all of
/// them are read again for the search.
async fn add_alias<T: AliasTable>(db: &Transaction, owner: &T::Owner, alias: &str) -> Result<Option<Vec<String>>> {
    let alias = text::required("alias", alias, text::SHORT)?;
    let taken = || UserError::new("alias", format!("another {} has the alias {}", T::NOUN, quoted(&alias)));
    if !T::claim(db, owner, &alias, AliasKind::Managed).await.map_err(|error| or_taken(error, taken()))? {
        return Err(taken().into());
    }
    let aliases = all::<T>(db, [T::key(owner)]).await?.pop();
    if aliases.as_ref().is_some_and(|aliases| aliases.len() > text::ENTRIES) {
        let message = format!("the {} has {} aliases; no more can be added", T::NOUN, text::ENTRIES);
        return Err(UserError::new("alias", message).into());
    }
    Ok(aliases)
}

impl AliasDeleteMutation for Mutation {
    async fn alias_delete(ctx: &MutationCtx<'_>, input: AliasDeleteInput) -> Result<AliasDeletePayload> {
        let AliasDeleteInput { owner_type, alias } = input;
        let alias = text::trim(&alias);
        let db = ctx.db();
        match owner_type {
            AliasOwnerTypeEnum::Service => {
                let service = service::require_writable(db, Identifier::Alias(alias)).await?;
                remove_alias::<service_alias::Entity>(db, &service, alias).await?;
            }
            AliasOwnerTypeEnum::Team => {
                let team = identifier::require::<Team>(db, Identifier::Alias(alias)).await?;
                remove_alias::<team_alias::Entity>(db, &team.id, alias).await?;
            }
            AliasOwnerTypeEnum::System => {
                let system = identifier::require::<System>(db, Identifier::Alias(alias)).await?;
                remove_alias::<system_alias::Entity>(db, &system.id, alias).await?;
            }
            AliasOwnerTypeEnum::Domain => {
                let domain = identifier::require::<Domain>(db, Identifier::Alias(alias)).await?;
                remove_alias::<domain_alias::Entity>(db, &domain.id, alias).await?;
            }
            AliasOwnerTypeEnum::InfrastructureResource => {
                let resource = identifier::require::<InfrastructureResource>(db, Identifier::Alias(alias)).await?;
                remove_alias::<infrastructure_resource_alias::Entity>(db, &resource.id, alias).await?;
            }
            AliasOwnerTypeEnum::Scorecard => {
                ctx.require_role_of("scorecardUpdate")?;
                let scorecard = identifier::require::<Scorecard>(db, Identifier::Alias(alias)).await?;
                remove_alias::<scorecard_alias::Entity>(db, &scorecard.id, alias).await?;
            }
            AliasOwnerTypeEnum::Group => {
                let what = format!("group with the alias {}", quoted(alias));
                return Err(UserError::new("alias", id::absent(&what)).not_found().into());
            }
        }
        Ok(AliasDeletePayload { deleted_alias: Some(alias.to_owned()), ..Default::default() })
    }
}

/// Removes an alias from its owner, unless the alias is derived from a name.
async fn remove_alias<T: AliasTable>(db: &Transaction, owner: &T::Owner, alias: &str) -> Result<()> {
    let is_it = T::OWNER.eq(T::key(owner)).and(T::VALUE.eq(alias));
    let managed = T::delete_many().filter(is_it.clone()).filter(T::KIND.eq(AliasKind::Managed));
    if db.exec(managed).await? == 1 {
        return Ok(());
    }
    let kind = T::find().select_only().column(T::KIND).filter(is_it);
    let kind = db.rows(kind.as_query(), |row| Ok(AliasKind::try_from_value(&row.get(0)?)?)).await?.pop();
    let message = match kind {
        Some(AliasKind::Name) => "name is locked, it cannot be deleted",
        // Clients match this message.
        Some(_) => "slug is locked, it cannot be deleted",
        // Another request has removed the alias in the meantime.
        None => return Err(db::Error::LostRace.into()),
    };
    Err(UserError::new("alias", message).into())
}
