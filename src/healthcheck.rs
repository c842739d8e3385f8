//! `rollcall healthcheck`: asks the server on this machine whether it is ready. Containers often lack curl.

use std::net::SocketAddr;
use std::time::Duration;

use crate::config::Addresses;
use crate::outgoing;

/// The timeout for the server, which itself waits 5 s for its database.
const PATIENCE: Duration = Duration::from_secs(6);

/// The longest response that is read, in bytes.
const LONGEST_ANSWER: u64 = 4096;

/// Asks `/readyz`, or `/livez` if `live`, and returns the server's response.
///
/// # Errors
/// Why the server is not ready, in one sentence.
pub fn run(addresses: &Addresses, live: bool) -> Result<String, String> {
    if addresses.listen.port() == 0 {
        return Err("--listen has no port; give the port that the server listens on".to_owned());
    }
    let path = if live { "/livez" } else { "/readyz" };
    ask(outgoing::reachable(addresses.listen), addresses.tls.both().is_some(), path)
}

/// Returns the response of the server at an address of this machine, if its status is 200.
///
/// # Errors
/// Any other response, or why there is none, in one sentence.
pub fn ask(address: SocketAddr, is_encrypted: bool, path: &str) -> Result<String, String> {
    match get(address, is_encrypted, path) {
        Ok((200, text)) => Ok(text),
        Ok((status, text)) => Err(format!("the server at {address} answers {status}: {}", text.trim())),
        Err(ureq::Error::Timeout(_)) => Err(format!("the server at {address} does not answer in time")),
        Err(_) if get(address, !is_encrypted, path).is_ok() => Err(match is_encrypted {
            true => format!("the server at {address} does not speak TLS; leave --tls-certificate and --tls-key out"),
            false => format!(
                "the server at {address} speaks TLS; give its --tls-certificate and --tls-key, so that it is asked by \
                 https"
            ),
        }),
        Err(error) => Err(format!("no server answers at {address}: {error}")),
    }
}

/// Returns the status and the text of a response.
fn get(address: SocketAddr, is_encrypted: bool, path: &str) -> Result<(u16, String), ureq::Error> {
    let scheme = if is_encrypted { "https" } else { "http" };
    let request = outgoing::agent_to_ourselves().get(format!("{scheme}://{address}{path}"));
    let mut answer = request.config().timeout_global(Some(PATIENCE)).build().call()?;
    let text = answer.body_mut().with_config().limit(LONGEST_ANSWER).lossy_utf8(true).read_to_string()?;
    Ok((answer.status().as_u16(), text))
}
