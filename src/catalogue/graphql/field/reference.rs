//! Scalars that name something in more than one way, because clients do.

use async_graphql::{MaybeUndefined, Value};

use super::id;
use super::identifier::{self, Identifier, given};
use crate::db::ReadHandle;
use crate::engine::input::{self, Input, InputError};
use crate::entity::service;
use crate::error::Result;
use crate::graphql::schema::{EventIntegrationEnum, IdentifierInput, IntegrationTypeEnum};
use crate::graphql::types::Service;

/// A service: its id or alias as text, or an `IdentifierInput`.
#[derive(Debug, Clone, PartialEq)]
pub enum ServiceReference {
    /// Its id or alias.
    Text(String),
    /// Its id, or its alias.
    Named(IdentifierInput),
}

impl Input for ServiceReference {
    fn read(value: &Value) -> Result<Self, InputError> {
        match value {
            Value::Object(_) => IdentifierInput::read(value).map(Self::Named),
            Value::String(_) | Value::Number(_) => String::read(value).map(Self::Text),
            _ => Err(InputError::new("expected the id or an alias of a service, or an object with one of the two")),
        }
    }
}

impl ServiceReference {
    /// Returns the key of the service. `None` if there is no such service.
    pub(in crate::graphql) async fn key(&self, db: &dyn ReadHandle) -> Result<Option<i64>> {
        let by_text;
        let identifier = match self {
            Self::Text(text) if text.is_empty() => return Ok(None),
            Self::Text(text) => {
                by_text = IdentifierInput { id: MaybeUndefined::Value(text.clone()), alias: MaybeUndefined::Undefined };
                &by_text
            }
            Self::Named(identifier) => identifier,
        };
        if let Some((class, number)) = given(&identifier.id).and_then(id::decode)
            && given(&identifier.alias).is_none()
        {
            return Ok((class == <service::Entity as id::Class>::CLASS).then_some(number));
        }
        let found = identifier::find::<Service>(db, Identifier::from_input(identifier)?).await?;
        Ok(found.map(|service| service.id))
    }
}

/// The type of an integration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntegrationTypeName {
    /// A kind.
    Kind(IntegrationTypeEnum),
    /// Integrations that receive the events of one system.
    Event(EventIntegrationEnum),
    /// A type that no integration has here.
    Elsewhere,
}

/// The types of integrations that other catalogues have.
const ELSEWHERE: [&str; 22] = [
    "azureDevops",
    "backstage",
    "bitbucket",
    "check",
    "datadog",
    "fivetran",
    "generic",
    "github",
    "gitlab",
    "gitlabSelfManaged",
    "incidentIo",
    "incidentNotifying",
    "jira",
    "jiraSoftware",
    "monitoring",
    "onCall",
    "opsgenie",
    "pagerduty",
    "payload",
    "scim",
    "slack",
    "sourceControl",
];

impl Input for IntegrationTypeName {
    fn read(value: &Value) -> Result<Self, InputError> {
        const EXPECTED: &str = "expected the type of an integration, such as deploy, custom, aws or \"aws ecr\"";
        let word = input::word(value).ok_or_else(|| InputError::new(EXPECTED))?;
        let joined = joined(word);
        // As the word is written, and as its parts make a word of the SDL.
        for word in [word, &*joined] {
            if let Some(kind) = IntegrationTypeEnum::from_word(word) {
                return Ok(Self::Kind(kind));
            }
            if let Some(event) = EventIntegrationEnum::from_word(word) {
                return Ok(Self::Event(event));
            }
        }
        let is_elsewhere = ELSEWHERE.iter().any(|known| known.eq_ignore_ascii_case(&joined));
        if is_elsewhere { Ok(Self::Elsewhere) } else { Err(InputError::new(EXPECTED)) }
    }
}

/// Joins the parts of a word that blanks or signs separate: `api_doc`, `API doc` and `ApiDoc` become `apiDoc`.
fn joined(word: &str) -> String {
    let mut joined = String::with_capacity(word.len());
    for part in word.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        let is_upper = part.bytes().all(|letter| !letter.is_ascii_lowercase());
        let part = if is_upper { part.to_ascii_lowercase() } else { part.to_owned() };
        let (first, rest) = part.split_at(1);
        let first = if joined.is_empty() { first.to_ascii_lowercase() } else { first.to_ascii_uppercase() };
        joined.extend([&*first, rest]);
    }
    joined
}
