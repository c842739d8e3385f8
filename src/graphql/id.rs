//! Global ids: base64url without padding of `gid://rollcall/<Class>/<number>`.
//!
//! Clients tell an id from an alias by decoding it and looking for `gid://`.

use async_graphql::MaybeUndefined;
use data_encoding::BASE64URL_NOPAD;
use sea_orm::{ModelTrait, PrimaryKeyTrait};

use crate::db::{Read, Table};
use crate::engine::write::{Scalar, Writer};
use crate::entity;
use crate::error::{Result, UserError, quoted, shortened};

const SCHEME: &str = "gid://rollcall/";

/// [`SCHEME`] in base64url, which every id begins with. The scheme's length is a multiple of three, so its encoding
/// does not depend on what follows.
const SCHEME_ENCODED: &str = "Z2lkOi8vcm9sbGNhbGwv";

/// The global id of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id {
    /// The row's class, as a rule its type in the SDL.
    pub class: &'static str,
    /// The row's key.
    pub number: i64,
}

impl Id {
    /// The id of a row of `E`.
    pub fn of<E: Class>(number: i64) -> Self {
        Self { class: E::CLASS, number }
    }

    /// The id of a row `M`.
    pub fn of_row<M: ModelTrait<Entity: Class>>(number: i64) -> Self {
        Self::of::<M::Entity>(number)
    }

    /// The id as clients see it.
    pub fn text(&self) -> String {
        BASE64URL_NOPAD.encode(format!("{SCHEME}{}/{}", self.class, self.number).as_bytes())
    }
}

impl Scalar for Id {
    fn write(&self, out: &mut Writer<'_>) {
        let mut plain = [0; 64];
        let mut length = 0;
        for part in [self.class, "/", itoa::Buffer::new().format(self.number)] {
            plain[length..length + part.len()].copy_from_slice(part.as_bytes());
            length += part.len();
        }
        let mut text = [0; 86];
        let text = &mut text[..BASE64URL_NOPAD.encode_len(length)];
        BASE64URL_NOPAD.encode_mut(&plain[..length], text);
        out.raw("\"");
        out.raw(SCHEME_ENCODED);
        out.text().extend_from_slice(text);
        out.raw("\"");
    }
}

/// A table whose rows have global ids.
pub trait Class: Table {
    /// The class in the id.
    const CLASS: &'static str;
    /// The noun for a row in messages.
    const NOUN: &'static str;
}

macro_rules! classes {
    ($($entity:ident => $class:literal, $noun:literal;)*) => {
        $(impl Class for entity::$entity::Entity {
            const CLASS: &'static str = $class;
            const NOUN: &'static str = $noun;
        })*
    };
}

classes! {
    service => "Service", "service";
    tag => "Tag", "tag";
    team => "Team", "team";
    user => "User", "user";
    system => "System", "system";
    domain => "Domain", "domain";
    infrastructure_resource => "InfrastructureResource", "infrastructure resource";
    component_type => "ComponentType", "component type";
    tool => "Tool", "tool";
    level => "Level", "level";
    category => "Category", "category";
    contact => "Contact", "contact";
    property_definition => "PropertyDefinition", "property definition";
    property => "Property", "property";
    service_dependency => "ServiceDependency", "dependency";
    relationship => "Relationship", "relationship";
    relationship_definition => "RelationshipDefinition", "relationship definition";
    tier => "Tier", "tier";
    lifecycle => "Lifecycle", "lifecycle";
    repository => "Repository", "repository";
    service_repository => "ServiceRepository", "link between a service and a repository";
    integration => "Integration", "integration";
    code_issue_project => "CodeIssueProject", "code issue project";
    code_issue => "CodeIssue", "code issue";
    deploy => "Deploy", "deploy";
    suggestion => "ServiceSuggestion", "suggestion";
    service_document => "ServiceDocument", "API document";
    filter => "Filter", "filter";
    on_call => "OnCall", "entry of who is on call";
    alert_source => "AlertSource", "alert source";
    alert_source_service => "AlertSourceService", "link between an alert source and a service";
}

/// Decodes a global id into its class and number. Returns `None` if the text is not a global id.
pub fn decode(text: &str) -> Option<(String, i64)> {
    let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
    let plain = String::from_utf8(bytes).ok()?;
    let (class, number) = plain.strip_prefix(SCHEME)?.split_once('/')?;
    let parsed: i64 = number.parse().ok()?;
    // Refuse signs and leading zeros, so that each row has exactly one id.
    (parsed > 0 && parsed.to_string() == number).then(|| (class.to_owned(), parsed))
}

/// Decodes the id of a row of `E`. Returns `None` if the id is malformed or of another class.
pub fn number<E: Class>(text: &str) -> Option<i64> {
    decode(text).filter(|(class, _)| class == E::CLASS).map(|(_, number)| number)
}

/// Returns the id in a required argument.
pub fn argument(id: &MaybeUndefined<String>) -> Result<&str> {
    Ok(id.value().ok_or_else(|| UserError::new("id", "id must be given"))?)
}

/// Finds the row with this id. For queries, which answer null if there is none.
pub async fn find<E>(db: &impl Read, text: &str) -> Result<Option<E::Model>>
where
    E: Class,
    E::PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
{
    match number::<E>(text) {
        Some(number) => Ok(db.one(E::find_by_id(number)).await?),
        None => Ok(None),
    }
}

/// Finds the row with this id. For mutations: the error is about `field` and says why there is no row.
pub async fn require<E>(db: &impl Read, text: &str, field: &'static str) -> Result<E::Model>
where
    E: Class,
    E::PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
{
    Ok(find::<E>(db, text).await?.ok_or_else(|| missing::<E>(text, field))?)
}

/// Creates the error about `field` for an id that no row of `E` has. It says why.
pub fn missing<E: Class>(text: &str, field: &'static str) -> UserError {
    let message = match number::<E>(text) {
        Some(_) => format!("there is no {} with this id", E::NOUN),
        None => stray(text, E::NOUN),
    };
    UserError::new(field, message).not_found()
}

/// The message for an id that is not that of a `noun`.
pub fn stray(text: &str, noun: &str) -> String {
    let noun = with_article(noun);
    match decode(text) {
        Some((class, _)) => format!("this is the id of {}, not of {noun}", shortened(&with_article(&class))),
        None => format!("{} is not a valid id", quoted(text)),
    }
}

/// "a service", "an integration".
fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" };
    format!("{article} {noun}")
}
