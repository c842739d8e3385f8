//! Saved filters of services, and what one predicate means in SQL; `service/service_filter.rs` joins predicates to one
//! condition.
//!
//! Invariants: a filter has at most [`MOST`] predicates. One that a check, a scorecard or a campaign uses cannot be
//! deleted.

use super::service::service_filter::MOST;
use super::standards::check;
use crate::entity::filter::{self, Column, Entity};
use crate::entity::{filter_predicate, pages};
use crate::graphql::prelude::*;

pub mod predicate;
pub(super) mod predicate_key;

impl FilterResolver for Filter {
    fn connective(&self) -> Option<ConnectiveEnum> {
        self.connective.as_deref().and_then(ConnectiveEnum::from_word)
    }

    async fn html_url(filters: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        let of = |filter: &&Self| {
            format!("{}?filter={}", pages::url(app_url, ["services"]), FilterResolver::id(*filter).text())
        };
        Ok(filters.iter().map(of).collect())
    }

    async fn predicates(filters: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<FilterPredicate>>> {
        let predicates = List::<filter_predicate::Entity>::new(filter_predicate::Column::Id)
            .of_parents(filter_predicate::Column::FilterId, filters.iter().map(|filter| filter.id));
        predicates.first_n_per_parent(ctx.db(), MOST as u64).await
    }
}

impl FilterPredicateResolver for FilterPredicate {
    fn key(&self) -> PredicateKeyEnum {
        // Mutations write only words of the enums, so the fallbacks are not expected.
        PredicateKeyEnum::from_word(&self.key).unwrap_or(PredicateKeyEnum::Name)
    }

    fn r#type(&self) -> PredicateTypeEnum {
        PredicateTypeEnum::from_word(&self.r#type).unwrap_or(PredicateTypeEnum::Exists)
    }
}

/// The key of the filter that the field `filterId` of an input names. The outer `None` leaves the column unchanged, the
/// inner one clears it. Adds a wrong id to `problems`.
pub(super) async fn given(
    db: &Transaction,
    problems: &mut Problems,
    given: &MaybeUndefined<String>,
) -> Result<Option<Option<i64>>> {
    match given {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => Ok(Some(None)),
        MaybeUndefined::Value(id) => {
            let found = id::require::<Entity>(db, id, "filterId").await.map(|filter| Some(filter.id));
            problems.take_any(found)
        }
    }
}

/// All saved filters, a page at a time.
pub(super) async fn page(ctx: &Ctx<'_>, request: &PageRequest) -> Result<FilterConnectionType> {
    List::<Entity>::new(Column::Id).page(ctx, request).await
}

/// Converts the predicates of an input to rows, or reports everything that is wrong with them.
fn rows(given: &[FilterPredicateInput]) -> Result<Vec<filter_predicate::ActiveModel>> {
    if given.len() > MOST {
        return Err(UserError::new("predicates", format!("a filter has at most {MOST} predicates")).into());
    }
    let mut problems = Problems::default();
    let mut rows = Vec::with_capacity(given.len());
    for (place, FilterPredicateInput { case_sensitive, key, key_data, r#type, value }) in given.iter().enumerate() {
        let within = |error: UserError| error.within(place.to_string()).within("predicates");
        let key_data = key_data.value().map(|text| text::at_most("keyData", text, text::SHORT)).transpose();
        let value = value.value().map(|text| text::at_most("value", text, text::TAG_VALUE)).transpose();
        rows.push(filter_predicate::ActiveModel {
            key: Set(key.as_str().to_owned()),
            key_data: Set(problems.take(key_data.map_err(within)).flatten()),
            r#type: Set(r#type.as_str().to_owned()),
            value: Set(problems.take(value.map_err(within)).flatten()),
            case_sensitive: Set(case_sensitive.value().copied()),
            ..Default::default()
        });
    }
    problems.none()?;
    Ok(rows)
}

/// Replaces the predicates of a filter.
async fn replace(db: &Transaction, filter: i64, rows: Vec<filter_predicate::ActiveModel>) -> Result<()> {
    db.exec(filter_predicate::Entity::delete_many().filter(filter_predicate::Column::FilterId.eq(filter))).await?;
    for row in rows {
        db.insert(filter_predicate::ActiveModel { filter_id: Set(filter), ..row }).await?;
    }
    Ok(())
}

impl FilterCreateMutation for Mutation {
    async fn filter_create(ctx: &MutationCtx<'_>, input: FilterCreateInput) -> Result<FilterCreatePayload> {
        let FilterCreateInput { connective, name, predicates } = input;
        let db = ctx.db();
        let mut draft = Draft::<Entity>::new();
        draft.set_required(Column::Name, &name);
        let rows = rows(predicates.value().map(Vec::as_slice).unwrap_or_default());
        let rows = draft.problems.take_any(rows)?.unwrap_or_default();
        let now = Timestamp::now();
        let row = filter::ActiveModel {
            connective: Set(connective.value().map(|word| word.as_str().to_owned())),
            created_at: Set(now),
            updated_at: Set(now),
            ..draft.done()?
        };
        let filter = db.insert(row).await?;
        replace(db, filter.id, rows).await?;
        Ok(FilterCreatePayload { filter: Some(filter), ..Default::default() })
    }
}

impl FilterUpdateMutation for Mutation {
    async fn filter_update(ctx: &MutationCtx<'_>, input: FilterUpdateInput) -> Result<FilterUpdatePayload> {
        let FilterUpdateInput { connective, id, name, predicates } = input;
        let db = ctx.db();
        let filter = id::require::<Entity>(&db.locking(LockType::Update), &id, "id").await?;
        let filter_id = filter.id;
        let mut draft = Draft::<Entity>::from_row(filter);
        draft.set(Column::Name, &name);
        let rows = match &predicates {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(Vec::new()),
            MaybeUndefined::Value(given) => draft.problems.take_any(rows(given))?,
        };
        let mut row = draft.done()?;
        if !connective.is_undefined() {
            row.connective = Set(connective.value().map(|word| word.as_str().to_owned()));
        }
        touch(&mut row.updated_at);
        let filter = db.update(row).await?;
        if let Some(rows) = rows {
            replace(db, filter_id, rows).await?;
        }
        Ok(FilterUpdatePayload { filter: Some(filter), ..Default::default() })
    }
}

impl FilterDeleteMutation for Mutation {
    async fn filter_delete(ctx: &MutationCtx<'_>, input: DeleteInput) -> Result<FilterDeletePayload> {
        let DeleteInput { id } = input;
        let db = ctx.db();
        let filter = id::require::<Entity>(db, &id, "id").await?;
        let deleted_id = Some(FilterResolver::id(&filter));
        db.delete(filter).await.map_err(check::or_used_by("checks, scorecards or campaigns", "filter"))?;
        Ok(FilterDeletePayload { deleted_id, ..Default::default() })
    }
}
