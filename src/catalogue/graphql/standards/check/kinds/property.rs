//! A service has a value in a field, or for a property definition.

use sea_orm::sea_query::{ExprTrait, Query as Select};
use serde::{Deserialize, Serialize};

use super::super::change::Change;
use super::super::comparison::{Comparison, Of, has};
use super::super::question::{Asks, Facts, Question, first};
use crate::entity::{check, lifecycle, property, service, system, tier};
use crate::graphql::filter::predicate::Rows;
use crate::graphql::prelude::*;

/// The parameters of `ServicePropertyCheck`. The definition of a property is a column of the check.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(in crate::graphql::standards::check) struct ServiceProperty {
    pub(in crate::graphql::standards::check) property_value_predicate: Option<Comparison>,
    /// A value of the SDL's `ServicePropertyTypeEnum`.
    pub(in crate::graphql::standards::check) service_property: String,
    /// The name of the definition when the check was written, for its sentences.
    definition: Option<String>,
}

impl ServiceProperty {
    pub(in crate::graphql::standards::check) async fn give(
        &mut self,
        change: &mut Change<'_>,
        component_type: MaybeUndefined<IdentifierInput>,
        definition: MaybeUndefined<IdentifierInput>,
        comparison: MaybeUndefined<PredicateUpdateInput>,
        field: MaybeUndefined<ServicePropertyTypeEnum>,
    ) -> Result<()> {
        change.word("serviceProperty", &mut self.service_property, field.map_value(ServicePropertyTypeEnum::as_str));
        if let Some(named) = component_type.value() {
            let found = identifier::require_in::<ComponentType>(change.db, "componentType", named).await;
            change.draft.problems.take_any(found)?;
        }
        match &definition {
            MaybeUndefined::Undefined => {}
            MaybeUndefined::Null => self.set_definition(change, None),
            MaybeUndefined::Value(named) => {
                let found = identifier::require_in::<PropertyDefinition>(change.db, "propertyDefinition", named).await;
                if let Some(found) = change.draft.problems.take_any(found)? {
                    self.set_definition(change, Some(found));
                }
            }
        }
        if self.field() != ServicePropertyTypeEnum::CustomProperty {
            if definition.value().is_none() {
                self.set_definition(change, None);
            } else {
                let message = "propertyDefinition can be given only if serviceProperty is custom_property";
                change.draft.problems.push(UserError::new("propertyDefinition", message));
            }
        }
        const COMPARISON: &str = "propertyValuePredicate";
        let of = if self.has_index() { Of::Number } else { Of::Text };
        change.comparison(COMPARISON, of, &mut self.property_value_predicate, &comparison);
        Ok(())
    }

    fn set_definition(&mut self, change: &mut Change<'_>, definition: Option<PropertyDefinition>) {
        change.draft.row.property_definition_id = Set(definition.as_ref().map(|definition| definition.id));
        self.definition = definition.map(|definition| definition.name);
    }

    pub(in crate::graphql::standards::check) fn field(&self) -> ServicePropertyTypeEnum {
        // Mutations write only words of the enum, so the fallback is not expected.
        ServicePropertyTypeEnum::from_word(&self.service_property).unwrap_or(ServicePropertyTypeEnum::Name)
    }

    /// Whether the value is compared by an index, as a number.
    fn has_index(&self) -> bool {
        matches!(self.field(), ServicePropertyTypeEnum::TierIndex | ServicePropertyTypeEnum::LifecycleIndex)
    }

    /// The noun for the value.
    fn noun(&self) -> String {
        match self.field() {
            ServicePropertyTypeEnum::CustomProperty => {
                format!("value of the property {}", quoted(self.definition.as_deref().unwrap_or_default()))
            }
            ServicePropertyTypeEnum::LifecycleIndex => "lifecycle stage".to_owned(),
            ServicePropertyTypeEnum::TierIndex => "tier".to_owned(),
            field => field.as_str().to_owned(),
        }
    }
}

/// A column of the row that the column `own` of the service refers to.
fn referred<C: ColumnTrait>(own: service::Column, id: C, column: C) -> Expr {
    let is_own = id.into_expr().eq(own.into_expr());
    db::scalar(Select::select().expr(column.into_expr()).from(id.entity_name()).and_where(is_own).take())
}

impl Asks for ServiceProperty {
    fn wanted(&self) -> String {
        let noun = self.noun();
        let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        match &self.property_value_predicate {
            None => format!("{article} {noun}"),
            Some(comparison) if comparison.is_absence() => format!("no {noun}"),
            Some(comparison) if self.has_index() => {
                format!("a {noun} whose index {}", comparison.words())
            }
            Some(comparison) => format!("{article} {noun} that {}", comparison.words()),
        }
    }

    fn said(&self, found: Option<&str>) -> String {
        let noun = self.noun();
        found.map_or_else(|| format!("It has no {noun}."), |value| format!("Its {noun} is {}.", quoted(value)))
    }

    async fn question(&self, check: &check::Model, facts: Facts<'_>) -> Result<Question> {
        use service::Column;
        let comparison = self.property_value_predicate.as_ref();
        let of_index = |index: Expr, name: Expr| {
            let passed = match comparison {
                None => index.is_not_null(),
                Some(comparison) => comparison.of_number(index)?,
            };
            Ok(Question::new(passed, name))
        };
        let own = match self.field() {
            ServicePropertyTypeEnum::CustomProperty => return self.of_property(check, facts).await,
            ServicePropertyTypeEnum::LifecycleIndex => {
                let of = |column| referred(Column::LifecycleId, lifecycle::Column::Id, column);
                return of_index(of(lifecycle::Column::Index), of(lifecycle::Column::Name));
            }
            ServicePropertyTypeEnum::TierIndex => {
                let of = |column| referred(Column::TierId, tier::Column::Id, column);
                return of_index(of(tier::Column::Index), of(tier::Column::Name));
            }
            ServicePropertyTypeEnum::System => referred(Column::SystemId, system::Column::Id, system::Column::Name),
            ServicePropertyTypeEnum::Description => Column::Description.into_expr(),
            ServicePropertyTypeEnum::Framework => Column::Framework.into_expr(),
            ServicePropertyTypeEnum::Language => Column::Language.into_expr(),
            ServicePropertyTypeEnum::Name => Column::Name.into_expr(),
            ServicePropertyTypeEnum::Note => Column::Note.into_expr(),
            ServicePropertyTypeEnum::Product => Column::Product.into_expr(),
        };
        let services = Rows::new(service::Entity, Column::Id);
        let passed = match comparison {
            None => own.clone().is_not_null(),
            Some(comparison) => comparison.of_text(&facts, &services, Column::Id.into_expr(), own.clone()).await?,
        };
        Ok(Question::new(passed, own))
    }
}

impl ServiceProperty {
    async fn of_property(&self, check: &check::Model, facts: Facts<'_>) -> Result<Question> {
        use property::Column;
        let Some(definition) = check.property_definition_id else {
            return Err(UserError::base("it has no property definition, or that was deleted").into());
        };
        let values = Rows::new(property::Entity, Column::ServiceId).and_where(Column::DefinitionId.eq(definition));
        let value = || Column::SearchKey.into_expr();
        let comparison = self.property_value_predicate.as_ref();
        let passed = has(&facts, &values, Column::Id.into_expr(), value(), comparison).await?;
        Ok(Question::new(passed, first(&values, value())))
    }
}
