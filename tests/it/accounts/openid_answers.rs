//! What providers really answer: nothing that a sign-in does not use can stop it.

use rollcall::entity::user;
use serde_json::{Value, json};

use crate::harness::app::TestApp;
use crate::harness::browser::Browser;
use crate::harness::openid::{BEGIN, sign_in};
use crate::harness::openid_provider::{CLIENT, Provider};
use rollcall::db::Read;
use sea_orm::EntityTrait;

async fn start(provider: &Provider, flags: &[&str]) -> TestApp {
    TestApp::with(&[&provider.flags()[..], &["--oidc-domains", "example.com"], flags].concat()).await
}

/// Asserts that Ada signs in for the first time, and returns her name.
async fn assert_signed_in(provider: &Provider, flags: &[&str], what: &str) -> String {
    let app = start(provider, flags).await;
    let answer = sign_in(provider, &mut Browser::new(&app)).await;
    assert_eq!(answer.status, 303, "{what}: {}", answer.text());
    let users = app.db.read().all(user::Entity::find()).await.expect("users");
    assert_eq!((users.len(), &*users[0].email), (1, "ada@example.com"), "{what}");
    users[0].name.clone()
}

/// Zitadel: the project is an audience too, and the address comes from the UserInfo endpoint.
#[tokio::test]
async fn a_person_signs_in_at_a_provider_that_answers_like_zitadel() {
    let provider = Provider::start().await;
    {
        let mut script = provider.script();
        script.metadata = json!({
            "introspection_endpoint": "https://login.example.com/oauth/v2/introspect",
            "revocation_endpoint": "https://login.example.com/oauth/v2/revoke",
            "device_authorization_endpoint": "https://login.example.com/oauth/v2/device_authorization",
            "end_session_endpoint": "",
            "scopes_supported": ["openid", "profile", "email", "phone", "address", "offline_access"],
            "response_types_supported": ["code", "id_token", "id_token token"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "grant_types_supported": ["authorization_code", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
            "id_token_signing_alg_values_supported": ["EdDSA", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512"],
            "request_object_signing_alg_values_supported": ["RS256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
            "ui_locales_supported": ["bg", "cs", "de", "en", "zh-Hans", "not a locale"],
            "request_parameter_supported": true,
            "request_uri_parameter_supported": "no",
        });
        script.tokens =
            json!({ "expires_in": 43199, "refresh_token": "r", "scope": "openid email profile", "state": "x" });
        script.claims = json!({
            "sub": "69234237810729019",
            "aud": [CLIENT, "69234237810729234", "262851882718855632"],
            "azp": CLIENT,
            "client_id": CLIENT,
            "auth_time": 1_700_000_000,
            "amr": ["pwd", "mfa", "otp"],
            "at_hash": "yKYrCRzzhpUrB0dJEgkNgQ",
            "urn:zitadel:iam:org:project:roles": { "admin": { "262851882718855000": "shop.example.com" } },
            "urn:zitadel:iam:user:metadata": { "note": "bm90ZQ" },
        });
        script.user_info = json!({
            "sub": "69234237810729019",
            "name": "Ada Lovelace",
            "given_name": "Ada",
            "family_name": "Lovelace",
            "nickname": "",
            "gender": 1,
            "locale": "und",
            "updated_at": 1_700_000_000,
            "preferred_username": "ada@shop.example.com",
            "email": "ada@example.com",
            "email_verified": true,
            "phone_number_verified": "no",
            "address": null,
        });
    }
    assert_eq!(assert_signed_in(&provider, &[], "Zitadel").await, "Ada Lovelace");
}

/// Authentik: its stock mapping says of every address that it is not verified.
#[tokio::test]
async fn a_person_signs_in_at_a_provider_that_answers_like_authentik() {
    let provider = Provider::start().await;
    {
        let mut script = provider.script();
        script.metadata = json!({
            "end_session_endpoint": "https://login.example.com/application/o/rollcall/end-session/",
            "introspection_endpoint": "https://login.example.com/application/o/introspect/",
            "revocation_endpoint": "https://login.example.com/application/o/revoke/",
            "device_authorization_endpoint": "https://login.example.com/application/o/device/",
            "response_types_supported": ["code", "id_token", "id_token token", "code token", "code id_token token"],
            "response_modes_supported": ["query", "fragment", "form_post"],
            "subject_types_supported": ["public"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
            "acr_values_supported": ["goauthentik.io/providers/oauth2/default"],
            "request_parameter_supported": false,
            "claims_supported": ["sub", "iss", "aud", "exp", "iat", "auth_time", "acr", "amr", "nonce", "email", "groups"],
            "claims_parameter_supported": false,
            "code_challenge_methods_supported": ["plain", "S256"],
        });
        script.tokens = json!({ "expires_in": 300, "scope": "openid email profile", "refresh_token": null });
        script.claims = json!({
            "sub": "b7a6f2f2c1c7e3a1a3f1f6c1e8e5c9aa9b6d6c2c4a9e0f7b8d1c2e3f4a5b6c7d",
            "acr": "goauthentik.io/providers/oauth2/default",
            "amr": ["pwd"],
            "auth_time": 1_700_000_000,
            "sid": "c0ffee",
            "uid": "J2XWqQ",
            "email": "ada@example.com",
            "email_verified": false,
            "name": "Ada Lovelace",
            "given_name": "Ada Lovelace",
            "preferred_username": "ada",
            "nickname": "ada",
            "groups": ["authentik Admins", "shop"],
        });
    }
    assert_signed_in(&provider, &["--oidc-trust-email"], "Authentik").await;
    let app = start(&provider, &[]).await;
    let answer = sign_in(&provider, &mut Browser::new(&app)).await;
    assert_eq!(answer.status, 403);
    for said in ["the claim email_verified", "--oidc-trust-email accepts it"] {
        assert!(answer.text().contains(said), "{said}: {}", answer.text());
    }
}

/// Keycloak with an audience mapper and a mapper that makes lists of texts, and with a key for encryption.
#[tokio::test]
async fn a_person_signs_in_at_a_provider_that_answers_like_keycloak_with_an_audience_mapper() {
    let provider = Provider::start().await;
    {
        let mut script = provider.script();
        script.metadata = json!({
            "check_session_iframe": "https://login.example.com/realms/shop/protocol/openid-connect/login-status-iframe.html",
            "grant_types_supported": ["authorization_code", "urn:openid:params:grant-type:ciba"],
            "acr_values_supported": ["0", "1"],
            "id_token_signing_alg_values_supported": ["PS384", "RS384", "EdDSA", "ES384", "HS256", "HS512", "ES256", "RS256"],
            "id_token_encryption_alg_values_supported": ["ECDH-ES+A256KW", "RSA-OAEP-256", "RSA1_5"],
            "id_token_encryption_enc_values_supported": ["A256GCM", "A128CBC-HS256"],
            "response_modes_supported": ["query", "fragment", "form_post", "query.jwt"],
            "token_endpoint_auth_methods_supported": ["private_key_jwt", "client_secret_basic", "tls_client_auth"],
            "claims_supported": ["iss", "sub", "aud", "exp", "iat", "auth_time", "name", "email", "acr", "azp", "nonce"],
            "claim_types_supported": ["normal"],
            "mtls_endpoint_aliases": { "token_endpoint": "https://login.example.com/token" },
            "prompt_values_supported": ["none", "login", "consent", "create"],
        });
        script.further_keys = vec![
            json!({ "kid": "enc", "kty": "RSA", "alg": "RSA-OAEP", "use": "enc", "n": "AQAB", "e": "AQAB", "x5c": ["MII"] }),
            json!({ "kid": "pq", "kty": "AKP", "alg": "ML-DSA-65", "use": "sig", "pub": "AAAA" }),
        ];
        script.tokens = json!({
            "expires_in": 300, "refresh_expires_in": 1800, "refresh_token": "ey", "not-before-policy": 0,
            "session_state": "7b0c", "scope": "openid profile email",
        });
        script.claims = json!({
            "sub": "1f0d3f2c-5b0e-4c6f-9f6a-1d2e3f4a5b6c",
            "aud": ["account", CLIENT, "shop-api"],
            "azp": CLIENT,
            "typ": "ID",
            "auth_time": 1_700_000_000,
            "jti": "onrtac:7b0c",
            "acr": 1,
            "sid": "7b0c",
            "email_verified": true,
            "email": "ada@example.com",
            "name": "Ada Lovelace",
            "preferred_username": "ada",
            "given_name": ["Ada"],
            "family_name": ["Lovelace"],
            "locale": ["en"],
            "realm_access": { "roles": ["offline_access"] },
            "address": {},
            "birthdate": "10.12.1815",
            "updated_at": "yesterday",
        });
    }
    assert_eq!(assert_signed_in(&provider, &[], "Keycloak").await, "Ada Lovelace");
}

#[tokio::test]
async fn a_claim_that_is_not_used_cannot_stop_a_sign_in() {
    let provider = Provider::start().await;
    let good = provider.script().claims.clone();
    for (name, value) in [
        ("updated_at", json!("2026-13-45")),
        ("updated_at", json!({ "seconds": 1 })),
        ("address", json!("1 St James's Square")),
        ("locale", json!(["en", "de"])),
        ("birthdate", json!(18_151_210)),
        ("picture", json!(false)),
        ("picture", json!("not a URL")),
        ("zoneinfo", json!({})),
        ("phone_number", json!(44_123)),
        ("phone_number_verified", json!("maybe")),
        ("given_name", json!(["Ada"])),
        ("website", json!(" ")),
        ("gender", json!(2)),
        ("amr", json!("pwd")),
        ("acr", json!(3)),
        ("auth_time", json!("now")),
        ("at_hash", json!(5)),
        ("iat", json!("then")),
        ("name", json!(["Ada", "Lovelace"])),
        ("name", json!("Ada\u{1b}[31m\nLovelace")),
    ] {
        for is_in_token in [true, false] {
            let mut claims = good.clone();
            claims[name] = value.clone();
            {
                let mut script = provider.script();
                (script.claims, script.user_info) = match is_in_token {
                    true => (claims, Value::Null),
                    false => {
                        claims["sub"] = "ada-1".into();
                        (json!({ "sub": "ada-1", "email": null }), claims)
                    }
                };
            }
            let given = assert_signed_in(&provider, &[], &format!("{name} {value}, {is_in_token}")).await;
            assert!(!given.contains(char::is_control), "{given:?}");
        }
    }
}

#[tokio::test]
async fn what_a_provider_says_beside_its_tokens_and_keys_cannot_stop_a_sign_in() {
    let provider = Provider::start().await;
    for (metadata, tokens, keys) in [
        (json!({ "end_session_endpoint": "none", "op_tos_uri": 5 }), json!({}), vec![]),
        (json!({ "claims_supported": "all", "ui_locales_supported": {} }), json!({ "expires_in": "3600" }), vec![]),
        (json!({ "response_types_supported": "code" }), json!({ "scope": ["openid", "email"] }), vec![]),
        (json!({ "subject_types_supported": [7] }), json!({ "token_type": "of our own" }), vec![json!(null)]),
        (json!({ "userinfo_endpoint": 5 }), json!({ "token_type": null }), vec![json!({ "kty": ["RSA"], "kid": 1 })]),
        (
            json!({ "id_token_signing_alg_values_supported": ["XX1", 5, null, "EdDSA"] }),
            json!({ "refresh_token": {}, "expires_in": -1.5 }),
            vec![
                json!({ "kty": "oct", "k": "AAAA", "kid": "key-1" }),
                json!({ "kty": "EC", "crv": "P-999", "kid": "key-1" }),
            ],
        ),
    ] {
        let what = format!("{metadata} {tokens} {keys:?}");
        {
            let mut script = provider.script();
            (script.metadata, script.tokens, script.further_keys) = (metadata, tokens, keys);
        }
        assert_signed_in(&provider, &[], &what).await;
    }
}

#[tokio::test]
async fn further_audiences_need_azp_or_the_setting() {
    let provider = Provider::start().await;
    let good = provider.script().claims.clone();
    for (audience, party, flags, is_signed_in) in [
        (json!([CLIENT, "shop"]), json!(CLIENT), &[][..], true),
        (json!(["a", "b", CLIENT, "c"]), json!(CLIENT), &[], true),
        (json!([CLIENT, "shop"]), Value::Null, &[], false),
        (json!([CLIENT, "shop"]), Value::Null, &["--oidc-trusted-audiences", "shop"], true),
        (json!([CLIENT, "shop", "till"]), Value::Null, &["--oidc-trusted-audiences", "till, shop\n"], true),
        (json!([CLIENT, "shop", "till"]), Value::Null, &["--oidc-trusted-audiences", "till"], false),
        (json!([CLIENT, "shop"]), json!("shop"), &[], false),
        (json!(["shop"]), json!(CLIENT), &["--oidc-trusted-audiences", "shop"], false),
        (json!(CLIENT), json!("shop"), &[], false),
    ] {
        let mut claims = good.clone();
        (claims["aud"], claims["azp"]) = (audience.clone(), party.clone());
        provider.script().claims = claims;
        let app = start(&provider, flags).await;
        let answer = sign_in(&provider, &mut Browser::new(&app)).await;
        let expected = if is_signed_in { 303 } else { 502 };
        assert_eq!(answer.status, expected, "{audience} {party} {flags:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn an_email_address_that_is_no_text_is_named() {
    let provider = Provider::start().await;
    for email in [json!(["ada@example.com"]), json!(7), json!({ "value": "ada@example.com" }), json!(true)] {
        provider.script().claims["email"] = email.clone();
        provider.script().user_info = json!({ "sub": "ada-1", "email": email });
        let app = start(&provider, &[]).await;
        let answer = sign_in(&provider, &mut Browser::new(&app)).await;
        assert_eq!(answer.status, 403, "{}", answer.text());
        assert!(answer.text().contains("the claim email is not a text"), "{}", answer.text());
        assert_eq!(Browser::new(&app).get(BEGIN).await.status, 303);
    }
}
