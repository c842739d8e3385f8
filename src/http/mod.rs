//! The edge: from a TCP connection to a response. The only place that knows hyper.
//!
//! The path of a request: [`connection`] reads it, [`Answers::answer`] gives it an id, counts it and finds its
//! [`Route`]. A file of [`handlers`] handles it with the help of [`auth`], [`limits`] and [`body`], and [`reply`]
//! builds the response. [`graphql`](crate::graphql) knows what GraphQL means, [`deploy`](crate::deploy) records
//! deploys, and [`app`](crate::app) renders the pages.

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures_util::FutureExt;
use hyper::http::request::Parts;
use hyper::{Method, Request, Version, header};
use ipnet::IpNet;
use tracing::{error, info, warn};

use crate::api_document::pull::Pulled;
use crate::app::openid::Provider;
use crate::app::{Site, Visitor};
use crate::budget::Used;
use crate::config::Edge;
use crate::db::Db;
use crate::deploy::commit::GROUP;
use crate::deploy::{Deliveries, Deploys};
use crate::entity::audit::Actor;
use crate::events::deliver::Sender;
use crate::graphql::{Catalogue, Settings};
use crate::log;
use crate::shares::{Hold, Shares};
use crate::spans::{self, Span};
use activity::Closed;
use auth::Tokens;
use body::Bodies;
use client::Forwarded;
use handlers::badge::Badges;
use handlers::health::Readiness;
use limits::{Key, RateLimits, Standing, Window};
use metrics::Metrics;
use outbox::Outbox;
use reply::{Rejection, Reply, Surface};
use router::Route;
use serve::{Admitted, Answers, Peer};
use upload::Upload;

pub mod accept;
pub mod activity;
mod admission;
pub mod auth;
pub mod body;
pub mod charset;
pub mod client;
pub mod coding;
pub mod connection;
mod cors;
pub mod expand;
pub mod handlers;
pub mod heads;
pub mod limits;
mod listener;
mod lookups;
pub mod metrics;
pub mod outbox;
mod outgoing;
pub mod proxy_header;
mod refused;
pub mod reply;
pub mod router;
mod serve;
pub mod standing;
mod streamed;
pub mod tls;
pub mod upload;

pub use listener::{BACKLOG, Listener};
pub use serve::{Drained, METRICS_CONNECTIONS, serve, serve_metrics};

/// The path of the query explorer, below the application's address.
const EXPLORER: &str = "/explorer";

/// The state shared by all requests.
pub struct App {
    db: Db,
    /// Connections that long work never occupies.
    reserved: Db,
    catalogue: Catalogue,
    deploys: Deploys,
    deliveries: Deliveries,
    tokens: Tokens,
    site: Site,
    limits: RateLimits,
    bodies: Bodies,
    outbox: Outbox,
    /// The files that are downloaded at the moment.
    downloads: Arc<Shares<Key>>,
    metrics: Metrics,
    edge: Edge,
    /// Whether trusted proxies say where people reach the service, because no setting does.
    learns_origin: bool,
    /// The badges, if there are any.
    badges: Option<Badges>,
    readiness: Readiness,
    draining: AtomicBool,
    /// Whether the log has already mentioned an untrusted proxy.
    told_of_proxy: AtomicBool,
}

/// A request from its head to its line in the log. The handler reads the body.
pub struct Call {
    /// The head.
    pub parts: Parts,
    /// The request id, in responses and in the log.
    pub id: String,
    /// The client's address.
    pub client: IpAddr,
    /// Whether that address came from a trusted proxy.
    pub forwarded: Forwarded,
    /// The route of the path.
    pub route: Route,
    /// The API and the pages at the origin that a trusted proxy names, if it does.
    here: Option<Box<Here>>,
    /// Who is charged for the memory of the request: its address, until the caller is authenticated.
    pub owner: Key,
    /// Who is signed in, once known: error pages have their navigation.
    pub visitor: Option<Box<Visitor>>,
    /// What it is counted for until its response is sent, if it shares its connection.
    room: Option<Hold<Key>>,
    /// Whether it is a mutation that may have been carried out.
    pub is_mutation: bool,
    /// The caller's remaining rate limit, once counted.
    pub standing: Option<Standing>,
    /// The name of the GraphQL operation, once known.
    pub operation: Option<String>,
    /// The estimate of a GraphQL operation, and what it used.
    pub cost: Option<(u64, Used)>,
}

/// What depends on where people reach the service.
struct Here {
    catalogue: Catalogue,
    site: Site,
}

impl App {
    /// Creates the service on a migrated database. Must be called within a tokio runtime.
    pub fn new(db: Db, catalogue: Catalogue, edge: Edge) -> Self {
        let reserved = db.reserved();
        let tokens = Tokens::new(reserved.clone(), edge.token_limit);
        let site = Site::new(db.clone(), catalogue.clone());
        let deploys = Deploys::start(reserved.clone(), catalogue.settings().events.clone(), GROUP);
        let deliveries = Deliveries::start(db.clone());
        let limits = RateLimits::over(db.clone(), edge.token_limit, edge.ip_limit);
        let metrics = Metrics::default();
        let metrics = if db.has_replica() { metrics.with_replica() } else { metrics };
        let (readiness, draining) = (Readiness::default(), AtomicBool::new(false));
        let told_of_proxy = AtomicBool::new(false);
        let (bodies, outbox) = (Bodies::default(), Outbox::default());
        Self {
            db,
            reserved,
            catalogue,
            deploys,
            deliveries,
            tokens,
            site,
            limits,
            bodies,
            outbox,
            downloads: handlers::app::downloads(),
            metrics,
            edge,
            learns_origin: false,
            badges: None,
            readiness,
            draining,
            told_of_proxy,
        }
    }

    /// Takes the origin of links, cookies and redirects from the headers of trusted proxies, where they name one.
    pub fn with_origin_of_proxies(self) -> Self {
        Self { learns_origin: !self.edge.trusted_proxies.is_empty(), ..self }
    }

    /// Sends the events of this service.
    pub fn event_sender(&self) -> Sender {
        let Settings { events, event_hosts, mail, app_url, issues_overdue_after, .. } = self.catalogue.settings();
        let sender = Sender::new(self.db.clone(), events.clone(), event_hosts, app_url);
        sender.with_mail(mail.clone()).overdue_after(*issues_overdue_after)
    }

    /// Shows badges with the levels of services to everybody.
    pub fn with_badges(self) -> Self {
        Self { badges: Some(Badges::default()), ..self }
    }

    /// Replaces the recorder of deploys.
    pub fn with_deploys(self, deploys: Deploys) -> Self {
        Self { deploys, ..self }
    }

    /// Adds an OpenID provider for signing in.
    pub fn with_provider(self, provider: Provider) -> Self {
        Self { site: self.site.with_provider(provider), ..self }
    }

    /// The proxies whose headers are believed in the requests of a connection.
    fn trusted_proxies(&self, peer: Peer) -> &[IpNet] {
        if peer.is_unnamed { &[] } else { &self.edge.trusted_proxies }
    }

    /// The API and the pages at the origin that the request's proxy names.
    fn here(&self, peer: Peer, parts: &Parts) -> Option<Box<Here>> {
        let origin = client::origin(peer.address, parts, self.trusted_proxies(peer))?;
        let catalogue = self.catalogue.reached_at(&origin);
        let site = self.site.reached_at(catalogue.clone());
        Some(Box::new(Here { catalogue, site }))
    }

    /// The API, as reached by a request.
    fn catalogue<'a>(&'a self, call: &'a Call) -> &'a Catalogue {
        call.here.as_ref().map_or(&self.catalogue, |here| &here.catalogue)
    }

    /// The pages, as reached by a request.
    fn site<'a>(&'a self, call: &'a Call) -> &'a Site {
        call.here.as_ref().map_or(&self.site, |here| &here.site)
    }

    /// Counts the result of pulling an API document.
    pub fn note_pull(&self, pulled: Pulled) {
        self.metrics.document(pulled);
    }

    /// Whether the service is stopping.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }
}

impl Answers for App {
    fn admit(&self, request: &Request<Upload>, peer: Peer) -> Admitted {
        if peer.is_alone {
            return Admitted::Free;
        }
        let owner = client::address(peer.address, request.headers(), self.trusted_proxies(peer));
        let head = client::head_bytes(request.headers());
        self.outbox.begin(Key::of_address(owner), head).map_or(Admitted::Crowded, Admitted::Room)
    }

    /// Handles one request from `peer` and writes one line to the log.
    async fn answer(&self, request: Request<Upload>, peer: Peer, admitted: Admitted) -> Reply {
        let id = client::request_id(request.headers());
        let span = if spans::is_on() { client::span(&request, peer, &id) } else { Span::NONE };
        // Boxed, because each wrapper would move the large future.
        let answer = Box::pin(self.respond_to(request, peer, admitted, id.clone()));
        let reply = log::within(id, span.trace_id(), span.instrument(answer)).await;
        span.answered(reply.status().as_u16());
        reply
    }

    fn refused_connection(&self) {
        self.metrics.refused_connection();
    }

    fn closed(&self, why: Closed) {
        self.metrics.closed(why);
    }
}

impl App {
    async fn respond_to(&self, request: Request<Upload>, peer: Peer, admitted: Admitted, id: String) -> Reply {
        let (started, (parts, body)) = (Instant::now(), request.into_parts());
        // HTTP/2 would buffer the frames of an unread body until the request ends. Dropping the body prevents that.
        let is_read = router::has_body(&parts.method) || parts.version < Version::HTTP_2;
        let mut body = is_read.then_some(body);
        let client = client::address(peer.address, &parts.headers, self.trusted_proxies(peer));
        let mut call = Call {
            id,
            owner: Key::of_address(client),
            client,
            forwarded: Forwarded::from_headers(peer.address, &parts.headers, self.trusted_proxies(peer)),
            room: None,
            is_mutation: false,
            route: Route::from_path(parts.uri.path()),
            here: if self.learns_origin { self.here(peer, &parts) } else { None },
            standing: None,
            operation: None,
            cost: None,
            visitor: None,
            parts,
        };
        if call.forwarded == Forwarded::Ignored && !peer.is_unnamed && client::may_be_a_proxy(client) {
            self.tell_of_proxy(&call);
        }
        let outcome = match admitted {
            Admitted::Crowded => Err(Rejection::Unavailable(outbox::CROWDED)),
            Admitted::Room(room) => {
                call.room = Some(room);
                contain(self.respond(&mut call, body.as_mut())).await
            }
            Admitted::Free => contain(self.respond(&mut call, body.as_mut())).await,
        };
        if let Err(rejection) = &outcome {
            Box::pin(self.note_rejection(&call, rejection)).await;
        }
        // After a timeout, no more of the body is awaited.
        if let Some(body) = body.filter(|_| !matches!(outcome, Err(Rejection::BodyTimeout))) {
            self.bodies.discard(&call.parts.headers, body).await;
        }
        let is_secure = peer.is_encrypted || self.site(&call).is_secure();
        let mut reply = outcome.unwrap_or_else(|rejection| reply::rejection(&call, &rejection));
        self.finish(&mut reply, &call, is_secure);
        if Outbox::counts(reply.body()) || call.room.is_some() {
            reply = Box::pin(self.count_answer(reply, &mut call, started, is_secure)).await;
        }
        let took = started.elapsed();
        self.metrics.request(call.route, reply.status(), took);
        info!(
            method = router::method_name(&call.parts.method),
            route = call.route.name(),
            status = reply.status().as_u16(),
            duration_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            operation = call.operation,
            estimate = call.cost.map(|(estimate, _)| estimate),
            objects = call.cost.map(|(_, used)| used.objects),
            processor_us = call.cost.map(|(_, used)| u64::try_from(used.processor.as_micros()).unwrap_or(u64::MAX)),
            "request"
        );
        reply
    }

    /// Records a rejection, if it is of interest later.
    async fn note_rejection(&self, call: &Call, rejection: &Rejection) {
        match rejection {
            Rejection::Internal(cause) => error!(cause, "a request failed"),
            Rejection::Unauthenticated(_) => {
                self.metrics.unauthenticated();
                // Without a credential it was not an attempt to sign in.
                if call.parts.headers.contains_key(header::AUTHORIZATION) {
                    let stranger = Actor::visitor(&call.network().to_string());
                    self.site.refusals.note(stranger, "tokenRefused", "The token is not valid.").await;
                }
            }
            _ => {}
        }
    }

    async fn respond(&self, call: &mut Call, body: Option<&mut Upload>) -> Result<Reply, Rejection> {
        client::check_host(&call.parts)?;
        client::check_head(&call.parts)?;
        // Monitoring must not be refused because of other clients at its address.
        if !matches!(call.route, Route::Livez | Route::Readyz) {
            self.count(call, call.owner, None).await?;
        }
        if call.route == Route::GraphQl && call.parts.method == Method::GET && accept::prefers_page(&call.parts.headers)
        {
            return Ok(reply::redirect(&format!("{}{EXPLORER}", self.catalogue(call).settings().app_url), &[]));
        }
        if call.route == Route::GraphQl
            && call.parts.method == Method::GET
            && handlers::graphql::is_persisted(&call.parts.uri)
        {
            return Box::pin(handlers::graphql::answer_get(self, call)).await;
        }
        if self.is_opened(call) && cors::is_preflight(&call.parts.method, &call.parts.headers) {
            return Ok(cors::preflight());
        }
        if !call.route.allows(&call.parts.method) {
            return Err(Rejection::MethodNotAllowed);
        }
        // Each handler is boxed: handlers are large, and every request would be as large as the largest.
        match (call.route, body) {
            (Route::GraphQl, Some(body)) => Box::pin(handlers::graphql::answer(self, call, body)).await,
            (Route::Deploy, Some(body)) => Box::pin(handlers::deploy::answer(self, call, body)).await,
            (Route::Document, Some(body)) => Box::pin(handlers::document::answer(self, call, body)).await,
            (Route::Mcp, Some(body)) => Box::pin(handlers::mcp::answer(self, call, body)).await,
            (Route::Sdl, _) => Ok(handlers::sdl::answer()),
            (Route::Llms, _) => Ok(handlers::llms::answer()),
            (Route::Badge, _) => match &self.badges {
                Some(badges) => Box::pin(handlers::badge::answer(self, call, badges)).await,
                None => Err(Rejection::NotFound),
            },
            (Route::Feed, _) => Box::pin(handlers::feed::answer(self, call)).await,
            (Route::Scim, body) => Box::pin(handlers::scim::answer(self, call, body)).await,
            (Route::Livez, _) => Ok(handlers::health::live(call)),
            (Route::Readyz, _) => Box::pin(handlers::health::ready(self)).await,
            (Route::App, body) => Box::pin(handlers::app::answer(self, call, body)).await,
            (Route::GraphQl | Route::Mcp | Route::Deploy | Route::Document, None) => Err(Rejection::MethodNotAllowed),
            (Route::Unknown, _) => Box::pin(handlers::app::unknown(self, call)).await,
        }
    }

    /// Whether pages of other origins may send requests like this one.
    fn is_opened(&self, call: &Call) -> bool {
        call.route == Route::GraphQl && !self.edge.cors_origins.is_empty()
    }

    /// Completes a response.
    fn finish(&self, reply: &mut Reply, call: &Call, is_secure: bool) {
        reply::finish(reply, call, is_secure);
        if self.is_opened(call) {
            let headers = &call.parts.headers;
            let origin = cors::allowed(headers, &self.edge.cors_origins);
            cors::permit(reply, origin, cors::is_preflight(&call.parts.method, headers));
        }
    }

    /// Warns once when an untrusted peer in the local network sends `X-Forwarded-For`. Ignores `rollcall doctor`, which
    /// sends it on purpose.
    fn tell_of_proxy(&self, call: &Call) {
        if call.parts.headers.contains_key(handlers::health::DOCTOR) || self.told_of_proxy.swap(true, Ordering::Relaxed)
        {
            return;
        }
        warn!(
            peer = %call.client,
            "a proxy that is not in --trusted-proxies passes on requests: the limits see all its clients as one"
        );
    }

    /// Counts a request, unless it is counted already, and refuses it if it exceeds the limit.
    async fn count(&self, call: &mut Call, key: Key, counted: Option<Window>) -> Result<(), Rejection> {
        call.owner = key;
        let standing = self.limits.count(key, counted, Instant::now()).await;
        let Some(standing) = standing else { return Ok(()) };
        call.standing = Some(standing);
        if standing.allowed {
            return Ok(());
        }
        self.metrics.limited(key);
        Err(Rejection::TooManyRequests(standing))
    }

    /// Accounts a response until it is sent. Replaces it by an error if there is no room: for a large one, by the request's
    /// deadline.
    async fn count_answer(&self, mut reply: Reply, call: &mut Call, started: Instant, is_secure: bool) -> Reply {
        let deadline = (started + self.catalogue.settings().budget.time).into();
        let body = std::mem::take(reply.body_mut());
        let counted = match &mut call.room {
            _ if Outbox::counts(&body) => self.outbox.count(body, call.owner, deadline).await,
            Some(room) => Outbox::has_room(room, &body).then_some(body),
            None => Some(body),
        };
        if let Some(body) = counted {
            *reply.body_mut() = body;
        } else {
            // A mutation must not be reported as retryable.
            let rejection =
                if call.is_mutation { Rejection::Undelivered } else { Rejection::Unavailable(outbox::FULL) };
            reply = reply::rejection(call, &rejection);
            self.finish(&mut reply, call, is_secure);
        }
        if let Some(room) = call.room.take() {
            let body = std::mem::take(reply.body_mut());
            *reply.body_mut() = Outbox::holding(body, room);
        }
        reply
    }
}

impl Call {
    /// The client's address, or its network for IPv6.
    pub fn network(&self) -> IpAddr {
        limits::network(self.client)
    }

    /// The format of the caller's errors.
    pub fn surface(&self) -> Surface {
        match self.route {
            Route::GraphQl => Surface::GraphQl(reply::Media::preferred(&self.parts.headers)),
            Route::Deploy | Route::Document => Surface::Webhook,
            Route::Scim => Surface::Scim,
            Route::App => Surface::Page,
            Route::Feed | Route::Unknown if accept::prefers_page(&self.parts.headers) => Surface::Page,
            _ => Surface::Plain,
        }
    }
}

/// Contains a panic: only the request in which it happens fails.
async fn contain(request: impl Future<Output = Result<Reply, Rejection>>) -> Result<Reply, Rejection> {
    let outcome = AssertUnwindSafe(request).catch_unwind().await;
    outcome.unwrap_or_else(|_| Err(Rejection::Internal("the handler panicked".to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_costs_one_request() {
        let outcome = contain(async { panic!("on purpose") }).now_or_never();
        assert!(matches!(outcome, Some(Err(Rejection::Internal(_)))), "{outcome:?}");
    }
}
