//! Carries out the steps of a revert, each by the mutation that people use for it.

use serde_json::{Map, Value as Json, json};

use super::super::property;
use super::super::service::service_dependency;
use super::global_id;
use super::step::{Step, StepKind, referred};
use crate::db::RowOf;
use crate::engine::input::Input;
use crate::entity::change::kept;
use crate::entity::field_rule::ValueRule;
use crate::graphql::prelude::*;

/// Columns without a rule. The field of the input has the name of the column.
const SAME_NAME: [(&str, &str); 4] = [("tool", "category"), ("contact", "type"), ("tag", "key"), ("tag", "value")];

/// The columns of a service that `serviceApiDocSettingsUpdate` sets.
const DOCUMENT: [&str; 2] = ["api_document_path", "preferred_api_document_source"];

/// The old values of these columns of a step, as the fields of an input.
fn fields(step: &Step, columns: &[&str]) -> Map<String, Json> {
    let by_rule = kept::table(step.table).into_iter().flat_map(|table| &table.fields);
    let by_rule = by_rule.map(|field| (field.column, field.name, Some(field.value)));
    let others = SAME_NAME.iter().filter(|(table, _)| *table == step.table).map(|(_, column)| (*column, *column, None));
    let field = |(column, name, rule): (&str, &str, Option<ValueRule>)| {
        let value = step.old.get(column)?;
        let refers = rule.is_some_and(|rule| rule.reference().is_some());
        let value = match (rule, referred(column, value)) {
            (Some(ValueRule::Identified(_)), Some(row)) => json!({ "id": global_id(row) }),
            (_, row) if refers => row.map_or(Json::Null, global_id),
            _ => value.clone(),
        };
        Some((name.to_owned(), value))
    };
    by_rule.chain(others).filter(|(column, ..)| columns.contains(column)).filter_map(field).collect()
}

/// The fields of an input that makes a row again: without those that were empty.
fn all_fields(step: &Step) -> Map<String, Json> {
    let columns: Vec<&str> = step.old.keys().map(String::as_str).collect();
    let mut fields = fields(step, &columns);
    fields.retain(|_, value| !value.is_null());
    fields
}

/// Names a row.
fn named(row: RowOf) -> IdentifierInput {
    let id = global_id(row).as_str().map_or(MaybeUndefined::Undefined, |id| MaybeUndefined::Value(id.to_owned()));
    IdentifierInput { id, alias: MaybeUndefined::Undefined }
}

/// What a column of the step refers to. The entry has been checked to hold it.
fn target(step: &Step, column: &str) -> Result<RowOf> {
    step.refers_to(column).ok_or_else(|| Error::internal(format!("a kept {} has no {column}", step.table)))
}

fn owner(step: &Step) -> Result<RowOf> {
    step.root().ok_or_else(|| Error::internal(format!("a kept {} has no owner", step.table)))
}

/// What is read and checked before the transaction begins, because it may take long: the values of properties.
pub(super) struct Ahead(Vec<(RowOf, property::Ahead)>);

impl Ahead {
    pub(super) async fn read(ctx: &MutationCtx<'_>, steps: &[Step]) -> Result<Self> {
        let mut ahead = Vec::new();
        for step in steps.iter().filter(|step| step.table == "property" && step.kind != StepKind::Made) {
            let definition = named(target(step, "definition_id")?);
            let value = step.old.get("value").and_then(Json::as_str).unwrap_or_default();
            let read = property::ahead(ctx.database().read(), &definition, value, true).await?;
            ahead.push((step.row, read));
        }
        Ok(Self(ahead))
    }

    fn take(&mut self, row: RowOf) -> Result<property::Ahead> {
        let place = self.0.iter().position(|(known, _)| *known == row);
        let place = place.ok_or_else(|| Error::internal("the value of a property was not read ahead"))?;
        Ok(self.0.swap_remove(place).1)
    }
}

/// Carries out all steps: first what makes room for the others.
pub(super) async fn all(ctx: &MutationCtx<'_>, steps: &[Step], mut ahead: Ahead) -> Result<()> {
    let of = |kind: StepKind| steps.iter().filter(move |step| step.kind == kind);
    for step in of(StepKind::Made) {
        Box::pin(remove(ctx, step)).await?;
    }
    for step in of(StepKind::Changed) {
        Box::pin(set_back(ctx, step, &mut ahead)).await?;
    }
    for step in of(StepKind::Deleted) {
        Box::pin(make_again(ctx, step, &mut ahead)).await?;
    }
    Ok(())
}

/// Reads an input from its fields.
fn input<T: Input>(ctx: &MutationCtx<'_>, ty: &str, fields: Map<String, Json>) -> Result<T> {
    ctx.input(ty, fields)
}

/// The same from an object.
fn object<T: Input>(ctx: &MutationCtx<'_>, ty: &str, fields: Json) -> Result<T> {
    match fields {
        Json::Object(fields) => ctx.input(ty, fields),
        _ => Err(Error::internal("an input is an object")),
    }
}

/// Gives the fields of a row their old values.
async fn set_back(ctx: &MutationCtx<'_>, step: &Step, ahead: &mut Ahead) -> Result<()> {
    let mut given = fields(step, &step.differing());
    let named = || named(step.row);
    if ["service", "team", "tool", "contact", "service_repository", "tag"].contains(&step.table) {
        given.insert("id".to_owned(), part_id(step));
    }
    match step.table {
        "service" => service(ctx, step, given).await?,
        "team" => drop(Mutation::team_update(ctx, input(ctx, "TeamUpdateInput", given)?).await?),
        "system" => drop(Mutation::system_update(ctx, named(), input(ctx, "SystemInput", given)?).await?),
        "domain" => drop(Mutation::domain_update(ctx, named(), input(ctx, "DomainInput", given)?).await?),
        "tool" => drop(Mutation::tool_update(ctx, input(ctx, "ToolUpdateInput", given)?).await?),
        "contact" => {
            if step.old.get("is_default") == Some(&Json::Bool(true)) {
                given.insert("makeDefault".to_owned(), true.into());
            }
            drop(Mutation::contact_update(ctx, input(ctx, "ContactUpdateInput", given)?).await?);
        }
        "property" => put_property(ctx, step, ahead).await?,
        "service_repository" => {
            drop(Mutation::service_repository_update(ctx, input(ctx, "ServiceRepositoryUpdateInput", given)?).await?);
        }
        "tag" => drop(Mutation::tag_update(ctx, input(ctx, "TagUpdateInput", given)?).await?),
        "team_membership" => join_team(ctx, step).await?,
        table => return Err(Error::internal(format!("a kept {table} was changed"))),
    }
    Ok(())
}

/// The id of a part, as clients name it. A tag has no entries of its own, so its table does not say its class.
fn part_id(step: &Step) -> Json {
    match step.table {
        "tag" => id::Id { class: "Tag", number: step.row.id }.text().into(),
        _ => global_id(step.row),
    }
}

async fn service(ctx: &MutationCtx<'_>, step: &Step, given: Map<String, Json>) -> Result<()> {
    if given.len() > 1 {
        Mutation::service_update(ctx, input(ctx, "ServiceUpdateInput", given)?).await?;
    }
    let differing = step.differing();
    if !DOCUMENT.iter().any(|column| differing.contains(column)) {
        return Ok(());
    }
    let text = |column: &str| match step.old.get(column).filter(|_| differing.contains(&column)) {
        None => MaybeUndefined::Undefined,
        Some(value) => value.as_str().map_or(MaybeUndefined::Null, |text| MaybeUndefined::Value(text.to_owned())),
    };
    let [path, source] = DOCUMENT.map(text);
    let source = match source {
        MaybeUndefined::Value(word) => {
            ApiDocumentSourceEnum::from_word(&word).map_or(MaybeUndefined::Null, MaybeUndefined::Value)
        }
        MaybeUndefined::Null => MaybeUndefined::Null,
        MaybeUndefined::Undefined => MaybeUndefined::Undefined,
    };
    let url = MaybeUndefined::Undefined;
    Mutation::service_api_doc_settings_update(ctx, named(step.row), path, url, source).await?;
    Ok(())
}

async fn put_property(ctx: &MutationCtx<'_>, step: &Step, ahead: &mut Ahead) -> Result<()> {
    let (owner, definition) = (named(owner(step)?), named(target(step, "definition_id")?));
    property::put(ctx.db(), ahead.take(step.row)?, (&owner, None), &definition).await?;
    Ok(())
}

async fn join_team(ctx: &MutationCtx<'_>, step: &Step) -> Result<()> {
    let role = step.old.get("role").cloned().unwrap_or_default();
    let member = json!({ "user": { "id": global_id(target(step, "user_id")?) }, "role": role });
    let given = json!({ "teamId": global_id(owner(step)?), "members": [member] });
    Mutation::team_membership_create(ctx, object(ctx, "TeamMembershipCreateInput", given)?).await?;
    Ok(())
}

/// Deletes a row that was made.
async fn remove(ctx: &MutationCtx<'_>, step: &Step) -> Result<()> {
    let by_id = || json!({ "id": part_id(step) });
    match step.table {
        "tool" => drop(Mutation::tool_delete(ctx, object(ctx, "ToolDeleteInput", by_id())?).await?),
        "contact" => drop(Mutation::contact_delete(ctx, object(ctx, "ContactDeleteInput", by_id())?).await?),
        "tag" => drop(Mutation::tag_delete(ctx, object(ctx, "TagDeleteInput", by_id())?).await?),
        "property" => {
            let (owner, definition) = (named(owner(step)?), named(target(step, "definition_id")?));
            Mutation::property_unassign(ctx, owner, definition).await?;
        }
        "service_dependency" => {
            let id = id::Id::new::<crate::entity::service_dependency::Entity>(step.row.id).text();
            service_dependency::delete(ctx.db(), &id).await?;
        }
        "service_repository" => {
            Mutation::service_repository_delete(ctx, object(ctx, "DeleteInput", by_id())?).await?;
        }
        "team_membership" => {
            let member = json!({ "user": { "id": global_id(target(step, "user_id")?) } });
            let given = json!({ "teamId": global_id(owner(step)?), "members": [member] });
            Mutation::team_membership_delete(ctx, object(ctx, "TeamMembershipDeleteInput", given)?).await?;
        }
        _ if step.is_alias() => {
            let of = owner(step)?.table.name();
            let given = json!({ "ownerType": of, "alias": step.text("value") });
            Mutation::alias_delete(ctx, object(ctx, "AliasDeleteInput", given)?).await?;
        }
        table => return Err(Error::internal(format!("a kept {table} was made"))),
    }
    Ok(())
}

/// Makes a row that was deleted again.
async fn make_again(ctx: &MutationCtx<'_>, step: &Step, ahead: &mut Ahead) -> Result<()> {
    let (mut given, belongs_to) = (all_fields(step), global_id(owner(step)?));
    match step.table {
        "tool" => {
            given.insert("serviceId".to_owned(), belongs_to);
            Mutation::tool_create(ctx, input(ctx, "ToolCreateInput", given)?).await?;
        }
        "contact" => {
            given.insert("ownerId".to_owned(), belongs_to);
            // It becomes the default by itself if it is the first of its type, as the plan says.
            Mutation::contact_create(ctx, input(ctx, "ContactCreateInput", given)?).await?;
        }
        "tag" => {
            given.insert("id".to_owned(), belongs_to);
            Mutation::tag_create(ctx, input(ctx, "TagCreateInput", given)?).await?;
        }
        "property" => put_property(ctx, step, ahead).await?,
        "service_dependency" => {
            let destination = json!({ "id": global_id(target(step, "destination_id")?) });
            let key = json!({ "sourceIdentifier": { "id": belongs_to }, "destinationIdentifier": destination });
            let notes = step.old.get("notes").cloned().unwrap_or_default();
            let given = json!({ "dependencyKey": key, "notes": notes });
            Mutation::service_dependency_create(ctx, object(ctx, "ServiceDependencyCreateInput", given)?).await?;
        }
        "service_repository" => {
            given.insert("service".to_owned(), json!({ "id": belongs_to }));
            given.insert("repository".to_owned(), json!({ "id": global_id(target(step, "repository_id")?) }));
            Mutation::service_repository_create(ctx, input(ctx, "ServiceRepositoryCreateInput", given)?).await?;
        }
        "team_membership" => join_team(ctx, step).await?,
        _ if step.is_alias() => {
            let given = json!({ "ownerId": belongs_to, "alias": step.text("value") });
            Mutation::alias_create(ctx, object(ctx, "AliasCreateInput", given)?).await?;
        }
        table => return Err(Error::internal(format!("a kept {table} was deleted"))),
    }
    Ok(())
}
