//! The bodies of responses: how far the client has taken them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::activity::{Activity, PIECE};

/// A request of HTTP/2 until the last byte of its answer is sent.
#[derive(Debug)]
pub(super) struct Stream {
    activity: Arc<Activity>,
    /// How often its answer has got further. 0 until there is one.
    steps: AtomicU32,
    /// Whether the client has ended its body early, and so cancelled it.
    is_cancelled: AtomicBool,
}

impl Stream {
    pub(super) fn new(activity: &Arc<Activity>) -> Arc<Self> {
        Arc::new(Self {
            activity: Arc::clone(activity),
            steps: AtomicU32::new(0),
            is_cancelled: AtomicBool::new(false),
        })
    }

    /// How often its answer has got further. `None` until there is one.
    pub(super) fn steps(&self) -> Option<u32> {
        Some(self.steps.load(Ordering::Relaxed)).filter(|steps| *steps > 0)
    }

    /// Notes that its client has cancelled it. It may get an answer all the same.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether its client has cancelled it.
    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    fn step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.activity.stream_ends();
    }
}

/// A piece of an answer that HTTP/2 has taken over.
struct Piece {
    bytes: Bytes,
    number: u64,
    stream: Arc<Stream>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.stream.activity.piece_ends(self.number);
    }
}

/// The body of a response.
pub(super) struct Outgoing {
    rest: Bytes,
    stream: Option<Arc<Stream>>,
}

impl Outgoing {
    /// The response to a request: of this stream, over HTTP/2.
    pub(super) fn new(answer: Bytes, stream: Option<Arc<Stream>>) -> Self {
        if let Some(stream) = &stream {
            stream.step();
        }
        Self { rest: answer, stream }
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let Some(stream) = self.stream.clone() else {
            return Poll::Ready(Some(Ok(Frame::data(std::mem::take(&mut self.rest)))));
        };
        let length = self.rest.len().min(PIECE);
        let bytes = self.rest.split_to(length);
        stream.step();
        let number = stream.activity.piece_begins();
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(Piece { bytes, number, stream })))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
