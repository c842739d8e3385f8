//! Converts one predicate of a filter to a condition on a service.
//!
//! If the comparison allows it, an index can serve the condition. A comparison that SQL lacks (a regular expression, a
//! version range) is made by `scan.rs`.

use regex::{Regex, RegexBuilder};
use sea_orm::sea_query::{ExprTrait, Func, Query as Select, SelectStatement};
use sea_orm::{Iterable, ModelTrait, PrimaryKeyToColumn, PrimaryKeyTrait, Value};

use super::predicate_key::Key;
use crate::db::Backend;
use crate::entity::relationship::End;
use crate::entity::service::Column;
use crate::entity::{
    alert_source, alert_source_service, alias, component_type, deploy, domain, level, lifecycle, property,
    relationship, relationship_rule, repository, service, service_alias, service_level, service_repository, system,
    tag, team, tier,
};
use crate::graphql::field::id::Class;
use crate::graphql::field::identifier::Named;
use crate::graphql::list::scan::{Condition, Fits, Scans};
pub use crate::graphql::list::scan::{JQ_BYTES, JQ_TEXTS};
use crate::graphql::prelude::*;

/// The maximum size of a compiled regular expression, in bytes. The time for each byte of text grows with it.
pub const REGEX: usize = 64 << 10;

/// The maximum depth of its groups.
pub const REGEX_DEPTH: u32 = 50;

/// The maximum number of aliases and names, instead of ids, in the value of a predicate.
pub const NAMES: usize = 50;

/// Compiles a regular expression within [`REGEX`] and [`REGEX_DEPTH`].
///
/// # Errors
/// It is none, or goes over a limit.
pub fn regex(pattern: &str, is_case_sensitive: bool) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .case_insensitive(!is_case_sensitive)
        .size_limit(REGEX)
        .dfa_size_limit(REGEX)
        .nest_limit(REGEX_DEPTH)
        .build()
}

/// One comparison.
pub(in crate::graphql) struct Predicate {
    pub(in crate::graphql) key: Key,
    /// The key of a tag, or the id or alias of the definition of a property or relationship.
    pub(in crate::graphql) data: Option<String>,
    pub(in crate::graphql) kind: TypeEnum,
    pub(in crate::graphql) value: Option<String>,
    pub(in crate::graphql) is_case_sensitive: bool,
}

/// Rows that belong to services: the statement that they come from, without its columns, and the column of the service.
pub(in crate::graphql) struct Rows {
    pub(in crate::graphql) from: SelectStatement,
    pub(in crate::graphql) owner: Expr,
    /// Whether many of them have the same text.
    repeat: bool,
}

impl Rows {
    pub(in crate::graphql) fn new<E: EntityTrait>(entity: E, owner: E::Column) -> Self {
        Self { from: Select::select().from(entity).take(), owner: owner.into_expr(), repeat: false }
    }

    pub(in crate::graphql) fn and_where(mut self, condition: impl Into<Expr>) -> Self {
        self.from.and_where(condition.into());
        self
    }

    /// The condition that the service has such a row.
    fn exist(&self) -> Expr {
        self.exist_where(None)
    }

    pub(in crate::graphql) fn exist_where(&self, condition: Option<Expr>) -> Expr {
        let is_own = self.owner.clone().eq(Expr::col(Column::Id.as_column_ref()));
        let mut rows = self.from.clone();
        rows.expr(Expr::value(1)).and_where(is_own);
        if let Some(condition) = condition {
            rows.and_where(condition);
        }
        Expr::exists(rows)
    }

    /// Selects the ids of services, each with a text in this column.
    fn texts(&self, column: Expr) -> SelectStatement {
        let mut rows = self.from.clone();
        rows.expr(self.owner.clone()).expr(column.clone());
        rows.and_where(self.owner.clone().is_not_null()).and_where(column.is_not_null());
        if self.repeat {
            rows.distinct();
        }
        rows
    }
}

/// The error for an index that is neither a number nor the name of what has one.
fn no_index(noun: &str, name: &str) -> UserError {
    UserError::new("value", format!("an index must be a whole number, and no {noun} is called {}", quoted(name)))
}

/// The type of the service: its own, or the default type.
fn own_type() -> Expr {
    let default = Select::select()
        .column(component_type::Column::Id)
        .from(component_type::Entity)
        .and_where(component_type::Column::IsDefault.eq(true))
        .take();
    Expr::from(Func::coalesce([Expr::col(Column::TypeId.as_column_ref()), db::scalar(default)]))
}

/// Finds the definition with this id or alias.
async fn definition<M: Named>(db: &dyn ReadHandle, named: &str) -> Result<M> {
    let found = match identifier::find::<M>(db, Identifier::Id(named)).await? {
        None => identifier::find::<M>(db, Identifier::Alias(named)).await?,
        found => found,
    };
    Ok(found.ok_or_else(|| id::absent_name("base", <M::Entity as id::Class>::NOUN, named))?)
}

impl Predicate {
    /// The condition on a text of the service, or of rows that belong to it.
    pub(in crate::graphql) fn text(&self, db: &dyn ReadHandle, scans: &mut Scans) -> Result<Condition> {
        match self.key {
            Key::Name => self.of_column(db, scans, Column::Name),
            Key::Language => self.of_column(db, scans, Column::Language),
            Key::Framework => self.of_column(db, scans, Column::Framework),
            Key::Product => self.of_column(db, scans, Column::Product),
            Key::CreationSource => self.of_column(db, scans, Column::CreationSource),
            Key::Aliases => {
                let aliases = Rows::new(service_alias::Entity, service_alias::Column::ServiceId);
                self.of_rows(db, scans, &aliases, service_alias::Column::Value)
            }
            Key::ComponentCategory => {
                // A service without a type has the default type.
                let is_type = component_type::Column::Id.into_expr().eq(own_type());
                let mut types = Rows::new(service::Entity, Column::Id);
                types.from.inner_join(component_type::Entity, is_type);
                let category = component_type::Column::Category;
                let mut own = Select::select();
                own.column(category).from(component_type::Entity);
                own.and_where(component_type::Column::Id.into_expr().eq(own_type()));
                self.of_expr(db, scans, &types, &db::scalar(own), category.into_expr())
            }
            Key::DeployEnvironment => {
                let deploys = Rows::new(deploy::Entity, deploy::Column::ServiceId);
                self.of_rows(db, scans, &Rows { repeat: true, ..deploys }, deploy::Column::Environment)
            }
            Key::AlertStatus => {
                let mut sources = Rows::new(alert_source_service::Entity, alert_source_service::Column::ServiceId);
                let own = alert_source::Column::Id.into_expr();
                let of_link = own.eq(alert_source_service::Column::AlertSourceId.into_expr());
                sources.from.inner_join(alert_source::Entity, of_link);
                self.of_rows(db, scans, &sources, alert_source::Column::Status)
            }
            _ => Err(self.refused().into()),
        }
    }

    /// The condition on the values of the tags with a key.
    pub(in crate::graphql) fn tag(&self, db: &dyn ReadHandle, scans: &mut Scans) -> Result<Condition> {
        let Some(key) = &self.data else {
            return Err(UserError::base("the key of the tag must be given").into());
        };
        let tags = Rows::new(tag::Entity, tag::Column::ServiceId).and_where(tag::Column::Key.eq(key.as_str()));
        self.of_rows(db, scans, &tags, tag::Column::Value)
    }

    /// The condition on the value of a property.
    pub(in crate::graphql) async fn property(&self, db: &dyn ReadHandle, scans: &mut Scans) -> Result<Condition> {
        let Some(named) = &self.data else {
            return Err(UserError::base("the definition of the property must be given").into());
        };
        let definition: PropertyDefinition = definition(db, named).await?;
        let properties = Rows::new(property::Entity, property::Column::ServiceId)
            .and_where(property::Column::DefinitionId.eq(definition.id));
        let text = match self.kind {
            // What the property is, rather than what it is found by.
            TypeEnum::SatisfiesJqExpression => property::Column::Value,
            _ => property::Column::SearchKey,
        };
        self.of_rows(db, scans, &properties, text)
    }

    /// The condition on the relationships that have the service as their source.
    pub(in crate::graphql) async fn relationship(&self, db: &dyn ReadHandle) -> Result<Expr> {
        let mut ties = Rows::new(relationship::Entity, relationship::Column::SourceServiceId);
        if let Some(named) = &self.data {
            let definition: RelationshipDefinitionType = definition(db, named).await?;
            ties = ties.and_where(relationship::Column::RelationshipDefinitionId.eq(definition.id));
        }
        let is_meant = match self.kind {
            TypeEnum::Exists => return Ok(ties.exist()),
            TypeEnum::DoesNotExist => return Ok(ties.exist().not()),
            TypeEnum::Equals | TypeEnum::BelongsTo | TypeEnum::Contains => true,
            TypeEnum::DoesNotEqual | TypeEnum::DoesNotContain => false,
            _ => return Err(self.refused().into()),
        };
        let mut targets = Vec::new();
        for named in self.named()? {
            let target = match id::decode(named) {
                Some((class, number)) => End::from_class(&class, number)
                    .ok_or_else(|| UserError::new("value", id::stray(named, End::NOUN)))?,
                None => relationship_rule::end(db, None, named)
                    .await?
                    .ok_or_else(|| id::absent_name("value", End::NOUN, named))?,
            };
            targets.push(target.columns()[1].eq(target.named().1));
        }
        let is_one = targets.into_iter().reduce(Expr::or).unwrap_or_else(|| Expr::value(false));
        let has = ties.exist_where(Some(is_one));
        Ok(if is_meant { has } else { has.not() })
    }

    /// The condition on the index of the service's tier, lifecycle stage or level.
    pub(in crate::graphql) async fn index(&self, db: &dyn ReadHandle) -> Result<Expr> {
        match self.key {
            Key::TierIndex => {
                let index = match self.number()? {
                    Ok(index) => index,
                    Err(name) => {
                        let found = id::find::<tier::Entity>(db, name).await?;
                        found.ok_or_else(|| no_index(tier::Entity::NOUN, name))?.index
                    }
                };
                self.of_index(Expr::col(Column::TierId.as_column_ref()), tier::Column::Id, tier::Column::Index, index)
            }
            Key::LifecycleIndex => {
                let index = match self.number()? {
                    Ok(index) => index,
                    Err(name) => {
                        let found = id::find::<lifecycle::Entity>(db, name).await?;
                        found.ok_or_else(|| no_index(lifecycle::Entity::NOUN, name))?.index
                    }
                };
                self.of_index(
                    Expr::col(Column::LifecycleId.as_column_ref()),
                    lifecycle::Column::Id,
                    lifecycle::Column::Index,
                    index,
                )
            }
            _ => {
                let index = match self.number()? {
                    Ok(index) => index,
                    Err(name) => {
                        let found = id::find::<level::Entity>(db, name).await?;
                        found.ok_or_else(|| no_index(level::Entity::NOUN, name))?.index
                    }
                };
                let stored = Select::select()
                    .column(service_level::Column::LevelId)
                    .from(service_level::Entity)
                    .and_where(service_level::Column::ServiceId.into_expr().eq(Expr::col(Column::Id.as_column_ref())))
                    .take();
                self.of_index(db::scalar(stored), level::Column::Id, level::Column::Index, index)
            }
        }
    }

    /// Reads the index to compare with: a number, or else the name of what has it. Zero if nothing is compared.
    fn number(&self) -> Result<Result<i32, &str>, UserError> {
        if matches!(self.kind, TypeEnum::Exists | TypeEnum::DoesNotExist) {
            return Ok(Ok(0));
        }
        let value = self.needed()?.trim();
        Ok(value.parse().map_err(|_| value))
    }

    /// The condition on the rows that the service refers to or is linked to, by their ids.
    pub(in crate::graphql) async fn key(&self, db: &dyn ReadHandle) -> Result<Expr> {
        let column = |column: Column| Expr::col(column.as_column_ref());
        match self.key {
            Key::OwnerIds => self.of_key(column(Column::OwnerId), &self.ids::<team::Entity>(db).await?, db),
            Key::SystemId => self.of_key(column(Column::SystemId), &self.ids::<system::Entity>(db).await?, db),
            Key::ComponentTypeId => {
                let ids = self.ids::<component_type::Entity>(db).await?;
                self.of_key(own_type(), &ids, db)
            }
            Key::DomainId => {
                let ids = self.ids::<domain::Entity>(db).await?;
                let own = Select::select()
                    .column(system::Column::DomainId)
                    .from(system::Entity)
                    .and_where(system::Column::Id.into_expr().eq(column(Column::SystemId)))
                    .take();
                self.of_key(db::scalar(own), &ids, db)
            }
            _ => {
                let ids = self.ids::<repository::Entity>(db).await?;
                let links = Rows::new(service_repository::Entity, service_repository::Column::ServiceId);
                let one = || links.exist_where(Some(db::any(db, service_repository::Column::RepositoryId, &ids)));
                match self.kind {
                    TypeEnum::Exists => Ok(links.exist()),
                    TypeEnum::DoesNotExist => Ok(links.exist().not()),
                    TypeEnum::Equals | TypeEnum::BelongsTo | TypeEnum::Contains => Ok(one()),
                    TypeEnum::DoesNotEqual | TypeEnum::DoesNotContain => Ok(one().not()),
                    _ => Err(self.refused().into()),
                }
            }
        }
    }

    /// The error that this type of comparison cannot be used with this key.
    pub(in crate::graphql) fn refused(&self) -> UserError {
        UserError::new("type", format!("{} cannot be used with this key", self.kind.as_str()))
    }

    /// The value to compare with, which must be given.
    pub(in crate::graphql) fn needed(&self) -> Result<&str, UserError> {
        self.value.as_deref().ok_or_else(|| UserError::base("this key and type need a value"))
    }

    /// The names in the value, which are separated by commas.
    fn named(&self) -> Result<Vec<&str>, UserError> {
        let named: Vec<&str> = self.needed()?.split(',').map(text::trim).filter(|name| !name.is_empty()).collect();
        if named.iter().filter(|name| id::decode(name).is_none()).count() > NAMES {
            return Err(UserError::new("value", format!("at most {NAMES} names can be given; give ids")));
        }
        Ok(named)
    }

    /// Reads the keys of the rows of `E` that the value names, by their ids, aliases or names.
    async fn ids<E>(&self, db: &dyn ReadHandle) -> Result<Vec<i64>>
    where
        E: id::Class<PrimaryKey: PrimaryKeyTrait<ValueType = i64>>,
    {
        if matches!(self.kind, TypeEnum::Exists | TypeEnum::DoesNotExist) {
            return Ok(Vec::new());
        }
        let mut keys = Vec::new();
        for named in self.named()? {
            keys.push(match id::decode(named) {
                Some((class, number)) if class == E::CLASS => number,
                Some(_) => return Err(UserError::new("value", id::stray(named, E::NOUN)).into()),
                None => self.key_of::<E>(db, named).await?,
            });
        }
        Ok(keys)
    }

    /// Finds the row of `E` with this alias, or with the alias that follows from this name.
    async fn key_of<E>(&self, db: &dyn ReadHandle, name: &str) -> Result<i64>
    where
        E: id::Class<PrimaryKey: PrimaryKeyTrait<ValueType = i64>>,
    {
        let found = match E::called(db, name).await? {
            None => E::called(db, &alias::slug(name, E::NOUN)).await?,
            found => found,
        };
        let found = found.ok_or_else(|| id::absent_name("value", E::NOUN, name))?;
        let key = E::PrimaryKey::iter().next().map(|key| found.get(key.into_column()));
        match key {
            Some(Value::BigInt(Some(key))) => Ok(key),
            _ => Err(Error::internal("a row has no key")),
        }
    }

    /// The condition on a text column of the service.
    fn of_column(&self, db: &dyn ReadHandle, scans: &mut Scans, column: Column) -> Result<Condition> {
        let own = Expr::col(column.as_column_ref());
        self.of_expr(db, scans, &Rows::new(service::Entity, Column::Id), &own, own.clone())
    }

    /// The condition on a text of the service. `own` is the text, and `rows` has it as `text`.
    fn of_expr(
        &self,
        db: &dyn ReadHandle,
        scans: &mut Scans,
        rows: &Rows,
        own: &Expr,
        text: Expr,
    ) -> Result<Condition> {
        let own = || own.clone();
        Ok(Condition::Sql(match self.plain(db, own())? {
            Meant::Is(condition) => condition,
            // For a null column, the comparison is neither true nor false.
            Meant::IsNot(condition) => own().is_null().or(condition.not()),
            Meant::Exists(true) => own().is_not_null(),
            Meant::Exists(false) => own().is_null(),
            Meant::Fits(fits, is_meant) => return Ok(scans.add(rows.texts(text), fits).unless(!is_meant)),
        }))
    }

    /// The condition that a row of the service has a matching text, or that none has.
    fn of_rows<C: ColumnTrait>(
        &self,
        db: &dyn ReadHandle,
        scans: &mut Scans,
        rows: &Rows,
        column: C,
    ) -> Result<Condition> {
        let own = || Expr::col(column.as_column_ref());
        let with = |condition: Expr| rows.exist_where(Some(condition));
        Ok(Condition::Sql(match self.plain(db, own())? {
            Meant::Is(condition) => with(condition),
            Meant::IsNot(condition) => with(condition).not(),
            Meant::Exists(true) => with(own().is_not_null()),
            Meant::Exists(false) => with(own().is_not_null()).not(),
            Meant::Fits(fits, is_meant) => return Ok(scans.add(rows.texts(own()), fits).unless(!is_meant)),
        }))
    }

    /// Compares the text `own`.
    pub(in crate::graphql) fn plain(&self, db: &dyn Backend, own: Expr) -> Result<Meant, UserError> {
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
            TypeEnum::MatchesRegex => Meant::Fits(self.regex()?, true),
            TypeEnum::DoesNotMatchRegex => Meant::Fits(self.regex()?, false),
            TypeEnum::SatisfiesVersionConstraint => {
                let range = semver::VersionReq::parse(self.needed()?);
                let range =
                    range.map_err(|error| UserError::new("value", format!("not a range of versions: {error}")))?;
                let fits = move |text: &str| {
                    let version = semver::Version::parse(text::trim(text).trim_start_matches('v'));
                    version.is_ok_and(|version| range.matches(&version))
                };
                Meant::Fits(Fits::Text(Box::new(fits)), true)
            }
            TypeEnum::SatisfiesJqExpression => {
                let expression = self.needed()?.to_owned();
                Meant::Fits(Fits::Jq { expression, are_json: self.key == Key::Property }, true)
            }
            TypeEnum::GreaterThanOrEqualTo
            | TypeEnum::LessThanOrEqualTo
            | TypeEnum::Matches
            | TypeEnum::DoesNotMatch => return Err(self.refused()),
        })
    }

    fn regex(&self) -> Result<Fits, UserError> {
        let regex = regex(self.needed()?, self.is_case_sensitive);
        let regex = regex.map_err(|error| UserError::new("value", format!("not a regular expression: {error}")))?;
        Ok(Fits::Text(Box::new(move |text| regex.is_match(text))))
    }

    /// The condition on the index of the tier or lifecycle stage that the column `own` refers to.
    fn of_index<C: ColumnTrait>(&self, own: Expr, key: C, index: C, number: i32) -> Result<Expr> {
        let own = || own.clone();
        let with = |condition: Expr| {
            let rows = Select::select().column(key).from(key.entity_name()).and_where(condition).take();
            own().is_not_null().and(own().in_subquery(rows))
        };
        Ok(match self.kind {
            TypeEnum::Exists => own().is_not_null(),
            TypeEnum::DoesNotExist => own().is_null(),
            TypeEnum::Equals => with(index.eq(number)),
            TypeEnum::DoesNotEqual => with(index.eq(number)).not(),
            TypeEnum::GreaterThanOrEqualTo => with(index.gte(number)),
            TypeEnum::LessThanOrEqualTo => with(index.lte(number)),
            _ => return Err(self.refused().into()),
        })
    }

    /// The condition on a column that refers to another row.
    fn of_key(&self, own: Expr, ids: &[i64], db: &dyn ReadHandle) -> Result<Expr> {
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
pub(in crate::graphql) enum Meant {
    /// The condition must be true.
    Is(Expr),
    /// The condition must not be true.
    IsNot(Expr),
    /// There must be a value, or there must be none.
    Exists(bool),
    /// The text must fit, or it must not. It is compared here.
    Fits(Fits, bool),
}
