//! Changes of several repositories at once, and of the services whose code they hold.

use std::collections::{BTreeSet, HashMap};

use async_graphql::MaybeUndefined;
use sea_orm::sea_query::{Expr, ExprTrait, LockType};
use sea_orm::{ActiveValue, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Set};
use serde_json::json;

use super::context::MutationCtx;
use super::draft::Draft;
use super::identifier::{self, Identifier};
use super::permit;
use super::schema::*;
use super::types::Repository;
use crate::db::{self, Read, Transaction, Write};
use crate::entity::audit::{self, Subject};
use crate::entity::field_rule::must_not_be_null;
use crate::entity::repository::{self, Column};
use crate::entity::timestamp::touch;
use crate::entity::{ByIds, Timestamp, change, service, service_repository, team, text};
use crate::error::{Error, Problems, Result, UserError};

/// Stores a repository. If its owner has changed, notes when.
pub(super) async fn store(
    db: &Transaction,
    owner: Option<i64>,
    mut row: repository::ActiveModel,
) -> Result<Repository> {
    touch(&mut row.updated_at);
    if matches!(row.owner_id, ActiveValue::Set(new) if new != owner) {
        row.last_owner_changed_at = Set(Some(Timestamp::now()));
    }
    Ok(db.update(row).await?)
}

/// A service that gets the owner of its repository.
struct Synced {
    id: i64,
    slug: String,
    /// Its owner before, and from now on.
    owners: [Option<i64>; 2],
}

/// The services that a mutation gives the owners of their repositories: at most [`text::ENTRIES`] of all repositories.
#[derive(Default)]
pub(super) struct Sync(Vec<Synced>);

impl Sync {
    /// Gives the services whose code a repository holds its owner. Fails if one of them cannot be changed, before it
    /// changes any.
    pub(super) async fn add(&mut self, ctx: &MutationCtx<'_>, repository: i64, owner: Option<i64>) -> Result<()> {
        let services = self.services(ctx, repository, owner).await?;
        if services.is_empty() {
            return Ok(());
        }
        let ids: Vec<i64> = services.iter().map(|service| service.id).collect();
        let update = service::Entity::update_many()
            .col_expr(service::Column::OwnerId, Expr::value(owner))
            .col_expr(service::Column::UpdatedAt, Expr::value(Timestamp::now()))
            .filter(db::any(ctx.db(), service::Column::Id, &ids));
        ctx.db().exec(update).await?;
        self.0.extend(services);
        Ok(())
    }

    /// Locks the services whose code a repository holds and whose owner is another one, and returns them.
    async fn services(&self, ctx: &MutationCtx<'_>, repository: i64, owner: Option<i64>) -> Result<Vec<Synced>> {
        const FIELD: &str = "syncLinkedServices";
        let db = ctx.db();
        let links = service_repository::Entity::find()
            .select_only()
            .column(service_repository::Column::ServiceId)
            .filter(service_repository::Column::RepositoryId.eq(repository))
            .into_query();
        let is_other = match owner {
            Some(owner) => service::Column::OwnerId.is_null().or(service::Column::OwnerId.ne(owner)),
            None => service::Column::OwnerId.is_not_null(),
        };
        let room = text::ENTRIES.saturating_sub(self.0.len());
        // In the order of their ids, so that two transactions that write many services cannot deadlock.
        let services = service::Entity::find()
            .select_only()
            .columns([service::Column::Id, service::Column::Slug, service::Column::LockedBy, service::Column::OwnerId])
            .filter(service::Column::Id.in_subquery(links))
            .filter(is_other)
            .order_by_asc(service::Column::Id)
            .limit(room as u64 + 1)
            .lock(LockType::Update);
        let service = move |row: &db::Row<'_>| {
            let synced = Synced { id: row.get(0)?, slug: row.get(1)?, owners: [row.get(3)?, owner] };
            Ok((synced, row.get(2)?))
        };
        let services: Vec<(Synced, Option<String>)> = db.rows(services.as_query(), service).await?;
        if services.len() > room {
            let most = text::ENTRIES;
            let message = format!("at most {most} services of other owners get their repository's owner at once");
            return Err(UserError::new(FIELD, message).into());
        }
        for (Synced { id, slug, .. }, file) in &services {
            if let Some(file) = file {
                let message =
                    format!("the service {slug} is locked: its service file {file} governs it; change it there");
                return Err(UserError::new("locked", message).into());
            }
            let subject = Subject::new("Service", Some(*id), slug);
            permit::check(&ctx.committed(), db, ctx.caller(), "repositoryUpdate", &subject).await?;
        }
        Ok(services.into_iter().map(|(service, _)| service).collect())
    }

    /// Writes an audit entry for each of the services.
    pub(super) async fn record(self, ctx: &MutationCtx<'_>, action: &str) -> Result<()> {
        let of_any = || self.0.iter().flat_map(|service| service.owners).flatten();
        let ids: BTreeSet<i64> = of_any().collect();
        let teams = team::Entity::by_ids(ctx.db(), ids.iter().copied().map(Some)).await?;
        let aliases: HashMap<i64, String> = teams.into_iter().flatten().map(|team| (team.id, team.alias)).collect();
        let entries = self.0.iter().map(|Synced { id, slug, owners }| {
            let [old, new] = owners.map(|owner| owner.and_then(|owner| aliases.get(&owner)));
            let detail = json!({ "changed": { "owner": { "old": old, "new": new } } });
            (action, Subject::new("Service", Some(*id), slug), detail)
        });
        Ok(audit::record_all(ctx.db(), &ctx.caller().actor, entries).await?)
    }
}

/// Checks which repositories are named, and the new visibility.
fn checked(repositories: &[IdentifierInput], visible: &MaybeUndefined<bool>) -> Problems {
    let mut problems = Problems::default();
    if repositories.is_empty() || repositories.len() > text::FEW {
        let message = format!("repositories must name 1 to {} repositories", text::FEW);
        problems.push(UserError::new("repositories", message));
    }
    if visible.is_null() {
        problems.push(must_not_be_null("visible"));
    }
    for (place, named) in repositories.iter().enumerate().take(text::FEW) {
        let within = |error: UserError| error.within(place.to_string()).within("repositories");
        problems.take(Identifier::of(named).map_err(within));
    }
    problems
}

/// Changes one of the repositories, if nothing forbids it.
async fn update(
    ctx: &MutationCtx<'_>,
    named: &IdentifierInput,
    owner: &ActiveValue<Option<i64>>,
    visible: &MaybeUndefined<bool>,
    sync: Option<&mut Sync>,
) -> Result<Result<Repository, NotUpdatedRepository>> {
    let db = ctx.db();
    let refused = |repository, error: Error| match error {
        Error::User(_) => Ok(Err(NotUpdatedRepository { repository, error: error.to_string() })),
        error => Err(error),
    };
    let found = match identifier::locked::<Repository>(db, "repositories", named, LockType::Update).await {
        Ok(found) => found,
        Err(error) => return refused(None, error),
    };
    let before = found.owner_id;
    let after = if let ActiveValue::Set(owner) = owner { *owner } else { before };
    if let Some(sync) = sync
        && let Err(error) = sync.add(ctx, found.id, after).await
    {
        return refused(Some(found), error);
    }
    let mut draft = Draft::<repository::Entity>::of(found);
    draft.set(Column::Visible, visible);
    let mut row = draft.done()?;
    if let ActiveValue::Set(owner) = owner {
        row.owner_id = Set(*owner);
    }
    Ok(Ok(store(db, before, row).await?))
}

/// Writes an audit entry for each repository but the first, which the entry of the mutation names.
async fn record_others(ctx: &MutationCtx<'_>, updated: &[Repository]) -> Result<()> {
    let mut recorded: Vec<i64> = updated.first().map(|first| first.id).into_iter().collect();
    let mut entries = Vec::new();
    for repository in updated {
        if recorded.contains(&repository.id) {
            continue;
        }
        recorded.push(repository.id);
        let changed = change::of(&ctx.committed(), ctx.db(), "Repository", repository.id, &[]).await?;
        let subject = Subject::new("Repository", Some(repository.id), &repository.default_alias);
        entries.push(("repositoriesUpdate", subject, json!({ "changed": changed })));
    }
    Ok(audit::record_all(ctx.db(), &ctx.caller().actor, entries.into_iter()).await?)
}

impl RepositoriesUpdateMutation for Mutation {
    async fn repositories_update(
        ctx: &MutationCtx<'_>,
        repositories: Vec<IdentifierInput>,
        owner: MaybeUndefined<IdentifierInput>,
        visible: MaybeUndefined<bool>,
        sync_linked_services: MaybeUndefined<bool>,
    ) -> Result<RepositoriesUpdatePayload> {
        let mut problems = checked(&repositories, &visible);
        let mut change = Draft::<repository::Entity>::new();
        change.refer(ctx.db(), Column::OwnerId, &owner).await?;
        // The rule is that of the field `ownerId` of other mutations.
        let renamed = |mut error: UserError| {
            if let Some(first) = error.path.first_mut() {
                *first = "owner".into();
            }
            error
        };
        problems.take_any(change.problems.none().map_err(|error| error.map_user(renamed)))?;
        problems.none()?;

        let mut sync = (sync_linked_services == MaybeUndefined::Value(true)).then(Sync::default);
        let (mut updated, mut not_updated) = (Vec::new(), Vec::new());
        for named in &repositories {
            match update(ctx, named, &change.row.owner_id, &visible, sync.as_mut()).await? {
                Ok(repository) => updated.push(repository),
                Err(repository) => not_updated.push(repository),
            }
        }
        record_others(ctx, &updated).await?;
        if let Some(sync) = sync {
            sync.record(ctx, "repositoriesUpdate").await?;
        }
        Ok(RepositoriesUpdatePayload {
            updated_repositories: Some(updated),
            not_updated_repositories: Some(not_updated),
            ..Default::default()
        })
    }
}
