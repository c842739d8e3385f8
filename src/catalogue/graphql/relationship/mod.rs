//! Relationships: one thing belongs to another, depends on it, or is related to it.
//!
//! Three kinds are stored elsewhere: the system of a service, the domain of a system, and the dependencies of a
//! service. Mutations and queries of relationships read and write them there, so that no second row can contradict
//! them. Their ids are derived from that place.

use sea_orm::ModelTrait;

use super::field::alias::or_taken;
use super::field::id::{Class, Id};
use super::list::relation::{self, to_one};
use super::service as services;
use super::service::service_dependency as dependencies;
use crate::entity::relationship::{self, End, Entity};
use crate::entity::text::ENTRIES;
use crate::entity::{
    domain, infrastructure_resource, relationship_rule, row_lock, service, service_dependency, system, team,
};
use crate::graphql::prelude::*;

pub(super) mod related_resource;
pub(super) mod relationship_definition;

/// The mutation's argument, and also the field in it that names a definition.
const DEFINITION: &str = "relationshipDefinition";

/// The class in the id of the relationship between a service and its system. The number is the service's.
pub(super) const SYSTEM_OF_SERVICE: &str = "ServiceSystem";
/// The class in the id of the relationship between a system and its domain. The number is the system's.
pub(super) const DOMAIN_OF_SYSTEM: &str = "SystemDomain";

impl RelationshipTypeResolver for RelationshipType {
    fn id(&self) -> Id {
        // No row of `relationship` has these ends, because `relationship_create` stores them elsewhere.
        let class = match (self.r#type(), self.source(), self.target()) {
            (RelationshipTypeEnum::BelongsTo, Some(End::Service(_)), Some(End::System(_))) => SYSTEM_OF_SERVICE,
            (RelationshipTypeEnum::BelongsTo, Some(End::System(_)), Some(End::Domain(_))) => DOMAIN_OF_SYSTEM,
            (RelationshipTypeEnum::DependsOn, Some(End::Service(_)), Some(End::Service(_))) => {
                service_dependency::Entity::CLASS
            }
            _ => Entity::CLASS,
        };
        Id { class, number: self.id }
    }

    fn r#type(&self) -> RelationshipTypeEnum {
        // Mutations write only words of the enum, so the fallback is not expected.
        RelationshipTypeEnum::from_word(&self.r#type).unwrap_or(RelationshipTypeEnum::RelatedTo)
    }

    relations! { |relationships: Self, args, ctx|
        source() -> RelationshipResource =
            things(ctx, relationships.iter().map(|one| relationship::Model::source(one)).collect()).await;
        target() -> RelationshipResource =
            things(ctx, relationships.iter().map(|one| relationship::Model::target(one)).collect()).await;
        definition() -> Option<RelationshipDefinitionType> =
            to_one(ctx, relationships.iter().map(|one| one.relationship_definition_id).collect()).await;
    }
}

/// Reads the thing at each end, in one statement for each kind.
pub(super) async fn things(ctx: &Ctx<'_>, ends: Vec<Option<End>>) -> Result<Vec<RelationshipResource>> {
    macro_rules! rows {
        ($kind:ident, $table:ident) => {
            $table::Entity::by_ids(
                ctx.db(),
                ends.iter().map(|end| if let Some(End::$kind(id)) = end { Some(*id) } else { None }),
            )
            .await?
            .into_iter()
        };
    }
    let mut services = rows!(Service, service);
    let mut systems = rows!(System, system);
    let mut domains = rows!(Domain, domain);
    let mut teams = rows!(Team, team);
    let mut resources = rows!(InfrastructureResource, infrastructure_resource);
    let things = ends.iter().map(|_| {
        let (service, system, domain) = (services.next()?, systems.next()?, domains.next()?);
        let (team, resource) = (teams.next()?, resources.next()?);
        let grouping = system.map(RelationshipResource::System).or_else(|| domain.map(RelationshipResource::Domain));
        let other =
            team.map(RelationshipResource::Team).or_else(|| resource.map(RelationshipResource::InfrastructureResource));
        service.map(RelationshipResource::Service).or(grouping).or(other)
    });
    let things: Option<Vec<_>> = things.collect();
    things.ok_or_else(|| Error::internal("a relationship has an end without a row"))
}

/// Returns a relationship that is stored elsewhere, in the form of a row.
fn placed(id: i64, kind: RelationshipTypeEnum, source: End, target: End) -> RelationshipType {
    let mut row = RelationshipType {
        id,
        r#type: kind.as_str().to_owned(),
        relationship_definition_id: None,
        source_service_id: None,
        source_system_id: None,
        source_domain_id: None,
        source_team_id: None,
        source_infrastructure_resource_id: None,
        target_service_id: None,
        target_system_id: None,
        target_domain_id: None,
        target_team_id: None,
        target_infrastructure_resource_id: None,
        unique_key: String::new(),
        written_by: None,
    };
    row.set(source.columns()[0], Some(source.named().1).into());
    row.set(target.columns()[1], Some(target.named().1).into());
    row
}

fn of_service(service: &Service) -> Option<RelationshipType> {
    let system = service.system_id?;
    Some(placed(service.id, RelationshipTypeEnum::BelongsTo, End::Service(service.id), End::System(system)))
}

fn of_system(system: &system::Model) -> Option<RelationshipType> {
    let domain = system.domain_id?;
    Some(placed(system.id, RelationshipTypeEnum::BelongsTo, End::System(system.id), End::Domain(domain)))
}

fn of_dependency(dependency: &service_dependency::Model) -> RelationshipType {
    let [source, target] = [dependency.source_id, dependency.destination_id].map(End::Service);
    placed(dependency.id, RelationshipTypeEnum::DependsOn, source, target)
}

/// Finds the relationship with this id.
pub(super) async fn find(db: &dyn ReadHandle, id: &str) -> Result<Option<RelationshipType>> {
    let Some((class, number)) = id::decode(id) else { return Ok(None) };
    Ok(match class.as_str() {
        SYSTEM_OF_SERVICE => db.one(service::Entity::find_by_id(number)).await?.as_ref().and_then(of_service),
        DOMAIN_OF_SYSTEM => db.one(system::Entity::find_by_id(number)).await?.as_ref().and_then(of_system),
        service_dependency::Entity::CLASS => {
            db.one(service_dependency::Entity::find_by_id(number)).await?.as_ref().map(of_dependency)
        }
        Entity::CLASS => db.one(Entity::find_by_id(number)).await?,
        _ => None,
    })
}

/// Finds the thing that a field of a new relationship names.
async fn end(db: &Transaction, field: &'static str, named: &IdentifierInput) -> Result<End> {
    let found = async {
        match Identifier::from_input(named)? {
            Identifier::Id(id) if id::decode(id).is_none() => by_alias(db, id, "id").await,
            Identifier::Id(id) => by_id(db, id).await,
            Identifier::Alias(alias) => by_alias(db, alias, "alias").await,
        }
    };
    found.await.map_err(|error: Error| error.map_user(|error| error.within(field).within(DEFINITION)))
}

async fn by_alias(db: &Transaction, alias: &str, field: &'static str) -> Result<End> {
    let found = relationship_rule::end(db, None, alias).await?;
    Ok(found.ok_or_else(|| id::absent_name(field, End::NOUN, alias))?)
}

async fn by_id(db: &Transaction, id: &str) -> Result<End> {
    let end = id::decode(id).and_then(|(class, number)| End::from_class(&class, number));
    let end = end.ok_or_else(|| UserError::new("id", id::stray(id, End::NOUN)).not_found())?;
    match end {
        End::Service(_) => drop(id::require::<service::Entity>(db, id, "id").await?),
        End::System(_) => drop(id::require::<system::Entity>(db, id, "id").await?),
        End::Domain(_) => drop(id::require::<domain::Entity>(db, id, "id").await?),
        End::Team(_) => drop(id::require::<team::Entity>(db, id, "id").await?),
        End::InfrastructureResource(_) => drop(id::require::<infrastructure_resource::Entity>(db, id, "id").await?),
    }
    Ok(end)
}

/// Finds and locks the definition that a new relationship names.
async fn defined(db: &Transaction, named: Option<&IdentifierInput>) -> Result<Option<RelationshipDefinitionType>> {
    let Some(named) = named else { return Ok(None) };
    let found = identifier::locked(db, DEFINITION, named, LockType::Share).await;
    found.map(Some).map_err(|error| error.map_user(|error| error.within(DEFINITION)))
}

/// Locks the source of a relationship, so that the number of its relationships cannot change meanwhile. Fails if the
/// source is a service that a service file governs.
async fn hold(db: &Transaction, source: End) -> Result<()> {
    match source {
        End::Service(id) => services::owner_writable(db, id).await.map(drop),
        End::System(id) => Ok(row_lock::row::<system::Entity>(db, id, LockType::Update).await.map(drop)?),
        End::Domain(id) => Ok(row_lock::row::<domain::Entity>(db, id, LockType::Update).await.map(drop)?),
        End::Team(id) => Ok(row_lock::row::<team::Entity>(db, id, LockType::Update).await.map(drop)?),
        End::InfrastructureResource(id) => {
            Ok(row_lock::row::<infrastructure_resource::Entity>(db, id, LockType::Update).await.map(drop)?)
        }
    }
}

/// Makes a service belong to a system, or to none.
async fn set_system(db: &Transaction, id: i64, key: Option<i64>) -> Result<Service> {
    let held = services::owner_writable(db, id).await?;
    let row = service::ActiveModel { system_id: Set(key), ..service::Model::from(held.clone()).into() };
    Ok(service::update(db, &held, row).await?)
}

/// Makes a system belong to a domain, or to none.
async fn set_domain(db: &Transaction, id: i64, key: Option<i64>) -> Result<system::Model> {
    let held = row_lock::row::<system::Entity>(db, id, LockType::Update).await?;
    Ok(db.update(system::ActiveModel { domain_id: Set(key), ..held.into() }).await?)
}

impl RelationshipCreateMutation for Mutation {
    async fn relationship_create(
        ctx: &MutationCtx<'_>,
        relationship_definition: RelationshipDefinition,
    ) -> Result<RelationshipCreatePayload> {
        let RelationshipDefinition { relationship_definition: definition, source, target, r#type: kind } =
            relationship_definition;
        let db = ctx.db();
        let mut problems = crate::error::Problems::default();
        let source = problems.take_any(end(db, "source", &source).await)?;
        let target = problems.take_any(end(db, "target", &target).await)?;
        let definition = problems.take_any(defined(db, definition.value()).await)?.flatten();
        if definition.is_some() && kind != RelationshipTypeEnum::RelatedTo {
            let message = "relationshipDefinition can only be given with the type related_to";
            problems.push(UserError::new(DEFINITION, message).within(DEFINITION));
        }
        problems.none()?;
        let (Some(source), Some(target)) = (source, target) else {
            return Err(Error::internal("a thing was neither found nor missed"));
        };
        if source == target {
            return Err(UserError::base("source and target must be different").into());
        }
        let relationship = match (kind, source, target) {
            (RelationshipTypeEnum::BelongsTo, End::Service(id), End::System(key)) => {
                of_service(&set_system(db, id, Some(key)).await?)
            }
            (RelationshipTypeEnum::BelongsTo, End::System(id), End::Domain(key)) => {
                of_system(&set_domain(db, id, Some(key)).await?)
            }
            (RelationshipTypeEnum::DependsOn, End::Service(from), End::Service(to)) => {
                let held = services::owner_writable(db, from).await?;
                let row = <service_dependency::ActiveModel as Default>::default();
                Some(of_dependency(&dependencies::insert(db, &held, to, row).await?))
            }
            _ => {
                hold(db, source).await?;
                if let Some(definition) = &definition {
                    let allowed = relationship_rule::check(db, definition, source, target).await;
                    allowed.map_err(|error| error.map_user(|error| error.within(DEFINITION)))?;
                }
                let row = relationship::new(kind.as_str(), definition.map(|found| found.id), source, target);
                let taken = UserError::base("this relationship already exists");
                let made = db.insert(row).await.map_err(|error| or_taken(error, taken))?;
                let (column, key) = (source.columns()[0], source.named().1);
                relation::check_row_limit::<Entity>(db, column, key, ENTRIES, ("a thing", "relationships")).await?;
                Some(made)
            }
        };
        Ok(RelationshipCreatePayload { relationship, ..Default::default() })
    }
}

impl RelationshipDeleteMutation for Mutation {
    async fn relationship_delete(ctx: &MutationCtx<'_>, input: DeleteInput) -> Result<RelationshipDeletePayload> {
        let DeleteInput { id } = input;
        let db = ctx.db();
        let found = find(db, &id).await?.ok_or_else(|| {
            let known = [SYSTEM_OF_SERVICE, DOMAIN_OF_SYSTEM, service_dependency::Entity::CLASS];
            match id::decode(&id) {
                Some((class, _)) if known.contains(&&*class) => {
                    UserError::new("id", id::absent("relationship with this id")).not_found()
                }
                _ => id::missing::<Entity>(&id, "id"),
            }
        })?;
        let deleted = RelationshipTypeResolver::id(&found);
        match deleted.class {
            SYSTEM_OF_SERVICE => drop(set_system(db, found.id, None).await?),
            DOMAIN_OF_SYSTEM => drop(set_domain(db, found.id, None).await?),
            service_dependency::Entity::CLASS => drop(dependencies::delete(db, &id).await?),
            _ => {
                if let Some(End::Service(service)) = relationship::Model::source(&found) {
                    services::owner_writable(db, service).await?;
                }
                db.delete(found).await?;
            }
        }
        Ok(RelationshipDeletePayload { deleted_id: Some(deleted), ..Default::default() })
    }
}
