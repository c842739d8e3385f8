//! `rollcall healthcheck`: asks the server on this machine whether it is ready. Containers often lack curl.

use std::io::ErrorKind;
use std::time::Duration;

use super::ourselves::Ourselves;
use crate::config::{Addresses, Listen};

/// The timeout for the server, which itself waits 5 s for its database.
const PATIENCE: Duration = Duration::from_secs(6);

/// The longest response that is read, in bytes.
const LONGEST_ANSWER: u64 = 4096;

/// Asks `/readyz`, or `/livez` if `live`, and returns the server's response.
///
/// # Errors
/// Why the server is not ready, in one sentence.
pub fn run(addresses: &Addresses, live: bool) -> Result<String, String> {
    if matches!(addresses.listen, Listen::Tcp(address) if address.port() == 0) {
        return Err("--listen has no port; give the port that the server listens on".to_owned());
    }
    let path = if live { "/livez" } else { "/readyz" };
    ask(&Ourselves::new(addresses), path)
}

/// Returns the response of the server on this machine, if its status is 200.
///
/// # Errors
/// Any other response, or why there is none, in one sentence.
pub fn ask(server: &Ourselves, path: &str) -> Result<String, String> {
    let is_encrypted = server.is_encrypted;
    match get(server, is_encrypted, path) {
        Ok((200, text)) => Ok(text),
        Ok((status, text)) => Err(format!("the server at {server} answers {status}: {}", text.trim())),
        Err(ureq::Error::Timeout(_)) => Err(format!("the server at {server} does not answer in time")),
        Err(_) if get(server, !is_encrypted, path).is_ok() => Err(match is_encrypted {
            true => format!("the server at {server} does not speak TLS; leave --tls-certificate and --tls-key out"),
            false => format!(
                "the server at {server} speaks TLS; give its --tls-certificate and --tls-key, so that it is asked by https"
            ),
        }),
        Err(ureq::Error::Io(error)) if error.kind() == ErrorKind::ConnectionRefused => {
            Err(format!("no server answers at {server}: nothing listens there. Start it with: rollcall"))
        }
        Err(error) => Err(format!("no server answers at {server}: {error}")),
    }
}

/// Returns the status and the text of a response. With the PROXY protocol, the server expects a header if it trusts this
/// machine, and takes a header for a malformed request if it does not.
fn get(server: &Ourselves, is_encrypted: bool, path: &str) -> Result<(u16, String), ureq::Error> {
    if server.expects_header {
        match get_once(server, is_encrypted, true, path) {
            Ok((400, _)) => {}
            Err(error) if !matches!(error, ureq::Error::Timeout(_)) => {}
            answer => return answer,
        }
    }
    get_once(server, is_encrypted, false, path)
}

fn get_once(
    server: &Ourselves,
    is_encrypted: bool,
    sends_header: bool,
    path: &str,
) -> Result<(u16, String), ureq::Error> {
    let request = server.agent(sends_header).get(server.url(is_encrypted, path));
    let mut answer = request.config().timeout_global(Some(PATIENCE)).build().call()?;
    let text = answer.body_mut().with_config().limit(LONGEST_ANSWER).lossy_utf8(true).read_to_string()?;
    Ok((answer.status().as_u16(), text))
}
