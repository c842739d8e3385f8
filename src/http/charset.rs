//! The text of a request body, whatever its character encoding.

use std::borrow::Cow;
use std::str;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use hyper::header::{self, HeaderMap};
use serde::de::IgnoredAny;

use super::reply::Rejection;

/// What `Content-Type` says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ContentType<'h> {
    /// The media type in lower case, without parameters. Empty if there is no header.
    pub media: String,
    /// The charset, if it is named.
    pub charset: Option<&'h str>,
}

impl<'h> ContentType<'h> {
    /// Reads the header. Bytes that are not ASCII make it an unknown type.
    pub fn from_headers(headers: &'h HeaderMap) -> Self {
        let Some(line) = headers.get(header::CONTENT_TYPE) else { return Self::default() };
        let Ok(line) = line.to_str() else { return Self { media: "unreadable".to_owned(), charset: None } };
        let mut parts = line.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        let charset = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
        });
        Self { media, charset: charset.filter(|charset| !charset.is_empty()) }
    }

    /// Whether it is JSON, by any of its names.
    pub fn is_json(&self) -> bool {
        matches!(&*self.media, "application/json" | "text/json" | "application/x-json")
            || self.media.starts_with("application/") && self.media.ends_with("+json")
    }

    /// Whether the charset is UTF-8, named or not.
    pub fn is_utf8(&self) -> bool {
        self.charset.is_none_or(|charset| charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8"))
    }
}

/// A text that was read.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded<'b> {
    /// The text.
    pub text: Cow<'b, str>,
    /// Whether bytes were replaced that are no characters.
    pub is_lossy: bool,
    /// What was assumed.
    pub note: Option<String>,
}

/// Reads a body in the encoding that a byte order mark names, or else the charset of `Content-Type`, or else UTF-8. UTF-16
/// is also known by its zeros.
///
/// # Errors
/// The charset is not known, and the body is not UTF-8.
pub fn decode<'b>(kind: &ContentType<'_>, body: &'b [u8]) -> Result<Decoded<'b>, Rejection> {
    let (encoding, body, note) = match (Encoding::for_bom(body), body) {
        (Some((encoding, mark)), _) => (encoding, &body[mark..], None),
        (None, [0, b'{' | b'[' | b'"', ..]) => (UTF_16BE, body, None),
        (None, [b'{' | b'[' | b'"', 0, ..]) => (UTF_16LE, body, None),
        _ if kind.is_utf8() => (UTF_8, body, None),
        _ => named(kind, body)?,
    };
    if encoding == UTF_8
        && let Ok(text) = str::from_utf8(body)
    {
        return Ok(Decoded { text: Cow::Borrowed(text), is_lossy: false, note });
    }
    let (text, is_lossy) = encoding.decode_without_bom_handling(body);
    let note = note.or_else(|| {
        is_lossy.then(|| format!("the body has bytes that are not {}; they are replaced by \u{fffd}", encoding.name()))
    });
    Ok(Decoded { text, is_lossy, note })
}

/// The encoding that `Content-Type` names.
fn named<'b>(
    kind: &ContentType<'_>,
    body: &'b [u8],
) -> Result<(&'static Encoding, &'b [u8], Option<String>), Rejection> {
    let charset = kind.charset.unwrap_or_default();
    match Encoding::for_label(charset.as_bytes()) {
        // Clients name a charset and send another.
        Some(encoding) if is_rather_utf8(encoding, body) => {
            let note = format!("the body is read as UTF-8, which it is, and not as {}", shown(charset));
            Ok((UTF_8, body, Some(note)))
        }
        Some(encoding) => Ok((encoding, body, None)),
        None if str::from_utf8(body).is_ok() => {
            let note =
                format!("the charset {} of Content-Type is not known; the body is read as UTF-8", shown(charset));
            Ok((UTF_8, body, Some(note)))
        }
        None => Err(Rejection::Unsupported(format!(
            "The charset {} of Content-Type is not known, and the body is not UTF-8.",
            shown(charset)
        ))),
    }
}

/// Whether a body is UTF-8 although another encoding is named, in which it would be another text.
fn is_rather_utf8(encoding: &'static Encoding, body: &[u8]) -> bool {
    let is_utf8 = encoding != UTF_8 && str::from_utf8(body).is_ok() && !body.contains(&0);
    match encoding.is_ascii_compatible() {
        true => !body.is_ascii() && is_utf8 && serde_json::from_slice::<IgnoredAny>(body).is_ok(),
        // Every JSON in UTF-16 has zeros.
        false => is_utf8,
    }
}

/// A value of a header, for a sentence.
pub fn shown(value: &str) -> String {
    value.chars().take(60).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(charset: Option<&str>, body: &[u8]) -> (String, bool, bool) {
        let kind = ContentType { media: "application/json".to_owned(), charset };
        let decoded = decode(&kind, body).expect("a text");
        (decoded.text.into_owned(), decoded.is_lossy, decoded.note.is_some())
    }

    #[test]
    fn a_body_is_read_in_its_own_encoding() {
        let text = "{\"a\":\"né\"}";
        let wide = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
        let (big, little) = (wide(u16::to_be_bytes), wide(u16::to_le_bytes));
        let latin: &[u8] = b"{\"a\":\"n\xe9\"}";
        for (charset, body) in [
            (None, text.as_bytes().to_vec()),
            (Some("UTF8"), text.as_bytes().to_vec()),
            (None, [b"\xef\xbb\xbf", text.as_bytes()].concat()),
            (None, [&b"\xfe\xff"[..], &big].concat()),
            (None, [&b"\xff\xfe"[..], &little].concat()),
            (None, big.clone()),
            (None, little.clone()),
            (Some("utf-16le"), little.clone()),
            (Some("utf-16"), big),
            (Some("ISO-8859-1"), latin.to_vec()),
            (Some("windows-1252"), latin.to_vec()),
            (Some("latin1"), latin.to_vec()),
        ] {
            assert_eq!(read(charset, &body), (text.to_owned(), false, false), "{charset:?} {body:?}");
        }
        assert_eq!(read(Some("x-unheard"), text.as_bytes()), (text.to_owned(), false, true));
        for charset in ["utf-16", "utf-16le", "UTF-16BE", "latin1", "windows-1252", "iso-8859-15"] {
            assert_eq!(read(Some(charset), text.as_bytes()), (text.to_owned(), false, true), "{charset}");
        }
        assert_eq!(read(Some("latin1"), b"{\"a\":1}"), ("{\"a\":1}".to_owned(), false, false));
        assert_eq!(read(None, latin), ("{\"a\":\"n\u{fffd}\"}".to_owned(), true, true));
        let kind = ContentType { media: String::new(), charset: Some("x-unheard") };
        assert!(decode(&kind, latin).is_err());
    }
}
