//! API documents: what one is written in, what it calls itself, and how it is stored. Pipelines post them; [`pull`] reads
//! them from a URL.
//!
//! Invariants: a document is parsed before the transaction that stores it begins, so no write waits for the parser. The
//! transaction locks its service first, so two documents for one service follow each other.

pub mod hosts;
pub mod pull;

use futures_util::future::BoxFuture;
use sea_orm::sea_query::{LockType, OnConflict};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, Set};
use serde::Deserialize;
use tokio::task::spawn_blocking;

use crate::db::{self, Db, Read, ReadHandle, Transaction, Write};
use crate::entity::service_document::{self as document, Column, Format};
use crate::entity::{ByAlias, Timestamp, integration, service, service_document_content as content, text};

/// The size in bytes above which a document is described on a thread of its own.
const SMALL: usize = 16 << 10;

/// What is read of an OpenAPI or AsyncAPI document.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Head {
    openapi: Option<serde::de::IgnoredAny>,
    swagger: Option<serde::de::IgnoredAny>,
    asyncapi: Option<serde::de::IgnoredAny>,
    info: Info,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Info {
    title: Option<String>,
}

/// What a post came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// The service had no document of this endpoint.
    Created,
    /// It had one, which is replaced.
    Replaced,
    /// No service has the alias.
    NoService,
    /// The endpoint was deleted in the meantime.
    EndpointGone,
}

/// Returns the text of a document, or what is wrong with it, as the rest of a sentence about the document.
pub fn text_of(body: &[u8]) -> Result<String, &'static str> {
    match std::str::from_utf8(body) {
        Err(_) => Err("is not UTF-8"),
        // PostgreSQL cannot store NUL.
        Ok(text) if text.contains('\0') => Err("has a NUL character"),
        Ok(text) => Ok(text.to_owned()),
    }
}

/// What a document is written in, and what it calls itself, from its text. A text that is nothing else is Markdown.
pub fn describe(document: &str) -> (Format, Option<String>) {
    let start = document.trim_start();
    let head: Option<Head> = match start.starts_with('{') {
        true => serde_json::from_str(document).ok(),
        // Text that is no YAML, or whose first lines name no format, is not read as a whole.
        false if names_a_format(document) => serde_saphyr::from_str(document).ok(),
        false => None,
    };
    let titled = |head: Head| head.info.title.map(|title| shortened(&title)).filter(|title| !title.is_empty());
    match head {
        Some(head) if head.asyncapi.is_some() => (Format::AsyncApi, titled(head)),
        Some(head) if head.openapi.is_some() || head.swagger.is_some() => (Format::OpenApi, titled(head)),
        _ if is_sdl(document) => (Format::GraphQl, None),
        _ => {
            let heading = document.lines().find_map(|line| line.strip_prefix("# "));
            (Format::Markdown, heading.map(shortened).filter(|title| !title.is_empty()))
        }
    }
}

/// A document and what [`describe`] says of it.
struct Described {
    text: String,
    format: Format,
    title: Option<String>,
}

impl Described {
    /// Describes a document. Blocks while it is parsed.
    fn parse(text: String) -> Self {
        let (format, title) = describe(&text);
        Self { text, format, title }
    }

    /// The same, without blocking for long.
    async fn parse_in_background(text: String) -> Result<Self, db::Error> {
        if text.len() <= SMALL {
            return Ok(Self::parse(text));
        }
        let described = spawn_blocking(move || Self::parse(text)).await;
        described.map_err(|error| db::Error::fault(format!("an API document was not parsed: {error}")))
    }
}

/// Whether a line begins with the key that names OpenAPI or AsyncAPI.
fn names_a_format(document: &str) -> bool {
    let keys = ["openapi:", "swagger:", "asyncapi:", "\"openapi\":", "\"swagger\":", "\"asyncapi\":"];
    document.lines().any(|line| keys.iter().any(|key| line.starts_with(key)))
}

/// Whether a line begins a definition of GraphQL's schema language.
fn is_sdl(document: &str) -> bool {
    let mut lines = document.lines().map(str::trim_end);
    lines.any(|line| {
        let named =
            ["type ", "extend type ", "interface ", "input ", "union "].iter().any(|word| line.starts_with(word));
        (named && (line.ends_with('{') || line.contains('='))) || line == "schema {"
    })
}

/// A title of at most as many characters as names have.
fn shortened(title: &str) -> String {
    text::cleaned(title, text::SHORT)
}

/// Stores the document of a service, in the place of the one that was posted to the endpoint before.
pub fn store<'f>(db: &'f Db, endpoint: i64, alias: &'f str, text: String) -> BoxFuture<'f, Result<Stored, db::Error>> {
    Box::pin(async move {
        // Before the transaction begins, so that no write waits for the parser.
        let described = Described::parse_in_background(text).await?;
        db.write(async |transaction| {
            // Two posts for one service follow each other.
            let service = service::Entity::by_alias(&transaction.locking(LockType::NoKeyUpdate), alias).await?;
            let Some(service) = service else { return Ok(Stored::NoService) };
            if integration::lock_present(transaction, &[endpoint]).await?.is_empty() {
                return Ok(Stored::EndpointGone);
            }
            let known = find(transaction, service.id, Some(endpoint)).await?;
            let outcome = if known.is_some() { Stored::Replaced } else { Stored::Created };
            put(transaction, &service, Some(endpoint), known, described).await?;
            Ok(outcome)
        })
        .await
    })
}

/// Stores the pulled document of a service that the transaction has locked.
async fn put_pulled(
    transaction: &Transaction,
    service: &service::Model,
    described: Described,
) -> Result<(), db::Error> {
    let known = find(transaction, service.id, None).await?;
    put(transaction, service, None, known, described).await
}

/// Whether this is the text of the document with this id.
async fn is_text_of(db: &dyn ReadHandle, document_id: i64, text: &str) -> Result<bool, db::Error> {
    let content = db.one(content::Entity::find().filter(content::Column::DocumentId.eq(document_id))).await?;
    Ok(content.is_some_and(|content| content.content == text))
}

/// Finds the document of a service: the one of an integration, or the pulled one.
async fn find(
    transaction: &Transaction,
    service_id: i64,
    integration_id: Option<i64>,
) -> Result<Option<document::Model>, db::Error> {
    let source = match integration_id {
        Some(id) => Column::IntegrationId.eq(id),
        None => Column::IntegrationId.is_null(),
    };
    transaction.one(document::Entity::find().filter(Column::ServiceId.eq(service_id)).filter(source)).await
}

/// Stores the document of a service that the transaction has locked, in the place of `known`.
async fn put(
    transaction: &Transaction,
    service: &service::Model,
    integration_id: Option<i64>,
    known: Option<document::Model>,
    Described { text, format, title }: Described,
) -> Result<(), db::Error> {
    let title = title.unwrap_or_else(|| service.name.clone());
    let now = Timestamp::now();
    let stored = match known {
        Some(known) => {
            let row = document::ActiveModel {
                title: Set(title),
                format: Set(format),
                updated_at: Set(Timestamp::now_after(known.updated_at)),
                ..known.into()
            };
            transaction.update(row).await?
        }
        None => {
            let row = document::ActiveModel {
                service_id: Set(service.id),
                integration_id: Set(integration_id),
                title: Set(title),
                format: Set(format),
                created_at: Set(now),
                updated_at: Set(now),
                ..Default::default()
            };
            transaction.insert(row).await?
        }
    };
    let row = content::ActiveModel { document_id: Set(stored.id), content: Set(text), ..Default::default() };
    let has_one = OnConflict::column(content::Column::DocumentId).update_column(content::Column::Content).to_owned();
    transaction.exec(content::Entity::insert(row).on_conflict(has_one)).await.map(drop)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::{Described, Format, SMALL, describe};

    #[test]
    fn a_document_says_what_it_is() {
        for (text, format, title) in [
            ("{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"Cart\"}}", Format::OpenApi, Some("Cart")),
            (
                "openapi: 3.0.3\ninfo:\n  title: ' Cart API '\n  version: '1'\npaths: {}\n",
                Format::OpenApi,
                Some("Cart API"),
            ),
            ("swagger: '2.0'\ninfo: {title: Old}\n", Format::OpenApi, Some("Old")),
            ("asyncapi: 3.0.0\ninfo:\n  title: Events\n", Format::AsyncApi, Some("Events")),
            ("\"\"\"Doc\"\"\"\ntype Query {\n  cart: Cart\n}\n", Format::GraphQl, None),
            ("# The cart\n\nopenapi is what it is not\n", Format::Markdown, Some("The cart")),
            ("{\"openapi\": broken", Format::Markdown, None),
            ("openapi: [\n", Format::Markdown, None),
            ("", Format::Markdown, None),
        ] {
            assert_eq!(describe(text), (format, title.map(str::to_owned)), "{text}");
        }
    }

    #[tokio::test]
    async fn a_long_document_is_described_on_a_thread_of_its_own() {
        let short =
            Described::parse_in_background("# Short".to_owned()).now_or_never().expect("at once").expect("a document");
        assert_eq!(short.title.as_deref(), Some("Short"));
        let mut long = Box::pin(Described::parse_in_background(format!("# Long\n{}", "a".repeat(SMALL))));
        assert!((&mut long).now_or_never().is_none(), "it blocks");
        assert_eq!(long.await.expect("a document").title.as_deref(), Some("Long"));
    }
}
