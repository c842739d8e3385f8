//! Component types: kinds of services, such as a library or a website.

use super::prelude::*;

super::table! {
    "component_type", Alone("ComponentType"), Members;

    /// The alias by which services refer to the type; unique.
    pub alias: String,
    /// The display name.
    pub name: String,
    /// What services of this type have in common.
    pub description: Option<String>,
    /// The category that it belongs to.
    pub category: Option<String>,
    /// The name of its icon.
    pub icon_name: Option<String>,
    /// The colour of its icon.
    pub icon_color: Option<String>,
    /// The management rules for owners, as a JSON list.
    pub owner_rules: String,
    /// The management rules for systems, as a JSON list.
    pub system_rules: String,
    /// Whether services without a type have this one. True for one row.
    pub is_default: bool,
    /// When the row was created.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

super::rules![
    FieldRule::text("name", Column::Name, text::SHORT).required(),
    FieldRule::text("alias", Column::Alias, text::SHORT).required(),
    FieldRule::text("description", Column::Description, text::DESCRIPTION),
    FieldRule::text("category", Column::Category, text::SHORT),
];

super::by_alias!(Alias);

/// Returns the id of a service's component type: `named`, or the default type if that is `None`.
pub async fn or_default(db: &dyn ReadHandle, named: Option<i64>) -> Result<Option<i64>, db::Error> {
    match named {
        None => Ok(default(db).await?.map(|found| found.id)),
        own => Ok(own),
    }
}

/// Returns the type of services that have none of their own.
pub async fn default(db: &dyn ReadHandle) -> Result<Option<Model>, db::Error> {
    db.one(Entity::find().filter(Column::IsDefault.eq(true)).order_by_asc(Column::Id)).await
}
