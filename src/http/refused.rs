//! Adds a body to the responses of hyper's own. hyper refuses malformed requests by a bare status; the body says why.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::reply;

/// The statuses that hyper sends by itself. Our own responses with these statuses have a body.
const BARE: [StatusCode; 3] =
    [StatusCode::BAD_REQUEST, StatusCode::URI_TOO_LONG, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE];

/// The header that marks a response without a body.
const EMPTY: &str = "content-length: 0\r\n";

/// A stream that adds the missing bodies to what hyper writes.
pub(super) struct Explained<S> {
    stream: S,
    /// Whether everything so far was written completely. If so, the next write begins with the head of a response,
    /// because hyper writes head and body together.
    is_between: bool,
    /// The replacement for hyper's bytes, and how much of it has been written.
    instead: Option<(Vec<u8>, usize)>,
}

impl<S> Explained<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, is_between: true, instead: None }
    }
}

impl<S: AsyncWrite + Unpin> Explained<S> {
    /// Writes `slices`, or their replacement.
    fn write(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let given = slices.iter().map(|slice| slice.len()).sum();
        if self.is_between && self.instead.is_none() {
            self.instead = slices.first().and_then(|head| explained(head)).map(|text| (text, 0));
        }
        if let Some((text, written)) = &mut self.instead {
            while *written < text.len() {
                match ready!(Pin::new(&mut self.stream).poll_write(cx, &text[*written..]))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    more => *written += more,
                }
            }
            self.instead = None;
            return Poll::Ready(Ok(given));
        }
        let written = ready!(write(Pin::new(&mut self.stream), cx))?;
        self.is_between = written == given;
        Poll::Ready(Ok(written))
    }
}

/// Returns the complete response for a bare head from hyper.
fn explained(head: &[u8]) -> Option<Vec<u8>> {
    let status = head.strip_prefix(b"HTTP/1.1 4")?;
    let status = BARE.into_iter().find(|bare| status.starts_with(&bare.as_str().as_bytes()[1..]))?;
    let head = std::str::from_utf8(head).ok().filter(|head| head.ends_with("\r\n\r\n"))?;
    let (before, after) = head.split_once(EMPTY)?;
    let answer = reply::unread(status);
    let mut text = before.as_bytes().to_vec();
    for (name, value) in answer.headers() {
        text.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    text.extend(format!("content-length: {}\r\n{after}", answer.body().len()).as_bytes());
    text.extend_from_slice(answer.body());
    Some(text)
}

impl<S: AsyncRead + Unpin> AsyncRead for Explained<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Explained<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(cx, &[IoSlice::new(bytes)], |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, slices, |stream, cx| stream.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_our_own_and_anything_else_stay_as_they_are() {
        let bare =
            "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let text = String::from_utf8(explained(bare.as_bytes()).expect("an answer")).expect("text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.contains(&format!("content-length: {}\r\ndate: x", body.len())), "{head}");
        assert!(body.contains("more than 100 headers"), "{body}");
        for other in [
            bare.replace("431 ", "404 "),
            bare.replace("431 ", "200 "),
            bare.replace("content-length: 0", "content-length: 10"),
            bare.trim_end().to_owned(),
            "HTTP/2".to_owned(),
        ] {
            assert_eq!(explained(other.as_bytes()), None, "{other}");
        }
    }
}
