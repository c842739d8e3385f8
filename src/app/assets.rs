//! The static files of pages. Their names contain a hash of their content, so browsers may cache them forever.

use std::io::Read;
use std::sync::{LazyLock, OnceLock};

use data_encoding::HEXLOWER;
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};

/// A file.
#[derive(Debug)]
pub struct Asset {
    /// Its name: `style.1f2e3d4c5b6a7988.css`.
    pub name: String,
    /// Its media type.
    pub media: &'static str,
    /// The content.
    pub content: &'static [u8],
    /// Whether the content is compressed with gzip.
    pub is_gzipped: bool,
    /// The decompressed content, once a client has needed it.
    plain: OnceLock<Option<Vec<u8>>>,
}

/// The stylesheet.
pub static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("style", "css", "text/css; charset=utf-8", include_bytes!("style.css")));

/// The script. All pages work without it.
pub static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("script", "js", "text/javascript; charset=utf-8", include_bytes!("script.js")));

/// The favicon.
pub static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", "image/svg+xml", include_bytes!("icon.svg")));

/// The files of GraphiQL, by their names, as the build compressed them.
const GZIPPED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/explorer.rs"));

/// The files of GraphiQL. Empty if it was not built.
pub static EXPLORER: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let asset = |(name, content): &(&str, &'static [u8])| Asset::gzipped(name, content);
    GZIPPED.iter().map(asset).collect()
});

impl Asset {
    fn new(name: &str, extension: &str, media: &'static str, content: &'static [u8]) -> Self {
        let hash = HEXLOWER.encode(&Sha256::digest(content)[..8]);
        let name = format!("{name}.{hash}.{extension}");
        Self { name, media, content, is_gzipped: false, plain: OnceLock::new() }
    }

    /// A file that the build compressed. Its name already contains a hash.
    pub fn gzipped(name: &str, content: &'static [u8]) -> Self {
        let media = match name.rsplit_once('.') {
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "ttf")) => "font/ttf",
            _ => "text/plain; charset=utf-8",
        };
        Self { name: name.to_owned(), media, content, is_gzipped: true, plain: OnceLock::new() }
    }

    /// The content of a compressed file without the compression. Decompresses it once and keeps it. `None` if it is not
    /// compressed.
    pub fn plain(&self) -> Option<&[u8]> {
        let unpacked = || {
            let mut plain = Vec::new();
            GzDecoder::new(self.content).read_to_end(&mut plain).ok()?;
            Some(plain)
        };
        self.plain.get_or_init(unpacked).as_deref()
    }

    /// The path of its URL.
    pub fn path(&self) -> String {
        format!("/assets/{}", self.name)
    }
}

/// Finds a file by name.
pub fn find(name: &str) -> Option<&'static Asset> {
    [&*STYLE, &*SCRIPT, &*ICON].into_iter().chain(&*EXPLORER).find(|asset| asset.name == name)
}
