//! A revert in words: what it does, and its fields.

use serde_json::Value as Json;

use super::plan::Plan;
use super::step::{OWNERS, Step, StepKind, referred};
use super::tables::{Name, known};
use crate::entity::change::kept::Values;
use crate::error::shortened;
use crate::service_file::FieldChange;

/// The maximum number of parts that the sentence names.
const NAMED: usize = 5;

impl Plan {
    /// What the revert does, in sentences.
    pub(super) fn summary(&self) -> String {
        let fields: usize =
            self.steps.iter().filter(|step| step.kind == StepKind::Changed).map(|step| step.differing().len()).sum();
        let mut sentences = Vec::new();
        match fields {
            0 => {}
            1 => sentences.push("One field gets its value from before the change.".to_owned()),
            many => sentences.push(format!("{many} fields get their values from before the change.")),
        }
        let mut others = self.steps.iter().filter(|step| step.kind != StepKind::Changed);
        for step in others.by_ref().take(NAMED) {
            let (noun, name) = (step.noun(), self.name(step));
            sentences.push(match step.kind {
                StepKind::Made => format!("The {noun} {name} is removed."),
                _ if self.not_default.contains(&step.row) => {
                    format!("The {noun} {name} is made again, with a new id; the default stays the one that it is now.")
                }
                _ => format!("The {noun} {name} is made again, with a new id."),
            });
        }
        let more = others.count();
        if more > 0 {
            sentences.push(format!("{more} more are made again or removed."));
        }
        sentences.join(" ")
    }

    /// Each field, as it is and as it would be.
    pub(super) fn fields(&self) -> Vec<FieldChange> {
        self.steps.iter().flat_map(|step| self.fields_of(step)).collect()
    }

    fn fields_of(&self, step: &Step) -> Vec<FieldChange> {
        let none = Values::new();
        let present = self.present.get(&step.row);
        if step.is_entry() {
            return self.entry_of(step, present);
        }
        let now = match step.kind {
            StepKind::Deleted => &none,
            StepKind::Made | StepKind::Changed => present.unwrap_or(step.expected()),
        };
        let then = if step.kind == StepKind::Made { &none } else { &step.old };
        let field = |column: &str| {
            let side = |values: &Values| self.text(column, values.get(column)?);
            let (before, after) = (side(now), side(then));
            (before != after).then(|| FieldChange { field: step.label(column), before, after })
        };
        let is_part = |column: &&str| step.kind == StepKind::Changed || !OWNERS.contains(column);
        step.differing().into_iter().filter(is_part).filter_map(field).collect()
    }

    /// A tag, a membership or an alias, as an entry of its list.
    fn entry_of(&self, step: &Step, present: Option<&Values>) -> Vec<FieldChange> {
        let now = if step.kind == StepKind::Deleted { None } else { Some(present.unwrap_or(step.expected())) };
        let then = if step.kind == StepKind::Made { None } else { Some(&step.old) };
        let value = |values: Option<&Values>| {
            let text = |column: &str| values?.get(column)?.as_str().map(|text| shortened(text).to_string());
            match step.table {
                "tag" => text("value"),
                "team_membership" => {
                    let role = text("role").map_or(String::new(), |role| format!(" ({role})"));
                    values.map(|_| format!("{}{role}", self.name_of(step, "user_id")))
                }
                _ => text("value"),
            }
        };
        let key = |values: Option<&Values>| Some(values?.get("key")?.as_str()?.to_owned());
        match (key(now), key(then)) {
            // A tag with another key. Only what was changed is in the old values.
            (Some(before), Some(after)) if before != after => vec![
                FieldChange { field: format!("tags.{before}"), before: value(now), after: None },
                FieldChange { field: format!("tags.{after}"), before: None, after: value(then).or_else(|| value(now)) },
            ],
            _ => vec![FieldChange { field: step.label("value"), before: value(now), after: value(then) }],
        }
    }

    fn text(&self, column: &str, value: &Json) -> Option<String> {
        let name = referred(column, value).and_then(|row| self.names.get(&row));
        Some(match (name, value) {
            (_, Json::Null) => return None,
            (Some(name), _) => shortened(name).to_string(),
            (None, Json::String(text)) => shortened(text).to_string(),
            (None, other) => other.to_string(),
        })
    }

    /// The name of a row.
    pub(super) fn name(&self, step: &Step) -> String {
        match known(step.table).name {
            Name::Of(column) => self.name_of(step, column),
            Name::Text(column) => shortened(step.text(column)).to_string(),
        }
    }

    fn name_of(&self, step: &Step, column: &str) -> String {
        let name = step.refers_to(column).and_then(|row| self.names.get(&row));
        name.map(|name| shortened(name).to_string()).unwrap_or_default()
    }
}
