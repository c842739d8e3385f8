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
        /// Its path; an address where it is not ours.
        to: String,
        /// Cookies to set.
        cookies: Vec<String>,
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
    /// What is special about it.
    pub kind: Kind,
}

/// What is special about a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Plain,
    /// It is long the same: a browser may keep it, and asks whether it is.
    Kept,
    /// It holds an editor that writes styles into the page as it runs.
    Editor,
}

impl Answer {
    /// A page with status 200: what [`layout`](super::layout::layout) makes.
    pub fn page(document: Markup) -> Self {
        Self::with_status(200, document)
    }

    /// A page with another status.
    pub fn with_status(status: u16, document: Markup) -> Self {
        Self::Page(Page { status, html: document.into_string(), kind: Kind::Plain })
    }

    /// A page with status 200 that is special.
    pub fn special(kind: Kind, document: Markup) -> Self {
        Self::Page(Page { status: 200, html: document.into_string(), kind })
    }

    /// A form that was not understood, shown again.
    pub fn refused(document: Markup) -> Self {
        Self::with_status(422, document)
    }

    /// Another page, to be got.
    pub fn redirect(to: impl Into<String>) -> Self {
        Self::Redirect { to: to.into(), cookies: Vec::new() }
    }
}
