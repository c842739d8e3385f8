//! Drafts: rows built from the inputs of mutations. Each field is checked by its column's rule ([`FieldRules`]). All
//! errors of an input are reported together, in the order in which the mutation sets the fields.

use async_graphql::MaybeUndefined;
use sea_orm::sea_query::Value;
use sea_orm::{ActiveModelTrait, ColumnTrait, EntityTrait, IntoActiveModel};

use super::id;
use super::identifier::Identifier;
use crate::db::Transaction;
use crate::engine::input::Texts;
use crate::entity::field_rule::{FieldRule, FieldRules, Reference, ValueRule, must_not_be_null};
use crate::entity::{Timestamp, component_type, domain, lifecycle, system, team, text, tier, user};
use crate::error::{Error, Problems, Result, UserError};
use crate::graphql::schema::IdentifierInput;

/// A row that a mutation will insert or update, and the errors in its input so far.
pub(in crate::graphql) struct Draft<E: EntityTrait> {
    /// The row, with the columns that the input sets.
    pub(in crate::graphql) row: E::ActiveModel,
    /// The errors so far. Checks outside the draft add theirs here too.
    pub(in crate::graphql) problems: Problems,
}

impl<E: FieldRules> Draft<E> {
    /// Begins a new row.
    pub(in crate::graphql) fn new() -> Self {
        Self { row: <E::ActiveModel as ActiveModelTrait>::default(), problems: Problems::default() }
    }

    /// Begins a change of a row.
    pub(in crate::graphql) fn from_row(row: E::Model) -> Self
    where
        E::Model: IntoActiveModel<E::ActiveModel>,
    {
        Self { row: row.into_active_model(), problems: Problems::default() }
    }

    /// Sets a field. Absent leaves it unchanged; null clears it, or is an error if the field is required.
    pub(in crate::graphql) fn set<T: ColumnValue>(&mut self, column: E::Column, given: &MaybeUndefined<T>) {
        let rule = E::rule(column);
        let value = match given {
            MaybeUndefined::Undefined => return,
            MaybeUndefined::Null => rule.check_null().map(|()| T::NULL),
            MaybeUndefined::Value(value) => value.check(rule),
        };
        if let Some(value) = self.problems.take(value) {
            self.row.set(column, value);
        }
    }

    /// Sets the optional texts of an input. The build has found their names in the list of the table's fields.
    pub(in crate::graphql) fn set_texts(&mut self, texts: &Texts) {
        for (name, given) in texts.iter() {
            self.set(E::named(name).column, given);
        }
    }

    /// Sets a required field.
    pub(in crate::graphql) fn set_required(&mut self, column: E::Column, given: &str) {
        if let Some(value) = self.problems.take(given.to_owned().check(E::rule(column))) {
            self.row.set(column, value);
        }
    }

    /// Sets a field that names a row of another table. Absent leaves it unchanged, null clears it.
    pub(in crate::graphql) async fn refer<T: RowName>(
        &mut self,
        db: &Transaction,
        column: E::Column,
        given: &MaybeUndefined<T>,
    ) -> Result<()> {
        let rule = E::rule(column);
        let key = match given {
            MaybeUndefined::Undefined => return Ok(()),
            MaybeUndefined::Null => Ok(None),
            MaybeUndefined::Value(name) => name.key(db, rule.name, rule.value).await,
        };
        if let Some(key) = self.problems.take_any(key)? {
            self.row.set(column, key.into());
        }
        Ok(())
    }

    /// Returns the row, or all errors in the input.
    pub(in crate::graphql) fn done(self) -> Result<E::ActiveModel> {
        self.problems.none()?;
        Ok(self.row)
    }
}

/// Checks a text by its column's rule, without a draft. The outer `None` leaves the column unchanged, the inner one
/// clears it.
pub(in crate::graphql) fn text<E: FieldRules>(
    column: E::Column,
    given: &MaybeUndefined<String>,
) -> Result<Option<Option<String>>, UserError> {
    let rule = E::rule(column);
    match given {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => rule.check_null().map(|()| Some(None)),
        MaybeUndefined::Value(text) => rule.check_text(rule.name, text).map(Some),
    }
}

/// Checks a field that no rule covers and that cannot be cleared. Absent leaves it unchanged; null is an error.
pub(in crate::graphql) fn changed<T, U>(
    field: &'static str,
    given: &MaybeUndefined<T>,
    check: impl FnOnce(&T) -> Result<U, UserError>,
) -> Result<Option<U>, UserError> {
    match given {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => Err(must_not_be_null(field)),
        MaybeUndefined::Value(given) => check(given).map(Some),
    }
}

/// A type of input field that is written to a column.
pub(in crate::graphql) trait ColumnValue {
    /// The value that clears a column of this type.
    const NULL: Value;

    /// Checks the field and returns the value for the column.
    fn check<C: ColumnTrait>(&self, rule: &FieldRule<C>) -> Result<Value, UserError>;
}

impl ColumnValue for String {
    const NULL: Value = Value::String(None);

    fn check<C: ColumnTrait>(&self, rule: &FieldRule<C>) -> Result<Value, UserError> {
        Ok(rule.check_text(rule.name, self)?.into())
    }
}

impl ColumnValue for bool {
    const NULL: Value = Value::Bool(None);

    fn check<C: ColumnTrait>(&self, _: &FieldRule<C>) -> Result<Value, UserError> {
        Ok((*self).into())
    }
}

impl ColumnValue for i32 {
    const NULL: Value = Value::Int(None);

    fn check<C: ColumnTrait>(&self, rule: &FieldRule<C>) -> Result<Value, UserError> {
        let name = rule.name;
        if *self < 0 { Err(UserError::new(name, format!("{name} must not be negative"))) } else { Ok((*self).into()) }
    }
}

impl ColumnValue for Timestamp {
    const NULL: Value = Value::BigInt(None);

    fn check<C: ColumnTrait>(&self, _: &FieldRule<C>) -> Result<Value, UserError> {
        Ok((*self).into())
    }
}

/// A type of input field that names a row of another table.
pub(in crate::graphql) trait RowName: Sync {
    /// Returns the key of the row, or `None` to clear the column. An error about `field` says why there is no row.
    fn key(
        &self,
        db: &Transaction,
        field: &'static str,
        to: ValueRule,
    ) -> impl Future<Output = Result<Option<i64>>> + Send;
}

impl RowName for String {
    async fn key(&self, db: &Transaction, field: &'static str, to: ValueRule) -> Result<Option<i64>> {
        let name = text::trim(self);
        match to {
            ValueRule::Id(to) => by_id(db, name, field, to).await.map(Some),
            _ if name.is_empty() => Ok(None),
            to => by_name(db, name, field, reference(to)?).await.map(Some),
        }
    }
}

impl RowName for IdentifierInput {
    async fn key(&self, db: &Transaction, field: &'static str, to: ValueRule) -> Result<Option<i64>> {
        let to = reference(to)?;
        let found = async {
            match Identifier::from_input(self)? {
                Identifier::Alias(alias) => by_name(db, alias, "alias", to).await,
                Identifier::Id(id) => by_id(db, id, "id", to).await,
            }
        };
        found.await.map(Some).map_err(|error: Error| error.map_user(|error| error.within(field)))
    }
}

/// The table that a column refers to.
fn reference(rule: ValueRule) -> Result<Reference> {
    rule.reference().ok_or_else(|| Error::internal("a column that refers to nothing was given a name"))
}

/// Finds the row with this name. A client may have given its id instead.
pub(in crate::graphql) async fn by_name(
    db: &Transaction,
    name: &str,
    field: &'static str,
    to: Reference,
) -> Result<i64> {
    match to.key(db, name).await? {
        Some(key) => Ok(key),
        None if id::decode(name).is_some() => by_id(db, name, field, to).await,
        None => Err(id::missing_name(field, to, name).into()),
    }
}

async fn by_id(db: &Transaction, id: &str, field: &'static str, to: Reference) -> Result<i64> {
    Ok(match to {
        Reference::Team => id::require::<team::Entity>(db, id, field).await?.id,
        Reference::Tier => id::require::<tier::Entity>(db, id, field).await?.id,
        Reference::Lifecycle => id::require::<lifecycle::Entity>(db, id, field).await?.id,
        Reference::User => id::require::<user::Entity>(db, id, field).await?.id,
        Reference::System => id::require::<system::Entity>(db, id, field).await?.id,
        Reference::ComponentType => id::require::<component_type::Entity>(db, id, field).await?.id,
        Reference::Domain => id::require::<domain::Entity>(db, id, field).await?.id,
    })
}
