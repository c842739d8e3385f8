//! Contacts: how to reach those who look after a service, a team or a person.

use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Expr, ExprTrait};
use serde::Deserialize;

use super::field_rule::{FieldRule, FieldRules};
use super::text;

/// A row of `contact`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Deserialize)]
#[sea_orm(table_name = "contact")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The channel: a word of the SDL's `ContactType`.
    pub r#type: String,
    /// The address, handle, channel or URL.
    pub address: String,
    /// What people call it.
    pub display_name: Option<String>,
    /// What people call its type.
    pub display_type: Option<String>,
    /// Its id in the system that it was taken from.
    pub external_id: Option<String>,
    /// Whether it is the one to use among those of its type.
    pub is_default: bool,
    /// The service that it is of, or
    pub service_id: Option<i64>,
    /// the team, or
    pub team_id: Option<i64>,
    /// the user.
    pub user_id: Option<i64>,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// The channels: the words of the SDL's `ContactType`.
pub const TYPES: &[&str] = &["email", "github", "microsoft_teams", "slack", "slack_handle", "web"];

impl FieldRules for Entity {
    const FIELDS: &'static [FieldRule<Column>] = &[
        FieldRule::text("address", Column::Address, text::URL).required(),
        FieldRule::text("displayName", Column::DisplayName, text::SHORT),
        FieldRule::text("displayType", Column::DisplayType, text::SHORT),
        FieldRule::text("externalId", Column::ExternalId, text::SHORT),
    ];
}

impl Model {
    /// The column that names its owner, and the owner's key.
    pub fn owner(&self) -> (Column, i64) {
        let owners =
            [(Column::ServiceId, self.service_id), (Column::TeamId, self.team_id), (Column::UserId, self.user_id)];
        let owner = owners.into_iter().find_map(|(column, id)| Some((column, id?)));
        owner.expect("the database makes sure of one owner")
    }
}

/// Makes a contact the default of its owner and type, and no other.
pub async fn make_default<C: ConnectionTrait>(db: &C, contact: &Model) -> Result<(), DbErr> {
    let (owner, id) = contact.owner();
    let others = owner.eq(id).and(Column::Type.eq(&contact.r#type)).and(Column::Id.ne(contact.id));
    let update = Entity::update_many().col_expr(Column::IsDefault, Expr::value(false));
    update.filter(others).filter(Column::IsDefault.eq(true)).exec(db).await.map(drop)
}
