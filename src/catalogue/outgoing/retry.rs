//! Requests that are repeated while that may help.

use std::thread;
use std::time::Duration;

use ureq::http::Response;

use super::{authority, host};

/// The pause after the first attempt. It doubles with each attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause, unless the server asks for a longer one.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The outcome of an attempt. Messages name the host, and never contain the rest of the URL.
#[derive(Debug)]
pub enum Attempt<T> {
    /// A final response.
    Done(T),
    /// Retrying would give the same result.
    Refused(String),
    /// Retrying may help, perhaps after a delay that the server asked for.
    Again {
        /// Why.
        why: String,
        /// The delay.
        after: Option<Duration>,
    },
}

/// Attempts until there is a final response or the time is up. `left` returns the time until the deadline, and `tell` is
/// told why another attempt follows. Blocks.
///
/// # Errors
/// Why there is no response, in a sentence or a few.
pub fn retry<T>(
    left: impl Fn() -> Duration,
    tell: impl Fn(&str),
    attempt: impl Fn() -> Attempt<T>,
) -> Result<T, String> {
    let mut pause = FIRST_PAUSE;
    let mut is_first = true;
    loop {
        let (why, asked) = match attempt() {
            Attempt::Done(said) => return Ok(said),
            Attempt::Refused(why) => return Err(why),
            Attempt::Again { why, after } => (why, after),
        };
        // Jitter, so that clients that lost the server together do not return together.
        let own = pause.mul_f64(0.75 + fastrand::f64() / 2.0);
        let wait = asked.map_or(own, |asked| asked.max(own));
        // A server may ask for any number of seconds, so do not add to it: it could overflow.
        if wait >= left() {
            return Err(format!("{why}; gave up at the deadline (--deadline)"));
        }
        let limit = match is_first {
            true => format!(", for at most {:.0} s (--deadline)", left().as_secs_f64()),
            false => String::new(),
        };
        tell(&format!("rollcall: {why}; trying again in {:.1} s{limit}", wait.as_secs_f64()));
        is_first = false;
        thread::sleep(wait);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The delay that a response asks for. A number of seconds too large for any deadline becomes the largest one.
fn retry_after<B>(response: &Response<B>) -> Option<Duration> {
    let text = response.headers().get("retry-after")?.to_str().ok()?;
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| Duration::from_secs(text.parse().unwrap_or(u64::MAX)))
}

/// Why a request to `url` must be sent by TLS, if the response says so: it redirects to `https://` on the same host, or it
/// is the answer of a common web server to plain HTTP on a TLS port. `None` for any other response.
pub fn needs_tls<B>(url: &str, response: &Response<B>, text: &str) -> Option<String> {
    if !url.starts_with("http://") {
        return None;
    }
    let location = response.headers().get("location").and_then(|location| location.to_str().ok()).unwrap_or_default();
    let redirects = response.status().is_redirection()
        && location.starts_with("https://")
        && host(location).eq_ignore_ascii_case(host(url));
    // nginx and Go name HTTPS in this answer, Apache SSL.
    let complains = response.status() == 400 && ["HTTPS", "SSL-enabled"].iter().any(|word| text.contains(word));
    let host = authority(url);
    (redirects || complains).then(|| format!("the server {host} speaks TLS; write https:// instead of http://"))
}

/// What a request is for, in the words of its errors.
#[derive(Debug)]
pub struct Purpose {
    /// What is sent or read.
    pub what: &'static str,
    /// What is done with it: `sent` or `read`.
    pub done: &'static str,
    /// Where the URL should lead.
    pub receiver: &'static str,
}

impl<T> Attempt<T> {
    /// The outcome of a response with an error's status. `details` is what it says of the error, and `receiver` what should
    /// be at the URL.
    pub fn refused<B>(response: &Response<B>, details: String, receiver: &str) -> Self {
        match response.status().as_u16() {
            status @ (429 | 500..=599) => {
                let why = if details.is_empty() { format!("the server answers {status}") } else { details };
                Self::Again { why, after: retry_after(response) }
            }
            status if details.is_empty() => {
                Self::Refused(format!("the server answers {status}, but not like {receiver}: is the URL right?"))
            }
            _ => Self::Refused(details),
        }
    }

    /// The outcome of a request to `url` without a response.
    pub fn failed(error: &ureq::Error, Purpose { what, done, receiver }: &Purpose, url: &str) -> Self {
        let host = authority(url);
        let again =
            |why: String| Self::Again { why: format!("the server {host} cannot be reached: {why}"), after: None };
        let is_plain = tls_error(error).is_some_and(|error| matches!(error, rustls::Error::InvalidMessage(_)));
        match error {
            _ if is_plain => {
                Self::Refused(format!("the server {host} does not speak TLS; write http:// instead of https://"))
            }
            // The certificate was refused. A retry would be refused too.
            ureq::Error::Io(io) if tls_error(error).is_some() => {
                Self::Refused(format!("the server {host} is not trusted: {io}"))
            }
            ureq::Error::Rustls(error) => Self::Refused(format!("the server {host} is not trusted: {error}")),
            ureq::Error::Io(error) => again(error.to_string()),
            ureq::Error::Timeout(_) => again("it does not answer in time".to_owned()),
            ureq::Error::HostNotFound => again("unknown host name".to_owned()),
            ureq::Error::ConnectionFailed => again("no connection".to_owned()),
            // A TLS server answers plain HTTP with an alert, which is not HTTP.
            ureq::Error::Protocol(_) if url.starts_with("http://") => Self::Refused(format!(
                "the server {host} does not speak HTTP; if it speaks TLS, write https:// instead of http://"
            )),
            ureq::Error::Protocol(_) => again("its response is not valid HTTP".to_owned()),
            ureq::Error::BodyExceedsLimit(_) => {
                Self::Refused(format!("the server does not answer like {receiver}: is the URL right?"))
            }
            // These errors can contain the URL.
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => Self::Refused(format!("the {what} URL cannot be read")),
            ureq::Error::InvalidProxyUrl => {
                Self::Refused("the proxy that the environment names cannot be read".to_owned())
            }
            ureq::Error::LargeResponseHeader(..) => {
                Self::Refused(format!("the server {host} answers with headers that are too long"))
            }
            other => Self::Refused(format!("the {what} cannot be {done}: {other}")),
        }
    }
}

/// Returns the TLS error, if the handshake failed. A server without TLS answers the handshake with an invalid message.
fn tls_error(error: &ureq::Error) -> Option<&rustls::Error> {
    match error {
        ureq::Error::Rustls(error) => Some(error),
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}
