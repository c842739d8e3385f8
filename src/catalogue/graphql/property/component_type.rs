//! Component types: what a service is, such as a library or a website.

use async_graphql::Value;

use super::property_definition;
use crate::engine::input::{self, Input, InputError};
use crate::engine::write::{Scalar, Writer};
use crate::entity::component_type::{self, Column, Entity};
use crate::entity::text::FEW;
use crate::entity::{alias, pages, service};
use crate::graphql::field::alias::or_taken;
use crate::graphql::prelude::*;
use crate::graphql::relationship::relationship_definition::{given_rules, rules};
use crate::graphql::service::{refuse_locked, refuse_where_locked};

/// The name of an icon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentTypeIconEnum(String);

impl Scalar for ComponentTypeIconEnum {
    fn write(&self, out: &mut Writer<'_>) {
        out.string(&self.0);
    }
}

impl Input for ComponentTypeIconEnum {
    fn read(value: &Value) -> Result<Self, InputError> {
        match input::word(value) {
            Some(name) if (1..=64).contains(&name.len()) && name.bytes().all(|one| one.is_ascii_alphanumeric()) => {
                Ok(Self(name.to_owned()))
            }
            _ => Err(InputError::new("expected the name of an icon, such as \"PhGear\"")),
        }
    }
}

impl ComponentTypeResolver for ComponentType {
    async fn aliases(types: &[&Self], _: &Ctx<'_>) -> Result<Vec<Vec<String>>> {
        Ok(types.iter().map(|one| vec![one.alias.clone()]).collect())
    }

    async fn href(types: &[&Self], ctx: &Ctx<'_>) -> Result<Vec<String>> {
        let app_url = &ctx.settings().app_url;
        let list = |one: &&Self| {
            format!("{}?type={}", pages::url(app_url, ["services"]), ComponentTypeResolver::id(*one).text())
        };
        Ok(types.iter().map(list).collect())
    }

    async fn icon(types: &[&Self], _: &Ctx<'_>) -> Result<Vec<ComponentTypeIcon>> {
        let icon = |one: &&Self| ComponentTypeIcon {
            color: one.icon_color.clone(),
            name: one.icon_name.clone().map(ComponentTypeIconEnum),
        };
        Ok(types.iter().map(icon).collect())
    }

    async fn owner_relationship(types: &[&Self], _: &Ctx<'_>) -> Result<Vec<OwnerRelationshipType>> {
        let of = |one: &&Self| OwnerRelationshipType { management_rules: rules(&one.owner_rules) };
        Ok(types.iter().map(of).collect())
    }

    async fn system_relationship(types: &[&Self], _: &Ctx<'_>) -> Result<Vec<SystemRelationshipType>> {
        let of = |one: &&Self| SystemRelationshipType { management_rules: rules(&one.system_rules) };
        Ok(types.iter().map(of).collect())
    }

    async fn timestamps(types: &[&Self], _: &Ctx<'_>) -> Result<Vec<Timestamps>> {
        Ok(types.iter().map(|one| Timestamps { created_at: one.created_at, updated_at: one.updated_at }).collect())
    }
}

/// Returns the type of each service: the row of its key, or the default type for `None`.
pub(in crate::graphql) async fn of_services(ctx: &Ctx<'_>, keys: Vec<Option<i64>>) -> Result<Vec<ComponentType>> {
    let needs_default = keys.contains(&None);
    let found = Entity::by_ids(ctx.db(), keys).await?;
    let default = if needs_default { component_type::default(ctx.db()).await? } else { None };
    let types = found.into_iter().map(|found| found.or_else(|| default.clone()));
    types.collect::<Option<_>>().ok_or_else(|| Error::internal("there is no default component type"))
}

/// All types, a page at a time.
pub(in crate::graphql) async fn page(ctx: &Ctx<'_>, request: &PageRequest) -> Result<ComponentTypeConnectionType> {
    List::<Entity>::new(Column::Id).page(ctx, request).await
}

fn fill(draft: &mut Draft<Entity>, input: &ComponentTypeInput) {
    let ComponentTypeInput { alias, icon, name, owner_relationship, system_relationship, properties: _, texts } = input;
    draft.set(Column::Name, name);
    draft.set(Column::Alias, alias);
    draft.set_texts(texts);
    let owner = rules_within(owner_relationship, |given| &given.management_rules);
    let owner = owner.map_err(|error| error.within("ownerRelationship"));
    if let Some(rules) = draft.problems.take(owner).flatten() {
        draft.row.owner_rules = Set(rules);
    }
    let system = rules_within(system_relationship, |given| &given.management_rules);
    let system = system.map_err(|error| error.within("systemRelationship"));
    if let Some(rules) = draft.problems.take(system).flatten() {
        draft.row.system_rules = Set(rules);
    }
    match icon {
        MaybeUndefined::Undefined => {}
        MaybeUndefined::Null => {
            (draft.row.icon_name, draft.row.icon_color) = (Set(None), Set(None));
        }
        MaybeUndefined::Value(ComponentTypeIconInput { color, name }) => {
            if let Some(color) = draft.problems.take(check_color(color)) {
                (draft.row.icon_name, draft.row.icon_color) = (Set(Some(name.0.clone())), Set(Some(color)));
            }
        }
    }
}

/// Converts the rules in a part of an input to the text of a column. `None` leaves the column unchanged.
fn rules_within<T>(
    given: &MaybeUndefined<T>,
    rules: impl FnOnce(&T) -> &MaybeUndefined<Vec<ManagementRuleInput>>,
) -> Result<Option<String>, UserError> {
    match given {
        MaybeUndefined::Undefined => Ok(None),
        MaybeUndefined::Null => given_rules(&MaybeUndefined::Null),
        MaybeUndefined::Value(given) => given_rules(rules(given)),
    }
}

/// Checks that a text is a CSS colour which needs no escaping.
fn check_color(color: &str) -> Result<String, UserError> {
    let fits = match color.strip_prefix('#') {
        Some(digits) => matches!(digits.len(), 3 | 6) && digits.bytes().all(|digit| digit.is_ascii_hexdigit()),
        None => (1..=32).contains(&color.len()) && color.bytes().all(|letter| letter.is_ascii_alphabetic()),
    };
    let rule = "color must be # and three or six hexadecimal digits, or a name of letters";
    if fits { Ok(color.to_owned()) } else { Err(UserError::new("color", rule).within("icon")) }
}

fn taken(alias: &str) -> UserError {
    UserError::new("alias", format!("another component type has the alias {}", quoted(alias)))
}

impl ComponentTypeCreateMutation for Mutation {
    async fn component_type_create(
        ctx: &MutationCtx<'_>,
        mut input: ComponentTypeInput,
    ) -> Result<ComponentTypePayload> {
        let properties = property_definition::read_of_type(&input.properties).await?;
        ctx.begin().await?;
        let db = ctx.db();
        let name = input.name.value().cloned().unwrap_or_default();
        if input.name.is_undefined() {
            input.name = MaybeUndefined::Value(String::new());
        }
        if input.alias.is_undefined() {
            input.alias = MaybeUndefined::Value(alias::slug(&name, "type"));
        }
        let mut draft = Draft::<Entity>::new();
        (draft.row.owner_rules, draft.row.system_rules) = (Set("[]".to_owned()), Set("[]".to_owned()));
        fill(&mut draft, &input);
        let (row, now) = (draft.done()?, Timestamp::now());
        let row =
            component_type::ActiveModel { is_default: Set(false), created_at: Set(now), updated_at: Set(now), ..row };
        let alias = input.alias.value().map_or("", String::as_str);
        let made = db.insert(row).await.map_err(|error| or_taken(error, taken(alias)))?;
        if db.count(Entity::find()).await? > FEW as u64 {
            return Err(UserError::base(format!("a catalogue can have at most {FEW} component types")).into());
        }
        property_definition::set_of_type(db, made.id, properties).await?;
        Ok(ComponentTypePayload { component_type: Some(made), ..Default::default() })
    }
}

impl ComponentTypeUpdateMutation for Mutation {
    async fn component_type_update(
        ctx: &MutationCtx<'_>,
        component_type: IdentifierInput,
        input: ComponentTypeInput,
    ) -> Result<ComponentTypePayload> {
        let properties = property_definition::read_of_type(&input.properties).await?;
        ctx.begin().await?;
        let db = ctx.db();
        let mut draft = Draft::from_row(
            identifier::locked::<ComponentType>(db, "componentType", &component_type, LockType::Update).await?,
        );
        fill(&mut draft, &input);
        let mut row = draft.done()?;
        touch(&mut row.updated_at);
        let alias = input.alias.value().map_or("", String::as_str);
        let changed = db.update(row).await.map_err(|error| or_taken(error, taken(alias)))?;
        property_definition::set_of_type(db, changed.id, properties).await?;
        Ok(ComponentTypePayload { component_type: Some(changed), ..Default::default() })
    }
}

impl ComponentTypeDeleteMutation for Mutation {
    async fn component_type_delete(
        ctx: &MutationCtx<'_>,
        resource: IdentifierInput,
    ) -> Result<ComponentTypeDeletePayload> {
        let db = ctx.db();
        let found = identifier::locked::<ComponentType>(db, "resource", &resource, LockType::Update).await?;
        if found.is_default {
            return Err(UserError::base("the default component type cannot be deleted").into());
        }
        refuse_locked(db, service::Column::TypeId.eq(found.id)).await?;
        ctx.shed_first::<component_type::Entity>(found.id).await?;
        refuse_where_locked(db, service::Column::TypeId.eq(found.id)).await?;
        let deleted_id = Some(ComponentTypeResolver::id(&found));
        db.delete(found).await?;
        Ok(ComponentTypeDeletePayload { deleted_id, ..Default::default() })
    }
}
