//! Where checks belong: to the rubric, a scorecard or a campaign.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::db::ReadHandle;
use crate::entity::campaign::Status;
use crate::entity::check::Model;
use crate::entity::{ByIds, Timestamp, campaign, category, scorecard};
use crate::error::Result;

/// What a check belongs to.
#[derive(Debug, Clone)]
pub(super) enum Home {
    Rubric,
    Scorecard(Arc<scorecard::Model>),
    Campaign(Arc<campaign::Model>),
}

/// A check, and what it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) check: Arc<Model>,
    pub(super) home: Home,
}

/// What checks can belong to beside the rubric, by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckSet {
    /// A scorecard.
    Scorecard(i64),
    /// A campaign.
    Campaign(i64),
}

impl Home {
    /// The filter of the services that all checks here are for.
    pub(super) fn filter_id(&self) -> Option<i64> {
        match self {
            Self::Rubric => None,
            Self::Scorecard(scorecard) => scorecard.filter_id,
            Self::Campaign(campaign) => campaign.filter_id,
        }
    }

    /// Whether the checks here are over: nobody needs to report their results.
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Self::Campaign(campaign) if campaign.ended_at.is_some())
    }

    /// Whether what they belong to has begun and is not over. Only campaigns begin and end.
    pub(super) fn has_begun(&self, now: Timestamp) -> bool {
        match self {
            Self::Campaign(campaign) => matches!(campaign.status(now), Status::InProgress | Status::Delayed),
            Self::Rubric | Self::Scorecard(_) => true,
        }
    }

    /// Whether the checks here count towards the overall levels of services.
    pub(super) fn is_overall(&self) -> bool {
        match self {
            Self::Rubric => true,
            Self::Scorecard(scorecard) => scorecard.affects_overall_service_levels,
            Self::Campaign(_) => false,
        }
    }

    /// The set of checks here; `None` for the rubric.
    pub(super) fn set(&self) -> Option<CheckSet> {
        match self {
            Self::Rubric => None,
            Self::Scorecard(scorecard) => Some(CheckSet::Scorecard(scorecard.id)),
            Self::Campaign(campaign) => Some(CheckSet::Campaign(campaign.id)),
        }
    }

    /// The noun of what it is, for messages.
    pub(super) fn noun(&self) -> &'static str {
        match self {
            Self::Rubric => "rubric",
            Self::Scorecard(_) => "scorecard",
            Self::Campaign(_) => "campaign",
        }
    }
}

/// Finds what the checks belong to.
pub(super) async fn place(db: &dyn ReadHandle, checks: Vec<Model>) -> Result<Vec<Placed>> {
    let ids: BTreeSet<i64> = checks.iter().map(|check| check.category_id).collect();
    let categories = category::Entity::by_ids(db, ids.into_iter().map(Some)).await?;
    let of: HashMap<i64, i64> =
        categories.into_iter().flatten().filter_map(|category| Some((category.id, category.scorecard_id?))).collect();
    let ids: BTreeSet<i64> = of.values().copied().collect();
    let scorecards = scorecard::Entity::by_ids(db, ids.into_iter().map(Some)).await?;
    let scorecards: HashMap<i64, _> =
        scorecards.into_iter().flatten().map(|scorecard| (scorecard.id, Arc::new(scorecard))).collect();
    let ids: BTreeSet<i64> = checks.iter().filter_map(|check| check.campaign_id).collect();
    let campaigns = campaign::Entity::by_ids(db, ids.into_iter().map(Some)).await?;
    let campaigns: HashMap<i64, _> =
        campaigns.into_iter().flatten().map(|campaign| (campaign.id, Arc::new(campaign))).collect();
    let placed = |check: Model| {
        let scorecard = of.get(&check.category_id).and_then(|id| scorecards.get(id));
        let home = match (check.campaign_id.and_then(|id| campaigns.get(&id)), scorecard) {
            (Some(campaign), _) => Home::Campaign(Arc::clone(campaign)),
            (None, Some(scorecard)) => Home::Scorecard(Arc::clone(scorecard)),
            (None, None) => Home::Rubric,
        };
        Placed { check: Arc::new(check), home }
    };
    Ok(checks.into_iter().map(placed).collect())
}
