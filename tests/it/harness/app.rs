//! A running service for one test: a fresh database, a real server on a free port, a token, and a small client.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rollcall::api_document::hosts::Hosts;
use rollcall::app::openid::{self, Provider};
use rollcall::config::{self, Command, Listen, Serve};
use rollcall::db::Db;
use rollcall::entity::audit::Actor;
use rollcall::entity::deploy::Environments;
use rollcall::entity::token::{self, Scope};
use rollcall::entity::{Timestamp, remembered};
use rollcall::events::Wanted;
use rollcall::events::deliver::Sender;
use rollcall::graphql::{Catalogue, Settings};
use rollcall::http::tls::Tls;
use rollcall::http::{self, App, Drained, Listener};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::harness::database::{Database, texts};
use crate::harness::deadline::LONGEST;

/// A service that runs until dropped.
pub struct TestApp {
    /// Its address.
    pub address: SocketAddr,
    /// Its database.
    pub db: Db,
    /// An admin token.
    pub token: String,
    /// The address of its metrics, with `--metrics-listen`.
    pub metrics: Option<SocketAddr>,
    /// Its TLS settings, with `--tls-certificate`.
    pub tls: Option<Arc<Tls>>,
    /// Sends its events, once it is started.
    pub events: Sender,
    /// What somebody wants to know of its changes.
    pub wanted: Wanted,
    client: Client<HttpConnector, Full<Bytes>>,
    stop: Option<oneshot::Sender<()>>,
    service: JoinHandle<Drained>,
    _database: Database,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Response {
    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("a header of text"))
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// `extensions.code` of the first error.
    pub fn code(&self) -> String {
        self.json()["errors"][0]["extensions"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl TestApp {
    /// A service with the default settings.
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// A service with these command line flags.
    pub async fn with(flags: &[&str]) -> Self {
        Self::over(Database::new().await, flags).await
    }

    /// A service with this database, which need not be migrated.
    pub async fn over(database: Database, flags: &[&str]) -> Self {
        rollcall::evaluation::use_program(env!("CARGO_BIN_EXE_rollcall").into());
        let arguments = ["rollcall", "serve", "--listen", "127.0.0.1:0", "--database-url", &database.url];
        let settings: Serve = match config::parse(arguments.iter().chain(flags).copied()) {
            Ok(Command::Serve(settings)) => *settings,
            other => panic!("not the flags of serve: {other:?}"),
        };
        let db = database.open().await;
        let addresses = &settings.addresses;
        let listener = Listener::open(&addresses.listen, addresses.listen_mode, "--listen").await.expect("a port");
        let listener = if addresses.proxy_protocol { listener.with_proxy_headers() } else { listener };
        let place = listener.place().expect("an address");
        let Listen::Tcp(address) = place else { panic!("{place}") };
        let app_url = addresses.app_url(&place);
        let learns_origin = addresses.given_app_url().is_none();
        let production = Environments::production(&settings.production_environments);
        if flags.contains(&"--production-environments") {
            db.write(async |tx| remembered::set_production(tx, &production).await).await.expect("remembered");
        }
        let (account_name, mut budget) = (settings.account_name, settings.budget.limits());
        if !flags.contains(&"--query-processor-time") {
            // An unoptimised program, beside many others, takes longer for everything.
            budget.processor = Duration::from_secs(60);
        }
        let (estimate, body) = (settings.budget.max_estimate, settings.edge.max_body);
        let document_hosts = Hosts::from(settings.pull_documents_from);
        let (event_hosts, wanted) = (Hosts::from(settings.send_events_to), Wanted::default());
        let catalogue = Settings {
            account_name,
            app_url: app_url.clone(),
            budget,
            estimate,
            body,
            production,
            document_hosts,
            event_hosts,
            mail: settings.mail.mailer().expect("a mail server"),
            issues_overdue_after: settings.code_issues_overdue_after,
            events: wanted,
            owner_only_writes: settings.owner_only_writes,
        };
        let catalogue = Catalogue::new(db.clone(), catalogue);
        let mut app = App::new(db.clone(), catalogue, settings.edge);
        if learns_origin {
            app = app.with_origin_of_proxies();
        }
        if settings.badges {
            app = app.with_badges();
        }
        if let Some(provider) = settings.openid.provider().expect("settings of a provider") {
            app = app.with_provider(Provider::new(provider, app_url + openid::CALLBACK));
        }
        let events = app.event_sender();
        let wanted = events.wanted().clone();
        let app = Arc::new(app);
        let tls = settings.addresses.tls.both().map(|(certificate, key)| Tls::open(certificate, key));
        let tls = tls.transpose().expect("a certificate").map(Arc::new);
        let mut metrics = None;
        if let Some(address) = settings.metrics_listen {
            let listener = TcpListener::bind(address).await.expect("a port");
            metrics = Some(listener.local_addr().expect("an address"));
            tokio::spawn(http::serve_metrics(Arc::clone(&app), listener));
        }
        let (stop, stopped) = oneshot::channel::<()>();
        let service = tokio::spawn(http::serve(app, listener, tls.clone(), async {
            let _ = stopped.await;
        }));
        let client = Client::builder(TokioExecutor::new()).build_http();
        let (token, stop) = (String::new(), Some(stop));
        let _database = database;
        let mut app = Self { address, db, token, metrics, tls, events, wanted, client, stop, service, _database };
        app.token = app.new_token(Scope::Admin, None).await;
        app
    }

    /// Creates a token that expires after this many microseconds.
    pub async fn new_token(&self, scope: Scope, expires: Option<i64>) -> String {
        let now = Timestamp::now();
        let expires = expires.map(|rest| Timestamp::from_micros(now.as_micros() + rest));
        let description = match token::all(self.db.read()).await.expect("tokens").len() {
            0 => "a test".to_owned(),
            others => format!("a test {}", others + 1),
        };
        let made = self
            .db
            .write(async |db| token::create(db, &Actor::command_line(), &description, scope, expires, now).await)
            .await;
        made.expect("a token").reveal().to_owned()
    }

    /// Runs an operation with the app's token. Returns the whole response, which must be JSON with status 200.
    pub async fn query(&self, query: &str, variables: Value) -> Value {
        let response = self.post(query, variables).await;
        assert_eq!(response.status, 200, "{response:?}");
        response.json()
    }

    /// Posts an operation with the app's token.
    pub async fn post(&self, query: &str, variables: Value) -> Response {
        let token = format!("Bearer {}", self.token);
        self.post_with(query, variables, &[("authorization", &token)]).await
    }

    /// Posts an operation with additional headers.
    pub async fn post_with(&self, query: &str, variables: Value, headers: &[(&str, &str)]) -> Response {
        let body = json!({ "query": query, "variables": variables }).to_string();
        let headers: Vec<_> = [("content-type", "application/json")].iter().chain(headers).copied().collect();
        self.request(Method::POST, "/graphql", &headers, body).await
    }

    /// Posts a raw body with the app's token.
    pub async fn post_body(&self, body: impl Into<Bytes>) -> Response {
        let token = format!("Bearer {}", self.token);
        let headers = [("content-type", "application/json"), ("authorization", &*token)];
        self.request(Method::POST, "/graphql", &headers, body).await
    }

    /// Gets a path.
    pub async fn get(&self, path: &str) -> Response {
        self.get_with(path, &[]).await
    }

    /// Gets a path with these headers.
    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        self.request(Method::GET, path, headers, Bytes::new()).await
    }

    /// Sends any request.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Response {
        send(&self.client, self.address, method, path, headers, body).await
    }

    /// The same client over HTTP/2 with prior knowledge.
    pub fn http2(&self) -> Client<HttpConnector, Full<Bytes>> {
        Client::builder(TokioExecutor::new()).http2_only(true).build_http()
    }

    /// A raw connection.
    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("a connection")
    }

    /// Writes bytes and reads until the service closes the connection.
    pub async fn raw(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_ref()).await.expect("the service reads");
        read_to_end(&mut stream).await
    }

    /// The head of a request to `/graphql` with the app's token, without the final blank line.
    pub fn head(&self) -> String {
        let token = &self.token;
        format!(
            "POST /graphql HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nAuthorization: Bearer {token}\r\n"
        )
    }

    /// Tells the service to stop. The future resolves once it has.
    pub fn stop(&mut self) -> impl Future<Output = Drained> + '_ {
        drop(self.stop.take());
        async {
            let stopped = timeout(LONGEST, &mut self.service).await.expect("the service stops");
            stopped.expect("the service does not panic")
        }
    }
}

/// Sends a request through any client.
pub async fn send(
    client: &Client<HttpConnector, Full<Bytes>>,
    address: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Response {
    let mut request = Request::builder().method(method).uri(format!("http://{address}{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(body.into())).expect("a request");
    let answered = async {
        let (parts, body) = client.request(request).await.expect("an answer").into_parts();
        (parts, body.collect().await.expect("a body").to_bytes())
    };
    let (parts, body) = timeout(LONGEST, answered).await.unwrap_or_else(|_| panic!("{path}: no answer in {LONGEST:?}"));
    Response { status: parts.status.as_u16(), headers: parts.headers, body }
}

/// How long a test waits for what must happen at once.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for something that must happen, and fails if it does not.
pub async fn soon<T>(what: &str, happens: impl Future<Output = T>) -> T {
    timeout(PATIENCE, happens).await.unwrap_or_else(|_| panic!("{what} within {PATIENCE:?}"))
}

/// Reads until the service closes the connection.
pub async fn read_to_end(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset also counts as a close.
    let _ = soon("the service closes the connection", stream.read_to_end(&mut answer)).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// Opens a connection that sends these bytes, then a request, and stays open. `None` if the service closes it instead
/// of answering.
pub async fn kept_open(app: &TestApp, before: &[u8]) -> Option<TcpStream> {
    let mut stream = app.connect().await;
    let request = b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n";
    stream.write_all(&[before, request].concat()).await.ok()?;
    let mut status = [0; 12];
    soon("an answer", stream.read_exact(&mut status)).await.ok()?;
    assert_eq!(&status, b"HTTP/1.1 200");
    Some(stream)
}

/// Whether a statement of this test's database waits for a row lock on PostgreSQL.
async fn somebody_waits(app: &TestApp) -> bool {
    let question = "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    !texts(&app.db, question).await.is_empty()
}

/// Waits until a statement waits for a row lock on PostgreSQL, or nobody needs to wait for that any more.
pub async fn until_somebody_waits(app: &TestApp, is_over: impl Fn() -> bool) {
    soon("a statement waits for a lock", async { while !is_over() && !somebody_waits(app).await {} }).await;
}

/// Runs an operation without top-level errors and returns its data.
pub async fn data(app: &TestApp, query: &str) -> Value {
    let mut answer = app.query(query, json!({})).await;
    assert_eq!(answer.get("errors"), None, "{query}");
    answer["data"].take()
}
