//! What a signed-in user may change, beyond the scope that a mutation requires.
//!
//! A restricted role is checked after the mutation has run and before it commits, against the subject of the audit
//! entry. A refused mutation is rolled back.

use sea_orm::EntityTrait;

use super::caller::Caller;
use crate::db::{self, Read, Transaction};
use crate::entity::audit::Subject;
use crate::entity::user::Role;
use crate::entity::{
    alert_source_service, contact, domain, infrastructure_resource, property, relationship, repository, service,
    service_dependency, service_document, service_repository, system, team, team_membership, tool,
};
use crate::error::{Result, UserError};

/// The classes that define the standards of services.
const STANDARDS: &[&str] = &["Category", "Level"];
/// Mutations that also change things other than their subject.
const OF_OTHERS: &[&str] = &[
    "codeIssueProjectResourceConnect",
    "domainChildAssign",
    "repositoriesUpdate",
    "serviceSuggestionAccept",
    "systemChildAssign",
];

/// Refuses a mutation that the caller's role does not allow.
pub(super) async fn check(
    committed: &impl Read,
    transaction: &Transaction,
    caller: &Caller,
    action: &str,
    subject: &Subject,
) -> Result<()> {
    let Some((user, role)) = caller.user else { return Ok(()) };
    let class = subject.class.as_deref().unwrap_or_default();
    if role < Role::StandardsAdmin && STANDARDS.contains(&class) {
        let message = "only a standards administrator or an administrator can change levels and categories";
        return Err(UserError::base(message).into());
    }
    if role != Role::TeamMember {
        return Ok(());
    }
    let id = subject.id.unwrap_or_default();
    // Use the owner from before the mutation. Otherwise anyone could give a thing to their own team and then change it.
    // If there was none, because the thing is new or had no owner, use the owner after the mutation.
    let owner = match owner(committed, class, id).await? {
        None => owner(transaction, class, id).await?,
        owner => owner,
    };
    let is_own = match owner {
        Some(Owner::Team(team)) => team_membership::is_of(committed, user, team).await?,
        Some(Owner::User(owner)) => owner == user,
        None => false,
    };
    if is_own && !OF_OTHERS.contains(&action) {
        return Ok(());
    }
    Err(UserError::base("you can change only your own teams and what they own").into())
}

/// The owner of a thing.
enum Owner {
    Team(i64),
    User(i64),
}

/// Finds the owner of a thing. `None` if it has none, does not exist, or is of a class that teams do not own.
async fn owner(db: &impl Read, class: &str, id: i64) -> Result<Option<Owner>, db::Error> {
    let service = match class {
        "Service" => Some(id),
        "Tool" => db.one(tool::Entity::find_by_id(id)).await?.map(|row| row.service_id),
        "ServiceDependency" => db.one(service_dependency::Entity::find_by_id(id)).await?.map(|row| row.source_id),
        "ServiceRepository" => db.one(service_repository::Entity::find_by_id(id)).await?.map(|row| row.service_id),
        "ServiceDocument" => db.one(service_document::Entity::find_by_id(id)).await?.map(|row| row.service_id),
        "AlertSourceService" => db.one(alert_source_service::Entity::find_by_id(id)).await?.map(|row| row.service_id),
        "Contact" => match db.one(contact::Entity::find_by_id(id)).await? {
            Some(contact::Model { team_id: Some(team), .. }) => return Ok(Some(Owner::Team(team))),
            Some(contact::Model { user_id: Some(user), .. }) => return Ok(Some(Owner::User(user))),
            row => row.and_then(|row| row.service_id),
        },
        "Relationship" => match db.one(relationship::Entity::find_by_id(id)).await?.and_then(|row| row.source()) {
            Some(source) => {
                let (class, id) = source.named();
                return Box::pin(owner(db, class, id)).await;
            }
            None => None,
        },
        "Team" => return Ok(db.one(team::Entity::find_by_id(id)).await?.map(|row| Owner::Team(row.id))),
        "System" => {
            return Ok(db.one(system::Entity::find_by_id(id)).await?.and_then(|row| row.owner_id).map(Owner::Team));
        }
        "Domain" => {
            return Ok(db.one(domain::Entity::find_by_id(id)).await?.and_then(|row| row.owner_id).map(Owner::Team));
        }
        "InfrastructureResource" => {
            let row = db.one(infrastructure_resource::Entity::find_by_id(id)).await?;
            return Ok(row.and_then(|row| row.owner_id).map(Owner::Team));
        }
        "Property" => match db.one(property::Entity::find_by_id(id)).await? {
            Some(property::Model { team_id: Some(team), .. }) => return Ok(Some(Owner::Team(team))),
            row => row.and_then(|row| row.service_id),
        },
        "Repository" => {
            return Ok(db.one(repository::Entity::find_by_id(id)).await?.and_then(|row| row.owner_id).map(Owner::Team));
        }
        _ => None,
    };
    let Some(service) = service else { return Ok(None) };
    Ok(db.one(service::Entity::find_by_id(service)).await?.and_then(|row| row.owner_id).map(Owner::Team))
}
