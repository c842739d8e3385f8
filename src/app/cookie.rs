//! The cookies: one holds the session's secret, the other a sign-in in progress at the OpenID provider.

use super::attempt::Attempt;
use catalogue::entity::key::Key;
use catalogue::entity::session::LIFETIME_MICROS;

const SESSION: &str = "rollcall_session";
const ATTEMPT: &str = "rollcall_sign_in";

/// How long a sign-in at the provider may take, in seconds.
const ATTEMPT_SECONDS: i64 = 10 * 60;

/// The full name of a cookie. With the prefix, browsers accept it only if this host set it over TLS.
fn full(name: &str, secure: bool) -> String {
    if secure { format!("__Host-{name}") } else { name.to_owned() }
}

/// Finds the session's secret in the values of a request's `Cookie` headers.
pub fn read<'a>(headers: impl Iterator<Item = &'a str>, secure: bool) -> Option<Key> {
    find(headers, SESSION, secure).and_then(Key::read)
}

/// Finds the sign-in in progress.
pub fn read_attempt<'a>(headers: impl Iterator<Item = &'a str>, secure: bool) -> Option<Attempt> {
    find(headers, ATTEMPT, secure).and_then(Attempt::read)
}

fn find<'a>(headers: impl Iterator<Item = &'a str>, name: &str, secure: bool) -> Option<&'a str> {
    let name = full(name, secure);
    let mut cookies = headers.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The `Set-Cookie` that starts a session in the browser.
pub fn set(key: &Key, secure: bool) -> String {
    write(SESSION, key.reveal(), LIFETIME_MICROS / 1_000_000, secure)
}

/// The `Set-Cookie` that removes the session.
pub fn clear(secure: bool) -> String {
    write(SESSION, "", 0, secure)
}

/// The `Set-Cookie` for a sign-in in progress. `Lax` lets the browser send it when the provider redirects back.
pub fn set_attempt(attempt: &Attempt, secure: bool) -> String {
    write(ATTEMPT, &attempt.write(), ATTEMPT_SECONDS, secure)
}

/// The `Set-Cookie` that removes the sign-in in progress.
pub fn clear_attempt(secure: bool) -> String {
    write(ATTEMPT, "", 0, secure)
}

fn write(name: &str, value: &str, seconds: i64, secure: bool) -> String {
    let (name, flag) = (full(name, secure), if secure { "; Secure" } else { "" });
    format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{flag}")
}
