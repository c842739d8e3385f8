//! Bodies that are written while they are sent: a list that is longer than what one response may hold in memory.
//!
//! A response is built as any other, with an empty body, and carries its chunks beside it. The connection asks for a chunk
//! once the client has taken the one before, so a slow client keeps one chunk in memory. A body that cannot go on fails: it
//! ends without its last chunk, and the client knows that it is not whole.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::Stream;
use hyper::Response;

/// The chunks of a body.
pub type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, Cut>> + Send>>;

/// Why a body ends before it is whole.
#[derive(Debug)]
pub struct Cut(pub String);

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Cut {}

/// The chunks beside a response, until the connection takes them.
#[derive(Clone)]
struct Beside(Arc<Mutex<Option<Chunks>>>);

/// Gives a response its chunks.
pub fn put(reply: &mut Response<Bytes>, chunks: Chunks) {
    reply.extensions_mut().insert(Beside(Arc::new(Mutex::new(Some(chunks)))));
}

/// Takes the chunks of a response, if it has any.
pub fn take(reply: &mut Response<Bytes>) -> Option<Chunks> {
    let Beside(chunks) = reply.extensions_mut().remove::<Beside>()?;
    chunks.lock().unwrap_or_else(PoisonError::into_inner).take()
}
