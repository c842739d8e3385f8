//! API documents of services. Markdown is rendered; anything else is shown as it is.

use maud::html;

use super::ask::ask;
use super::layout::below;
use super::markdown::prose;
use super::operations;
use super::operations::ServiceDocumentFormatEnum;
use super::operations::document::ServiceDocumentSource;
use super::parts::time;
use super::service_name::address;
use super::visit::Visit;
use super::{Answer, Fault, Site};
use catalogue::entity::{Timestamp, service_document};
use catalogue::graphql::field::id::Id;
use catalogue::outgoing::authority;

/// The maximum length of a shown document, in bytes. The API answers the whole document.
pub const LONGEST: usize = 256 * 1024;

/// Shows the document with this number.
pub async fn page(site: &Site, visit: &Visit, number: &str) -> Result<Answer, Fault> {
    let number: i64 = number.parse().map_err(|_| Fault::NotFound)?;
    let id = Id::new::<service_document::Entity>(number).text();
    let found = ask(site, visit, operations::Document { id: &id }).await?;
    let document = found.account.document.ok_or(Fault::NotFound)?;
    let content = document.content.as_deref().unwrap_or_default();
    let shown = &content[..content.floor_char_boundary(LONGEST)];
    let now = Timestamp::now();
    let main = html! {
        p {
            "API document of " (document.service.name)
            @match &document.source {
                Some(ServiceDocumentSource::ApiDocIntegration(source)) => { ", posted to " (source.name) },
                Some(ServiceDocumentSource::ServiceRepository(link)) => { ", read from " (link.repository.name) },
                None => @if let Some(url) = &document.service.api_document_url { ", pulled from " (authority(url)) },
            }
            @if let Some(timestamps) = &document.timestamps { " " (time(timestamps.updated_at.0, now)) }
        }
        @match document.format {
            ServiceDocumentFormatEnum::Markdown => (prose(content)),
            _ => {
                pre tabindex="0" { code { (shown) } }
                @if shown.len() < content.len() { p.hint { "This text is cut off. Use the API to read all of it." } }
            }
        }
    };
    Ok(Answer::page(below(visit, (&address(&document.service.aliases), &document.service.name), &document.title, main)))
}
