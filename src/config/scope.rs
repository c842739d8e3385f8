//! The scopes of a token, as the command line names them.

use clap::ValueEnum;

use crate::entity::token;

/// What a token may do.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Scope {
    /// Queries
    Read,
    /// Also mutations that change the catalogue
    Write,
    /// Also mutations that change users and their roles
    Admin,
    /// Users and groups by SCIM, and nothing else
    Scim,
}

impl From<Scope> for token::Scope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::Read => Self::Read,
            Scope::Write => Self::Write,
            Scope::Admin => Self::Admin,
            Scope::Scim => Self::Scim,
        }
    }
}
