//! What is to be evaluated again: marks that a transaction leaves of what it has changed, until the results of checks are
//! stored.

use std::collections::{BTreeMap, HashSet};

use super::audit::Actor;
use super::change::Whole;
use super::prelude::*;
use super::{check, service_dependency};
use crate::db::AnyRow;

/// The longest cause, in characters.
pub const CAUSE: usize = 200;

/// How many marks a transaction leaves. Of more changes, it leaves one for all services.
const MOST: usize = 1_000;

/// The cause of what deploys change.
pub const DEPLOY: &str = "a deploy";

/// The cause of what custom events change.
pub const EVENT: &str = "an event of a tool";

/// The cause of what time changes.
pub const TIME: &str = "time";

super::table! {
    "check_due", unrecorded, left_out("what the other installation evaluates next");

    /// What is to be evaluated.
    pub what: What,
    /// The id of the service, the team and so on; 0 for [`What::All`].
    pub row_id: i64,
    /// What of it has changed.
    pub part: Part,
    /// Who changed it, and how.
    pub cause: String,
    /// Whether a standard was changed, and not what it asks about: nobody is told of what follows.
    pub is_quiet: bool,
}

/// What is to be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A service.
    Service,
    /// The services of a team.
    Team,
    /// The services whose code a repository holds.
    Repository,
    /// The services of a project of code issues.
    CodeIssueProject,
    /// A check, for all services.
    Check,
    /// Everything.
    All,
}

/// What of a service has changed: only checks that ask about it are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, DeriveActiveEnum, Deserialize)]
#[sea_orm(rs_type = "String", db_type = "Text", rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A field of the service itself, or the tier of a service that it depends on.
    Fields,
    /// Its tags.
    Tags,
    /// Its deploys.
    Deploys,
    /// Its tools.
    Tools,
    /// What was reported of it.
    Reports,
    /// Anything.
    Any,
}

/// The table of services.
const SERVICE: &str = "service";

/// The tables of standards.
const STANDARDS: [&str; 7] = ["check", "level", "category", "scorecard", "campaign", "filter", "filter_predicate"];

/// The tables that no check asks about.
const UNASKED: [&str; 8] = [
    "code_issue_cve",
    "code_issue_cwe",
    "event_subscription",
    "infrastructure_resource",
    "infrastructure_resource_alias",
    "scorecard_alias",
    "suggestion",
    "user",
];

/// The tables whose new rows nothing refers to yet, but for other rows of the same transaction.
const REFERRED: [&str; 14] = [
    "alert_source",
    "campaign",
    "category",
    "component_type",
    "domain",
    "filter",
    "integration",
    "lifecycle",
    "property_definition",
    "relationship_definition",
    "scorecard",
    "system",
    "team",
    "tier",
];

/// Marks of changes: what is to be evaluated, and whether nobody is told of what follows.
#[derive(Debug, Default)]
pub struct Marks(BTreeMap<(What, i64, Part), bool>);

impl Marks {
    /// The marks of the changes of a transaction, which `db` sees.
    pub async fn of_changes(db: &dyn ReadHandle, changes: &[Whole]) -> Result<Self, db::Error> {
        let mut marks = Self::default();
        let gone = changes.iter().filter(|change| change.row.table.name() == SERVICE && change.after.is_none());
        let gone: HashSet<i64> = gone.map(|change| change.row.id).collect();
        for change in changes {
            marks.add_change(change);
        }
        // What belonged to a service that was deleted went with it.
        marks.0.retain(|(what, id, _), _| *what != What::Service || !gone.contains(id));
        marks.add_dependents(db, changes).await?;
        if marks.0.len() > MOST {
            let is_quiet = marks.0.values().all(|is_quiet| *is_quiet);
            marks.0 = BTreeMap::from([((What::All, 0, Part::Any), is_quiet)]);
        }
        Ok(marks)
    }

    /// The marks of a part of services.
    pub fn of_services(services: impl IntoIterator<Item = i64>, part: Part) -> Self {
        Self(services.into_iter().map(|service| ((What::Service, service, part), false)).collect())
    }

    /// Marks of services, of which nobody is told.
    pub fn quiet(services: impl IntoIterator<Item = i64>) -> Self {
        Self(services.into_iter().map(|service| ((What::Service, service, Part::Any), true)).collect())
    }

    /// A mark of everything, of which nobody is told.
    pub fn all() -> Self {
        Self(BTreeMap::from([((What::All, 0, Part::Any), true)]))
    }

    fn add(&mut self, what: What, id: i64, part: Part, is_quiet: bool) {
        // What somebody is told of is not quiet.
        self.0.entry((what, id, part)).and_modify(|own| *own &= is_quiet).or_insert(is_quiet);
    }

    fn add_change(&mut self, change: &Whole) {
        let table = change.row.table.name();
        if UNASKED.contains(&table) || change.before.is_none() && REFERRED.contains(&table) {
            return;
        }
        let is_quiet = STANDARDS.contains(&table);
        let is_there = change.before.is_some() && change.after.is_some();
        let own = match table {
            SERVICE => Some(What::Service),
            "check" => Some(What::Check),
            // Its parent counts too, so other teams may be concerned.
            "team" => Some(What::All),
            "repository" => Some(What::Repository),
            "code_issue_project" => Some(What::CodeIssueProject),
            _ => None,
        };
        match own {
            // Nothing refers to it yet, but for other rows of this transaction.
            Some(What::All | What::Repository | What::CodeIssueProject) if change.before.is_none() => {}
            Some(What::Service) if change.after.is_none() => {}
            Some(What::All) => self.add(What::All, 0, Part::Any, is_quiet),
            Some(What::Service) if is_there => self.add(What::Service, change.row.id, Part::Fields, is_quiet),
            Some(what @ (What::Service | What::Check)) if change.after.is_some() => {
                self.add(what, change.row.id, Part::Any, is_quiet);
            }
            Some(what) if is_there => self.add(what, change.row.id, Part::Any, is_quiet),
            Some(_) => self.add(What::All, 0, Part::Any, is_quiet),
            None => {
                let part = match table {
                    "tag" => Part::Tags,
                    "tool" => Part::Tools,
                    "check_answer" | "check_reported" => Part::Reports,
                    _ => Part::Any,
                };
                for side in [&change.before, &change.after].into_iter().flatten() {
                    self.add_part(side, part, is_quiet);
                }
            }
        }
    }

    /// If a check that counts compares the tiers of both, adds marks for the services that depend on one whose tier has
    /// changed. If these are too many, marks the checks that do, for all services.
    async fn add_dependents(&mut self, db: &dyn ReadHandle, changes: &[Whole]) -> Result<(), db::Error> {
        use service_dependency::Column::{DestinationId, SourceId};
        let moved = changes.iter().filter(|change| change.row.table.name() == SERVICE && has_other_tier(change));
        let moved: Vec<i64> = moved.map(|change| change.row.id).collect();
        let has_all = self.0.get(&(What::All, 0, Part::Any)) == Some(&false);
        if moved.is_empty() || has_all || self.0.len() > MOST {
            return Ok(());
        }
        let comparing = check::Entity::find().filter(check::Column::Kind.eq(check::Kind::DependencyTier));
        let now = Timestamp::now();
        // One that begins to count later is evaluated then.
        let comparing: Vec<check::Model> =
            db.all(comparing).await?.into_iter().filter(|check| check.counts(now)).collect();
        if comparing.is_empty() {
            return Ok(());
        }
        let own = service_dependency::Entity::find().select_only().column(SourceId).distinct();
        // One more than can be marked is enough to mark the checks.
        let own = own.filter(db::any(db, DestinationId, &moved)).limit(MOST as u64 + 1);
        let dependents: Vec<i64> = db.rows(own.as_query(), |row| row.get(0)).await?;
        if self.0.len() + dependents.len() <= MOST {
            dependents.into_iter().for_each(|service| self.add(What::Service, service, Part::Fields, false));
        } else {
            comparing.into_iter().for_each(|check| self.add(What::Check, check.id, Part::Any, false));
        }
        Ok(())
    }

    /// Adds a mark for what a row belongs to.
    fn add_part(&mut self, row: &AnyRow, part: Part, is_quiet: bool) {
        let mut is_placed = false;
        for (column, what) in [
            ("service_id", What::Service),
            ("source_id", What::Service),
            ("destination_id", What::Service),
            ("source_service_id", What::Service),
            ("target_service_id", What::Service),
            ("team_id", What::Team),
            ("repository_id", What::Repository),
            ("code_issue_project_id", What::CodeIssueProject),
        ] {
            if let Some(sea_orm::Value::BigInt(Some(id))) = row.value(column) {
                // Of a tag of a team, for example, more may follow.
                let part = if what == What::Service { part } else { Part::Any };
                self.add(what, id, part, is_quiet);
                is_placed = true;
                // A report is about one service, and not about the others of its repository.
                if part == Part::Reports {
                    break;
                }
            }
        }
        if !is_placed {
            self.add(What::All, 0, Part::Any, is_quiet);
        }
    }

    /// Stores them. `cause` says who changed what.
    pub async fn store(self, db: &dyn WriteHandle, cause: &str) -> Result<(), db::Error> {
        let cause: String = cause.chars().take(CAUSE).collect();
        let row = |((what, row_id, part), is_quiet)| ActiveModel {
            what: Set(what),
            row_id: Set(row_id),
            part: Set(part),
            cause: Set(cause.clone()),
            is_quiet: Set(is_quiet),
            ..Default::default()
        };
        db.insert_all(self.0.into_iter().map(row).collect()).await
    }
}

/// Whether a service that was there before and is now has another tier.
fn has_other_tier(change: &Whole) -> bool {
    let both = change.before.as_ref().zip(change.after.as_ref());
    both.is_some_and(|(before, after)| before.value("tier_id") != after.value("tier_id"))
}

/// Leaves the marks of the changes of a transaction. `action` is the name of the mutation, or `apply`.
pub async fn note(db: &dyn WriteHandle, (actor, action): (&Actor, &str), changes: &[Whole]) -> Result<(), db::Error> {
    Marks::of_changes(db, changes).await?.store(db, &format!("{action} by {}", actor.known_as())).await
}

/// The oldest marks that this version [knows](super::known), at most `most`, with or without those of everything.
pub async fn oldest(db: &dyn ReadHandle, most: u64, with_all: bool) -> Result<Vec<Model>, db::Error> {
    let marks = Entity::find().filter(super::known::<What>(Column::What)).filter(super::known::<Part>(Column::Part));
    let marks = marks.order_by_asc(Column::Id).limit(most);
    db.all(if with_all { marks } else { marks.filter(Column::What.ne(What::All)) }).await
}

/// The services among these of whose change somebody is told, and that are not evaluated yet.
pub async fn told(db: &dyn ReadHandle, services: &[i64]) -> Result<Vec<i64>, db::Error> {
    let own = Entity::find().select_only().column(Column::RowId).filter(Column::What.eq(What::Service));
    let own = own.filter(Column::IsQuiet.eq(false)).filter(db::any(db, Column::RowId, services));
    db.rows(own.as_query(), |row| row.get(0)).await
}

/// Replaces the marks by one of everything if there are more than `most`.
pub async fn shrink(db: &db::Transaction, most: u64) -> Result<(), db::Error> {
    if db.count(Entity::find()).await? > most {
        db.exec(Entity::delete_many()).await?;
        Marks::all().store(db, "many changes").await?;
    }
    Ok(())
}

/// Removes marks, once what they are of is stored.
pub async fn remove(db: &dyn WriteHandle, ids: &[i64]) -> Result<(), db::Error> {
    db.exec(Entity::delete_many().filter(db::any(db, Column::Id, ids))).await.map(drop)
}
