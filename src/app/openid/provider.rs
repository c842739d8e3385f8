//! The OpenID Connect client: the authorization code flow with PKCE (RFC 7636). `openidconnect` builds the requests and
//! verifies signatures. What providers answer is read by [`answer`] and [`id_token`](super::id_token).

use std::cell::OnceCell;
use std::error::Error;
use std::iter;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use openidconnect::core::{CoreAuthenticationFlow, CoreClient, CoreJsonWebKey, CoreJsonWebKeySet};
use openidconnect::{
    AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointNotSet, EndpointSet, HttpRequest,
    HttpResponse, IssuerUrl, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl,
    RequestTokenError, Scope, TokenUrl,
};
use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tracing::warn;
use ureq::http::{Method, Request, header};
use ureq::{Agent, AsSendBody};

use super::answer::{self, Discovered, Object};
use super::exchange::{Exchanges, PATIENCE, Refused, Turn};
use super::groups;
use super::id_token::{self, Expected};
use crate::attempt::Attempt;
use crate::openid_settings::OpenId;
use catalogue::entity::Timestamp;
use catalogue::outgoing;

/// The timeout of a request to the provider.
pub const TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of a response from the provider. A key set has a few thousand bytes.
pub const LONGEST_ANSWER: u64 = 1024 * 1024;
/// How long the provider's metadata is cached.
const FRESH: Duration = Duration::from_secs(60 * 60);
/// How long a failure to fetch the metadata is cached.
const AGAIN: Duration = Duration::from_secs(10);

/// A provider. Cheap to clone.
#[derive(Clone)]
pub struct Provider {
    settings: Arc<OpenId>,
    redirect: Arc<str>,
    agent: Agent,
    known: Arc<Mutex<Option<Known>>>,
    exchanges: Arc<Exchanges>,
}

/// The cached metadata, or the error that prevented fetching it.
#[derive(Clone)]
struct Known {
    at: Instant,
    metadata: Result<Arc<Metadata>, String>,
}

/// What the provider says about itself.
struct Metadata {
    discovered: Discovered,
    keys: Vec<CoreJsonWebKey>,
}

impl Known {
    fn is_fresh(&self, at_most: Duration) -> bool {
        self.at.elapsed() < if self.metadata.is_ok() { at_most } else { AGAIN }
    }
}

/// A person, as the provider identifies them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// The permanent identifier at the provider.
    pub subject: String,
    /// The email address, if known.
    pub email: Option<String>,
    /// Whether the provider says that it has verified the address.
    pub email_verified: bool,
    /// Why there is no email address, if it is not just absent.
    pub email_fault: Option<&'static str>,
    /// The display name.
    pub name: Option<String>,
    /// The groups that the settings' claim names. `None` without that claim.
    pub groups: Option<Vec<String>>,
}

/// Why a sign-in failed.
#[derive(Debug)]
pub enum Failure {
    /// The provider cannot be reached, or its response is not valid. The cause is for the log.
    Provider(String),
    /// The provider refused the code (expired, used or invalid), or this sign-in has already had its exchange.
    Code,
    /// The provider is slow, and too many sign-ins are waiting.
    Busy,
}

type Client = CoreClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet, EndpointNotSet>;

/// What the token endpoint answers.
struct Tokens {
    access: String,
    id: String,
}

impl Provider {
    /// Creates a client whose callback is `redirect`.
    pub fn new(settings: OpenId, redirect: String) -> Self {
        let known = Arc::new(Mutex::new(None));
        let (settings, redirect, exchanges) = (Arc::new(settings), redirect.into(), Arc::default());
        Self { settings, redirect, agent: outgoing::agent(), known, exchanges }
    }

    /// The same provider with another callback.
    pub fn with_redirect(&self, redirect: String) -> Self {
        Self { redirect: redirect.into(), ..self.clone() }
    }

    /// The provider's settings.
    pub fn settings(&self) -> &OpenId {
        &self.settings
    }

    /// Fetches the provider's metadata.
    ///
    /// # Errors
    /// Why the provider cannot be used.
    pub fn check(&self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move { self.ask_metadata(FRESH).await.map(drop) })
    }

    /// The provider's URL to sign in at.
    pub async fn address(&self, attempt: &Attempt) -> Result<String, Failure> {
        let metadata = self.metadata(FRESH).await?;
        let client = self.client(&metadata).map_err(Failure::Provider)?;
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&PkceCodeVerifier::new(attempt.verifier()));
        let (state, nonce) = (CsrfToken::new(attempt.state()), Nonce::new(attempt.nonce()));
        let address = client
            .authorize_url(CoreAuthenticationFlow::AuthorizationCode, || state, || nonce)
            .add_scopes(["email", "profile"].map(|scope| Scope::new(scope.to_owned())))
            .set_pkce_challenge(challenge)
            .url();
        Ok(address.0.into())
    }

    /// Exchanges `code`, which came from the address `client`, for the person's identity.
    pub async fn person(&self, attempt: &Attempt, code: &str, client: IpAddr) -> Result<Person, Failure> {
        let turn = self.exchanges.turn(client, &attempt.state()).await.map_err(|refused| match refused {
            Refused::Busy => Failure::Busy,
            Refused::Again => Failure::Code,
        })?;
        let metadata = self.metadata(FRESH).await?;
        let client = self.client(&metadata).map_err(Failure::Provider)?;
        let (this, code, verifier) = (self.clone(), code.to_owned(), attempt.verifier());
        let (tokens, turn) = in_turn(turn, move || this.exchange(&client, code, verifier)).await?;
        let (claims, metadata) = match signed(&tokens.id, &metadata) {
            // Providers rotate keys. This key may be newer than the cached set.
            Err(id_token::Refused::UnknownKey) => {
                let metadata = self.metadata(Duration::ZERO).await?;
                (signed(&tokens.id, &metadata), metadata)
            }
            claims => (claims, metadata),
        };
        let claims = claims.map_err(|refused| Failure::Provider(of_token(refused)))?;
        let subject = self.subject(&claims, attempt).map_err(Failure::Provider)?;
        let person = Person::from_claims(subject, &claims, &self.settings.groups_claim);
        // Many providers return the address, or groups, only from the UserInfo endpoint (OpenID Connect Core, section 5.4).
        let lacks = person.email.is_none() || self.settings.uses_groups() && person.groups.is_none();
        let Some(endpoint) = metadata.discovered.user_info.clone().filter(|_| lacks) else {
            return Ok(person);
        };
        let (this, known) = (self.clone(), person.clone());
        let asked = in_turn(turn, move || this.ask(&endpoint, &tokens.access, &metadata, person));
        match asked.await {
            Ok((person, _)) => Ok(person),
            // Without groups, a sign-in changes nothing.
            Err(Failure::Provider(cause)) if known.email.is_some() => {
                warn!(issuer = self.settings.issuer, cause, "the UserInfo endpoint, asked for groups, failed");
                Ok(known)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Checks the claims of an ID token.
    fn subject(&self, claims: &Object, attempt: &Attempt) -> Result<String, String> {
        let OpenId { issuer, client_id, trusted_audiences, .. } = &*self.settings;
        let (nonce, now) = (attempt.nonce(), Timestamp::now());
        #[allow(clippy::cast_precision_loss)]
        let now = now.as_micros() as f64 / 1_000_000.0;
        id_token::subject(claims, &Expected { issuer, client_id, audiences: trusted_audiences, nonce: &nonce, now })
    }

    /// Returns the provider's metadata, at most `at_most` old.
    async fn metadata(&self, at_most: Duration) -> Result<Arc<Metadata>, Failure> {
        if let Ok(known) = self.known.try_lock()
            && let Some(known) = known.as_ref().filter(|known| known.is_fresh(at_most))
        {
            return known.metadata.clone().map_err(Failure::Provider);
        }
        // Fetched in its own task, which finishes even if the visitor leaves. Otherwise visitors who leave would start
        // one fetch after another.
        let this = self.clone();
        let asked = tokio::spawn(async move { this.ask_metadata(at_most).await });
        match timeout(PATIENCE, asked).await {
            Ok(Ok(metadata)) => metadata.map_err(Failure::Provider),
            Ok(Err(error)) => Err(Failure::Provider(told(&error))),
            Err(_) => Err(Failure::Busy),
        }
    }

    /// Fetches the metadata without a timeout. Concurrent callers wait for the same fetch.
    async fn ask_metadata(&self, at_most: Duration) -> Result<Arc<Metadata>, String> {
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| known.is_fresh(at_most)) {
            return known.metadata.clone();
        }
        let this = self.clone();
        let found = spawn_blocking(move || {
            let issuer = &*this.settings.issuer;
            let document = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
            let discovered = Discovered::read(&this.fetch(&document)?, issuer)?;
            let keys = answer::keys(&this.fetch(&discovered.keys)?)?;
            Ok(Arc::new(Metadata { discovered, keys }))
        });
        let metadata = found.await.unwrap_or_else(|error| Err(told(&error)));
        *known = Some(Known { at: Instant::now(), metadata: metadata.clone() });
        metadata
    }

    fn client(&self, metadata: &Metadata) -> Result<Client, String> {
        let Discovered { authorization, token, auth, .. } = &metadata.discovered;
        let secret = self.settings.client_secret.as_ref().map(|secret| ClientSecret::new(secret.reveal().to_owned()));
        let issuer = IssuerUrl::new(self.settings.issuer.clone()).map_err(|error| told(&error))?;
        // The keys are ours to apply.
        let client =
            CoreClient::new(ClientId::new(self.settings.client_id.clone()), issuer, CoreJsonWebKeySet::default());
        let client = match secret {
            Some(secret) => client.set_client_secret(secret),
            None => client,
        };
        Ok(client
            .set_auth_type(auth.clone())
            .set_auth_uri(AuthUrl::new(authorization.clone()).map_err(|error| told(&error))?)
            .set_token_uri(TokenUrl::new(token.clone()).map_err(|error| told(&error))?)
            .set_redirect_uri(RedirectUrl::new(self.redirect.to_string()).map_err(|error| told(&error))?))
    }

    fn exchange(&self, client: &Client, code: String, verifier: String) -> Result<Tokens, Failure> {
        const WHAT: &str = "the answer of the token endpoint";
        let request = client.exchange_code(AuthorizationCode::new(code));
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier));
        // The crate would read all claims of the ID token, and would refuse the sign-in for any of them.
        let id_token = OnceCell::new();
        let send = |request: HttpRequest| {
            let (parts, body) = self.send(request)?.into_parts();
            let (token, rest) = without_id_token(&body);
            let _ = id_token.set(token);
            Ok::<_, ureq::Error>(HttpResponse::from_parts(parts, rest))
        };
        let said = request.request(&send).map_err(|error| match error {
            RequestTokenError::ServerResponse(said) if said.error().as_ref() == "invalid_grant" => Failure::Code,
            RequestTokenError::ServerResponse(said) if said.error().as_ref() == "invalid_client" => Failure::Provider(
                "the provider does not accept the client: check --oidc-client-id and --oidc-client-secret".to_owned(),
            ),
            error => Failure::Provider(format!("{WHAT} is not valid: {}", told(&error))),
        })?;
        let id = id_token.into_inner().flatten();
        let id = id.ok_or_else(|| Failure::Provider(format!("{WHAT} has no id_token")))?;
        Ok(Tokens { access: said.access_token().secret().clone(), id })
    }

    /// Completes the person from the UserInfo endpoint.
    fn ask(&self, endpoint: &str, access: &str, metadata: &Metadata, person: Person) -> Result<Person, Failure> {
        let asked = || -> Result<Object, String> {
            let bearer = format!("Bearer {access}");
            let request =
                Request::get(endpoint).header(header::AUTHORIZATION, bearer).header(header::ACCEPT, "application/json");
            let body = self.body(endpoint, request.body(Vec::new()).map_err(|error| told(&error))?)?;
            // It may be signed (OpenID Connect Core, section 5.3.2).
            match std::str::from_utf8(&body).map(str::trim_ascii) {
                Ok(token) if token.starts_with("ey") => signed(token, metadata).map_err(of_token),
                _ => answer::object("the answer of the UserInfo endpoint", &body),
            }
        };
        let said = asked().map_err(Failure::Provider)?;
        let subject = answer::text("the answer of the UserInfo endpoint", &said, "sub").map_err(Failure::Provider)?;
        if subject != person.subject {
            return Err(Failure::Provider(
                "the UserInfo endpoint answers with another sub than the ID token".to_owned(),
            ));
        }
        let further = Person::from_claims(String::new(), &said, &self.settings.groups_claim);
        let (name, groups) = (person.name.clone().or(further.name), person.groups.clone().or(further.groups));
        if person.email.is_some() {
            return Ok(Person { name, groups, ..person });
        }
        let Person { email, email_verified, email_fault, .. } = further;
        let email_fault = email_fault.or(person.email_fault);
        Ok(Person { subject: person.subject, email, email_verified, email_fault, name, groups })
    }

    /// Fetches a document.
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        let request = Request::get(url).header(header::ACCEPT, "application/json").body(Vec::new());
        self.body(url, request.map_err(|error| format!("{url} is not a URL: {error}"))?)
    }

    fn body(&self, url: &str, request: HttpRequest) -> Result<Vec<u8>, String> {
        let answer = self.send(request).map_err(|error| format!("{url} does not answer: {}", told(&error)))?;
        let status = answer.status().as_u16();
        if status == 200 { Ok(answer.into_body()) } else { Err(format!("{url} answers with status {status}")) }
    }

    fn send(&self, request: HttpRequest) -> Result<HttpResponse, ureq::Error> {
        let response = match *request.method() {
            Method::GET => self.agent.run(self.in_time(request.map(drop)))?,
            _ => self.agent.run(self.in_time(request))?,
        };
        let (parts, mut body) = response.into_parts();
        let body = body.with_config().limit(LONGEST_ANSWER).read_to_vec()?;
        Ok(HttpResponse::from_parts(parts, body))
    }

    fn in_time<B: AsSendBody>(&self, request: Request<B>) -> Request<B> {
        self.agent.configure_request(request).timeout_global(Some(TIMEOUT)).build()
    }
}

impl Person {
    /// The person whom claims describe. A claim of another type than the standard's is none.
    fn from_claims(subject: String, claims: &Object, groups_claim: &str) -> Self {
        let text =
            |name: &str| claims.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned);
        let is_wrong = claims.get("email").is_some_and(|email| !email.is_string() && !email.is_null());
        // Some providers write it as a text.
        let email_verified = claims.get("email_verified").is_some_and(|verified| match verified {
            Value::String(word) => word.eq_ignore_ascii_case("true"),
            verified => *verified == Value::Bool(true),
        });
        let email_fault = is_wrong.then_some("the claim email is not a text");
        let groups = groups::from_claims(claims, groups_claim);
        Self { subject, email: text("email"), email_verified, email_fault, name: text("name"), groups }
    }
}

fn signed(token: &str, metadata: &Metadata) -> Result<Object, id_token::Refused> {
    id_token::signed(token, &metadata.keys, &metadata.discovered.algorithms)
}

fn of_token(refused: id_token::Refused) -> String {
    match refused {
        id_token::Refused::UnknownKey => "no key of the provider's key set fits the token (kid)".to_owned(),
        id_token::Refused::Invalid(why) => why,
    }
}

/// Takes the ID token out of the answer of the token endpoint, and leaves what the protocol below reads of the rest.
fn without_id_token(body: &[u8]) -> (Option<String>, Vec<u8>) {
    let Ok(Value::Object(said)) = serde_json::from_slice(body) else { return (None, body.to_vec()) };
    let token = said.get("id_token").and_then(Value::as_str).map(str::to_owned);
    let mut rest: Object = ["access_token", "error", "error_description"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), said.get(name)?.clone())))
        .filter(|(_, value)| !value.is_null())
        .collect();
    if rest.contains_key("access_token") {
        rest.insert("token_type".to_owned(), json!("Bearer"));
    }
    (token, Value::Object(rest).to_string().into_bytes())
}

/// Runs blocking work. The work holds the permit, because it continues even if nobody waits for it any more.
async fn in_turn<T: Send + 'static>(
    turn: Turn,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<(T, Turn), Failure> {
    let done = spawn_blocking(move || work().map(|done| (done, turn)));
    done.await.unwrap_or_else(|error| Err(Failure::Provider(told(&error))))
}

/// Formats an error with its causes.
fn told(error: &(dyn Error + 'static)) -> String {
    let causes = iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
