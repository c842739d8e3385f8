//! The text of global ids: base64url without padding of `gid://rollcall/<Class>/<number>`.

use data_encoding::BASE64URL_NOPAD;

/// What every id begins with, before it is encoded.
pub const SCHEME: &str = "gid://rollcall/";

/// The id of a row as clients see it.
pub fn text(class: &str, number: i64) -> String {
    BASE64URL_NOPAD.encode(format!("{SCHEME}{class}/{number}").as_bytes())
}
