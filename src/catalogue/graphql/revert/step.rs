//! What an entry of the audit tells, as steps that undo it.

use serde_json::Value as Json;

use super::tables::{ALIASES, known};
use crate::db::RowOf;
use crate::entity::audit;
use crate::entity::change::kept::{self, Kept, KeptRow, NOUNS, Values};
use crate::entity::change::{label, reference};
use crate::entity::recorded_as;

/// What happened to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepKind {
    /// It was made. To undo that is to delete it.
    Made,
    /// It was deleted. To undo that is to make it again, with a new id.
    Deleted,
    /// Some of its fields changed.
    Changed,
}

/// What happened to a row, to be undone.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// The table.
    pub(super) table: &'static str,
    /// The row.
    pub(super) row: RowOf,
    /// What happened.
    pub(super) kind: StepKind,
    /// The values before.
    pub(super) old: Values,
    /// The values afterwards.
    pub(super) new: Values,
    /// The columns whose values the entry does not hold.
    pub(super) cut: Vec<String>,
}

/// The columns that hold what a part belongs to.
pub(super) const OWNERS: [&str; 6] = ["service_id", "source_id", "team_id", "system_id", "domain_id", "user_id"];

/// The value of the column `kind` of an alias that somebody has added. The others follow from names.
const MANAGED: &str = "managed";

impl Step {
    /// The values that the row has, if nobody has changed it since.
    pub(super) fn expected(&self) -> &Values {
        if self.kind == StepKind::Deleted { &self.old } else { &self.new }
    }

    /// The values of which at least the owner and what names the row are known.
    pub(super) fn known(&self) -> &Values {
        if self.kind == StepKind::Made { &self.new } else { &self.old }
    }

    /// The columns that differ.
    pub(super) fn differing(&self) -> Vec<&str> {
        let all = if self.kind == StepKind::Made { &self.new } else { &self.old };
        let differing = all.keys().filter(|column| self.old.get(*column) != self.new.get(*column));
        differing.chain(&self.cut).map(String::as_str).collect()
    }

    /// The noun to which the row belongs: itself, if it is one.
    pub(super) fn root(&self) -> Option<RowOf> {
        if NOUNS.contains(&self.table) {
            return Some(self.row);
        }
        let owner = |column: &str| referred(column, self.known().get(column)?);
        OWNERS.into_iter().find_map(owner)
    }

    /// A text among the values.
    pub(super) fn text(&self, column: &str) -> &str {
        self.known().get(column).and_then(Json::as_str).unwrap_or_default()
    }

    /// The row that a column refers to.
    pub(super) fn refers_to(&self, column: &str) -> Option<RowOf> {
        referred(column, self.known().get(column)?)
    }

    /// The word for a row of the table.
    pub(super) fn noun(&self) -> &'static str {
        known(self.table).noun
    }

    /// Whether it is an alias, a tag or a membership, of which the audit tells in a list of what it belongs to.
    pub(super) fn is_entry(&self) -> bool {
        ALIASES.contains(&self.table) || ["tag", "team_membership"].contains(&self.table)
    }

    /// Whether it is an alias.
    pub(super) fn is_alias(&self) -> bool {
        ALIASES.contains(&self.table)
    }

    /// The name by which the audit tells a column of the row.
    pub(super) fn label(&self, column: &str) -> String {
        match self.table {
            "tag" => format!("tags.{}", self.text("key")),
            "team_membership" => "members".to_owned(),
            _ if self.is_alias() => "aliases".to_owned(),
            _ => label(column),
        }
    }
}

/// The row that a value of a column refers to.
pub(super) fn referred(column: &str, value: &Json) -> Option<RowOf> {
    Some(RowOf { table: reference(column)?, id: value.as_i64()? })
}

/// The steps that undo what an entry tells, or why there are none.
pub(super) fn of_entry(entry: &audit::Model) -> Result<Vec<Step>, String> {
    if entry.action.starts_with("serviceSuggestion") {
        return Err(
            "a decision about a suggestion is undone on the page Suggestions, or by serviceSuggestionsUndo".into()
        );
    }
    let rows = match entry.kept.as_deref().map(Kept::read) {
        Some(Some(Kept::Rows(rows))) => rows,
        Some(Some(Kept::Cut)) => {
            return Err("the change is too large: the audit does not hold all of its values".to_owned());
        }
        Some(None) => return Err("a newer version of rollcall has written this entry".to_owned()),
        None => {
            return Err(
                "the audit does not hold the exact values of this change: it is of an earlier version, of a file \
                        that was applied, or not about a service, a team, a system, a domain or a part of them"
                    .to_owned(),
            );
        }
    };
    let mut steps = Vec::with_capacity(rows.len());
    for row in rows {
        steps.extend(step(row)?);
    }
    match steps.is_empty() {
        true => Err("nothing of this change can be reverted: aliases of names stay".to_owned()),
        false => Ok(steps),
    }
}

/// The step that undoes what happened to a row. `None` if that stays.
fn step(row: KeptRow) -> Result<Option<Step>, String> {
    let KeptRow { table, id, old, new, cut } = row;
    let found = recorded_as(&table);
    let (Some(kept), Some(found)) = (kept::table(&table), found) else {
        return Err(format!("the change concerns a {}, which is not reverted from the audit", table.replace('_', " ")));
    };
    let kind = match (&old, &new) {
        (None, Some(_)) => StepKind::Made,
        (Some(_), None) => StepKind::Deleted,
        (Some(_), Some(_)) => StepKind::Changed,
        (None, None) => return Ok(None),
    };
    let (old, new, name) = (old.unwrap_or_default(), new.unwrap_or_default(), kept.name);
    let step = Step { table: name, row: RowOf { table: found, id }, kind, old, new, cut };
    let noun = step.noun();
    if NOUNS.contains(&name) && kind == StepKind::Made {
        return Err(format!("a {noun} that was created is not removed from the audit: delete the {noun} itself"));
    }
    if NOUNS.contains(&name) && kind == StepKind::Deleted {
        return Err(format!(
            "a deleted {noun} cannot be made again from the audit: its aliases, its parts and what referred to it went \
             with it; create it anew"
        ));
    }
    if step.is_alias() && (kind == StepKind::Changed || step.text("kind") != MANAGED) {
        return Ok(None);
    }
    if step.differing().contains(&"locked_by") {
        return Err("the change is of a service file: change the file".to_owned());
    }
    if kind == StepKind::Changed && name == "service_dependency" {
        return Err("the note of a dependency is not reverted from the audit: make the dependency anew".to_owned());
    }
    if step.root().is_none() {
        return Err(format!("the entry does not say what the {noun} belonged to"));
    }
    Ok(Some(step))
}
