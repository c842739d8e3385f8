//! An OpenID provider that serves its metadata at once and everything else slowly.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

/// The delay of its token responses.
const SLOW: Duration = Duration::from_secs(9);

/// A provider that runs as long as the process.
pub struct SlowProvider {
    pub issuer: String,
    exchanges: Arc<AtomicU64>,
    most: Arc<AtomicU64>,
}

impl SlowProvider {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let (exchanges, most) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let provider = Self { issuer: issuer.clone(), exchanges: Arc::clone(&exchanges), most: Arc::clone(&most) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (issuer, exchanges, most) = (issuer.clone(), Arc::clone(&exchanges), Arc::clone(&most));
                thread::spawn(move || answer(stream, &issuer, &exchanges, &most));
            }
        });
        provider
    }

    /// The maximum number of concurrently waiting code exchanges.
    pub fn most_exchanges(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }

    /// The currently waiting code exchanges.
    pub fn exchanges(&self) -> u64 {
        self.exchanges.load(Ordering::Relaxed)
    }
}

fn answer(mut stream: TcpStream, issuer: &str, exchanges: &AtomicU64, most: &AtomicU64) {
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    while !text.windows(4).any(|four| four == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(read) => text.extend_from_slice(&piece[..read]),
        }
    }
    let head = String::from_utf8_lossy(&text);
    let body = if head.contains("/.well-known/") {
        json!({
            "issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"), "token_endpoint": format!("{issuer}/token"),
            "jwks_uri": format!("{issuer}/keys"), "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        })
    } else if head.contains("/keys") {
        json!({ "keys": [] })
    } else {
        most.fetch_max(exchanges.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        thread::sleep(SLOW);
        exchanges.fetch_sub(1, Ordering::Relaxed);
        json!({})
    };
    let body = body.to_string();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
    let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
}
