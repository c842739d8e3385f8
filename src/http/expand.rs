//! Content codings of request bodies: `Content-Encoding: gzip`, `deflate` or `zstd` (RFC 9110, section 8.4).
//!
//! A body counts decompressed: decompression stops at the limit of a plain body. So it takes memory and time in proportion
//! to that limit and to what was sent, whatever the body claims.

use std::io::{self, Read};

use bytes::Bytes;
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use hyper::header::{self, HeaderMap};

use super::reply::Rejection;

/// The codings that are read, in the format of `Accept-Encoding`.
pub const CODINGS: &str = "gzip, deflate, zstd";

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// RFC 1952.
    Gzip,
    /// RFC 1950, or, as some senders take it, RFC 1951.
    Deflate,
    /// RFC 8878.
    Zstd,
}

impl Coding {
    /// The coding that the headers name. `None` for a body as it is.
    ///
    /// # Errors
    /// It is not read here, or there are several.
    pub fn from_headers(headers: &HeaderMap) -> Result<Option<Self>, Rejection> {
        let mut coding = None;
        for line in headers.get_all(header::CONTENT_ENCODING) {
            for word in line.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                let found = match word.to_ascii_lowercase().as_slice() {
                    b"" | b"identity" => continue,
                    b"gzip" | b"x-gzip" => Self::Gzip,
                    b"deflate" => Self::Deflate,
                    b"zstd" => Self::Zstd,
                    _ => {
                        let word: String = String::from_utf8_lossy(word).chars().take(40).collect();
                        return Err(Rejection::Coding(format!(
                            "Content-Encoding: {} is not read here. Send the body as it is, or as one of {CODINGS}.",
                            word.escape_debug()
                        )));
                    }
                };
                if coding.replace(found).is_some() {
                    let sentence = "Content-Encoding names several codings. Send the body as it is, or with one.";
                    return Err(Rejection::Coding(sentence.to_owned()));
                }
            }
        }
        Ok(coding)
    }

    /// The coding that a body begins like. No text does.
    pub fn seen(body: &[u8]) -> Option<Self> {
        match body {
            [0x1f, 0x8b, 0x08, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Its name in headers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Zstd => "zstd",
        }
    }

    /// Decompresses a body of at most `limit` bytes.
    ///
    /// # Errors
    /// It is longer, or not in this coding.
    pub fn expand(self, body: &[u8], limit: usize) -> Result<Bytes, Rejection> {
        let expanded = match self {
            Self::Gzip => read(MultiGzDecoder::new(body), limit),
            // The two bytes at the start of RFC 1950 are a multiple of 31, and the first says what it is.
            Self::Deflate if matches!(body, [first, second, ..] if first & 0x0f == 8 && (u16::from(*first) * 256 + u16::from(*second)) % 31 == 0) => {
                read(ZlibDecoder::new(body), limit)
            }
            Self::Deflate => read(DeflateDecoder::new(body), limit),
            Self::Zstd => zstd(body, limit),
        };
        match expanded {
            Ok(Some(expanded)) => Ok(expanded.into()),
            Ok(None) => Err(Rejection::ExpandedTooLarge(limit)),
            Err(_) => Err(Rejection::BadRequest(format!(
                "The body is not whole, or not {0}, which Content-Encoding: {0} says that it is.",
                self.name()
            ))),
        }
    }
}

/// Reads at most `limit` bytes. `None` if there are more.
fn read(decoder: impl Read, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut expanded = Vec::new();
    decoder.take(limit as u64 + 1).read_to_end(&mut expanded)?;
    Ok((expanded.len() <= limit).then_some(expanded))
}

/// Decompresses into one buffer: a frame may ask for a window of many megabytes, which only a stream needs.
fn zstd(body: &[u8], limit: usize) -> io::Result<Option<Vec<u8>>> {
    let mut decoder = zstd::bulk::Decompressor::new()?;
    let mut expanded = vec![0; limit + 1];
    match decoder.decompress_to_buffer(body, &mut expanded) {
        Ok(length) if length > limit => Ok(None),
        Ok(length) => {
            expanded.truncate(length);
            Ok(Some(expanded))
        }
        // zstd's only error that concerns the length of the buffer.
        Err(error) if error.to_string().contains("Destination buffer is too small") => Ok(None),
        Err(error) => Err(error),
    }
}
