//! The rubric: the levels and categories that services are measured by. `check` has its checks.

use sea_orm::Select;
use sea_orm::sea_query::ExprTrait;

use super::check;
use crate::entity::text::FEW;
use crate::entity::{alias, category, level};
use crate::graphql::field::alias::or_taken;
use crate::graphql::field::id::Class;
use crate::graphql::prelude::*;

/// The rubric of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rubric;

impl RubricResolver for Rubric {
    async fn levels(rubrics: &[&Self], args: &PageArguments, ctx: &Ctx<'_>) -> Result<Vec<LevelConnectionType>> {
        let levels = List::<level::Entity>::new(level::Column::Id).ordered_by(level::Column::Index);
        let page = levels.page(ctx, &args.request()?).await?;
        Ok(vec![page; rubrics.len()])
    }

    async fn categories(rubrics: &[&Self], args: &PageArguments, ctx: &Ctx<'_>) -> Result<Vec<CategoryConnectionType>> {
        let own = List::<category::Entity>::new(category::Column::Id).filter(category::Column::ScorecardId.is_null());
        let page = own.page(ctx, &args.request()?).await?;
        Ok(vec![page; rubrics.len()])
    }

    async fn checks(rubrics: &[&Self], args: &PageArguments, ctx: &Ctx<'_>) -> Result<Vec<CheckConnectionType>> {
        let mut pages = Vec::with_capacity(rubrics.len());
        for _ in rubrics {
            pages.push(check::page(args, ctx).await?);
        }
        Ok(pages)
    }

    async fn reports(rubrics: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<CheckReport>>> {
        let mut reports = Vec::with_capacity(rubrics.len());
        for _ in rubrics {
            reports.push(check::reports(ctx).await?);
        }
        Ok(reports)
    }
}

impl LevelResolver for Level {
    fn alias(&self) -> Option<&str> {
        Some(&self.alias)
    }

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn index(&self) -> Option<i32> {
        Some(self.index)
    }

    async fn checks(levels: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Vec<Check>>>> {
        check::of_levels(levels, ctx).await
    }
}

impl CategoryResolver for Category {
    async fn history(categories: &[&Self], args: &CategoryHistoryArgs, ctx: &Ctx<'_>) -> Result<Vec<Vec<CheckDay>>> {
        check::days_of_categories(categories, &args.days, ctx).await
    }
}

/// Fails if there are more of these rows than allowed. Call it after the insert.
pub(in crate::graphql) async fn refuse_too_many<E: Class>(db: &Transaction, rows: Select<E>) -> Result<()>
where
    E::Model: Sync,
{
    if db.count(rows).await? > FEW as u64 {
        return Err(UserError::base(format!("no {} can be added: there are at most {FEW}", E::NOUN)).into());
    }
    Ok(())
}

/// Converts the error of an insertion: to one that says that the alias of a new level is taken, if it is.
pub(in crate::graphql) fn level_taken(error: db::Error, name: &str) -> Error {
    let slug = alias::slug(name, "level");
    or_taken(error, UserError::new("name", format!("another level has the alias {}", quoted(&slug))))
}

impl LevelCreateMutation for Mutation {
    async fn level_create(ctx: &MutationCtx<'_>, input: LevelCreateInput) -> Result<LevelCreatePayload> {
        let LevelCreateInput { index, name, texts } = input;
        let db = ctx.db();
        let mut draft = Draft::<level::Entity>::new();
        draft.set_required(level::Column::Name, &name);
        draft.set_texts(&texts);
        // Null counts as absent: the new level comes last.
        if index.is_value() {
            draft.set(level::Column::Index, &index);
        }
        let mut row = draft.done()?;
        if index.value().is_none() {
            let last = level::Entity::find().select_only().expr(Expr::col(level::Column::Index).max());
            let last = db.rows(last.as_query(), |row| row.get::<Option<i32>>(0)).await?;
            row.index = Set(last.into_iter().next().flatten().map_or(0, |last| last.saturating_add(1)));
        }
        row.alias = Set(alias::slug(&name, "level"));
        let level = db.insert(row).await.map_err(|error| level_taken(error, &name))?;
        refuse_too_many(db, level::Entity::find()).await?;
        Ok(LevelCreatePayload { level: Some(level), ..Default::default() })
    }
}

impl LevelUpdateMutation for Mutation {
    async fn level_update(ctx: &MutationCtx<'_>, input: LevelUpdateInput) -> Result<LevelUpdatePayload> {
        let LevelUpdateInput { id, name, texts } = input;
        let db = ctx.db();
        let mut draft = Draft::<level::Entity>::from_row(id::require::<level::Entity>(db, &id, "id").await?);
        draft.set(level::Column::Name, &name);
        draft.set_texts(&texts);
        Ok(LevelUpdatePayload { level: Some(db.update(draft.done()?).await?), ..Default::default() })
    }
}

impl LevelDeleteMutation for Mutation {
    async fn level_delete(ctx: &MutationCtx<'_>, input: LevelDeleteInput) -> Result<LevelDeletePayload> {
        let LevelDeleteInput { id } = input;
        let level = id::require::<level::Entity>(ctx.db(), &id, "id").await?;
        let deleted_level_id = Some(LevelResolver::id(&level));
        ctx.db().delete(level).await.map_err(check::or_used("level"))?;
        Ok(LevelDeletePayload { deleted_level_id, ..Default::default() })
    }
}

fn taken(name: &str) -> UserError {
    UserError::new("name", format!("another category has the name {}", quoted(name)))
}

impl CategoryCreateMutation for Mutation {
    async fn category_create(ctx: &MutationCtx<'_>, input: CategoryCreateInput) -> Result<CategoryCreatePayload> {
        let CategoryCreateInput { name, texts } = input;
        let db = ctx.db();
        let mut draft = Draft::<category::Entity>::new();
        draft.set_required(category::Column::Name, &name);
        draft.set_texts(&texts);
        let category = db.insert(draft.done()?).await.map_err(|error| or_taken(error, taken(&name)))?;
        refuse_too_many(db, category::Entity::find().filter(category::Column::ScorecardId.is_null())).await?;
        Ok(CategoryCreatePayload { category: Some(category), ..Default::default() })
    }
}

impl CategoryUpdateMutation for Mutation {
    async fn category_update(ctx: &MutationCtx<'_>, input: CategoryUpdateInput) -> Result<CategoryUpdatePayload> {
        let CategoryUpdateInput { id, name, texts } = input;
        let db = ctx.db();
        let mut draft = Draft::<category::Entity>::from_row(id::require::<category::Entity>(db, &id, "id").await?);
        draft.set(category::Column::Name, &name);
        draft.set_texts(&texts);
        let taken = taken(name.value().map_or("", String::as_str));
        let category = db.update(draft.done()?).await.map_err(|error| or_taken(error, taken))?;
        Ok(CategoryUpdatePayload { category: Some(category), ..Default::default() })
    }
}

impl CategoryDeleteMutation for Mutation {
    async fn category_delete(ctx: &MutationCtx<'_>, input: CategoryDeleteInput) -> Result<CategoryDeletePayload> {
        let CategoryDeleteInput { id } = input;
        let category = id::require::<category::Entity>(ctx.db(), &id, "id").await?;
        if category.scorecard_id.is_some() {
            return Err(UserError::new("id", "this is the category of a scorecard: delete the scorecard").into());
        }
        let deleted_category_id = Some(CategoryResolver::id(&category));
        ctx.db().delete(category).await.map_err(check::or_used("category"))?;
        Ok(CategoryDeletePayload { deleted_category_id, ..Default::default() })
    }
}
