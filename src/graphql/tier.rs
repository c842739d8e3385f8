//! Tiers and lifecycle stages: two short lists that services are graded by. They are alike but for their names, so what
//! they do is written once, for a [`Grade`].

use async_graphql::MaybeUndefined;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, DbErr, EntityTrait, IntoActiveModel, ModelTrait,
    PrimaryKeyTrait, QueryFilter, QueryOrder, QuerySelect, Value,
};

use super::alias::or_taken;
use super::context::MutationCtx;
use super::hold::hold;
use super::id::{self, Class, Id};
use super::schema::*;
use super::service::refuse_where_locked;
use super::text;
use super::types::{Lifecycle, Tier};
use crate::db::Read;
use crate::entity::{alias, lifecycle, service, tier};
use crate::error::{Problems, Result, UserError, quoted};

/// A table of grades.
pub(super) trait Grade:
    Class<
        Model: IntoActiveModel<<Self as EntityTrait>::ActiveModel> + Send,
        ActiveModel: Send,
        PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
    >
{
    const ID: Self::Column;
    const ALIAS: Self::Column;
    const NAME: Self::Column;
    const DESCRIPTION: Self::Column;
    const INDEX: Self::Column;
    /// The column of the services that are in this grade.
    const OF_SERVICE: service::Column;
}

macro_rules! grade {
    ($table:ident, $of_service:ident) => {
        impl Grade for $table::Entity {
            const ID: $table::Column = $table::Column::Id;
            const ALIAS: $table::Column = $table::Column::Alias;
            const NAME: $table::Column = $table::Column::Name;
            const DESCRIPTION: $table::Column = $table::Column::Description;
            const INDEX: $table::Column = $table::Column::Index;
            const OF_SERVICE: service::Column = service::Column::$of_service;
        }
    };
}

grade!(tier, TierId);
grade!(lifecycle, LifecycleId);

/// The key of the tier that a write names; nothing for null and absent.
pub(super) async fn key(db: &DatabaseTransaction, alias: &MaybeUndefined<String>) -> Result<Option<i64>> {
    key_of::<tier::Entity>(db, "tierAlias", alias).await
}

/// The same for a lifecycle stage.
pub(super) async fn lifecycle_key(db: &DatabaseTransaction, alias: &MaybeUndefined<String>) -> Result<Option<i64>> {
    key_of::<lifecycle::Entity>(db, "lifecycleAlias", alias).await
}

async fn key_of<E: Grade>(
    db: &DatabaseTransaction,
    field: &'static str,
    alias: &MaybeUndefined<String>,
) -> Result<Option<i64>> {
    let Some(alias) = alias.value().filter(|alias| !alias.is_empty()) else { return Ok(None) };
    let key = E::find().select_only().column(E::ID).filter(E::ALIAS.eq(alias)).into_tuple().one(db).await?;
    let unknown = || UserError::new(field, format!("no {} has the alias {}", E::NOUN, quoted(alias))).not_found();
    Ok(Some(key.ok_or_else(unknown)?))
}

/// The whole list in its order.
pub(super) async fn all<E: Grade>(db: &impl Read) -> Result<Vec<E::Model>> {
    Ok(db.all(E::find().order_by_asc(E::INDEX).order_by_asc(E::ID)).await?)
}

impl TierResolver for Tier {}

impl LifecycleResolver for Lifecycle {}

async fn create<E: Grade>(
    db: &DatabaseTransaction,
    name: &str,
    alias: &MaybeUndefined<String>,
    description: &MaybeUndefined<String>,
    index: &MaybeUndefined<i32>,
) -> Result<E::Model> {
    let mut problems = Problems::default();
    let name = problems.take(text::required("name", name, text::SHORT));
    let alias = match alias.value() {
        Some(alias) => problems.take(text::required("alias", alias, text::SHORT)),
        None => name.as_deref().map(|name| alias::slug(name, E::NOUN)),
    };
    let description = problems.take(text::optional("description", description, text::DESCRIPTION));
    let index = match index.value() {
        Some(index) => problems.take(place(*index)),
        None => Some(behind_the_last::<E>(db).await?),
    };
    problems.none()?;

    let alias = alias.unwrap_or_default();
    let taken = taken::<E>(&alias);
    let mut row = <E::ActiveModel as ActiveModelTrait>::default();
    row.set(E::NAME, name.into());
    row.set(E::ALIAS, alias.into());
    row.set(E::DESCRIPTION, description.flatten().into());
    row.set(E::INDEX, index.into());
    row.insert(db).await.map_err(|error| or_taken(error, taken))
}

async fn update<E: Grade>(
    db: &DatabaseTransaction,
    id: &str,
    name: &MaybeUndefined<String>,
    alias: &MaybeUndefined<String>,
    description: &MaybeUndefined<String>,
    index: &MaybeUndefined<i32>,
) -> Result<E::Model> {
    let grade = id::require::<E>(db, id, "id").await?;
    let mut problems = Problems::default();
    let name = problems.take(text::renamed("name", name)).flatten();
    let alias = problems.take(text::renamed("alias", alias)).flatten();
    let description = problems.take(text::changed("description", description, text::DESCRIPTION)).flatten();
    let index = match index {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => problems.take(Err(UserError::new("index", "index must not be null"))),
        MaybeUndefined::Value(index) => problems.take(place(*index)),
    };
    problems.none()?;

    let taken = taken::<E>(alias.as_deref().unwrap_or_default());
    let changes: [(E::Column, Option<Value>); 4] = [
        (E::NAME, name.map(Value::from)),
        (E::ALIAS, alias.map(Value::from)),
        (E::DESCRIPTION, description.map(Value::from)),
        (E::INDEX, index.map(Value::from)),
    ];
    let mut row = grade.into_active_model();
    for (column, value) in changes {
        if let Some(value) = value {
            row.set(column, value);
        }
    }
    row.update(db).await.map_err(|error| or_taken(error, taken))
}

async fn delete<E: Grade>(db: &DatabaseTransaction, id: &str) -> Result<Option<Id>> {
    id::require::<E>(db, id, "id").await?;
    let Some(number) = id::number::<E>(id) else { return Ok(None) };
    let grade = hold::<E>(db, number).await?;
    refuse_where_locked(db, E::OF_SERVICE.eq(number)).await?;
    grade.delete(db).await?;
    Ok(Some(Id::of::<E>(number)))
}

fn place(index: i32) -> Result<i32, UserError> {
    if index < 0 { Err(UserError::new("index", "index must not be negative")) } else { Ok(index) }
}

async fn behind_the_last<E: Grade>(db: &DatabaseTransaction) -> Result<i32, DbErr> {
    let last = Expr::col(E::INDEX).max();
    let last: Option<Option<i32>> = E::find().select_only().expr(last).into_tuple().one(db).await?;
    Ok(last.flatten().map_or(1, |last| last.saturating_add(1)))
}

fn taken<E: Grade>(alias: &str) -> UserError {
    UserError::new("alias", format!("another {} has the alias {}", E::NOUN, quoted(alias)))
}

impl TierCreateMutation for Mutation {
    async fn tier_create(ctx: &MutationCtx<'_>, input: TierCreateInput) -> Result<TierCreatePayload> {
        let TierCreateInput { name, alias, description, index } = input;
        let tier = create::<tier::Entity>(ctx.db(), &name, &alias, &description, &index).await?;
        Ok(TierCreatePayload { tier: Some(tier), ..Default::default() })
    }
}

impl TierUpdateMutation for Mutation {
    async fn tier_update(ctx: &MutationCtx<'_>, input: TierUpdateInput) -> Result<TierUpdatePayload> {
        let TierUpdateInput { id, name, alias, description, index } = input;
        let tier = update::<tier::Entity>(ctx.db(), &id, &name, &alias, &description, &index).await?;
        Ok(TierUpdatePayload { tier: Some(tier), ..Default::default() })
    }
}

impl TierDeleteMutation for Mutation {
    async fn tier_delete(ctx: &MutationCtx<'_>, input: TierDeleteInput) -> Result<TierDeletePayload> {
        let TierDeleteInput { id } = input;
        let deleted_tier_id = delete::<tier::Entity>(ctx.db(), &id).await?;
        Ok(TierDeletePayload { deleted_tier_id, ..Default::default() })
    }
}

impl LifecycleCreateMutation for Mutation {
    async fn lifecycle_create(ctx: &MutationCtx<'_>, input: LifecycleCreateInput) -> Result<LifecycleCreatePayload> {
        let LifecycleCreateInput { name, alias, description, index } = input;
        let lifecycle = create::<lifecycle::Entity>(ctx.db(), &name, &alias, &description, &index).await?;
        Ok(LifecycleCreatePayload { lifecycle: Some(lifecycle), ..Default::default() })
    }
}

impl LifecycleUpdateMutation for Mutation {
    async fn lifecycle_update(ctx: &MutationCtx<'_>, input: LifecycleUpdateInput) -> Result<LifecycleUpdatePayload> {
        let LifecycleUpdateInput { id, name, alias, description, index } = input;
        let lifecycle = update::<lifecycle::Entity>(ctx.db(), &id, &name, &alias, &description, &index).await?;
        Ok(LifecycleUpdatePayload { lifecycle: Some(lifecycle), ..Default::default() })
    }
}

impl LifecycleDeleteMutation for Mutation {
    async fn lifecycle_delete(ctx: &MutationCtx<'_>, input: LifecycleDeleteInput) -> Result<LifecycleDeletePayload> {
        let LifecycleDeleteInput { id } = input;
        let deleted_lifecycle_id = delete::<lifecycle::Entity>(ctx.db(), &id).await?;
        Ok(LifecycleDeletePayload { deleted_lifecycle_id, ..Default::default() })
    }
}
