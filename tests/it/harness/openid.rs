//! Signing in at a provider, as a browser does it.

use crate::harness::app::Response;
use crate::harness::browser::Browser;
use crate::harness::openid_provider::Provider;

pub const BEGIN: &str = "/sign-in/openid";

/// The cookies that a response sets.
pub fn cookies(answer: &Response) -> Vec<String> {
    let lines = answer.headers.get_all("set-cookie").iter().map(|line| line.to_str().expect("text"));
    lines.map(|line| line.split(';').next().expect("a pair").to_owned()).collect()
}

/// The final page for a person who starts at `begin` and consents at the provider. The browser keeps the session.
pub async fn sign_in_from(provider: &Provider, browser: &mut Browser<'_>, begin: &str) -> Response {
    let begun = browser.get(begin).await;
    let back = provider.agree(begun.location());
    come_back(browser, &back, &cookies(&begun)).await
}

pub async fn sign_in(provider: &Provider, browser: &mut Browser<'_>) -> Response {
    sign_in_from(provider, browser, BEGIN).await
}

/// The page for a person who is redirected to `back`, in a browser with these additional cookies.
pub async fn come_back(browser: &mut Browser<'_>, back: &str, cookies: &[String]) -> Response {
    let had = browser.cookie.take();
    browser.cookie = Some(had.iter().chain(cookies).cloned().collect::<Vec<_>>().join("; "));
    let answer = browser.get(back).await;
    let given = self::cookies(&answer).into_iter().find(|pair| pair.contains("rollcall_session="));
    browser.cookie = given.or(had);
    answer
}
