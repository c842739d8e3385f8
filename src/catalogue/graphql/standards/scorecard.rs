//! Scorecards: sets of checks of one team. A check belongs to a scorecard by belonging to its category.

use super::check;
use crate::entity::alias::AliasTable;
use crate::entity::scorecard::{self, Column, Entity, MOST};
use crate::entity::{category, pages, scorecard_alias};
use crate::graphql::field::alias;
use crate::graphql::filter;
use crate::graphql::prelude::*;

impl ScorecardResolver for Scorecard {
    async fn href(scorecards: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        let href = |scorecard: &&Self| pages::url(app_url, ["standards", "scorecards", &scorecard.slug]);
        Ok(scorecards.iter().map(href).collect())
    }

    async fn passing_checks(scorecards: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<i32>> {
        let tallies = check::tallies(ctx, &sets(scorecards)).await?;
        Ok(tallies.into_iter().map(|tally| check::shown(tally.passed)).collect())
    }

    async fn total_checks(scorecards: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<i32>> {
        let tallies = check::tallies(ctx, &sets(scorecards)).await?;
        Ok(tallies.into_iter().map(|tally| check::shown(tally.total)).collect())
    }

    async fn passing_checks_percentage(scorecards: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<f64>> {
        let tallies = check::tallies(ctx, &sets(scorecards)).await?;
        let percentage =
            |check::Tally { total, passed }| if total == 0 { 0.0 } else { 100.0 * passed as f64 / total as f64 };
        Ok(tallies.into_iter().map(percentage).collect())
    }

    async fn service_count(scorecards: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<i32>> {
        let filters: Vec<_> = scorecards.iter().map(|scorecard| scorecard.filter_id).collect();
        Ok(check::sizes(ctx, &filters).await?.into_iter().map(check::shown).collect())
    }

    async fn services_report(scorecards: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<ScorecardServicesReport>>> {
        let mut reports = Vec::with_capacity(scorecards.len());
        for scorecard in scorecards {
            let level_counts =
                check::levels(ctx, check::CheckSet::Scorecard(scorecard.id), scorecard.filter_id).await?;
            reports.push(Some(ScorecardServicesReport { level_counts }));
        }
        Ok(reports)
    }

    async fn categories(
        scorecards: &[&Self],
        args: &PageArguments,
        ctx: &Ctx<'_>,
    ) -> Result<Vec<CategoryConnectionType>> {
        let own = List::<category::Entity>::new(category::Column::Id)
            .of_parents(category::Column::ScorecardId, scorecards.iter().map(|scorecard| scorecard.id));
        own.pages(ctx, &args.request()?).await
    }

    relations! { |scorecards: Self, args, ctx|
        aliases() -> Vec<String> =
            alias::all::<scorecard_alias::Entity>(ctx.db(), scorecards.iter().map(|scorecard| scorecard.id)).await;
        reports() -> Vec<CheckReport> = check::reports_of(ctx, &sets(scorecards)).await;
        history(ScorecardHistoryArgs) -> Vec<CheckDay> = check::days_of_sets(ctx, &sets(scorecards), &args.days).await;
    }
}

/// The checks of the scorecards.
fn sets(scorecards: &[&Scorecard]) -> Vec<check::CheckSet> {
    scorecards.iter().map(|scorecard| check::CheckSet::Scorecard(scorecard.id)).collect()
}

/// All scorecards, a page at a time.
pub(in crate::graphql) async fn page(args: &PageArguments, ctx: &Ctx<'_>) -> Result<ScorecardConnectionType> {
    List::<Entity>::new(Column::Id).page(ctx, &args.request()?).await
}

/// Checks an input. Returns the row to write, and the name.
async fn draft(
    db: &Transaction,
    mut draft: Draft<Entity>,
    input: ScorecardInput,
) -> Result<(scorecard::ActiveModel, String)> {
    let ScorecardInput { affects_overall_service_levels, filter_id, name, owner_id, texts } = input;
    draft.set_required(Column::Name, &name);
    draft.set_texts(&texts);
    // Null counts as absent.
    if affects_overall_service_levels.is_value() {
        draft.set(Column::AffectsOverallServiceLevels, &affects_overall_service_levels);
    }
    draft.refer(db, Column::OwnerId, &MaybeUndefined::Value(owner_id)).await?;
    if let Some(key) = filter::given(db, &mut draft.problems, &filter_id).await? {
        draft.row.filter_id = Set(key);
    }
    Ok((draft.done()?, name))
}

impl ScorecardCreateMutation for Mutation {
    async fn scorecard_create(ctx: &MutationCtx<'_>, input: ScorecardInput) -> Result<ScorecardPayload> {
        let db = ctx.db();
        let mut new = Draft::<Entity>::new();
        new.row.affects_overall_service_levels = Set(false);
        let (row, name) = draft(db, new, input).await?;
        let now = Timestamp::now();
        let row =
            scorecard::ActiveModel { slug: Set(String::new()), created_at: Set(now), updated_at: Set(now), ..row };
        let scorecard = db.insert(row).await?;
        if db.count(Entity::find()).await? > MOST as u64 {
            return Err(UserError::base(format!("no scorecard can be added: there are at most {MOST}")).into());
        }
        let slug = scorecard_alias::Entity::claim_slug(db, &scorecard.id, &name).await?;
        let own = category::ActiveModel {
            name: Set(scorecard.name.clone()),
            scorecard_id: Set(Some(scorecard.id)),
            ..Default::default()
        };
        db.insert(own).await?;
        let row = scorecard::ActiveModel { slug: Set(slug), ..scorecard.into() };
        Ok(ScorecardPayload { scorecard: Some(db.update(row).await?), ..Default::default() })
    }
}

/// The categories of a scorecard.
async fn categories(db: &Transaction, scorecard: i64) -> Result<Vec<category::Model>> {
    let own = category::Entity::find().filter(category::Column::ScorecardId.eq(scorecard));
    Ok(db.all(own).await?)
}

impl ScorecardUpdateMutation for Mutation {
    async fn scorecard_update(
        ctx: &MutationCtx<'_>,
        scorecard: IdentifierInput,
        input: ScorecardInput,
    ) -> Result<ScorecardPayload> {
        let db = ctx.db();
        let scorecard = identifier::locked::<Scorecard>(db, "scorecard", &scorecard, LockType::Update).await?;
        let (id, before) = (scorecard.id, scorecard.name.clone());
        let (mut row, name) = draft(db, Draft::from_row(scorecard), input).await?;
        row.slug = Set(scorecard_alias::Entity::claim_slug(db, &id, &name).await?);
        let scorecard = db.update(row).await?;
        if scorecard.name != before {
            for own in categories(db, id).await?.into_iter().filter(|own| own.name == before) {
                let row = category::ActiveModel { name: Set(scorecard.name.clone()), ..own.into() };
                db.update(row).await?;
            }
        }
        Ok(ScorecardPayload { scorecard: Some(scorecard), ..Default::default() })
    }
}

impl ScorecardDeleteMutation for Mutation {
    async fn scorecard_delete(ctx: &MutationCtx<'_>, input: IdentifierInput) -> Result<ScorecardDeletePayload> {
        let db = ctx.db();
        let named = Identifier::new(&input.id, &input.alias)?;
        let scorecard: Scorecard = identifier::require(&db.locking(LockType::Update), named).await?;
        for own in categories(db, scorecard.id).await? {
            db.delete(own).await.map_err(check::or_used("scorecard"))?;
        }
        let deleted_scorecard_id = Some(ScorecardResolver::id(&scorecard));
        db.delete(scorecard).await?;
        Ok(ScorecardDeletePayload { deleted_scorecard_id, ..Default::default() })
    }
}
