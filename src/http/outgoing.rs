//! The bodies of responses: how far the client has taken them.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::activity::{Activity, PIECE};
use super::streamed::{Chunks, Cut};

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
    /// What comes after `rest`.
    more: Option<More>,
}

/// The chunks of a body that is written while it is sent.
struct More {
    chunks: Chunks,
    activity: Arc<Activity>,
    /// What the request is counted for, until all of its answer is sent.
    _held: Bytes,
}

impl Outgoing {
    /// The response to a request: of this stream, over HTTP/2.
    pub(super) fn new(answer: Bytes, stream: Option<Arc<Stream>>) -> Self {
        if let Some(stream) = &stream {
            stream.step();
        }
        Self { rest: answer, stream, more: None }
    }

    /// The same with chunks after it.
    pub(super) fn followed_by(self, chunks: Chunks, activity: Arc<Activity>) -> Self {
        let more = More { chunks, activity, _held: self.rest.clone() };
        Self { more: Some(more), ..self }
    }

    /// Waits for the next chunk, unless there is something left of the last one. Returns whether there is anything to send.
    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Cut>> {
        while self.rest.is_empty() {
            let Some(more) = &mut self.more else { return Poll::Ready(Ok(false)) };
            match ready!(more.chunks.as_mut().poll_next(cx)).transpose() {
                Ok(Some(chunk)) => {
                    more.activity.chunk_begins();
                    self.rest = chunk;
                }
                Ok(None) => self.more = None,
                Err(cut) => {
                    self.more = None;
                    return Poll::Ready(Err(cut));
                }
            }
        }
        Poll::Ready(Ok(true))
    }
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match ready!(self.poll_rest(cx)) {
            Ok(true) => {}
            Ok(false) => return Poll::Ready(None),
            Err(cut) => return Poll::Ready(Some(Err(cut))),
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
        self.rest.is_empty() && self.more.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        match self.more {
            None => SizeHint::with_exact(self.rest.len() as u64),
            Some(_) => SizeHint::default(),
        }
    }
}
