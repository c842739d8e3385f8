//! Contacts: how to reach a person, or those responsible for a service or a team.

use sea_orm::sea_query::ExprTrait;

use super::prelude::*;
use super::service;

super::table! {
    "contact";

    /// The channel: a value of the SDL's `ContactType`.
    pub r#type: String,
    /// The address, handle, channel or URL.
    pub address: String,
    /// The display name.
    pub display_name: Option<String>,
    /// The display name of the type.
    pub display_type: Option<String>,
    /// The id in the system from which the contact was taken.
    pub external_id: Option<String>,
    /// Whether to prefer this contact over others of its type.
    pub is_default: bool,
    /// The owner, if it is a service.
    pub service_id: Option<i64>,
    /// The owner, if it is a team.
    pub team_id: Option<i64>,
    /// The owner, if it is a user.
    pub user_id: Option<i64>,
}

impl Table for Entity {
    const TOLD: Told = Told::Alone("Contact");
    const LIST: Option<&'static str> = Some("contacts");

    fn owner(row: &Model) -> Owner {
        let of_team = row.team_id.map(Owner::Team).or(row.user_id.map(Owner::User));
        of_team.or(Owner::row::<service::Entity>(row.service_id)).unwrap_or(Owner::Nobody)
    }

    fn entry(row: &Model) -> Entry {
        let Model { r#type, address, display_name, .. } = row;
        let name = display_name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        Entry::text(format!("{}: {address}{name}", r#type))
    }
}

/// The channels: the values of the SDL's `ContactType`.
pub const TYPES: &[&str] = &["email", "github", "microsoft_teams", "slack", "slack_handle", "web"];

super::rules![
    FieldRule::text("address", Column::Address, text::URL).required(),
    FieldRule::text("displayName", Column::DisplayName, text::SHORT),
    FieldRule::text("displayType", Column::DisplayType, text::SHORT),
    FieldRule::text("externalId", Column::ExternalId, text::SHORT),
];

impl Model {
    /// Returns the column of the owner, and the owner's id.
    pub fn owner(&self) -> (Column, i64) {
        let owners =
            [(Column::ServiceId, self.service_id), (Column::TeamId, self.team_id), (Column::UserId, self.user_id)];
        let owner = owners.into_iter().find_map(|(column, id)| Some((column, id?)));
        owner.expect("the database makes sure of one owner")
    }
}

/// Clears the default flag of the owner's other contacts of the same type. The caller sets the flag of `contact`
/// itself.
pub async fn clear_other_defaults(db: &dyn WriteHandle, contact: &Model) -> Result<(), db::Error> {
    let (owner, id) = contact.owner();
    let others = owner.eq(id).and(Column::Type.eq(&contact.r#type)).and(Column::Id.ne(contact.id));
    let update = Entity::update_many().col_expr(Column::IsDefault, Expr::value(false));
    db.exec(update.filter(others).filter(Column::IsDefault.eq(true))).await.map(drop)
}
