//! Compresses responses that the client can decompress (RFC 9110, section 12.5.3).

use std::cell::RefCell;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use hyper::header::{self, HeaderMap, HeaderValue};
use zstd::bulk::Compressor;

use super::accept;
use super::reply::Reply;

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
    let is_strong = reply.headers().get(header::ETAG).is_some_and(|tag| !tag.as_bytes().starts_with(b"W/"));
    if reply.body().len() < WORTH_COMPRESSING || is_strong {
        return;
    }
    reply.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    let preferred = Coding::preferred(asked);
    if reply.headers().contains_key(header::CONTENT_ENCODING) {
        // The build compressed it already, at a higher level than would be affordable here.
        if preferred.is_some() && accepts_gzip(asked) {
            return;
        }
        unpack(reply);
    }
    let Some(coding) = preferred else { return };
    // Writing to memory cannot fail. If it did, the response would be sent uncompressed.
    if let Ok(packed) = coding.pack(reply.body()) {
        *reply.body_mut() = packed.into();
        reply.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    }
}

fn accepts_gzip(asked: &HeaderMap) -> bool {
    let mut entries = accept::entries(asked, &header::ACCEPT_ENCODING);
    entries.any(|(coding, weight)| coding.eq_ignore_ascii_case("gzip") && weight > 0.0)
}

/// Decompresses what the build compressed with gzip, for the rare client that cannot.
fn unpack(reply: &mut Reply) {
    let mut plain = Vec::new();
    if GzDecoder::new(&**reply.body()).read_to_end(&mut plain).is_ok() {
        *reply.body_mut() = plain.into();
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

#[cfg(test)]
mod tests {
    use super::*;

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
