//! The scopes of a token, as the command line names them.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::entity::token::Scope;

impl ValueEnum for Scope {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Read, Self::Write, Self::Admin, Self::Scim]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Unknown => return None,
            Self::Read => PossibleValue::new("read").help("Queries"),
            Self::Write => PossibleValue::new("write").help("Also mutations that change the catalogue"),
            Self::Admin => PossibleValue::new("admin").help("Also mutations that change users and their roles"),
            Self::Scim => PossibleValue::new("scim").help("Users and groups by SCIM, and nothing else"),
        })
    }
}
