//! Events of code issues that are open for too long, and the services that events of code issues concern.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use sea_orm::sea_query::Query;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set};
use serde_json::json;

use super::Wanted;
use crate::db::{self, Db, Read, ReadHandle, Transaction, Write};
use crate::entity::event::{self, Kind, What};
use crate::entity::{
    ByIds, Timestamp, audit, code_issue, code_issue_project, code_issue_project_resource as resource, service,
};

/// How many issues are told at once. A catalogue may have very many when somebody begins to subscribe.
pub const AT_ONCE: u64 = 200;

/// The most services that an issue concerns: whose filters its events pass.
pub const SERVICES: u64 = 100;

/// The SDL type of code issues.
pub(super) const CODE_ISSUE: &str = "CodeIssue";

/// How many of these services a message names.
const NAMED: usize = 20;

/// Stores events for the critical issues that are open for longer than `after` and are not told yet: at most [`AT_ONCE`],
/// those that are open for longest.
pub(super) async fn note(db: &Db, wanted: &Wanted, after: Duration) -> Result<(), db::Error> {
    if !wanted.any(&[Kind::CodeIssueOverdue]) {
        return Ok(());
    }
    let now = Timestamp::now();
    let after = i64::try_from(after.as_micros()).unwrap_or(i64::MAX);
    let before = Timestamp::from_micros(now.as_micros().saturating_sub(after));
    // A look that finds nothing takes no write lock.
    let ids = code_issue::overdue(db.read(), before, AT_ONCE).await?;
    if ids.is_empty() {
        return Ok(());
    }
    db.write(async |tx| tell(tx, &ids, before, now).await).await
}

async fn tell(tx: &Transaction, ids: &[i64], before: Timestamp, now: Timestamp) -> Result<(), db::Error> {
    let mut issues = code_issue::tell_overdue(tx, ids, before, now).await?;
    issues.sort_unstable_by_key(|issue| (issue.open_since(), issue.id));
    let ids: BTreeSet<i64> = issues.iter().map(|issue| issue.code_issue_project_id).collect();
    let mut projects = HashMap::with_capacity(ids.len());
    for project in code_issue_project::Entity::by_ids(tx, ids.into_iter().map(Some)).await?.into_iter().flatten() {
        let concerned = services(tx, project.id).await?;
        let named: Vec<String> = concerned.into_iter().take(NAMED).map(|service| service.alias).collect();
        projects.insert(project.id, (project.name, named));
    }
    let rows = issues.into_iter().map(|issue| {
        let (project, services) = projects.get(&issue.code_issue_project_id).cloned().unwrap_or_default();
        let told = json!({
            "project": project,
            "services": services,
            "severity": issue.severity,
            "category": issue.issue_category,
            "url": issue.external_url,
            "openSince": issue.open_since().to_string(),
        });
        event::ActiveModel {
            at: Set(now),
            waits_since: Set(Some(now)),
            what: Set(What::Overdue),
            subject_class: Set(CODE_ISSUE.to_owned()),
            subject_id: Set(Some(issue.id)),
            subject_name: Set(Some(issue.name)),
            detail: Set(audit::bounded(&json!({ "codeIssue": told }))),
            ..Default::default()
        }
    });
    tx.insert_all(rows.collect()).await
}

/// A service that the issues of a project concern.
#[derive(Debug, Clone)]
pub(super) struct Concerned {
    pub(super) id: i64,
    pub(super) team: Option<i64>,
    pub(super) tier: Option<i64>,
    pub(super) alias: String,
}

/// The services that a project is connected to, oldest first, at most [`SERVICES`].
async fn services(db: &dyn ReadHandle, project: i64) -> Result<Vec<Concerned>, db::Error> {
    use service::Column::{Id, OwnerId, Slug, TierId};
    let connected = Query::select()
        .column(resource::Column::ServiceId)
        .from(resource::Entity)
        .and_where(resource::Column::CodeIssueProjectId.eq(project))
        .and_where(resource::Column::ServiceId.is_not_null())
        .take();
    let services = service::Entity::find()
        .select_only()
        .columns([Id, OwnerId, TierId, Slug])
        .filter(Id.in_subquery(connected))
        .order_by_asc(Id)
        .limit(SERVICES);
    let read =
        |row: &db::Row<'_>| Ok(Concerned { id: row.get(0)?, team: row.get(1)?, tier: row.get(2)?, alias: row.get(3)? });
    db.rows(services.as_query(), read).await
}

/// The services that each of these issues concerns. An issue that is gone concerns none.
pub(super) async fn of_issues(
    db: &dyn ReadHandle,
    issues: BTreeSet<i64>,
) -> Result<HashMap<i64, Vec<Concerned>>, db::Error> {
    if issues.is_empty() {
        return Ok(HashMap::new());
    }
    let issues = code_issue::Entity::by_ids(db, issues.into_iter().map(Some)).await?;
    let (mut projects, mut concerned) = (HashMap::<i64, Vec<Concerned>>::new(), HashMap::new());
    for issue in issues.into_iter().flatten() {
        let project = issue.code_issue_project_id;
        let known = match projects.entry(project) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(services(db, project).await?),
        };
        concerned.insert(issue.id, known.clone());
    }
    Ok(concerned)
}
