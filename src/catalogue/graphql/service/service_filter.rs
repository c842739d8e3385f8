//! Converts filters of services to one SQL condition: predicates that are joined and nested. `predicate.rs` converts a
//! single predicate, and `scan.rs` makes the comparisons that SQL lacks.

use std::pin::Pin;

use crate::entity::{filter, filter_predicate};
use crate::graphql::filter::predicate::Predicate;
use crate::graphql::filter::predicate_key::Key;
use crate::graphql::list::scan::{Condition, Scans};
use crate::graphql::prelude::*;

/// The maximum number of predicates in a filter, and in a request.
pub const MOST: usize = 50;
/// The maximum depth to which predicates are nested, and to which filters refer to other filters.
pub const DEPTH: usize = 5;

/// A predicate, or several joined by a connective.
enum Tree {
    One(Predicate),
    Several(ConnectiveEnum, Vec<Tree>),
}

/// Builds conditions, and counts their predicates, so that a request has a limit however they are nested.
#[derive(Default)]
struct FilterBuilder {
    count: usize,
    scans: Scans,
    /// Whether it says which services a check is for.
    is_of_check: bool,
}

/// Returns the condition of the two arguments of a list of services. `None` if neither is given.
pub(in crate::graphql) async fn condition(
    db: &dyn ReadHandle,
    identifier: Option<&IdentifierInput>,
    given: Option<&Vec<ServiceFilterInput>>,
) -> Result<Option<Expr>> {
    let mut builder = FilterBuilder::default();
    let mut conditions = Vec::new();
    if let Some(named) = identifier {
        let within = |error: UserError| error.within("filterIdentifier");
        let id = match Identifier::from_input(named).map_err(within)? {
            Identifier::Id(id) => id,
            Identifier::Alias(id) if id::decode(id).is_some() => id,
            Identifier::Alias(_) => {
                return Err(within(UserError::new("alias", "filters have no aliases: give the id")).into());
            }
        };
        let filter = id::require::<filter::Entity>(db, id, "id").await;
        let filter = filter.map_err(|error| error.map_user(within))?;
        let condition = builder.saved(db, &filter, DEPTH).await;
        conditions.push(condition.map_err(|error| error.map_user(within))?);
    }
    for (place, one) in given.into_iter().flatten().enumerate() {
        let within = |error: UserError| error.within(place.to_string()).within("filter");
        let tree = builder.tree(one, DEPTH).map_err(within)?;
        let condition = builder.condition(db, tree, DEPTH).await;
        conditions.push(condition.map_err(|error| error.map_user(within))?);
    }
    if conditions.is_empty() {
        return Ok(None);
    }
    let found = builder.scans.run(db).await?;
    Condition::Several(ConnectiveEnum::And, conditions).into_sql(db, &found).await.map(Some)
}

/// Returns the condition of a saved filter that says which services checks are for. A user error says why it cannot be
/// evaluated.
pub(in crate::graphql) async fn of_checks(db: &dyn ReadHandle, filter: &filter::Model) -> Result<Expr> {
    let mut builder = FilterBuilder { is_of_check: true, ..FilterBuilder::default() };
    let condition = builder.saved(db, filter, DEPTH).await?;
    let found = builder.scans.run(db).await?;
    condition.into_sql(db, &found).await
}

/// The future of a condition. Boxed, because it is recursive: filters refer to filters.
type Conditions<'r> = Pin<Box<dyn Future<Output = Result<Condition>> + Send + 'r>>;

impl FilterBuilder {
    fn count(&mut self) -> Result<(), UserError> {
        self.count += 1;
        if self.count > MOST {
            return Err(UserError::base(format!(
                "at most {MOST} predicates can be given, including those of nested filters"
            )));
        }
        Ok(())
    }

    fn tree(&mut self, given: &ServiceFilterInput, depth: usize) -> Result<Tree, UserError> {
        let ServiceFilterInput { arg, case_sensitive, connective, key, predicates, r#type } = given;
        match (key.value(), predicates.value()) {
            (Some(key), None) => {
                self.count()?;
                let most = text::TAG_KEY + 1 + text::TAG_VALUE;
                let arg = arg.value().map(|arg| text::at_most("arg", arg, most)).transpose()?;
                let key = Key::from(*key);
                let (data, value) = match (key, arg) {
                    (Key::Tag | Key::Property | Key::Relationship, Some(arg)) => key_and_value(arg),
                    (_, arg) => (None, arg),
                };
                let is_case_sensitive = case_sensitive.value().copied().unwrap_or(true);
                let kind = r#type.unwrap_or(TypeEnum::Equals);
                Ok(Tree::One(Predicate { key, data, kind, value, is_case_sensitive }))
            }
            (None, Some(predicates)) => {
                if depth == 0 {
                    let message = format!("predicates can be nested at most {DEPTH} levels deep");
                    return Err(UserError::new("predicates", message));
                }
                let several = predicates.iter().enumerate().map(|(place, one)| {
                    let within = |error: UserError| error.within(place.to_string()).within("predicates");
                    self.tree(one, depth - 1).map_err(within)
                });
                let connective = connective.unwrap_or(ConnectiveEnum::Or);
                Ok(Tree::Several(connective, several.collect::<Result<_, _>>()?))
            }
            _ => Err(UserError::base("exactly one of key and predicates must be given")),
        }
    }

    fn condition<'r>(&'r mut self, db: &'r (dyn ReadHandle + 'r), tree: Tree, depth: usize) -> Conditions<'r> {
        Box::pin(async move {
            match tree {
                Tree::One(predicate) => self.predicate_condition(db, predicate, depth).await,
                Tree::Several(connective, trees) => {
                    let mut conditions = Vec::with_capacity(trees.len());
                    for tree in trees {
                        conditions.push(self.condition(db, tree, depth).await?);
                    }
                    Ok(Condition::Several(connective, conditions))
                }
            }
        })
    }

    /// The condition of a saved filter.
    fn saved<'r>(
        &'r mut self,
        db: &'r (dyn ReadHandle + 'r),
        filter: &'r filter::Model,
        depth: usize,
    ) -> Conditions<'r> {
        Box::pin(async move {
            use filter_predicate::Column;
            let rows = filter_predicate::Entity::find().filter(Column::FilterId.eq(filter.id));
            let mut conditions = Vec::new();
            for (place, row) in db.all(rows.order_by_asc(Column::Id)).await?.into_iter().enumerate() {
                self.count()?;
                let key = PredicateKeyEnum::from_word(&row.key).map(Key::from);
                let kind = TypeEnum::from_word(&row.r#type);
                let (Some(key), Some(kind)) = (key, kind) else {
                    return Err(UserError::base("the filter has a predicate that this version does not know").into());
                };
                let (data, value) = match (key, row.key_data, row.value) {
                    (Key::Tag | Key::Property, None, Some(value)) => key_and_value(value),
                    (_, data, value) => (data, value),
                };
                let is_case_sensitive = row.case_sensitive.unwrap_or(true);
                let predicate = Predicate { key, data, kind, value, is_case_sensitive };
                let named = |error: UserError| match key {
                    // The filter that it names has said where.
                    Key::FilterId => error,
                    _ => {
                        let (filter, place) = (quoted(&filter.name), place + 1);
                        let message = format!("predicate {place} of the filter {filter}: {}", error.message);
                        UserError { message: message.into(), ..error }
                    }
                };
                conditions
                    .push(self.predicate_condition(db, predicate, depth).await.map_err(|error| error.map_user(named))?);
            }
            let connective = filter.connective.as_deref().and_then(ConnectiveEnum::from_word);
            Ok(Condition::Several(connective.unwrap_or(ConnectiveEnum::And), conditions))
        })
    }

    async fn predicate_condition(
        &mut self,
        db: &dyn ReadHandle,
        predicate: Predicate,
        depth: usize,
    ) -> Result<Condition> {
        let scans = &mut self.scans;
        match predicate.key {
            Key::FilterId => self.filter_condition(db, &predicate, depth).await,
            Key::Not(reason) => Err(UserError::new("key", reason).into()),
            // The level follows from checks: it would depend on itself.
            Key::LevelIndex if self.is_of_check => {
                Err(UserError::new("key", "the filter of a check cannot ask about levels, which follow from checks")
                    .into())
            }
            Key::TierIndex | Key::LifecycleIndex | Key::LevelIndex => predicate.index(db).await.map(Condition::Sql),
            Key::OwnerIds | Key::SystemId | Key::ComponentTypeId | Key::DomainId | Key::RepositoryIds => {
                predicate.key(db).await.map(Condition::Sql)
            }
            Key::Tag => predicate.tag(db, scans),
            Key::Property => predicate.property(db, scans).await,
            Key::Relationship => predicate.relationship(db).await.map(Condition::Sql),
            _ => predicate.text(db, scans),
        }
    }

    /// The condition of another saved filter, which a predicate names.
    async fn filter_condition(
        &mut self,
        db: &dyn ReadHandle,
        predicate: &Predicate,
        depth: usize,
    ) -> Result<Condition> {
        let is_meant = match predicate.kind {
            TypeEnum::Matches | TypeEnum::Equals => true,
            TypeEnum::DoesNotMatch | TypeEnum::DoesNotEqual => false,
            _ => return Err(predicate.refused().into()),
        };
        if depth == 0 {
            return Err(UserError::base(format!("filters can be nested at most {DEPTH} levels deep")).into());
        }
        let found = id::find::<filter::Entity>(db, predicate.needed()?).await?;
        let condition = match found {
            Some(filter) => self.saved(db, &filter, depth - 1).await?,
            None => Condition::Sql(Expr::value(false)),
        };
        Ok(condition.unless(!is_meant))
    }
}

/// Splits `env:prod` into the key of a tag, or the definition of a property or relationship, and a value.
fn key_and_value(arg: String) -> (Option<String>, Option<String>) {
    match arg.split_once(':') {
        Some((key, value)) => (Some(key.to_owned()), Some(value.to_owned())),
        None => (Some(arg), None),
    }
}
