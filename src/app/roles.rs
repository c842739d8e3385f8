//! The roles of users, in words.

use super::operations::UserRole;

/// The roles: the API's value, and the label.
pub const ROLES: &[(UserRole, &str)] = &[
    (UserRole::User, "member: reads and writes the catalogue"),
    (UserRole::Viewer, "viewer: reads the catalogue"),
    (UserRole::TeamMember, "team member: reads the catalogue, and changes their teams and what those own"),
    (UserRole::StandardsAdmin, "standards administrator: a member who also changes levels, categories and checks"),
    (UserRole::Admin, "administrator: also users, tokens and audit"),
];

/// The name of a role, as all pages say it.
pub fn role_name(role: UserRole) -> &'static str {
    let label = ROLES.iter().find(|(known, _)| *known == role).map_or("", |(_, label)| label);
    label.split(':').next().unwrap_or(label)
}
