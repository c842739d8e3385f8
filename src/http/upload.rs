//! The bodies of requests: whether more of them is waited for.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::activity::{Activity, Answering};
use super::outgoing::Stream;

/// The body of a request.
pub struct Upload {
    body: Incoming,
    activity: Arc<Activity>,
    /// Over HTTP/2: its request.
    stream: Option<Arc<Stream>>,
    /// Whether more of it is waited for.
    is_waiting: bool,
}

impl Upload {
    pub(super) fn new(body: Incoming, activity: &Arc<Activity>, request: &Answering) -> Self {
        Self { body, activity: Arc::clone(activity), stream: request.stream(), is_waiting: false }
    }

    /// Notes whether more is waited for, and the bytes that have come.
    fn note(&mut self, is_waiting: bool, bytes: usize) {
        if is_waiting == self.is_waiting && bytes == 0 {
            return;
        }
        self.activity.read(self.is_waiting, is_waiting, bytes);
        self.is_waiting = is_waiting;
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if polled.is_pending() {
            self.note(true, 0);
        }
        let frame = ready!(polled);
        let bytes = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()).map_or(0, Bytes::len);
        self.note(false, bytes);
        if let (Some(Err(_)), Some(stream)) = (&frame, &self.stream) {
            stream.cancel();
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.note(false, 0);
    }
}
