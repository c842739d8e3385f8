//! Events: what has happened in the catalogue, until everybody who wants to know has been told.

use sea_orm::Iterable;
use sea_orm::sea_query::ExprTrait;

use super::event_delivery;
use super::prelude::*;

super::table! {
    "event", unrecorded, left_out("what happened in the other installation");

    /// When it happened.
    pub at: Timestamp,
    /// Since when it waits for its deliveries to be made out; `None` once they are.
    pub waits_since: Option<Timestamp>,
    /// What has happened to the subject.
    pub what: What,
    /// The SDL type of the subject.
    pub subject_class: String,
    /// The id of the subject; `None` for a deploy.
    pub subject_id: Option<i64>,
    /// The name of the subject.
    pub subject_name: Option<String>,
    /// The service that the subject is, or belongs to.
    pub service_id: Option<i64>,
    /// The team that the subject is, or that owns it.
    pub team_id: Option<i64>,
    /// The team that owned it before.
    pub earlier_team_id: Option<i64>,
    /// The tier of the service.
    pub tier_id: Option<i64>,
    /// The environment of a deploy.
    pub environment: Option<String>,
    /// More about it, as a JSON object of at most [`audit::DETAIL`](super::audit::DETAIL) bytes.
    pub detail: String,
}

/// What has happened to the subject of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// It is new.
    Created,
    /// It has changed.
    Changed,
    /// It was deleted.
    Deleted,
    /// It was deployed: the subject is the service.
    Deployed,
    /// It expires soon: the subject is a token.
    Expiring,
    /// A check says something else of it: the subject is the service.
    Checked,
    /// It has another level: the subject is the service.
    Rated,
    /// It has been open for too long: the subject is a code issue.
    Overdue,
    /// A service file that describes it was refused: the subject is the service.
    FileRejected,
    /// Somebody tries a subscription: the subject is the subscription.
    Tested,
}

/// A kind of event that one can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A service is new.
    ServiceCreated,
    /// A field of a service has changed.
    ServiceChanged,
    /// A service has another owner.
    ServiceOwnerChanged,
    /// A service was deleted.
    ServiceDeleted,
    /// A team is new.
    TeamCreated,
    /// A field of a team has changed.
    TeamChanged,
    /// A team was deleted.
    TeamDeleted,
    /// A user was deleted, or deactivated.
    UserDeleted,
    /// A deploy was recorded.
    DeployRecorded,
    /// A deploy failed.
    DeployFailed,
    /// A deploy succeeded, and the one before it in the same environment had failed.
    DeployRecovered,
    /// There is a new code issue with the severity critical.
    CriticalCodeIssueCreated,
    /// A code issue with the severity critical has been open for too long.
    CodeIssueOverdue,
    /// There is a new suggestion.
    SuggestionCreated,
    /// An API token expires within a week.
    TokenExpiring,
    /// Anything that the audit tells was created, changed or deleted.
    ObjectChanged,
    /// A service passes a check that it did not pass before.
    CheckPassed,
    /// A service does not pass a check any more.
    CheckFailed,
    /// A service has reached a higher level.
    LevelReached,
    /// A service has fallen to a lower level.
    LevelLost,
    /// A service file that describes a service was refused.
    ServiceFileRejected,
    /// Somebody tries the subscription. Nobody subscribes to it.
    Test,
}

impl Kind {
    /// Its type in messages, in the form `noun.verb`.
    pub fn message_type(self) -> &'static str {
        match self {
            Self::ServiceCreated => "service.created",
            Self::ServiceChanged => "service.changed",
            Self::ServiceOwnerChanged => "service.owner_changed",
            Self::ServiceDeleted => "service.deleted",
            Self::TeamCreated => "team.created",
            Self::TeamChanged => "team.changed",
            Self::TeamDeleted => "team.deleted",
            Self::UserDeleted => "user.deleted",
            Self::DeployRecorded => "deploy.recorded",
            Self::DeployFailed => "deploy.failed",
            Self::DeployRecovered => "deploy.recovered",
            Self::CriticalCodeIssueCreated => "code_issue.critical_created",
            Self::CodeIssueOverdue => "code_issue.overdue",
            Self::SuggestionCreated => "suggestion.created",
            Self::TokenExpiring => "token.expiring",
            Self::ObjectChanged => "object.changed",
            Self::CheckPassed => "check.passed",
            Self::CheckFailed => "check.failed",
            Self::LevelReached => "service.level_reached",
            Self::LevelLost => "service.level_lost",
            Self::ServiceFileRejected => "service_file.rejected",
            Self::Test => "subscription.tested",
        }
    }

    /// The kind with this type in messages.
    pub fn of_message(r#type: &str) -> Option<Self> {
        Self::iter().find(|kind| kind.message_type() == r#type)
    }

    /// The word in the SDL and in the database.
    pub fn word(self) -> String {
        self.to_value()
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::try_from_value(&word.to_owned()).ok()
    }
}

/// Takes the oldest events whose deliveries are not made out yet, at most `most`, oldest first. No other process has taken
/// them, and none takes them once this transaction has committed.
pub async fn take_waiting(db: &db::Transaction, most: u64) -> Result<Vec<Model>, db::Error> {
    let ids: Vec<i64> = db.rows(waiting(most).as_query(), |row| row.get(0)).await?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let take = Entity::update_many()
        .col_expr(Column::WaitsSince, Expr::value(None::<i64>))
        .filter(db::any(db, Column::Id, &ids))
        .filter(Column::WaitsSince.is_not_null());
    let mut taken = db.updated(take).await?;
    taken.sort_unstable_by_key(|event| event.id);
    Ok(taken)
}

/// Selects the ids of the oldest events whose deliveries are not made out yet, of those that this version
/// [knows](super::known).
pub fn waiting(most: u64) -> Select<Entity> {
    let waiting = Entity::find().select_only().column(Column::Id).filter(Column::WaitsSince.is_not_null());
    let waiting = waiting.filter(super::known::<What>(Column::What));
    waiting.order_by_asc(Column::Id).limit(most)
}

/// Deletes these events, but for those that have deliveries.
pub async fn forget(db: &dyn WriteHandle, ids: &[i64]) -> Result<(), db::Error> {
    use event_delivery::Column::EventId;
    let kept = event_delivery::Entity::find().select_only().column(EventId).filter(db::any(db, EventId, ids));
    let kept: Vec<i64> = db.rows(kept.as_query(), |row| row.get(0)).await?;
    let gone: Vec<i64> = ids.iter().copied().filter(|id| !kept.contains(id)).collect();
    super::delete_by_ids::<Entity>(db, Column::Id, &gone).await.map(drop)
}

/// How many events [`sweep`] removes.
const SWEPT: u64 = 1_000;

/// Deletes events that wait for nothing and have no deliveries, because the subscription was deleted.
pub async fn sweep(db: &db::Transaction) -> Result<(), db::Error> {
    let kept = Query::select()
        .expr(Expr::value(1))
        .from(event_delivery::Entity)
        .and_where(Expr::col((event_delivery::Entity, event_delivery::Column::EventId)).equals((Entity, Column::Id)))
        .take();
    let old = Entity::find().select_only().column(Column::Id).filter(Column::WaitsSince.is_null());
    let old = old.filter(Expr::exists(kept).not()).limit(SWEPT);
    let old: Vec<i64> = db.rows(old.as_query(), |row| row.get(0)).await?;
    super::delete_by_ids::<Entity>(db, Column::Id, &old).await.map(drop)
}
