//! Tiers and lifecycle stages: two short lists that grade services. They differ only in their names.
//!
//! Invariant: a grade cannot be deleted while a service that a service file governs has it.

use sea_orm::sea_query::ExprTrait;
use sea_orm::{ActiveModelTrait, IntoActiveModel, ModelTrait, PrimaryKeyTrait, Value};

use super::field::alias::or_taken;
use super::field::id::{Class, Id};
use super::service::{refuse_locked, refuse_where_locked};
use crate::engine::input::Texts;
use crate::entity::field_rule::FieldRules;
use crate::entity::{alias, service};
use crate::graphql::prelude::*;

macro_rules! grade {
    ($table:ident, $of_service:ident) => {
        impl crate::graphql::grade::Grade for $table::Entity {
            const ID: $table::Column = $table::Column::Id;
            const ALIAS: $table::Column = $table::Column::Alias;
            const NAME: $table::Column = $table::Column::Name;
            const INDEX: $table::Column = $table::Column::Index;
            const OF_SERVICE: crate::entity::service::Column = crate::entity::service::Column::$of_service;
        }
    };
}

pub(super) mod lifecycle;
pub(super) mod tier;

/// A table of grades: tiers, or lifecycle stages.
pub(super) trait Grade:
    FieldRules
    + Class<
        Model: IntoActiveModel<<Self as EntityTrait>::ActiveModel> + Send,
        ActiveModel: Send,
        PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
    >
{
    const ID: Self::Column;
    const ALIAS: Self::Column;
    const NAME: Self::Column;
    const INDEX: Self::Column;
    /// The column of a service that refers to its grade.
    const OF_SERVICE: service::Column;
}

/// Reads all grades in their order.
pub(super) async fn all<E: Grade>(db: &dyn ReadHandle) -> Result<Vec<E::Model>> {
    Ok(db.all(E::find().order_by_asc(E::INDEX).order_by_asc(E::ID)).await?)
}

/// Adds a grade.
pub(super) async fn create<E: Grade>(
    db: &Transaction,
    name: &str,
    alias: &MaybeUndefined<String>,
    texts: &Texts,
    index: &MaybeUndefined<i32>,
) -> Result<E::Model> {
    let index = match index.value() {
        Some(index) => *index,
        None => behind_the_last::<E>(db).await?,
    };
    let mut draft = Draft::<E>::new();
    draft.set_required(E::NAME, name);
    let slug = alias::slug(name, E::NOUN);
    match alias.value() {
        Some(alias) => draft.set_required(E::ALIAS, alias),
        None => draft.row.set(E::ALIAS, slug.as_str().into()),
    }
    let alias = alias.value().unwrap_or(&slug);
    draft.set_texts(texts);
    draft.set(E::INDEX, &MaybeUndefined::Value(index));
    db.insert(draft.done()?).await.map_err(|error| or_taken(error, taken::<E>(alias)))
}

/// Changes a grade.
pub(super) async fn update<E: Grade>(
    db: &Transaction,
    id: &str,
    name: &MaybeUndefined<String>,
    alias: &MaybeUndefined<String>,
    texts: &Texts,
    index: &MaybeUndefined<i32>,
) -> Result<E::Model> {
    let grade = id::require::<E>(db, id, "id").await?;
    let mut draft = Draft::<E>::from_row(grade);
    draft.set(E::NAME, name);
    draft.set(E::ALIAS, alias);
    draft.set_texts(texts);
    draft.set(E::INDEX, index);
    let alias = alias.value().map_or("", String::as_str);
    db.update(draft.done()?).await.map_err(|error| or_taken(error, taken::<E>(alias)))
}

/// Deletes a grade.
pub(super) async fn delete<E: Grade>(ctx: &MutationCtx<'_>, id: &str) -> Result<Option<Id>> {
    let db = ctx.db();
    let grade = id::require::<E>(&db.locking(LockType::Update), id, "id").await?;
    let Value::BigInt(Some(number)) = grade.get(E::ID) else { return Err(Error::internal("a grade has no key")) };
    refuse_locked(db, E::OF_SERVICE.eq(number)).await?;
    ctx.shed_first::<E>(number).await?;
    refuse_where_locked(db, E::OF_SERVICE.eq(number)).await?;
    db.delete(grade).await?;
    Ok(Some(Id::new::<E>(number)))
}

async fn behind_the_last<E: Grade>(db: &Transaction) -> Result<i32, db::Error> {
    let last = Expr::col(E::INDEX).max();
    let last = db.rows(E::find().select_only().expr(last).as_query(), |row| row.get::<Option<i32>>(0)).await?;
    Ok(last.into_iter().next().flatten().map_or(1, |last| last.saturating_add(1)))
}

fn taken<E: Grade>(alias: &str) -> UserError {
    UserError::new("alias", format!("another {} has the alias {}", E::NOUN, quoted(alias)))
}
