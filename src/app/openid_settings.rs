//! Which OpenID provider people sign in at, and what it decides.

use catalogue::db::Secret;
use catalogue::entity::user::Role;

/// An OpenID provider, and who may sign in.
#[derive(Debug, Clone)]
pub struct OpenId {
    /// The issuer, exactly as the provider writes it.
    pub issuer: String,
    /// Our client id.
    pub client_id: String,
    /// Our client secret.
    pub client_secret: Option<Secret>,
    /// The name on the button.
    pub name: String,
    /// The email domains, in lower case, whose users need no invitation. `*` means any.
    pub domains: Vec<String>,
    /// The initial role of users without an invitation.
    pub role: Role,
    /// The audiences that ID tokens may name beside our client id.
    pub trusted_audiences: Vec<String>,
    /// Whether to trust an email address that the provider does not say to be verified.
    pub trust_email: bool,
    /// The claim that names a person's groups.
    pub groups_claim: String,
    /// The roles of groups.
    pub group_roles: Vec<(String, Role)>,
    /// The teams of groups, by their aliases.
    pub group_teams: Vec<(String, String)>,
}

impl OpenId {
    /// Whether groups decide anything.
    pub fn uses_groups(&self) -> bool {
        !self.group_roles.is_empty() || !self.group_teams.is_empty()
    }
}
