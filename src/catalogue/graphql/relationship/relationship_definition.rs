//! Relationship definitions: what the services of a component type can be related to. Also the management rules of
//! definitions and component types.

use serde::{Deserialize, Serialize};

use crate::entity::relationship_definition::{ActiveModel, Column, Entity, RULES};
use crate::entity::relationship_rule::words;
use crate::entity::text::{ENTRIES, FEW, SHORT};
use crate::entity::{alias, component_type as component_types};
use crate::graphql::field::alias::or_taken;
use crate::graphql::list::relation::to_its_one;
use crate::graphql::prelude::*;

impl RelationshipDefinitionTypeResolver for RelationshipDefinitionType {
    async fn component_type(definitions: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<ComponentType>> {
        to_its_one(ctx, definitions.iter().map(|one| Some(one.component_type_id)).collect()).await
    }

    async fn management_rules(
        definitions: &[&Self],
        _: &Ctx<'_>,
    ) -> Result<Vec<Vec<RelationshipDefinitionManagementRule>>> {
        Ok(definitions.iter().map(|one| rules(&one.management_rules)).collect())
    }

    async fn metadata(definitions: &[&Self], _: &Ctx<'_>) -> Result<Vec<RelationshipDefinitionMetadata>> {
        let of = |one: &&Self| RelationshipDefinitionMetadata {
            allowed_categories: words(&one.allowed_categories),
            allowed_types: words(&one.allowed_types),
            max_items: one.max_items,
            min_items: one.min_items,
        };
        Ok(definitions.iter().map(of).collect())
    }
}

/// The definitions, a page at a time.
pub(in crate::graphql) async fn page(
    ctx: &Ctx<'_>,
    args: &AccountRelationshipDefinitionsArgs,
) -> Result<RelationshipDefinitionConnectionType> {
    let AccountRelationshipDefinitionsArgs { first, after, component_type, resource } = args;
    let request = PageRequest::new(first, after)?;
    let mut list = List::<Entity>::new(Column::Id);
    if let Some(named) = component_type.value() {
        let identifier = Identifier::from_input(named).map_err(|error| error.within("componentType"))?;
        // An unknown type matches nothing: no row has the key 0.
        let key = identifier::find::<ComponentType>(ctx.db(), identifier).await?.map_or(0, |found| found.id);
        list = list.filter(Column::ComponentTypeId.eq(key));
    }
    if let Some(id) = resource.value() {
        let key = match identifier::find::<Service>(ctx.db(), Identifier::Id(id)).await? {
            None => None,
            Some(service) => component_types::or_default(ctx.db(), service.type_id).await?,
        };
        list = list.filter(Column::ComponentTypeId.eq(key.unwrap_or_default()));
    }
    list.page(ctx, &request).await
}

/// Applies the input to the draft. A new definition must have a component type.
async fn fill(
    db: &Transaction,
    draft: &mut Draft<Entity>,
    is_new: bool,
    input: &RelationshipDefinitionInput,
) -> Result<()> {
    let RelationshipDefinitionInput { alias, component_type, description, management_rules, metadata, name } = input;
    draft.set(Column::Name, name);
    draft.set(Column::Alias, alias);
    match component_type {
        MaybeUndefined::Undefined if !is_new => {}
        MaybeUndefined::Value(_) => draft.refer(db, Column::ComponentTypeId, component_type).await?,
        _ => draft.problems.push(must_not_be_null("componentType")),
    }
    draft.set(Column::Description, description);
    if let Some(rules) = draft.problems.take(given_rules(management_rules)).flatten() {
        draft.row.management_rules = Set(rules);
    }
    let metadata = match metadata {
        MaybeUndefined::Undefined => return Ok(()),
        MaybeUndefined::Null => &RelationshipDefinitionMetadataInput {
            allowed_categories: MaybeUndefined::Null,
            allowed_types: MaybeUndefined::Null,
            max_items: MaybeUndefined::Null,
            min_items: MaybeUndefined::Null,
        },
        MaybeUndefined::Value(metadata) => metadata,
    };
    let RelationshipDefinitionMetadataInput { allowed_categories, allowed_types, max_items, min_items } = metadata;
    let mut own = Problems::default();
    if let Some(words) = own.take(given_words("allowedCategories", allowed_categories)) {
        draft.row.allowed_categories = Set(words);
    }
    if let Some(words) = own.take(given_words("allowedTypes", allowed_types)) {
        draft.row.allowed_types = Set(words);
    }
    let most = own.take(given_number("maxItems", max_items)).flatten();
    let least = own.take(given_number("minItems", min_items)).flatten();
    if let (Some(most), Some(least)) = (most, least)
        && least > most
    {
        own.push(UserError::new("minItems", "minItems must not be greater than maxItems"));
    }
    (draft.row.max_items, draft.row.min_items) = (Set(most), Set(least));
    let own = own.none().map_err(|error| error.map_user(|error| error.within("metadata")));
    draft.problems.take_any(own)?;
    Ok(())
}

/// Checks a list of words, and returns the text of its column.
fn given_words(field: &'static str, given: &MaybeUndefined<Vec<String>>) -> Result<String, UserError> {
    let given = given.value().map_or(&[][..], Vec::as_slice);
    if given.len() > FEW {
        return Err(UserError::new(field, format!("{field} has {} words; at most {FEW} are allowed", given.len())));
    }
    let words = given.iter().map(|word| text::required(field, word, SHORT)).collect::<Result<Vec<_>, _>>()?;
    Ok(serde_json::Value::from(words).to_string())
}

fn given_number(field: &'static str, given: &MaybeUndefined<i32>) -> Result<Option<i32>, UserError> {
    match given.value().copied() {
        Some(number) if usize::try_from(number).map_or(true, |number| number > ENTRIES) => {
            Err(UserError::new(field, format!("{field} must be from 0 to {ENTRIES}")))
        }
        number => Ok(number),
    }
}

/// A management rule, as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct Rule {
    operator: String,
    source_property: String,
    source_property_builtin: bool,
    target_category: Option<String>,
    target_property: String,
    target_property_builtin: bool,
    target_type: Option<String>,
}

/// Reads a column that holds rules.
pub(in crate::graphql) fn rules(column: &str) -> Vec<RelationshipDefinitionManagementRule> {
    let rules: Vec<Rule> = serde_json::from_str(column).unwrap_or_default();
    let rule = |rule: Rule| RelationshipDefinitionManagementRule {
        // Mutations write only words of the enum, so the fallback is not expected.
        operator: RelationshipDefinitionManagementRuleOperator::from_word(&rule.operator)
            .unwrap_or(RelationshipDefinitionManagementRuleOperator::Equals),
        source_property: rule.source_property,
        source_property_builtin: rule.source_property_builtin,
        target_category: rule.target_category,
        target_property: rule.target_property,
        target_property_builtin: rule.target_property_builtin,
        target_type: rule.target_type,
    };
    rules.into_iter().map(rule).collect()
}

/// Checks rules, and returns the text of their column. `None` leaves the column unchanged.
pub(in crate::graphql) fn given_rules(
    given: &MaybeUndefined<Vec<ManagementRuleInput>>,
) -> Result<Option<String>, UserError> {
    const FIELD: &str = "managementRules";
    let given = match given {
        MaybeUndefined::Undefined => return Ok(None),
        MaybeUndefined::Null => &[][..],
        MaybeUndefined::Value(given) => given,
    };
    if given.len() > RULES {
        return Err(UserError::new(FIELD, format!("{FIELD} has {} rules; at most {RULES} are allowed", given.len())));
    }
    let mut rules = Vec::with_capacity(given.len());
    for (place, rule) in given.iter().enumerate() {
        rules.push(given_rule(rule).map_err(|error| error.within(place.to_string()).within(FIELD))?);
    }
    Ok(Some(serde_json::to_value(rules).expect("texts and booleans are JSON").to_string()))
}

fn given_rule(given: &ManagementRuleInput) -> Result<Rule, UserError> {
    let ManagementRuleInput {
        operator,
        source_property,
        source_property_builtin,
        target_category,
        target_property,
        target_property_builtin,
        target_type,
    } = given;
    let optional =
        |field, given: &MaybeUndefined<String>| given.value().map(|given| text::line(field, given, SHORT)).transpose();
    Ok(Rule {
        operator: operator.unwrap_or(RelationshipDefinitionManagementRuleOperator::Equals).as_str().to_owned(),
        source_property: text::required("sourceProperty", source_property, SHORT)?,
        source_property_builtin: *source_property_builtin,
        target_category: optional("targetCategory", target_category)?,
        target_property: text::required("targetProperty", target_property, SHORT)?,
        target_property_builtin: *target_property_builtin,
        target_type: optional("targetType", target_type)?,
    })
}

fn taken(alias: &str) -> UserError {
    UserError::new("alias", format!("another relationship definition has the alias {}", quoted(alias)))
}

impl RelationshipDefinitionCreateMutation for Mutation {
    async fn relationship_definition_create(
        ctx: &MutationCtx<'_>,
        mut input: RelationshipDefinitionInput,
    ) -> Result<RelationshipDefinitionPayload> {
        let db = ctx.db();
        // A new row needs a name. An absent one is treated as blank, so that the same error is reported.
        if input.name.is_undefined() {
            input.name = MaybeUndefined::Value(String::new());
        }
        if input.alias.is_undefined() {
            let name = input.name.value().map_or("", String::as_str);
            input.alias = MaybeUndefined::Value(alias::slug(name, "relationship"));
        }
        let mut draft = Draft::<Entity>::new();
        for list in [&mut draft.row.allowed_categories, &mut draft.row.allowed_types, &mut draft.row.management_rules] {
            *list = Set("[]".to_owned());
        }
        fill(db, &mut draft, true, &input).await?;
        let (row, now) = (draft.done()?, Timestamp::now());
        let alias = input.alias.value().map_or("", String::as_str);
        let row = ActiveModel { created_at: Set(now), updated_at: Set(now), ..row };
        let made = db.insert(row).await.map_err(|error| or_taken(error, taken(alias)))?;
        if db.count(Entity::find()).await? > FEW as u64 {
            return Err(UserError::base(format!("a catalogue can have at most {FEW} relationship definitions")).into());
        }
        Ok(RelationshipDefinitionPayload { definition: Some(made), ..Default::default() })
    }
}

impl RelationshipDefinitionUpdateMutation for Mutation {
    async fn relationship_definition_update(
        ctx: &MutationCtx<'_>,
        relationship_definition: IdentifierInput,
        input: RelationshipDefinitionInput,
    ) -> Result<RelationshipDefinitionPayload> {
        let db = ctx.db();
        let found: RelationshipDefinitionType =
            identifier::locked(db, "relationshipDefinition", &relationship_definition, LockType::Update).await?;
        let mut draft = Draft::from_row(found);
        fill(db, &mut draft, false, &input).await?;
        let row = draft.done()?;
        let alias = input.alias.value().map_or("", String::as_str);
        let changed = db.update(row).await.map_err(|error| or_taken(error, taken(alias)))?;
        Ok(RelationshipDefinitionPayload { definition: Some(changed), ..Default::default() })
    }
}

impl RelationshipDefinitionDeleteMutation for Mutation {
    async fn relationship_definition_delete(
        ctx: &MutationCtx<'_>,
        resource: IdentifierInput,
    ) -> Result<RelationshipDefinitionDeletePayload> {
        let db = ctx.db();
        let found =
            identifier::locked::<RelationshipDefinitionType>(db, "resource", &resource, LockType::Update).await?;
        ctx.shed_first::<Entity>(found.id).await?;
        let deleted_id = Some(RelationshipDefinitionTypeResolver::id(&found));
        db.delete(found).await?;
        Ok(RelationshipDefinitionDeletePayload { deleted_id, ..Default::default() })
    }
}
