//! `rollcall healthcheck`: asks the server on this machine whether it can answer. A container has no curl.

use std::net::SocketAddr;
use std::time::Duration;

use crate::config::Addresses;
use crate::outgoing;

/// How long the server may take. It waits 5 s for its database.
const PATIENCE: Duration = Duration::from_secs(6);

/// The longest answer that is read, in bytes.
const LONGEST_ANSWER: u64 = 4096;

/// Asks `/readyz`, or `/livez` where only `live` is asked for, and returns what the server says.
///
/// # Errors
/// Why the server cannot answer, in one sentence.
pub fn run(addresses: &Addresses, live: bool) -> Result<String, String> {
    if addresses.listen.port() == 0 {
        return Err("--listen names no port; give the one that the server listens on".to_owned());
    }
    let path = if live { "/livez" } else { "/readyz" };
    ask(outgoing::reachable(addresses.listen), addresses.tls.both().is_some(), path)
}

/// What the server at an address of this machine says, when it says that all is well.
///
/// # Errors
/// What else it says, or that it says nothing, in one sentence.
pub fn ask(address: SocketAddr, is_encrypted: bool, path: &str) -> Result<String, String> {
    let scheme = if is_encrypted { "https" } else { "http" };
    let request = outgoing::agent_to_ourselves().get(format!("{scheme}://{address}{path}"));
    let asked = request.config().timeout_global(Some(PATIENCE)).build().call();
    let answer = asked.and_then(|mut answer| {
        let text = answer.body_mut().with_config().limit(LONGEST_ANSWER).lossy_utf8(true).read_to_string()?;
        Ok((answer.status().as_u16(), text))
    });
    match answer {
        Ok((200, text)) => Ok(text),
        Ok((status, text)) => Err(format!("the server at {address} answers {status}: {}", text.trim())),
        Err(ureq::Error::Timeout(_)) => Err(format!("the server at {address} does not answer in time")),
        Err(error) => Err(format!("no server answers at {address}: {error}")),
    }
}
