//! The settings of signing in at an OpenID provider.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::entity::user::Role;

/// Signing in at an OpenID provider.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "OpenID Connect")]
pub struct OpenIdArgs {
    /// Let people sign in at this OpenID provider: its issuer, exactly as it calls itself. There register a web application
    /// with the redirect address APP_URL/sign-in/openid/callback
    #[arg(
        long = "oidc-issuer",
        value_name = "URL",
        env = "ROLLCALL_OIDC_ISSUER",
        requires = "oidc_client_id",
        value_parser = issuer
    )]
    oidc_issuer: Option<String>,
    /// The id that the provider gave to this installation
    #[arg(long, value_name = "ID", env = "ROLLCALL_OIDC_CLIENT_ID", requires = "oidc_issuer")]
    oidc_client_id: Option<String>,
    /// The secret that the provider gave with it, where it gave one
    #[arg(
        long,
        value_name = "SECRET",
        env = "ROLLCALL_OIDC_CLIENT_SECRET",
        hide_env_values = true,
        requires = "oidc_issuer"
    )]
    oidc_client_secret: Option<Secret>,
    /// A file that holds the secret, to keep it out of the command line and the environment
    #[arg(
        long,
        value_name = "FILE",
        env = "ROLLCALL_OIDC_CLIENT_SECRET_FILE",
        requires = "oidc_issuer",
        conflicts_with = "oidc_client_secret"
    )]
    oidc_client_secret_file: Option<PathBuf>,
    /// What people call the provider: the button says "Sign in with NAME"
    #[arg(long, value_name = "NAME", env = "ROLLCALL_OIDC_NAME", default_value = "single sign-on")]
    oidc_name: String,
    /// Make a user of whoever signs in with an address at one of these domains, commas between them; * is any. Others must
    /// have been invited [default: none]
    #[arg(
        long,
        value_name = "DOMAINS",
        env = "ROLLCALL_OIDC_DOMAINS",
        value_delimiter = ',',
        requires = "oidc_issuer",
        value_parser = domain
    )]
    oidc_domains: Vec<String>,
    /// What a user who is made so may do
    #[arg(long, value_name = "ROLE", env = "ROLLCALL_OIDC_ROLE", default_value = "viewer")]
    oidc_role: NewUser,
    /// Believe an address of which the provider does not say that it is verified: only for a provider whose users cannot
    /// choose it themselves
    #[arg(long, env = "ROLLCALL_OIDC_TRUST_EMAIL", requires = "oidc_issuer")]
    oidc_trust_email: bool,
}

/// What somebody who was not invited may be at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NewUser {
    /// Reads the catalogue
    Viewer,
    /// Reads and writes the catalogue
    Member,
}

/// An OpenID provider, and who may sign in there.
#[derive(Debug, Clone)]
pub struct OpenId {
    /// The provider, as it calls itself.
    pub issuer: String,
    /// What it calls us.
    pub client_id: String,
    /// What it knows us by.
    pub client_secret: Option<Secret>,
    /// What people call it.
    pub name: String,
    /// The domains, in lower case, whose people need no invitation; `*` is any.
    pub domains: Vec<String>,
    /// What these people may do at first.
    pub role: Role,
    /// Whether an address counts of which the provider does not say whether it is verified.
    pub trust_email: bool,
}

impl OpenIdArgs {
    /// The provider, where there is one.
    ///
    /// # Errors
    /// A sentence, when the file that should hold the secret cannot be read.
    pub fn provider(&self) -> Result<Option<OpenId>, String> {
        let (Some(issuer), Some(client_id)) = (&self.oidc_issuer, &self.oidc_client_id) else { return Ok(None) };
        let client_secret = match &self.oidc_client_secret_file {
            None => self.oidc_client_secret.clone(),
            Some(file) => {
                let text = fs::read_to_string(file).map_err(|error| {
                    format!("the client secret of OpenID Connect cannot be read from {}: {error}", file.display())
                })?;
                Some(Secret(text.trim().to_owned()))
            }
        };
        Ok(Some(OpenId {
            issuer: issuer.clone(),
            client_id: client_id.clone(),
            client_secret: client_secret.filter(|secret| !secret.0.is_empty()),
            name: self.oidc_name.clone(),
            domains: self.oidc_domains.clone(),
            role: match self.oidc_role {
                NewUser::Viewer => Role::Viewer,
                NewUser::Member => Role::User,
            },
            trust_email: self.oidc_trust_email,
        }))
    }
}

/// A text that can be used, but not shown.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// The text, to be used.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Reads an issuer. What is sent there is secret, so it must be encrypted, unless it stays on this machine.
fn issuer(text: &str) -> Result<String, String> {
    let is_plain = |host: &str| {
        !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#\"<>\\".contains(&byte))
    };
    let stays = |host: &str| {
        let name = host.split('/').next().unwrap_or_default();
        let name = name
            .rsplit_once(':')
            .filter(|(_, port)| port.bytes().all(|digit| digit.is_ascii_digit()))
            .map_or(name, |(name, _)| name);
        ["localhost", "127.0.0.1", "[::1]"].contains(&name)
    };
    match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(host), _) if is_plain(host) => Ok(text.to_owned()),
        (_, Some(host)) if is_plain(host) && stays(host) => Ok(text.to_owned()),
        (_, Some(_)) => Err("it must begin with https://, unless it is on this machine".to_owned()),
        _ => Err("write it like https://login.example.com".to_owned()),
    }
}

/// Reads a domain of addresses, or `*`.
fn domain(text: &str) -> Result<String, String> {
    let domain = text.trim().trim_start_matches('@').to_ascii_lowercase();
    let is_plain =
        !domain.is_empty() && !domain.contains(|letter: char| letter.is_whitespace() || "@/:*".contains(letter));
    if domain == "*" || is_plain { Ok(domain) } else { Err("write it like example.com".to_owned()) }
}
