//! Compresses responses that the client can decompress (RFC 9110, section 12.5.3).

use std::cell::RefCell;
use std::io::{self, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::header::{self, HeaderMap, HeaderValue};
use zstd::bulk::Compressor;

use super::accept;
use super::reply::Reply;
use crate::app::assets::Asset;

/// A shorter response fits into one packet anyway.
const WORTH_COMPRESSING: usize = 1024;

thread_local! {
    /// Reused, because creating one costs as much as compressing 2 KB. Level 1 is as fast as gzip's level 1.
    static ZSTD: RefCell<io::Result<Compressor<'static>>> = RefCell::new(Compressor::new(1));
}

/// A content coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Gzip,
    Zstd,
}

/// Compresses a response with the coding that the client prefers. Leaves responses with a strong entity tag unchanged,
/// because the tag identifies their bytes.
pub fn compress(reply: &mut Reply, asked: &HeaderMap) {
    let Some(coding) = choose(reply, asked) else { return };
    // Writing to memory cannot fail. If it did, the response would be sent uncompressed.
    if let Ok(packed) = coding.pack(reply.body()) {
        *reply.body_mut() = packed.into();
        reply.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    }
}

/// Makes the response to GET the response to HEAD, without compressing anything. If GET would compress the body, its
/// length is not known and not sent.
pub fn describe(reply: &mut Reply, asked: &HeaderMap) {
    let coding = choose(reply, asked);
    // HTTP/2 would send the body, and dropping it would lose the length.
    let length = std::mem::take(reply.body_mut()).len();
    let headers = reply.headers_mut();
    match coding {
        Some(coding) => headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name())),
        None => headers.insert(header::CONTENT_LENGTH, length.into()),
    };
}

/// Returns the coding with which to compress a response. A file that the build compressed, at a higher level than would
/// be affordable here, is never compressed again.
fn choose(reply: &mut Reply, asked: &HeaderMap) -> Option<Coding> {
    let is_strong = reply.headers().get(header::ETAG).is_some_and(|tag| !tag.as_bytes().starts_with(b"W/"));
    if reply.body().len() < WORTH_COMPRESSING || is_strong {
        return None;
    }
    reply.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if reply.headers().contains_key(header::CONTENT_ENCODING) {
        if !accepts_gzip(asked) {
            unpack(reply);
        }
        return None;
    }
    Coding::preferred(asked)
}

fn accepts_gzip(asked: &HeaderMap) -> bool {
    let weight = |name| {
        let mut entries = accept::entries(asked, &header::ACCEPT_ENCODING);
        entries.find_map(|(coding, weight)| coding.eq_ignore_ascii_case(name).then_some(weight))
    };
    weight("gzip").or_else(|| weight("*")).is_some_and(|weight| weight > 0.0)
}

/// Takes the decompressed form of a file that the build compressed, for the rare client that cannot read gzip.
fn unpack(reply: &mut Reply) {
    let asset = reply.extensions().get::<&'static Asset>().copied();
    if let Some(plain) = asset.and_then(Asset::plain) {
        *reply.body_mut() = Bytes::from_static(plain);
        reply.headers_mut().remove(header::CONTENT_ENCODING);
    }
}

impl Coding {
    /// Returns the coding that the client prefers. In a tie gzip wins, because some clients list zstd although their
    /// Node.js cannot read it. Returns `None` for no compression. That includes a client that refuses `identity` but
    /// accepts no other coding: the request has already been carried out, so its response must not be withheld.
    fn preferred(asked: &HeaderMap) -> Option<Self> {
        let [mut gzip, mut zstd, mut plain, mut other] = [None; 4];
        for (coding, weight) in accept::entries(asked, &header::ACCEPT_ENCODING) {
            for (name, slot) in [("gzip", &mut gzip), ("zstd", &mut zstd), ("identity", &mut plain), ("*", &mut other)]
            {
                if coding.eq_ignore_ascii_case(name) {
                    *slot = Some(weight);
                }
            }
        }
        // `*` stands for gzip, which every client can read.
        let weights = [(Self::Zstd, zstd), (Self::Gzip, gzip.or(other))];
        let weights = weights.into_iter().filter_map(|(coding, weight)| Some((coding, weight?)));
        let plain = plain.or(other).unwrap_or(0.0);
        let better = weights.filter(|(_, weight)| *weight > 0.0 && *weight >= plain);
        better.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(coding, _)| coding)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    fn pack(self, text: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip => {
                let mut packed = GzEncoder::new(Vec::with_capacity(text.len() / 4), Compression::fast());
                packed.write_all(text)?;
                packed.finish()
            }
            Self::Zstd => ZSTD.with_borrow_mut(|zstd| match zstd {
                Ok(zstd) => zstd.compress(text),
                Err(error) => Err(error.kind().into()),
            }),
        }
    }
}

/// Compresses a body that is written while it is sent. With gzip: who prefers zstd can read that too.
pub struct Packer(GzEncoder<Vec<u8>>);

impl Packer {
    /// `None` if the client prefers the body as it is, or cannot read gzip.
    pub fn asked_for(asked: &HeaderMap) -> Option<Self> {
        let is_wanted = Coding::preferred(asked).is_some() && accepts_gzip(asked);
        is_wanted.then(|| Self(GzEncoder::new(Vec::new(), Compression::fast())))
    }

    /// Says in the head of a response whether its body is compressed.
    pub fn declare(is_packed: bool, headers: &mut HeaderMap) {
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if is_packed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(Coding::Gzip.name()));
        }
    }

    /// Compresses a part of the body, so that the client can read all of it at once.
    ///
    /// # Errors
    /// None: writing to memory cannot fail.
    pub fn pack(&mut self, part: &[u8]) -> io::Result<Vec<u8>> {
        self.0.write_all(part)?;
        self.0.flush()?;
        Ok(std::mem::take(self.0.get_mut()))
    }

    /// The end of the body, without which the client does not take it for whole.
    ///
    /// # Errors
    /// As [`pack`](Self::pack).
    pub fn end(self) -> io::Result<Vec<u8>> {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::MultiGzDecoder;

    use super::*;
    use crate::http::reply;

    #[test]
    fn a_body_in_parts_can_be_read_after_each_and_is_whole_only_with_its_end() {
        let mut packer = Packer::asked_for(&asking("zstd, gzip;q=0.5")).expect("gzip");
        let parts: Vec<String> = (0..50).map(|part| format!("{part},cart,success\r\n").repeat(100)).collect();
        let (mut sent, mut plain) = (Vec::new(), String::new());
        for part in &parts {
            sent.extend(packer.pack(part.as_bytes()).expect("memory"));
            plain.push_str(part);
            let mut read = vec![0; plain.len()];
            MultiGzDecoder::new(&*sent).read_exact(&mut read).expect("all that was written");
            assert_eq!(read, plain.as_bytes());
        }
        assert!(sent.len() < plain.len() / 4, "{} of {}", sent.len(), plain.len());
        let mut read = String::new();
        MultiGzDecoder::new(&*sent).read_to_string(&mut read).expect_err("it has no end yet");
        sent.extend(packer.end().expect("memory"));
        let mut read = String::new();
        MultiGzDecoder::new(&*sent).read_to_string(&mut read).expect("it is whole");
        assert_eq!(read, plain);
        for accept in ["", "zstd", "br", "gzip;q=0, *", "identity, gzip;q=0.5"] {
            assert!(Packer::asked_for(&asking(accept)).is_none(), "{accept}");
        }
    }

    fn asking(accept: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT_ENCODING, accept.parse().expect("a header"))])
    }

    #[test]
    fn a_compressed_file_is_sent_as_it_is_or_decompressed_once_and_never_compressed() {
        let text: String = (0..2_000).map(|number| format!("let a{number} = {number};\n")).collect();
        let packed = Coding::Gzip.pack(text.as_bytes()).expect("gzip");
        assert!(packed.len() > WORTH_COMPRESSING);
        let asset: &'static Asset = Box::leak(Box::new(Asset::gzipped("a.js", packed.leak())));
        for (accept, is_packed) in [
            ("gzip", true),
            ("zstd, gzip;q=0.5", true),
            ("identity, GZIP;q=0.5", true),
            ("*", true),
            ("zstd", false),
            ("gzip;q=0, *", false),
            ("", false),
        ] {
            let content = if is_packed { asset.content } else { asset.plain().expect("gzip") };
            let coding = is_packed.then_some(HeaderValue::from_static("gzip"));
            let mut reply = reply::asset(asset);
            compress(&mut reply, &asking(accept));
            assert_eq!(reply.headers().get(header::CONTENT_ENCODING), coding.as_ref(), "{accept}");
            let (sent, kept) = (reply.body().as_ptr_range(), content.as_ptr_range());
            assert_eq!(sent, kept, "{accept}: the bytes are not copied");
            let mut reply = reply::asset(asset);
            describe(&mut reply, &asking(accept));
            assert_eq!(reply.headers().get(header::CONTENT_ENCODING), coding.as_ref(), "{accept}");
            assert_eq!(reply.headers()[header::CONTENT_LENGTH], content.len().to_string(), "{accept}");
        }
        assert_eq!(asset.plain(), Some(text.as_bytes()));
    }

    #[test]
    fn a_body_that_get_would_compress_has_no_length_for_head() {
        for (accept, coding) in [("zstd", Some("zstd")), ("gzip", Some("gzip")), ("", None)] {
            let mut reply = reply::text("a ".repeat(1_000));
            describe(&mut reply, &asking(accept));
            let shown = |name: header::HeaderName| reply.headers().get(name).map(|value| value.to_str().expect("text"));
            assert_eq!(shown(header::CONTENT_ENCODING), coding, "{accept}");
            assert_eq!(shown(header::CONTENT_LENGTH), coding.is_none().then_some("2000"), "{accept}");
            assert!(reply.body().is_empty(), "{accept}");
        }
    }

    #[test]
    fn the_callers_weights_choose_the_coding() {
        for (accept, coding) in [
            ("", None),
            ("gzip", Some(Coding::Gzip)),
            ("zstd", Some(Coding::Zstd)),
            ("gzip, deflate, br, zstd", Some(Coding::Gzip)),
            ("zstd, gzip", Some(Coding::Gzip)),
            ("GZIP;q=0.8, zstd;q=0.5", Some(Coding::Gzip)),
            ("gzip;q=0.8, zstd; q=0.9", Some(Coding::Zstd)),
            ("gzip;q=0", None),
            ("gzip;q=0, zstd;q=0", None),
            ("gzip;q=0, *", None),
            ("*", Some(Coding::Gzip)),
            ("*;q=0", None),
            ("*;q=0, zstd", Some(Coding::Zstd)),
            ("br, *;q=0.1", Some(Coding::Gzip)),
            ("identity", None),
            ("identity, gzip;q=0.5", None),
            ("identity;q=0.5, gzip", Some(Coding::Gzip)),
            ("identity;q=0, gzip;q=0.1", Some(Coding::Gzip)),
            ("identity;q=0", None),
            ("identity;q=0, *", Some(Coding::Gzip)),
            ("br, deflate", None),
            ("gzip;q=NaN", Some(Coding::Gzip)),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, accept.parse().expect("a header"))]);
            assert_eq!(Coding::preferred(&headers), coding, "{accept}");
        }
        assert_eq!(Coding::preferred(&HeaderMap::new()), None);
    }
}
