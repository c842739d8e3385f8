//! A column that a list may leave out cannot be read where it may be missing: the compiler refuses the method that tries.

use codegen::Bindings;
use codegen::rows::Row;

use crate::schema_edits::compile_bound;

const SDL: &str = r#"
type Query { services: ServiceConnectionType! }
type Service { name: String! note: String alias: String! link(short: Boolean): String! summary: String }
type ServiceConnectionType { nodes: [Service!]! edges: [ServiceEdge!]! pageInfo: PageInfo! totalCount: Int! }
type ServiceEdge { node: Service! cursor: String! }
type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
"#;

const BINDINGS: &str = "pub use crate::service::Service; pub struct State; fields! { Service { core: alias, link; } }";

const ENTITY: &str = r#"
pub struct Model { pub name: String, pub slug: String, pub note: Option<String> }
impl Table for Entity { const GROUPS: &'static [Omitted] = column_groups! { texts: Note; }; }
"#;

const HAND_WRITTEN: &str = r#"
#![allow(dead_code, missing_docs)]
use std::sync::Arc;
use engine::error::{Code, Error, Result};
use engine::page::{Page, PartialPage};

pub mod types {
    pub struct State;
    #[derive(Debug)]
    pub struct Service { pub name: String, pub slug: String, pub note: Option<String> }
}
pub mod schema { include!("schema.rs"); }
use schema::*;
use types::{Service, State};

impl engine::State for State {
    type Writing = State;
    async fn begin(&self, _: &str) -> Result<State> { Ok(State) }
    async fn read(&self) -> Result<State> { Ok(State) }
    async fn end(&self, _: State, _: bool) -> Result<()> { Ok(()) }
    fn report(&self, error: &Error) -> (String, Code) { (error.to_string(), Code::Internal) }
    fn lost_a_race(&self, _: &Error) -> bool { false }
    fn schema(&self) -> &Arc<engine::ValidSchema> { unreachable!() }
}
impl ServiceResolver for Service {
    fn alias(service: &impl ServiceCore) -> &str { service.slug() }
    async fn link(services: &[&impl ServiceCore], _: &ServiceLinkArgs, _: &Ctx<'_>) -> Result<Vec<String>> {
        Ok(services.iter().map(|service| format!("/{}", service.slug())).collect())
    }
    fn summary(&self) -> Option<&str> { self.note.as_deref() }
}
impl ServicesQuery for Query {
    async fn services(_: &Ctx<'_>) -> Result<ServiceConnectionType> {
        let page = PartialPage::new(Page::empty());
        Ok(page)
    }
}
"#;

/// The compiler's errors, with `old` in the hand-written code or the bindings replaced, on one line.
fn said(old: &str, new: &str) -> String {
    assert_eq!(BINDINGS.contains(old), !HAND_WRITTEN.contains(old), "{old}");
    let mut bindings = Bindings::read("types.rs", &BINDINGS.replace(old, new)).expect("the bindings parse");
    bindings.add_row("Service", Row::read("src/catalogue/entity/service.rs", ENTITY).expect("an entity"));
    let said = compile_bound(SDL, &bindings, &HAND_WRITTEN.replace(old, new));
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn methods_that_read_what_they_get_compile() {
    assert_eq!(said("core: alias, link;", "core: link, alias;"), "");
}

#[test]
fn a_method_cannot_read_a_column_of_a_group_that_it_does_not_get() {
    let alias = "fn alias(service: &impl ServiceCore) -> &str { service.slug() }";
    for (body, mistake) in [
        ("service.note().unwrap_or_default()", "no method named `note` found for reference `&impl ServiceCore`"),
        ("service.note.as_deref().unwrap_or_default()", "no field `note` on type `&impl ServiceCore`"),
    ] {
        let said = said(alias, &alias.replace("service.slug()", body));
        assert!(said.contains(mistake), "{said}");
    }
    let said = said("format!(\"/{}\", service.slug())", "format!(\"/{:?}\", service.note)");
    assert!(said.contains("no field `note` on type `&&impl ServiceCore`"), "{said}");
}

#[test]
fn a_method_that_is_declared_to_get_a_part_cannot_get_the_row() {
    let said =
        said("fn alias(service: &impl ServiceCore) -> &str { service.slug() }", "fn alias(&self) -> &str { \"\" }");
    assert!(said.contains("`alias`") && said.contains("E0185"), "{said}");
}

#[test]
fn a_method_that_follows_from_a_column_cannot_be_overridden() {
    let summary = "fn summary(&self)";
    let own = "fn note(&self) -> Option<&str> { Some(&self.name) }";
    let overridden = said(summary, &format!("{own} {summary}"));
    assert!(overridden.contains("method `note` is not a member of trait `ServiceResolver`"), "{overridden}");

    let implemented =
        said("impl ServicesQuery", &format!("impl schema::ServiceDerived for Service {{ {own} }} impl ServicesQuery"));
    assert!(implemented.contains("trait `ServiceDerived` is private"), "{implemented}");
}

#[test]
fn a_method_that_is_declared_is_written_although_a_column_fits() {
    let missing = said("core: alias, link;", "core: alias, link; row: note;");
    assert!(missing.contains("E0046") && missing.contains("fn note(&self) -> Option<&str>"), "{missing}");
    let missing = said("core: alias, link;", "core: alias, link; texts: note;");
    assert!(missing.contains("fn note(service: &impl ServiceTexts) -> Option<&str>"), "{missing}");
}

#[test]
fn nobody_looks_at_the_rows_of_a_partial_page() {
    for look in ["page.edges.len();", "page.0.edges.len();"] {
        let said = said("Ok(page)", &format!("let _ = {look} Ok(page)"));
        assert!(said.contains("E0609") || said.contains("E0616"), "{said}");
    }
}
