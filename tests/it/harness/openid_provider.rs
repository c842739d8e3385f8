//! An OpenID provider for tests. It says about people what the test wants, and checks codes as strictly as a real one.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use data_encoding::{BASE64, BASE64URL_NOPAD};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use openidconnect::core::{CoreEdDsaPrivateSigningKey, CoreJsonWebKeySet, CoreJwsSigningAlgorithm};
use openidconnect::{JsonWebKeyId, PrivateSigningKey};
use rcgen::{KeyPair, PKCS_ED25519};
use rollcall::entity::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A provider that runs until dropped.
pub struct Provider {
    /// Its issuer.
    pub issuer: String,
    script: Arc<Mutex<Script>>,
    server: JoinHandle<()>,
}

/// Its configuration, and what it has recorded.
pub struct Script {
    /// Overrides for the claims of the next ID tokens. Null removes a claim.
    pub claims: Value,
    /// Overrides for the header of the next ID tokens.
    pub head: Value,
    /// The response of its UserInfo endpoint.
    pub user_info: Value,
    /// Overrides for its metadata.
    pub metadata: Value,
    /// Overrides for the response of its token endpoint.
    pub tokens: Value,
    /// Further keys of its key set.
    pub further_keys: Vec<Value>,
    /// The id of its key.
    pub key_id: String,
    /// Whether to sign with another key.
    pub forges: bool,
    /// A response that replaces all others.
    pub instead: Option<(u16, String)>,
    /// Whether it responds. Until then, requests wait.
    pub answers: watch::Sender<bool>,
    /// The requests: their paths, and how the client authenticated.
    pub seen: Vec<(String, String)>,
    key: CoreEdDsaPrivateSigningKey,
    other: CoreEdDsaPrivateSigningKey,
    codes: HashMap<String, HashMap<String, String>>,
}

pub const CLIENT: &str = "rollcall at example.com";
pub const SECRET: &str = "it's a secret: 100%";

fn key(id: &str) -> CoreEdDsaPrivateSigningKey {
    let pem = KeyPair::generate_for(&PKCS_ED25519).expect("a key").serialize_pem();
    CoreEdDsaPrivateSigningKey::from_ed25519_pem(&pem, Some(JsonWebKeyId::new(id.to_owned()))).expect("a key")
}

impl Provider {
    /// A provider that knows Ada, whose address is verified.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let script = Script {
            claims: json!({ "sub": "ada-1", "email": "ada@example.com", "email_verified": true, "name": "Ada Lovelace" }),
            head: json!({}),
            user_info: Value::Null,
            metadata: json!({}),
            tokens: json!({}),
            further_keys: Vec::new(),
            key_id: "key-1".to_owned(),
            forges: false,
            instead: None,
            answers: watch::Sender::new(true),
            seen: Vec::new(),
            key: key("key-1"),
            other: key("key-1"),
            codes: HashMap::new(),
        };
        let script = Arc::new(Mutex::new(script));
        let (own, name) = (Arc::clone(&script), issuer.clone());
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, issuer) = (Arc::clone(&own), name.clone());
                let answer = service_fn(move |request| answer(Arc::clone(&script), issuer.clone(), request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
            }
        });
        Self { issuer, script, server }
    }

    /// Replaces its configuration.
    pub fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().expect("a script")
    }

    /// How often this path was requested.
    pub fn asked(&self, path: &str) -> usize {
        self.script().seen.iter().filter(|(seen, _)| seen == path).count()
    }

    /// The flags of a server whose users sign in here.
    pub fn flags(&self) -> [&str; 6] {
        ["--oidc-issuer", &self.issuer, "--oidc-client-id", CLIENT, "--oidc-client-secret", SECRET]
    }

    /// Acts as a browser that was redirected here and whose user consents. Returns the path and query of the callback.
    pub fn agree(&self, address: &str) -> String {
        let query = address.strip_prefix(&format!("{}/authorize?", self.issuer)).expect("the provider's own address");
        let asked: HashMap<String, String> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        assert_eq!((&*asked["response_type"], &*asked["client_id"]), ("code", CLIENT));
        assert_eq!((&*asked["scope"], &*asked["code_challenge_method"]), ("openid email profile", "S256"));
        let back = asked["redirect_uri"].strip_prefix("http://").or(asked["redirect_uri"].strip_prefix("https://"));
        let (_, path) = back.expect("an address").split_once('/').expect("a path");
        let mut script = self.script();
        let code = format!("code/{}+=", script.codes.len());
        let (state, path) = (asked["state"].clone(), path.to_owned());
        script.codes.insert(code.clone(), asked);
        let pairs = [("code", &*code), ("state", &*state), ("iss", &*self.issuer)];
        format!("/{path}?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    script: Arc<Mutex<Script>>,
    issuer: String,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.expect("a body").to_bytes();
    let authorization = head.headers.get("authorization").map_or("", |value| value.to_str().expect("text"));
    let mut answers = {
        let mut script = script.lock().expect("a script");
        script.seen.push((head.uri.path().to_owned(), authorization.to_owned()));
        script.answers.subscribe()
    };
    answers.wait_for(|answers| *answers).await.expect("a script");
    let script = &mut *script.lock().expect("a script");
    let (status, text) = match (script.instead.clone(), head.uri.path()) {
        (Some(instead), _) => instead,
        (None, "/.well-known/openid-configuration") => (200, script.metadata(&issuer).to_string()),
        (None, "/keys") => (200, script.keys().to_string()),
        (None, "/token") => script.token(&issuer, authorization, &body),
        (None, "/userinfo") if authorization == "Bearer the access" => (200, script.user_info.to_string()),
        _ => (404, "{}".to_owned()),
    };
    let answer = Response::builder().status(status).header("content-type", "application/json");
    Ok(answer.body(Full::from(text)).expect("an answer"))
}

fn lay_over(mut below: Value, above: &Value) -> Value {
    for (name, value) in above.as_object().expect("an object") {
        match value {
            Value::Null => drop(below.as_object_mut().expect("an object").remove(name)),
            value => below[name] = value.clone(),
        }
    }
    below
}

impl Script {
    fn metadata(&self, issuer: &str) -> Value {
        let at = |path: &str| format!("{issuer}{path}");
        let own = json!({
            "issuer": issuer,
            "authorization_endpoint": at("/authorize"),
            "token_endpoint": at("/token"),
            "userinfo_endpoint": at("/userinfo"),
            "jwks_uri": at("/keys"),
            "response_types_supported": ["code", "something of our own"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA", "none", "HS256", "XX999"],
        });
        lay_over(own, &self.metadata)
    }

    fn keys(&self) -> Value {
        let keys = CoreJsonWebKeySet::new(vec![self.key.as_verification_key()]);
        let mut keys = serde_json::to_value(keys).expect("JSON");
        keys["keys"][0]["kid"] = self.key_id.clone().into();
        keys["keys"].as_array_mut().expect("keys").extend(self.further_keys.iter().cloned());
        keys
    }

    /// A code is valid once, for its client, and with the verifier of its challenge.
    fn token(&mut self, issuer: &str, authorization: &str, body: &[u8]) -> (u16, String) {
        let sent: HashMap<String, String> = form_urlencoded::parse(body).into_owned().collect();
        let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let basic = format!("Basic {}", BASE64.encode(format!("{}:{}", encode(CLIENT), encode(SECRET)).as_bytes()));
        let is_client = authorization == basic
            || sent.get("client_id").is_some_and(|id| id == CLIENT)
                && sent.get("client_secret").is_some_and(|secret| secret == SECRET);
        let refuse = |error: &str| (400, json!({ "error": error }).to_string());
        if !is_client {
            return refuse("invalid_client");
        }
        let Some(asked) = self.codes.remove(&sent["code"]) else { return refuse("invalid_grant") };
        let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(&sent["code_verifier"]));
        if asked["code_challenge"] != challenge || asked["redirect_uri"] != sent["redirect_uri"] {
            return refuse("invalid_grant");
        }
        let now = Timestamp::now().as_micros() / 1_000_000;
        let claims = json!({ "iss": issuer, "aud": CLIENT, "exp": now + 60, "iat": now, "nonce": asked["nonce"] });
        let claims = lay_over(claims, &self.claims);
        let head = lay_over(json!({ "alg": "EdDSA", "typ": "JWT", "kid": self.key_id }), &self.head);
        let encode = |part: &Value| BASE64URL_NOPAD.encode(part.to_string().as_bytes());
        let signed = format!("{}.{}", encode(&head), encode(&claims));
        let key = if self.forges { &self.other } else { &self.key };
        let signature = key.sign(&CoreJwsSigningAlgorithm::EdDsa, signed.as_bytes()).expect("a signature");
        let token = format!("{signed}.{}", BASE64URL_NOPAD.encode(&signature));
        let said = json!({ "access_token": "the access", "token_type": "Bearer", "id_token": token });
        (200, lay_over(said, &self.tokens).to_string())
    }
}
