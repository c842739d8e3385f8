//! The services, a page at a time.

use maud::html;

use super::layout::layout;
use super::visit::Visit;
use super::{Answer, Fault, Site};

/// The list.
pub async fn page(_: &Site, visit: &Visit) -> Result<Answer, Fault> {
    Ok(Answer::page(layout(visit, "Services", html! {})))
}
