//! The application: server-rendered pages that work without scripts.
//!
//! A request arrives as a [`Visit`], plain data, and a page returns an [`Answer`]; `http/` handles HTTP. Each page has
//! its own file and shares the frame of [`layout`]. Pages read and change the catalogue through our own GraphQL API
//! ([`ask`]), so that every rule exists once. Only what the API does not offer (tokens, sessions, the audit) comes from
//! the entities.
//!
//! Invariant: nothing here knows HTTP, the command line or the environment: those are in the crate `rollcall`, above.

use std::sync::Arc;

use catalogue::db::{self, Db};
use catalogue::entity::user::Role;
use catalogue::error::Error;
use catalogue::graphql::Catalogue;
use catalogue::graphql::request::places::Places;
use futures_util::future::BoxFuture;
use maud::Markup;

mod account;
mod all_deploys;
pub mod answer;
mod ask;
pub mod assets;
pub mod attempt;
mod audit;
mod campaign_form;
mod campaigns;
mod check_form;
mod check_preview;
mod cloud;
mod contact_form;
pub mod cookie;
pub mod csv;
mod custom;
mod definitions;
mod deliveries;
mod delivery;
mod delivery_figures;
mod dependency_form;
mod deploy_filter;
mod deploys;
mod documents;
mod error_page;
mod event_check;
mod event_form;
mod events;
mod explorer;
mod facts;
pub mod feeds;
mod fields;
pub mod form;
mod glance;
mod graph;
mod group_form;
pub mod group_mapping;
mod groups;
mod history;
mod home;
mod infrastructure;
mod integrations;
mod issues;
pub mod lacks;
mod layout;
pub mod limits;
mod manual;
mod markdown;
mod names;
mod offers;
mod on_call;
mod on_call_form;
pub mod openid;
pub mod openid_settings;
mod operations;
mod parts;
mod people;
mod person;
mod picker;
mod plot;
mod properties;
mod property_form;
mod reading;
mod reference;
pub mod refusals;
mod relationships;
mod repositories;
mod repository_form;
mod revert;
mod rights;
mod roles;
mod routes;
mod schema_form;
mod schema_words;
mod scope;
mod scorecard_form;
mod scorecards;
mod search;
mod service;
mod service_form;
mod service_list;
mod service_name;
mod service_parts;
mod services;
mod services_change;
mod sessions;
pub mod sign_in;
mod snippets;
mod standard_parts;
mod standards;
mod standing;
mod suggestions;
mod team_form;
mod team_leaving;
mod team_now;
mod team_tree;
mod teams;
mod tokens;
mod tool_form;
mod trail;
mod users;
pub mod visit;
mod waiting;
mod words;

pub use answer::{Answer, Page, PagePolicy};
pub use csv::File;
pub use error_page::{Visitor, lacking_role, no_such_page, not_own, refusal, rejection, unknown_alias};
use openid::Provider;
use reference::Reference;
use refusals::Refusals;
pub use routes::owns;
pub use visit::{Fields, Method, Session, Visit};
use waiting::Waiting;

/// The state shared by all pages. Cheap to clone.
#[derive(Clone)]
pub struct Site {
    db: Db,
    catalogue: Catalogue,
    reference: Arc<Reference>,
    /// The places of what pages read beside the API.
    places: Arc<Places>,
    waiting: Arc<Waiting>,
    /// Records refused attempts in the audit.
    pub refusals: Arc<Refusals>,
    openid: Option<Provider>,
}

/// Why a page is not shown.
#[derive(Debug)]
pub enum Fault {
    /// There is no such page, or it names something that does not exist.
    NotFound,
    /// No object of this kind, such as `service`, has this alias.
    UnknownAlias(&'static str, String),
    /// The list has no page where the address says that one begins.
    NoSuchPage,
    /// The visitor is not signed in.
    SignInFirst,
    /// The user's role is too low. Holds the role that is needed.
    Forbidden(Role),
    /// It is about something that others own. Says whose.
    NotOwn(Markup),
    /// The request is invalid, for the given reason.
    BadRequest(String),
    /// The page exceeds the limits on time or memory, for the given reason.
    TooMuch(String),
    /// The server is too busy, for the given reason.
    Busy(&'static str),
    /// An internal error. The cause is logged and never shown.
    Internal(String),
}

impl Fault {
    /// The fault for an alias that nothing has. `noun` is the kind of object: service, team, system or domain.
    fn unknown(noun: &'static str, alias: &str) -> Self {
        Self::UnknownAlias(noun, alias.to_owned())
    }

    /// Turns `NotFound` into the fault for this alias: the API answers an error for an unknown team, system or domain.
    fn for_alias(self, noun: &'static str, alias: &str) -> Self {
        if matches!(self, Self::NotFound) { Self::unknown(noun, alias) } else { self }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::User(_) => Self::BadRequest(error.to_string()),
            Error::Internal(cause) => Self::Internal(cause.to_string()),
        }
    }
}

impl From<db::Error> for Fault {
    fn from(error: db::Error) -> Self {
        Self::Internal(error.to_string())
    }
}

/// The maximum size of a form, in bytes.
pub const MAX_FORM: usize = 64 * 1024;

/// The maximum size of a form from a visitor who is not signed in.
pub const MAX_STRANGERS_FORM: usize = 4 * 1024;

impl Site {
    /// Creates the application on a migrated database.
    pub fn new(db: Db, catalogue: Catalogue) -> Self {
        let reference = Arc::new(Reference::new(Arc::clone(catalogue.schema())));
        let refusals = Arc::new(Refusals::new(db.clone()));
        Self { db, catalogue, reference, places: Arc::default(), waiting: Arc::default(), refusals, openid: None }
    }

    /// Adds an OpenID provider for signing in.
    pub fn with_provider(self, provider: Provider) -> Self {
        Self { openid: Some(provider), ..self }
    }

    /// The same application, reached at the address of `catalogue`.
    pub fn reached_at(&self, catalogue: Catalogue) -> Self {
        let app_url = &catalogue.settings().app_url;
        let openid =
            self.openid.as_ref().map(|provider| provider.with_redirect(format!("{app_url}{}", openid::CALLBACK)));
        Self { catalogue, openid, ..self.clone() }
    }

    /// The number of open suggestions, which the navigation of every page shows.
    pub async fn waiting(&self) -> usize {
        self.waiting.suggestions(&self.db).await
    }

    /// The maximum size of the visit's form, in bytes. `None`: without a session, only a valid sign-in link takes one.
    pub fn max_form_size<'f>(&'f self, visit: &'f Visit) -> BoxFuture<'f, Result<Option<usize>, Fault>> {
        Box::pin(async move {
            if visit.session.is_some() {
                return Ok(Some(MAX_FORM));
            }
            match &*visit.path {
                [first, key] if first == "sign-in" => {
                    Ok(sign_in::is_link(self, key).await?.then_some(MAX_STRANGERS_FORM))
                }
                _ => Ok(None),
            }
        })
    }

    /// Whether the application is reached by `https:`, so that its cookies can be `Secure`.
    pub fn is_secure(&self) -> bool {
        self.catalogue.settings().app_url.starts_with("https:")
    }
}
