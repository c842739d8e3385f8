//! People: members and managers of teams, and those who deploy.

use sea_orm::entity::prelude::*;

use super::Timestamp;

/// A row of `user`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "user")]
pub struct Model {
    /// What identifies the row; never given out twice.
    #[sea_orm(primary_key)]
    pub id: i64,
    /// The full name.
    pub name: String,
    /// The address as it was given.
    pub email: String,
    /// The address in lower case, by [`email_key`]; unique.
    pub email_key: String,
    /// What the user may do.
    pub role: Role,
    /// When the row was made.
    pub created_at: Timestamp,
    /// When the row was last changed.
    pub updated_at: Timestamp,
}

/// Relations are read a page at a time, by [`ByIds`](super::ByIds) and the like, not through this enum.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What a user may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum Role {
    /// Reads and writes the catalogue.
    #[sea_orm(string_value = "user")]
    User,
    /// Also manages users, tokens and integrations.
    #[sea_orm(string_value = "admin")]
    Admin,
}

/// What makes an address unique: no blanks around it, lower case.
pub fn email_key(email: &str) -> String {
    email.trim().to_lowercase()
}

/// The user with this address, in whatever case.
pub async fn by_email<C: ConnectionTrait>(db: &C, email: &str) -> Result<Option<Model>, DbErr> {
    Entity::find().filter(Column::EmailKey.eq(email_key(email))).one(db).await
}
