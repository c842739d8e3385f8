//! Checks: the rules that services are measured by, and how services stand with them.
//!
//! [`kind`] is the table of the kinds, [`kinds`] has what each asks and says, [`change`] creates and changes checks,
//! [`copy`] copies them, [`home`] says what each belongs to, [`evaluate`] puts their questions to the database,
//! [`gathered`] does so once for a request, [`survey`] for all services in one pass, and [`would`] for checks that are not
//! stored. [`reported`] takes what pipelines report, [`events`] evaluates checks of custom events, and [`expressions`]
//! reads what these ask. [`standing`] says which level follows, [`report`] is what clients read of it, and [`history`]
//! keeps how services stood.
//!
//! Invariant: a kind that lacks its SDL type, its parameters, the fields of its inputs or its mutations does not
//! compile.

use sea_orm::sea_query::ExprTrait;

use crate::entity::check::{Column, Entity, Kind};
use crate::entity::check_answer;
use crate::entity::field_rule::FieldRules;
use crate::entity::known;
use crate::graphql::prelude::*;

mod badge;
mod change;
mod comparison;
mod copy;
mod evaluate;
mod events;
pub mod expressions;
mod gathered;
pub mod history;
mod home;
mod kind;
mod kinds;
mod period;
mod preview;
mod question;
mod report;
mod reported;
mod standing;
mod starter;
mod survey;
mod would;

pub use crate::entity::check::MOST;
pub use badge::{LevelOf, level_of};
pub use evaluate::NAMED;
pub use events::{judge as judge_events, run as run_events};
pub use kinds::{DAYS, LEAD_HOURS, METRIC_DAYS};
pub use period::UNITS;
pub use preview::SHOWN;
pub(in crate::graphql) use preview::{Tried, preview};
pub(in crate::graphql) use reported::of_repositories;
pub use reported::{MESSAGE, PLACES, RESULTS};

pub(in crate::graphql) use copy::copy;
pub(in crate::graphql) use gathered::{Tally, complete, levels, services_report, shown, sizes, tallies};
pub(in crate::graphql) use history::{
    By, changes_of, days_of_categories, days_of_sets, level_counts, level_days, level_days_by, levels_of, missed_checks,
};
pub(in crate::graphql) use home::CheckSet;
use kind::parameters;
pub use kind::type_of;
pub use kind::{
    AlertSourceUsageCheck, CodeIssueCheck, CustomEventCheck, DependencyTierCheck, DeployMetricsCheck,
    GitBranchProtectionCheck, HasDocumentationCheck, HasRecentDeployCheck, ManualCheck, PackageVersionCheck,
    RelationshipCheck, RepositoryFileCheck, RepositoryGrepCheck, RepositoryIntegratedCheck, RepositorySearchCheck,
    ServiceConfigurationCheck, ServiceDependencyCheck, ServiceOwnershipCheck, ServicePropertyCheck, TagDefinedCheck,
    ToolUsageCheck,
};
pub(in crate::graphql) use kind::{input_of, kind_of, types, write};
pub use report::{CheckReport, CheckResult, CheckResultsByLevel, ServiceCheckResults};
pub(in crate::graphql) use report::{counts, maturity, others, report, reports, reports_of, stats};
pub(in crate::graphql) use would::Selected;
pub use would::{StandardsPreview, TIME as PREVIEW};

/// The check with this id.
pub(in crate::graphql) async fn find(ctx: &Ctx<'_>, id: &str) -> Result<Option<Check>> {
    Ok(id::find::<Entity>(ctx.db(), id).await?.map(Check::from))
}

/// A list of checks, of those kinds that this version knows.
fn list() -> List<Entity> {
    List::new(Column::Id).filter(known::<Kind>(Column::Kind))
}

/// All checks but those of campaigns, a page at a time.
pub(in crate::graphql) async fn page(args: &PageArguments, ctx: &Ctx<'_>) -> Result<CheckConnectionType> {
    let checks = list().filter(Column::CampaignId.is_null());
    Ok(checks.page(ctx, &args.request()?).await?.map(Check::from))
}

/// The checks of each campaign, a page at a time.
pub(in crate::graphql) async fn of_campaigns(
    campaigns: impl IntoIterator<Item = i64>,
    args: &PageArguments,
    ctx: &Ctx<'_>,
) -> Result<Vec<CheckConnectionType>> {
    let pages = list().of_parents(Column::CampaignId, campaigns).pages(ctx, &args.request()?).await?;
    Ok(pages.into_iter().map(|page| page.map(Check::from)).collect())
}

/// The checks of each level, without those of campaigns.
pub(in crate::graphql) async fn of_levels(levels: &[&Level], ctx: &Ctx<'_>) -> Result<Vec<Option<Vec<Check>>>> {
    let checks = list().of_parents(Column::LevelId, levels.iter().map(|level| level.id));
    let checks = checks.filter(Column::CampaignId.is_null());
    let checks = checks.first_n_per_parent(ctx.db(), MOST as u64).await?;
    Ok(checks.into_iter().map(|checks| Some(checks.into_iter().map(Check::from).collect())).collect())
}

/// Converts the error of a deletion: to one that says that checks refer to the `noun`, if they do.
pub(in crate::graphql) fn or_used(noun: &'static str) -> impl Fn(db::Error) -> Error {
    or_used_by("checks", noun)
}

/// Like [`or_used`], if others may refer to it too.
pub(in crate::graphql) fn or_used_by(users: &'static str, noun: &'static str) -> impl Fn(db::Error) -> Error {
    move |error| match error.violation() {
        Some(db::Constraint::ForeignKey(_)) => {
            UserError::base(format!("{users} refer to this {noun}: change or delete them first")).into()
        }
        _ => error.into(),
    }
}

impl CheckDeleteMutation for Mutation {
    async fn check_delete(ctx: &MutationCtx<'_>, input: CheckDeleteInput) -> Result<CheckDeletePayload> {
        let CheckDeleteInput { id } = input;
        let check = id::require::<Entity>(ctx.db(), &id, "id").await?;
        ctx.shed_first::<Entity>(check.id).await?;
        ctx.db().delete(check).await?;
        Ok(CheckDeletePayload::default())
    }
}

impl CheckManualAnswerMutation for Mutation {
    async fn check_manual_answer(
        ctx: &MutationCtx<'_>,
        input: CheckManualAnswerInput,
    ) -> Result<CheckManualAnswerPayload> {
        let CheckManualAnswerInput { check_id, comment, passed, service } = input;
        let db = ctx.db();
        // No other answer for this service comes between.
        let service: Service = identifier::locked(db, "service", &service, LockType::Update).await?;
        let check = id::require::<Entity>(db, &check_id, "checkId").await?;
        if check.kind != Kind::Manual {
            return Err(UserError::new("checkId", "this check is not manual: nobody answers it").into());
        }
        let own: kinds::Manual = parameters(&check);
        let comment = comment.value().map(String::as_str).unwrap_or_default();
        let comment = check_answer::Entity::rule(check_answer::Column::Comment).check_text("comment", comment)?;
        if own.update_requires_comment && comment.as_deref().is_none_or(text::is_nothing) {
            return Err(
                UserError::new("comment", "this check needs a comment: say why the service passes or not").into()
            );
        }
        let is_own = check_answer::Column::CheckId.eq(check.id).and(check_answer::Column::ServiceId.eq(service.id));
        db.exec(check_answer::Entity::delete_many().filter(is_own)).await?;
        let answer = check_answer::ActiveModel {
            check_id: Set(check.id),
            service_id: Set(service.id),
            user_id: Set(ctx.caller().user.map(|(user, _)| user)),
            passed: Set(passed),
            comment: Set(comment),
            answered_at: Set(Timestamp::now()),
            ..Default::default()
        };
        db.insert(answer).await?;
        Ok(CheckManualAnswerPayload { service: Some(service), ..Default::default() })
    }
}
