//! The cookie that carries a session's secret.

use crate::entity::key::Key;
use crate::entity::session::LIFETIME_MICROS;

/// The cookie's name. The prefix makes browsers refuse one that was not set by this host over TLS.
pub fn name(secure: bool) -> &'static str {
    if secure { "__Host-rollcall_session" } else { "rollcall_session" }
}

/// The secret among the cookies of a request, each a `Cookie` header's value.
pub fn read<'a>(headers: impl Iterator<Item = &'a str>, secure: bool) -> Option<Key> {
    let mut cookies = headers.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.find(|(known, _)| *known == name(secure)).and_then(|(_, value)| Key::read(value))
}

/// The `Set-Cookie` that gives a browser its session.
pub fn set(key: &Key, secure: bool) -> String {
    write(key.reveal(), LIFETIME_MICROS / 1_000_000, secure)
}

/// The `Set-Cookie` that takes it away.
pub fn clear(secure: bool) -> String {
    write("", 0, secure)
}

fn write(value: &str, seconds: i64, secure: bool) -> String {
    let (name, flag) = (name(secure), if secure { "; Secure" } else { "" });
    format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{flag}")
}
