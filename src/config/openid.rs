//! The settings for signing in at an OpenID provider.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use sea_orm::Iterable;

use super::secret::Secret;
use super::trimmed::{path, switch, trimmed, word};
use super::value;
use crate::app::openid_settings::OpenId;
use crate::db;
use crate::entity::user::Role;
use crate::outgoing;

/// The settings for signing in at an OpenID provider.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "OpenID Connect")]
pub struct OpenIdArgs {
    /// The issuer of the OpenID provider that people sign in at, exactly as the provider writes it. Register a web
    /// application there with the redirect URL APP_URL/sign-in/openid/callback
    #[arg(
        long = "oidc-issuer",
        value_name = "URL",
        env = "ROLLCALL_OIDC_ISSUER",
        requires = "oidc_client_id",
        value_parser = trimmed(issuer)
    )]
    oidc_issuer: Option<String>,
    /// The client id from the provider
    #[arg(long, value_name = "ID", env = "ROLLCALL_OIDC_CLIENT_ID", requires = "oidc_issuer", value_parser = trimmed(value::text))]
    oidc_client_id: Option<String>,
    /// The client secret from the provider, if it issued one
    #[arg(
        long,
        value_name = "SECRET",
        env = "ROLLCALL_OIDC_CLIENT_SECRET",
        hide_env_values = true,
        requires = "oidc_issuer",
        value_parser = trimmed(Secret::parse)
    )]
    oidc_client_secret: Option<Secret>,
    /// A file with the client secret, to keep it out of the command line and the environment
    #[arg(
        long,
        value_name = "FILE",
        env = "ROLLCALL_OIDC_CLIENT_SECRET_FILE",
        requires = "oidc_issuer",
        conflicts_with = "oidc_client_secret",
        value_parser = path()
    )]
    oidc_client_secret_file: Option<PathBuf>,
    /// The provider's name on the button "Sign in with NAME"
    #[arg(long, value_name = "NAME", env = "ROLLCALL_OIDC_NAME", default_value = "single sign-on", value_parser = trimmed(value::text))]
    oidc_name: String,
    /// Create a user for anyone who signs in with an address at one of these domains, separated by commas; * means any.
    /// Others need an invitation [default: none]
    #[arg(
        long,
        value_name = "DOMAINS",
        env = "ROLLCALL_OIDC_DOMAINS",
        value_delimiter = ',',
        requires = "oidc_issuer",
        value_parser = trimmed(domain)
    )]
    oidc_domains: Vec<String>,
    /// The role of users created this way
    #[arg(long, value_name = "ROLE", env = "ROLLCALL_OIDC_ROLE", default_value = "viewer", value_parser = word::<NewUser>())]
    oidc_role: NewUser,
    /// Further audiences that ID tokens may name beside the client id, separated by commas. Not needed where the claim azp
    /// is the client id
    #[arg(
        long,
        value_name = "AUDIENCES",
        env = "ROLLCALL_OIDC_TRUSTED_AUDIENCES",
        value_delimiter = ',',
        requires = "oidc_issuer",
        value_parser = trimmed(value::text)
    )]
    oidc_trusted_audiences: Vec<String>,
    /// Trust an email address even if the provider does not say that it is verified, or says that it is not. Only for a
    /// provider whose users cannot choose their address
    #[arg(long, env = "ROLLCALL_OIDC_TRUST_EMAIL", requires = "oidc_issuer", value_parser = switch())]
    oidc_trust_email: bool,
    /// The claim of the ID token, or of the UserInfo endpoint, that names a person's groups; a path is written with dots,
    /// such as realm_access.roles
    #[arg(long, value_name = "CLAIM", env = "ROLLCALL_OIDC_GROUPS_CLAIM", default_value = "groups", value_parser = trimmed(value::text))]
    oidc_groups_claim: String,
    /// Give users the role of their groups at each sign-in, and when SCIM changes a group, such as platform=admin,dev=user:
    /// the highest one, or --oidc-role without any. The roles are viewer, team_member, user, standards_admin and admin
    #[arg(
        long,
        value_name = "GROUP=ROLE",
        env = "ROLLCALL_OIDC_GROUP_ROLES",
        value_delimiter = ',',
        requires = "oidc_issuer",
        value_parser = trimmed(group_role)
    )]
    oidc_group_roles: Vec<(String, Role)>,
    /// Make users members of teams by their groups at each sign-in, and when SCIM changes a group, such as dev=payments, with
    /// the team's alias; members of these teams who are in no such group leave them
    #[arg(
        long,
        value_name = "GROUP=TEAM",
        env = "ROLLCALL_OIDC_GROUP_TEAMS",
        value_delimiter = ',',
        requires = "oidc_issuer",
        value_parser = trimmed(group_team)
    )]
    oidc_group_teams: Vec<(String, String)>,
}

/// The initial role of users without an invitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NewUser {
    /// Reads the catalogue
    Viewer,
    /// Reads and writes the catalogue
    Member,
}

impl OpenIdArgs {
    /// Returns the provider, if one is configured.
    ///
    /// # Errors
    /// Why the file with the secret cannot be read, in one sentence.
    pub fn provider(&self) -> Result<Option<OpenId>, String> {
        let (Some(issuer), Some(client_id)) = (&self.oidc_issuer, &self.oidc_client_id) else { return Ok(None) };
        let file =
            (self.oidc_client_secret_file.as_ref(), "--oidc-client-secret-file or ROLLCALL_OIDC_CLIENT_SECRET_FILE");
        let secret = Secret::given("the client secret of OpenID Connect", self.oidc_client_secret.as_ref(), file)?;
        Ok(Some(OpenId {
            issuer: issuer.clone(),
            client_id: client_id.clone(),
            client_secret: secret.map(|secret| db::Secret::new(secret.reveal().to_owned())),
            name: self.oidc_name.clone(),
            domains: self.oidc_domains.clone(),
            role: match self.oidc_role {
                NewUser::Viewer => Role::Viewer,
                NewUser::Member => Role::User,
            },
            trusted_audiences: self.oidc_trusted_audiences.clone(),
            trust_email: self.oidc_trust_email,
            groups_claim: self.oidc_groups_claim.clone(),
            group_roles: self.oidc_group_roles.clone(),
            group_teams: self.oidc_group_teams.clone(),
        }))
    }
}

/// Parses an issuer. Secrets are sent there, so it must use TLS unless it is on this machine.
fn issuer(text: &str) -> Result<String, String> {
    let is_plain = |host: &str| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\"<>\\".contains(&byte))
    };
    let is_local = ["localhost", "127.0.0.1", "[::1]"].contains(&outgoing::host(text));
    match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(host), _) if is_plain(host) => Ok(text.to_owned()),
        (_, Some(host)) if is_plain(host) && is_local => Ok(text.to_owned()),
        (_, Some(_)) => Err("it must begin with https://, unless it is on this machine".to_owned()),
        _ => Err("write it like https://login.example.com".to_owned()),
    }
}

/// Parses a group and what it gives.
fn group(text: &str) -> Result<(&str, &str), String> {
    let (group, given) = text.split_once('=').ok_or("write it like GROUP=NAME")?;
    let (group, given) = (group.trim(), given.trim());
    if group.is_empty() || given.is_empty() { Err("write it like GROUP=NAME".to_owned()) } else { Ok((group, given)) }
}

fn group_role(text: &str) -> Result<(String, Role), String> {
    let (group, role) = group(text)?;
    let known = Role::iter().find(|known| known.word() == role);
    let known = known.ok_or_else(|| {
        let words: Vec<String> = Role::iter().map(|role| role.word()).collect();
        format!("{role} is no role: the roles are {}", words.join(", "))
    })?;
    Ok((group.to_owned(), known))
}

fn group_team(text: &str) -> Result<(String, String), String> {
    let (group, team) = group(text)?;
    Ok((group.to_owned(), team.to_owned()))
}

/// Parses an email domain, or `*`.
fn domain(text: &str) -> Result<String, String> {
    let domain = text.trim_start_matches('@').to_ascii_lowercase();
    let is_plain =
        !domain.is_empty() && !domain.contains(|letter: char| letter.is_whitespace() || "@/:*".contains(letter));
    if domain == "*" || is_plain { Ok(domain) } else { Err("write it like example.com".to_owned()) }
}
