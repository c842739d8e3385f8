//! Reads what a provider answers: only what a sign-in uses, and that strictly. Whatever else is in an answer, of whatever
//! type, is skipped, because providers fill it in their own ways.

use openidconnect::core::{CoreJsonWebKey, CoreJwsSigningAlgorithm};
use openidconnect::{AuthType, JwsSigningAlgorithm};
use serde_json::{Map, Value};

/// An object of JSON.
pub(super) type Object = Map<String, Value>;

/// Reads an object.
pub(super) fn object(what: &str, body: &[u8]) -> Result<Object, String> {
    match serde_json::from_slice(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!("{what} is not a JSON object")),
        Err(error) => Err(format!("{what} is not JSON: {error}")),
    }
}

/// Reads a text that must be there.
pub(super) fn text<'a>(what: &str, object: &'a Object, name: &str) -> Result<&'a str, String> {
    match object.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        None | Some(Value::Null) => Err(format!("{what} has no {name}")),
        Some(_) => Err(format!("{what} has a {name} that is not a text")),
    }
}

/// The texts of a list. Skips its other items. `None` if there is no list.
fn texts<'a>(object: &'a Object, name: &str) -> Option<impl Iterator<Item = &'a str>> {
    Some(object.get(name)?.as_array()?.iter().filter_map(Value::as_str))
}

/// What the discovery document says about the provider.
#[derive(Debug, Clone)]
pub(super) struct Discovered {
    pub(super) authorization: String,
    pub(super) token: String,
    pub(super) keys: String,
    /// The UserInfo endpoint, if there is a usable one.
    pub(super) user_info: Option<String>,
    /// The algorithms that ID tokens may be signed with.
    pub(super) algorithms: Vec<CoreJwsSigningAlgorithm>,
    /// How the client authenticates with its secret.
    pub(super) auth: AuthType,
}

impl Discovered {
    /// Reads the discovery document of `issuer` (OpenID Connect Discovery, section 3).
    pub(super) fn read(body: &[u8], issuer: &str) -> Result<Self, String> {
        const WHAT: &str = "the discovery document";
        let said = object(WHAT, body)?;
        let own = text(WHAT, &said, "issuer")?;
        if own != issuer {
            return Err(format!("{WHAT} names the issuer {own}, and --oidc-issuer is {issuer}: write it the same"));
        }
        let endpoint = |name: &str| {
            let url = text(WHAT, &said, name)?;
            if is_url(url) { Ok(url.to_owned()) } else { Err(format!("{WHAT} has a {name} that is not a URL")) }
        };
        let takes = |method: &str| {
            texts(&said, "token_endpoint_auth_methods_supported")
                .is_some_and(|mut methods| methods.any(|one| one == method))
        };
        // Basic authentication is the default.
        let is_posted = takes("client_secret_post") && !takes("client_secret_basic");
        Ok(Self {
            authorization: endpoint("authorization_endpoint")?,
            token: endpoint("token_endpoint")?,
            keys: endpoint("jwks_uri")?,
            user_info: endpoint("userinfo_endpoint").ok(),
            algorithms: algorithms(&said)?,
            auth: if is_posted { AuthType::RequestBody } else { AuthType::BasicAuth },
        })
    }
}

/// The listed algorithms by which only the provider can sign. A shared secret is known to us too, and `openidconnect`
/// panics on such a signature of the wrong length. Without a list, they are all that we know.
fn algorithms(said: &Object) -> Result<Vec<CoreJwsSigningAlgorithm>, String> {
    const NAME: &str = "id_token_signing_alg_values_supported";
    const KNOWN: [&str; 10] =
        ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
    let is_listed = |known: &&str| texts(said, NAME).is_none_or(|mut listed| listed.any(|one| one == *known));
    let usable: Vec<_> = KNOWN.into_iter().filter(is_listed).filter_map(algorithm).collect();
    match usable.is_empty() {
        true => Err(format!("the discovery document lists no usable algorithm in {NAME}: one of {}", KNOWN.join(", "))),
        false => Ok(usable),
    }
}

/// The algorithm of this name, unless it is unknown or uses a shared secret.
pub(super) fn algorithm(name: &str) -> Option<CoreJwsSigningAlgorithm> {
    let algorithm: CoreJwsSigningAlgorithm = serde_json::from_value(name.into()).ok()?;
    Some(algorithm).filter(|known| !known.uses_shared_secret() && *known != CoreJwsSigningAlgorithm::None)
}

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.starts_with(|first: char| first.is_alphanumeric() || first == '['))
        && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Reads a key set. Skips the keys that are of an unknown type or malformed.
pub(super) fn keys(body: &[u8]) -> Result<Vec<CoreJsonWebKey>, String> {
    const WHAT: &str = "the key set";
    let said = object(WHAT, body)?;
    let Some(Value::Array(keys)) = said.get("keys") else { return Err(format!("{WHAT} has no list of keys")) };
    Ok(keys.iter().filter_map(|key| serde_json::from_value(used_of_key(key)?).ok()).collect())
}

/// The members of a key that verify a signature.
fn used_of_key(key: &Value) -> Option<Value> {
    let used = ["kty", "use", "kid", "alg", "n", "e", "crv", "x", "y"];
    let members = key.as_object()?.iter().filter(|(name, value)| used.contains(&&***name) && value.is_string());
    Some(Value::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ISSUER: &str = "https://login.example.com";

    fn document() -> Value {
        json!({
            "issuer": ISSUER,
            "authorization_endpoint": "https://login.example.com/authorize",
            "token_endpoint": "https://login.example.com/token",
            "jwks_uri": "https://login.example.com/keys",
        })
    }

    fn read(document: &Value) -> Result<Discovered, String> {
        Discovered::read(document.to_string().as_bytes(), ISSUER)
    }

    #[test]
    fn what_is_used_of_a_discovery_document_is_checked_and_named() {
        for (name, value, said) in [
            ("issuer", json!(null), "has no issuer"),
            (
                "issuer",
                json!("https://login.example.com/"),
                "names the issuer https://login.example.com/, and --oidc-issuer is",
            ),
            ("token_endpoint", json!(7), "has a token_endpoint that is not a text"),
            ("token_endpoint", json!("/token"), "has a token_endpoint that is not a URL"),
            ("jwks_uri", json!(["https://login.example.com/keys"]), "has a jwks_uri that is not a text"),
            ("authorization_endpoint", json!("javascript:alert(1)"), "has a authorization_endpoint that is not a URL"),
            ("id_token_signing_alg_values_supported", json!(["HS256", "none"]), "lists no usable algorithm"),
        ] {
            let mut document = document();
            document[name] = value;
            let refused = read(&document).expect_err(name);
            assert!(refused.contains(said), "{refused}");
        }
        assert!(Discovered::read(b"<html>", ISSUER).expect_err("HTML").contains("is not JSON"));
        assert!(Discovered::read(b"[]", ISSUER).expect_err("a list").contains("is not a JSON object"));
    }

    #[test]
    fn nothing_else_of_a_discovery_document_matters() {
        for (name, value) in [
            ("claims_supported", json!(null)),
            ("scopes_supported", json!("openid email")),
            ("response_types_supported", json!(null)),
            ("subject_types_supported", json!(["of our own"])),
            ("end_session_endpoint", json!("not a URL")),
            ("userinfo_endpoint", json!({ "url": "https://login.example.com/me" })),
            ("ui_locales_supported", json!([1, null])),
            ("id_token_signing_alg_values_supported", json!("RS256")),
            ("id_token_signing_alg_values_supported", json!(["XX999", 5, "RS256"])),
            ("token_endpoint_auth_methods_supported", json!(null)),
            ("token_endpoint_auth_methods_supported", json!(["private_key_jwt", { "x": 1 }, "client_secret_basic"])),
            ("op_policy_uri", json!("")),
        ] {
            let mut document = document();
            document[name] = value;
            let said = read(&document).unwrap_or_else(|refused| panic!("{name}: {refused}"));
            assert!(matches!(said.auth, AuthType::BasicAuth) && !said.algorithms.is_empty(), "{name}");
        }
    }

    #[test]
    fn keys_of_unknown_types_are_skipped() {
        let set = json!({ "keys": [
            { "kty": "AKP", "alg": "ML-DSA-65", "pub": "AAAA" },
            { "kty": 7 },
            null,
            { "kty": "RSA", "kid": "1", "use": "sig", "n": "AQAB", "e": "AQAB", "x5c": "not a list", "key_ops": 1, "iat": "x" },
            { "kty": "EC", "crv": "P-999", "kid": ["2"], "x": "AA", "y": "AA", "d": 5 },
        ] });
        assert_eq!(keys(set.to_string().as_bytes()).expect("keys").len(), 2);
        assert!(keys(b"{}").expect_err("no keys").contains("has no list of keys"));
    }
}
