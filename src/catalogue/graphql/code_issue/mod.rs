//! Code issues: problems that a tool found in code and pushes, each under its project.
//!
//! Invariant: an issue is found by its project and its external id. Pushing it again updates it, so there is never a
//! second one.

use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveModelTrait, Iterable, NotSet};

use super::field::draft;
use super::list::relation::lists;
use crate::entity::code_issue::Column;
use crate::entity::field_rule::FieldRules;
use crate::entity::timestamp::touched;
use crate::entity::{code_issue, code_issue_cve, code_issue_cwe};
use crate::graphql::prelude::*;
use code_issue_project as projects;

pub(super) mod code_issue_project;
pub(super) mod code_issue_project_resource;

impl CodeIssueResolver for CodeIssue {
    fn issue_type(&self) -> &str {
        // If the client sent no type, none is stored, so that it follows the category.
        self.issue_type.as_deref().unwrap_or(&self.issue_category)
    }

    async fn cves(issues: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<CodeIssueCve>>> {
        use code_issue_cve::{Column, Entity, Model};
        let db = ctx.db();
        let ids: Vec<_> = issues.iter().map(|issue| issue.id).collect();
        let rows = Entity::find().filter(db::any(db, Column::CodeIssueId, &ids)).order_by_asc(Column::Id);
        let reference = |row: Model| (row.code_issue_id, (row.identifier, row.url));
        let cve = |(identifier, url)| CodeIssueCve { identifier, url };
        grouped(db, &ids, db.all(rows).await?.into_iter().map(reference), cve)
    }

    async fn cwes(issues: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<Vec<CodeIssueCwe>>> {
        use code_issue_cwe::{Column, Entity, Model};
        let db = ctx.db();
        let ids: Vec<_> = issues.iter().map(|issue| issue.id).collect();
        let rows = Entity::find().filter(db::any(db, Column::CodeIssueId, &ids)).order_by_asc(Column::Id);
        let reference = |row: Model| (row.code_issue_id, (row.identifier, row.url));
        let cwe = |(identifier, url)| CodeIssueCwe { identifier, url };
        grouped(db, &ids, db.all(rows).await?.into_iter().map(reference), cwe)
    }
}

/// Groups references by issue, in the order of `issue_ids`, and converts them with `show`.
fn grouped<T>(
    db: &dyn ReadHandle,
    issue_ids: &[i64],
    references: impl Iterator<Item = (i64, Reference)>,
    show: impl Fn(Reference) -> T,
) -> Result<Vec<Vec<T>>> {
    let text = |(identifier, url): &Reference| identifier.len() + url.as_ref().map_or(0, String::len);
    let all = lists(db, issue_ids, references.collect(), text)?;
    Ok(all.into_iter().map(|references| references.into_iter().map(&show).collect()).collect())
}

/// Resolves an identifier to the key of the project, which must exist, and the issue's id in the source system. The
/// issue itself need not exist.
async fn key(db: &dyn ReadHandle, identifier: &CodeIssueIdentifierInput) -> Result<(i64, String)> {
    let CodeIssueIdentifierInput { code_issue_project, external_id } = identifier;
    let mut problems = Problems::default();
    let project = projects::require(db, code_issue_project).await;
    let project = project.map_err(|error| error.map_user(|error| error.within("codeIssueProject")));
    let project = problems.take_any(project)?.map(|project| project.id);
    let external_id =
        problems.take(code_issue::Entity::rule(code_issue::Column::ExternalId).required_text(external_id));
    problems.none()?;
    Ok((project.unwrap_or_default(), external_id.unwrap_or_default()))
}

impl CodeIssueUpsertMutation for Mutation {
    async fn code_issue_upsert(ctx: &MutationCtx<'_>, input: CodeIssueInput) -> Result<CodeIssueUpsertPayload> {
        let CodeIssueInput { identifier, name, issue_category, introduced_at, cves, cwes, texts } = input;
        let db = ctx.db();
        let mut draft = Draft::<code_issue::Entity>::new();
        let key = key(db, &identifier).await.map_err(|error| error.map_user(|error| error.within("identifier")));
        let key = draft.problems.take_any(key)?;
        draft.set(Column::Name, &name);
        draft.set(Column::IssueCategory, &issue_category);
        draft.set_texts(&texts);
        draft.set(Column::IntroducedAt, &introduced_at);
        let cves = cves.map_value(|all| all.into_iter().map(|CodeIssueCveInput { identifier, url }| (identifier, url)));
        let cves = draft.problems.take_any(references("cves", cves))?.flatten();
        let cwes = cwes.map_value(|all| all.into_iter().map(|CodeIssueCweInput { identifier, url }| (identifier, url)));
        let cwes = draft.problems.take_any(references("cwes", cwes))?.flatten();

        let issue = upsert(db, draft.done()?, key.unwrap_or_default()).await?;
        // The upsert locks the row until the transaction ends, so concurrent replacements of its lists cannot mix.
        if let Some(cves) = cves {
            replace_cves(db, issue.id, cves).await?;
        }
        if let Some(cwes) = cwes {
            replace_cwes(db, issue.id, cwes).await?;
        }
        Ok(CodeIssueUpsertPayload { code_issue: Some(issue), ..Default::default() })
    }
}

/// A reference of an issue: an identifier, and where to read about it.
type Reference = (String, Option<String>);

/// Checks the references in an input. They replace all references of the issue; `None` leaves those unchanged.
fn references(
    field: &'static str,
    given: MaybeUndefined<impl ExactSizeIterator<Item = (String, MaybeUndefined<String>)>>,
) -> Result<Option<Vec<Reference>>> {
    let given = match given {
        MaybeUndefined::Undefined => return Ok(None),
        MaybeUndefined::Null => return Ok(Some(Vec::new())),
        MaybeUndefined::Value(given) => given,
    };
    if given.len() > text::ENTRIES {
        let message = format!("{field} has {} entries; at most {} are allowed", given.len(), text::ENTRIES);
        return Err(UserError::new(field, message).into());
    }
    let mut problems = Problems::default();
    let mut references = Vec::with_capacity(given.len());
    for (place, (identifier, url)) in given.enumerate() {
        let within = |error: UserError| error.within(place.to_string()).within(field);
        // CWEs have the same rules as CVEs.
        let rule = code_issue_cve::Entity::rule(code_issue_cve::Column::Identifier);
        let identifier = problems.take(rule.required_text(&identifier).map_err(within));
        let url = draft::text::<code_issue_cve::Entity>(code_issue_cve::Column::Url, &url);
        let url = problems.take(url.map_err(within));
        references.push((identifier.unwrap_or_default(), url.flatten().flatten()));
    }
    problems.none()?;
    Ok(Some(references))
}

/// Creates the issue, or updates the one with this key. An update may lack fields that creation requires.
async fn upsert(db: &Transaction, changes: code_issue::ActiveModel, key: (i64, String)) -> Result<CodeIssue> {
    let mut missing = Problems::default();
    for (field, is_missing) in
        [("name", changes.name.is_not_set()), ("issueCategory", changes.issue_category.is_not_set())]
    {
        if is_missing {
            missing.push(UserError::new(field, format!("{field} is needed to create a code issue")));
        }
    }
    match missing.none() {
        Ok(()) => create_or_update(db, key, changes).await,
        Err(missing) => update(db, key, changes).await?.ok_or(missing),
    }
}

async fn create_or_update(
    db: &Transaction,
    (project_id, external_id): (i64, String),
    changes: code_issue::ActiveModel,
) -> Result<CodeIssue> {
    use code_issue::{Column, Entity};
    let mut update = OnConflict::columns([Column::CodeIssueProjectId, Column::ExternalId]);
    update.update_columns(Column::iter().filter(|column| changes.get(*column).is_set()));
    update.value(Column::UpdatedAt, touched(Column::UpdatedAt));
    let mut row = changes;
    row.code_issue_project_id = Set(project_id);
    row.external_id = Set(external_id);
    row.created_at = Set(Timestamp::now());
    row.updated_at = row.created_at.clone();
    Ok(db.insert_or(Entity::insert(row).on_conflict(update)).await?)
}

async fn update(
    db: &Transaction,
    (project_id, external_id): (i64, String),
    changes: code_issue::ActiveModel,
) -> Result<Option<CodeIssue>> {
    use code_issue::{Column, Entity};
    // Its CVEs and CWEs are its own, so it has changed even if nothing of the row has.
    let issue = Entity::update_many().set(changes).col_expr(Column::UpdatedAt, touched(Column::UpdatedAt));
    let issue = issue.filter(Column::CodeIssueProjectId.eq(project_id));
    let updated = db.updated(issue.filter(Column::ExternalId.eq(external_id))).await?;
    Ok(updated.into_iter().next())
}

/// Defines a function that replaces the references of an issue in a table.
macro_rules! replaces {
    ($name:ident, $table:ident) => {
        async fn $name(db: &Transaction, issue_id: i64, references: Vec<Reference>) -> Result<()> {
            use $table::{ActiveModel, Column, Entity};
            db.exec(Entity::delete_many().filter(Column::CodeIssueId.eq(issue_id))).await?;
            let row = |(identifier, url)| ActiveModel {
                id: NotSet,
                code_issue_id: Set(issue_id),
                identifier: Set(identifier),
                url: Set(url),
            };
            db.exec(Entity::insert_many(references.into_iter().map(row))).await?;
            Ok(())
        }
    };
}
replaces!(replace_cves, code_issue_cve);
replaces!(replace_cwes, code_issue_cwe);

impl CodeIssueDeleteMutation for Mutation {
    async fn code_issue_delete(
        ctx: &MutationCtx<'_>,
        input: CodeIssueIdentifierInput,
    ) -> Result<CodeIssueDeletePayload> {
        let db = ctx.db();
        let (project_id, external_id) = key(db, &input).await?;
        let issue = code_issue::by_external_id(db, project_id, &external_id).await?.ok_or_else(|| {
            let what = format!("code issue of the project with the externalId {}", quoted(&external_id));
            UserError::new("externalId", id::absent(&what)).not_found()
        })?;
        let deleted_id = Some(CodeIssueResolver::id(&issue));
        db.delete(issue).await?;
        Ok(CodeIssueDeletePayload { deleted_id, deleted_alias: Some(external_id), ..Default::default() })
    }
}
