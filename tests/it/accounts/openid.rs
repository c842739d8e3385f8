//! Signing in at an OpenID provider.

use rollcall::db::Read;
use rollcall::entity::user::{self, ProvisionedBy, Role};
use rollcall::entity::{Timestamp, audit, identity, session};
use rollcall::error::Error;
use sea_orm::{EntityTrait, QueryOrder};
use serde_json::{Value, json};

use crate::harness::app::{Response, TestApp};
use crate::harness::browser::Browser;
use crate::harness::openid::{BEGIN, come_back, cookies, sign_in, sign_in_from};
use crate::harness::openid_provider::{CLIENT, Provider, SECRET};
use crate::harness::program::{Place, assert_refused};

async fn start(provider: &Provider, flags: &[&str]) -> TestApp {
    TestApp::with(&[&provider.flags()[..], flags].concat()).await
}

async fn invite(app: &TestApp, email: &str, role: Role) {
    let made = app
        .db
        .write(async |db| user::create(db, email, None, role, ProvisionedBy::CommandLine, Timestamp::now()).await)
        .await;
    made.expect("a user");
}

async fn sessions(app: &TestApp) -> u64 {
    app.db.read().count(session::Entity::find()).await.expect("a count")
}

async fn users(app: &TestApp) -> Vec<(String, String, Role)> {
    let users = app.db.read().all(user::Entity::find().order_by_asc(user::Column::Id)).await.expect("users");
    users.into_iter().map(|user| (user.email, user.name, user.role)).collect()
}

/// Asserts that nobody was signed in, and that the page says why.
async fn assert_nobody(app: &TestApp, answer: &Response, status: u16, why: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    assert!(answer.text().contains(why), "{why}: {}", answer.text());
    assert!(!cookies(answer).iter().any(|pair| pair.contains("rollcall_session")), "{answer:?}");
    assert_eq!(sessions(app).await, 0);
}

#[tokio::test]
async fn an_invited_person_signs_in_and_returns_to_the_page_they_wanted() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-name", "Example & Co"]).await;
    invite(&app, "Ada@Example.com", Role::Admin).await;
    let mut browser = Browser::new(&app);

    let led = browser.get("/services?owner=shop&tag=a%20b").await;
    let page = browser.page(led.location()).await;
    let href = page.split("href=\"").find(|rest| rest.starts_with(BEGIN)).expect("a way to the provider");
    assert!(href.contains("Sign in with Example &amp; Co"), "{page}");
    let begin = href.split('"').next().expect("an address").replace("&amp;", "&");
    let begun = browser.get(&begin).await;
    let cookie = begun.header("set-cookie").expect("a cookie");
    assert!(cookie.starts_with("rollcall_sign_in=") && cookie.contains("; Max-Age=600; HttpOnly; SameSite=Lax"));

    let answer = come_back(&mut browser, &provider.agree(begun.location()), &cookies(&begun)).await;
    assert_eq!(answer.location(), "/services?owner=shop&tag=a%20b");
    assert!(cookies(&answer).contains(&"rollcall_sign_in=".to_owned()), "{answer:?}");
    assert!(browser.page("/account").await.contains("Ada@Example.com"));
    assert_eq!(users(&app).await.len(), 1, "an address is the same in whatever case");
    assert_eq!(sessions(&app).await, 1);
}

#[tokio::test]
async fn without_a_provider_its_sign_in_paths_do_not_exist() {
    let app = TestApp::start().await;
    let browser = Browser::new(&app);
    assert!(!browser.page("/sign-in").await.contains(BEGIN));
    for path in [BEGIN, "/sign-in/openid/callback", "/sign-in/openid/callback?code=a&state=b"] {
        assert_eq!(browser.get(path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn after_the_first_sign_in_the_subject_identifies_a_person_and_not_the_address() {
    let provider = Provider::start().await;
    let app = start(&provider, &[]).await;
    invite(&app, "ada@example.com", Role::User).await;
    invite(&app, "grace@example.com", Role::Admin).await;
    sign_in(&provider, &mut Browser::new(&app)).await.location();

    provider.script().claims["email"] = "grace@example.com".into();
    provider.script().claims["email_verified"] = false.into();
    let mut browser = Browser::new(&app);
    sign_in(&provider, &mut browser).await.location();
    assert!(browser.page("/account").await.contains("ada@example.com"), "still the same person");
}

#[tokio::test]
async fn another_account_with_the_address_of_a_user_waits_until_the_first_is_unlinked() {
    let provider = Provider::start().await;
    let app = start(&provider, &[]).await;
    invite(&app, "ada@example.com", Role::User).await;
    let mut first = Browser::new(&app);
    sign_in(&provider, &mut first).await.location();
    let mut admin = Browser::of(&app, Role::Admin).await;
    let before = sessions(&app).await;

    provider.script().claims["sub"] = "ada-2".into();
    let mut second = Browser::new(&app);
    let answer = sign_in(&provider, &mut second).await;
    assert_eq!((answer.status, sessions(&app).await), (403, before));
    assert!(answer.text().contains("another account"), "{}", answer.text());

    let page = admin.page("/users").await;
    let forms: Vec<&str> = page.split("action=\"").filter_map(|rest| rest.split('"').next()).collect();
    let unlink: Vec<&&str> = forms.iter().filter(|action| action.ends_with("/forget")).collect();
    assert_eq!(unlink.len(), 1, "the administrator came by a link");
    assert_eq!(admin.post(unlink[0], &[]).await.location(), "/users");
    assert_eq!(first.get("/services").await.status, 303, "whoever was signed in as the user no longer is");
    sign_in(&provider, &mut second).await.location();
    assert_eq!(second.get("/services").await.status, 200);
}

#[tokio::test]
async fn only_administrators_unlink() {
    let provider = Provider::start().await;
    let app = start(&provider, &[]).await;
    let mut member = Browser::of(&app, Role::User).await;
    assert_eq!(member.post("/users/Z2lkOi8vcm9sbGNhbGwvVXNlci8x/forget", &[]).await.status, 403);
    let mut admin = Browser::of(&app, Role::Admin).await;
    assert_eq!(admin.post("/users/Z2lkOi8vcm9sbGNhbGwvVXNlci85OTk/forget", &[]).await.status, 404);
}

#[tokio::test]
async fn a_person_without_an_invitation_is_refused_unless_their_domain_is_allowed() {
    let provider = Provider::start().await;
    let app = start(&provider, &[]).await;
    let answer = sign_in(&provider, &mut Browser::new(&app)).await;
    assert_nobody(&app, &answer, 403, "ada@example.com has not been invited").await;

    for (flags, role) in [
        (&["--oidc-domains", "example.com"][..], Some(Role::Viewer)),
        (&["--oidc-domains", "other.example, @Example.COM", "--oidc-role", "member"], Some(Role::User)),
        (&["--oidc-domains", "*"], Some(Role::Viewer)),
        (&["--oidc-domains", "ample.com,example.co,com"], None),
    ] {
        let app = start(&provider, flags).await;
        let answer = sign_in(&provider, &mut Browser::new(&app)).await;
        match role {
            Some(role) => {
                assert_eq!(answer.location(), "/", "{flags:?}");
                let ada = ("ada@example.com".to_owned(), "Ada Lovelace".to_owned(), role);
                assert_eq!(users(&app).await, [ada], "{flags:?}");
                let made = app.query("{ account { users { nodes { provisionedBy } } } }", json!({})).await;
                let expected = json!([{ "provisionedBy": "sso_other" }]);
                assert_eq!(made["data"]["account"]["users"]["nodes"], expected, "{flags:?}");
            }
            None => assert_nobody(&app, &answer, 403, "has not been invited").await,
        }
    }
}

#[tokio::test]
async fn an_email_address_with_lookalike_letters_is_another_one() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "example.com"]).await;
    invite(&app, "kate@example.com", Role::Admin).await;
    provider.script().claims["email"] = "\u{212A}ate@example.com".into();
    let mut browser = Browser::new(&app);
    sign_in(&provider, &mut browser).await.location();
    assert!(browser.page("/account").await.contains("\u{212A}ate@example.com"));
    let users: Vec<_> = users(&app).await.into_iter().map(|(email, _, role)| (email, role)).collect();
    let kelvin = ("\u{212A}ate@example.com".to_owned(), Role::Viewer);
    assert_eq!(users, [("kate@example.com".to_owned(), Role::Admin), kelvin]);
}

#[tokio::test]
async fn an_email_address_with_two_at_signs_matches_no_domain() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "example.com"]).await;
    provider.script().claims["email"] = "eve@evil.example@example.com".into();
    let answer = sign_in(&provider, &mut Browser::new(&app)).await;
    assert_nobody(&app, &answer, 403, "which is not a valid email address").await;
    assert!(users(&app).await.is_empty());
}

#[tokio::test]
async fn an_unverified_email_address_is_refused_unless_the_provider_is_trusted() {
    let provider = Provider::start().await;
    for (verified, trusts, is_signed_in) in [
        (json!(false), false, false),
        (json!(false), true, true),
        (Value::Null, false, false),
        (Value::Null, true, true),
        (json!("true"), false, true),
        (json!("false"), true, true),
        (json!("false"), false, false),
        (json!(1), false, false),
    ] {
        let app = start(&provider, if trusts { &["--oidc-trust-email"] } else { &[] }).await;
        invite(&app, "ada@example.com", Role::Admin).await;
        provider.script().claims["email_verified"] = verified.clone();
        let answer = sign_in(&provider, &mut Browser::new(&app)).await;
        match is_signed_in {
            true => assert_eq!(answer.location(), "/", "{verified}, {trusts}"),
            false => assert_nobody(&app, &answer, 403, "--oidc-trust-email").await,
        }
    }
}

#[tokio::test]
async fn an_email_address_missing_in_the_token_is_read_from_userinfo() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "example.com"]).await;
    provider.script().claims = json!({ "sub": "ada-1" });
    provider.script().user_info =
        json!({ "sub": "ada-1", "email": "ada@example.com", "email_verified": true, "name": "Ada" });
    assert_eq!(sign_in(&provider, &mut Browser::new(&app)).await.location(), "/");
    assert_eq!(users(&app).await, [("ada@example.com".to_owned(), "Ada".to_owned(), Role::Viewer)]);
}

#[tokio::test]
async fn userinfo_of_another_subject_is_not_used() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "*"]).await;
    provider.script().claims = json!({ "sub": "ada-1" });
    provider.script().user_info = json!({ "sub": "eve-1", "email": "ada@example.com", "email_verified": true });
    let answer = sign_in(&provider, &mut Browser::new(&app)).await;
    assert_nobody(&app, &answer, 502, "does not respond as it should").await;
    provider.script().user_info = json!({ "sub": "ada-1" });
    let answer = sign_in(&provider, &mut Browser::new(&app)).await;
    assert_nobody(&app, &answer, 403, "did not share your email address").await;
}

#[tokio::test]
async fn an_id_token_with_any_invalid_part_signs_nobody_in() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "*"]).await;
    let good = provider.script().claims.clone();
    let now = Timestamp::now().as_micros() / 1_000_000;
    for (what, head, claims) in [
        ("another audience", json!({}), json!({ "aud": "somebody else" })),
        ("a further audience", json!({}), json!({ "aud": [CLIENT, "somebody else"] })),
        ("another issuer", json!({}), json!({ "iss": "https://evil.example" })),
        ("too old", json!({}), json!({ "exp": now - 3600 })),
        ("another sign-in", json!({}), json!({ "nonce": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA" })),
        ("no nonce", json!({}), json!({ "nonce": null })),
        ("no subject", json!({}), json!({ "sub": null })),
        ("not signed", json!({ "alg": "none" }), json!({})),
        ("signed with the client's secret", json!({ "alg": "HS256" }), json!({})),
        ("signed in a way not offered", json!({ "alg": "RS256" }), json!({})),
        ("encrypted", json!({ "alg": "RSA-OAEP", "enc": "A128GCM" }), json!({})),
    ] {
        provider.script().head = head;
        provider.script().claims = good.clone();
        for (name, value) in claims.as_object().expect("an object") {
            provider.script().claims[name] = value.clone();
        }
        let answer = sign_in(&provider, &mut Browser::new(&app)).await;
        assert_eq!(answer.status, 502, "{what}: {}", answer.text());
        assert_nobody(&app, &answer, 502, "does not respond as it should").await;
    }
    provider.script().head = json!({});
    provider.script().claims = good;
    provider.script().forges = true;
    let answer = sign_in(&provider, &mut Browser::new(&app)).await;
    assert_nobody(&app, &answer, 502, "does not respond as it should").await;
    provider.script().forges = false;
    sign_in(&provider, &mut Browser::new(&app)).await.location();
}

#[tokio::test]
async fn the_callback_must_come_from_the_browser_that_started_the_sign_in() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "*"]).await;
    let attacker = Browser::new(&app);
    let begun = attacker.get(BEGIN).await;
    let back = provider.agree(begun.location());

    // With the attacker's callback, a victim would be signed in as the attacker.
    let mut victim = Browser::new(&app);
    assert_nobody(&app, &come_back(&mut victim, &back, &[]).await, 400, "was started in another browser").await;
    let own = cookies(&victim.get(BEGIN).await);
    assert_nobody(&app, &come_back(&mut victim, &back, &own).await, 400, "was started in another browser").await;
    for cookie in ["rollcall_sign_in=", "rollcall_sign_in=x.y", "rollcall_sign_in=."] {
        let answer = come_back(&mut victim, &back, &[cookie.to_owned()]).await;
        assert_nobody(&app, &answer, 400, "was started in another browser").await;
    }
    let mut owner = Browser::new(&app);
    for broken in [back.replace("state=", "state=A"), back.replace("code=", "none="), format!("{back}x")] {
        assert_nobody(&app, &come_back(&mut owner, &broken, &cookies(&begun)).await, 400, "").await;
    }
    come_back(&mut owner, &back, &cookies(&begun)).await.location();
}

#[tokio::test]
async fn a_code_is_used_once() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "*"]).await;
    let mut browser = Browser::new(&app);
    let begun = browser.get(BEGIN).await;
    let back = provider.agree(begun.location());
    come_back(&mut browser, &back, &cookies(&begun)).await.location();
    let answer = come_back(&mut Browser::new(&app), &back, &cookies(&begun)).await;
    assert_eq!((answer.status, sessions(&app).await), (400, 1));
    assert!(answer.text().contains("expired or was already used"), "{}", answer.text());
}

#[tokio::test]
async fn an_error_from_the_provider_is_shown_as_text() {
    let provider = Provider::start().await;
    let app = start(&provider, &[]).await;
    let mut browser = Browser::new(&app);
    let begun = browser.get(BEGIN).await;
    let back = provider.agree(begun.location());
    let state = back.split(['?', '&']).find(|pair| pair.starts_with("state=")).expect("a state");
    let said = "error=access_denied&error_description=%3Cscript%3Ealert(1)%3C/script%3E";
    let answer = come_back(&mut browser, &format!("/sign-in/openid/callback?{state}&{said}"), &cookies(&begun)).await;
    assert_nobody(&app, &answer, 403, "access_denied &lt;script&gt;alert(1)&lt;/script&gt;").await;
    let answer = Browser::new(&app).get(&format!("/sign-in/openid/callback?{said}")).await;
    assert_nobody(&app, &answer, 400, "was started in another browser").await;
    assert!(!answer.text().contains("alert(1)"), "whoever made up the address has nothing shown");
}

#[tokio::test]
async fn signing_in_never_redirects_to_another_site() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "*"]).await;
    for next in [
        "https://evil.example",
        "//evil.example",
        "/%5Cevil.example",
        "/\\evil.example",
        "/%09/evil.example",
        "/%0d%0aset-cookie:%20a=b",
        "services",
        "/sign-in",
        "/sign-in/openid",
        "/sign-out",
        "/graphql",
        "",
    ] {
        let answer = sign_in_from(&provider, &mut Browser::new(&app), &format!("{BEGIN}?next={next}")).await;
        assert_eq!(answer.location(), "/", "{next}");
        assert_eq!(answer.headers.get_all("set-cookie").iter().count(), 2, "{next}");
    }
    let long = format!("/services?search={}", "x".repeat(2_000));
    let answer = sign_in_from(&provider, &mut Browser::new(&app), &format!("{BEGIN}?next={long}")).await;
    assert_eq!(answer.location(), "/");
    // A cookie written by another port of the host does not help either.
    let begun = Browser::new(&app).get(BEGIN).await;
    let cookie = cookies(&begun).pop().expect("a cookie");
    let forged = format!("{}.{}", cookie.split('.').next().expect("a key"), "Ly9ldmlsLmV4YW1wbGU");
    let answer = come_back(&mut Browser::new(&app), &provider.agree(begun.location()), &[forged]).await;
    assert_eq!(answer.location(), "/");
}

#[tokio::test]
async fn a_session_that_was_there_before_ends() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "*"]).await;
    let mut browser = Browser::of(&app, Role::Viewer).await;
    let before = browser.cookie.clone();
    sign_in(&provider, &mut browser).await.location();
    assert_ne!(browser.cookie, before);
    let mut old = Browser::new(&app);
    old.cookie = before;
    assert!(old.get("/services").await.location().starts_with("/sign-in"));
    assert_eq!(sessions(&app).await, 1);
}

#[tokio::test]
async fn over_tls_the_cookies_of_a_sign_in_are_secure() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "*", "--app-url", "https://catalogue.example"]).await;
    let begun = Browser::new(&app).get(BEGIN).await;
    assert!(begun.location().contains("redirect_uri=https%3A%2F%2Fcatalogue.example%2Fsign-in%2Fopenid%2Fcallback"));
    let answer = come_back(&mut Browser::new(&app), &provider.agree(begun.location()), &cookies(&begun)).await;
    for answer in [begun, answer] {
        for line in answer.headers.get_all("set-cookie") {
            let line = line.to_str().expect("text");
            assert!(line.starts_with("__Host-rollcall_s") && line.contains("; Secure"), "{line}");
        }
    }
}

#[tokio::test]
async fn the_client_authenticates_by_the_providers_method() {
    let provider = Provider::start().await;
    for (methods, is_basic) in [
        (Value::Null, true),
        (json!(["client_secret_post"]), false),
        (json!(["private_key_jwt", "client_secret_post", "client_secret_basic"]), true),
    ] {
        let app = start(&provider, &["--oidc-domains", "*"]).await;
        provider.script().metadata = json!({ "token_endpoint_auth_methods_supported": methods });
        sign_in(&provider, &mut Browser::new(&app)).await.location();
        let (path, authorization) = provider.script().seen.last().cloned().expect("a request");
        assert_eq!((&*path, authorization.starts_with("Basic ")), ("/token", is_basic));
    }
}

#[tokio::test]
async fn a_new_signing_key_of_the_provider_is_fetched() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "*"]).await;
    sign_in(&provider, &mut Browser::new(&app)).await.location();
    let asked = |provider: &Provider| provider.script().seen.iter().filter(|(path, _)| path == "/keys").count();
    sign_in(&provider, &mut Browser::new(&app)).await.location();
    assert_eq!(asked(&provider), 1, "what is known is not asked again");
    provider.script().key_id = "key-2".to_owned();
    sign_in(&provider, &mut Browser::new(&app)).await.location();
    assert_eq!(asked(&provider), 2);
}

#[tokio::test]
async fn a_broken_provider_is_distinguished_from_a_refused_person() {
    let provider = Provider::start().await;
    for instead in [(500, "{}"), (200, "not json"), (200, "{}"), (302, ""), (404, "")] {
        let app = start(&provider, &["--oidc-domains", "*"]).await;
        provider.script().instead = Some((instead.0, instead.1.to_owned()));
        let answer = Browser::new(&app).get(BEGIN).await;
        assert_nobody(&app, &answer, 502, "does not respond as it should").await;
        assert!(answer.text().contains(answer.header("x-request-id").expect("an id")), "{}", answer.text());
        provider.script().instead = None;
    }
    let app = start(&provider, &["--oidc-domains", "*"]).await;
    let begun = Browser::new(&app).get(BEGIN).await;
    let back = provider.agree(begun.location());
    provider.script().instead = Some((200, "x".repeat(2 * 1024 * 1024)));
    let answer = come_back(&mut Browser::new(&app), &back, &cookies(&begun)).await;
    assert_nobody(&app, &answer, 502, "does not respond as it should").await;
    assert_eq!(Browser::new(&app).get("/livez").await.status, 200);
}

#[tokio::test]
async fn a_provider_with_another_issuer_is_not_used() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "*"]).await;
    provider.script().metadata = json!({ "issuer": "https://evil.example" });
    assert_nobody(&app, &Browser::new(&app).get(BEGIN).await, 502, "does not respond as it should").await;
}

#[tokio::test]
async fn the_audit_records_new_and_linked_users_and_who_caused_them() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "example.com"]).await;
    invite(&app, "grace@example.com", Role::User).await;
    sign_in(&provider, &mut Browser::new(&app)).await.location();
    sign_in(&provider, &mut Browser::new(&app)).await.location();
    provider.script().claims["sub"] = "grace-1".into();
    provider.script().claims["email"] = "grace@example.com".into();
    sign_in(&provider, &mut Browser::new(&app)).await.location();
    let entries = app.db.read().all(audit::Entity::find().order_by_asc(audit::Column::Id)).await.expect("entries");
    let ours = entries.iter().filter(|entry| entry.action.starts_with("userS") || entry.action.starts_with("userI"));
    let told: Vec<_> = ours.map(|entry| (&*entry.action, entry.subject_name.as_deref())).collect();
    assert_eq!(told, [("userSignUp", Some("ada@example.com")), ("userIdentityLink", Some("grace@example.com"))]);
    assert!(!entries.iter().any(|entry| entry.detail.contains(SECRET)));
}

#[tokio::test]
async fn several_tabs_of_a_new_person_sign_in_as_one_user() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-domains", "*"]).await;
    let tabs = (0..6).map(|_| async { sign_in(&provider, &mut Browser::new(&app)).await.status });
    let statuses = futures_util::future::join_all(tabs).await;
    assert!(statuses.contains(&303), "{statuses:?}");
    assert_eq!(users(&app).await.len(), 1);
    assert_eq!(app.db.read().count(identity::Entity::find()).await, Ok(1));
    let signed_in = statuses.iter().filter(|status| **status == 303).count();
    assert_eq!(sessions(&app).await, signed_in as u64, "{statuses:?}");
}

#[tokio::test]
async fn a_provider_subject_stays_linked_to_its_first_user() {
    let app = TestApp::start().await;
    let now = Timestamp::now();
    let kept = app.db.write(async |db| {
        let ada = user::create(db, "ada@example.com", None, Role::User, ProvisionedBy::CommandLine, now).await?;
        let eve = user::create(db, "eve@example.com", None, Role::User, ProvisionedBy::CommandLine, now).await?;
        let first = identity::remember(db, "https://login.example.com", "1", ada.id, now).await?;
        let second = identity::remember(db, "https://login.example.com", "1", eve.id, now).await?;
        let elsewhere = identity::remember(db, "https://login.example.org", "1", eve.id, now).await?;
        Ok::<_, Error>([first, second, elsewhere].map(|user| user.expect("a user").email))
    });
    assert_eq!(kept.await.expect("users"), ["ada@example.com", "ada@example.com", "eve@example.com"]);
}

#[test]
fn settings_that_cannot_work_are_refused_at_once() {
    let place = Place::new();
    let id = ["--oidc-client-id", "x"];
    for (flags, why) in [
        (&["--oidc-issuer", "https://login.example.com"][..], "--oidc-client-id"),
        (&id, "--oidc-issuer"),
        (&["--oidc-issuer", "http://login.example.com", id[0], id[1]], "https://"),
        (&["--oidc-issuer", "http://localhost.evil.example", id[0], id[1]], "https://"),
        (&["--oidc-issuer", "login.example.com", id[0], id[1]], "https://login.example.com"),
        (&["--oidc-issuer", "https://login.example.com", id[0], id[1], "--oidc-domains", "a b"], "example.com"),
        (&["--oidc-issuer", "https://login.example.com", id[0], id[1], "--oidc-role", "admin"], "viewer, member"),
    ] {
        let done = place.run(&[&["serve"], flags].concat());
        assert_eq!(done.status, 2, "{flags:?}: {}", done.err);
        assert!(done.err.contains(why), "{flags:?}: {}", done.err);
    }
    let flags =
        ["serve", "--oidc-issuer", "https://login.example.com", id[0], id[1], "--oidc-client-secret-file", "none"];
    let why = "the client secret of OpenID Connect cannot be read from none (from --oidc-client-secret-file or \
               ROLLCALL_OIDC_CLIENT_SECRET_FILE): No such file or directory (os error 2)";
    assert_refused(&place.run(&flags), why);
}

/// Signs a person in whose ID token names these groups, and returns the role and the teams that they have then.
async fn with_groups(app: &TestApp, provider: &Provider, groups: Value) -> (Role, Vec<String>) {
    provider.script().claims["groups"] = groups;
    let mut browser = Browser::new(app);
    let page = sign_in(provider, &mut browser).await;
    assert_eq!(page.status, 303, "{}", page.text());
    let role = users(app).await.into_iter().find(|(email, ..)| email == "ada@example.com").expect("Ada").2;
    let query = r#"{ account { user(input: { email: "ada@example.com" }) { teams { nodes { alias } } } } }"#;
    let teams = app.query(query, json!({})).await;
    let teams = teams["data"]["account"]["user"]["teams"]["nodes"].as_array().expect("teams").clone();
    (role, teams.iter().map(|team| team["alias"].as_str().expect("an alias").to_owned()).collect())
}

#[tokio::test]
async fn groups_of_the_provider_decide_roles_and_memberships_at_each_sign_in() {
    let provider = Provider::start().await;
    let flags = [
        "--oidc-domains",
        "example.com",
        "--oidc-group-roles",
        "platform=admin, dev=user",
        "--oidc-group-teams",
        "pay=payments,platform=payments,nobody=no_such_team",
    ];
    let app = start(&provider, &flags).await;
    invite(&app, "boss@example.com", Role::Admin).await;
    for team in ["Payments", "Search"] {
        let create = format!("mutation {{ teamCreate(input: {{ name: \"{team}\" }}) {{ team {{ id }} }} }}");
        app.query(&create, json!({})).await;
    }
    let payments = vec!["payments".to_owned()];
    assert_eq!(with_groups(&app, &provider, json!([])).await, (Role::Viewer, vec![]));
    assert_eq!(with_groups(&app, &provider, json!(["dev", "pay"])).await, (Role::User, payments.clone()));
    // What no setting names stays.
    let search = app.query(r#"{ account { team(alias: "search") { id } } }"#, json!({})).await;
    let join = "mutation($team: ID!) { teamMembershipCreate(input: { teamId: $team,
        members: [{ user: { email: \"ada@example.com\" } }] }) { errors { message } } }";
    let joined = app.query(join, json!({ "team": search["data"]["account"]["team"]["id"] })).await;
    assert_eq!(joined["data"]["teamMembershipCreate"]["errors"], json!([]), "{joined}");
    let mut both = with_groups(&app, &provider, json!(["/platform", "dev"])).await;
    both.1.sort();
    let teams = vec!["payments".to_owned(), "search".to_owned()];
    assert_eq!(both, (Role::Admin, teams), "the highest role, and Keycloak's slash");
    let mut without_claim = with_groups(&app, &provider, Value::Null).await;
    without_claim.1.sort();
    assert_eq!(without_claim, both, "a provider that stops sending the claim takes nothing away");
    let left = with_groups(&app, &provider, json!(["other"])).await;
    assert_eq!(left, (Role::Viewer, vec!["search".to_owned()]), "a leaver loses role and team");
    let entries = app.db.read().all(audit::Entity::find()).await.expect("entries");
    let applied = entries.iter().filter(|entry| entry.action == "userGroupsApply").count();
    assert_eq!(applied, 3, "each sign-in that changed something has an entry");
}

#[tokio::test]
async fn the_only_administrator_stays_one_whatever_the_groups_say() {
    let provider = Provider::start().await;
    let app = start(&provider, &["--oidc-group-roles", "platform=admin"]).await;
    invite(&app, "ada@example.com", Role::Admin).await;
    assert_eq!(with_groups(&app, &provider, json!(["dev"])).await.0, Role::Admin);
    invite(&app, "boss@example.com", Role::Admin).await;
    assert_eq!(with_groups(&app, &provider, json!(["dev"])).await.0, Role::Viewer);
}

#[tokio::test]
async fn a_mapping_of_groups_that_is_wrong_is_refused_at_the_start() {
    let provider = Provider::start().await;
    for (flag, value, why) in [
        ("--oidc-group-roles", "platform=boss", "boss is no role"),
        ("--oidc-group-roles", "platform", "GROUP=NAME"),
        ("--oidc-group-roles", "=admin", "GROUP=NAME"),
        ("--oidc-group-teams", "platform=", "GROUP=NAME"),
        ("--oidc-group-teams", "payments", "GROUP=NAME"),
    ] {
        let place = Place::new();
        let done = place.run(&[&provider.flags()[..], &[flag, value]].concat());
        assert!(done.status == 2 && done.err.contains(why), "{flag} {value}: {}", done.err);
    }
}
