//! What a page returns to the visitor.

use maud::{Markup, PreEscaped};

use super::assets::Asset;
use super::csv::File;
use super::form::Mistakes;

/// An answer.
#[derive(Debug)]
pub enum Answer {
    /// A page.
    Page(Page),
    /// A redirect, followed with GET.
    Redirect {
        /// A path of ours, or the URL of another site.
        to: String,
        /// Cookies to set.
        cookies: Vec<String>,
    },
    /// A file in CSV, to be saved. It is written while it is sent.
    File(Box<File>),
    /// A static file.
    Asset(&'static Asset),
}

/// A whole page.
#[derive(Debug)]
pub struct Page {
    /// The status of the answer.
    pub status: u16,
    /// The HTML document.
    pub html: String,
    /// Its caching and security policy.
    pub policy: PagePolicy,
}

/// The caching and security policy of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagePolicy {
    /// The default.
    Plain,
    /// Rarely changes: browsers may cache it, and revalidate it by its entity tag.
    Cached,
    /// Contains the editor, which uses inline styles.
    Editor,
}

impl Answer {
    /// A page with status 200. [`layout`](super::layout::layout) builds the document.
    pub fn page(document: Markup) -> Self {
        Self::with_status(200, document)
    }

    /// A page with another status.
    pub fn with_status(status: u16, document: Markup) -> Self {
        Self::Page(Page { status, html: document.into_string(), policy: PagePolicy::Plain })
    }

    /// A page that shows the mistakes of its address, with what it understands of it.
    pub fn checked(mistakes: &Mistakes, document: Markup) -> Self {
        match mistakes.is_empty() {
            true => Self::page(document),
            false => Self::with_status(400, wrong(document)),
        }
    }

    /// A page with status 200 and another policy.
    pub fn special(policy: PagePolicy, document: Markup) -> Self {
        Self::Page(Page { status: 200, html: document.into_string(), policy })
    }

    /// A form with mistakes, shown again.
    pub fn refused(document: Markup) -> Self {
        Self::with_status(422, wrong(document))
    }

    /// A file that has begun.
    pub fn file(file: File) -> Self {
        Self::File(Box::new(file))
    }

    /// A redirect, followed with GET.
    pub fn redirect(to: impl Into<String>) -> Self {
        Self::Redirect { to: to.into(), cookies: Vec::new() }
    }
}

/// The document with a title that says that something is wrong: a screen reader reads the title first. It is the first
/// title of the document, whose pictures may have some, too.
fn wrong(document: Markup) -> Markup {
    PreEscaped(document.into_string().replacen("<title>", "<title>Error: ", 1))
}
