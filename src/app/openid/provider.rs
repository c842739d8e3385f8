//! The OpenID Connect client: the authorization code flow with PKCE (RFC 7636), on top of `openidconnect`.

use std::error::Error;
use std::iter;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreIdTokenClaims, CoreJwsSigningAlgorithm,
    CoreProviderMetadata, CoreTokenResponse, CoreUserInfoClaims,
};
use openidconnect::{
    AuthType, AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IssuerUrl, JwsSigningAlgorithm, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope, SignatureVerificationError,
    TokenResponse,
};
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use ureq::http::{Method, Request};
use ureq::{Agent, AsSendBody};

use super::attempt::Attempt;
use super::exchange::{Exchanges, PATIENCE, Refused, Turn};
use crate::config::OpenId;
use crate::outgoing;

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
    metadata: Result<CoreProviderMetadata, String>,
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
    /// Whether the provider has verified the address. `None` if it does not say.
    pub email_verified: Option<bool>,
    /// The display name.
    pub name: Option<String>,
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

type Client =
    CoreClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointMaybeSet, EndpointMaybeSet>;

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
    pub async fn check(&self) -> Result<(), String> {
        self.ask_metadata(FRESH).await.map(drop)
    }

    /// The provider's URL to sign in at.
    pub async fn address(&self, attempt: &Attempt) -> Result<String, Failure> {
        let metadata = self.metadata(FRESH).await?;
        let client = self.client(metadata).map_err(Failure::Provider)?;
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
        let client = self.client(metadata).map_err(Failure::Provider)?;
        let (this, code, verifier) = (self.clone(), code.to_owned(), attempt.verifier());
        let exchange = in_turn(turn, move || {
            let answer = this.exchange(&client, code, verifier)?;
            Ok((client, answer))
        });
        let ((client, answer), turn) = exchange.await?;
        let nonce = Nonce::new(attempt.nonce());
        let claims = match claims(&client, &answer, &nonce) {
            Ok(claims) => claims.clone(),
            // Providers rotate keys. This key may be newer than the cached set.
            Err(ClaimsVerificationError::SignatureVerification(SignatureVerificationError::NoMatchingKey)) => {
                let metadata = self.metadata(Duration::ZERO).await?;
                let client = self.client(metadata).map_err(Failure::Provider)?;
                claims(&client, &answer, &nonce).map_err(|error| Failure::Provider(told(&error)))?.clone()
            }
            Err(error) => return Err(Failure::Provider(told(&error))),
        };
        let person = Person {
            subject: claims.subject().to_string(),
            email: claims.email().map(|email| email.to_string()),
            email_verified: claims.email_verified(),
            name: claims.name().and_then(|name| name.get(None)).map(|name| name.to_string()),
        };
        // Many providers return the address only from the UserInfo endpoint (OpenID Connect Core, section 5.4).
        match person.email {
            Some(_) => Ok(person),
            None => {
                let this = self.clone();
                in_turn(turn, move || this.ask(&client, &answer, person)).await.map(|(person, _)| person)
            }
        }
    }

    /// Returns the provider's metadata, at most `at_most` old.
    async fn metadata(&self, at_most: Duration) -> Result<CoreProviderMetadata, Failure> {
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
    async fn ask_metadata(&self, at_most: Duration) -> Result<CoreProviderMetadata, String> {
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref().filter(|known| known.is_fresh(at_most)) {
            return known.metadata.clone();
        }
        let this = self.clone();
        let found = spawn_blocking(move || {
            let issuer = IssuerUrl::new(this.settings.issuer.clone()).map_err(|error| told(&error))?;
            let said = CoreProviderMetadata::discover(&issuer, &|request| this.send(request));
            let said = said.map_err(|error| told(&error))?;
            // Accept only signatures that the provider alone can make. A shared secret is known to us too, and
            // `openidconnect` panics on such a signature of the wrong length.
            let is_own =
                |alg: &CoreJwsSigningAlgorithm| !alg.uses_shared_secret() && *alg != CoreJwsSigningAlgorithm::None;
            let algs = said.id_token_signing_alg_values_supported().iter().filter(|alg| is_own(alg)).cloned().collect();
            Ok(said.set_id_token_signing_alg_values_supported(algs))
        });
        let metadata = found.await.unwrap_or_else(|error| Err(told(&error)));
        *known = Some(Known { at: Instant::now(), metadata: metadata.clone() });
        metadata
    }

    fn client(&self, metadata: CoreProviderMetadata) -> Result<Client, String> {
        let secret = self.settings.client_secret.as_ref().map(|secret| ClientSecret::new(secret.reveal().to_owned()));
        // Basic authentication is the default (OpenID Connect Discovery, section 3).
        let methods = metadata.token_endpoint_auth_methods_supported();
        let takes = |method| methods.is_none_or(|methods| methods.contains(&method));
        let auth =
            match takes(CoreClientAuthMethod::ClientSecretBasic) || !takes(CoreClientAuthMethod::ClientSecretPost) {
                true => AuthType::BasicAuth,
                false => AuthType::RequestBody,
            };
        let redirect = RedirectUrl::new(self.redirect.to_string()).map_err(|error| told(&error))?;
        let client =
            CoreClient::from_provider_metadata(metadata, ClientId::new(self.settings.client_id.clone()), secret);
        Ok(client.set_auth_type(auth).set_redirect_uri(redirect))
    }

    fn exchange(&self, client: &Client, code: String, verifier: String) -> Result<CoreTokenResponse, Failure> {
        let request =
            client.exchange_code(AuthorizationCode::new(code)).map_err(|error| Failure::Provider(told(&error)))?;
        let request = request.set_pkce_verifier(PkceCodeVerifier::new(verifier));
        request.request(&|request| self.send(request)).map_err(|error| match error {
            RequestTokenError::ServerResponse(said) if said.error().as_ref() == "invalid_grant" => Failure::Code,
            error => Failure::Provider(told(&error)),
        })
    }

    /// Completes the person from the UserInfo endpoint.
    fn ask(&self, client: &Client, answer: &CoreTokenResponse, person: Person) -> Result<Person, Failure> {
        // The provider has no UserInfo endpoint.
        let subject = openidconnect::SubjectIdentifier::new(person.subject.clone());
        let Ok(request) = client.user_info(answer.access_token().clone(), Some(subject)) else { return Ok(person) };
        let said = request.request(&|request| self.send(request));
        let said: CoreUserInfoClaims = said.map_err(|error| Failure::Provider(told(&error)))?;
        Ok(Person {
            email: said.email().map(|email| email.to_string()),
            email_verified: said.email_verified(),
            name: person.name.or_else(|| said.name().and_then(|name| name.get(None)).map(|name| name.to_string())),
            ..person
        })
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

fn claims<'a>(
    client: &Client,
    answer: &'a CoreTokenResponse,
    nonce: &Nonce,
) -> Result<&'a CoreIdTokenClaims, ClaimsVerificationError> {
    let missing = || ClaimsVerificationError::Other("the provider's response has no ID token".to_owned());
    answer.id_token().ok_or_else(missing)?.claims(&client.id_token_verifier(), nonce)
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
