//! Verifies an ID token (OpenID Connect Core, section 3.1.3.7): its signature, and the claims that a sign-in uses. No
//! other claim is read, so that none can stop a sign-in.

use data_encoding::BASE64URL_NOPAD;
use openidconnect::core::{CoreJsonWebKey, CoreJwsSigningAlgorithm};
use openidconnect::{JsonWebKey, SignatureVerificationError};
use serde_json::Value;

use super::answer::{self, Object};
use catalogue::entity::text;

/// How much the provider's clock and ours may differ, in seconds.
const SKEW: f64 = 60.0;

/// Why a token is not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// No known key fits. The provider may have rotated its keys.
    UnknownKey,
    /// Anything else, in a sentence that names the claim.
    Invalid(String),
}

/// What a token must say.
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    /// Further audiences that are trusted.
    pub(super) audiences: &'a [String],
    pub(super) nonce: &'a str,
    /// The time, in seconds since the epoch.
    pub(super) now: f64,
}

/// Verifies the signature of a token and returns what it signs.
pub(super) fn signed(
    token: &str,
    keys: &[CoreJsonWebKey],
    algorithms: &[CoreJwsSigningAlgorithm],
) -> Result<Object, Refused> {
    let invalid = |why: String| Refused::Invalid(why);
    let parts: Vec<&str> = token.split('.').collect();
    let [head, payload, signature] = parts[..] else {
        let why = if parts.len() == 5 { "is encrypted, and rollcall reads signed ones" } else { "is not a signed JWT" };
        return Err(invalid(format!("the token {why}")));
    };
    let decode = |part: &str| BASE64URL_NOPAD.decode(part.trim_end_matches('=').as_bytes());
    let decode = |part: &str, what: &str| decode(part).map_err(|_| invalid(format!("{what} is not base64url")));
    let head = answer::object("the token's header", &decode(head, "the token's header")?).map_err(invalid)?;
    let alg = answer::text("the token's header", &head, "alg").map_err(invalid)?;
    let allowed = answer::algorithm(alg).filter(|algorithm| algorithms.contains(algorithm));
    let algorithm = allowed.ok_or_else(|| {
        invalid(format!(
            "the token is signed with {alg}, which is not among the provider's algorithms that rollcall accepts"
        ))
    })?;
    if head.contains_key("crit") {
        return Err(invalid("the token's header demands an extension (crit)".to_owned()));
    }
    let signature = decode(signature, "the token's signature")?;
    let message = &token[..token.len() - parts[2].len() - 1];
    let kid = head.get("kid").and_then(Value::as_str);
    // A key without an id may be any.
    let may_be = |key: &&CoreJsonWebKey| kid.is_none() || key.key_id().is_none_or(|id| Some(id.as_str()) == kid);
    let mut refused = Refused::UnknownKey;
    for key in keys.iter().filter(may_be) {
        match key.verify_signature(&algorithm, message.as_bytes(), &signature) {
            Ok(()) => {
                return answer::object("the token", &decode(payload, "the token")?).map_err(invalid);
            }
            // The key is for something else.
            Err(SignatureVerificationError::InvalidKey(_)) => {}
            Err(error) => refused = invalid(format!("the token's signature is not valid: {error}")),
        }
    }
    Err(refused)
}

/// Checks the claims of an ID token, and returns the subject.
pub(super) fn subject(claims: &Object, expected: &Expected<'_>) -> Result<String, String> {
    const WHAT: &str = "the ID token";
    let text = |name: &str| answer::text(WHAT, claims, name);
    let issuer = text("iss")?;
    if issuer != expected.issuer {
        return Err(format!("the claim iss is {issuer}, and the issuer is {}", expected.issuer));
    }
    check_audience(claims, expected)?;
    let moment = |name: &str| claims.get(name).and_then(Value::as_f64);
    match moment("exp") {
        None => return Err(format!("{WHAT} has no number in the claim exp")),
        Some(end) if end + SKEW < expected.now => {
            return Err(format!("{WHAT} has expired (exp): compare the provider's clock with this machine's"));
        }
        Some(_) => {}
    }
    if moment("nbf").is_some_and(|begin| begin - SKEW > expected.now) {
        return Err(format!("{WHAT} is not valid yet (nbf): compare the provider's clock with this machine's"));
    }
    if text("nonce")? != expected.nonce {
        return Err("the claim nonce is that of another sign-in".to_owned());
    }
    let subject = text("sub")?;
    match text::fault(subject, text::URL) {
        Some(fault) => Err(format!("the claim sub {fault}")),
        None => Ok(subject.to_owned()),
    }
}

/// Checks for whom a token is: our client is an audience. Further audiences are accepted if the token was issued to our
/// client (`azp`), or if the settings trust them.
fn check_audience(claims: &Object, Expected { client_id, audiences, .. }: &Expected<'_>) -> Result<(), String> {
    let named: Vec<&str> = match claims.get("aud") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !named.contains(client_id) {
        let named = named.join(", ");
        return Err(format!("the claim aud ({named}) does not name the client id {client_id}"));
    }
    let is_trusted = |one: &str| one == *client_id || audiences.iter().any(|trusted| trusted == one);
    let party = match claims.get("azp") {
        None | Some(Value::Null) => None,
        Some(Value::String(party)) => Some(&**party),
        Some(_) => return Err("the claim azp is not a text".to_owned()),
    };
    if let Some(party) = party.filter(|party| !is_trusted(party)) {
        return Err(format!("the claim azp is {party}, and the client id is {client_id}"));
    }
    match named.iter().find(|one| !is_trusted(one)) {
        Some(other) if party != Some(*client_id) => Err(format!(
            "the claim aud names {other} too, and no claim azp says that the token is for {client_id}: if you trust that \
             audience, set --oidc-trusted-audiences"
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(changed: Value) -> Result<String, String> {
        let claims = json!({ "iss": "https://login", "aud": "us", "exp": 1000, "nonce": "n", "sub": "ada" });
        let Value::Object(mut claims) = claims else { unreachable!() };
        let Value::Object(changed) = changed else { unreachable!() };
        claims.extend(changed);
        let audiences = ["project".to_owned()];
        let expected =
            Expected { issuer: "https://login", client_id: "us", audiences: &audiences, nonce: "n", now: 1000.0 };
        subject(&claims, &expected)
    }

    #[test]
    fn a_claim_that_is_used_is_checked_and_named() {
        for (changed, said) in [
            (json!({ "iss": "https://other" }), "the claim iss is https://other"),
            (json!({ "iss": ["https://login"] }), "iss that is not a text"),
            (json!({ "aud": "them" }), "the claim aud (them) does not name the client id us"),
            (json!({ "aud": [] }), "the claim aud () does not name"),
            (json!({ "aud": ["us", "them"] }), "the claim aud names them too"),
            (json!({ "aud": ["us", "them"], "azp": "them" }), "the claim azp is them"),
            (json!({ "aud": ["us", "them"], "azp": 7 }), "the claim azp is not a text"),
            (json!({ "azp": "them" }), "the claim azp is them"),
            (json!({ "exp": 900 }), "has expired (exp)"),
            (json!({ "exp": "1000" }), "no number in the claim exp"),
            (json!({ "nbf": 2000 }), "not valid yet (nbf)"),
            (json!({ "nonce": "x" }), "the claim nonce is that of another sign-in"),
            (json!({ "nonce": null }), "has no nonce"),
            (json!({ "sub": "" }), "sub that is not a text"),
            (json!({ "sub": 12 }), "sub that is not a text"),
            (json!({ "sub": "a\0" }), "the claim sub must not contain the null character"),
        ] {
            let refused = check(changed).expect_err(said);
            assert!(refused.contains(said), "{refused}");
        }
    }

    #[test]
    fn further_audiences_are_accepted_with_azp_or_if_they_are_trusted() {
        for changed in [
            json!({}),
            json!({ "aud": ["us"] }),
            json!({ "aud": ["us", "them", "others"], "azp": "us" }),
            json!({ "aud": ["project", "us"] }),
            json!({ "aud": ["us", null, 5] }),
            json!({ "azp": "project" }),
            json!({ "exp": 960.5, "nbf": 1040 }),
            json!({ "updated_at": "yesterday", "address": [], "locale": {}, "birthdate": 7, "picture": false }),
        ] {
            assert_eq!(check(changed), Ok("ada".to_owned()));
        }
    }
}
