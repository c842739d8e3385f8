//! The cookies: one carries a session's secret, one that of a sign-in which was begun at the OpenID provider.

use super::openid::attempt::Attempt;
use crate::entity::key::Key;
use crate::entity::session::LIFETIME_MICROS;

const SESSION: &str = "rollcall_session";
const ATTEMPT: &str = "rollcall_sign_in";

/// A sign-in at the provider may take so many seconds.
const ATTEMPT_SECONDS: i64 = 10 * 60;

/// A cookie's whole name. The prefix makes browsers refuse one that was not set by this host over TLS.
fn full(name: &str, secure: bool) -> String {
    if secure { format!("__Host-{name}") } else { name.to_owned() }
}

/// The session's secret among the cookies of a request, each a `Cookie` header's value.
pub fn read<'a>(headers: impl Iterator<Item = &'a str>, secure: bool) -> Option<Key> {
    find(headers, SESSION, secure).and_then(Key::read)
}

/// The sign-in that was begun, likewise.
pub fn read_attempt<'a>(headers: impl Iterator<Item = &'a str>, secure: bool) -> Option<Attempt> {
    find(headers, ATTEMPT, secure).and_then(Attempt::read)
}

fn find<'a>(headers: impl Iterator<Item = &'a str>, name: &str, secure: bool) -> Option<&'a str> {
    let name = full(name, secure);
    let mut cookies = headers.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// The `Set-Cookie` that gives a browser its session.
pub fn set(key: &Key, secure: bool) -> String {
    write(SESSION, key.reveal(), LIFETIME_MICROS / 1_000_000, secure)
}

/// The `Set-Cookie` that takes it away.
pub fn clear(secure: bool) -> String {
    write(SESSION, "", 0, secure)
}

/// The `Set-Cookie` that keeps a sign-in while it is under way. `Lax` lets it be sent when the provider leads back.
pub fn set_attempt(attempt: &Attempt, secure: bool) -> String {
    write(ATTEMPT, &attempt.write(), ATTEMPT_SECONDS, secure)
}

/// The `Set-Cookie` that takes it away.
pub fn clear_attempt(secure: bool) -> String {
    write(ATTEMPT, "", 0, secure)
}

fn write(name: &str, value: &str, seconds: i64, secure: bool) -> String {
    let (name, flag) = (full(name, secure), if secure { "; Secure" } else { "" });
    format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{flag}")
}
