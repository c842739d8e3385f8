//! The list of campaigns, in the orders and with the filters that clients choose. There are few campaigns, and some
//! orders are by figures that are evaluated, so the list is ordered in memory.

use std::cmp::Ordering;

use super::{sets, word};
use crate::engine::page::{Cursor, Edge, Page};
use crate::entity::campaign::{Column, Entity, MOST};
use crate::entity::{filter, team};
use crate::graphql::prelude::*;
use crate::graphql::service::service_filter;
use crate::graphql::standards::check;

/// All campaigns, a page at a time.
pub(in crate::graphql) async fn page(args: &AccountCampaignsArgs, ctx: &Ctx<'_>) -> Result<CampaignConnectionType> {
    let AccountCampaignsArgs { after, filter, first, sort_by } = args;
    let request = PageRequest::new(first, after)?;
    let mut campaigns = ctx.db().all(Entity::find().order_by_asc(Column::Id).limit(MOST as u64)).await?;
    let filters = filter.value().map(Vec::as_slice).unwrap_or_default();
    if filters.len() > service_filter::MOST {
        let message = format!("at most {} filters can be given", service_filter::MOST);
        return Err(UserError::new("filter", message).into());
    }
    for (place, one) in filters.iter().enumerate() {
        let within = |error: UserError| error.within(place.to_string()).within("filter");
        retain(&mut campaigns, one, ctx).await.map_err(|error: Error| error.map_user(within))?;
    }
    if let Some(sort) = sort_by.value() {
        campaigns = sorted(campaigns, *sort, ctx).await?;
    }
    let place = |cursor: &Cursor| campaigns.iter().position(|campaign| campaign.id == cursor.id);
    request.check(|cursor| cursor.is_id() && place(cursor).is_some())?;
    let start = request.after.as_ref().and_then(place).map_or(0, |place| place + 1);
    let total = i32::try_from(campaigns.len()).unwrap_or(i32::MAX);
    let edge = |campaign: Campaign| Edge { cursor: Cursor::id(campaign.id), node: campaign };
    let most = usize::try_from(request.first + 1).unwrap_or(usize::MAX);
    let edges = campaigns.into_iter().skip(start).take(most).map(edge).collect();
    Ok(Page { total_count: Some(total), ..Page::new(edges, &request) })
}

/// Keeps the campaigns that a filter matches.
async fn retain(campaigns: &mut Vec<Campaign>, filter: &CampaignFilterInput, ctx: &Ctx<'_>) -> Result<()> {
    let CampaignFilterInput { arg, key, r#type } = filter;
    let arg = arg.value().ok_or_else(|| UserError::new("arg", "arg must be given"))?;
    let is_meant = !matches!(r#type.value(), Some(BasicTypeEnum::DoesNotEqual));
    match key {
        CampaignFilterEnum::Id => {
            let wanted = id::number::<Entity>(arg);
            campaigns.retain(|campaign| (Some(campaign.id) == wanted) == is_meant);
        }
        CampaignFilterEnum::Owner => {
            let wanted = id::find::<team::Entity>(ctx.db(), arg).await?.map(|team| team.id);
            let is_own = |campaign: &Campaign| wanted.is_some() && campaign.owner_id == wanted;
            campaigns.retain(|campaign| is_own(campaign) == is_meant);
        }
        CampaignFilterEnum::Status => {
            let wanted = CampaignStatusEnum::from_word(arg)
                .ok_or_else(|| UserError::new("arg", "arg must be draft, scheduled, in_progress, delayed or ended"))?;
            let now = Timestamp::now();
            campaigns.retain(|campaign| (word(campaign.status(now)) == wanted) == is_meant);
        }
    }
    Ok(())
}

/// A value by which campaigns are ordered.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Number(i64),
    Text(String),
}

/// Orders the campaigns. Those without a value come last in either direction.
async fn sorted(campaigns: Vec<Campaign>, sort: CampaignSortEnum, ctx: &Ctx<'_>) -> Result<Vec<Campaign>> {
    use CampaignSortEnum as By;
    let moments = |of: fn(&Campaign) -> Option<Timestamp>| -> Vec<Option<Key>> {
        campaigns.iter().map(|campaign| Some(Key::Number(of(campaign)?.as_micros()))).collect()
    };
    let text = |name: &str| Key::Text(name.to_ascii_lowercase());
    let (keys, is_descending): (Vec<Option<Key>>, bool) = match sort {
        By::ChecksPassingAsc | By::ChecksPassingDesc => {
            let all: Vec<&Campaign> = campaigns.iter().collect();
            let tallies = check::tallies(ctx, &sets(&all)).await?;
            let keys = tallies.into_iter().map(|tally| share(tally.passed, tally.total)).collect();
            (keys, sort == By::ChecksPassingDesc)
        }
        By::ServicesCompleteAsc | By::ServicesCompleteDesc => {
            let all: Vec<&Campaign> = campaigns.iter().collect();
            let stats = <Campaign as CampaignResolver>::service_stats(&all, ctx).await?;
            let key = |stats: Option<Stats>| stats.and_then(|own| share(own.total_successful.into(), own.total.into()));
            (stats.into_iter().map(key).collect(), sort == By::ServicesCompleteDesc)
        }
        By::EndedDateAsc | By::EndedDateDesc => (moments(|own| own.ended_at), sort == By::EndedDateDesc),
        By::StartDateAsc | By::StartDateDesc => (moments(|own| own.start_at), sort == By::StartDateDesc),
        By::TargetDateAsc | By::TargetDateDesc => (moments(|own| own.target_at), sort == By::TargetDateDesc),
        By::FilterAsc | By::FilterDesc => {
            let filters = filter::Entity::by_ids(ctx.db(), campaigns.iter().map(|own| own.filter_id)).await?;
            let keys = filters.iter().map(|filter| Some(text(&filter.as_ref()?.name))).collect();
            (keys, sort == By::FilterDesc)
        }
        By::NameAsc | By::NameDesc => {
            (campaigns.iter().map(|own| Some(text(&own.name))).collect(), sort == By::NameDesc)
        }
        By::OwnerAsc | By::OwnerDesc => {
            let owners = team::Entity::by_ids(ctx.db(), campaigns.iter().map(|own| own.owner_id)).await?;
            let keys = owners.iter().map(|owner| Some(text(&owner.as_ref()?.name))).collect();
            (keys, sort == By::OwnerDesc)
        }
        By::StatusAsc | By::StatusDesc => {
            let now = Timestamp::now();
            let key = |own: &Campaign| Some(Key::Number(own.status(now) as i64));
            (campaigns.iter().map(key).collect(), sort == By::StatusDesc)
        }
    };
    let mut keyed: Vec<(Option<Key>, Campaign)> = keys.into_iter().zip(campaigns).collect();
    // Stable: campaigns with the same value stay in the order of their creation.
    keyed.sort_by(|(a, _), (b, _)| match (a, b) {
        (Some(a), Some(b)) if is_descending => b.cmp(a),
        (Some(a), Some(b)) => a.cmp(b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
    Ok(keyed.into_iter().map(|(_, campaign)| campaign).collect())
}

/// A part of a whole, in millionths. `None` of nothing.
fn share(part: i64, whole: i64) -> Option<Key> {
    (whole > 0).then(|| Key::Number(part * 1_000_000 / whole))
}
