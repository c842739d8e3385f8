//! Converts one predicate of a filter to an SQL condition on a service.
//!
//! If the comparison allows it, an index can serve the condition. A comparison that SQL lacks (a regular expression, a
//! version range) is made here, with each distinct value of the column. The condition then lists the values that match.

use regex::RegexBuilder;
use sea_orm::sea_query::{Expr, ExprTrait, Func, Query as Select, SelectStatement};
use sea_orm::{ColumnTrait, EntityTrait};

use super::id;
use super::identifier::{self, Identifier, Named};
use super::schema::*;
use super::types::{PropertyDefinition, RelationshipDefinitionType};
use crate::db::{self, Read};
use crate::entity::relationship::End;
use crate::entity::service::Column;
use crate::entity::{
    alert_source, alert_source_service, component_type, deploy, domain, lifecycle, property, relationship, repository,
    service_alias, service_repository, system, tag, team, tier,
};
use crate::error::{Result, UserError, quoted};

/// The maximum size of a compiled regular expression, in bytes. The time for each byte of text grows with it.
pub const REGEX: usize = 64 << 10;

/// The maximum depth of its groups.
pub const REGEX_DEPTH: u32 = 50;

/// What a predicate compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    AlertStatus,
    Aliases,
    ComponentTypeId,
    CreationSource,
    DeployEnvironment,
    DomainId,
    FilterId,
    Framework,
    Language,
    LevelIndex,
    LifecycleIndex,
    Name,
    OwnerIds,
    Product,
    Property,
    Relationship,
    RepositoryIds,
    SystemId,
    Tag,
    TierIndex,
    /// A key that services cannot be filtered by, and the reason.
    Not(&'static str),
}

const NO_GROUPS: &str = "groups are not supported; use parent teams instead";
const NO_CATEGORIES: &str = "component types have no categories";

impl From<ServiceFilterEnum> for Key {
    fn from(key: ServiceFilterEnum) -> Self {
        match key {
            ServiceFilterEnum::AlertStatus => Self::AlertStatus,
            ServiceFilterEnum::Aliases => Self::Aliases,
            ServiceFilterEnum::ComponentTypeId => Self::ComponentTypeId,
            ServiceFilterEnum::CreationSource => Self::CreationSource,
            ServiceFilterEnum::DeployEnvironment => Self::DeployEnvironment,
            ServiceFilterEnum::DomainId => Self::DomainId,
            ServiceFilterEnum::FilterId => Self::FilterId,
            ServiceFilterEnum::Framework => Self::Framework,
            ServiceFilterEnum::GroupIds => Self::Not(NO_GROUPS),
            ServiceFilterEnum::Language => Self::Language,
            ServiceFilterEnum::LevelIndex => Self::LevelIndex,
            ServiceFilterEnum::LifecycleIndex => Self::LifecycleIndex,
            ServiceFilterEnum::Name => Self::Name,
            ServiceFilterEnum::OwnerId | ServiceFilterEnum::OwnerIds => Self::OwnerIds,
            ServiceFilterEnum::Product => Self::Product,
            ServiceFilterEnum::Property => Self::Property,
            ServiceFilterEnum::Relationship => Self::Relationship,
            ServiceFilterEnum::RepositoryIds => Self::RepositoryIds,
            ServiceFilterEnum::SystemId => Self::SystemId,
            ServiceFilterEnum::Tag => Self::Tag,
            ServiceFilterEnum::TierIndex => Self::TierIndex,
        }
    }
}

impl From<PredicateKeyEnum> for Key {
    fn from(key: PredicateKeyEnum) -> Self {
        match key {
            PredicateKeyEnum::Aliases => Self::Aliases,
            PredicateKeyEnum::ComponentCategory => Self::Not(NO_CATEGORIES),
            PredicateKeyEnum::ComponentTypeId => Self::ComponentTypeId,
            PredicateKeyEnum::CreationSource => Self::CreationSource,
            PredicateKeyEnum::DomainId => Self::DomainId,
            PredicateKeyEnum::FilterId => Self::FilterId,
            PredicateKeyEnum::Framework => Self::Framework,
            PredicateKeyEnum::GroupIds => Self::Not(NO_GROUPS),
            PredicateKeyEnum::Language => Self::Language,
            PredicateKeyEnum::LifecycleIndex => Self::LifecycleIndex,
            PredicateKeyEnum::Name => Self::Name,
            PredicateKeyEnum::OwnerId | PredicateKeyEnum::OwnerIds => Self::OwnerIds,
            PredicateKeyEnum::Product => Self::Product,
            PredicateKeyEnum::Properties => Self::Property,
            PredicateKeyEnum::Relationships => Self::Relationship,
            PredicateKeyEnum::RepositoryIds => Self::RepositoryIds,
            PredicateKeyEnum::SystemId => Self::SystemId,
            PredicateKeyEnum::Tags => Self::Tag,
            PredicateKeyEnum::TierIndex => Self::TierIndex,
        }
    }
}

/// Whether a text matches a comparison.
type Fits = Box<dyn Fn(&str) -> bool + Send>;

/// One comparison.
pub(super) struct Predicate {
    pub(super) key: Key,
    /// The key of a tag, or the id or alias of the definition of a property or relationship.
    pub(super) data: Option<String>,
    pub(super) kind: TypeEnum,
    pub(super) value: Option<String>,
    pub(super) is_case_sensitive: bool,
}

/// Selects the rows of a table that belong to the service.
fn of_service<E: EntityTrait>(entity: E, owner: E::Column) -> SelectStatement {
    let id = Expr::col(Column::Id.as_column_ref());
    Select::select().expr(Expr::value(1)).from(entity).and_where(owner.into_expr().eq(id)).take()
}

/// Finds the definition with this id or alias.
async fn definition<M: Named>(db: &impl Read, named: &str) -> Result<M> {
    let found = match identifier::find::<M>(db, Identifier::Id(named)).await? {
        None => identifier::find::<M>(db, Identifier::Alias(named)).await?,
        found => found,
    };
    Ok(found.ok_or_else(|| {
        let noun = <M::Entity as id::Class>::NOUN;
        UserError::base(format!("no {noun} has the id or alias {}", quoted(named))).not_found()
    })?)
}

impl Predicate {
    /// The condition on a text of the service, or of rows that belong to it.
    pub(super) async fn text(&self, db: &impl Read) -> Result<Expr> {
        match self.key {
            Key::Name => self.of_column(db, Column::Name).await,
            Key::Language => self.of_column(db, Column::Language).await,
            Key::Framework => self.of_column(db, Column::Framework).await,
            Key::Product => self.of_column(db, Column::Product).await,
            Key::CreationSource => self.of_column(db, Column::CreationSource).await,
            Key::Aliases => {
                let aliases = of_service(service_alias::Entity, service_alias::Column::ServiceId);
                self.of_rows(db, aliases, service_alias::Column::Value).await
            }
            Key::DeployEnvironment => {
                let deploys = of_service(deploy::Entity, deploy::Column::ServiceId);
                self.of_rows(db, deploys, deploy::Column::Environment).await
            }
            Key::AlertStatus => {
                let mut sources = of_service(alert_source_service::Entity, alert_source_service::Column::ServiceId);
                let own = alert_source::Column::Id.into_expr();
                sources
                    .inner_join(alert_source::Entity, own.eq(alert_source_service::Column::AlertSourceId.into_expr()));
                self.of_rows(db, sources, alert_source::Column::Status).await
            }
            _ => Err(self.refused().into()),
        }
    }

    /// The condition on the values of the tags with a key.
    pub(super) async fn tag(&self, db: &impl Read) -> Result<Expr> {
        let Some(key) = &self.data else {
            return Err(UserError::base("the key of the tag must be given").into());
        };
        let mut tags = of_service(tag::Entity, tag::Column::ServiceId);
        tags.and_where(tag::Column::Key.eq(key.as_str()));
        self.of_rows(db, tags, tag::Column::Value).await
    }

    /// The condition on the value of a property.
    pub(super) async fn property(&self, db: &impl Read) -> Result<Expr> {
        let Some(named) = &self.data else {
            return Err(UserError::base("the definition of the property must be given").into());
        };
        let definition: PropertyDefinition = definition(db, named).await?;
        let mut properties = of_service(property::Entity, property::Column::ServiceId);
        properties.and_where(property::Column::DefinitionId.eq(definition.id));
        self.of_rows(db, properties, property::Column::SearchKey).await
    }

    /// The condition on the relationships that have the service as their source.
    pub(super) async fn relationship(&self, db: &impl Read) -> Result<Expr> {
        let mut ties = of_service(relationship::Entity, relationship::Column::SourceServiceId);
        if let Some(named) = &self.data {
            let definition: RelationshipDefinitionType = definition(db, named).await?;
            ties.and_where(relationship::Column::RelationshipDefinitionId.eq(definition.id));
        }
        let is_meant = match self.kind {
            TypeEnum::Exists => return Ok(Expr::exists(ties)),
            TypeEnum::DoesNotExist => return Ok(Expr::exists(ties).not()),
            TypeEnum::Equals | TypeEnum::BelongsTo | TypeEnum::Contains => true,
            TypeEnum::DoesNotEqual | TypeEnum::DoesNotContain => false,
            _ => return Err(self.refused().into()),
        };
        let targets = self.needed()?.split(',').map(str::trim).filter(|id| !id.is_empty()).map(|id| {
            let target = id::decode(id).and_then(|(class, number)| End::of(&class, number));
            let target = target.ok_or_else(|| UserError::new("value", id::stray(id, End::NOUN)))?;
            Ok(target.columns()[1].eq(target.named().1))
        });
        let targets: Result<Vec<Expr>, UserError> = targets.collect();
        ties.and_where(targets?.into_iter().reduce(Expr::or).unwrap_or_else(|| Expr::value(false)));
        let has = Expr::exists(ties);
        Ok(if is_meant { has } else { has.not() })
    }

    /// The condition on the index of the service's tier, lifecycle stage or level.
    pub(super) fn index(&self) -> Result<Expr> {
        match self.key {
            Key::TierIndex => self.of_index(Column::TierId, tier::Column::Id, tier::Column::Index),
            Key::LifecycleIndex => self.of_index(Column::LifecycleId, lifecycle::Column::Id, lifecycle::Column::Index),
            // No service has a level.
            _ => match self.kind {
                TypeEnum::DoesNotExist | TypeEnum::DoesNotEqual => Ok(Expr::value(true)),
                TypeEnum::Exists | TypeEnum::Equals | TypeEnum::GreaterThanOrEqualTo | TypeEnum::LessThanOrEqualTo => {
                    Ok(Expr::value(false))
                }
                _ => Err(self.refused().into()),
            },
        }
    }

    /// The condition on the rows that the service refers to or is linked to, by their ids.
    pub(super) fn key(&self, db: &impl Read) -> Result<Expr> {
        let column = |column: Column| Expr::col(column.as_column_ref());
        match self.key {
            Key::OwnerIds => self.of_key(column(Column::OwnerId), &self.ids::<team::Entity>()?, db),
            Key::SystemId => self.of_key(column(Column::SystemId), &self.ids::<system::Entity>()?, db),
            Key::ComponentTypeId => {
                let ids = self.ids::<component_type::Entity>()?;
                // A service without a type has the default type.
                let default = Select::select()
                    .column(component_type::Column::Id)
                    .from(component_type::Entity)
                    .and_where(component_type::Column::IsDefault.eq(true))
                    .take();
                let own = Expr::from(Func::coalesce([column(Column::TypeId), db::scalar(default)]));
                self.of_key(own, &ids, db)
            }
            Key::DomainId => {
                let ids = self.ids::<domain::Entity>()?;
                let own = Select::select()
                    .column(system::Column::DomainId)
                    .from(system::Entity)
                    .and_where(system::Column::Id.into_expr().eq(column(Column::SystemId)))
                    .take();
                self.of_key(db::scalar(own), &ids, db)
            }
            _ => {
                let ids = self.ids::<repository::Entity>()?;
                let mut links = of_service(service_repository::Entity, service_repository::Column::ServiceId);
                match self.kind {
                    TypeEnum::Exists => Ok(Expr::exists(links)),
                    TypeEnum::DoesNotExist => Ok(Expr::exists(links).not()),
                    TypeEnum::Equals | TypeEnum::BelongsTo | TypeEnum::Contains => {
                        links.and_where(db::any(db, service_repository::Column::RepositoryId, &ids));
                        Ok(Expr::exists(links))
                    }
                    TypeEnum::DoesNotEqual | TypeEnum::DoesNotContain => {
                        links.and_where(db::any(db, service_repository::Column::RepositoryId, &ids));
                        Ok(Expr::exists(links).not())
                    }
                    _ => Err(self.refused().into()),
                }
            }
        }
    }

    /// The error that this type of comparison cannot be used with this key.
    pub(super) fn refused(&self) -> UserError {
        UserError::new("type", format!("{} cannot be used with this key", self.kind.as_str()))
    }

    /// The value to compare with, which must be given.
    pub(super) fn needed(&self) -> Result<&str, UserError> {
        self.value.as_deref().ok_or_else(|| UserError::base("this key and type need a value"))
    }

    /// Reads the keys of the rows of `E` whose ids are in the value.
    fn ids<E: id::Class>(&self) -> Result<Vec<i64>, UserError> {
        if matches!(self.kind, TypeEnum::Exists | TypeEnum::DoesNotExist) {
            return Ok(Vec::new());
        }
        let ids = self.needed()?.split(',').map(str::trim).filter(|id| !id.is_empty());
        ids.map(|id| {
            let number = id::number::<E>(id);
            number.ok_or_else(|| UserError::new("value", id::stray(id, E::NOUN)))
        })
        .collect()
    }

    /// The condition on a text column of the service.
    async fn of_column(&self, db: &impl Read, column: Column) -> Result<Expr> {
        let own = || Expr::col(column.as_column_ref());
        let values =
            Select::select().distinct().expr(own()).from(column.entity_name()).and_where(own().is_not_null()).take();
        Ok(match self.plain(db, own(), values).await? {
            Meant::Is(condition) => condition,
            // For a null column, the comparison is neither true nor false.
            Meant::IsNot(condition) => own().is_null().or(condition.not()),
            Meant::Exists(true) => own().is_not_null(),
            Meant::Exists(false) => own().is_null(),
        })
    }

    /// The condition that a row of the service has a matching text, or that none has.
    async fn of_rows<C: ColumnTrait>(&self, db: &impl Read, rows: SelectStatement, column: C) -> Result<Expr> {
        let own = || Expr::col(column.as_column_ref());
        let values =
            Select::select().distinct().expr(own()).from(column.entity_name()).and_where(own().is_not_null()).take();
        let with = |condition: Expr| Expr::exists(rows.clone().and_where(condition).take());
        Ok(match self.plain(db, own(), values).await? {
            Meant::Is(condition) => with(condition),
            Meant::IsNot(condition) => with(condition).not(),
            Meant::Exists(true) => with(own().is_not_null()),
            Meant::Exists(false) => with(own().is_not_null()).not(),
        })
    }

    /// Compares the text `own`. `values` selects all its distinct values.
    async fn plain(&self, db: &impl Read, own: Expr, values: SelectStatement) -> Result<Meant> {
        let folded = |text: &str| if self.is_case_sensitive { text.to_owned() } else { text.to_ascii_lowercase() };
        let own_folded = || if self.is_case_sensitive { own.clone() } else { db::text::lower(db, own.clone()) };
        let value = || self.needed().map(folded);
        Ok(match self.kind {
            TypeEnum::Exists => Meant::Exists(true),
            TypeEnum::DoesNotExist => Meant::Exists(false),
            TypeEnum::Equals | TypeEnum::BelongsTo => Meant::Is(own_folded().eq(value()?)),
            TypeEnum::DoesNotEqual => Meant::IsNot(own_folded().eq(value()?)),
            TypeEnum::Contains => Meant::Is(db::text::contains(db, own_folded(), &value()?)),
            TypeEnum::DoesNotContain => Meant::IsNot(db::text::contains(db, own_folded(), &value()?)),
            TypeEnum::StartsWith => Meant::Is(db::text::begins_with(db, own_folded(), &value()?)),
            TypeEnum::EndsWith => Meant::Is(db::text::ends_with(db, own_folded(), &value()?)),
            TypeEnum::MatchesRegex => Meant::Is(self.fitting(db, own, values, self.regex()?).await?),
            TypeEnum::DoesNotMatchRegex => Meant::IsNot(self.fitting(db, own, values, self.regex()?).await?),
            TypeEnum::SatisfiesVersionConstraint => {
                let range = semver::VersionReq::parse(self.needed()?);
                let range =
                    range.map_err(|error| UserError::new("value", format!("not a range of versions: {error}")))?;
                let fits = move |text: &str| {
                    let version = semver::Version::parse(text.trim().trim_start_matches('v'));
                    version.is_ok_and(|version| range.matches(&version))
                };
                Meant::Is(self.fitting(db, own, values, Box::new(fits)).await?)
            }
            TypeEnum::SatisfiesJqExpression => {
                return Err(UserError::new("type", "jq expressions are not evaluated").into());
            }
            TypeEnum::GreaterThanOrEqualTo
            | TypeEnum::LessThanOrEqualTo
            | TypeEnum::Matches
            | TypeEnum::DoesNotMatch => return Err(self.refused().into()),
        })
    }

    fn regex(&self) -> Result<Fits, UserError> {
        let regex = RegexBuilder::new(self.needed()?)
            .case_insensitive(!self.is_case_sensitive)
            .size_limit(REGEX)
            .dfa_size_limit(REGEX)
            .nest_limit(REGEX_DEPTH)
            .build();
        let regex = regex.map_err(|error| UserError::new("value", format!("not a regular expression: {error}")))?;
        Ok(Box::new(move |text| regex.is_match(text)))
    }

    /// The condition that the text is one of those that match.
    async fn fitting(&self, db: &impl Read, own: Expr, values: SelectStatement, fits: Fits) -> Result<Expr> {
        let texts: Vec<String> = db.scan(&values, |row| row.get(0)).await?;
        let mut fitting = Vec::new();
        for text in &texts {
            db.pause().await?;
            if fits(text) {
                db.charge::<String>(text.len())?;
                fitting.push(text.as_str());
            }
        }
        Ok(db::is_any_text(db.backend(), own, &fitting))
    }

    /// The condition on the index of the tier or lifecycle stage that the column `own` refers to.
    fn of_index<C: ColumnTrait>(&self, own: Column, key: C, index: C) -> Result<Expr> {
        let own = || Expr::col(own.as_column_ref());
        let number = || -> Result<i32, UserError> {
            let value = self.needed()?;
            value.trim().parse().map_err(|_| UserError::new("value", "an index must be a whole number"))
        };
        let with = |condition: Expr| {
            let rows = Select::select().column(key).from(key.entity_name()).and_where(condition).take();
            own().is_not_null().and(own().in_subquery(rows))
        };
        Ok(match self.kind {
            TypeEnum::Exists => own().is_not_null(),
            TypeEnum::DoesNotExist => own().is_null(),
            TypeEnum::Equals => with(index.eq(number()?)),
            TypeEnum::DoesNotEqual => with(index.eq(number()?)).not(),
            TypeEnum::GreaterThanOrEqualTo => with(index.gte(number()?)),
            TypeEnum::LessThanOrEqualTo => with(index.lte(number()?)),
            _ => return Err(self.refused().into()),
        })
    }

    /// The condition on a column that refers to another row.
    fn of_key(&self, own: Expr, ids: &[i64], db: &impl Read) -> Result<Expr> {
        let is_one = || db::is_any(db.backend(), own.clone(), ids);
        Ok(match self.kind {
            TypeEnum::Exists => own.is_not_null(),
            TypeEnum::DoesNotExist => own.is_null(),
            TypeEnum::Equals | TypeEnum::BelongsTo | TypeEnum::Contains => is_one(),
            TypeEnum::DoesNotEqual | TypeEnum::DoesNotContain => own.clone().is_null().or(is_one().not()),
            _ => return Err(self.refused().into()),
        })
    }
}

/// The result of a comparison of texts.
enum Meant {
    /// The condition must be true.
    Is(Expr),
    /// The condition must not be true.
    IsNot(Expr),
    /// There must be a value, or there must be none.
    Exists(bool),
}
