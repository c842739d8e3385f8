//! Applies the entries of standards files, by the mutations that create and change such things.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::read::Standards;
use super::rows::{self, Row};
use super::{Applied, filters, in_entry, mistake};
use crate::entity::{campaign, category, check as checks, filter_predicate, integration, level};
use crate::graphql::integration::with_events;
use crate::graphql::prelude::*;
use crate::graphql::standards::check;
use crate::service_file::Standard;

/// The fields that name something which has no alias, and what they name.
const NAMES: [(&str, Standard); 3] =
    [("levelId", Standard::Level), ("categoryId", Standard::Category), ("filterId", Standard::Filter)];

/// Applies the entries, which are in an order in which one can refer to those before it.
///
/// Mistakes in types are reported together. Of those that a mutation finds, only the ones of the first entry that has any:
/// what follows may depend on it.
pub(super) async fn all(
    ctx: &MutationCtx<'_>,
    entries: Vec<Standards>,
    paths: &BTreeSet<String>,
) -> Result<Vec<Applied>> {
    check_types(ctx, &entries, paths).await?;
    let (mut applied, mut levels) = (Vec::with_capacity(entries.len()), Vec::new());
    for entry in entries {
        if entry.standard != Standard::Level {
            order(ctx, &std::mem::take(&mut levels)).await?;
        }
        let (standard, name, place) = (entry.standard, entry.name.clone(), (entry.path.clone(), entry.line));
        let (id, is_new) = Box::pin(one(ctx, entry)).await?;
        if standard == Standard::Level {
            levels.push(id);
        }
        let outcome = if is_new { StandardsFileOutcome::Created } else { StandardsFileOutcome::Updated };
        applied.push(Applied { standard, row: rows::place(standard, id), name, place: Some(place), outcome });
    }
    order(ctx, &levels).await?;
    Ok(applied)
}

/// The row that an entry describes.
async fn row_of(ctx: &MutationCtx<'_>, entry: &Standards) -> Result<Option<Row>> {
    let mut found = rows::named(ctx.db(), entry.standard, &entry.name).await?;
    if found.len() > 1 {
        let message = "several have this name: rename all but one";
        return Err(mistake(entry, &["name"], message).into());
    }
    Ok(found.pop())
}

/// Reports whatever no mutation would take, and what other files govern.
async fn check_types(ctx: &MutationCtx<'_>, entries: &[Standards], paths: &BTreeSet<String>) -> Result<()> {
    let mut problems = Problems::default();
    for entry in entries {
        let Some(row) = problems.take_any(row_of(ctx, entry).await)? else { continue };
        if let Some(other) = row.as_ref().and_then(|row| row.locked_by.as_ref()).filter(|file| !paths.contains(*file)) {
            let message =
                format!("the standards file {} governs it: remove it there, or release that file", quoted(other));
            problems.push(mistake(entry, &["name"], &message));
        }
        let mut entry = entry.clone();
        let More { scorecard, .. } = More::take_from(&mut entry);
        if let Some(scorecard) = scorecard {
            entry.fields.entry("categoryId").or_insert(scorecard);
        }
        let id = row.map(|_| String::new());
        let read = Box::pin(run(ctx, &entry, id, true, entry.fields.clone())).await;
        problems.take_any(read.map_err(|error| in_entry(&entry, error)))?;
    }
    problems.none()
}

/// What a file says of an entry that no input has.
struct More {
    start: Option<Json>,
    target: Option<Json>,
    checks: Option<Json>,
    scorecard: Option<Json>,
}

impl More {
    /// Takes it out of an entry.
    fn take_from(entry: &mut Standards) -> Self {
        let mut take = |field| entry.take(field);
        Self {
            start: take("startDate"),
            target: take("targetDate"),
            checks: take("checks"),
            scorecard: take("scorecard"),
        }
    }
}

fn kind_of(entry: &Standards) -> Result<checks::Kind> {
    let word = entry.fields.get("type").and_then(Json::as_str).unwrap_or_default();
    check::kind_of(word).ok_or_else(|| UserError::new("type", "there is no such type of checks").into())
}

/// Applies an entry. Returns the key of its row, and whether that is new.
async fn one(ctx: &MutationCtx<'_>, mut entry: Standards) -> Result<(i64, bool)> {
    let row = row_of(ctx, &entry).await?;
    let more = More::take_from(&mut entry);
    let done = Box::pin(write(ctx, &mut entry, row.as_ref().map(|row| row.id), &more)).await;
    done.map_err(|error| in_entry(&entry, error))?;
    let Some(Row { id, locked_by }) = row_of(ctx, &entry).await? else {
        return Err(Error::internal("what was applied has another name"));
    };
    if locked_by.as_deref() != Some(&entry.path) {
        rows::lock(ctx.db(), entry.standard, id, Some(&entry.path)).await?;
    }
    if entry.standard == Standard::Campaign {
        let done = Box::pin(complete(ctx, &entry, id, &more)).await;
        done.map_err(|error| in_entry(&entry, error))?;
    }
    Ok((id, row.is_none()))
}

/// Writes an entry to its row, or to a new one.
async fn write(ctx: &MutationCtx<'_>, entry: &mut Standards, row: Option<i64>, more: &More) -> Result<()> {
    if let Some(scorecard) = more.scorecard.as_ref().and_then(Json::as_str) {
        if entry.fields.contains_key("categoryId") {
            return Err(
                UserError::new("scorecard", "a check belongs to a category or to a scorecard, not to both").into()
            );
        }
        let category = category_of(ctx, scorecard).await?;
        entry.fields.insert("categoryId".to_owned(), category.into());
    }
    resolve(ctx, &mut entry.fields).await?;
    let mut fields = entry.fields.clone();
    if let (Standard::Filter, Some(filter)) = (entry.standard, row)
        && has_predicates(ctx, filter, fields.get("predicates")).await?
    {
        fields.remove("predicates");
    }
    run(ctx, entry, row.map(|row| rows::global(entry.standard, row)), false, fields).await
}

/// Runs the mutation that creates what an entry describes, or changes what has the id. `is_read` says that its fields are only
/// read, so that what no mutation would take is found.
async fn run(
    ctx: &MutationCtx<'_>,
    entry: &Standards,
    id: Option<String>,
    is_read: bool,
    mut fields: Map<String, Json>,
) -> Result<()> {
    macro_rules! run {
        ($mutation:ident $input:ident $(, $id:expr)?) => {{
            let input = ctx.input::<$input>(stringify!($input), fields)?;
            if !is_read {
                Mutation::$mutation(ctx, $($id,)? input).await?;
            }
        }};
    }
    if let Some(id) = id.as_ref().filter(|_| entry.standard != Standard::Scorecard) {
        fields.insert("id".to_owned(), id.as_str().into());
    }
    match (entry.standard, id) {
        (Standard::Check, id) => {
            let kind = kind_of(entry)?;
            fields.remove("type");
            check::write(ctx, kind, id.is_some(), is_read, fields).await?;
        }
        (Standard::Level, None) => run!(level_create LevelCreateInput),
        (Standard::Level, Some(_)) => run!(level_update LevelUpdateInput),
        (Standard::Category, None) => run!(category_create CategoryCreateInput),
        (Standard::Category, Some(_)) => run!(category_update CategoryUpdateInput),
        (Standard::Filter, None) => run!(filter_create FilterCreateInput),
        (Standard::Filter, Some(_)) => run!(filter_update FilterUpdateInput),
        (Standard::Scorecard, None) => run!(scorecard_create ScorecardInput),
        (Standard::Scorecard, Some(id)) => run!(scorecard_update ScorecardInput, identified(id)),
        (Standard::Campaign, None) => run!(campaign_create CampaignCreateInput),
        (Standard::Campaign, Some(_)) => run!(campaign_update CampaignUpdateInput),
    }
    Ok(())
}

/// Whether a filter has these predicates already. The mutation would replace them.
async fn has_predicates(ctx: &MutationCtx<'_>, filter: i64, given: Option<&Json>) -> Result<bool> {
    let Some(given) = given.and_then(Json::as_array) else { return Ok(false) };
    let own = filter_predicate::Entity::find().filter(filter_predicate::Column::FilterId.eq(filter));
    let own = ctx.db().all(own.order_by_asc(filter_predicate::Column::Id)).await?;
    let own = own.into_iter().map(|own| {
        [
            Some(own.key.into()),
            own.key_data.map(Json::from),
            Some(own.r#type.into()),
            own.value.map(Json::from),
            own.case_sensitive.map(Json::from),
        ]
    });
    let given = given.iter().map(|given| {
        ["key", "keyData", "type", "value", "caseSensitive"]
            .map(|field| given.get(field).filter(|value| !value.is_null()).cloned())
    });
    Ok(own.eq(given))
}

/// Replaces names by ids. A text that is an id already stays as it is.
async fn resolve(ctx: &MutationCtx<'_>, fields: &mut Map<String, Json>) -> Result<()> {
    let mut problems = Problems::default();
    for (field, value) in fields.iter_mut() {
        let Some(name) = value.as_str().filter(|name| id::decode(name).is_none()) else { continue };
        let found = if field == "integrationId" {
            Some(integration_called(ctx, name).await)
        } else {
            match NAMES.iter().find(|(own, _)| own == field) {
                Some((field, standard)) => Some(called(ctx, field, *standard, name).await),
                None => None,
            }
        };
        if let Some(found) = found
            && let Some(id) = problems.take_any(found)?
        {
            *value = id.into();
        }
    }
    for (place, name) in filters::named(fields) {
        let within = |error: UserError| error.within(place.to_string()).within("predicates");
        let found = called(ctx, "value", Standard::Filter, &name).await.map_err(|error| error.map_user(within));
        if let Some(id) = problems.take_any(found)? {
            filters::put(fields, place, &id);
        }
    }
    problems.none()
}

/// The id of the standard with a name. A level has an alias, too.
async fn called(ctx: &MutationCtx<'_>, field: &'static str, standard: Standard, name: &str) -> Result<String> {
    let mut found = rows::named(ctx.db(), standard, name).await?;
    if found.is_empty() && standard == Standard::Level {
        let by_alias = level::Entity::find().filter(level::Column::Alias.eq(name));
        found.extend(ctx.db().one(by_alias).await?.map(|level| Row { id: level.id, locked_by: level.locked_by }));
    }
    only(found, field, standard.noun(), name).map(|row| rows::global(standard, row.id))
}

/// The only row with a name.
fn only<T>(found: Vec<T>, field: &'static str, noun: &str, name: &str) -> Result<T> {
    let many = found.len();
    match found.into_iter().next() {
        Some(row) if many == 1 => Ok(row),
        Some(_) => {
            let message =
                format!("several have the name {}: rename all but one, or give the id of this {noun}", quoted(name));
            Err(UserError::new(field, message).into())
        }
        None => Err(UserError::new(field, format!("there is no {noun} {}", quoted(name))).not_found().into()),
    }
}

async fn integration_called(ctx: &MutationCtx<'_>, name: &str) -> Result<String> {
    const FIELD: &str = "integrationId";
    let found = ctx.db().all(integration::Entity::find().filter(integration::Column::Name.eq(name))).await?;
    // Others of this name cannot be meant.
    let (own, others): (Vec<_>, Vec<_>) = found.into_iter().map(|row| with_events(row, FIELD)).partition(Result::is_ok);
    if let (true, Some(other)) = (own.is_empty(), others.into_iter().find_map(Result::err)) {
        return Err(other.into());
    }
    let own = own.into_iter().flatten().collect();
    only(own, FIELD, "integration", name).map(|row| id::Id::new::<integration::Entity>(row.id).text())
}

/// The id of the category of a scorecard.
async fn category_of(ctx: &MutationCtx<'_>, scorecard: &str) -> Result<String> {
    let found = rows::named(ctx.db(), Standard::Scorecard, scorecard).await?;
    let row = only(found, "scorecard", "scorecard", scorecard)?;
    let own = category::Entity::find().filter(category::Column::ScorecardId.eq(row.id));
    let own = ctx.db().one(own.order_by_asc(category::Column::Id)).await?;
    let own = own.ok_or_else(|| UserError::new("scorecard", "the scorecard has no category"))?;
    Ok(rows::global(Standard::Category, own.id))
}

/// Gives the levels the order of the file, at the places that they have among all levels.
async fn order(ctx: &MutationCtx<'_>, ids: &[i64]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let levels = ctx.db().all(level::Entity::find().order_by_asc(level::Column::Index)).await?;
    let own: Vec<i32> = levels.iter().filter(|level| ids.contains(&level.id)).map(|level| level.index).collect();
    for (id, index) in ids.iter().zip(own) {
        let Some(level) = levels.iter().find(|level| level.id == *id && level.index != index) else { continue };
        ctx.db().update(level::ActiveModel { index: Set(index), ..level.clone().into() }).await?;
    }
    Ok(())
}

/// Does for a campaign what its own mutation leaves to others: its dates, and its checks.
async fn complete(ctx: &MutationCtx<'_>, entry: &Standards, id: i64, more: &More) -> Result<()> {
    let More { start, target, checks, .. } = more;
    let global = rows::global(Standard::Campaign, id);
    let row = ctx.db().one(campaign::Entity::find_by_id(id)).await?;
    let row = row.ok_or_else(|| Error::internal("a campaign is gone"))?;
    let moment = |field: &'static str, given: &Option<Json>| match given.as_ref().and_then(Json::as_str) {
        None => Ok(None),
        Some(text) => text.parse::<Timestamp>().map(Some).map_err(|_| {
            UserError::new(field, format!("{field} must be a date, such as \"2027-01-31\", or a moment with its zone"))
        }),
    };
    match (start, target) {
        (None, None) => {}
        (Some(_), None) => {
            return Err(UserError::new("startDate", "a campaign with start_date needs target_date").into());
        }
        (None, Some(_)) => {
            return Err(UserError::new("targetDate", "a campaign with target_date needs start_date").into());
        }
        (Some(_), Some(_)) => match (moment("startDate", start)?, moment("targetDate", target)?) {
            (None, None) if row.start_at.is_some() => {
                drop(Mutation::campaign_unschedule(ctx, CampaignUnscheduleInput { id: global.clone() }).await?);
            }
            (Some(start_date), Some(target_date))
                if (row.start_at, row.target_at) != (Some(start_date), Some(target_date)) =>
            {
                let input = CampaignScheduleUpdateInput { id: global.clone(), start_date, target_date };
                drop(Mutation::campaign_schedule_update(ctx, input).await?);
            }
            (None, Some(_)) | (Some(_), None) => {
                return Err(UserError::new("startDate", "a campaign has both dates or none").into());
            }
            _ => {}
        },
    }
    if let Some(names) = checks.as_ref().and_then(Json::as_array) {
        let names: Vec<&str> = names.iter().filter_map(Json::as_str).collect();
        has_checks(ctx, entry, &row, &names).await?;
    }
    Ok(())
}

/// Gives a campaign copies of the checks with these names, and no others.
async fn has_checks(
    ctx: &MutationCtx<'_>,
    entry: &Standards,
    campaign: &campaign::Model,
    names: &[&str],
) -> Result<()> {
    let own = || checks::Entity::find().filter(checks::Column::CampaignId.eq(campaign.id));
    let present: BTreeSet<String> = ctx.db().all(own()).await?.into_iter().map(|check| check.name).collect();
    if campaign.ended_at.is_some() && !present.iter().map(String::as_str).eq(BTreeSet::from_iter(names.iter().copied()))
    {
        return Err(UserError::new("checks", "this campaign has ended: its checks stay as they are").into());
    }
    for check in ctx.db().all(own()).await?.iter().filter(|check| !names.contains(&check.name.as_str())) {
        let id = rows::global(Standard::Check, check.id);
        drop(Mutation::check_delete(ctx, CheckDeleteInput { id }).await?);
    }
    let there = ctx.db().all(own()).await?;
    let (mut copied, mut named) = (Vec::new(), BTreeSet::new());
    for name in names.iter().filter(|name| there.iter().all(|check| check.name != **name)) {
        if !named.insert(*name) {
            continue;
        }
        let found = checks::Entity::find().filter(checks::Column::CampaignId.is_null());
        let found = ctx.db().all(found.filter(checks::Column::Name.eq(*name))).await?;
        copied.push(only(found, "checks", "check", name)?);
    }
    if !copied.is_empty() {
        check::copy(ctx.db(), copied, campaign.id).await?;
    }
    for check in ctx.db().all(own()).await? {
        if check.locked_by.as_deref() != Some(&entry.path) {
            rows::lock(ctx.db(), Standard::Check, check.id, Some(&entry.path)).await?;
        }
    }
    Ok(())
}

/// Deletes what these files govern and no entry describes.
pub(super) async fn delete_missing(
    ctx: &MutationCtx<'_>,
    applied: &[Applied],
    paths: &BTreeSet<String>,
) -> Result<Vec<Applied>> {
    let db = ctx.db();
    let mut missing = rows::locked(db, paths).await?;
    missing.retain(|(standard, id, _)| applied.iter().all(|one| one.row != rows::place(*standard, *id)));
    let mut deleted = Vec::new();
    for (standard, row, name) in missing.into_iter().rev() {
        if standard == Standard::Check {
            // Those of a campaign go with it, or stay.
            let own = db.one(checks::Entity::find_by_id(row)).await?;
            if own.is_none_or(|check| check.campaign_id.is_some()) {
                continue;
            }
        }
        let id = rows::global(standard, row);
        let done = Box::pin(delete(ctx, standard, id)).await;
        done.map_err(|error| {
            error.map_user(|error| {
                let message =
                    format!("the {} {} is in no file any more: {}", standard.noun(), quoted(&name), error.message);
                UserError { message: message.into(), ..error }.within("files")
            })
        })?;
        deleted.push(Applied {
            standard,
            row: rows::place(standard, row),
            name,
            place: None,
            outcome: StandardsFileOutcome::Deleted,
        });
    }
    Ok(deleted)
}

fn identified(id: String) -> IdentifierInput {
    IdentifierInput { id: MaybeUndefined::Value(id), alias: MaybeUndefined::Undefined }
}

async fn delete(ctx: &MutationCtx<'_>, standard: Standard, id: String) -> Result<()> {
    match standard {
        Standard::Level => drop(Mutation::level_delete(ctx, LevelDeleteInput { id }).await?),
        Standard::Category => drop(Mutation::category_delete(ctx, CategoryDeleteInput { id }).await?),
        Standard::Filter => drop(Mutation::filter_delete(ctx, DeleteInput { id }).await?),
        Standard::Scorecard => {
            drop(Mutation::scorecard_delete(ctx, identified(id)).await?);
        }
        Standard::Check => drop(Mutation::check_delete(ctx, CheckDeleteInput { id }).await?),
        Standard::Campaign => drop(Mutation::campaign_delete(ctx, DeleteInput { id }).await?),
    }
    Ok(())
}
