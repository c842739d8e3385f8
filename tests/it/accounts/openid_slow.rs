//! An OpenID provider that does not respond for a while. Nobody can make it block more than a few of our threads.

use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rollcall::app::openid::exchange::BOUNDS;
use tokio::time::sleep;

use crate::harness::app::{Response, TestApp, soon};
use crate::harness::openid_provider::Provider;

const BEGIN: &str = "/sign-in/openid";
const TOKEN: &str = "/token";

/// A service behind a proxy, so that a test can use many addresses.
async fn start(provider: &Provider) -> TestApp {
    let flags = ["--oidc-domains", "*", "--trusted-proxies", "127.0.0.1"];
    TestApp::with(&[&provider.flags()[..], &flags].concat()).await
}

/// The same, where the person has signed in before.
async fn start_known(provider: &Provider) -> TestApp {
    let app = start(provider).await;
    let visitor = led_back(&app, provider).await;
    assert_eq!(come_back(&app, &visitor, "192.0.2.200").await.location(), "/");
    provider.script().seen.clear();
    app
}

/// A person whom the provider has redirected back: the callback URL, and the cookie of the attempt.
async fn led_back(app: &TestApp, provider: &Provider) -> (String, String) {
    let begun = app.get(BEGIN).await;
    let cookie = begun.header("set-cookie").expect("a cookie").split(';').next().expect("a pair").to_owned();
    (provider.agree(begun.location()), cookie)
}

async fn come_back(app: &TestApp, (path, cookie): &(String, String), client: &str) -> Response {
    app.get_with(path, &[("cookie", cookie), ("x-forwarded-for", client), ("accept", "text/html")]).await
}

/// Waits until the provider has received this many codes.
async fn until_asked(provider: &Provider, exchanges: usize) {
    soon("the provider is asked", async {
        while provider.asked(TOKEN) < exchanges {
            sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

fn assert_busy(answer: &Response) {
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("1")), "{answer:?}");
    assert!(answer.text().contains("The sign-in provider is slow"), "{}", answer.text());
}

#[tokio::test]
async fn a_slow_provider_limits_code_exchanges_and_other_visitors_are_refused_soon() {
    let provider = Provider::start().await;
    let app = start_known(&provider).await;
    let visitors: Vec<_> = join_all((0..100).map(|_| led_back(&app, &provider))).await;
    provider.script().answers.send_replace(false);
    let app = &app;
    let mut visits: FuturesUnordered<_> = visitors
        .iter()
        .enumerate()
        .map(|(n, visitor)| async move { come_back(app, visitor, &format!("192.0.2.{n}")).await })
        .collect();
    for _ in 0..visitors.len() - BOUNDS.most {
        assert_busy(&visits.next().await.expect("an answer"));
    }
    assert_eq!(provider.asked(TOKEN), BOUNDS.most);
    assert_eq!(app.get("/livez").await.status, 200);
    provider.script().answers.send_replace(true);
    while let Some(answer) = visits.next().await {
        assert_eq!(answer.location(), "/");
    }
    assert_eq!(provider.asked(TOKEN), BOUNDS.most, "who was refused was not asked for");
}

#[tokio::test]
async fn one_address_does_not_take_all_code_exchanges() {
    let provider = Provider::start().await;
    let app = start_known(&provider).await;
    let visitors: Vec<_> = join_all((0..BOUNDS.share + 3).map(|_| led_back(&app, &provider))).await;
    let other = led_back(&app, &provider).await;
    provider.script().answers.send_replace(false);
    let crowd = join_all(visitors.iter().map(|visitor| come_back(&app, visitor, "2001:db8::1")));
    let neighbour = async {
        until_asked(&provider, BOUNDS.share).await;
        let visit = come_back(&app, &other, "2001:db8:0:1::1");
        let open = async {
            until_asked(&provider, BOUNDS.share + 1).await;
            provider.script().answers.send_replace(true);
        };
        tokio::join!(visit, open).0
    };
    let (crowd, neighbour) = tokio::join!(crowd, neighbour);
    assert_eq!(neighbour.location(), "/");
    assert!(crowd.iter().all(|answer| answer.location() == "/"), "those that waited had their turn then");
}

#[tokio::test]
async fn a_sign_in_has_one_code_exchange_even_if_the_callback_is_repeated() {
    let provider = Provider::start().await;
    let app = start_known(&provider).await;
    let visitor = led_back(&app, &provider).await;
    provider.script().answers.send_replace(false);
    let first = come_back(&app, &visitor, "192.0.2.1");
    let again = async {
        until_asked(&provider, 1).await;
        for client in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
            let answer = come_back(&app, &visitor, client).await;
            assert_eq!(answer.status, 400);
            assert!(answer.text().contains("expired or was already used"), "{}", answer.text());
        }
        provider.script().answers.send_replace(true);
    };
    let (first, ()) = tokio::join!(first, again);
    assert_eq!(first.location(), "/");
    assert_eq!(come_back(&app, &visitor, "192.0.2.1").await.status, 400);
    assert_eq!(provider.asked(TOKEN), 1);
}

#[tokio::test]
async fn visitors_who_leave_do_not_cause_further_fetches_of_the_metadata() {
    let provider = Provider::start().await;
    let app = start(&provider).await;
    provider.script().answers.send_replace(false);
    for _ in 0..20 {
        // Each client disconnects before the response.
        let visit = tokio::time::timeout(Duration::from_millis(20), app.get(BEGIN)).await;
        assert!(visit.is_err());
    }
    assert_busy(&app.get(BEGIN).await);
    assert_eq!(provider.script().seen.len(), 1);
    provider.script().answers.send_replace(true);
    soon("the provider is used again", async { while app.get(BEGIN).await.status != 303 {} }).await;
    assert_eq!(provider.asked("/.well-known/openid-configuration"), 1);
}
