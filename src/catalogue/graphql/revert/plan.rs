//! What a revert would do, and what stands in its way at present.

use std::collections::HashMap;

use sea_orm::sea_query::{ExprTrait, LockType};
use sea_orm::{ActiveEnum, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use serde_json::Value as Json;

use super::place;
use super::step::{Step, StepKind, referred};
use super::tables::known;
use crate::db::{Read, RowOf, Transaction};
use crate::entity::audit::{self, ActorKind, Column, Model};
use crate::entity::change::kept::{self, Values, plain_row};
use crate::entity::{domain, service, system, tag, team, user};
use crate::error::{Error, Result, UserError, quoted, shortened};

/// The maximum number of later entries among which that of a later change is looked for.
pub const SEARCHED: u64 = 200;

/// What a revert would do.
pub(super) struct Plan {
    /// The steps.
    pub(super) steps: Vec<Step>,
    /// What stands in the way. Each is about a field of the subject.
    pub(super) obstacles: Vec<UserError>,
    /// The rows as they are, by the rows of the steps.
    pub(super) present: HashMap<RowOf, Values>,
    /// The names of the rows that the values refer to.
    pub(super) names: HashMap<RowOf, String>,
    /// Contacts that were the default, and come back without being it: another of their type is.
    pub(super) not_default: Vec<RowOf>,
}

impl Plan {
    /// Locks what the steps belong to, so that nobody changes it meanwhile, and compares it with what the entry left.
    pub(super) async fn prepare(db: &Transaction, entry: &Model, mut steps: Vec<Step>) -> Result<Self> {
        let mut obstacles = hold(db, &steps).await?;
        let not_default = place::settle_defaults(db, &mut steps).await?;
        let present = kept::rows(db, steps.iter().map(|step| step.row).collect()).await?;
        let present: HashMap<RowOf, Values> = present.iter().map(|(row, found)| (*row, plain_row(found))).collect();
        let values = steps.iter().flat_map(|step| [&step.old, &step.new]).chain(present.values());
        let wanted = values.flatten().filter_map(|(column, value)| referred(column, value)).collect();
        let names = kept::names(db, wanted).await?;
        let mut plan = Self { steps, obstacles: Vec::new(), present, names, not_default };
        if obstacles.is_empty() {
            let later = Later::read(db, entry).await?;
            obstacles = plan.steps.iter().flat_map(|step| plan.obstacles_of(step, entry, &later)).collect();
            for step in place::taken(db, &plan.steps).await? {
                let message = format!("the {} {} exists already", step.noun(), plan.name(step));
                obstacles.push(UserError::new(place::field(step), message));
            }
        }
        plan.obstacles = obstacles;
        Ok(plan)
    }

    fn obstacles_of(&self, step: &Step, entry: &Model, later: &Later) -> Vec<UserError> {
        let mut found: Vec<UserError> = Vec::new();
        let mut add = |column: &str, message: String| {
            let field = step.label(column);
            found.push(UserError::new(field, message));
        };
        for column in &step.cut {
            let label = step.label(column);
            add(column, format!("the audit does not hold the whole value of {label}: it is too long"));
        }
        let present = self.present.get(&step.row);
        if step.kind != StepKind::Deleted && present.is_none() {
            let label = step.is_entry().then(|| step.label("base"));
            add("base", format!("the {} is gone{}", step.noun(), later.by(label.as_deref())));
            return found;
        }
        for column in step.differing().into_iter().filter(|column| !step.cut.iter().any(|cut| cut == column)) {
            let label = step.label(column);
            let now = present.and_then(|row| row.get(column)).unwrap_or(&Json::Null);
            if step.kind != StepKind::Deleted && !is_derived(step, column) && step.new.get(column) != Some(now) {
                add(
                    column,
                    match step.old.get(column) == Some(now) && step.kind == StepKind::Changed {
                        true => format!("{label} is as it was before the change already{}", later.by(Some(&label))),
                        false => format!("{label} was changed since{}", later.by(Some(&label))),
                    },
                );
            }
            if step.kind != StepKind::Made
                && let Some(target) = step.old.get(column).and_then(|value| referred(column, value))
                && !self.names.contains_key(&target)
            {
                add(
                    column,
                    format!("the {} {} no longer exists", known(target.table.name()).noun, told(entry, &label)),
                );
            }
        }
        if let Some(message) = lasting_default(step) {
            add("is_default", message.to_owned());
        }
        found
    }
}

/// Whether a column follows from others, so that its value does not matter: which contact is the default.
fn is_derived(step: &Step, column: &str) -> bool {
    column == "is_default" && (step.kind == StepKind::Made || step.differing().contains(&"type"))
}

/// A contact becomes the default; it does not cease to be by itself.
fn lasting_default(step: &Step) -> Option<&'static str> {
    let became = step.kind == StepKind::Changed && step.new.get("is_default") == Some(&Json::Bool(true));
    (step.table == "contact" && became && !is_derived(step, "is_default"))
        .then_some("another contact must become the default in its place: revert the change of that one")
}

/// The name that the entry has for the old value of a field.
fn told(entry: &Model, label: &str) -> String {
    let detail: Json = serde_json::from_str(&entry.detail).unwrap_or_default();
    let old = detail.pointer(&format!("/changed/{label}/old"));
    old.and_then(Json::as_str).map(|name| quoted(name).to_string()).unwrap_or_default()
}

/// Locks what the steps belong to. Returns what stands in the way of any change of it.
async fn hold(db: &Transaction, steps: &[Step]) -> Result<Vec<UserError>> {
    let locking = db.locking(LockType::Update);
    let mut roots: Vec<RowOf> = Vec::new();
    for root in steps.iter().filter_map(Step::root) {
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    let mut obstacles = Vec::new();
    for root in roots {
        macro_rules! is_there {
            ($table:ident) => {
                locking.one($table::Entity::find_by_id(root.id)).await?.is_some()
            };
        }
        let is_there = match root.table.name() {
            "service" => match locking.one(service::Entity::find_by_id(root.id)).await? {
                Some(found) => {
                    match service::writable(found) {
                        Err(Error::User(errors)) => obstacles.extend(errors),
                        Err(error) => return Err(error),
                        Ok(_) => {}
                    }
                    true
                }
                None => false,
            },
            "team" => is_there!(team),
            "system" => is_there!(system),
            "domain" => is_there!(domain),
            _ => is_there!(user),
        };
        if !is_there {
            let message = format!("the {} no longer exists", known(root.table.name()).noun);
            obstacles.push(UserError::base(message).not_found());
        }
    }
    // A tag is the only part that is changed without a lock of what it belongs to.
    for step in steps.iter().filter(|step| step.table == "tag") {
        locking.one(tag::Entity::find_by_id(step.row.id)).await?;
    }
    Ok(obstacles)
}

/// Who made the entries about the same subject after an entry, and which fields they changed: the newest first.
struct Later(Vec<(String, Vec<String>)>);

impl Later {
    async fn read(db: &Transaction, entry: &Model) -> Result<Self> {
        let (Some(class), Some(id)) = (&entry.subject_class, entry.subject_id) else { return Ok(Self(Vec::new())) };
        let same = audit::Entity::find().filter(Column::SubjectClass.eq(class)).filter(Column::SubjectId.eq(id));
        let at_once = Column::At.eq(entry.at).and(Column::Id.gt(entry.id));
        let later = same.filter(Column::At.gt(entry.at).or(at_once));
        let later = later.order_by_desc(Column::At).order_by_desc(Column::Id).limit(SEARCHED);
        let told = later.select_only().columns([Column::ActorKind, Column::ActorName, Column::Detail]);
        let told: Vec<(String, String, String)> =
            db.rows(told.as_query(), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
        let told = told.into_iter().filter_map(|(kind, name, detail)| {
            let kind = ActorKind::try_from_value(&kind).ok()?;
            Some((kind.public_name(&name).to_owned(), changed(&detail)))
        });
        Ok(Self(told.collect()))
    }

    /// Who has changed a field last, or the subject: `, by Ada`. Nothing if the audit does not tell.
    fn by(&self, label: Option<&str>) -> String {
        let tells = |(_, changed): &&(String, Vec<String>)| {
            label.is_none_or(|label| changed.iter().any(|changed| changed == label))
        };
        self.0.iter().find(tells).map(|(who, _)| format!(", by {}", shortened(who))).unwrap_or_default()
    }
}

/// The fields that an entry tells to have changed.
fn changed(detail: &str) -> Vec<String> {
    let detail: Json = serde_json::from_str(detail).unwrap_or_default();
    let changed = detail.get("changed").and_then(Json::as_object);
    changed.map(|changed| changed.keys().cloned().collect()).unwrap_or_default()
}
