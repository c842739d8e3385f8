//! What goes back to a visitor.

use maud::Markup;

use super::assets::Asset;

/// An answer.
#[derive(Debug)]
pub enum Answer {
    /// A page.
    Page(Page),
    /// Another page, to be got.
    Redirect {
        /// Its path.
        to: String,
        /// A cookie to set.
        cookie: Option<String>,
    },
    /// A file that belongs to the pages.
    Asset(&'static Asset),
}

/// A whole page.
#[derive(Debug)]
pub struct Page {
    /// The status of the answer.
    pub status: u16,
    /// The document.
    pub html: String,
}

impl Answer {
    /// A page with status 200: what [`layout`](super::layout::layout) makes.
    pub fn page(document: Markup) -> Self {
        Self::with_status(200, document)
    }

    /// A page with another status.
    pub fn with_status(status: u16, document: Markup) -> Self {
        Self::Page(Page { status, html: document.into_string() })
    }

    /// A form that was not understood, shown again.
    pub fn refused(document: Markup) -> Self {
        Self::with_status(422, document)
    }

    /// Another page, to be got.
    pub fn redirect(to: impl Into<String>) -> Self {
        Self::Redirect { to: to.into(), cookie: None }
    }
}
