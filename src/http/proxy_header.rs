//! The PROXY protocol, versions 1 and 2: the first bytes of a connection, in which a proxy names the client.
//!
//! Strict, because whoever writes these bytes chooses the address that limits and the audit see: only what the protocol's
//! specification allows is taken, in full and within a bound. Whom to believe is the caller's to decide.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The longest header that is read, in bytes. One of version 1 has at most 107. One of version 2 may have more, for what
/// proxies add to the addresses.
pub const LONGEST: usize = 4_096;

/// The longest header of version 1, with its line end.
const LONGEST_LINE: usize = 107;

/// The first bytes of a header of version 2.
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";

/// Why a connection has no header.
#[derive(Debug)]
pub(super) enum Refused {
    /// It was closed before the first byte. Health checks of proxies do that.
    Closed,
    /// It ended, or failed, within the header.
    Ended(io::Error),
    /// The bytes are not a header.
    Malformed(&'static str),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        Self::Ended(error)
    }
}

/// Reads the header and nothing after it. Returns the client's address; `None` if the proxy speaks for itself, or does not
/// know the client's address.
pub(super) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Result<Option<SocketAddr>, Refused> {
    // The shortest header has 15 bytes, so this cannot read too much.
    let mut start = [0; SIGNATURE.len()];
    match stream.read(&mut start).await? {
        0 => return Err(Refused::Closed),
        read => stream.read_exact(&mut start[read..]).await?,
    };
    if start == *SIGNATURE {
        return read_binary(stream).await;
    }
    if !start.starts_with(b"PROXY ") {
        return Err(Refused::Malformed("it does not begin with a PROXY header"));
    }
    let mut line = start.to_vec();
    while line.last() != Some(&b'\n') {
        if line.len() == LONGEST_LINE {
            return Err(Refused::Malformed("its PROXY header of version 1 is longer than 107 bytes"));
        }
        // Byte by byte: what follows the line belongs to TLS or HTTP.
        line.push(stream.read_u8().await?);
    }
    of_line(&line).ok_or(Refused::Malformed("its PROXY header of version 1 is not valid"))
}

/// Parses a header of version 1. The outer `None` means that it is not valid.
fn of_line(line: &[u8]) -> Option<Option<SocketAddr>> {
    let line = line.strip_prefix(b"PROXY ")?.strip_suffix(b"\r\n")?;
    let text = std::str::from_utf8(line).ok()?;
    let (family, rest) = text.split_once(' ').unwrap_or((text, ""));
    match family {
        // What follows is to be ignored.
        "UNKNOWN" => Some(None),
        "TCP4" => of_words::<Ipv4Addr>(rest).map(Some),
        "TCP6" => of_words::<Ipv6Addr>(rest).map(Some),
        _ => None,
    }
}

/// Parses `SOURCE DESTINATION SOURCE-PORT DESTINATION-PORT` and returns the source.
fn of_words<A: FromStr + Into<IpAddr>>(text: &str) -> Option<SocketAddr> {
    let words: Vec<&str> = text.split(' ').collect();
    let [source, destination, source_port, destination_port] = words[..] else { return None };
    let (source, _) = (source.parse::<A>().ok()?, destination.parse::<A>().ok()?);
    let (port, _) = (port(source_port)?, port(destination_port)?);
    Some(SocketAddr::new(source.into(), port))
}

/// Parses a port without a sign and leading zeros.
fn port(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}

/// Reads a header of version 2 after its signature.
async fn read_binary(stream: &mut (impl AsyncRead + Unpin)) -> Result<Option<SocketAddr>, Refused> {
    let mut fixed = [0; 4];
    stream.read_exact(&mut fixed).await?;
    let [command, family, high, low] = fixed;
    let length = usize::from(u16::from_be_bytes([high, low]));
    if length > LONGEST - SIGNATURE.len() - fixed.len() {
        return Err(Refused::Malformed("its PROXY header of version 2 is longer than 4,096 bytes"));
    }
    let mut rest = vec![0; length];
    stream.read_exact(&mut rest).await?;
    match command {
        // The proxy itself connects, such as for a health check. What follows is to be ignored.
        0x20 => Ok(None),
        0x21 => of_block(family, &rest).ok_or(Refused::Malformed("its PROXY header of version 2 is not valid")),
        _ => Err(Refused::Malformed("its PROXY header has an unknown version or command")),
    }
}

/// Parses what follows the length of a header of version 2. The outer `None` means that it is not valid.
fn of_block(family: u8, block: &[u8]) -> Option<Option<SocketAddr>> {
    let (client, additions) = match family {
        0x00 => (None, block),
        // Over IPv4, by TCP or by QUIC.
        0x11 | 0x12 => {
            let (addresses, rest) = block.split_first_chunk::<12>()?;
            let [a, b, c, d, _, _, _, _, high, low, _, _] = *addresses;
            (Some(SocketAddr::from(([a, b, c, d], u16::from_be_bytes([high, low])))), rest)
        }
        0x21 | 0x22 => {
            let (addresses, rest) = block.split_first_chunk::<36>()?;
            let (source, ports) = (addresses.first_chunk::<16>()?, addresses.last_chunk::<4>()?);
            (Some(SocketAddr::from((*source, u16::from_be_bytes([ports[0], ports[1]])))), rest)
        }
        // A Unix socket of the proxy's machine, which says nothing about the client.
        0x31 | 0x32 => (None, block.split_first_chunk::<216>()?.1),
        _ => return None,
    };
    are_additions(additions).then_some(client)
}

/// Whether bytes are entries of a type, a length of two bytes and as many bytes.
fn are_additions(mut bytes: &[u8]) -> bool {
    while let Some(([_, high, low], rest)) = bytes.split_first_chunk::<3>() {
        match rest.get(usize::from(u16::from_be_bytes([*high, *low]))..) {
            Some(rest) => bytes = rest,
            None => return false,
        }
    }
    bytes.is_empty()
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    /// What a header names, and the bytes after it.
    fn outcome(bytes: &[u8]) -> Result<(Option<String>, Vec<u8>), String> {
        let mut stream = bytes;
        let read = read(&mut stream).now_or_never().expect("bytes that are there");
        match read {
            Ok(client) => Ok((client.map(|client| client.to_string()), stream.to_vec())),
            Err(refused) => Err(format!("{refused:?}")),
        }
    }

    fn binary(command: u8, family: u8, block: &[u8]) -> Vec<u8> {
        let length = u16::try_from(block.len()).expect("a length").to_be_bytes();
        [&SIGNATURE[..], &[command, family], &length, block].concat()
    }

    const V4: [u8; 12] = [192, 0, 2, 7, 10, 0, 0, 1, 0xdc, 0x04, 0x01, 0xbb];

    #[test]
    fn a_line_names_the_client_and_what_follows_stays() {
        for (line, client) in [
            ("PROXY TCP4 192.0.2.7 10.0.0.1 56324 443\r\n", Some("192.0.2.7:56324")),
            ("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", Some("255.255.255.255:65535")),
            ("PROXY TCP6 2001:db8::7 ::1 0 443\r\n", Some("[2001:db8::7]:0")),
            ("PROXY UNKNOWN\r\n", None),
            ("PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n", None),
        ] {
            let (said, rest) = outcome(&[line.as_bytes(), b"GET / HTTP/1.1\r\n"].concat()).expect(line);
            assert_eq!((said.as_deref(), &*rest), (client, &b"GET / HTTP/1.1\r\n"[..]), "{line}");
        }
    }

    #[test]
    fn what_is_not_quite_a_line_is_refused() {
        let long = format!("PROXY UNKNOWN {}\r\n", "x".repeat(100));
        for line in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "PROXY\tTCP4 192.0.2.7 10.0.0.1 56324 443\r\n",
            "proxy TCP4 192.0.2.7 10.0.0.1 56324 443\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 56324 443\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 56324\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 56324 443 \r\n",
            "PROXY TCP4  192.0.2.7 10.0.0.1 56324 443\r\n",
            "PROXY TCP4 192.0.2.07 10.0.0.1 56324 443\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 +5632 443\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 056324 443\r\n",
            "PROXY TCP4 192.0.2.7 10.0.0.1 65536 443\r\n",
            "PROXY TCP4 2001:db8::7 ::1 56324 443\r\n",
            "PROXY TCP6 192.0.2.7 10.0.0.1 56324 443\r\n",
            "PROXY UNKNOWNX\r\n",
            "PROXY UDP4 192.0.2.7 10.0.0.1 56324 443\r\n",
            &long,
        ] {
            let refused = outcome(line.as_bytes()).expect_err(line);
            assert!(refused.starts_with("Malformed"), "{line}: {refused}");
        }
        assert_eq!(outcome(b""), Err("Closed".to_owned()));
        for end in 1..40 {
            let refused = outcome(&b"PROXY TCP4 192.0.2.7 10.0.0.1 56324 443\r\n"[..end]).expect_err("a part");
            assert!(refused.starts_with("Ended"), "{end}: {refused}");
        }
    }

    #[test]
    fn a_block_names_the_client_and_what_follows_stays() {
        let v6 = [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[7], &[0; 16], &[0, 80, 1, 0xbb]].concat();
        let added = [&V4[..], &[0x02, 0, 3], b"abc", &[0x04, 0, 0]].concat();
        for (block, client) in [
            (binary(0x21, 0x11, &V4), Some("192.0.2.7:56324")),
            (binary(0x21, 0x12, &V4), Some("192.0.2.7:56324")),
            (binary(0x21, 0x11, &added), Some("192.0.2.7:56324")),
            (binary(0x21, 0x21, &v6), Some("[2001:db8::7]:80")),
            (binary(0x21, 0x31, &[0; 216]), None),
            (binary(0x21, 0x00, &[]), None),
            (binary(0x20, 0x00, &[]), None),
            (binary(0x20, 0x11, &V4), None),
            (binary(0x20, 0xff, b"anything"), None),
            (binary(0x20, 0x00, &[0; LONGEST - 16]), None),
        ] {
            let (said, rest) = outcome(&[&block[..], b"PRI *"].concat()).expect("a header");
            assert_eq!((said.as_deref(), &*rest), (client, &b"PRI *"[..]), "{block:?}");
        }
    }

    #[test]
    fn what_is_not_quite_a_block_is_refused() {
        for block in [
            binary(0x11, 0x11, &V4),
            binary(0x22, 0x11, &V4),
            binary(0x21, 0x10, &V4),
            binary(0x21, 0x13, &V4),
            binary(0x21, 0x41, &V4),
            binary(0x21, 0x11, &V4[..11]),
            binary(0x21, 0x21, &V4),
            binary(0x21, 0x31, &[0; 215]),
            binary(0x21, 0x11, &[&V4[..], &[4, 0, 1]].concat()),
            binary(0x21, 0x11, &[&V4[..], &[4, 0]].concat()),
            binary(0x20, 0x00, &[0; LONGEST - 15]),
        ] {
            let refused = outcome(&block).expect_err("a refusal");
            assert!(refused.starts_with("Malformed"), "{block:?}: {refused}");
        }
        let whole = binary(0x21, 0x11, &V4);
        for end in 1..whole.len() {
            let refused = outcome(&whole[..end]).expect_err("a part");
            assert!(refused.starts_with("Ended"), "{end}: {refused}");
        }
    }
}
