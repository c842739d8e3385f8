//! Global ids: base64url without padding of `gid://rollcall/<Class>/<number>`.
//!
//! Clients tell an id from an alias by decoding it and looking for `gid://`.

use async_graphql::MaybeUndefined;
use data_encoding::BASE64URL_NOPAD;
use sea_orm::{ModelTrait, PrimaryKeyTrait};

use crate::db::{self, Read, ReadHandle, Table};
use crate::engine::write::{Scalar, Writer};
use crate::entity::field_rule::Reference;
use crate::entity::global_id::{self, SCHEME};
use crate::entity::{self, ByAlias};
use crate::error::{Result, UserError, quoted, shortened};

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
    pub fn new<E: Class>(number: i64) -> Self {
        Self { class: E::CLASS, number }
    }

    /// The id of a row `M`.
    pub fn of_row<M: ModelTrait<Entity: Class>>(number: i64) -> Self {
        Self::new::<M::Entity>(number)
    }

    /// The id as clients see it.
    pub fn text(&self) -> String {
        global_id::text(self.class, self.number)
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

/// A table whose rows have global ids. The generator lists these: see [`called!`](crate::entity) for other words than those
/// that follow.
pub trait Class: Table {
    /// The class in the id.
    const CLASS: &'static str;
    /// The noun for a row in messages.
    const NOUN: &'static str;
    /// What a client can give instead of the id, such as an alias.
    const CALLED_BY: Option<&'static str>;

    /// Finds the row that has this name, which a client gave instead of the id.
    fn called(db: &dyn ReadHandle, name: &str) -> impl Future<Output = Result<Option<Self::Model>, db::Error>> + Send;
}

macro_rules! classes {
    ($($entity:ident => $class:literal, $noun:literal $(, $by:ident)?;)*) => {
        $(impl Class for entity::$entity::Entity {
            const CLASS: &'static str = $class;
            const NOUN: &'static str = $noun;
            classes!(name $entity $($by)?);
        })*
    };
    (name $entity:ident) => {
        const CALLED_BY: Option<&'static str> = None;

        async fn called(_: &dyn ReadHandle, _: &str) -> Result<Option<Self::Model>, db::Error> {
            Ok(None)
        }
    };
    (name $entity:ident alias) => {
        const CALLED_BY: Option<&'static str> = Some(<Self as ByAlias>::CALLED);

        async fn called(db: &dyn ReadHandle, name: &str) -> Result<Option<Self::Model>, db::Error> {
            Self::by_alias(db, name).await
        }
    };
}

entity::ids!(classes);

/// Decodes a global id into its class and number. Returns `None` if the text is not a global id.
///
/// Some clients keep ids in plain text, `gid://NAME/Team/1`, whatever NAME their program wrote.
pub fn decode(text: &str) -> Option<(String, i64)> {
    let (class, number) = match text.strip_prefix("gid://") {
        Some(plain) => plain.split_once('/')?.1.split_once('/').map(|(class, number)| (class.to_owned(), number))?,
        None => {
            let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
            let plain = String::from_utf8(bytes).ok()?;
            let (class, number) = plain.strip_prefix(SCHEME)?.split_once('/')?;
            return parsed(number).map(|number| (class.to_owned(), number));
        }
    };
    parsed(number).map(|number| (class, number))
}

/// Reads the number of an id. Refuses signs and leading zeros, so that a row has one id.
fn parsed(number: &str) -> Option<i64> {
    let parsed: i64 = number.parse().ok()?;
    (parsed > 0 && parsed.to_string() == number).then_some(parsed)
}

/// Decodes the id of a row of `E`. Returns `None` if the id is malformed or of another class.
pub fn number<E: Class>(text: &str) -> Option<i64> {
    decode(text).filter(|(class, _)| class == E::CLASS).map(|(_, number)| number)
}

/// Returns the id in a required argument.
pub fn argument(id: &MaybeUndefined<String>) -> Result<&str> {
    Ok(id.value().ok_or_else(|| UserError::new("id", "id must be given"))?)
}

/// Finds the row with this id. A text that is no id at all is taken for the row's name. For queries, which answer null if
/// there is none.
pub async fn find<E>(db: &dyn ReadHandle, text: &str) -> Result<Option<E::Model>>
where
    E: Class,
    E::PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
{
    match decode(text) {
        Some((class, number)) if class == E::CLASS => Ok(db.one(E::find_by_id(number)).await?),
        Some(_) => Ok(None),
        None => Ok(E::called(db, text).await?),
    }
}

/// Finds the row with this id or name. For mutations: the error is about `field` and says why there is no row.
pub async fn require<E>(db: &dyn ReadHandle, text: &str, field: &'static str) -> Result<E::Model>
where
    E: Class,
    E::PrimaryKey: PrimaryKeyTrait<ValueType = i64>,
{
    Ok(find::<E>(db, text).await?.ok_or_else(|| missing::<E>(text, field))?)
}

/// Creates the error about `field` for an id that no row of `E` has. It says why.
pub fn missing<E: Class>(text: &str, field: &'static str) -> UserError {
    let message = match (decode(text), E::CALLED_BY) {
        (Some((class, _)), _) if class == E::CLASS => absent(&format!("{} with this id", E::NOUN)),
        (None, Some(name)) => absent(&format!("{} with the id or {name} {}", E::NOUN, quoted(text))),
        _ => stray(text, E::NOUN),
    };
    UserError::new(field, message).not_found()
}

/// The message for an id that is not that of a `noun`.
pub fn stray(text: &str, noun: &str) -> String {
    let absent = absent(&format!("{noun} with this id"));
    match decode(text) {
        Some((class, _)) => format!("{absent}: it is the id of {}", shortened(&with_article(&class))),
        None => format!("{absent}: {} is not a valid id", quoted(text)),
    }
}

/// The error about `field` for a name that no row has.
pub fn missing_name(field: &'static str, to: Reference, name: &str) -> UserError {
    let (noun, called) = to.words();
    UserError::new(field, absent(&format!("{noun} with the {called} {}", quoted(name)))).not_found()
}

/// The error about `field` for a text that is neither the id nor the name of a `noun`.
pub fn absent_name(field: &'static str, noun: &str, text: &str) -> UserError {
    UserError::new(field, absent(&format!("{noun} with the id or alias {}", quoted(text)))).not_found()
}

/// The message that something does not exist. Scripts look for these words.
pub fn absent(what: &str) -> String {
    format!("{} does not exist on this account", with_article(what))
}

/// "a service", "an integration".
fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" };
    format!("{article} {noun}")
}
