//! What the home page is about: the visitor's teams and their services, or the whole organisation for somebody without a
//! team.

use std::cmp::Reverse;

use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use crate::Fault;
use crate::scope::NAMED;
use catalogue::db::{Read, ReadHandle, Row, any};
use catalogue::deploy::failing::{self, Failing};
use catalogue::deploy::list::{self, Filter};
use catalogue::entity::audit;
use catalogue::entity::deploy::{self, Environments};
use catalogue::entity::{Timestamp, integration, service, suggestion, team, team_membership, user};

/// The maximum number of the visitor's teams that the page is about: no more than the list of their deploys takes.
pub const TEAMS: u64 = NAMED as u64;
/// The maximum number of changes that are read.
pub const CHANGES: u64 = 200;
/// The number of suggestions up to which the page says how many are new.
pub const SUGGESTIONS: usize = 100;
/// The kinds of objects whose changes the page shows.
const CLASSES: &[&str] = &["Service", "Team", "System", "Domain", "Repository"];

/// The visitor's teams and their services.
pub struct Mine {
    /// The teams, by name. Without any, the page is about the organisation.
    pub teams: Vec<team::Model>,
    /// The services of the teams, at most [`list::SERVICES`]; `None` for all services.
    pub services: Option<Vec<i64>>,
}

impl Mine {
    /// Reads the teams that the user belongs to or leads.
    pub async fn read(db: &dyn ReadHandle, user: i64) -> Result<Self, Fault> {
        let members = team_membership::Entity::find().select_only().column(team_membership::Column::TeamId);
        let members = members.filter(team_membership::Column::UserId.eq(user)).limit(TEAMS);
        let ids: Vec<i64> = db.rows(members.as_query(), |row| row.get(0)).await?;
        let is_mine = any(db, team::Column::Id, &ids).or(team::Column::ManagerId.eq(user));
        let teams = db.all(team::Entity::find().filter(is_mine).order_by_asc(team::Column::Name).limit(TEAMS)).await?;
        if teams.is_empty() {
            return Ok(Self { teams, services: None });
        }
        let owners: Vec<i64> = teams.iter().map(|team| team.id).collect();
        let services = service::Entity::find().select_only().column(service::Column::Id);
        let services = services.filter(any(db, service::Column::OwnerId, &owners)).limit(list::SERVICES as u64);
        let services = db.rows(services.as_query(), |row| row.get(0)).await?;
        Ok(Self { teams, services: Some(services) })
    }

    /// The services that are failing in production, if they failed after `start`.
    pub async fn failing(
        &self,
        db: &dyn ReadHandle,
        start: Timestamp,
        production: &Environments,
    ) -> Result<Vec<Failing>, Fault> {
        Ok(match &self.services {
            Some(services) => failing::of_services(db, services, start, production).await?,
            None => failing::of_all(db, start, production).await?,
        })
    }

    /// The last deploys from a time on.
    pub async fn deploys(
        &self,
        db: &dyn ReadHandle,
        start: Timestamp,
        most: usize,
    ) -> Result<Vec<deploy::Model>, Fault> {
        let filter = Filter { services: self.services.clone(), start: Some(start), ..Filter::default() };
        Ok(list::page(db, &filter, None, most).await?.deploys)
    }

    /// The last changes from a time on, newest first: at most [`CHANGES`] of services, and as many of teams. That a service
    /// may be edited here again changes nothing of it, and is left out.
    pub async fn changes(&self, db: &dyn ReadHandle, start: Timestamp) -> Result<Vec<audit::Model>, Fault> {
        let since = || {
            let entries = audit::Entity::find().filter(audit::Column::At.gte(start));
            let entries = entries.filter(audit::Column::Action.ne("release"));
            entries.order_by_desc(audit::Column::At).order_by_desc(audit::Column::Id).limit(CHANGES)
        };
        let Some(services) = &self.services else {
            let mut entries = db.all(since()).await?;
            entries.retain(|entry| entry.subject_class.as_deref().is_some_and(|class| CLASSES.contains(&class)));
            return Ok(entries);
        };
        let teams: Vec<i64> = self.teams.iter().map(|team| team.id).collect();
        let mut entries = Vec::new();
        for (class, ids) in [("Service", services), ("Team", &teams)] {
            let of_class = since().filter(audit::Column::SubjectClass.eq(class));
            entries.extend(db.all(of_class.filter(any(db, audit::Column::SubjectId, ids))).await?);
        }
        entries.sort_unstable_by_key(|entry| Reverse((entry.at, entry.id)));
        Ok(entries)
    }
}

/// Which steps of a new installation are done.
pub struct Steps {
    /// There is a team.
    pub team: bool,
    /// There is a service.
    pub service: bool,
    /// There is a deploy.
    pub deploy: bool,
    /// There is more than one user.
    pub colleague: bool,
    /// There is an integration.
    pub integration: bool,
}

impl Steps {
    /// Reads which steps are done.
    pub async fn read(db: &dyn ReadHandle) -> Result<Self, Fault> {
        let id = |row: &Row<'_>| row.get::<i64>(0);
        let teams = team::Entity::find().select_only().column(team::Column::Id).limit(1);
        let services = service::Entity::find().select_only().column(service::Column::Id).limit(1);
        let deploys = deploy::Entity::find().select_only().column(deploy::Column::Id).limit(1);
        let users = user::Entity::find().select_only().column(user::Column::Id).limit(2);
        let integrations = integration::Entity::find().select_only().column(integration::Column::Id).limit(1);
        Ok(Self {
            team: !db.rows(teams.as_query(), id).await?.is_empty(),
            service: !db.rows(services.as_query(), id).await?.is_empty(),
            deploy: !db.rows(deploys.as_query(), id).await?.is_empty(),
            colleague: db.rows(users.as_query(), id).await?.len() > 1,
            integration: !db.rows(integrations.as_query(), id).await?.is_empty(),
        })
    }
}

/// Whether there is a service.
pub async fn has_services(db: &dyn ReadHandle) -> Result<bool, Fault> {
    let services = service::Entity::find().select_only().column(service::Column::Id).limit(1);
    Ok(!db.rows(services.as_query(), |row| row.get::<i64>(0)).await?.is_empty())
}

/// The number of open suggestions that were first seen at a time or later, among the newest: at most [`SUGGESTIONS`], and
/// one more.
pub async fn arrived(db: &dyn ReadHandle, start: Timestamp) -> Result<usize, Fault> {
    use suggestion::Column;
    let open = suggestion::Entity::find().select_only().column(Column::FirstSeenAt);
    let open = open.filter(Column::State.eq(suggestion::State::Open)).order_by_desc(Column::Id);
    let open = open.limit(SUGGESTIONS as u64 + 1);
    let seen: Vec<i64> = db.rows(open.as_query(), |row| row.get(0)).await?;
    Ok(seen.into_iter().filter(|seen| *seen >= start.as_micros()).count())
}
