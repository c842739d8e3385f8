//! Changes of several repositories at once, and of the services whose code they hold.

use sea_orm::ActiveValue;
use sea_orm::sea_query::ExprTrait;

use crate::entity::repository::{self, Column};
use crate::entity::{service, service_repository};
use crate::graphql::prelude::*;

/// Stores a repository. If its owner has changed, notes when.
pub(in crate::graphql) async fn store(
    db: &Transaction,
    owner: Option<i64>,
    mut row: repository::ActiveModel,
) -> Result<Repository> {
    if matches!(row.owner_id, ActiveValue::Set(new) if new != owner) {
        row.last_owner_changed_at = Set(Some(Timestamp::now()));
    }
    Ok(db.update(row).await?)
}

/// The services that a mutation gives the owners of their repositories: at most [`text::ENTRIES`] of all repositories.
#[derive(Default)]
pub(in crate::graphql) struct Sync(usize);

impl Sync {
    /// Locks the services whose code a repository holds and whose owner is another one, and returns their ids. Fails if one
    /// of them cannot be changed.
    pub(in crate::graphql) async fn lock(
        &mut self,
        db: &Transaction,
        repository: i64,
        owner: Option<i64>,
    ) -> Result<Vec<i64>> {
        let links = service_repository::Entity::find()
            .select_only()
            .column(service_repository::Column::ServiceId)
            .filter(service_repository::Column::RepositoryId.eq(repository))
            .into_query();
        let is_other = match owner {
            Some(owner) => service::Column::OwnerId.is_null().or(service::Column::OwnerId.ne(owner)),
            None => service::Column::OwnerId.is_not_null(),
        };
        let room = text::ENTRIES.saturating_sub(self.0);
        // In the order of their ids, so that two transactions that write many services cannot deadlock.
        let services = service::Entity::find()
            .select_only()
            .columns([service::Column::Id, service::Column::Slug, service::Column::LockedBy])
            .filter(service::Column::Id.in_subquery(links))
            .filter(is_other)
            .order_by_asc(service::Column::Id)
            .limit(room as u64 + 1)
            .lock(LockType::Update);
        let services = db.rows(services.as_query(), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        let services: Vec<(i64, String, Option<String>)> = services.await?;
        if services.len() > room {
            let most = text::ENTRIES;
            let message = format!("at most {most} services of other owners get their repository's owner at once");
            return Err(UserError::new("syncLinkedServices", message).into());
        }
        if let Some((_, slug, Some(file))) = services.iter().find(|(.., file)| file.is_some()) {
            let message = format!("the service {slug} is locked: its service file {file} governs it; change it there");
            return Err(UserError::new("locked", message).into());
        }
        self.0 += services.len();
        Ok(services.into_iter().map(|(id, ..)| id).collect())
    }
}

/// Gives services that are locked an owner.
pub(in crate::graphql) async fn give(db: &Transaction, services: &[i64], owner: Option<i64>) -> Result<()> {
    if services.is_empty() {
        return Ok(());
    }
    let update = service::Entity::update_many().col_expr(service::Column::OwnerId, Expr::value(owner)).filter(db::any(
        db,
        service::Column::Id,
        services,
    ));
    db.exec(update).await?;
    Ok(())
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
        problems.take(Identifier::from_input(named).map_err(within));
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
    let services = match sync {
        Some(sync) => match sync.lock(db, found.id, after).await {
            Ok(services) => services,
            Err(error) => return refused(Some(found), error),
        },
        None => Vec::new(),
    };
    let mut draft = Draft::<repository::Entity>::from_row(found);
    draft.set(Column::Visible, visible);
    let mut row = draft.done()?;
    if let ActiveValue::Set(owner) = owner {
        row.owner_id = Set(*owner);
    }
    let stored = store(db, before, row).await?;
    give(db, &services, after).await?;
    Ok(Ok(stored))
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
        Ok(RepositoriesUpdatePayload {
            updated_repositories: Some(updated),
            not_updated_repositories: Some(not_updated),
            ..Default::default()
        })
    }
}
