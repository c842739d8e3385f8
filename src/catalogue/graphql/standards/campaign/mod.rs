//! Campaigns: what clients read of them, and the mutations that change them.
//!
//! Invariant: a campaign is locked before it is changed. The dates of one that has ended do not change, and no check is
//! copied to it.

use crate::entity::campaign::{self, Column, Entity, MOST, Status};
use crate::entity::{check as checks, pages};
use crate::graphql::filter;
use crate::graphql::prelude::*;
use crate::graphql::standards::check;

mod page;

pub(in crate::graphql) use page::page;

impl CampaignResolver for Campaign {
    async fn check_stats(campaigns: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Stats>>> {
        let tallies = check::tallies(ctx, &sets(campaigns)).await?;
        let stats = |tally: check::Tally| {
            Some(Stats { total: check::shown(tally.total), total_successful: check::shown(tally.passed) })
        };
        Ok(tallies.into_iter().map(stats).collect())
    }

    async fn service_stats(campaigns: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Option<Stats>>> {
        let filters: Vec<_> = campaigns.iter().map(|campaign| campaign.filter_id).collect();
        let totals = check::sizes(ctx, &filters).await?;
        let sets: Vec<_> = sets(campaigns).into_iter().zip(totals).collect();
        let complete = check::complete(ctx, &sets).await?;
        let stats = |((_, total), complete): (&(_, i64), i64)| {
            Some(Stats { total: check::shown(*total), total_successful: check::shown(complete) })
        };
        Ok(sets.iter().zip(complete).map(stats).collect())
    }

    fn start_date(&self) -> Option<Timestamp> {
        self.start_at
    }

    fn target_date(&self) -> Option<Timestamp> {
        self.target_at
    }

    fn ended_date(&self) -> Option<Timestamp> {
        self.ended_at
    }

    async fn html_url(campaigns: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        let url =
            |campaign: &&Self| pages::url(app_url, ["standards", "campaigns", &CampaignResolver::id(*campaign).text()]);
        Ok(campaigns.iter().map(url).collect())
    }

    fn raw_project_brief(&self) -> Option<&str> {
        self.project_brief.as_deref()
    }

    async fn reminder(campaigns: &[&Self], _: &Ctx<'_>) -> Result<Vec<Option<CampaignReminder>>> {
        Ok(campaigns.iter().map(|_| None).collect())
    }

    fn status(&self) -> CampaignStatusEnum {
        word(campaign::Model::status(self, Timestamp::now()))
    }

    relations! { |campaigns: Self, args, ctx|
        checks(PageArguments) -> CheckConnectionType =
            check::of_campaigns(campaigns.iter().map(|campaign| campaign.id), args, ctx).await;
        reports() -> Vec<CheckReport> = check::reports_of(ctx, &sets(campaigns)).await;
        history(CampaignHistoryArgs) -> Vec<CheckDay> = check::days_of_sets(ctx, &sets(campaigns), &args.days).await;
    }
}

/// The checks of the campaigns.
fn sets(campaigns: &[&Campaign]) -> Vec<check::CheckSet> {
    campaigns.iter().map(|campaign| check::CheckSet::Campaign(campaign.id)).collect()
}

fn word(status: Status) -> CampaignStatusEnum {
    same!(status, Status => CampaignStatusEnum { Draft Scheduled InProgress Delayed Ended })
}

impl CampaignCreateMutation for Mutation {
    async fn campaign_create(ctx: &MutationCtx<'_>, input: CampaignCreateInput) -> Result<CampaignCreatePayload> {
        let CampaignCreateInput { filter_id, name, owner_id, texts } = input;
        let db = ctx.db();
        let mut draft = Draft::<Entity>::new();
        draft.set_required(Column::Name, &name);
        draft.set_texts(&texts);
        draft.refer(db, Column::OwnerId, &MaybeUndefined::Value(owner_id)).await?;
        if let Some(key) = filter::given(db, &mut draft.problems, &filter_id).await? {
            draft.row.filter_id = Set(key);
        }
        let now = Timestamp::now();
        let row = campaign::ActiveModel { created_at: Set(now), updated_at: Set(now), ..draft.done()? };
        let campaign = db.insert(row).await?;
        if db.count(Entity::find()).await? > MOST as u64 {
            return Err(UserError::base(format!("no campaign can be added: there are at most {MOST}")).into());
        }
        Ok(CampaignCreatePayload { campaign: Some(campaign), ..Default::default() })
    }
}

/// The campaign of this id, locked.
async fn locked(db: &Transaction, id: &str, field: &'static str) -> Result<Campaign> {
    id::require::<Entity>(&db.locking(LockType::Update), id, field).await
}

/// Refuses a campaign that has ended.
fn open(campaign: Campaign, field: &'static str) -> Result<Campaign> {
    if campaign.ended_at.is_some() {
        return Err(UserError::new(field, "this campaign has ended").into());
    }
    Ok(campaign)
}

/// Stores a changed campaign.
async fn changed(db: &Transaction, row: campaign::ActiveModel) -> Result<Option<Campaign>> {
    Ok(Some(db.update(row).await?))
}

impl CampaignUpdateMutation for Mutation {
    async fn campaign_update(ctx: &MutationCtx<'_>, input: CampaignUpdateInput) -> Result<CampaignUpdatePayload> {
        let CampaignUpdateInput { filter_id, id, name, owner_id, texts } = input;
        let db = ctx.db();
        let mut draft = Draft::<Entity>::from_row(locked(db, &id, "id").await?);
        draft.set(Column::Name, &name);
        draft.set_texts(&texts);
        draft.refer(db, Column::OwnerId, &owner_id).await?;
        if let Some(key) = filter::given(db, &mut draft.problems, &filter_id).await? {
            draft.row.filter_id = Set(key);
        }
        Ok(CampaignUpdatePayload { campaign: changed(db, draft.done()?).await?, ..Default::default() })
    }
}

impl CampaignScheduleUpdateMutation for Mutation {
    async fn campaign_schedule_update(
        ctx: &MutationCtx<'_>,
        input: CampaignScheduleUpdateInput,
    ) -> Result<CampaignUpdatePayload> {
        let CampaignScheduleUpdateInput { id, start_date, target_date } = input;
        let db = ctx.db();
        let campaign = open(locked(db, &id, "id").await?, "id")?;
        if target_date <= start_date {
            return Err(UserError::new("targetDate", "targetDate must be after startDate").into());
        }
        let row = campaign::ActiveModel {
            start_at: Set(Some(start_date)),
            target_at: Set(Some(target_date)),
            ..campaign.into()
        };
        Ok(CampaignUpdatePayload { campaign: changed(db, row).await?, ..Default::default() })
    }
}

impl CampaignUnscheduleMutation for Mutation {
    async fn campaign_unschedule(
        ctx: &MutationCtx<'_>,
        input: CampaignUnscheduleInput,
    ) -> Result<CampaignUnschedulePayload> {
        let CampaignUnscheduleInput { id } = input;
        let db = ctx.db();
        let campaign = open(locked(db, &id, "id").await?, "id")?;
        let row = campaign::ActiveModel { start_at: Set(None), target_at: Set(None), ..campaign.into() };
        Ok(CampaignUnschedulePayload { campaign: changed(db, row).await?, ..Default::default() })
    }
}

impl CampaignEndMutation for Mutation {
    async fn campaign_end(ctx: &MutationCtx<'_>, input: CampaignEndInput) -> Result<CampaignUpdatePayload> {
        let CampaignEndInput { id } = input;
        let (db, now) = (ctx.db(), Timestamp::now());
        let campaign = open(locked(db, &id, "id").await?, "id")?;
        if campaign.status(now) < Status::InProgress {
            return Err(UserError::new("id", "this campaign has not begun").into());
        }
        let row = campaign::ActiveModel { ended_at: Set(Some(now)), ..campaign.into() };
        Ok(CampaignUpdatePayload { campaign: changed(db, row).await?, ..Default::default() })
    }
}

impl CampaignDeleteMutation for Mutation {
    async fn campaign_delete(ctx: &MutationCtx<'_>, input: DeleteInput) -> Result<CampaignDeletePayload> {
        let DeleteInput { id } = input;
        let db = ctx.db();
        let campaign = locked(db, &id, "id").await?;
        ctx.shed_first::<Entity>(campaign.id).await?;
        let deleted_id = Some(CampaignResolver::id(&campaign));
        db.delete(campaign).await?;
        Ok(CampaignDeletePayload { deleted_id, ..Default::default() })
    }
}

impl ChecksCopyToCampaignMutation for Mutation {
    async fn checks_copy_to_campaign(
        ctx: &MutationCtx<'_>,
        input: ChecksCopyToCampaignInput,
    ) -> Result<ChecksCopyToCampaignPayload> {
        let ChecksCopyToCampaignInput { campaign_id, check_ids } = input;
        let db = ctx.db();
        let campaign = open(locked(db, &campaign_id, "campaignId").await?, "campaignId")?;
        if check_ids.len() > text::FEW {
            let message = format!("at most {} checks can be copied at once", text::FEW);
            return Err(UserError::new("checkIds", message).into());
        }
        let mut problems = Problems::default();
        let mut copied: Vec<checks::Model> = Vec::with_capacity(check_ids.len());
        for check in &check_ids {
            let found = id::require::<checks::Entity>(db, check, "checkIds").await;
            if let Some(check) = problems.take_any(found)?
                && copied.iter().all(|own| own.id != check.id)
            {
                copied.push(check);
            }
        }
        problems.none()?;
        check::copy(db, copied, campaign.id).await?;
        Ok(ChecksCopyToCampaignPayload { campaign: Some(campaign), ..Default::default() })
    }
}
