//! The edge: from a TCP connection to an answer. The only place that knows hyper.
//!
//! A request's way: [`connection`] takes it off the wire, [`Answers::answer`] names it, counts it and finds its
//! [`Route`], a file of [`handlers`] answers it with the help of [`auth`], [`limits`] and [`body`], and [`reply`]
//! builds every answer there is. What GraphQL means is left to [`graphql`](crate::graphql), what
//! becomes of a deploy to [`deploy`](crate::deploy), and what stands on a page to [`app`](crate::app).

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use futures_util::FutureExt;
use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Method, Request, Version, header};
use tracing::{error, info, warn};

use crate::app::Site;
use crate::app::openid::Provider;
use crate::budget::Used;
use crate::config::Edge;
use crate::db::Db;
use crate::deploy::commit::GROUP;
use crate::deploy::{Deliveries, Deploys};
use crate::entity::audit::Actor;
use crate::graphql::Catalogue;
use crate::log;
use crate::spans::{self, Span};
use auth::Tokens;
use body::Bodies;
use client::Forwarded;
use handlers::health::Readiness;
use limits::{InProcess, Key, Limits, Standing};
use metrics::Metrics;
use outbox::Outbox;
use reply::{Rejection, Reply, Surface};
use router::Route;
use serve::{Answers, Peer};

pub mod accept;
pub mod auth;
pub mod body;
pub mod client;
pub mod coding;
pub mod connection;
pub mod handlers;
pub mod limits;
pub mod metrics;
pub mod outbox;
mod refused;
pub mod reply;
pub mod router;
mod serve;
pub mod tls;

pub use serve::{Drained, serve, serve_metrics};

/// Where people try queries, below the application's address.
const EXPLORER: &str = "/explorer";

/// What all requests share.
pub struct App {
    db: Db,
    catalogue: Catalogue,
    deploys: Deploys,
    deliveries: Deliveries,
    tokens: Tokens,
    site: Site,
    limits: Limits,
    bodies: Bodies,
    outbox: Outbox,
    metrics: Metrics,
    edge: Edge,
    readiness: Readiness,
    draining: AtomicBool,
    /// Whether the log tells of a proxy that is not trusted.
    told_of_proxy: AtomicBool,
}

/// One request, from its head to its line in the log. The body is read by whoever wants it.
pub struct Call {
    /// The head.
    pub parts: Parts,
    /// What names the request in answers and in the log.
    pub id: String,
    /// Whose request it is, as far as addresses tell.
    pub client: IpAddr,
    /// Whether a proxy said so.
    pub forwarded: Forwarded,
    /// What the path leads to.
    pub route: Route,
    /// Who pays for what the request holds: its address, until more is known.
    pub owner: Key,
    /// Whether it is a mutation, which may have been carried out.
    pub is_mutation: bool,
    /// How many more requests the caller has, once that is known.
    pub standing: Option<Standing>,
    /// The name of the GraphQL operation, once that is known.
    pub operation: Option<String>,
    /// What a GraphQL operation was estimated at, and what it used.
    pub cost: Option<(u64, Used)>,
}

impl App {
    /// The service over a migrated database. Needs a running tokio.
    pub fn new(db: Db, catalogue: Catalogue, edge: Edge) -> Self {
        let tokens = Tokens::new(db.clone());
        let site = Site::new(db.clone(), catalogue.clone());
        let deploys = Deploys::start(db.clone(), GROUP);
        let deliveries = Deliveries::start(db.clone());
        let limits = Limits::new(edge.token_limit, edge.ip_limit, Box::new(InProcess::default()));
        let metrics = Metrics::default();
        let (readiness, draining) = (Readiness::default(), AtomicBool::new(false));
        let told_of_proxy = AtomicBool::new(false);
        let (bodies, outbox) = (Bodies::default(), Outbox::default());
        Self {
            db,
            catalogue,
            deploys,
            deliveries,
            tokens,
            site,
            limits,
            bodies,
            outbox,
            metrics,
            edge,
            readiness,
            draining,
            told_of_proxy,
        }
    }

    /// The same service, recording deploys in its own way.
    pub fn with_deploys(self, deploys: Deploys) -> Self {
        Self { deploys, ..self }
    }

    /// The same service, where people also sign in at an OpenID provider.
    pub fn with_provider(self, provider: Provider) -> Self {
        Self { site: self.site.with_provider(provider), ..self }
    }

    /// Whether the service was told to stop.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }
}

impl Answers for App {
    /// Answers one request that came from `peer`, and writes one line to the log.
    async fn answer(&self, request: Request<Incoming>, peer: Peer) -> Reply {
        let id = client::request_id(request.headers());
        let span = if spans::is_on() { client::span(&request, peer, &id) } else { Span::NONE };
        // On the heap: what wraps a future moves it.
        let answer = Box::pin(self.respond_to(request, peer, id.clone()));
        let reply = log::within(id, span.trace_id(), span.around(answer)).await;
        span.answered(reply.status().as_u16());
        reply
    }
}

impl App {
    async fn respond_to(&self, request: Request<Incoming>, peer: Peer, id: String) -> Reply {
        let started = Instant::now();
        let (parts, body) = request.into_parts();
        // Of a body that nobody reads, HTTP/2 would keep every frame for as long as the request takes. Dropped, it does not.
        let is_read = parts.method == Method::POST || parts.version < Version::HTTP_2;
        let mut body = is_read.then_some(body);
        let client = client::address(peer.address, &parts.headers, &self.edge.trusted_proxies);
        let mut call = Call {
            id,
            owner: Key::of_address(client),
            client,
            forwarded: Forwarded::of(peer.address, &parts.headers, &self.edge.trusted_proxies),
            is_mutation: false,
            route: Route::of(parts.uri.path()),
            standing: None,
            operation: None,
            cost: None,
            parts,
        };
        if call.forwarded == Forwarded::Ignored && client::may_be_a_proxy(client) {
            self.tell_of_proxy(&call);
        }
        let outcome = contain(self.respond(&mut call, body.as_mut())).await;
        if let Err(rejection) = &outcome {
            Box::pin(self.note_rejection(&call, rejection)).await;
        }
        // Of a body that did not come in time, no more will be waited for.
        if let Some(body) = body.filter(|_| !matches!(outcome, Err(Rejection::BodyTimeout))) {
            self.bodies.discard(&call.parts.headers, body).await;
        }
        let is_secure = peer.is_encrypted || self.site.is_secure();
        let mut reply = outcome.unwrap_or_else(|rejection| reply::rejection(&call, &rejection));
        reply::finish(&mut reply, &call, is_secure);
        if Outbox::counts(reply.body()) {
            reply = Box::pin(self.count_answer(reply, &call, started, is_secure)).await;
        }
        let took = started.elapsed();
        self.metrics.request(call.route, reply.status(), took);
        info!(
            method = method_name(&call.parts.method),
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

    /// Notes why a request was rejected, where that is to be known later.
    async fn note_rejection(&self, call: &Call, rejection: &Rejection) {
        match rejection {
            Rejection::Internal(cause) => error!(cause, "a request failed"),
            Rejection::Unauthenticated => {
                self.metrics.unauthenticated();
                // Without a credential nothing was tried.
                if call.parts.headers.contains_key(header::AUTHORIZATION) {
                    let stranger = Actor::visitor(&call.network().to_string());
                    self.site.refusals.note(stranger, "tokenRefused", "The token is not valid.").await;
                }
            }
            _ => {}
        }
    }

    async fn respond(&self, call: &mut Call, body: Option<&mut Incoming>) -> Result<Reply, Rejection> {
        client::check_host(&call.parts)?;
        client::check_head(&call.parts)?;
        // Whatever watches the process must not be refused for what others at its address do.
        if !matches!(call.route, Route::Livez | Route::Readyz) {
            self.count(call, call.owner).await?;
        }
        if call.route == Route::GraphQl && call.parts.method == Method::GET && accept::prefers_page(&call.parts.headers)
        {
            return Ok(reply::redirect(&format!("{}{EXPLORER}", self.catalogue.settings().app_url), &[]));
        }
        if !call.route.allows(&call.parts.method) {
            return Err(Rejection::MethodNotAllowed);
        }
        // What answers is on the heap, each by itself: it is large, and would make every request as large as the largest.
        match (call.route, body) {
            (Route::GraphQl, Some(body)) => Box::pin(handlers::graphql::answer(self, call, body)).await,
            (Route::Deploy, Some(body)) => Box::pin(handlers::deploy::answer(self, call, body)).await,
            (Route::Sdl, _) => Ok(handlers::sdl::answer()),
            (Route::Livez, _) => Ok(handlers::health::live(call)),
            (Route::Readyz, _) => Box::pin(handlers::health::ready(self)).await,
            (Route::App, body) => Box::pin(handlers::app::answer(self, call, body)).await,
            (Route::GraphQl | Route::Deploy, None) => Err(Rejection::MethodNotAllowed),
            (Route::Unknown, _) => Err(Rejection::NotFound),
        }
    }

    /// Says once in the log that a neighbour sends `X-Forwarded-For` and is not trusted. `rollcall doctor` does so to find
    /// that out.
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

    /// Counts a request, and refuses it when it is one too many.
    async fn count(&self, call: &mut Call, key: Key) -> Result<(), Rejection> {
        call.owner = key;
        let Some(standing) = self.limits.count(key, Instant::now()).await else { return Ok(()) };
        call.standing = Some(standing);
        if standing.allowed {
            return Ok(());
        }
        self.metrics.limited(key);
        Err(Rejection::TooManyRequests(standing))
    }

    /// The same answer, counted among those that wait to be sent; or that there is no room for it, by the deadline of its
    /// request.
    async fn count_answer(&self, mut reply: Reply, call: &Call, started: Instant, is_secure: bool) -> Reply {
        let deadline = (started + self.catalogue.settings().budget.time).into();
        let body = std::mem::take(reply.body_mut());
        if let Some(body) = self.outbox.count(body, call.owner, deadline).await {
            *reply.body_mut() = body;
            return reply;
        }
        // A mutation must not be reported as one that can be sent again.
        let rejection = if call.is_mutation { Rejection::Undelivered } else { Rejection::Unavailable(outbox::FULL) };
        let mut reply = reply::rejection(call, &rejection);
        reply::finish(&mut reply, call, is_secure);
        reply
    }
}

impl Call {
    /// The client's address, or its network where that is what counts.
    pub fn network(&self) -> IpAddr {
        limits::network(self.client)
    }

    /// In whose words the caller is answered.
    pub fn surface(&self) -> Surface {
        match self.route {
            Route::GraphQl => Surface::GraphQl(reply::Media::of(&self.parts.headers)),
            Route::Deploy => Surface::Webhook,
            Route::App => Surface::Page,
            Route::Unknown if accept::prefers_page(&self.parts.headers) => Surface::Page,
            Route::Sdl | Route::Livez | Route::Readyz | Route::Unknown => Surface::Plain,
        }
    }
}

/// The method for the log, where no caller can write what he likes.
fn method_name(method: &Method) -> &str {
    match *method {
        Method::GET | Method::HEAD | Method::POST | Method::PUT | Method::PATCH | Method::DELETE | Method::OPTIONS => {
            method.as_str()
        }
        _ => "other",
    }
}

/// Lets a panic cost the request in which it happens, and nothing else.
async fn contain(request: impl Future<Output = Result<Reply, Rejection>>) -> Result<Reply, Rejection> {
    let outcome = AssertUnwindSafe(request).catch_unwind().await;
    outcome.unwrap_or_else(|_| Err(Rejection::Internal("it panicked".to_owned())))
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
